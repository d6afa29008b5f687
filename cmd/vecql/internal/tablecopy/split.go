// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/wire"
)

// The rows to write, from those read: one for each write time and time to live of a row.

// times are the write time and the time to live of a cell.
type times struct {
	write int64 // microseconds since the epoch
	ttl   int32 // seconds; 0 means none
}

// noWrite is the write time of rows without a timed value: the server's clock decides.
const noWrite = math.MinInt64

// A RowFault is a row that cannot be written, because a value does not fit its column.
type RowFault struct {
	Row int // in the batch
	Err error
}

// Split returns the rows to write of a batch, by statement of the plan. Each row of the result has one write time and
// one time to live; the values with other times are NULL, which leaves them unset. late is the number of lists whose
// elements have several times. Rows with a fault are left out.
//
// The values of b are cells (tablescan.Config.Cells) or have the types of the plan's Fields. The result has cells,
// and does not share the memory of b. If b has a Source.File, a batch of the result has consecutive rows of b, and
// its Source has their position; rows after the first one of a row of b have another Source.File, from which SourceOf
// returns the Source.File of b. Such a batch has the columns of b, too, which Original returns.
func (p *Plan) Split(b *column.Batch) (parts [][]*column.Batch, late int64, faults []RowFault, err error) {
	s := &splitter{plan: p, batch: b, parts: make([]part, len(p.statements))}
	if s.cells, err = newCells(p, b); err != nil {
		return nil, 0, nil, err
	}
	for row := range b.Rows {
		if err := s.cells.read(row); err != nil {
			s.faults = append(s.faults, RowFault{row, err})
			continue
		}
		if err := s.split(row); err != nil {
			return nil, 0, nil, err
		}
	}
	parts = make([][]*column.Batch, len(s.parts))
	for i := range s.parts {
		parts[i] = s.parts[i].batches()
	}
	return parts, s.late, s.faults, nil
}

// passMark precedes the number of the pass in Source.File, originalMark the names of the columns of Original. No name
// of a file or of a column has them.
const (
	passMark     = "\x00"
	originalMark = "\x00original "
)

// SourceOf returns the source of a row, given the source of a row of Split.
func SourceOf(source string) string {
	source, _, _ = strings.Cut(source, passMark)
	return source
}

// Original returns the rows as they were passed to Split, or b if it does not have them.
func Original(b *column.Batch) *column.Batch {
	out := &column.Batch{Rows: b.Rows, Source: b.Source}
	for _, c := range b.Columns {
		if name, ok := strings.CutPrefix(c.Name, originalMark); ok {
			out.Columns = append(out.Columns, c.As(name))
		}
	}
	if len(out.Columns) == 0 {
		return b
	}
	return out
}

// A splitter divides rows by the times of their values. A group is the values of a row with the same times.
type splitter struct {
	plan   *Plan
	batch  *column.Batch
	cells  *cells
	parts  []part // by statement
	late   int64
	faults []RowFault

	groups  []times // of the current row
	pieces  []piece // of the current row
	timesOf []times // of the elements of a cell
}

// A piece is a cell of one group: a column, or elements of a column for an UPDATE.
type piece struct {
	group  int
	column int
	field  int // of a user-defined type in an UPDATE, else -1
	kind   kind
	cell   []byte
}

