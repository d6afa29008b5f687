// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
)

// column holds the memory of one column from page to page.
type column[T vecql.FixedElement] struct{ vecql.Column[T] }

func (c *column[T]) read(p *vecql.Page, i int) (err error) {
	c.Column, err = vecql.ReadColumn(p, i, c.Column)
	return err
}

type textColumn struct{ vecql.TextColumn }

func (c *textColumn) read(p *vecql.Page, i int) (err error) {
	c.TextColumn, err = vecql.ReadText(p, i, c.TextColumn)
	return err
}

type matrix struct{ vecql.Matrix[float32] }

func (c *matrix) read(p *vecql.Page, i int) (err error) {
	c.Matrix, err = vecql.ReadMatrix(p, i, c.Matrix)
	return err
}

// scanPages reads whole columns into memory that is used again for the next page.
func (s session) scanPages(q *vecql.Query, rows string, limit int, check bool) (n int, err error) {
	var ids, parent column[vecql.UUID]
	var v matrix
	var id column[int64]
	var age column[int32]
	var active column[bool]
	var price column[float64]
	var created column[time.Time]
	var score column[float32]
	var level column[int16]
	var name, note textColumn
	columns := []interface {
		read(p *vecql.Page, i int) error
	}{&ids, &v}
	if rows == "small" {
		columns = columns[:0]
		columns = append(columns, &id, &age, &name, &active, &price, &created, &parent, &score, &level, &note)
	}
	for p, err := range q.Pages(context.Background()) {
		if err != nil {
			return n, err
		}
		for i, c := range columns {
			if err := c.read(p, i); err != nil {
				return n, err
			}
		}
		for r := range p.Rows() {
			if !check {
				break
			}
			var err error
			if rows == "vector" {
				err = (&workload.VectorRow{ID: ids.Data[r], V: v.Row(r)}).Check(n + r)
			} else {
				err = (&workload.SmallRow{
					ID: id.Data[r], Age: int(age.Data[r]), Name: name.String(r), Active: active.Data[r], Price: price.Data[r], Created: created.Data[r],
					Parent: parent.Data[r], Score: score.Data[r], Level: level.Data[r], Note: note.String(r),
				}).Check(n + r)
			}
			if err != nil {
				return n, err
			}
		}
		if n += p.Rows(); n >= limit {
			return limit, nil
		}
	}
	return n, nil
}
