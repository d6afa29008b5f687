// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/vecql/vecql/column"
)

// Tables that fit the terminal.

// cellWidth is the number of characters of a cell on a terminal, unless there is room for more.
const cellWidth = 32

// minCell is the least width of a column that is cut to fit, in characters.
const minCell = 8

// A table is text in columns, below a line of names.
type table struct {
	names []string
	right []bool // columns of numbers
	rows  [][]string

	widths []int // of the columns, once the names are written
}

// newTable returns a table. A name that begins with ">" is that of a column of numbers.
func newTable(names ...string) *table {
	t := &table{names: make([]string, len(names)), right: make([]bool, len(names))}
	for i, name := range names {
		t.names[i], t.right[i] = strings.CutPrefix(name, ">")
	}
	return t
}

// add adds a row.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the rows and forgets them. limit is the number of characters in a line; 0 means no limit. The first
// write sets the widths of the columns and begins with their names. Rows of columns that do not fit beside each other
// are written one cell a line.
func (t *table) write(w io.Writer, limit int) error {
	out := bufio.NewWriter(w)
	first := t.widths == nil
	if first {
		t.widths = t.fit(limit)
	}
	switch {
	case len(t.names)*(minCell+2) > limit && limit > 0 && total(t.widths) > limit:
		for _, row := range t.rows {
			t.writeLong(out, row, limit)
		}
	default:
		if first {
			rule := make([]string, len(t.names))
			for i := range rule {
				rule[i] = strings.Repeat("-", t.widths[i])
			}
			t.writeRow(out, t.names)
			t.writeRow(out, rule)
		}
		for _, row := range t.rows {
			t.writeRow(out, row)
		}
	}
	t.rows = t.rows[:0]
	return out.Flush()
}

// fit returns the widths of the columns: those of their widest cells, or less for the widest columns if a line is
// longer than limit.
func (t *table) fit(limit int) []int {
	widths := make([]int, len(t.names))
	for i, name := range t.names {
		widths[i] = textWidth(name)
		for _, row := range t.rows {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	for limit > 0 && total(widths) > limit {
		i := slices.Index(widths, slices.Max(widths))
		if widths[i] <= minCell {
			break
		}
		widths[i]--
	}
	return widths
}

// total returns the width of a line.
func total(widths []int) int {
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

func (t *table) writeRow(w io.Writer, cells []string) {
	var line strings.Builder
	for i, cell := range cells {
		cell = clip(cell, t.widths[i])
		pad := strings.Repeat(" ", max(0, t.widths[i]-textWidth(cell)))
		if i > 0 {
			line.WriteString("  ")
		}
		if t.right[i] {
			line.WriteString(pad + cell)
		} else {
			line.WriteString(cell + pad)
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
}

// writeLong writes a row with a cell on each line.
func (t *table) writeLong(w io.Writer, cells []string, limit int) {
	names := 0
	for _, name := range t.names {
		names = max(names, textWidth(name))
	}
	names = min(names, limit/2)
	for i, cell := range cells {
		name := clip(t.names[i], names)
		line := name + strings.Repeat(" ", names-textWidth(name)) + "  " + cell
		fmt.Fprintln(w, clip(line, limit))
	}
	fmt.Fprintln(w, strings.Repeat("-", min(limit, names+minCell)))
}

// textWidth returns the number of characters that a text takes on a terminal: two for wide ones, none for marks.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < unicode.MaxLatin1:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// clip returns a text that takes at most limit characters on a terminal. An ellipsis replaces what it leaves out.
func clip(s string, limit int) string {
	if textWidth(s) <= limit {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n >= limit {
			return s[:i] + "…"
		}
	}
	return s
}

// tableRows is the number of rows from which a tableSink computes the widths of the columns.
const tableRows = 1000

// A tableSink writes batches as one table, and the number of rows below it.
type tableSink struct {
	w     io.Writer
	width int // of a line, 0 for no limit
	table *table
	rows  int
}

// Write implements rowfile.Writer.
func (s *tableSink) Write(b *column.Batch) error {
	if s.table == nil {
		s.table = newTable()
		for i := range b.Columns {
			kind := b.Columns[i].Type.Kind
			s.table.names = append(s.table.names, b.Columns[i].Name)
			s.table.right = append(s.table.right, kind >= column.Int8 && kind <= column.Float64)
		}
	}
	limit := math.MaxInt // characters of a cell
	if s.width > 0 {
		limit = max(s.width/max(1, len(b.Columns)), cellWidth)
	}
	for r := range b.Rows {
		cells := make([]string, len(b.Columns))
		for i := range b.Columns {
			cells[i] = b.Columns[i].Format(r, limit)
		}
		s.table.add(cells...)
		if s.rows++; len(s.table.rows) == tableRows {
			if err := s.table.write(s.w, s.width); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close implements rowfile.Writer.
func (s *tableSink) Close() error {
	if s.table == nil {
		return nil
	}
	if err := s.table.write(s.w, s.width); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.w, plural(s.rows, "row"))
	return err
}

// plural returns a number of things: "1 row", "2 rows".
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
