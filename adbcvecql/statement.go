// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"iter"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Statements: their state, and the verbs of ADBC.

// A statement implements adbc.Statement, adbc.StatementExecuteSchema and adbc.GetSetOptions. It has a query, or a
// target of ingest or search, and bound rows: a record, or a stream that one execution consumes.
type statement struct {
	optionSet
	conn     *connection
	query    string
	prepared *vecql.StatementMetadata
	record   arrow.RecordBatch
	stream   array.RecordReader
	closed   bool
}

// SetOption implements adbc.PostInitOptions. A target of ingest or search replaces the query and the other target.
func (st *statement) SetOption(key, value string) error {
	if err := st.optionSet.SetOption(key, value); err != nil {
		return err
	}
	switch key {
	case adbc.OptionKeyIngestTargetTable:
		st.query, st.prepared = "", nil
		delete(st.values, optionSearch)
	case optionSearch:
		st.query, st.prepared = "", nil
		delete(st.values, adbc.OptionKeyIngestTargetTable)
	}
	return nil
}

// SetSqlQuery implements adbc.Statement. The query is one statement of CQL. It releases rows that are bound for an
// earlier query or target.
func (st *statement) SetSqlQuery(query string) error {
	if st.query != "" || st.get(adbc.OptionKeyIngestTargetTable) != "" || st.get(optionSearch) != "" {
		st.unbind()
	}
	st.query, st.prepared = query, nil
	delete(st.values, adbc.OptionKeyIngestTargetTable)
	delete(st.values, optionSearch)
	return nil
}

// SetSubstraitPlan implements adbc.Statement.
func (*statement) SetSubstraitPlan([]byte) error {
	return failed(adbc.StatusNotImplemented, "no Substrait plans: set a query in CQL")
}

// Close implements adbc.Statement. Results that are being read are not affected.
func (st *statement) Close() error {
	if st.closed {
		return failed(adbc.StatusInvalidState, "the statement is closed already")
	}
	st.closed = true
	st.unbind()
	return nil
}

// Bind implements adbc.Statement. The statement keeps the record until it is closed or other rows are bound.
func (st *statement) Bind(_ context.Context, values arrow.RecordBatch) error {
	st.unbind()
	values.Retain()
	st.record = values
	return nil
}

// BindStream implements adbc.Statement. One execution reads the stream and releases it.
func (st *statement) BindStream(_ context.Context, stream array.RecordReader) error {
	st.unbind()
	stream.Retain()
	st.stream = stream
	return nil
}

// unbind releases the bound rows.
func (st *statement) unbind() {
	if st.record != nil {
		st.record.Release()
	}
	if st.stream != nil {
		st.stream.Release()
	}
	st.record, st.stream = nil, nil
}

// isBound reports whether the statement has bound rows.
func (st *statement) isBound() bool { return st.record != nil || st.stream != nil }

// bound yields the bound rows. A batch is valid until the next iteration. The stream is released at the end.
func (st *statement) bound() iter.Seq2[*column.Batch, error] {
	if st.record != nil {
		rec := st.record
		return func(yield func(*column.Batch, error) bool) { yield(arrowcolumn.Batch(rec)) }
	}
	stream := st.stream
	st.stream = nil
	return func(yield func(*column.Batch, error) bool) {
		defer stream.Release()
		arrowcolumn.Batches(stream)(yield)
	}
}

// boundSchema returns the schema of the bound rows.
func (st *statement) boundSchema() *arrow.Schema {
	if st.record != nil {
		return st.record.Schema()
	}
	return st.stream.Schema()
}

// ready returns an error unless the statement can be executed.
func (st *statement) ready() error {
	switch {
	case st.closed || st.conn.closed:
		return failed(adbc.StatusInvalidState, "the statement or its connection is closed")
	case st.get(optionSearch) != "" && !st.isBound():
		return failed(adbc.StatusInvalidState, "no queries are bound for a search of %s", st.get(optionSearch))
	case st.get(optionSearch) != "":
		return nil
	case st.query == "" && st.get(adbc.OptionKeyIngestTargetTable) == "":
		return failed(adbc.StatusInvalidState, "the statement has no query and no target of ingest")
	case st.query == "" && !st.isBound():
		return failed(adbc.StatusInvalidState, "no rows are bound for ingest into %s",
			st.get(adbc.OptionKeyIngestTargetTable))
	}
	return nil
}

// metadata returns the description of the query, which it prepares.
func (st *statement) metadata(ctx context.Context) (*vecql.StatementMetadata, error) {
	if st.prepared != nil {
		return st.prepared, nil
	}
	if !cqltext.IsPreparable(st.query) {
		return nil, notPreparable(st.query)
	}
	m, err := st.conn.session.StatementMetadata(ctx, st.query, "")
	if err != nil {
		return nil, wrapped("prepare", err)
	}
	return &m, nil
}

// notPreparable returns the error for a statement of the schema, which has no parameters.
func notPreparable(query string) error {
	return failed(adbc.StatusNotImplemented, "CQL cannot prepare a statement that begins with %q", cqltext.FirstWord(query))
}

// Prepare implements adbc.Statement.
func (st *statement) Prepare(ctx context.Context) error {
	if err := st.ready(); err != nil {
		return err
	}
	if st.query == "" {
		return failed(adbc.StatusInvalidState, "a target needs no Prepare")
	}
	m, err := st.metadata(ctx)
	st.prepared = m
	return err
}

// GetParameterSchema implements adbc.Statement. A marker ? has the name of its column. The metadata of the fields has
// the CQL types.
func (st *statement) GetParameterSchema() (*arrow.Schema, error) {
	switch {
	case st.query != "" && !cqltext.IsPreparable(st.query):
		return nil, notPreparable(st.query)
	case st.prepared == nil:
		return nil, failed(adbc.StatusInvalidState, "the statement is not prepared")
	}
	names := cqltext.BindMarkers(st.query)
	var fields column.Schema
	var types []string
	for i, m := range st.prepared.BindMarkers {
		if i < len(names) && names[i] != "" && fields.Index(m.Name) >= 0 {
			continue // a name that occurred before
		}
		fields = append(fields, st.shape().field(codec.ColumnField(m.Name, m.TypeInfo)))
		types = append(types, m.TypeInfo.String())
	}
	schema, err := arrowcolumn.Schema(fields)
	if err != nil {
		return nil, wrapped("the schema of the parameters", err)
	}
	described := schema.Fields()
	for i := range described {
		described[i] = withMetadata(described[i], metadataType, types[i])
	}
	return arrow.NewSchema(described, nil), nil
}

// ExecuteSchema implements adbc.StatementExecuteSchema. The statement is prepared and not executed.
func (st *statement) ExecuteSchema(ctx context.Context) (*arrow.Schema, error) {
	if st.query == "" {
		return nil, failed(adbc.StatusInvalidState, "the statement has no query")
	}
	if err := st.ready(); err != nil {
		return nil, err
	}
	if cqltext.IsConditional(st.query) {
		return nil, failed(adbc.StatusNotImplemented, "the columns of a conditional statement depend on its result")
	}
	m, err := st.metadata(ctx)
	if err != nil {
		return nil, err
	}
	return st.shape().schema(m.ResultColumns)
}
