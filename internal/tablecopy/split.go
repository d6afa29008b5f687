// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
)

// The rows to write, from those read: one for each write time and time to live of a row.

// times are the write time and the time to live of a cell.
type times struct {
	write int64 // microseconds since the epoch
	ttl   int32 // seconds; 0 means none
}

// noWrite is the write time of rows without a timed value: the server's clock decides.
const noWrite = math.MinInt64

// A cellTimes has the times of one column of a batch.
type cellTimes struct {
	write, ttl *column.Column
	writes     []int64
	ttls       []int32
}

// Split returns the rows to write of a batch: those for each of the Inserts. Each row of the result has one write time
// and one time to live; the values with other times are NULL, which leaves them unset. late is the number of
// collections whose elements have several times.
//
// A batch of the result has consecutive rows of b. Its Source has their position; rows after the first one of a row of
// b have another Source.File, from which SourceOf returns that of b. The result shares the memory of b.
func (p *Plan) Split(b *column.Batch) (parts [2][]*column.Batch, late int64, err error) {
	s := &splitter{plan: p, batch: b}
	if err := s.findGroups(); err != nil {
		return parts, 0, err
	}
	for k := range s.most {
		parts[0] = s.pass(parts[0], k, func(row int) bool { return !s.isStatic(row) })
		first := len(parts[1])
		parts[1] = s.pass(parts[1], k, s.isStatic)
		for i, part := range parts[1][first:] {
			parts[1][first+i] = p.withoutRows(part)
		}
	}
	return parts, s.late, nil
}

// passMark precedes the number of the pass in Source.File. No name of a file has it.
const passMark = "\x00"

// SourceOf returns the source of a row from that of a row of Split.
func SourceOf(source string) string {
	source, _, _ = strings.Cut(source, passMark)
	return source
}

// A splitter divides the rows of a batch by the times of their values. A group is the values of a row with the same
// times. Pass k has the group k of each row that has so many.
type splitter struct {
	plan  *Plan
	batch *column.Batch
	cells []cellTimes

	groups []times // of all rows, one after the other
	first  []int   // the first group of each row, and the end
	of     []int   // number of the group of each timed column of each row; -1 for a NULL
	most   int     // groups of a row
	late   int64
}

// isStatic reports whether a row is a partition without rows: its clustering columns are NULL.
func (s *splitter) isStatic(row int) bool {
	return s.plan.statics && s.plan.partition < s.plan.keys && s.batch.Columns[s.plan.partition].Null(row)
}

// findGroups sets the groups of all rows. Each row has at least one.
func (s *splitter) findGroups() error {
	p, rows := s.plan, s.batch.Rows
	if err := s.findTimes(); err != nil {
		return err
	}
	s.first, s.of = make([]int, 0, rows+1), make([]int, 0, rows*len(p.timed))
	for row := range rows {
		first := len(s.groups)
		s.first = append(s.first, first)
		for k, i := range p.timed {
			if s.batch.Columns[i].Null(row) {
				s.of = append(s.of, -1)
				continue
			}
			t, several := s.cells[k].at(row)
			if several {
				s.late++
			}
			at := slices.Index(s.groups[first:], t)
			if at < 0 {
				at = len(s.groups) - first
				s.groups = append(s.groups, t)
			}
			s.of = append(s.of, at)
		}
		if len(s.groups) == first {
			s.groups = append(s.groups, times{write: noWrite})
		}
		s.most = max(s.most, len(s.groups)-first)
	}
	s.first = append(s.first, len(s.groups))
	return nil
}

// findTimes sets the columns of times.
func (s *splitter) findTimes() error {
	p := s.plan
	s.cells = make([]cellTimes, len(p.timed))
	for k := range s.cells {
		at := len(p.columns) + 2*k
		t := &s.cells[k]
		t.write, t.ttl = &s.batch.Columns[at], &s.batch.Columns[at+1]
		writes, ttls := t.write, t.ttl
		if t.write.Type.Kind == column.List {
			writes, ttls = &t.write.Children[0], &t.ttl.Children[0]
		}
		var err error
		if t.writes, err = column.Slice[int64](writes); err != nil {
			return err
		}
		if t.ttls, err = column.Slice[int32](ttls); err != nil {
			return err
		}
	}
	return nil
}

