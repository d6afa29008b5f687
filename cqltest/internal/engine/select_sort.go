// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Execution of SELECT with an order other than the store's: of several partitions, or by similarity.

// found is a row of a SELECT with an order.
type found struct {
	rowView
	similarity float32 // to the target of ANN OF
}

// sorted reads all rows and sorts them by the columns of ORDER BY or by similarity.
func (b *builder) sorted(ctx context.Context, rd *reader, target []byte, limit int64) error {
	kept, err := b.find(ctx, rd, target)
	if err != nil {
		return err
	}
	if b.p.ann != nil {
		m := b.misses(target, limit, len(kept))
		kept = slices.DeleteFunc(kept, func(f found) bool { return m.has(&f.rowView) })
	}
	slices.SortStableFunc(kept, b.compareFound)
	b.page = math.MaxInt64
	for i := range kept {
		if b.p.aggregated {
			if err := b.add(&kept[i].rowView); err != nil || b.full {
				return err
			}
			continue
		}
		if limit >= 0 && int64(i) >= limit {
			break
		}
		if err := b.emit(&kept[i].rowView); err != nil {
			return err
		}
	}
	return b.finish()
}

// misses returns the rows that a search by a vector misses among so many rows.
func (b *builder) misses(target []byte, limit int64, rows int) misses {
	if options := &b.x.e.options; !options.Scylla {
		return options.SAI.missesOf(b.index.vector, target, limit, rows)
	}
	return b.x.e.options.VectorStore.missesOf(b.index.vector, target)
}

// find reads all rows that the filter and PER PARTITION LIMIT keep, of a search by similarity those with a vector.
func (b *builder) find(ctx context.Context, rd *reader, target []byte) (kept []found, err error) {
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
			f := found{rowView: *v}
			if b.p.ann != nil {
				c := v.value(b.p.annColumn, b.x.sec)
				if len(c) == 0 {
					continue
				}
				f.similarity = b.index.vector.similarity.of(c, target)
			}
			if b.per >= 0 {
				if counts[string(v.p.key)]++; counts[string(v.p.key)] > b.per {
					continue
				}
			}
			kept = append(kept, f)
		}
	}
}

// compareFound compares rows by similarity, the greatest first, or by the columns of ORDER BY.
func (b *builder) compareFound(l, r found) int {
	if b.p.ann != nil {
		return cmp.Compare(r.similarity, l.similarity)
	}
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
