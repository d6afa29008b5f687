// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"errors"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Bulk ingest: the table by the mode, the rows by package bulk.

// ingest writes the bound rows and returns their number.
func (st *statement) ingest(ctx context.Context) (int64, error) {
	name, keyspace := st.get(adbc.OptionKeyIngestTargetTable), st.get(adbc.OptionValueIngestTargetDBSchema)
	if keyspace == "" {
		keyspace = st.conn.get(adbc.OptionKeyCurrentDbSchema)
	}
	if keyspace == "" {
		return -1, failed(adbc.StatusInvalidArgument, "no keyspace for table %s: set %s or %s", name,
			adbc.OptionValueIngestTargetDBSchema, adbc.OptionKeyCurrentDbSchema)
	}
	target := cqltext.QuoteIdentifier(keyspace) + "." + cqltext.QuoteIdentifier(name)
	if err := st.createTarget(ctx, target); err != nil {
		return -1, wrapped("ingest into "+target, err)
	}
	t, err := st.conn.table(ctx, &keyspace, name)
	if err != nil {
		return -1, err
	}
	n, err := st.write(ctx, target, t)
	if err != nil {
		return -1, wrapped("ingest into "+target, err)
	}
	return n, nil
}

// createTarget creates the table as the mode requires.
func (st *statement) createTarget(ctx context.Context, target string) error {
	mode := st.get(adbc.OptionKeyIngestMode)
	if mode == adbc.OptionValueIngestModeAppend {
		return nil
	}
	definition, err := tableDefinition(st.boundSchema(), st.get(optionPrimaryKey))
	if err != nil {
		return err
	}
	create := "CREATE TABLE " + target + definition
	switch mode {
	case adbc.OptionValueIngestModeCreateAppend:
		create = "CREATE TABLE IF NOT EXISTS " + target + definition
	case adbc.OptionValueIngestModeReplace:
		if err := st.conn.session.Query("DROP TABLE IF EXISTS " + target).Exec(ctx); err != nil {
			return err
		}
	}
	return st.conn.session.Query(create).Exec(ctx)
}

// write writes the bound rows to a table. After an error some rows may have been written.
func (st *statement) write(ctx context.Context, target string, t table) (n int64, err error) {
	w, err := bulk.Insert(ctx, st.conn.session, target, bulk.Options{RefuseExtra: true, AllowMissing: true})
	if err != nil {
		return 0, err
	}
	defer func() {
		closing := w.Close(ctx)
		if err == nil {
			err = closing
		}
		n = int64(w.Stats().Rows)
		err = rowError(err)
	}()
	for b, err := range st.bound() {
		if err == nil {
			b, err = ownedRows(b, t)
		}
		if err == nil {
			err = w.Write(ctx, b)
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// rowError returns the cause of a rejected row with its status.
func rowError(err error) error {
	var rejected *bulk.RejectedError
	var value *cql.MarshalError
	if errors.As(err, &rejected) && errors.As(rejected.Last.Err, &value) {
		return failed(adbc.StatusInvalidData, "row %d: %s", rejected.Last.Index, unprefixed(rejected.Last.Err))
	}
	return err
}

// ownedRows returns a copy of a batch, which the writer keeps. Each of its columns is one of the table.
func ownedRows(b *column.Batch, t table) (*column.Batch, error) {
	for i := range b.Columns {
		if name := b.Columns[i].Name; t.columns[name] == nil {
			return nil, failed(adbc.StatusInvalidArgument, "table %s has no column %q", t.name, name)
		}
	}
	return b.Clone(), nil
}