// at returns the times of a row, which is not NULL. Of a collection with several times it returns the latest ones, and
// that there are several.
func (t *cellTimes) at(row int) (latest times, several bool) {
	if t.write.Type.Kind != column.List {
		latest.write = noWrite
		if !t.write.Null(row) {
			latest.write = t.writes[row]
		}
		if !t.ttl.Null(row) {
			latest.ttl = t.ttls[row]
		}
		return latest, false
	}
	i, j := t.write.Elements(row)
	k, _ := t.ttl.Elements(row)
	latest.write = noWrite
	for n := range j - i {
		next := times{write: t.writes[i+n]}
		if !t.ttl.Children[0].Null(k + n) {
			next.ttl = t.ttls[k+n]
		}
		if n > 0 && next != latest {
			several = true
			next = times{write: max(latest.write, next.write), ttl: longer(latest.ttl, next.ttl)}
		}
		latest = next
	}
	return latest, several
}

// longer returns the longer time to live; 0 means without end.
func longer(a, b int32) int32 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// groupsOf returns the groups of a row.
func (s *splitter) groupsOf(row int) []times { return s.groups[s.first[row]:s.first[row+1]] }

// pass appends the rows of pass k that are wanted.
func (s *splitter) pass(parts []*column.Batch, k int, wanted func(row int) bool) []*column.Batch {
	for first, row := 0, 0; row <= s.batch.Rows; row++ {
		if row < s.batch.Rows && len(s.groupsOf(row)) > k && wanted(row) {
			continue
		}
		if first < row {
			parts = append(parts, s.part(k, first, row))
		}
		first = row + 1
	}
	return parts
}

// part returns the rows first up to but not including end in pass k.
func (s *splitter) part(k, first, end int) *column.Batch {
	p := s.plan
	rows := s.batch.Slice(first, end)
	out := &column.Batch{Rows: rows.Rows, Columns: rows.Columns[:len(p.columns):len(p.columns)]}
	if rows.Source.File != "" {
		out.Source = rows.Source
		out.Source.FirstRow += int64(first)
	}
	if k > 0 {
		out.Source.File += passMark + strconv.Itoa(k)
	}
	if s.most > 1 {
		for i := p.keys; i < len(out.Columns); i++ {
			s.mask(&out.Columns[i], i, k, first)
		}
	}
	if !p.noTimes {
		out.Columns = append(out.Columns, s.timesOf(k, first, end)...)
	}
	out.Columns = append(out.Columns, rows.Columns[len(p.columns)+2*len(p.timed):]...)
	return out
}

// mask makes the values of column i that are not of group k NULL. Values without times are of the latest group. c has
// the rows from first on.
func (s *splitter) mask(c *column.Column, i, k, first int) {
	at := slices.Index(s.plan.timed, i)
	valid := make([]byte, (c.Len+7)/8)
	for n := range c.Len {
		row := first + n
		group := latest(s.groupsOf(row))
		if at >= 0 {
			group = s.of[row*len(s.plan.timed)+at]
		}
		if group == k && !c.Null(n) {
			valid[n>>3] |= 1 << (n & 7)
		}
	}
	*c = c.WithValidity(valid)
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

// timesOf returns the columns of times of group k. A time to live is never NULL, which would mean the default of the
// target.
func (s *splitter) timesOf(k, first, end int) []column.Column {
	n := end - first
	writes, ttls, known := make([]int64, n), make([]int32, n), make([]byte, (n+7)/8)
	for i := range n {
		t := s.groupsOf(first + i)[k]
		if ttls[i] = t.ttl; t.write != noWrite {
			writes[i] = t.write
			known[i>>3] |= 1 << (i & 7)
		}
	}
	return []column.Column{column.Of(s.plan.ttl, ttls), column.Of(s.plan.writeTime, writes).WithValidity(known)}
}

// withoutRows returns a batch without the columns that a partition without rows does not have.
func (p *Plan) withoutRows(b *column.Batch) *column.Batch {
	out := &column.Batch{Rows: b.Rows, Source: b.Source}
	for i, c := range b.Columns {
		if i >= len(p.columns) || !isOfRow(p.columns[i]) {
			out.Columns = append(out.Columns, c)
		}
	}
	return out
}
