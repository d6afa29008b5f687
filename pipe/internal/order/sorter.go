// SPDX-License-Identifier: Apache-2.0

package order

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
)

// The first rows of an order, or all rows.

// A Sorter keeps the first rows of those that are added, with their keys. Rows with equal keys have the order of their
// positions: the positions of Source.FirstRow.
type Sorter struct {
	Keys  []Key
	Limit int64 // the number of rows; -1 means all
	// Cut is called with the first rows so far, rows 0 to last of a batch in their order, when a Sorter has dropped rows
	// after them; nil means none. The key is the first one.
	Cut func(k Key, b *column.Batch, last int) error

	rows     []sortRow
	batches  []*column.Batch
	columns  []Column
	selected []int32
	memory   []byte // of keys
	full     bool   // rows[limit-1] was the last of the first rows; no later row is wanted unless it comes before
	last     sortRow
}

// A sortRow is a row of one of the batches.
type sortRow struct {
	prefix     uint64 // of key
	key        []byte
	position   int64
	batch, row int32
}

func compareRows(a, b sortRow) int {
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.position, b.position)
}

func (s *Sorter) sort() { slices.SortFunc(s.rows, compareRows) }

// Add copies the rows of a batch that may be among the first: of those with the numbers rows; nil means all.
func (s *Sorter) Add(b *column.Batch, rows []int32) error {
	s.columns = s.columns[:0]
	for _, k := range s.Keys {
		c, err := ColumnOf(k, b)
		if err != nil {
			return err
		}
		s.columns = append(s.columns, c)
	}
	s.selected = s.selected[:0]
	for _, row := range rows {
		s.offer(row, b.Source.FirstRow+int64(row))
	}
	if rows == nil {
		for row := range int32(b.Rows) {
			s.offer(row, b.Source.FirstRow+int64(row))
		}
	}
	if len(s.selected) == 0 {
		return nil
	}
	taken, err := b.Take(s.selected)
	if err != nil {
		return err
	}
	s.batches = append(s.batches, taken)
	if n := int64(len(s.rows)); s.Limit > 0 && ((n-sortSlack)/2 > s.Limit || !s.full && n >= s.Limit) {
		return s.cut()
	}
	return nil
}

// sortSlack is the number of rows beyond twice the limit that a sorter holds before it cuts. The fewer, the sooner a
// bound is known.
const sortSlack = 64

// offer adds a row of the current batch, unless it comes after the first ones.
func (s *Sorter) offer(row int32, position int64) {
	r := sortRow{position: position, batch: int32(len(s.batches)), row: int32(len(s.selected))}
	if len(s.columns) > 0 {
		r.prefix = s.columns[0].prefix(int(row))
	}
	if s.full && r.prefix > s.last.prefix {
		return
	}
	if cap(s.memory)-len(s.memory) < 256 {
		s.memory = make([]byte, 0, 64<<10)
	}
	from := len(s.memory)
	for k := range s.columns {
		s.memory = s.columns[k].Append(s.memory, int(row))
	}
	r.key = s.memory[from:len(s.memory):len(s.memory)]
	if s.full && compareRows(r, s.last) > 0 {
		s.memory = s.memory[:from]
		return
	}
	s.rows = append(s.rows, r)
	s.selected = append(s.selected, row)
}

// cut keeps the first rows only.
func (s *Sorter) cut() error {
	s.sort()
	s.rows = s.rows[:s.Limit]
	b, err := s.gather()
	if err != nil {
		return err
	}
	s.batches, s.memory = []*column.Batch{b}, nil
	size := 0
	for i := range s.rows {
		size += len(s.rows[i].key)
	}
	keys := make([]byte, 0, size)
	for i := range s.rows {
		r := &s.rows[i]
		from := len(keys)
		keys = append(keys, r.key...)
		r.key, r.batch, r.row = keys[from:len(keys):len(keys)], 0, int32(i)
	}
	s.full, s.last = true, s.rows[s.Limit-1]
	if s.Cut != nil {
		return s.Cut(s.Keys[0], b, int(s.Limit-1))
	}
	return nil
}

// Merge returns the first rows of several sorters of the same keys and limit, without the first offset ones, as a batch
// of the caller's. The sorters are not used afterwards.
func Merge(sorters []Sorter, offset int64) (*column.Batch, error) {
	all := &sorters[0]
	for i := range sorters[1:] {
		s := &sorters[i+1]
		for _, r := range s.rows {
			r.batch += int32(len(all.batches))
			all.rows = append(all.rows, r)
		}
		all.batches = append(all.batches, s.batches...)
	}
	all.sort()
	if all.Limit >= 0 {
		all.rows = all.rows[:min(all.Limit, int64(len(all.rows)))]
	}
	all.rows = all.rows[min(offset, int64(len(all.rows))):]
	return all.gather()
}

// gather returns the rows in their order.
func (s *Sorter) gather() (*column.Batch, error) {
	all, err := column.Concat(s.batches...)
	if err != nil {
		return nil, err
	}
	starts := make([]int32, len(s.batches))
	at := 0
	for i, b := range s.batches {
		starts[i] = int32(at)
		at += b.Rows
	}
	if int(int32(at)) != at {
		return nil, fmt.Errorf("%d rows: %w", at, column.ErrTooLarge)
	}
	rows := make([]int32, len(s.rows))
	for i, r := range s.rows {
		rows[i] = starts[r.batch] + r.row
	}
	return all.Take(rows)
}
