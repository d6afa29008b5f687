// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/paging"
	"github.com/vecql/vecql/internal/schema"
	"github.com/vecql/vecql/internal/wire"
)

// The driver's own statements on system tables: sent as text, on a given connection.

// systemPageSize is the page size, in rows, for system tables.
const systemPageSize = 5000

// systemRow is a row of a system table by column name. NULL is nil. The value of a cell that cannot be decoded is the
// error; no reader takes it for a value, because none expects that type.
type systemRow = map[string]any

// get returns the value of a column, the zero value if the column is NULL, missing, or of another type.
func get[T any](row systemRow, column string) T {
	v, _ := row[column].(T)
	return v
}

// systemQuery runs a statement without values and returns the rows of all pages.
func systemQuery(ctx context.Context, conn *conn.Conn, stmt string) ([]systemRow, error) {
	var rows []systemRow
	err := systemEach(ctx, conn, stmt, func(row systemRow) { rows = append(rows, row) })
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// systemEach is systemQuery for large results: it calls each for every row, page by page.
func systemEach(ctx context.Context, conn *conn.Conn, stmt string, each func(systemRow)) error {
	params := frame.QueryParams{Consistency: cql.One, PageSize: systemPageSize}
	var run *paging.EmptyRun
	for run.Await(ctx) {
		rows := 0
		next, err := systemPage(ctx, conn, stmt, &params, func(row systemRow) {
			rows++
			each(row)
		})
		if err != nil || len(next) == 0 {
			return err
		}
		if run, err = run.After(rows, params.PagingState, next); err != nil {
			return &cql.ProtocolError{Message: "read the next page from node " + conn.Addr(), Err: err}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		params.PagingState = next
	}
	return ctx.Err()
}

// systemPage reads one page and returns the paging state of the next one, nil after the last.
func systemPage(ctx context.Context, link *conn.Conn, stmt string, params *frame.QueryParams,
	each func(systemRow),
) ([]byte, error) {
	body := conn.GetBuffer(len(stmt) + len(params.PagingState) + 32)
	defer body.Release()
	var err error
	if body.B, err = frame.AppendQuery(body.B[:0], link.Version(), stmt, params); err != nil {
		return nil, err
	}
	resp, err := link.RoundTrip(ctx, &conn.Request{Op: frame.OpQuery, Body: body})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Release()
	_, r, err := frame.ReadEnvelope(resp.Header.Flags, resp.Body.B)
	if err != nil {
		return nil, err
	}
	if frame.Opcode(resp.Header.Opcode) == frame.OpError {
		return nil, frame.ParseError(&r, link.Version(), 0)
	}
	res, err := frame.ParseResult(&r, link.Version(), link.Features.MetadataID, nil)
	if err != nil || res.Kind != frame.ResultRows {
		return nil, err
	}
	cells := wire.NewReader(res.Rows.Cells)
	for range res.Rows.RowCount {
		row := make(systemRow, len(res.Rows.Meta.Columns))
		for _, col := range res.Rows.Meta.Columns {
			cell, null := cells.Value()
			if null {
				continue
			}
			var v any
			if err := Unmarshal(col.TypeInfo, cell, &v); err != nil {
				v = err
			}
			row[col.Name] = v
		}
		if err := cells.Err(); err != nil {
			return nil, err
		}
		each(row)
	}
	return res.Rows.Meta.PagingState, nil
}

// readPartitionKey returns the names of the columns of a partition key, in its order. A table that system_schema does
// not have, such as a virtual one, has none.
func readPartitionKey(ctx context.Context, conn *conn.Conn, keyspace, table string) ([]string, error) {
	rows, err := systemQuery(ctx, conn, "SELECT * FROM system_schema.columns WHERE keyspace_name = "+
		schema.QuoteText(keyspace)+" AND table_name = "+schema.QuoteText(table))
	if err != nil {
		return nil, errtext.Errorf("read system_schema.columns: %w", err)
	}
	rows = slices.DeleteFunc(rows, func(row systemRow) bool { return get[string](row, "kind") != "partition_key" })
	slices.SortFunc(rows, func(a, b systemRow) int {
		return cmp.Compare(get[int](a, "position"), get[int](b, "position"))
	})
	key := make([]string, len(rows))
	for i, row := range rows {
		key[i] = get[string](row, "column_name")
	}
	return key, nil
}

// Reading of the keyspaces whose tablets have leaders.

// readLeaders returns the names of the strongly consistent keyspaces, nil if there are none. Only TABLETS_ROUTING_V2
// names leaders, so that a connection without the extension sends no statement. ScyllaDB refuses the consistency
// 'local', and a NULL means 'eventual'. Older releases lack the table or the column.
func readLeaders(ctx context.Context, conn *conn.Conn) (map[string]bool, error) {
	if !conn.Features.TabletsV2 {
		return nil, nil
	}
	rows, err := systemQuery(ctx, conn, "SELECT keyspace_name, consistency FROM system_schema.scylla_keyspaces")
	if err != nil {
		if errors.Is(err, cql.CodeInvalid) || errors.Is(err, cql.CodeConfig) {
			return nil, nil
		}
		return nil, errtext.Errorf("read system_schema.scylla_keyspaces: %w", err)
	}
	var leaders map[string]bool
	for _, row := range rows {
		if !strings.EqualFold(get[string](row, "consistency"), "global") {
			continue
		}
		if leaders == nil {
			leaders = map[string]bool{}
		}
		leaders[get[string](row, "keyspace_name")] = true
	}
	return leaders, nil
}
