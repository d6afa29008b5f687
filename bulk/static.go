// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Partitions that have static values only: a SELECT returns such a partition as a row whose clustering columns and
// other columns are NULL, and an INSERT of it has the partition key and the static columns.

// staticRows is the INSERT of such rows for the batches of one schema.
type staticRows struct {
	statement *vecql.RowStatement
	statics   []int // the static columns of batches
	ofRows    []int // the columns that such a row does not have, the clustering columns among them
}

// has reports whether a row of a batch is a partition with static values only. A row without any value is not: it lacks
// its clustering columns.
func (s *staticRows) has(b *column.Batch, row int) bool {
	isNull := func(i int) bool { return b.Columns[i].Null(row) }
	hasRow := slices.ContainsFunc(s.ofRows, func(i int) bool { return !isNull(i) })
	return !hasRow && slices.ContainsFunc(s.statics, func(i int) bool { return !isNull(i) })
}

// prepareStatic sets w.static if the table has static columns and a clustering column of the batch has NULLs. The
// statement is prepared for the first such batch of a schema.
func (w *Writer) prepareStatic(ctx context.Context, b *column.Batch) error {
	if w.static != nil || w.table == nil || len(w.rowsKey) == 0 {
		return nil
	}
	sources, err := w.sources(w.schema)
	if err != nil {
		return err
	}
	var s staticRows
	mayBe := false
	for name, source := range sources {
		i := w.schema.Index(source)
		switch w.table.Columns[name].Kind {
		case cql.ColumnStatic:
			s.statics = append(s.statics, i)
		case cql.ColumnPartitionKey:
		case cql.ColumnClusteringKey:
			mayBe = mayBe || b.Columns[i].Nulls > 0
			s.ofRows = append(s.ofRows, i)
		default:
			s.ofRows = append(s.ofRows, i)
		}
	}
	if s.statics == nil || !mayBe {
		return nil
	}
	text, _ := w.insert(sources, func(k cql.ColumnKind) bool {
		return k == cql.ColumnPartitionKey || k == cql.ColumnStatic
	})
	s.statement, err = w.query(text).NullsUnset(!w.o.WriteNulls).PrepareRows(ctx, w.schema)
	if err == nil {
		w.static = &s
	}
	return err
}
