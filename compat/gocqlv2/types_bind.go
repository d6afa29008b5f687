// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"reflect"

	"github.com/vecql/vecql/cql"
)

// Values and columns of types that the program registered.

// bind returns values for a statement. Each value looks for a registered type when the type of its marker is known.
func (r *RegisteredTypes) bind(values []any) []any {
	wrapped := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case cql.Unset:
			wrapped[i] = v
		case cql.Named:
			wrapped[i] = cql.NamedValue(v.Name, registeredValue{r, v.Value})
		default:
			wrapped[i] = registeredValue{r, v}
		}
	}
	return wrapped
}

type registeredValue struct {
	types *RegisteredTypes
	value any
}

// MarshalCQL implements Marshaler.
func (v registeredValue) MarshalCQL(info TypeInfo) ([]byte, error) {
	if custom, ok := info.(customType); ok {
		if registered := v.types.class(custom.class); registered != nil {
			info = registered
		}
	}
	return Marshal(info, v.value)
}

type registeredDestination struct {
	info TypeInfo
	dest any
}

// UnmarshalCQL implements Unmarshaler.
func (d *registeredDestination) UnmarshalCQL(_ TypeInfo, data []byte) error {
	return Unmarshal(d.info, data, d.dest)
}

// isRegistered reports whether info is a program's own type.
func isRegistered(info TypeInfo) bool {
	switch info.(type) {
	case nativeType, customType, CollectionType, TupleTypeInfo, UDTTypeInfo, VectorType:
		return false
	}
	return true
}

// eachDestination calls visit for the destinations of a row: the first one of each column.
func (iter *Iter) eachDestination(visit func(column ColumnInfo, at int)) {
	at := 0
	for _, c := range iter.Columns() {
		visit(c, at)
		if tuple, ok := c.TypeInfo.(TupleTypeInfo); ok {
			at += len(tuple.Elems)
		} else {
			at++
		}
	}
}

// destinations returns dest for compat.Rows.
func (iter *Iter) destinations(dest []any) []any {
	if iter.session == nil || iter.session.types == nil {
		return dest
	}
	out := append([]any(nil), dest...)
	iter.eachDestination(func(c ColumnInfo, at int) {
		if at < len(out) && out[at] != nil && isRegistered(c.TypeInfo) {
			out[at] = &registeredDestination{c.TypeInfo, out[at]}
		}
	})
	return out
}

// rowDataRegistered returns RowData's destinations, with the Go types of registered types.
func (iter *Iter) rowDataRegistered() (RowData, error) {
	row, err := iter.iter.RowData()
	if err != nil {
		return row, err
	}
	iter.eachDestination(func(c ColumnInfo, at int) {
		if !isRegistered(c.TypeInfo) {
			return
		}
		row.Values[at] = new(any)
		if zero := reflect.TypeOf(c.TypeInfo.Zero()); zero != nil {
			row.Values[at] = reflect.New(zero).Interface()
		}
	})
	return row, nil
}

// mapScanRegistered scans as MapScan does, with the Go types of registered types.
func (iter *Iter) mapScanRegistered(m map[string]any) bool {
	row, err := iter.rowDataRegistered()
	if err != nil {
		return false
	}
	for i, name := range row.Columns {
		if p := m[name]; p != nil && reflect.TypeOf(p).Kind() == reflect.Pointer {
			row.Values[i] = p
		}
	}
	if !iter.Scan(row.Values...) {
		return false
	}
	for i, name := range row.Columns {
		m[name] = reflect.Indirect(reflect.ValueOf(row.Values[i])).Interface()
	}
	return true
}
