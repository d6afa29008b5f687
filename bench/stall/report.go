// SPDX-License-Identifier: Apache-2.0

package stall

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/tables"
)

// Conditions are the conditions of all runs of a report.
type Conditions struct {
	Commit    string        `json:"commit"`
	Date      string        `json:"date"`
	Processor string        `json:"processor"`
	Cores     int           `json:"cores"`
	Go        string        `json:"go"`
	Cassandra string        `json:"cassandra"`
	Duration  time.Duration `json:"duration"`
	Pause     time.Duration `json:"pause"`
	Timeout   time.Duration `json:"timeout"`
	Turns     int           `json:"turns"`
}

// Read returns the conditions in the first line of r, and the samples in the other lines.
func Read(r io.Reader) (c Conditions, samples []Sample, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			err = json.Unmarshal(lines.Bytes(), &c)
		} else {
			var s Sample
			err = json.Unmarshal(lines.Bytes(), &s)
			samples = append(samples, s)
		}
		if err != nil {
			return c, nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return c, samples, lines.Err()
}

// column is a figure of the report. Less is better in each.
type column struct {
	title  string
	value  func(s Sample) float64
	format func(v float64) string
	alike  bool // figures of different drivers are of one kind
}

var columns = []column{
	{"p50 before", func(s Sample) float64 { return float64(s.P50Before) }, milliseconds, true},
	{"p99 before", func(s Sample) float64 { return float64(s.P99Before) }, milliseconds, true},
	{"p99 first second", func(s Sample) float64 { return float64(s.P99First) }, milliseconds, true},
	{"p99 rest of the pause", func(s Sample) float64 { return float64(s.P99Rest) }, milliseconds, true},
	{"p99 after", func(s Sample) float64 { return float64(s.P99After) }, milliseconds, true},
	{"recovery", func(s Sample) float64 { return float64(s.Recovery) }, milliseconds, true},
	{"in flight", func(s Sample) float64 { return float64(s.InFlight) }, count, true},
	{"goroutines", func(s Sample) float64 { return float64(s.Peak) }, count, false},
}

func milliseconds(us float64) string { return tables.MS([]float64{us * 1000}) + " ms" }
func count(v float64) string         { return fmt.Sprintf("%.0f", v) }

const preface = `# One of three nodes does not run for %v

Each program sends requests in an open loop at a fixed rate for %v: a request starts when it is due, whether earlier ones have
ended or not, and its latency counts from then. In the middle one of the nodes is stopped (SIGSTOP) for %v, and then goes on. The
programs take turns, %d each, another one first in each turn. All drivers have their default settings, except a timeout of %v,
LOCAL_QUORUM and the contact points. Reads are prepared SELECTs of one row by primary key; inserts are prepared INSERTs that are not
marked as idempotent. The replication factor is 3.

- failed: requests that returned an error or a wrong row, of all turns together. The other columns are medians of the turns.
- p50, p99: a failed request counts as one of at least %v. "before" are the requests that ended before the
  pause, "after" those that were due after it.
- recovery: from the end of the pause to the end of the last request that failed or took more than %v.
- in flight: most requests that waited for an answer at one time.
- goroutines: most goroutines of the program, one per request in flight included; of the Rust program tasks, of the Java program threads.

The least value of a column is in bold. "Cassandra" is three real nodes. "cqltest" is three nodes in one process, without the work of a
database: a request that another node coordinates is not affected by the pause.

Conditions: vecql at %s, %s, %s, %d cores shared by nodes and programs, Cassandra %s, %s.

To reproduce: ` + "`make bench-stall`" + `.
`

// Report writes the report in Markdown.
func Report(w io.Writer, c Conditions, samples []Sample) {
	fmt.Fprintf(w, preface, c.Pause, c.Duration, c.Pause, c.Turns, c.Timeout, c.Timeout, Slow, c.Commit, c.Go, c.Processor,
		c.Cores, c.Cassandra, c.Date)
	var groups, drivers, versions []string
	byGroup := map[string]map[string][]Sample{}
	for _, s := range samples {
		group := fmt.Sprintf("%s, %s at %d requests/s", servers(s.Servers), s.Case+"s", s.Rate)
		if byGroup[group] == nil {
			byGroup[group] = map[string][]Sample{}
		}
		byGroup[group][s.Driver] = append(byGroup[group][s.Driver], s)
		groups, drivers = tables.Once(groups, group), tables.Once(drivers, s.Driver)
		if s.Version != "" {
			versions = tables.Once(versions, s.Driver+" "+s.Version)
		}
	}
	if len(versions) > 0 {
		fmt.Fprintf(w, "\nVersions: %s.\n", strings.Join(versions, ", "))
	}
	for _, group := range groups {
		fmt.Fprintf(w, "\n## %s\n\n", group)
		writeGroup(w, drivers, byGroup[group])
	}
}

func servers(name string) string {
	if name == "cassandra" {
		return "Cassandra"
	}
	return name
}

// writeGroup writes one table: a row for each driver.
func writeGroup(w io.Writer, drivers []string, samples map[string][]Sample) {
	titles := []string{"driver", "failed"}
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	tables.Header(w, titles...)
	failed, requests, least := map[string]int{}, map[string]int{}, -1
	drivers = slices.DeleteFunc(slices.Clone(drivers), func(d string) bool { return len(samples[d]) == 0 })
	cells := map[string][]string{}
	for _, d := range drivers {
		for _, s := range samples[d] {
			failed[d] += s.Failed
			requests[d] += s.Requests
		}
		if least < 0 || failed[d] < least {
			least = failed[d]
		}
	}
	for _, c := range columns {
		best := ""
		bestValue := -1.0
		medians := map[string]float64{}
		for _, d := range drivers {
			var values []float64
			for _, s := range samples[d] {
				values = append(values, c.value(s))
			}
			medians[d] = tables.Median(values)
			if bestValue < 0 || medians[d] < bestValue {
				bestValue, best = medians[d], c.format(medians[d])
			}
		}
		for _, d := range drivers {
			cell := c.format(medians[d])
			switch {
			case c.alike && cell == best:
				cell = "**" + cell + "**"
			case !c.alike && samples[d][0].PeakOf != "goroutines":
				cell += " " + samples[d][0].PeakOf
			}
			cells[d] = append(cells[d], cell)
		}
	}
	for _, d := range drivers {
		cell := fmt.Sprintf("%d of %d", failed[d], requests[d])
		if failed[d] == least {
			cell = "**" + cell + "**"
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", d, cell, strings.Join(cells[d], " | "))
	}
	writeErrors(w, drivers, samples)
}

// writeErrors writes the most frequent error of each driver that has failed requests.
func writeErrors(w io.Writer, drivers []string, samples map[string][]Sample) {
	var lines []string
	for _, d := range drivers {
		total := map[string]int{}
		for _, s := range samples[d] {
			for text, n := range s.Errors {
				total[text] += n
			}
		}
		most := ""
		for text, n := range total {
			if n > total[most] || n == total[most] && text < most {
				most = text
			}
		}
		if most != "" {
			lines = append(lines, fmt.Sprintf("- %s: %d times `%s`", d, total[most], strings.ReplaceAll(most, "`", "'")))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(w, "\nThe most frequent error:\n\n%s\n", strings.Join(lines, "\n"))
	}
}
