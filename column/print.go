// SPDX-License-Identifier: Apache-2.0

package column

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/textform"
)

// Tables: batches as text.

const (
	tableWidth = 100 // characters
	tableRows  = 20
	cellWidth  = 32 // characters per cell, unless there is room for more
)

// String returns the batch as a table of at most 100 characters per line and 20 rows, with the type of each column
// under its name, so that fmt.Print(batch) prints it. It counts omitted columns and rows below the table.
func (b *Batch) String() string { return b.Table(tableWidth, tableRows) }

// Table returns the batch as a table of at most width characters per line and at most rows rows, the first and the last
// ones if some are omitted. It always has at least one column, which is at least as wide as its name.
func (b *Batch) Table(width, rows int) string {
	shown, head := b.shownRows(rows)
	table := make([]tableColumn, 0, len(b.Columns))
	room := width
	for i := range b.Columns {
		t := b.tableColumn(i, shown)
		if i > 0 && room < t.width {
			break
		}
		room -= t.width + 2
		table = append(table, t)
	}
	var s strings.Builder
	for line := range len(shown) + 2 {
		if line == head+2 && len(shown) < b.Rows {
			s.WriteString("...\n")
		}
		writeLine(&s, table, line)
	}
	fmt.Fprintf(&s, "%d row", b.Rows)
	if b.Rows != 1 {
		s.WriteByte('s')
	}
	if hidden := b.Columns[len(table):]; len(hidden) > 0 {
		names := make([]string, len(hidden))
		for i := range hidden {
			names[i] = hidden[i].Name
		}
		fmt.Fprintf(&s, "; not shown: %s", shorten(strings.Join(names, ", "), max(20, width-30)))
	}
	s.WriteByte('\n')
	return s.String()
}

// shownRows returns the numbers of at most n rows, and how many of them precede the gap.
func (b *Batch) shownRows(n int) (rows []int, head int) {
	n = max(0, min(n, b.Rows))
	head = n - n/2
	for i := range n {
		if i < head {
			rows = append(rows, i)
		} else {
			rows = append(rows, b.Rows-n+i)
		}
	}
	return rows, head
}

// A tableColumn is a column in printed form: the name, the type, and a cell per row.
type tableColumn struct {
	cells []string
	width int // characters
	right bool
}

// tableColumn formats the given rows of column i, below its name and type, and stores the width of the widest cell in
// characters.
func (b *Batch) tableColumn(i int, rows []int) tableColumn {
	c := &b.Columns[i]
	t := tableColumn{
		cells: []string{printable(c.Name), c.Type.String()},
		right: c.Type.Kind >= Int8 && c.Type.Kind <= Float64,
	}
	limit := cellWidth
	if len(b.Columns) == 1 {
		limit = tableWidth - 1
	}
	for _, r := range rows {
		t.cells = append(t.cells, c.Format(r, limit))
	}
	for _, cell := range t.cells {
		t.width = max(t.width, utf8.RuneCountInString(cell))
	}
	return t
}

// writeLine writes one line of the table: 0 are the names, 1 the types, and the others rows.
func writeLine(s *strings.Builder, table []tableColumn, line int) {
	var text strings.Builder
	for i, t := range table {
		if i > 0 {
			text.WriteString("  ")
		}
		pad := strings.Repeat(" ", t.width-utf8.RuneCountInString(t.cells[line]))
		if t.right {
			text.WriteString(pad + t.cells[line])
		} else {
			text.WriteString(t.cells[line] + pad)
		}
	}
	s.WriteString(strings.TrimRight(text.String(), " "))
	s.WriteByte('\n')
}

// Format returns row i as text of at most limit characters, as [Batch.Table] prints it.
func (c *Column) Format(i, limit int) string {
	if c.Null(i) {
		return "NULL"
	}
	switch c.Type.Kind {
	case Vector:
		from, to := i*c.Type.Dim, (i+1)*c.Type.Dim
		elements := Column{Type: Type{Kind: c.Type.Elem}, Len: to, Values: c.Values}
		return formatList("[]", from, to, limit, elements.Format)
	case List:
		from, to := c.Elements(i)
		return formatList("[]", from, to, limit, c.Children[0].Format)
	case Map:
		from, to := c.Elements(i)
		return formatList("{}", from, to, limit, func(k, limit int) string {
			return c.Children[0].Format(k, limit) + ": " + c.Children[1].Format(k, limit)
		})
	case Struct:
		return formatList("{}", 0, len(c.Children), limit, func(k, limit int) string {
			return printable(c.Children[k].Name) + ": " + c.Children[k].Format(i, limit)
		})
	case Tuple:
		return formatList("()", 0, len(c.Children), limit, func(k, limit int) string {
			return c.Children[k].Format(i, limit)
		})
	case Binary, Fixed:
		b, _ := c.Value(i).([]byte)
		return shorten("0x"+fmt.Sprintf("%x", b[:min(len(b), limit)]), limit)
	case String:
		return shorten(printable(string(TextView{c, c.codes()}.Bytes(i))), limit)
	case Date:
		return string(textform.AppendDate(nil, cast[int32](c.Values, c.Len)[i]))
	case Timestamp:
		return c.formatTimestamp(i)
	case Float32:
		return strconv.FormatFloat(float64(cast[float32](c.Values, c.Len)[i]), 'g', -1, 32)
	}
	return shorten(printable(formatValue(c.Value(i))), limit)
}

// formatTimestamp returns a timestamp in ISO 8601. One before year 1 is the number of its units: CQL has no other text
// of it.
func (c *Column) formatTimestamp(i int) string {
	t := c.Value(i).(time.Time)
	layout := "2006-01-02T15:04:05.999999999"
	switch {
	case t.Year() < 1:
		return strconv.FormatInt(cast[int64](c.Values, c.Len)[i], 10)
	case c.Type.UTC:
		layout += "Z07:00"
	}
	return t.Format(layout)
}

func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("0x%x", v)
	case cql.Decimal:
		return v.String()
	}
	return fmt.Sprint(v)
}

// formatList returns elements i to j as "[1, 2, 3]", shortened to "[1, 2, ... of 384]". element returns the text of one
// element; around are the first and the last character.
func formatList(around string, i, j, limit int, element func(k, limit int) string) string {
	var s strings.Builder
	s.WriteString(around[:1])
	length := 1 // in characters
	end := fmt.Sprintf("... of %d%s", j-i, around[1:])
	for k := i; k < j; k++ {
		cell := element(k, limit)
		if k > i {
			s.WriteString(", ")
			length += 2
		}
		length += utf8.RuneCountInString(cell)
		last := k == j-1
		if room := limit - length; last && room < 1 || !last && room < len(end)+2 {
			s.WriteString(end)
			return s.String()
		}
		s.WriteString(cell)
	}
	s.WriteString(around[1:])
	return s.String()
}

// shorten cuts s to limit characters, "..." included.
func shorten(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-3]) + "..."
}

// printable replaces characters that would break the lines of a table.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '\uFFFD'
		}
		return r
	}, s)
}
