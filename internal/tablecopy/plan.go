// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"fmt"
	"math"
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/schema"
)

// The rows to write, from those read: one for each write time and time to live of a row.

// A plan is the columns of a copy. A batch of the source has the columns, then for each timed one its write time and
// its time to live.
type plan struct {
	columns    []*vecql.ColumnMetadata
	keys       int      // columns of the primary key, which come first
	partition  int      // columns of the partition key
	clustering bool     // the table has clustering columns
	timed      []int    // positions in columns
	untimed    []string // names of columns whose write times the server does not report
	noTimes    bool

	ttl, writeTime string // names of the added columns
}

// newPlan returns the plan for the columns of the source, which the target must have, too.
func newPlan(source, target *vecql.TableMetadata, cfg Config) (*plan, error) {
	p := &plan{noTimes: cfg.NoTimes, keys: len(source.PartitionKey) + len(source.ClusteringColumns)}
	p.partition, p.clustering = len(source.PartitionKey), len(source.ClusteringColumns) > 0
	p.columns = slices.Concat(source.PartitionKey, source.ClusteringColumns)
	names := cfg.Columns
	if names == nil {
		names = source.OrderedColumns
	}
	for _, name := range names {
		c := source.Columns[name]
		if c == nil {
			return nil, fmt.Errorf("table %s.%s has no column %q", source.Keyspace, source.Name, name)
		}
		if !slices.Contains(p.columns, c) {
			p.columns = append(p.columns, c)
		}
	}
	for i, c := range p.columns {
		switch other := target.Columns[c.Name]; {
		case other == nil:
			return nil, fmt.Errorf("table %s.%s has no column %q", target.Keyspace, target.Name, c.Name)
		case other.Validator != c.Validator:
			return nil, fmt.Errorf("column %q of %s.%s is %s, that of %s.%s is %s", c.Name, target.Keyspace, target.Name,
				other.Validator, source.Keyspace, source.Name, c.Validator)
		}
		if i >= p.keys && !cfg.NoTimes {
			p.timed = append(p.timed, i)
		}
	}
	p.ttl, p.writeTime = unusedName(target, "ttl"), unusedName(target, "writetime")
	return p, nil
}

// unusedName returns a name that no column of the table has.
func unusedName(t *vecql.TableMetadata, name string) string {
	for t.Columns[name] != nil {
		name += "_"
	}
	return name
}

// dropCollectionTimes makes the plan do without the write times of columns with a cell for each element, which servers
// before Cassandra 5.0 do not report. It reports whether there are any.
func (p *plan) dropCollectionTimes() bool {
	p.timed = slices.DeleteFunc(p.timed, func(i int) bool {
		drop := schema.IsMultiCell(p.columns[i])
		if drop {
			p.untimed = append(p.untimed, p.columns[i].Name)
		}
		return drop
	})
	return len(p.untimed) > 0
}

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

// split returns the rows to write, and the partitions without rows: their clustering columns are NULL. Both are nil if
// there are none. late is the number of collections whose elements have several times.
func (p *plan) split(b *column.Batch) (rows, statics *column.Batch, late int64, err error) {
	s := &splitter{plan: p, batch: &column.Batch{Columns: b.Columns[:len(p.columns)], Rows: b.Rows}}
	if s.times, err = p.timesOf(b); err != nil {
		return nil, nil, 0, err
	}
	for row := range b.Rows {
		if p.clustering && b.Columns[p.partition].Null(row) {
			s.endRun(row)
			s.static(row)
			continue
		}
		s.add(row)
	}
	s.endRun(b.Rows)
	if rows, err = concat(s.rows); err == nil {
		statics, err = concat(s.statics)
	}
	return rows, statics, s.late, err
}

// concat returns batches as one with memory of its own; nil if there are none.
func concat(batches []*column.Batch) (*column.Batch, error) {
	if len(batches) == 0 {
		return nil, nil
	}
	return column.Concat(batches...)
}

