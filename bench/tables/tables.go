// SPDX-License-Identifier: Apache-2.0

// Package tables contains the common parts of benchmark reports: statistics of samples and tables in Markdown.
package tables

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Once appends v unless s contains it.
func Once[T comparable](s []T, v T) []T {
	if slices.Contains(s, v) {
		return s
	}
	return append(s, v)
}

// Header writes the header of a table.
func Header(w io.Writer, columns ...string) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}

// Row writes a row of a table.
func Row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

// Threads writes the headline of the results of a number of threads.
func Threads(w io.Writer, n int) {
	what := "threads"
	if n == 1 {
		what = "thread"
	}
	fmt.Fprintf(w, "\n## %d %s\n\n", n, what)
}

// Best returns the name with the least median, "" if none has samples.
func Best(names []string, samples func(name string) []float64) string {
	best := ""
	for _, name := range names {
		if v := samples(name); len(v) > 0 && (best == "" || Median(v) < Median(samples(best))) {
			best = name
		}
	}
	return best
}

// Cell formats a cell with f, and is "" if one of the samples is empty.
func Cell(f func() string, samples ...[]float64) string {
	if slices.ContainsFunc(samples, func(v []float64) bool { return len(v) == 0 }) {
		return ""
	}
	return f()
}

// Ratio returns the median of theirs divided by the median of ours, in bold, followed by the name if there is one. It
// ends in ~ if the samples overlap, and is "" if there are none.
func Ratio(ours, theirs []float64, name string) string {
	if len(ours) == 0 || len(theirs) == 0 {
		return ""
	}
	s := fmt.Sprintf("**%.2f×**", Median(theirs)/Median(ours))
	if name != "" {
		s += " (" + name + ")"
	}
	if slices.Min(ours) <= slices.Max(theirs) && slices.Min(theirs) <= slices.Max(ours) {
		s += " ~"
	}
	return s
}

// MS formats the median of samples in nanoseconds as milliseconds with at least three digits. It returns "" for no
// samples.
func MS(v []float64) string {
	if len(v) == 0 {
		return ""
	}
	switch m := Median(v) / 1e6; {
	case m >= 100:
		return fmt.Sprintf("%.0f", m)
	case m >= 10:
		return fmt.Sprintf("%.1f", m)
	default:
		return fmt.Sprintf("%.2f", m)
	}
}

// Median returns the median of the samples. It panics if there are none.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Parse reads Go's benchmark format. It calls add for each line that matches, with the submatches, and with the values
// by unit in the last one.
func Parse(in io.Reader, line *regexp.Regexp, add func(m []string, values map[string]float64) error) error {
	s := bufio.NewScanner(in)
	for s.Scan() {
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		values, err := parseValues(m[len(m)-1])
		if err == nil {
			err = add(m, values)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", s.Text(), err)
		}
	}
	return s.Err()
}

// parseValues parses the part of a line of Go's benchmark format after the number of iterations, and returns the values
// by unit.
func parseValues(rest string) (map[string]float64, error) {
	values := map[string]float64{}
	fields := strings.Fields(rest)
	for i := 0; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil, err
		}
		values[fields[i+1]] = v
	}
	return values, nil
}

var (
	required = regexp.MustCompile(`^(?:require )?\s*(\S+?)(?:==|\s+)(v?\d\S*)(.*)$`)
	omitted  = regexp.MustCompile(`^(?:github\.com/vecql/|golang\.org/x/)`)
)

// Versions returns the names and versions of the dependencies in a requirements.txt or go.mod file. From a go.mod it
// leaves out indirect ones, vecql and golang.org/x.
func Versions(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var versions []string
	for line := range strings.Lines(string(b)) {
		m := required.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || m[1] == "go" || strings.Contains(m[3], "// indirect") || omitted.MatchString(m[1]) {
			continue
		}
		versions = append(versions, m[1]+" "+m[2])
	}
	return versions, nil
}
