// SPDX-License-Identifier: Apache-2.0

package search

import (
	"encoding/binary"
	"reflect"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Rows of hits as values of a Go type, as vecql.Rows reads them.

// columnsOf returns the columns of a table that T reads.
func columnsOf[T any](t *table) ([]string, error) {
	typ := reflect.TypeFor[T]()
	switch {
	case typ == reflect.TypeFor[map[string]any]():
		return t.meta.OrderedColumns, nil
	case codec.IsRowStruct(typ):
		return columnsOfStruct(typ, t)
	case len(t.meta.PartitionKey) == 1 && len(t.meta.ClusteringColumns) == 0:
		return []string{t.meta.PartitionKey[0].Name}, nil
	}
	return nil, errorf("%w: a row as one %v needs a primary key of one column: use a struct or map[string]any", ErrRow, typ)
}

// columnsOfStruct returns the columns that have a field. Each field must have a column.
func columnsOfStruct(typ reflect.Type, t *table) ([]string, error) {
	fields, err := codec.RowFields(typ)
	if err != nil {
		return nil, errorf("%w: %w", ErrRow, err)
	}
	var columns []string
	read := map[string]bool{}
	for _, name := range t.meta.OrderedColumns {
		if f, ok := codec.FieldFor(typ, name); ok {
			columns = append(columns, name)
			read[f.Name] = true
		}
	}
	for _, f := range fields {
		if !read[f.Name] {
			return nil, errorf("%w: table %s.%s has no column %s for field %s of %v; it has: %s", ErrRow, t.keyspace, t.table,
				f.Column(), f.Name, typ, strings.Join(t.meta.OrderedColumns, ", "))
		}
	}
	if len(columns) == 0 {
		return nil, errorf("%w: %v has no exported field", ErrRow, typ)
	}
	return columns, nil
}

// infosOf describes columns of a table, as a result of the server does.
func (t *table) infosOf(columns []string) []cql.ColumnInfo {
	infos := make([]cql.ColumnInfo, len(columns))
	for i, name := range columns {
		infos[i] = cql.ColumnInfo{Keyspace: t.keyspace, Table: t.table, Name: name, TypeInfo: t.meta.Columns[name].Type}
	}
	return infos
}

// decodeRow stores the cells of a row, [bytes] for each of infos, in a new value of T.
func decodeRow[T any](infos []cql.ColumnInfo, cells []byte) (row T, err error) {
	v := reflect.ValueOf(&row).Elem()
	dynamic := v.Type() == reflect.TypeFor[map[string]any]()
	if dynamic {
		v.Set(reflect.ValueOf(make(map[string]any, len(infos))))
	}
	for _, info := range infos {
		var cell []byte
		cell, cells = nextCell(cells)
		switch {
		case dynamic && cell == nil:
			v.SetMapIndex(reflect.ValueOf(info.Name), reflect.Zero(v.Type().Elem()))
		case dynamic:
			value := codec.NewDefault(info.TypeInfo)
			if err = decodeCell(info, cell, reflect.ValueOf(value).Elem()); err == nil {
				v.SetMapIndex(reflect.ValueOf(info.Name), reflect.ValueOf(value).Elem())
			}
		case codec.IsRowStruct(v.Type()):
			field, _ := codec.FieldFor(v.Type(), info.Name)
			err = decodeCell(info, cell, v.FieldByIndex(field.Index))
		default:
			err = decodeCell(info, cell, v)
		}
		if err != nil {
			return row, err
		}
	}
	return row, nil
}

// decodeCell stores a cell in a field. NULL needs a type that can hold it.
func decodeCell(info cql.ColumnInfo, cell []byte, field reflect.Value) error {
	err := cql.ErrNull
	if cell != nil || codec.IsNullable(field.Type()) {
		err = vecql.Unmarshal(info.TypeInfo, cell, field.Addr().Interface())
	}
	if err != nil {
		return &cql.UnmarshalError{Column: info.Name, Type: info.TypeInfo, GoType: field.Type().String(), Err: err}
	}
	return nil
}

// appendCell appends a cell as [bytes] (native_protocol_v5.spec, section 3); nil is NULL.
func appendCell(dst, cell []byte) []byte {
	if cell == nil {
		return binary.BigEndian.AppendUint32(dst, 1<<32-1)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(cell))), cell...)
}

// nextCell returns the first of cells that appendCell or the encoder of the driver has written, and the others.
func nextCell(cells []byte) (cell, rest []byte) {
	n := int32(binary.BigEndian.Uint32(cells))
	if cells = cells[4:]; n < 0 {
		return nil, cells
	}
	return cells[:n:n], cells[n:]
}
