// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import (
	"database/sql"
	"database/sql/driver"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Rows, their values and the types of their columns.

// A rows implements driver.Rows. The Iter requests pages as the rows are read.
type rows struct {
	it      *vecql.Iter
	columns []cql.ColumnInfo
	dests   []any                 // of Iter.Scan
	values  []func() driver.Value // of dests
}

var _ interface {
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
} = (*rows)(nil)

// newRows returns the rows of an Iter. A statement without rows has no columns.
func newRows(it *vecql.Iter) (*rows, error) {
	r := &rows{it: it, columns: it.Columns()}
	if len(r.columns) == 0 {
		return r, it.Close()
	}
	r.dests, r.values = make([]any, len(r.columns)), make([]func() driver.Value, len(r.columns))
	for i, c := range r.columns {
		r.dests[i], r.values[i] = destination(c.TypeInfo)
	}
	return r, nil
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.Name
	}
	return names
}

// Close implements driver.Rows.
func (r *rows) Close() error { return r.it.Close() }

// Next implements driver.Rows. The values are fresh memory.
func (r *rows) Next(dest []driver.Value) error {
	if !r.it.Scan(r.dests...) {
		if err := r.it.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, value := range r.values {
		dest[i] = value()
	}
	return nil
}

// destination returns a destination for the cells of a column, and a function that returns its value. Values of types
// without parameters are of the types that package database/sql converts: numbers that it does not have, UUIDs,
// addresses and durations are text. Collections, vectors, tuples and user-defined types are of the types of vecql.
func destination(info cql.TypeInfo) (dest any, value func() driver.Value) {
	switch info.Type() {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter:
		return nullable(func(v int64) driver.Value { return v })
	case cql.TypeFloat:
		return nullable(func(v float32) driver.Value { return float64(v) })
	case cql.TypeDouble:
		return nullable(func(v float64) driver.Value { return v })
	case cql.TypeBoolean:
		return nullable(func(v bool) driver.Value { return v })
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeUUID, cql.TypeTimeUUID, cql.TypeInet,
		cql.TypeVarint, cql.TypeDuration:
		return nullable(func(v string) driver.Value { return v })
	case cql.TypeBlob:
		return nullable(func(v []byte) driver.Value { return v })
	case cql.TypeTimestamp, cql.TypeDate:
		return nullable(func(v time.Time) driver.Value { return v })
	case cql.TypeTime:
		return nullable(func(v time.Duration) driver.Value { return v })
	case cql.TypeDecimal:
		return nullable(func(v cql.Decimal) driver.Value { return v.String() })
	}
	v := new(any)
	return v, func() driver.Value { return *v }
}

// nullable returns a destination for T or NULL, and a function that returns its value by to, nil for NULL.
func nullable[T any](to func(T) driver.Value) (dest any, value func() driver.Value) {
	n := new(cql.Null[T])
	return n, func() driver.Value {
		if !n.Valid {
			return nil
		}
		return to(n.V)
	}
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType: a type that also holds NULL, such as sql.NullInt64 or
// *[]float32.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	switch r.dests[i].(type) {
	case *cql.Null[int64]:
		return reflect.TypeFor[sql.NullInt64]()
	case *cql.Null[float32], *cql.Null[float64]:
		return reflect.TypeFor[sql.NullFloat64]()
	case *cql.Null[bool]:
		return reflect.TypeFor[sql.NullBool]()
	case *cql.Null[string], *cql.Null[cql.Decimal]:
		return reflect.TypeFor[sql.NullString]()
	case *cql.Null[time.Time]:
		return reflect.TypeFor[sql.NullTime]()
	case *cql.Null[[]byte]:
		return reflect.TypeFor[[]byte]()
	}
	if t := codec.DefaultGoType(r.columns[i].TypeInfo); t != nil {
		return reflect.PointerTo(t)
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName: the CQL type in upper case, such as TEXT
// or VECTOR<FLOAT, 384>. A user-defined type is keyspace.name, in the case that it has.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return typeName(r.columns[i].TypeInfo) }

// typeName returns a type as CQL writes it, with the names of all types but user-defined ones and classes in upper
// case.
func typeName(info cql.TypeInfo) string {
	var parts []string
	switch t := info.(type) {
	case cql.UDTTypeInfo, cql.CustomType:
		return t.String()
	case cql.CollectionType:
		if t.Key != nil {
			parts = append(parts, typeName(t.Key))
		}
		parts = append(parts, typeName(t.Elem))
	case cql.TupleTypeInfo:
		for _, elem := range t.Elems {
			parts = append(parts, typeName(elem))
		}
	case cql.VectorType:
		return "VECTOR<" + typeName(t.SubType) + ", " + strconv.Itoa(t.Dimensions) + ">"
	default:
		return strings.ToUpper(t.String())
	}
	return strings.ToUpper(info.Type().String()) + "<" + strings.Join(parts, ", ") + ">"
}

// ColumnTypeLength implements driver.RowsColumnTypeLength: the dimension of a vector, no limit for text and blobs.
func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	switch t := r.columns[i].TypeInfo.(type) {
	case cql.VectorType:
		return int64(t.Dimensions), true
	case cql.NativeType:
		switch t.Type() {
		case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob:
			return math.MaxInt64, true
		}
	}
	return 0, false
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable. The columns of a result do not show whether they are
// part of a primary key, so that each may be NULL.
func (r *rows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale: a decimal has no limit of either.
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if r.columns[i].TypeInfo.Type() == cql.TypeDecimal {
		return math.MaxInt64, math.MaxInt64, true
	}
	return 0, 0, false
}