// split adds the rows to write of one row.
func (s *splitter) split(row int) error {
	p := s.plan
	s.groups, s.pieces = s.groups[:0], s.pieces[:0]
	var untimed []int
	for i := p.keys; i < len(p.columns); i++ {
		switch k := slices.Index(p.timed, i); {
		case s.cells.row.Cells[i] == nil:
		case k < 0 || !s.addTimed(i, k, row):
			untimed = append(untimed, i)
		}
	}
	if len(s.groups) == 0 {
		s.groups = append(s.groups, times{write: noWrite})
	}
	last := latest(s.groups)
	for _, i := range untimed {
		x := piece{group: last, column: i, field: -1, cell: s.cells.row.Cells[i]}
		if isList(p.columns[i]) && s.groups[last].write != noWrite && !p.noTimes {
			x.kind = wholeList
		}
		s.pieces = append(s.pieces, x)
	}
	isStatic := p.isStatic(s.cells.row.Cells)
	for group := range s.groups {
		for i := range p.statements {
			if st := &p.statements[i]; s.writes(st, group, isStatic) {
				if err := s.emit(i, st, group, row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isStatic reports whether a row is a partition without rows: its clustering columns are NULL.
func (p *Plan) isStatic(values [][]byte) bool {
	return p.statics && p.partition < p.keys && values[p.partition] == nil
}

// writes reports whether a statement writes a group of the current row.
func (s *splitter) writes(st *statement, group int, isStatic bool) bool {
	if st.kind == wholeRow {
		if st.isStatic != isStatic {
			return false
		}
		// the first group has the key of a row without other values
		if group == 0 && !slices.ContainsFunc(s.pieces, func(x piece) bool { return x.kind == wholeRow }) {
			return true
		}
	}
	return slices.ContainsFunc(s.pieces, func(x piece) bool { return x.group == group && st.has(x) })
}

// has reports whether a statement writes a piece.
func (s *statement) has(x piece) bool { return s.kind == x.kind && s.ofColumns[x.column] >= 0 }

// addTimed adds the pieces of timed column k. It returns false if the times of the column are unknown.
func (s *splitter) addTimed(i, k, row int) bool {
	t := &s.cells.times[k]
	if t.write.Null(row) {
		return false
	}
	whole := piece{column: i, field: -1, cell: s.cells.row.Cells[i]}
	if isList(s.plan.columns[i]) {
		whole.kind = wholeList
	}
	if t.write.Type.Kind != column.List {
		whole.group = s.group(t.at(row))
		s.pieces = append(s.pieces, whole)
		return true
	}
	s.timesOf = t.elements(s.timesOf[:0], row)
	known := slices.DeleteFunc(slices.Clone(s.timesOf), func(t times) bool { return t.write == noWrite })
	if len(known) == 0 {
		return false
	}
	first := slices.MinFunc(known, earlier)
	several := slices.ContainsFunc(known, func(t times) bool { return t != first })
	switch info := s.plan.columns[i].Type.(type) {
	case cql.UDTTypeInfo:
		if several {
			return s.addFields(i, len(info.Elements), first)
		}
	case cql.CollectionType:
		switch {
		case several && info.Type() != cql.TypeList:
			return s.addElements(i, info.Type() == cql.TypeMap, first)
		case several:
			s.late++
			for _, t := range known {
				first = times{max(first.write, t.write), longer(first.ttl, t.ttl)}
			}
		}
	}
	whole.group = s.group(first)
	s.pieces = append(s.pieces, whole)
	return true
}

// earlier orders times by the write time, and without a time to live first.
func earlier(a, b times) int {
	return cmp.Or(cmp.Compare(a.write, b.write), cmp.Compare(a.ttl, b.ttl))
}

// longer returns the longer time to live; 0 means without end.
func longer(a, b int32) int32 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// group returns the number of the group with these times.
func (s *splitter) group(t times) int {
	at := slices.Index(s.groups, t)
	if at < 0 {
		at = len(s.groups)
		s.groups = append(s.groups, t)
	}
	return at
}

// addElements adds the elements of a set or a map by their times. It returns false if the elements do not belong to
// the times.
func (s *splitter) addElements(i int, isMap bool, first times) bool {
	r := wire.NewReader(s.cells.row.Cells[i])
	n := int(r.Int())
	if n != len(s.timesOf) {
		return false
	}
	counts, subsets := map[times]int32{}, map[times][]byte{}
	for k := range n {
		from := r.Offset()
		r.Bytes()
		if isMap {
			r.Bytes()
		}
		if r.Err() != nil {
			return false
		}
		t := s.timesOf[k]
		counts[t]++
		subsets[t] = append(subsets[t], s.cells.row.Cells[i][from:r.Offset()]...)
	}
	for _, t := range slices.SortedFunc(maps.Keys(counts), earlier) {
		cell := append(binary.BigEndian.AppendUint32(nil, uint32(counts[t])), subsets[t]...)
		x := piece{group: s.group(t), column: i, field: -1, cell: cell}
		if t != first {
			x.kind = someOfThem
		}
		s.pieces = append(s.pieces, x)
	}
	return true
}

// addFields adds the n fields of a user-defined type by their times. It returns false if the fields do not belong to
// the times.
func (s *splitter) addFields(i, n int, first times) bool {
	r := wire.NewReader(s.cells.row.Cells[i])
	var base []byte
	from := len(s.pieces)
	for k := range n {
		if r.Len() == 0 { // fields that are missing at the end are NULL
			break
		}
		cell := r.Bytes()
		switch {
		case r.Err() != nil || cell != nil && (k >= len(s.timesOf) || s.timesOf[k].write == noWrite):
			s.pieces = s.pieces[:from]
			return false
		case cell == nil:
			base = wire.AppendInt(base, wire.Null)
		case s.timesOf[k] == first:
			base = append(wire.AppendInt(base, int32(len(cell))), cell...)
		default:
			base = wire.AppendInt(base, wire.Null)
			s.pieces = append(s.pieces, piece{group: s.group(s.timesOf[k]), column: i, field: k, kind: someOfThem, cell: cell})
		}
	}
	s.pieces = append(s.pieces, piece{group: s.group(first), column: i, field: -1, cell: base})
	return true
}

// latest returns the position of the group with the latest write time.
func latest(groups []times) int {
	at := 0
	for i, g := range groups {
		if g.write > groups[at].write {
			at = i
		}
	}
	return at
}

// emit adds the row of a statement for a group.
func (s *splitter) emit(number int, st *statement, group, row int) error {
	out := s.parts[number].next(s, st, group, row)
	for i := range s.plan.keysOf(st.isStatic) {
		out.cells[st.ofColumns[i]] = s.cells.row.Cells[i]
	}
	for _, x := range s.pieces {
		if x.group == group && st.has(x) {
			out.cells[st.ofColumns[x.column]+max(x.field, 0)] = x.cell
		}
	}
	return out.end(s.groups[group])
}

// A part is the rows of one statement, by the number of the group: so that rows which follow each other have other
// keys, and the rows of a file keep their positions.
type part struct{ passes []*pass }

// next returns the pass of a group, ready for a row.
func (x *part) next(s *splitter, st *statement, group, row int) *pass {
	for len(x.passes) <= group {
		x.passes = append(x.passes, &pass{split: s, statement: st, number: len(x.passes)})
	}
	p := x.passes[group]
	p.begin(row)
	return p
}

// batches returns the rows.
func (x *part) batches() (all []*column.Batch) {
	for _, p := range x.passes {
		p.cut()
		all = append(all, p.done...)
	}
	return all
}

// A pass is the rows of one statement and one number of a group.
type pass struct {
	split     *splitter
	statement *statement
	number    int
	cells     [][]byte // of the current row
	columns   []column.Column
	ttls      []int32
	writes    []int64
	known     []byte // whether the write time of a row is
	first     int    // row of the batch
	done      []*column.Batch
}

// begin starts a row.
func (p *pass) begin(row int) {
	if n := len(p.ttls); n > 0 && p.split.batch.Source.File != "" && row != p.first+n {
		p.cut()
	}
	if len(p.ttls) == 0 {
		p.first = row
		p.columns = make([]column.Column, len(p.statement.values))
		for i, v := range p.statement.values {
			p.columns[i] = newCellColumn(v.name)
		}
	}
	p.cells = slices.Grow(p.cells[:0], len(p.columns))[:len(p.columns)]
	clear(p.cells)
}

// end completes a row. A time to live is never NULL, which would mean the default of the target.
func (p *pass) end(t times) error {
	for i, cell := range p.cells {
		if err := codec.AppendCellRow(&p.columns[i], cell); err != nil {
			return fmt.Errorf("column %s: %w", p.columns[i].Name, err)
		}
	}
	n := len(p.ttls)
	if n%8 == 0 {
		p.known = append(p.known, 0)
	}
	write := int64(0)
	if t.write != noWrite {
		write = t.write
		p.known[n/8] |= 1 << (n % 8)
	}
	p.ttls, p.writes = append(p.ttls, t.ttl), append(p.writes, write)
	return nil
}

// cut ends a batch.
func (p *pass) cut() {
	n := len(p.ttls)
	if n == 0 {
		return
	}
	plan, from := p.split.plan, p.split.batch
	out := &column.Batch{Rows: n, Columns: p.columns}
	if !plan.noTimes {
		out.Columns = append(out.Columns, column.Of(plan.ttl, p.ttls))
		out.Columns = append(out.Columns, column.Of(plan.writeTime, p.writes).WithValidity(p.known))
	}
	if from.Source.File != "" {
		rows := from.Slice(p.first, p.first+n)
		out.Source = rows.Source
		out.Source.FirstRow = from.Source.FirstRow + int64(p.first)
		for _, c := range rows.Columns {
			out.Columns = append(out.Columns, c.As(originalMark+c.Name))
		}
	}
	if p.number > 0 && from.Source.File != "" {
		out.Source.File += passMark + strconv.Itoa(p.number)
	}
	p.done = append(p.done, out)
	p.columns, p.ttls, p.writes, p.known = nil, nil, nil, nil
}
