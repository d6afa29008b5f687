// SPDX-License-Identifier: Apache-2.0

// Command report converts benchmark output to tables and plots: "report results/values.txt" writes values.md and *.svg
// to the same folder. "report results/values.md" draws the plots again, from the tables of a report. The report
// requests also has the first picture of the project, inserts.svg, and the same on a dark ground, inserts-dark.svg.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/bench/plot"
)

// result contains the samples of one driver for one case.
type result map[string][]float64 // by unit, a sample for each run

// table is one benchmark, with a row for each case and a column for each driver.
type table struct {
	name    string
	cases   []string
	drivers []string
	cells   map[[2]string]result // by case and driver

	compressors *table // of the family Production: the drivers' LZ4 without the drivers
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: report results/values.txt, or values.md")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	base := strings.TrimSuffix(path, filepath.Ext(path))
	if filepath.Ext(path) != ".md" {
		if err := write(path, base); err != nil {
			return err
		}
	}
	return draw(base)
}

// write writes the report base of the results of a file.
func write(path, base string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	tables, err := parse(f)
	if err != nil {
		return err
	}
	var md strings.Builder
	text := legend
	if len(tables) > 0 && legends[tables[0].name] != "" {
		text = legends[tables[0].name]
	}
	fmt.Fprintf(&md, "# vecql and its peers\n\n%s\n", text)
	for _, t := range tables {
		fmt.Fprintf(&md, "\n## %s\n\n![%s](%s)\n\n", t.name, t.name, filepath.Base(t.picture(base)))
		if t.name == production {
			t.production(&md)
		} else {
			t.markdown(&md)
		}
	}
	return os.WriteFile(base+".md", []byte(md.String()), 0o644)
}

// picture returns the path of the plot of a table of the report base.
func (t *table) picture(base string) string {
	return fmt.Sprintf("%s-%s.svg", base, strings.ToLower(t.name))
}

