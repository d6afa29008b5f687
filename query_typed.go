// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"reflect"
	"unsafe"
)

// Typed statements: each bind marker takes its value from a field of a struct. The encoder of each field is chosen
// once, so that executing a statement does not allocate.

// A Statement executes a prepared query with the values of a P. It is immutable and safe for use by any number of
// goroutines.
type Statement[P any] struct {
	query  Query
	source recordType
}

// Prepare prepares q for values of P and checks that P has a value for every bind marker. The values of q are ignored.
// P is
//   - a struct: each bind marker takes its value from the field of its name, by the tag `cql:"name"`, else by field
//     name, ignoring case. Fields without a marker are ignored, so that one struct serves statements that use some of
//     its columns;
//   - any other type that can be bound: the statement must have one bind marker.
//
// The server names a marker ? after its column. Two markers ? for one column, as in UPDATE t SET name = ? WHERE id = ?
// IF name = ?, would both take their value from one field: Prepare refuses them with an error that wraps ErrValueCount.
// Use named markers, SET name = :new ... IF name = :old, with a field each. Two markers of the same name take the value
// of one field.
//
// Consistency and other options are the options of q. A timestamp set on q applies to every execution.
func Prepare[P any](ctx context.Context, q *Query) (*Statement[P], error) {
	st := &Statement[P]{query: *q}
	st.query.values, st.query.binding, st.query.record = nil, nil, record{}
	st.source.goType = reflect.TypeFor[P]()
	stmt, err := q.session.prepare(ctx, q.policies, q.keyspace, q.stmt)
	if err != nil {
		return nil, err
	}
	if _, err := st.source.fieldsFor(stmt); err != nil {
		return nil, err
	}
	return st, nil
}

// Exec executes the statement with the values of v and discards its rows. v is not retained and must not change until
// Exec returns.
func (st *Statement[P]) Exec(ctx context.Context, v *P) error {
	return st.query.exec(ctx, record{source: &st.source, base: unsafe.Pointer(v)})
}

// Scan executes the statement with the values of v and stores the first row in dest, as Query.Scan does. It
// returns ErrNotFound if there is no row.
func (st *Statement[P]) Scan(ctx context.Context, v *P, dest ...any) error {
	return st.query.scan(ctx, record{source: &st.source, base: unsafe.Pointer(v)}, dest)
}

// AddTo adds the statement with the values of v to a batch, whose options apply. The batch reads the values each time
// it runs.
func (st *Statement[P]) AddTo(b *Batch, v *P) {
	b.Entries = append(b.Entries, BatchEntry{
		Stmt: st.query.stmt, Idempotent: st.query.idempotent, record: record{source: &st.source, base: unsafe.Pointer(v)},
	})
}

// Query returns a query with the values of v, for other verbs and options. The query reads the values each time it
// runs.
func (st *Statement[P]) Query(v *P) *Query {
	q := st.query
	q.record = record{source: &st.source, base: unsafe.Pointer(v)}
	return &q
}
