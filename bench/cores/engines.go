// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/clickbench"
)

// The work of the other engines, their answers, and the description of the machine.

// A Statement is a case for engines.py.
type Statement struct {
	Case string `json:"case"`
	Key  string `json:"key,omitempty"` // of a grouping of t
	// Query is a query of ClickBench, in place of a grouping.
	Query *clickbench.Statement `json:"query,omitempty"`
}

// Statements returns the cases that the other engines have, too, among those whose names match.
func (d *Data) Statements(match *regexp.Regexp) (all []Statement) {
	scale := clickbench.NewScale(d.Sizes.Hits)
	for _, c := range d.Cases() {
		s := Statement{Case: c.Name}
		for _, g := range groupings {
			if g.name == c.Name {
				s.Key = g.key
			}
		}
		if name, ok := strings.CutPrefix(c.Name, clickbenchPrefix); ok {
			query := clickbench.Find(name).Statement(scale)
			s.Query = &query
		}
		if match.MatchString(c.Name) && (s.Key != "" || s.Query != nil) {
			all = append(all, s)
		}
	}
	return all
}

// Describe prints the machine and the date.
func Describe(w io.Writer) {
	fmt.Fprintf(w, "machine: %d processors, %s, %s/%s\ndate: %s\ngo: %s\n", runtime.NumCPU(), processor(), runtime.GOOS,
		runtime.GOARCH, time.Now().UTC().Format(time.DateOnly), runtime.Version())
}

// processor returns the name of the processor, which Linux has for x86.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "processor unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "processor unknown"
}
