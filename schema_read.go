// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/schema"
)

// Queries of the system tables for the schema. The queries run one after the other. If the schema changes between two
// of them, an event follows, and the changed part is read again.

// readSchema reads the rows of a scope. If the server refuses to return an optional table, the error becomes a fault of
// the keyspaces.
func readSchema(ctx context.Context, conn *conn.Conn, scope schema.Scope) (*schema.Rows, error) {
	rows := schema.NewRows(scope)
	for _, q := range scope.Queries() {
		err := systemEach(ctx, conn, q.Statement, func(row systemRow) { rows.Add(&q, row) })
		var refused *cql.ServerError
		switch {
		case err == nil:
		case q.Optional && (errors.Is(err, cql.CodeInvalid) || errors.Is(err, cql.CodeConfig)):
			// The server does not have this table.
		case q.Optional && errors.As(err, &refused) && !errors.Is(err, cql.CodeOverloaded) &&
			!errors.Is(err, cql.CodeBootstrapping):
			rows.AddFault(errtext.Errorf("read system_schema.%s: %w", q.Table, err))
		default:
			return nil, errtext.Errorf("read system_schema.%s: %w", q.Table, err)
		}
	}
	return rows, nil
}
