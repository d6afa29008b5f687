// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"iter"
	"math/big"
	"reflect"
	"unsafe"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/errtext"
)

// Typed rows: rows as values of a Go type, which is checked against the columns once per result.

var (
	bigIntPointer  = reflect.TypeFor[*big.Int]()
	decimalPointer = reflect.TypeFor[*inf.Dec]()
)

// Rows runs q and returns its rows as values of T. An error ends the loop as its last pair. T is
//   - a struct: each column is stored in the field of its name, by the tag `cql:"name"`, else by field name, ignoring
//     case. A column without a field is an error, which also reveals misspelled tags. A field without a column stays
//     zero, so that one struct serves SELECTs of some of its columns;
//   - any other type that a column can be decoded into: the result must have one column;
//   - map[string]any: the columns by name, with nil for NULL.
//
// Unlike Scan, Rows returns an error that wraps ErrNull for a NULL in a type that cannot hold NULL: use pointers or
// Null. Each value is fresh memory that the caller may keep; small values of a row share memory, as in [Iter.Scan]. The
// loop may be left at any row; nothing needs to be closed.
func Rows[T any](ctx context.Context, q *Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		it := q.Iter(ctx)
		defer func() { _ = it.Close() }()
		var rows RowReader[T]
		row := new(T) // reused: each row is copied out of it
		for rows.Next(it, row) {
			if !yield(*row, nil) {
				return
			}
		}
		if err := it.Close(); err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// AllRows runs q and returns all its rows, nil if there are none. T is as in [Rows], which needs no memory for all of
// them. After an error AllRows returns no row.
func AllRows[T any](ctx context.Context, q *Query) ([]T, error) {
	var all []T
	for page, err := range Pages[T](ctx, q) {
		if err != nil {
			return nil, err
		}
		all = append(all, page.Rows...)
	}
	return all, nil
}

// A RowReader reads rows of Iters as values of T, as [Rows] does, for programs that request pages themselves. The zero
// value is ready. It may be used by one goroutine at a time, for one Iter after the other.
type RowReader[T any] struct{ mapping rowMapping }

// Next stores the next row in row and reports whether there was one. The last columns of the row go to rest, as in
// Iter.Scan, and the columns before them to row. An error ends the rows; Iter.Close returns it.
func (r *RowReader[T]) Next(it *Iter, row *T, rest ...any) bool {
	if !it.nextRow() {
		return false
	}
	if r.mapping.plan != it.plan {
		if err := r.mapping.set(it.plan, reflect.TypeFor[T](), len(rest)); err != nil {
			it.fail(err)
			return false
		}
	}
	var zero T
	*row = zero
	return r.mapping.scan(it, unsafe.Pointer(row)) && (len(rest) == 0 || it.scanRest(rest))
}

// scanRest stores the last columns of the current row in dest.
func (it *Iter) scanRest(dest []any) bool {
	first := len(it.Columns()) - len(dest)
	for i, d := range dest {
		cell, ok := it.cell()
		if !ok {
			return false
		}
		if err := it.decode(first+i, cell, d); err != nil {
			it.fail(err)
			return false
		}
	}
	return true
}

// rowMapping maps the columns of a result to the fields of a row.
type rowMapping struct {
	plan    *resultPlan // of the result
	columns []cql.ColumnInfo
	dynamic bool       // the row is a map[string]any
	fields  []rowField // by column
}

// rowField is the field that a column is stored in.
type rowField struct {
	offset      uintptr
	goType      reflect.Type
	nullable    bool
	decode      codec.DecodeAt // nil means the reference
	emptyIsNull bool           // codec.EmptyIsNull of the column
}

// set maps the columns of plan, without the last rest ones, to t: a map by column name, a struct by its fields, or any
// other type if there is one column.
func (m *rowMapping) set(plan *resultPlan, t reflect.Type, rest int) error {
	*m = rowMapping{plan: plan, dynamic: t == reflect.TypeFor[map[string]any]()}
	if rest > len(plan.Columns) {
		return errtext.Errorf("%w: %d further destinations for %d columns", ErrColumnCount, rest, len(plan.Columns))
	}
	m.columns = plan.Columns[:len(plan.Columns)-rest]
	if m.dynamic {
		return nil
	}
	isStruct := codec.IsRowStruct(t)
	if isStruct {
		if _, err := codec.RowFields(t); err != nil {
			return errtext.Errorf("read rows: %w", err)
		}
	}
	if !isStruct && len(m.columns) != 1 {
		return errtext.Errorf("%w: a row of %d columns into one value of type %v", ErrColumnCount, len(m.columns), t)
	}
	for _, col := range m.columns {
		f := rowField{goType: t}
		if isStruct {
			sf, ok := codec.FieldFor(t, col.Name)
			if !ok {
				err := errtext.Errorf("%w: the struct has no field for the column", cql.ErrConversion)
				return &cql.UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: t.String(), Err: err}
			}
			f.goType, f.offset = sf.Type, offsetOf(t, sf.Index)
		}
		f.nullable = codec.IsNullable(f.goType)
		f.decode = codec.PlanDecode(col.TypeInfo, f.goType)
		f.emptyIsNull = codec.EmptyIsNull(col.TypeInfo)
		m.fields = append(m.fields, f)
	}
	return nil
}

