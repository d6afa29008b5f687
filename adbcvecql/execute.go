// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/pull"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
	"github.com/vecql/vecql/tablescan"
)

// Execution of queries.

// batches are the pages of a result.
type batches = iter.Seq2[*column.Batch, error]

// ExecuteQuery implements adbc.Statement. The context also ends the reading of the result. The number of rows is
// unknown, except after an ingest.
func (st *statement) ExecuteQuery(ctx context.Context) (array.RecordReader, int64, error) {
	if err := st.ready(); err != nil {
		return nil, -1, err
	}
	if st.get(optionSearch) != "" {
		return st.search(ctx)
	}
	if st.query == "" {
		n, err := st.ingest(ctx)
		if err != nil {
			return nil, -1, err
		}
		return st.records(ctx, arrow.NewSchema(nil, nil), noBatches), n, nil
	}
	if !cqltext.IsSelect(st.query) {
		return st.executeOther(ctx)
	}
	m, err := st.metadata(ctx)
	if err != nil {
		return nil, -1, err
	}
	schema, err := st.shape().schema(m.ResultColumns)
	if err != nil {
		return nil, -1, err
	}
	pages, err := st.pages(ctx, m)
	if err != nil {
		return nil, -1, err
	}
	return st.records(ctx, schema, pages), -1, nil
}

// noBatches is a result without rows.
func noBatches(func(*column.Batch, error) bool) {}

// executeOther executes a statement that is not a SELECT. Its first page has the columns: the server decides the
// columns of a conditional statement when it runs.
func (st *statement) executeOther(ctx context.Context) (array.RecordReader, int64, error) {
	var pages batches
	if st.isBound() {
		if !cqltext.IsConditional(st.query) {
			n, err := st.executeRows(ctx)
			if err != nil {
				return nil, -1, err
			}
			return st.records(ctx, arrow.NewSchema(nil, nil), noBatches), n, nil
		}
		m, err := st.metadata(ctx)
		if err != nil {
			return nil, -1, err
		}
		pages = st.boundPages(ctx, m)
	} else {
		pages = st.conn.session.Query(st.query).Batches(ctx)
	}
	next, stop := pull.Seq2(pages)
	first, err, ok := next()
	if err != nil {
		stop()
		return nil, -1, wrapped("execute", err)
	}
	if !ok {
		stop()
		return st.records(ctx, arrow.NewSchema(nil, nil), noBatches), -1, nil
	}
	schema, err := st.shape().schemaOf(first)
	if err != nil {
		stop()
		return nil, -1, err
	}
	return st.records(ctx, schema, func(yield func(*column.Batch, error) bool) {
		defer stop()
		for b, err, ok := first, error(nil), true; ok; b, err, ok = next() {
			if !yield(b, err) {
				return
			}
		}
	}), -1, nil
}

// ExecuteUpdate implements adbc.Statement. It returns the number of rows of an ingest or of executions with bound rows;
// CQL does not report the rows that a statement changes.
func (st *statement) ExecuteUpdate(ctx context.Context) (int64, error) {
	if err := st.ready(); err != nil {
		return -1, err
	}
	switch {
	case st.get(optionSearch) != "":
		return -1, failed(adbc.StatusInvalidState, "a search returns rows: execute it as a query")
	case st.query == "":
		return st.ingest(ctx)
	case st.isBound():
		return st.executeRows(ctx)
	}
	return -1, wrapped("execute", st.conn.session.Query(st.query).Exec(ctx))
}

// pages returns the pages of a SELECT.
func (st *statement) pages(ctx context.Context, m *vecql.StatementMetadata) (batches, error) {
	if len(m.BindMarkers) > 0 && !st.isBound() {
		return nil, failed(adbc.StatusInvalidState, "the values of %d parameters are not bound", len(m.BindMarkers))
	}
	if st.isBound() && len(m.BindMarkers) > 0 {
		return st.boundPages(ctx, m), nil
	}
	q := st.conn.session.Query(st.query).PageSize(pageRows(m.ResultColumns, st.count(optionPageBytes)))
	if st.count(optionWorkers) == 1 || hasWord(st.query, "WHERE") {
		return q.Batches(ctx), nil
	}
	return st.scanPages(ctx, q)
}

// scanPages returns the first page of a SELECT if that is the whole result. Otherwise it reads the table by token
// ranges, unless the statement has a clause that does not allow that.
func (st *statement) scanPages(ctx context.Context, q *vecql.Query) (batches, error) {
	scan, err := tablescan.New(ctx, st.conn.session, st.query, st.scanConfig())
	var refused *tablescan.StatementError
	switch {
	case errors.As(err, &refused), errors.Is(err, tablescan.ErrPartitioner):
		return q.Batches(ctx), nil
	case err != nil:
		return nil, wrapped("plan a scan", err)
	}
	for first, err := range q.PageState(nil).Batches(ctx) {
		if err != nil {
			return nil, wrapped("execute", err)
		}
		if len(first.Source.NextPage) == 0 {
			return func(yield func(*column.Batch, error) bool) { yield(first, nil) }, nil
		}
	}
	return scan.Batches(ctx), nil
}

// scanConfig returns the configuration of scans by the options.
func (o *optionSet) scanConfig() tablescan.Config {
	return tablescan.Config{Workers: o.count(optionWorkers), PageBytes: o.count(optionPageBytes)}
}

// hasWord reports whether a statement has a word outside of literals and quoted names.
func hasWord(stmt, word string) bool {
	for _, token := range cqltext.Tokens(stmt) {
		if strings.EqualFold(token, word) {
			return true
		}
	}
	return false
}

// pageRows returns the number of rows of a page with about so many bytes. A value without a fixed width counts as 64.
func pageRows(columns []cql.ColumnInfo, bytes int) int {
	const (
		unknownWidth = 64
		maxRows      = 10_000
	)
	width := 1
	for _, c := range columns {
		n := codec.ColumnField(c.Name, c.TypeInfo).Type.ValueWidth()
		if n == 0 {
			n = unknownWidth
		}
		width += n
	}
	return min(max(bytes/width, 1), maxRows)
}

// records returns the records of a result.
func (o *optionSet) records(ctx context.Context, schema *arrow.Schema, pages batches) array.RecordReader {
	s := o.shape()
	return arrowcolumn.Reader(schema, func(yield func(*column.Batch, error) bool) {
		for b, err := range pages {
			if err == nil {
				b, err = s.batch(b)
			}
			if err == nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(b, wrapped("read the result", err)) || err != nil {
				return
			}
		}
	})
}
