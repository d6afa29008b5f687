// SPDX-License-Identifier: Apache-2.0

// Package run answers the cases of the grouping benchmarks with vecql and with Go maps.
package run

import (
	"context"
	"fmt"

	"github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Answers of vecql.

// A Query is a case with its columns. It can be run repeatedly.
type Query struct {
	config groupby.Config
	batch  *column.Batch
}

// New returns the query of a case. Its columns are views of the table's.
func New(c *data.Case, t data.Columns, order groupby.Order, threads int) *Query {
	q := &Query{config: groupby.Config{Keys: c.Keys, Order: order, Workers: threads}}
	var columns []column.Column
	for _, name := range append(append([]string(nil), c.Keys...), c.Values()...) {
		columns = append(columns, view(name, t[name]))
	}
	q.batch = column.NewBatch(columns...)
	for i, a := range c.Aggs {
		var agg groupby.Aggregate
		switch a.Func {
		case "count":
			agg = groupby.Count()
		case "sum":
			agg = groupby.Sum(a.Column)
		case "min":
			agg = groupby.Min(a.Column)
		case "max":
			agg = groupby.Max(a.Column)
		case "avg":
			agg = groupby.Mean(a.Column)
		default:
			panic("no aggregate " + a.Func)
		}
		q.config.Aggregates = append(q.config.Aggregates, agg.As(fmt.Sprint("aggregate ", i)))
	}
	return q
}

func view(name string, c *data.Column) column.Column {
	var col column.Column
	switch c.Type {
	case data.Int64:
		col = column.Of(name, c.Ints)
	case data.Float64:
		col = column.Of(name, c.Floats)
	case data.String:
		col = column.StringBuffers(name, c.Text, c.Offsets)
	}
	return col.WithValidity(c.Valid)
}

// Run groups all rows, given as one batch. An unordered result comes in several batches, any other result in one.
func (q *Query) Run(ctx context.Context) ([]*column.Batch, error) {
	g, err := q.config.New()
	if err != nil {
		return nil, err
	}
	if err := g.Add(ctx, q.batch); err != nil {
		return nil, err
	}
	return Finish(ctx, g, q.config.Order)
}

// Finish returns the result of a Grouper with this order.
func Finish(ctx context.Context, g *groupby.Grouper, order groupby.Order) ([]*column.Batch, error) {
	if order != groupby.Unordered {
		b, err := g.Finish(ctx)
		return []*column.Batch{b}, err
	}
	var batches []*column.Batch
	for b, err := range g.FinishBatches(ctx) {
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// Answer copies a result.
func Answer(c *data.Case, batches []*column.Batch) (*data.Answer, error) {
	a := &data.Answer{Keys: make([]*data.Column, len(c.Keys)), Values: make([]*data.Column, len(c.Aggs))}
	rows := 0
	for _, b := range batches {
		if len(b.Columns) != len(a.Keys)+len(a.Values) {
			return nil, fmt.Errorf("result has %d columns, want %d", len(b.Columns), len(a.Keys)+len(a.Values))
		}
		rows += b.Rows
		for i := range b.Columns {
			dst := a.Keys
			if at := i - len(a.Keys); at >= 0 {
				dst = a.Values[at : at+1]
			} else {
				dst = dst[i : i+1]
			}
			if err := appendColumn(&dst[0], &b.Columns[i]); err != nil {
				return nil, err
			}
		}
	}
	for _, cols := range [][]*data.Column{a.Keys, a.Values} {
		for i := range cols {
			if cols[i] == nil {
				cols[i] = &data.Column{Type: data.Int64}
			}
			if cols[i].Len() != rows {
				return nil, fmt.Errorf("column has %d rows, want %d", cols[i].Len(), rows)
			}
		}
	}
	return a, nil
}

func appendColumn(dst **data.Column, col *column.Column) error {
	from := &data.Column{Valid: col.ValidityBits()}
	var err error
	switch col.Type.Kind {
	case column.Int64:
		from.Type = data.Int64
		from.Ints, err = column.Slice[int64](col)
	case column.Float64:
		from.Type = data.Float64
		from.Floats, err = column.Slice[float64](col)
	case column.String:
		from.Type = data.String
		text, e := col.Text()
		for i := 0; e == nil && i < text.Len(); i++ {
			from.AppendBytes(text.Bytes(i))
		}
		err = e
	default:
		err = fmt.Errorf("column %s has unexpected type %v", col.Name, col.Type)
	}
	if err != nil {
		return err
	}
	if *dst == nil {
		*dst = &data.Column{Type: from.Type}
	}
	if (*dst).Type != from.Type {
		return fmt.Errorf("column %s has type %s, in earlier batches %s", col.Name, from.Type, (*dst).Type)
	}
	for i := range col.Len {
		(*dst).Append(from, i)
	}
	return nil
}