// timesOf returns the columns of times of a batch.
func (p *plan) timesOf(b *column.Batch) ([]cellTimes, error) {
	list := make([]cellTimes, len(p.timed))
	for k := range list {
		at := len(p.columns) + 2*k
		t := &list[k]
		t.write, t.ttl = &b.Columns[at], &b.Columns[at+1]
		writes, ttls := t.write, t.ttl
		if t.write.Type.Kind == column.List {
			writes, ttls = &t.write.Children[0], &t.ttl.Children[0]
		}
		var err error
		if t.writes, err = column.Slice[int64](writes); err != nil {
			return nil, err
		}
		if t.ttls, err = column.Slice[int32](ttls); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// at returns the times of a row, which is not NULL. Of a collection with several times it returns the latest ones, and
// that there are several.
func (t *cellTimes) at(row int) (latest times, several bool) {
	if t.write.Type.Kind != column.List {
		latest = times{write: t.writes[row]}
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

// A splitter collects the rows to write of one batch.
type splitter struct {
	plan    *plan
	batch   *column.Batch
	times   []cellTimes
	rows    []*column.Batch
	statics []*column.Batch
	late    int64
	last    []group // of the last call of groups
	run     []times // of the rows before the current one with one group each that are not in rows yet
}

// A group is the columns of a row with the same times.
type group struct {
	times
	columns []int // positions in plan.columns
}

// groups returns the groups of a row, at least one. The result is valid until the next call.
func (s *splitter) groups(row int) []group {
	s.last = s.last[:0]
	for k, i := range s.plan.timed {
		if s.batch.Columns[i].Null(row) {
			continue
		}
		t, several := s.times[k].at(row)
		if several {
			s.late++
		}
		at := slices.IndexFunc(s.last, func(g group) bool { return g.times == t })
		if at < 0 {
			at = len(s.last)
			s.last = append(s.last, group{times: t})
		}
		s.last[at].columns = append(s.last[at].columns, i)
	}
	if len(s.last) == 0 {
		s.last = append(s.last, group{times: times{write: noWrite}})
	}
	return s.last
}

// add adds a row.
func (s *splitter) add(row int) {
	if groups := s.groups(row); len(groups) > 1 {
		s.endRun(row)
		s.divide(row, groups)
	} else {
		s.run = append(s.run, groups[0].times)
	}
}

// endRun adds the rows of the run, which ends before row end.
func (s *splitter) endRun(end int) {
	if len(s.run) == 0 {
		return
	}
	part := s.batch.Slice(end-len(s.run), end)
	if !s.plan.noTimes {
		part = s.timed(part, s.run)
	}
	s.rows, s.run = append(s.rows, part), s.run[:0]
}

// timed returns a batch with the columns of times.
func (s *splitter) timed(part *column.Batch, all []times) *column.Batch {
	writes, ttls, known := make([]int64, len(all)), make([]int32, len(all)), make([]byte, (len(all)+7)/8)
	for i, t := range all {
		if ttls[i] = t.ttl; t.write != noWrite {
			writes[i] = t.write
			known[i>>3] |= 1 << (i & 7)
		}
	}
	out := &column.Batch{Rows: part.Rows, Columns: slices.Clone(part.Columns)}
	out.Columns = append(out.Columns, column.Of(s.plan.ttl, ttls), column.Of(s.plan.writeTime, writes).WithValidity(known))
	return out
}

// divide adds one row for each group of a row. The columns of the other groups are NULL, which leaves them unset.
func (s *splitter) divide(row int, groups []group) {
	for i, g := range groups {
		part := s.batch.Slice(row, row+1)
		for k := s.plan.keys; k < len(part.Columns); k++ {
			timed := slices.Contains(s.plan.timed, k)
			if timed && !slices.Contains(g.columns, k) || !timed && i != latest(groups) {
				part.Columns[k] = part.Columns[k].WithValidity([]byte{0})
			}
		}
		s.rows = append(s.rows, s.timed(part, []times{g.times}))
	}
}

// latest returns the position of the group with the latest write time, which columns without one take.
func latest(groups []group) int {
	at := 0
	for i, g := range groups {
		if g.write > groups[at].write {
			at = i
		}
	}
	return at
}

// static adds a partition without rows: the columns of the partition key and the static ones.
func (s *splitter) static(row int) {
	whole := len(s.rows)
	s.add(row)
	s.endRun(row + 1)
	for _, part := range s.rows[whole:] {
		s.statics = append(s.statics, s.plan.withoutRows(part))
	}
	s.rows = s.rows[:whole]
}

// withoutRows returns a batch without the columns that a partition without rows does not have.
func (p *plan) withoutRows(b *column.Batch) *column.Batch {
	out := &column.Batch{Rows: b.Rows}
	for i, c := range b.Columns {
		if i >= len(p.columns) || p.columns[i].Kind == vecql.ColumnPartitionKey || p.columns[i].Kind == vecql.ColumnStatic {
			out.Columns = append(out.Columns, c)
		}
	}
	return out
}
