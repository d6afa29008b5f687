// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
)

// Rows by their numbers.

// Rows returns the rows with some numbers, which must ascend, as one fresh batch in their order. The numbers are those
// of Options.RowNumbers: the first row of the first file is 0. Only pages with these rows are decompressed. The options
// must not select rows; the bounds of batches do not apply, and the Source is the place of the first row.
func (d *Dataset) Rows(ctx context.Context, o Options, rows []int64) (*column.Batch, error) {
	for i, row := range rows {
		if row < 0 || row >= d.rows || i > 0 && row <= rows[i-1] {
			return nil, fmt.Errorf("parquetscan: Rows: row %d at position %d of the numbers does not ascend, or is none of %d rows",
				row, i, d.rows)
		}
	}
	if o.Filter.node != nil || o.Selector != nil {
		return nil, fmt.Errorf("parquetscan: Rows: the options have a Filter or a Selector")
	}
	o.Selector = &Selector{New: func() func(b *column.Batch, kept []int32) ([]int32, error) {
		return func(b *column.Batch, kept []int32) ([]int32, error) {
			first := b.Source.FirstRow
			at, _ := slices.BinarySearch(rows, first)
			for ; at < len(rows) && rows[at] < first+int64(b.Rows); at++ {
				kept = append(kept, int32(rows[at]-first))
			}
			return kept, nil
		}
	}}
	o.Ordered = true
	s, err := d.Scan(o)
	if err != nil {
		return nil, err
	}
	var batches []*column.Batch
	for b, err := range s.All(ctx, s.bucketsOf(rows)...) {
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	if ragged := s.Ragged(); ragged != nil { // some batches may have vectors, others lists
		o.Lists, o.Selector = slices.Concat(o.Lists, ragged), nil
		return d.Rows(ctx, o, rows)
	}
	if len(batches) == 0 {
		return s.Schema().Empty(), nil
	}
	return column.Concat(batches...)
}

// bucketsOf returns a bucket for each row group with one of the rows.
func (s *Scan) bucketsOf(rows []int64) []Bucket {
	buckets := []Bucket{}
	at := 0
	for _, u := range s.units() {
		f := s.ds.files[u.file]
		end := f.first + f.Groups[u.group].First + u.rows
		if at < len(rows) && rows[at] < end {
			u.bytes = s.compressed(u.file, u.group)
			buckets = append(buckets, s.bucket(len(buckets), []unit{u}))
		}
		for at < len(rows) && rows[at] < end {
			at++
		}
	}
	return buckets
}
