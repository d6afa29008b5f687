// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"math"
	"slices"
)

// Execution of SELECT with an order other than the store's, of several partitions.

// sorted reads all rows and sorts them by the columns of ORDER BY.
func (b *builder) sorted(ctx context.Context, rd *reader, limit int64) error {
	kept, err := b.find(ctx, rd)
	if err != nil {
		return err
	}
	slices.SortStableFunc(kept, b.compareFound)
	b.page = math.MaxInt64
	for i := range kept {
		if b.p.aggregated {
			if err := b.add(&kept[i]); err != nil || b.full {
				return err
			}
			continue
		}
		if limit >= 0 && int64(i) >= limit {
			break
		}
		if err := b.emit(&kept[i]); err != nil {
			return err
		}
	}
	return b.finish()
}

// find reads all rows that the filter and PER PARTITION LIMIT keep.
func (b *builder) find(ctx context.Context, rd *reader) (kept []rowView, err error) {
	counts := map[string]int64{}
	for {
		rows, err := rd.read(ctx, readChunk)
		if err != nil || len(rows) == 0 {
			return kept, err
		}
		for i := range rows {
			v := &rows[i]
			if b.filter != nil && !b.filter(v) {
				continue
			}
			if b.per >= 0 {
				if counts[string(v.p.key)]++; counts[string(v.p.key)] > b.per {
					continue
				}
			}
			kept = append(kept, *v)
		}
	}
}

// compareFound compares rows by the columns of ORDER BY.
func (b *builder) compareFound(l, r rowView) int {
	for _, o := range b.p.order {
		if c := o.col.typ.compare(l.value(o.col, b.x.sec), r.value(o.col, b.x.sec)); c != 0 {
			if o.desc {
				return -c
			}
			return c
		}
	}
	return 0
}
