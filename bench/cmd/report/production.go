// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/bench/tables"
)

// production is the name of the benchmark of requests as services send them. Its cases are values without names,
// because the settings have names of their own in the header of the table.
const production = "Production"

// A setting is a case of the family: the operation, net, compression, connections, deadline, protocol and requests in
// flight.
type setting [7]string

const (
	settingOp, settingNet, settingCompress, settingVersion, settingInFlight = 0, 1, 2, 5, 6
)

var settingNames = [...]string{"request", "net", "compress", "conns", "deadline", "protocol", "in flight"}

func (s setting) String() string { return strings.Join(s[:], " ") }

// with returns a setting that differs in one part.
func (s setting) with(part int, value string) setting {
	s[part] = value
	return s
}

// settings returns the cases of the table.
func (t *table) settings() (all []setting) {
	for _, c := range t.cases {
		var s setting
		copy(s[:], strings.Fields(c))
		all = append(all, s)
	}
	return all
}

// short returns the values of "name=value" parts: "insert-small tls lz4 4 each v5 256".
func short(parts []string) string {
	var values []string
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if name == "version" {
			value = "v" + value
		}
		values = append(values, value)
	}
	return strings.Join(values, " ")
}

// compressorSuffix marks the LZ4 of a driver, measured without the driver.
const compressorSuffix = "-compressor"

// fold moves the results of a driver that has v4 only to the cases of v5, so that they share rows with the other
// drivers. It renames the driver, and moves the results of compressors to a table of their own.
func (t *table) fold() {
	t.compressors = &table{cells: map[[2]string]result{}}
	for key, r := range t.cells {
		if d, ok := strings.CutSuffix(key[1], compressorSuffix); ok {
			t.compressors.cells[[2]string{key[0], d}] = r
			delete(t.cells, key)
		}
	}
	for _, d := range slices.Clone(t.drivers) {
		if _, ok := strings.CutSuffix(d, compressorSuffix); !ok && !t.hasVersion(d, "v5") && t.hasVersion(d, "v4") {
			t.rename(d, d+" (v4)")
		}
	}
	used := func(c string) bool {
		return slices.ContainsFunc(t.drivers, func(d string) bool { return t.cells[[2]string{c, d}] != nil })
	}
	t.drivers = slices.DeleteFunc(t.drivers, func(d string) bool { return strings.HasSuffix(d, compressorSuffix) })
	t.cases = slices.DeleteFunc(t.cases, func(c string) bool { return !used(c) })
}

// hasVersion reports whether a driver has results of a version of the protocol.
func (t *table) hasVersion(driver, version string) bool {
	return slices.ContainsFunc(t.settings(), func(s setting) bool {
		return s[settingVersion] == version && t.cells[[2]string{s.String(), driver}] != nil
	})
}

// rename changes the name of a driver of v4. It copies a result to the case of v5, if other drivers have that case, and
// keeps it in the case of v4, unless no other driver has that.
func (t *table) rename(driver, name string) {
	t.drivers[slices.Index(t.drivers, driver)] = name
	for _, c := range t.settings() {
		key := [2]string{c.String(), driver}
		r := t.cells[key]
		if r == nil {
			continue
		}
		delete(t.cells, key)
		other := func(s setting) bool {
			return slices.ContainsFunc(t.drivers, func(d string) bool { return t.cells[[2]string{s.String(), d}] != nil })
		}
		v5 := c.with(settingVersion, "v5")
		if other(v5) {
			t.cells[[2]string{v5.String(), name}] = r
		}
		if other(c) || !other(v5) {
			t.cells[[2]string{c.String(), name}] = r
		}
	}
	for _, key := range slices.Collect(maps.Keys(t.compressors.cells)) {
		if key[1] == driver {
			t.compressors.cells[[2]string{key[0], name}] = t.compressors.cells[key]
		}
	}
}

const productionLegend = `A request of a scan is a row. Deadline "each" means that every request has a context with a deadline of its own, which is
canceled after the request; "driver" means that the driver has a time limit for each request (vecql: RequestTimeout, gocql: Timeout of the
cluster), "none" that its default limit holds. Rust has no contexts: its figures of "each" are those of a statement's request timeout. A driver
(v4) has no v5: its figures are those of v4. The server compresses each response that is LZ4, so that with LZ4 the server can
be the limit of the requests per second; the other figures are the client's. n/a: the program does not count them.
`

// productionUnits are the metrics with a table for each operation.
var productionUnits = []struct {
	name, title string
	format      func(float64) string
}{
	{"requests/s", "1000 requests per second", func(v float64) string { return number(v / 1000) }},
	{"cpu-us/op", "client CPU, µs per request", number},
	{"writes/op", "system calls of write per request", number},
	{"allocs/op", "allocations per request", number},
}