// draw writes the plots of the tables of the report base. They have the medians of the report.
func draw(base string) error {
	f, err := os.Open(base + ".md")
	if err != nil {
		return err
	}
	defer f.Close()
	tables, err := reread(f)
	if err != nil {
		return err
	}
	for path, svg := range pictures(tables, base) {
		if err := os.WriteFile(path, []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pictures returns the plots of tables by their paths.
func pictures(tables []*table, base string) map[string]string {
	all := map[string]string{}
	for _, t := range tables {
		all[t.picture(base)] = t.svg()
		if p, ok := t.first(); ok && filepath.Base(base) == "requests" {
			all[filepath.Join(filepath.Dir(base), "inserts.svg")] = p.SVG(plot.Light)
			all[filepath.Join(filepath.Dir(base), "inserts-dark.svg")] = p.SVG(plot.Dark)
		}
	}
	return all
}

const legend = `Medians. Time is wall time per operation, with the given number of requests in flight; client CPU is the client's processor
time; B and allocs count the client's allocations. The server is a process of its own with canned responses. Names: vecql-… are other ways to
use vecql, …-nowait are peers that do not delay writes to coalesce requests, floor is bare sockets, scalar a plain loop, copy a memory copy.
"vs best peer" is the time of the best peer divided by that of vecql (without a suffix); ~ means that the samples of the two overlap.
`

// legends are the legends of tables that are not about the driver's requests and values.
var legends = map[string]string{"Bulk": bulkLegend, "ADBC": adbcLegend, "SQL": sqlLegend}

const bulkLegend = `Medians. An operation is one row, loaded from files or unloaded to files; the start of the program is included. Client CPU
is the processor time of the program and its children. The server and the program have one core each. vecql, dsbulk and cqlsh read and write CSV,
vecql-parquet is the same command with Parquet. dsbulk 1.10 refuses a cluster that has vectors; lists are the same embeddings as list<float>.
The server cqltest is slow beside its clients, so that rows per second measure the server, client CPU the programs.
"vs best peer" is the time of the best peer divided by that of vecql; ~ means that the samples of the two overlap.
`

const adbcLegend = `Medians. An operation is one row, read into a data frame of Polars or pandas or into a table of DuckDB, or written from a frame of
Polars. The clock runs from before the connection to the finished frame or the last written row; imports are not counted. Client CPU is the
processor time of the process, peak its largest resident memory, imports of Python included; each measurement is a process of its own. The Arrow
data of 1,000,000 vectors has 1,480 MiB, and pandas makes a copy. The peers may have fewer rows (PEER_ROWS), and smaller peaks for it.
The server and the client have one core each: the slower one bounds rows per second, client CPU is the
program's. All cells of each measurement are compared with the rows that were generated. vectors are (uuid, vector<float, 384>), small are ten
columns of numbers, texts and a boolean.
vecql is adbcvecql through adbc_driver_manager, adbc-cassandra is adbc-drivers/cassandra likewise. cassandra-driver makes Arrow data of each
page; writes are prepared, 100 in flight. cassandra-driver-numpy makes Arrow data of the arrays of its NumPy row factory. It is measured with NumPy 1
only: with NumPy 2, which pandas 3 needs, release 3.29.3 of the driver returns no rows. Server CPU is the processor time of the server.
"vs best peer" is the time of the best peer divided by that of vecql; ~ means that the samples of the two overlap.
`

const sqlLegend = `Medians. An operation is one row: written (exec), read by its key (row), or one of a result of 10,000 (rows). One goroutine calls the
verbs of package vecql, or those of package database/sql with sqlvecql. exec and row have a vector of 384 floats, rows three numbers and texts.
The server is a node of cqltest in a process of its own. Client CPU is the processor time of the program; B and allocs count its allocations.
"vs best peer" is the time by database/sql divided by that of the same verb of package vecql; ~ means that the samples of the two overlap.
`

var line = regexp.MustCompile(`^Benchmark(\w+)/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse reads Go's benchmark format. Cases and drivers stay in the order of the input.
func parse(r io.Reader) ([]*table, error) {
	var tables []*table
	s := bufio.NewScanner(r)
	for s.Scan() {
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		var driver string
		var rest []string
		for _, part := range strings.Split(m[2], "/") {
			if d, ok := strings.CutPrefix(part, "driver="); ok {
				driver = d
			} else {
				rest = append(rest, part)
			}
		}
		if driver == "" {
			continue
		}
		i := slices.IndexFunc(tables, func(t *table) bool { return t.name == m[1] })
		if i < 0 {
			i = len(tables)
			tables = append(tables, &table{name: m[1], cells: map[[2]string]result{}})
		}
		name := strings.Join(rest, " ")
		if m[1] == production {
			name = short(rest)
		}
		if err := tables[i].add(name, driver, strings.Fields(m[3])); err != nil {
			return nil, fmt.Errorf("%q: %w", s.Text(), err)
		}
	}
	for _, t := range tables {
		if t.name == production {
			t.fold()
		}
		slices.SortStableFunc(t.drivers, func(a, b string) int { return rank(a) - rank(b) })
	}
	return tables, s.Err()
}

func (t *table) add(name, driver string, values []string) error {
	if !slices.Contains(t.cases, name) {
		t.cases = append(t.cases, name)
	}
	if !slices.Contains(t.drivers, driver) {
		t.drivers = append(t.drivers, driver)
	}
	key := [2]string{name, driver}
	if t.cells[key] == nil {
		t.cells[key] = result{}
	}
	for ; len(values) >= 2; values = values[2:] {
		v, err := strconv.ParseFloat(values[0], 64)
		if err != nil {
			return err
		}
		t.cells[key][values[1]] = append(t.cells[key][values[1]], v)
	}
	return nil
}

// rank returns the position of a driver: vecql, its variants, the peers, the limits.
func rank(driver string) int {
	switch {
	case driver == "vecql":
		return 0
	case strings.HasPrefix(driver, "vecql"):
		return 1
	case driver == "floor" || driver == "scalar" || driver == "copy":
		return 3
	}
	return 2
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
