// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Connections and statements. They have no state but the session, so that any number of them costs no socket.

// A conn implements driver.Conn.
type conn struct {
	session *vecql.Session
	owned   io.Closer // nil except in a connection of Driver.Open
}

var _ interface {
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
} = (*conn)(nil)

// Close implements driver.Conn.
func (c *conn) Close() error {
	if c.owned != nil {
		return c.owned.Close()
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.session.Closed() }

// ResetSession implements driver.SessionResetter.
func (c *conn) ResetSession(context.Context) error {
	if c.session.Closed() {
		return driver.ErrBadConn
	}
	return nil
}

// Ping implements driver.Pinger: one node answers a request.
func (c *conn) Ping(ctx context.Context) error {
	return c.session.Query("SELECT key FROM system.local").Consistency(cql.One).Exec(ctx)
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return nil, ErrNoTransactions }

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, ErrNoTransactions
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

// PrepareContext implements driver.ConnPrepareContext: it prepares a statement in the cache of the session. Statements
// that the session does not prepare, such as CREATE, are sent when they are executed.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if cqltext.IsPreparable(text) {
		keyspace, own := c.query(ctx, text).GetKeyspace(), c.session.Query(text).GetKeyspace()
		if keyspace == own {
			keyspace = ""
		}
		if _, err := c.session.StatementMetadata(ctx, text, keyspace); err != nil {
			return nil, err
		}
	}
	return &stmt{conn: c, text: text}, nil
}

// QueryContext implements driver.QueryerContext. The context also ends the reading of the rows.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	var r *rows
	err := c.run(ctx, text, args, func(q *vecql.Query) (err error) {
		r, err = newRows(q.Iter(ctx))
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	res := result{conditional: cqltext.IsConditional(text)}
	err := c.run(ctx, text, args, func(q *vecql.Query) (err error) {
		if !res.conditional {
			return q.Exec(ctx)
		}
		res.applied, err = q.MapScanCAS(ctx, map[string]any{})
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// queryKey is the key of the function of WithQuery in a context.
type queryKey struct{}

// WithQuery returns a context whose statements are passed to set before they run, so that set can choose options that
// package database/sql does not have:
//
//	ctx = sqlvecql.WithQuery(ctx, func(q *vecql.Query) { q.Consistency(cql.One).Idempotent(true) })
//	rows, err := db.QueryContext(ctx, "SELECT ...")
//
// A function of an outer context runs first. set must not keep the query, and may be called twice for one statement.
func WithQuery(ctx context.Context, set func(q *vecql.Query)) context.Context {
	outer, ok := ctx.Value(queryKey{}).(func(*vecql.Query))
	if !ok {
		return context.WithValue(ctx, queryKey{}, set)
	}
	return context.WithValue(ctx, queryKey{}, func(q *vecql.Query) {
		outer(q)
		set(q)
	})
}

// query returns a query with the options of the context.
func (c *conn) query(ctx context.Context, text string, values ...any) *vecql.Query {
	return configured(ctx, c.session.Query(text, values...))
}

func configured(ctx context.Context, q *vecql.Query) *vecql.Query {
	if set, ok := ctx.Value(queryKey{}).(func(*vecql.Query)); ok {
		set(q)
	}
	return q
}

// run runs verb with a query. If the driver has no conversion for a value, the query was not sent, and run converts the
// values and runs verb once more: most statements need no conversion, and converting needs the types of the markers.
func (c *conn) run(ctx context.Context, text string, args []driver.NamedValue, verb func(*vecql.Query) error) error {
	values, err := valuesOf(text, args)
	if err != nil {
		return err
	}
	err = verb(c.query(ctx, text, values...))
	var failed *cql.MarshalError
	if !errors.As(err, &failed) || !errors.Is(failed.Err, cql.ErrConversion) {
		return err
	}
	return verb(configured(ctx, c.session.Bind(text, func(m vecql.StatementMetadata) ([]any, error) {
		return converted(m.BindMarkers, values)
	})))
}

// A stmt implements driver.Stmt. The session has the prepared statement, and prepares it again where a node has lost
// it.
type stmt struct {
	conn *conn
	text string
}

var _ interface {
	driver.StmtExecContext
	driver.StmtQueryContext
} = (*stmt)(nil)

// Close implements driver.Stmt.
func (s *stmt) Close() error { return nil }

// NumInput implements driver.Stmt. The session checks the number, since several markers may have one name.
func (s *stmt) NumInput() int { return -1 }

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.text, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.text, args)
}

// Exec implements driver.Stmt.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), positional(args))
}

// Query implements driver.Stmt.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), positional(args))
}

func positional(args []driver.Value) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return named
}