// production writes a table for each operation and metric, with a row for each setting and a column for each driver,
// and then what TLS, LZ4 and more requests in flight change.
func (t *table) production(w io.Writer) {
	fmt.Fprint(w, productionLegend)
	var ops []string
	for _, s := range t.settings() {
		ops = tables.Once(ops, s[settingOp])
	}
	for _, op := range ops {
		rows := slices.DeleteFunc(t.settings(), func(s setting) bool { return s[settingOp] != op })
		fmt.Fprintf(w, "\n### %s\n", op)
		for _, unit := range productionUnits {
			more := []string(nil)
			if unit.name == "requests/s" {
				more = append(more, "vs best peer")
			}
			t.grid(w, unit.title+":", settingNet, rows, more, func(s setting, d string) string {
				r := t.cells[[2]string{s.String(), d}]
				if r != nil && len(r[unit.name]) == 0 {
					return "n/a"
				}
				return cell(r[unit.name], unit.format)
			})
		}
	}
	plain := func(s setting) setting { return s.with(settingNet, "plain") }
	t.changes(w, "TLS / plain, client CPU", plain, times("cpu-us/op"))
	t.changes(w, "TLS / plain, requests per second", plain, times("requests/s"))
	t.changes(w, "LZ4: its client CPU, µs per request (and that of the driver's LZ4 alone with the same frames)",
		func(s setting) setting { return s.with(settingCompress, "none") }, t.extra)
	few := func(s setting) setting {
		if s[settingInFlight] == "4096" {
			return s.with(settingInFlight, "256")
		}
		return s
	}
	t.changes(w, "4096 / 256 in flight, client CPU", few, times("cpu-us/op"))
	t.changes(w, "4096 / 256 in flight, requests per second", few, times("requests/s"))
}

// grid writes a table with a row for each setting, whose parts from the first one are columns, and a column for each
// driver that has a cell. It writes nothing if no driver has one.
func (t *table) grid(w io.Writer, title string, first int, rows []setting, more []string,
	cell func(s setting, d string) string,
) {
	drivers := slices.DeleteFunc(slices.Clone(t.drivers), func(d string) bool {
		return !slices.ContainsFunc(rows, func(s setting) bool { return cell(s, d) != "" })
	})
	if len(drivers) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	tables.Header(w, slices.Concat(settingNames[first:], drivers, more)...)
	for _, s := range rows {
		fmt.Fprintf(w, "| %s |", strings.Join(s[first:], " | "))
		for _, d := range drivers {
			fmt.Fprintf(w, " %s |", cell(s, d))
		}
		if len(more) > 0 {
			fmt.Fprintf(w, " %s |", t.ratio(s.String()))
		}
		fmt.Fprintln(w)
	}
}

// A change returns the cell of the results of two settings; s is the later one.
type change func(before, after result, driver string, s setting) string

// changes writes a table of the settings for which base returns another measured setting.
func (t *table) changes(w io.Writer, title string, base func(s setting) setting, cell change) {
	rows := slices.DeleteFunc(t.settings(), func(s setting) bool {
		return base(s) == s || !slices.Contains(t.cases, base(s).String())
	})
	t.grid(w, "### "+title, settingOp, rows, nil, func(s setting, d string) string {
		before, after := t.cells[[2]string{base(s).String(), d}], t.cells[[2]string{s.String(), d}]
		if before == nil || after == nil {
			return ""
		}
		return cell(before, after, d, s)
	})
}

// times returns a change that is the ratio of the medians of a metric.
func times(unit string) change {
	return func(before, after result, _ string, _ setting) string {
		if len(before[unit]) == 0 || len(after[unit]) == 0 || median(before[unit]) == 0 {
			return ""
		}
		return number(median(after[unit])/median(before[unit])) + "×"
	}
}

// extra returns the CPU time that LZ4 adds, and the CPU time of the driver's LZ4 alone. A segment of v5 has as many
// frames as are in flight if the driver compresses them together, and a body of v4 is one frame.
func (t *table) extra(before, after result, driver string, s setting) string {
	const unit = "cpu-us/op"
	if len(before[unit]) == 0 || len(after[unit]) == 0 {
		return ""
	}
	text := fmt.Sprintf("%+.2f", median(after[unit])-median(before[unit]))
	inFlights := []string{s[settingInFlight], "1"}
	if s[settingVersion] == "v4" {
		inFlights = inFlights[1:]
	}
	family, _, _ := strings.Cut(driver, "-") // vecql-typed has the LZ4 of vecql
	for _, inFlight := range inFlights {
		for _, version := range []string{"v5", "v4"} {
			alone := setting{s[settingOp], "none", "lz4", "1", "none", version, inFlight}
			if r := t.compressors.cells[[2]string{alone.String(), family}]; len(r[unit]) > 0 {
				return fmt.Sprintf("%s (%.2f)", text, median(r[unit]))
			}
		}
	}
	return text
}
