// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Like returns the k rows nearest to the vector of a row, without this row; by an index at most MaxHits-1. key are the
// values of its primary key. The error is vecql.ErrNotFound if there is no such row, and wraps ErrNoVector if its
// vector is NULL.
func (q *Query[T]) Like(ctx context.Context, k int, key ...any) (Result[T], error) {
	query, own, err := q.vectorOf(ctx, key)
	if err != nil {
		return Result[T]{}, err
	}
	wanted := k + 1 // the row itself is one
	if !q.exact {
		wanted = min(wanted, MaxHits)
	}
	result, err := q.All(ctx, query, wanted)
	if err != nil {
		return result, err
	}
	kept := result.Hits[:0]
	for _, hit := range result.Hits {
		if !bytes.Equal(hit.key, own) && len(kept) < k {
			kept = append(kept, hit)
		}
	}
	result.Hits, result.K = kept, k
	return result, nil
}

// vectorOf reads the vector of a row, and the cells of its primary key.
func (q *Query[T]) vectorOf(ctx context.Context, key []any) (v []float32, cells []byte, err error) {
	t, err := q.schema.read(ctx, q.session)
	if err != nil {
		return nil, nil, err
	}
	names := t.keyNames()
	if len(key) != len(names) {
		return nil, nil, errorf("%w: %d values for the primary key of %s.%s: want %s", vecql.ErrValueCount, len(key), t.keyspace,
			t.table, strings.Join(names, ", "))
	}
	var conditions []string
	for i, name := range names {
		conditions = append(conditions, cqltext.QuoteIdentifier(name)+" = ?")
		cell, err := vecql.Marshal(t.meta.Columns[name].Type, key[i])
		if err != nil {
			return nil, nil, errorf("primary key: %s: %w", name, err)
		}
		cells = appendCell(cells, cell)
	}
	text := fmt.Sprintf("SELECT %s FROM %s WHERE %s", cqltext.QuoteIdentifier(t.column), t.inCQL(),
		strings.Join(conditions, " AND "))
	query := q.session.Query(text, key...)
	if q.consistency != nil {
		query.Consistency(*q.consistency)
	}
	if err := query.Scan(ctx, &v); err != nil {
		return nil, nil, err
	}
	if v == nil {
		return nil, nil, errorf("%w: column %s of the row %v is NULL", ErrNoVector, t.target, key)
	}
	return v, cells, nil
}
