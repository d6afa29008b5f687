// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/bench/tables"
)

// The report.

const legend = `A cell has the least time of the repetitions in ms, and in parentheses the efficiency: the time of one thread divided by
the number of threads and by the time of a cell. 1.00 is perfect. "CPU" is the processor time at the greatest number of
threads divided by the processor time of one thread: more than 1 means that threads wait for memory or spin, and less
than perfect efficiency without more CPU that they idle. GOMAXPROCS is the number of threads. Requests, bulk and
tablescan have as many connections as threads, and a server on the same processors, which is a process of its own: with
all processors the server takes its share. The rows "limit" show the machine itself: a loop in registers, which shared
cores and lower clocks slow down, and reading of memory.
`

const (
	ours = "vecql"
	// enoughOfMany is how near to a hundred files one file must come.
	enoughOfMany = 0.95
)

// key identifies a cell.
type key struct {
	name, impl string
	threads    int
}

// A lock is a place that waited, in ns.
type lock struct {
	name, kind, place string
	waited            float64
}

type results struct {
	machine, date, golang string
	processors            int
	cases, impls          []string
	threads               []int
	times, cpu            map[key]float64 // ns
	locks                 []lock
	left                  []key
}

// Report is a tables.Reporter.
func Report(in io.Reader, _ string) (text, svg string, err error) {
	all, err := io.ReadAll(in)
	if err != nil {
		return "", "", err
	}
	r, err := parse(string(all))
	if err != nil {
		return "", "", err
	}
	var md strings.Builder
	fmt.Fprintf(&md, "# Scaling over processors\n\nMeasured on %s, with %s, on %s.\n\n%s", r.machine, r.golang, r.date, legend)
	r.writeAims(&md)
	r.writeTimes(&md)
	r.writeLocks(&md)
	r.writeLeft(&md)
	return md.String(), "", nil
}

var (
	line    = regexp.MustCompile(`^BenchmarkCores/case=(\S+)/impl=([^/\s]+)/threads=(\d+)\s+\d+\s+(.*)$`)
	leftOut = regexp.MustCompile(`(?m)^left-out: case=(\S+)/impl=([^/\s]+)/threads=(\d+)$`)
	locked  = regexp.MustCompile(`(?m)^lock: (\S+) (\S+) (.+) (\d+)$`)
	field   = regexp.MustCompile(`(?m)^(machine|date|go): (.*)$`)
)

// parse reads the output of command cores and of engines.py.
func parse(text string) (*results, error) {
	r := &results{impls: []string{ours}, times: map[key]float64{}, cpu: map[key]float64{}}
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		*map[string]*string{"machine": &r.machine, "date": &r.date, "go": &r.golang}[m[1]] = m[2]
	}
	if _, err := fmt.Sscan(r.machine, &r.processors); err != nil {
		return nil, errors.New("no line of the machine")
	}
	for _, m := range leftOut.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return nil, err
		}
		r.left = append(r.left, key{m[1], m[2], n})
	}
	for _, m := range locked.FindAllStringSubmatch(text, -1) {
		ns, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			return nil, err
		}
		r.locks = append(r.locks, lock{m[1], m[2], m[3], ns})
	}
	err := tables.Parse(strings.NewReader(text), line, func(m []string, values map[string]float64) error {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return err
		}
		k := key{m[1], m[2], n}
		r.times[k], r.cpu[k] = values["ns/op"], values["cpu-ns/op"]
		r.cases, r.impls = tables.Once(r.cases, k.name), tables.Once(r.impls, k.impl)
		r.threads = tables.Once(r.threads, n)
		return nil
	})
	slices.Sort(r.threads)
	return r, err
}

// efficiency returns the efficiency of cases together, and whether they were all measured.
func (r *results) efficiency(names []string, impl string, n int) (float64, bool) {
	var t1, tn float64
	for _, name := range names {
		one, many := r.times[key{name, impl, 1}], r.times[key{name, impl, n}]
		if one == 0 || many == 0 {
			return 0, false
		}
		t1, tn = t1+one, tn+many
	}
	if len(names) == 0 {
		return 0, false
	}
	return t1 / (float64(n) * tn), true
}

// hits returns the names of the cases of ClickBench.
func (r *results) hits() []string {
	others := func(name string) bool { return !strings.HasPrefix(name, clickbenchPrefix) }
	return slices.DeleteFunc(slices.Clone(r.cases), others)
}