// scan stores the current row at base and reports success. On failure it sets it.err.
func (m *rowMapping) scan(it *Iter, base unsafe.Pointer) bool {
	if m.dynamic {
		row := make(map[string]any, len(m.columns))
		*(*map[string]any)(base) = row
		return it.scanMap(row, len(m.columns))
	}
	it.shared.NextRow()
	for i := range m.fields {
		cell, ok := it.cell()
		if !ok {
			return false
		}
		f, col := &m.fields[i], &m.columns[i]
		p := unsafe.Add(base, f.offset)
		var err error
		switch {
		case cell == nil && !f.nullable:
			err = cql.ErrNull
		case f.decode == nil:
			err = codec.ReferenceDecode(col.TypeInfo, cell, reflect.NewAt(f.goType, p).Interface())
		case len(cell) > 0 || cell != nil && !f.emptyIsNull:
			err = f.decode(cell, p, &it.shared)
		} // else the cell has no value and the field is already zero
		if err != nil {
			it.fail(&cql.UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: f.goType.String(), Err: err})
			return false
		}
	}
	return true
}

// A Page holds the rows of one page of a result.
type Page[T any] struct {
	Rows   []T           // at least one, unless Query.PageState was set; the caller may keep them
	Source column.Source // the node, the token of the next page, warnings, the tracing id
}

// Pages runs q and returns its rows as values of T, page by page. An error ends the loop as its last pair. T is as in
// [Rows]. Pages without rows are skipped. The next page is requested while the loop reads one, unless [Query.PageState]
// was set: then the loop has exactly one page, perhaps without rows, and Source.NextPage is the token of the next one.
func Pages[T any](ctx context.Context, q *Query) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		it := q.Iter(ctx)
		defer func() { _ = it.Close() }()
		var mapping rowMapping
		var page Page[T]
		yielded := false
		for it.nextRow() {
			if mapping.plan != it.plan {
				if err := mapping.set(it.plan, reflect.TypeFor[T](), 0); err != nil {
					it.fail(err)
					break
				}
			}
			if page.Rows == nil {
				page = Page[T]{Rows: make([]T, 0, it.res.Rows.RowCount), Source: it.Source()}
			}
			page.Rows = append(page.Rows, *new(T))
			if !mapping.scan(it, unsafe.Pointer(&page.Rows[len(page.Rows)-1])) {
				break
			}
			if it.row == it.res.Rows.RowCount {
				it.releasePage() // the rows are copies of its cells
				if yielded = true; !yield(page, nil) {
					return
				}
				page = Page[T]{}
			}
		}
		source := it.Source()
		switch err := it.Close(); {
		case err != nil:
			yield(Page[T]{}, err)
		case q.manualPaging && !yielded: // a server may return a page without rows before others
			yield(Page[T]{Source: source}, nil)
		}
	}
}

// OneRow runs q and returns its only row. T is as in [Rows]. The error is ErrNotFound if there is no row, and
// ErrTooManyRows if there are several.
func OneRow[T any](ctx context.Context, q *Query) (T, error) {
	var row, none T
	two := *q
	two.pageSize, two.prefetch = 2, -1 // two rows suffice to distinguish one row from several
	rows := 0
	for r, err := range Rows[T](ctx, &two) {
		if err != nil {
			return none, err
		}
		if rows++; rows > 1 {
			return none, ErrTooManyRows
		}
		row = r
	}
	if rows == 0 {
		return none, ErrNotFound
	}
	return row, nil
}
