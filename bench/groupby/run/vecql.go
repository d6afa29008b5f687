// SPDX-License-Identifier: Apache-2.0

// Package run answers the cases of the grouping benchmarks with vecql and with plain maps.
package run

import (
	"context"
	"fmt"

	"github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/groupby"
)

// This file answers with vecql.

// A Query is a case with its columns, ready to be run any number of times.
type Query struct {
	config groupby.Config
	batch  groupby.Batch
}

// New returns the query of a case. Columns are views of the table's.
func New(c *data.Case, t data.Columns, order groupby.Order, threads int) *Query {
	q := &Query{config: groupby.Config{Order: order, Workers: threads}}
	for _, name := range c.Keys {
		col := column(t[name])
		q.config.Keys, q.batch.Keys = append(q.config.Keys, col.Type()), append(q.batch.Keys, col)
	}
	at := map[string]int{}
	for i, name := range c.Values() {
		col := column(t[name])
		q.config.Values, q.batch.Values = append(q.config.Values, col.Type()), append(q.batch.Values, col)
		at[name] = i
	}
	for _, a := range c.Aggs {
		var agg groupby.Aggregate
		switch v := at[a.Column]; a.Func {
		case "count":
			agg = groupby.Count()
		case "sum":
			agg = groupby.Sum(v)
		case "min":
			agg = groupby.Min(v)
		case "max":
			agg = groupby.Max(v)
		case "avg":
			agg = groupby.Mean(v)
		default:
			panic("no aggregate " + a.Func)
		}
		q.config.Aggregates = append(q.config.Aggregates, agg)
	}
	return q
}

func column(c *data.Column) groupby.Column {
	var col groupby.Column
	switch c.Type {
	case data.Int64:
		col = groupby.Values(c.Ints)
	case data.Float64:
		col = groupby.Values(c.Floats)
	case data.String:
		col = groupby.Text(c.Text, c.Offsets)
	}
	return col.WithValidity(c.Valid)
}

// Run groups all rows, given as one batch.
func (q *Query) Run(ctx context.Context) (*groupby.Result, error) {
	g, err := groupby.New(q.config)
	if err != nil {
		return nil, err
	}
	if err := g.Add(ctx, q.batch); err != nil {
		return nil, err
	}
	return g.Finish(ctx)
}

// Answer copies a result.
func Answer(c *data.Case, res *groupby.Result) (*data.Answer, error) {
	a := &data.Answer{Keys: make([]*data.Column, len(c.Keys)), Values: make([]*data.Column, len(c.Aggs))}
	for b := range res.Batches() {
		if len(b.Keys) != len(a.Keys) || len(b.Values) != len(a.Values) {
			return nil, fmt.Errorf("%d keys and %d aggregates", len(b.Keys), len(b.Values))
		}
		for i, col := range b.Keys {
			if err := appendColumn(&a.Keys[i], col); err != nil {
				return nil, fmt.Errorf("key %d: %w", i, err)
			}
		}
		for i, col := range b.Values {
			if err := appendColumn(&a.Values[i], col); err != nil {
				return nil, fmt.Errorf("aggregate %d: %w", i, err)
			}
		}
	}
	for _, cols := range [][]*data.Column{a.Keys, a.Values} {
		for i := range cols {
			if cols[i] == nil {
				cols[i] = &data.Column{Type: data.Int64}
			}
			if cols[i].Len() != res.Len() {
				return nil, fmt.Errorf("%d rows in batches, Len says %d", cols[i].Len(), res.Len())
			}
		}
	}
	return a, nil
}

func appendColumn(dst **data.Column, col groupby.Column) error {
	from := &data.Column{Valid: col.Validity()}
	switch col.Type() {
	case groupby.Int64:
		from.Type = data.Int64
		from.Ints, _ = groupby.SliceOf[int64](col)
	case groupby.Float64:
		from.Type = data.Float64
		from.Floats, _ = groupby.SliceOf[float64](col)
	case groupby.String:
		from.Type = data.String
		for _, s := range col.Strings() {
			from.AppendBytes([]byte(s))
		}
	default:
		return fmt.Errorf("type %s", col.Type())
	}
	if *dst == nil {
		*dst = &data.Column{Type: from.Type}
	}
	if (*dst).Type != from.Type {
		return fmt.Errorf("type %s after %s", from.Type, (*dst).Type)
	}
	for i := range col.Len() {
		(*dst).Append(from, i)
	}
	return nil
}
