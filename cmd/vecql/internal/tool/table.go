// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	ptext "github.com/jedib0t/go-pretty/v6/text"

	"github.com/vecql/vecql/column"
)

// Tables that fit the terminal.

// cellWidth is the number of characters of a cell on a terminal, unless there is room for more.
const cellWidth = 32

// minCell is the least width of a column that is cut to fit, in characters.
const minCell = 8

// gap is between the columns of a table.
const gap = "  "

// style is the style of tables: two spaces between columns, a rule below the names, no frame.
var style = pretty.Style{
	Box:     pretty.BoxStyle{MiddleHorizontal: "-", MiddleSeparator: gap, MiddleVertical: gap, UnfinishedRow: "…"},
	Options: pretty.Options{SeparateColumns: true, SeparateHeader: true, DoNotColorBordersAndSeparators: true},
}

// A table is text in columns, below a line of names.
type table struct {
	names []string
	right []bool // columns of numbers
	long  bool   // a cell on each line, also where a row fits
	rows  [][]string

	widths []int // of the columns, once the names are written
}

// newTable returns a table. A name that begins with ">" names a column of numbers.
func newTable(names ...string) *table {
	t := &table{names: make([]string, len(names)), right: make([]bool, len(names))}
	for i, name := range names {
		t.names[i], t.right[i] = strings.CutPrefix(name, ">")
	}
	return t
}

// add adds a row.
func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = printableLine(cell)
	}
	t.rows = append(t.rows, cells)
}

// write writes the rows and forgets them. limit is the number of characters in a line; 0 means no limit. The first
// write sets the widths of the columns and begins with their names. Rows of long tables, and of columns that do not fit
// beside each other, are written one cell a line.
func (t *table) write(w io.Writer, limit int) error {
	first := t.widths == nil
	if first {
		t.widths = t.fit(limit)
	}
	var text string
	if t.long || limit > 0 && total(t.widths) > limit {
		text = t.renderLong(limit)
	} else {
		text = t.render(first)
	}
	t.rows = t.rows[:0]
	_, err := io.WriteString(w, text)
	return err
}

// render returns the rows as lines, with the names above if header is set.
func (t *table) render(header bool) string {
	configs := make([]pretty.ColumnConfig, len(t.names))
	for i, width := range t.widths {
		configs[i] = columnConfig(i, width)
		if t.right[i] {
			configs[i].Align, configs[i].AlignHeader = ptext.AlignRight, ptext.AlignRight
		}
	}
	out := newWriter(configs...)
	if header {
		out.AppendHeader(row(t.names))
	}
	for _, cells := range t.rows {
		out.AppendRow(row(cells))
	}
	return trimLines(out.Render())
}

// renderLong returns the rows with a name and a cell on each line, and an empty line below each row.
func (t *table) renderLong(limit int) string {
	names := 0
	for _, name := range t.names {
		names = max(names, ptext.StringWidth(name))
	}
	cells := 0
	if limit > 0 {
		names = min(names, limit/2)
		cells = limit - names - len(gap)
	}
	var b strings.Builder
	for _, row := range t.rows {
		out := newWriter(columnConfig(0, names), columnConfig(1, cells))
		for i, cell := range row {
			out.AppendRow(pretty.Row{t.names[i], cell})
		}
		b.WriteString(trimLines(out.Render()) + "\n")
	}
	return b.String()
}

func newWriter(columns ...pretty.ColumnConfig) pretty.Writer {
	out := pretty.NewWriter()
	out.SetStyle(style)
	out.SetColumnConfigs(columns)
	return out
}

// columnConfig returns the settings of column i, which is as wide as width. An ellipsis replaces what it leaves out.
func columnConfig(i, width int) pretty.ColumnConfig {
	return pretty.ColumnConfig{Number: i + 1, WidthMin: width, WidthMax: width, WidthMaxEnforcer: clip}
}

func row(cells []string) pretty.Row {
	r := make(pretty.Row, len(cells))
	for i, cell := range cells {
		r[i] = cell
	}
	return r
}

// fit returns the widths of the columns: the widths of their widest cells, or less for the widest columns if a line
// is longer than limit.
func (t *table) fit(limit int) []int {
	widths := make([]int, len(t.names))
	for i, name := range t.names {
		widths[i] = ptext.StringWidth(name)
		for _, cells := range t.rows {
			widths[i] = max(widths[i], ptext.StringWidth(cells[i]))
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
	sum := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// trimLines returns lines without the spaces at their ends, each with a line break.
func trimLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// clip returns a text that takes at most limit characters on a terminal. An ellipsis replaces what it leaves out.
func clip(s string, limit int) string { return ptext.Snip(s, limit, "…") }

// tableRows is the number of rows from which a tableSink computes the widths of the columns.
const tableRows = 1000

// A tableSink writes batches as one table, and the number of rows below it.
type tableSink struct {
	w     io.Writer
	width int     // of a line, 0 for no limit
	long  bool    // a cell on each line
	null  *string // in place of NULL; nil means NULL
	table *table
	rows  int
}

// Write implements rowfile.Writer.
func (s *tableSink) Write(b *column.Batch) error {
	if s.table == nil {
		s.table = newTable()
		s.table.long = s.long
		for i := range b.Columns {
			kind := b.Columns[i].Type.Kind
			s.table.names = append(s.table.names, printableLine(b.Columns[i].Name))
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
			if cells[i] = b.Columns[i].Format(r, limit); s.null != nil && b.Columns[i].Null(r) {
				cells[i] = *s.null
			}
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
	_, err := fmt.Fprintln(s.w, counted(s.rows, "row"))
	return err
}
