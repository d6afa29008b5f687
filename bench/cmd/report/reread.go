// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Reports as input: their tables have the medians that pictures show.

// reread returns the tables of times of a report that this program wrote. Numbers have the digits of the report.
func reread(r io.Reader) ([]*table, error) {
	var x rereader
	s := bufio.NewScanner(r)
	for s.Scan() {
		if err := x.line(s.Text()); err != nil {
			return nil, fmt.Errorf("%q: %w", s.Text(), err)
		}
	}
	return x.tables, s.Err()
}

// A rereader reads a report line by line.
type rereader struct {
	tables []*table
	op     string   // the operation, in the family Production
	header []string // of the table of times that is under way
	done   bool     // the table of times has ended; the others are left out
}

func (x *rereader) line(line string) error {
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
	switch {
	case strings.HasPrefix(line, "## "):
		x.tables = append(x.tables, &table{name: line[3:], cells: map[[2]string]result{}})
		x.header, x.done = nil, false
	case len(x.tables) == 0 || strings.HasPrefix(line, "| ---"):
	case strings.HasPrefix(line, "### "):
		x.op, x.header, x.done = line[4:], nil, strings.Contains(line, ",") // the later ones compare settings
	case !strings.HasPrefix(line, "|"):
		x.done = x.done || x.header != nil
	case x.done:
	case x.header == nil:
		x.header = cells
	default:
		return x.row(cells)
	}
	return nil
}

// row adds the times of a row.
func (x *rereader) row(cells []string) error {
	t := x.tables[len(x.tables)-1]
	labels := 1
	if t.name == production {
		labels = len(settingNames) - 1
	}
	name := unescape(strings.Join(cells[:min(labels, len(cells))], " "))
	if t.name == production {
		name = x.op + " " + name
	}
	for i, text := range cells {
		driver := x.header[min(i, len(x.header)-1)]
		text = strings.TrimSpace(text)
		if i < labels || text == "" || text == "n/a" || driver == "vs best peer" {
			continue
		}
		ns, err := nanoseconds(text)
		if err != nil {
			return err
		}
		if t.name == production { // thousands a second
			ns = 1e6 / ns
		}
		if err := t.add(name, driver, []string{strconv.FormatFloat(ns, 'g', -1, 64), nsOp}); err != nil {
			return err
		}
	}
	slices.SortStableFunc(t.drivers, func(a, b string) int { return rank(a) - rank(b) })
	return nil
}

// nanoseconds parses what duration returns, or a number.
func nanoseconds(text string) (float64, error) {
	number, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(number, 64)
	scale := map[string]float64{"": 1, "ns": 1, "µs": 1e3, "ms": 1e6}[unit]
	if err == nil && scale == 0 {
		err = fmt.Errorf("unknown unit %q", unit)
	}
	return v * scale, err
}

func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "\\|", "|").Replace(s)
}
