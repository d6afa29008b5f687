// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Execution of SELECT with an order other than that of the store: of several partitions, or by similarity.

// sorted reads all rows and sorts them by the columns of ORDER BY or by similarity.
func (b *builder) sorted(ctx context.Context, rd *reader, target []float64, limit int64) error {
	type found struct {
		rowView
		similarity float32
	}
	p, x := b.p, b.x
	var kept []found
	counts := map[string]int64{}
	for {
		rows, err := rd.read(ctx, readChunk)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for i := range rows {
			v := &rows[i]
			if b.filter != nil && !b.filter(v) {
				continue
			}
			f := found{rowView: *v}
			if p.ann != nil {
				c := v.value(p.annColumn, x.sec)
				if len(c) == 0 {
					continue
				}
				f.similarity = p.annIndex.similarity()(floats(c), target)
			}
			if b.per >= 0 {
				if counts[string(v.p.key)]++; counts[string(v.p.key)] > b.per {
					continue
				}
			}
			kept = append(kept, f)
		}
	}
	slices.SortStableFunc(kept, func(l, r found) int {
		if p.ann != nil {
			return cmp.Compare(r.similarity, l.similarity)
		}
		for _, o := range p.order {
			if c := o.col.typ.compare(l.value(o.col, x.sec), r.value(o.col, x.sec)); c != 0 {
				if o.desc {
					return -c
				}
				return c
			}
		}
		return 0
	})
	b.page = math.MaxInt64
	for i := range kept {
		if p.aggregated {
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