// aims are the least efficiencies on machines with that many processors or more.
var aims = []struct {
	threads, processors int
	efficiency          float64
}{{8, 16, 0.8}, {16, 16, 0.65}}

func (r *results) writeAims(w io.Writer) {
	fmt.Fprint(w, "\n## Aims\n\n")
	tables.Header(w, "what", "threads", "aim", "measured", "result")
	rows := []struct {
		what  string
		cases []string
	}{
		{groupings[0].name, []string{groupings[0].name}},
		{groupings[1].name, []string{groupings[1].name}},
		{fmt.Sprintf("the %d slowest queries of ClickBench, together", len(Slowest)), r.hits()},
	}
	for _, aim := range aims {
		for _, row := range rows {
			got, measured := r.efficiency(row.cases, ours, aim.threads)
			cells := verdict(got, aim.efficiency, measured && r.processors >= aim.processors)
			tables.Row(w, append([]string{row.what, fmt.Sprintf("%d of %d", aim.threads, aim.processors)}, cells...)...)
		}
	}
	most := slices.Max(append(r.threads, 1))
	one, many := r.times[key{oneFile, ours, most}], r.times[key{manyFiles, ours, most}]
	cells := verdict(many/one, enoughOfMany, one > 0 && many > 0)
	tables.Row(w, append([]string{"one file as fast as a hundred: time of a hundred / of one", strconv.Itoa(most)}, cells...)...)
}

// verdict returns an aim, what was measured, and whether the aim is reached.
func verdict(got, aim float64, measured bool) []string {
	cells := []string{fmt.Sprintf("%.2f", aim), "", "not measured"}
	if measured {
		cells[1], cells[2] = fmt.Sprintf("%.2f", got), "**not reached**"
		if got >= aim {
			cells[2] = "reached"
		}
	}
	return cells
}

func (r *results) writeTimes(w io.Writer) {
	fmt.Fprint(w, "\n## Times\n\n")
	header := []string{"case", "by"}
	for _, n := range r.threads {
		header = append(header, fmt.Sprintf("%d thr.", n))
	}
	tables.Header(w, append(header, "CPU")...)
	for _, name := range r.cases {
		for _, impl := range r.impls {
			r.writeRow(w, name, impl, []string{name})
		}
	}
	for _, impl := range r.impls {
		r.writeRow(w, "clickbench, together", impl, r.hits())
	}
}

// writeRow writes the times of cases together, if there are any.
func (r *results) writeRow(w io.Writer, title, impl string, names []string) {
	row := []string{title, impl}
	some := false
	for _, n := range r.threads {
		total := 0.0
		for _, name := range names {
			if t := r.times[key{name, impl, n}]; t == 0 || total < 0 {
				total = -1 // one is missing
			} else {
				total += t
			}
		}
		if total <= 0 {
			row = append(row, "")
			continue
		}
		some = true
		cell := tables.MS([]float64{total})
		if e, ok := r.efficiency(names, impl, n); ok && n > 1 {
			cell += fmt.Sprintf(" (%.2f)", e)
		}
		row = append(row, cell)
	}
	if some {
		tables.Row(w, append(row, r.growth(impl, names))...)
	}
}

// growth returns the processor time at the greatest number of threads divided by the processor time of one thread.
func (r *results) growth(impl string, names []string) string {
	var one, most float64
	for _, name := range names {
		one += r.cpu[key{name, impl, 1}]
		most += r.cpu[key{name, impl, slices.Max(r.threads)}]
	}
	if one == 0 || most == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", most/one)
}

func (r *results) writeLocks(w io.Writer) {
	if len(r.locks) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Locks\n\nThe places of vecql that waited the longest at the greatest number of threads, in one run, all goroutines together. "+
		"\"mutex\" is\nwaiting for a lock by the place that released it, \"block\" waiting for a channel or a group by the place that waited.\n\n")
	tables.Header(w, "case", "kind", "place", "waited, ms")
	for _, l := range r.locks {
		tables.Row(w, l.name, l.kind, "`"+l.place+"`", tables.MS([]float64{l.waited}))
	}
}

func (r *results) writeLeft(w io.Writer) {
	if len(r.left) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Left out\n\nThe time was over before these measurements:\n\n")
	for _, k := range r.left {
		fmt.Fprintf(w, "- %s, %s, threads: %d\n", k.name, k.impl, k.threads)
	}
}
