// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"strconv"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Searches for the nearest rows.

var metrics = map[string]vector.Metric{"cosine": vector.Cosine, "l2": vector.L2, "dot": vector.Dot}

// search searches for each bound row, in one result.
func (st *statement) search(ctx context.Context) (array.RecordReader, int64, error) {
	queries, err := st.queries()
	if err != nil {
		return nil, -1, err
	}
	q, err := search.Open[map[string]any](ctx, st.conn.session, st.get(optionSearch))
	if err != nil {
		return nil, -1, wrapped("search", err)
	}
	b, err := st.bounded(q).Batch(ctx, queries, st.count(optionSearchK))
	if err != nil {
		return nil, -1, wrapped("search", err)
	}
	schema, err := st.shape().schemaOf(b)
	if err != nil {
		return nil, -1, err
	}
	rows := int64(b.Rows)
	return st.records(ctx, schema, func(yield func(*column.Batch, error) bool) { yield(b, nil) }), rows, nil
}

// bounded applies the options to a search. SetOption has checked the values.
func (o *optionSet) bounded(q *search.Query[map[string]any]) *search.Query[map[string]any] {
	if filter := o.get(optionSearchFilter); filter != "" {
		q = q.Where(filter)
	}
	if names := o.get(optionSearchColumns); names != "" {
		list := strings.Split(names, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		q = q.Columns(list...)
	}
	if score := o.get(optionSearchScore); score != "" {
		f, _ := strconv.ParseFloat(score, 32)
		q = q.MinScore(float32(f))
	}
	if metric := o.get(optionSearchMetric); metric != "" {
		q = q.Metric(metrics[metric])
	}
	if o.get(optionSearchExact) == "true" {
		q = q.Exact()
	}
	return q
}

// queries returns a copy of the bound rows: vectors of the only column.
func (st *statement) queries() (queries [][]float32, err error) {
	for b, err := range st.bound() {
		if err != nil {
			return nil, wrapped("read the queries", err)
		}
		if len(b.Columns) != 1 {
			return nil, failed(adbc.StatusInvalidArgument, "search: %d columns are bound, want one of queries", len(b.Columns))
		}
		c := &b.Columns[0]
		if c.Type.Kind != column.Vector || c.Type.Elem != column.Float32 {
			return nil, failed(adbc.StatusInvalidArgument, "search: the queries are %v, want a fixed-size list of float", c.Type)
		}
		for i := range b.Rows {
			v, ok := c.Value(i).([]float32)
			if !ok {
				return nil, failed(adbc.StatusInvalidArgument, "search: query %d is NULL, or has an element that is", len(queries))
			}
			queries = append(queries, append([]float32(nil), v...))
		}
	}
	return queries, nil
}
