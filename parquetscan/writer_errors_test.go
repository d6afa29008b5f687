// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Input that a Writer rejects.

func kindOf(k column.Kind) column.Type { return column.Type{Kind: k} }

func TestNewWriterErrors(t *testing.T) {
	number := column.Field{Name: "n", Type: kindOf(column.Int64)}
	named := func(name string) column.Field {
		return column.Field{Name: name, Type: kindOf(column.Int64)}
	}
	of := func(t column.Type, inner ...column.Field) []column.Field {
		return []column.Field{{Name: "c", Type: t, Fields: inner}}
	}
	nullable := number
	nullable.Nullable = true
	for name, c := range map[string]struct {
		fields  []column.Field
		options parquetscan.WriterOptions
		text    string
		is      error
	}{
		"no fields":      {text: "no fields"},
		"empty name":     {fields: []column.Field{number, {Type: number.Type}}, text: "field 1 of the file has no name"},
		"name not UTF-8": {fields: []column.Field{named("\xff")}, text: "not UTF-8"},
		"same in struct": {
			fields: of(kindOf(column.Struct), number, number),
			text:   "column c: two fields of the struct have the name n",
		},
		"empty in struct": {fields: of(kindOf(column.Struct), named("")), text: "field 0 of the struct has no name"},
		"empty struct":    {fields: of(kindOf(column.Struct)), text: "the struct has no fields"},
		"no kind":         {fields: of(column.Type{}), text: "not a type"},
		"unknown kind":    {fields: of(kindOf(200)), text: "not a type"},
		"no unit":         {fields: of(kindOf(column.Time)), text: "not a type"},
		"unit of int":     {fields: of(column.Type{Kind: column.Int8, Unit: column.Nanos}), text: "not a type"},
		"no precision":    {fields: of(kindOf(column.Decimal64)), text: "not a type"},
		"great precision": {fields: of(column.Type{Kind: column.Decimal64, Precision: 19}), text: "not a type"},
		"great scale":     {fields: of(column.Type{Kind: column.Decimal256, Precision: 5, Scale: 6}), text: "not a type"},
		"no width":        {fields: of(kindOf(column.Fixed)), text: "not a type"},
		"vector of int":   {fields: of(column.Type{Kind: column.Vector, Elem: column.Int8}), text: "not a type"},
		"list of nothing": {fields: of(kindOf(column.List)), text: "list has 0 fields, not 1"},
		"map of one":      {fields: of(kindOf(column.Map), number), text: "map has 1 fields, not 2"},
		"nullable key":    {fields: of(kindOf(column.Map), nullable, number), text: "key of a map"},
		"fields of int":   {fields: of(kindOf(column.Int8), number), text: "int8 has 1 fields, not 0"},
		"inner kind":      {fields: of(kindOf(column.List), column.Field{Name: "x"}), text: "column c.element: column: not a type"},
		"codec":           {fields: of(number.Type), options: parquetscan.WriterOptions{Codec: 99}, text: "unknown Codec 99"},
		"rows":            {fields: of(number.Type), options: parquetscan.WriterOptions{RowGroupRows: -1}, text: "RowGroupRows is -1"},
		"bytes":           {fields: of(number.Type), options: parquetscan.WriterOptions{RowGroupBytes: -1}, text: "RowGroupBytes is -1"},
		"page":            {fields: of(number.Type), options: parquetscan.WriterOptions{PageBytes: 1<<30 + 1}, text: "PageBytes is"},
		"no plain": {
			fields:  of(number.Type),
			options: parquetscan.WriterOptions{Plain: []string{"d"}},
			is:      parquetscan.ErrNoColumn,
		},
		"no filter": {
			fields:  of(number.Type),
			options: parquetscan.WriterOptions{BloomFilters: []string{"d"}},
			is:      parquetscan.ErrNoColumn,
		},
		"filter of bool": {
			fields:  of(kindOf(column.Bool)),
			options: parquetscan.WriterOptions{BloomFilters: []string{"c"}},
			text:    "bool cannot have a Bloom filter",
		},
		"metadata taken": {
			fields:  of(number.Type),
			options: parquetscan.WriterOptions{Metadata: map[string]string{"ARROW:schema": ""}},
			text:    "the key ARROW:schema is reserved",
		},
		"metadata no UTF-8": {
			fields:  of(number.Type),
			options: parquetscan.WriterOptions{Metadata: map[string]string{"a": "\xff"}},
			text:    "UTF-8",
		},
	} {
		var buf bytes.Buffer
		_, err := parquetscan.NewWriter(&buf, c.fields, c.options)
		require.ErrorContains(t, err, c.text, name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
		}
		require.Zero(t, buf.Len(), name)
	}
}

// as converts a column to a type, and fails the test on an error.
func as(t *testing.T, c column.Column, to column.Type) column.Column {
	t.Helper()
	c, err := c.WithType(to)
	require.NoError(t, err)
	return c
}

func TestWriteErrors(t *testing.T) {
	null := []byte{0b01}
	ints := column.Of("c", []int64{1, 2})
	int64Field := column.Field{Name: "c", Type: ints.Type}
	decimal := func(kind column.Kind, precision int) column.Field {
		return column.Field{Name: "c", Type: column.Type{Kind: kind, Precision: precision}}
	}
	digits := func(c column.Column, precision int) []column.Column {
		kind := c.Type.Kind
		if kind == column.Int64 {
			kind = column.Decimal64
		}
		return []column.Column{as(t, c, decimal(kind, precision).Type)}
	}
	list := func(element column.Field) column.Field {
		return column.Field{Name: "c", Type: kindOf(column.List), Fields: []column.Field{element}}
	}
	millis := column.Type{Kind: column.Time, Unit: column.Millis}
	vector := column.Type{Kind: column.Vector, Elem: column.Float32}
	structure := func(names ...string) (f column.Field) {
		f = column.Field{Name: "c", Type: kindOf(column.Struct)}
		for _, n := range names {
			f.Fields = append(f.Fields, column.Field{Name: n, Type: ints.Type})
		}
		return f
	}
	dict := column.NewDictionary([]byte("ab"), []int32{0, 1, 2})
	for name, c := range map[string]struct {
		field   column.Field
		columns []column.Column
		rows    int // 2 if 0
		text    string
		is      error
	}{
		"no column":   {field: int64Field, text: "a batch has 0 columns, the file 1", is: parquetscan.ErrNoColumn},
		"two columns": {field: int64Field, columns: []column.Column{ints, ints}, is: parquetscan.ErrNoColumn},
		"another name": {
			field:   int64Field,
			columns: []column.Column{column.Of("d", []int64{1, 2})},
			is:      parquetscan.ErrNoColumn,
		},
		"another type": {
			field:   int64Field,
			columns: []column.Column{column.Of("c", []uint64{1, 2})},
			is:      parquetscan.ErrNoColumn,
		},
		"rows": {field: int64Field, columns: []column.Column{ints}, rows: 1, text: "column: c has 2 rows, want 1"},
		"NULL": {field: int64Field, columns: []column.Column{ints.WithValidity(null)}, text: "value 1 is NULL"},
		"NULL vector": {
			field:   column.Field{Name: "c", Type: vector},
			columns: []column.Column{column.Matrix("c", make([]float32, 4), 2).WithValidity(null)},
			text:    "value 1 is NULL",
		},
		"NULL element": {
			field:   list(int64Field),
			columns: []column.Column{column.Lists("c", []int32{0, 1, 2}, ints.WithValidity(null))},
			text:    "column c.element: value 1 is NULL",
		},
		"NULL list": {
			field:   list(int64Field),
			columns: []column.Column{column.Lists("c", []int32{0, 1, 2}, ints).WithValidity(null)},
			text:    "column c: value 1 is NULL",
		},
		"field name": {
			field:   structure("a"),
			columns: []column.Column{column.Structs("c", column.Of("b", []int64{1, 2}))},
			is:      parquetscan.ErrNoColumn,
		},
		"field count": {
			field:   structure("a", "b"),
			columns: []column.Column{column.Structs("c", column.Of("a", []int64{1, 2}))},
			is:      parquetscan.ErrNoColumn,
		},
		"element type": {
			field:   list(int64Field),
			columns: []column.Column{column.Lists("c", []int32{0, 0, 0}, column.Of("", []int8{}))},
			is:      parquetscan.ErrNoColumn,
		},
		"code": {
			field:   column.Field{Name: "c", Type: kindOf(column.String)},
			columns: []column.Column{column.Codes("c", []uint32{1, 2}, dict)},
			text:    "row 1: code 2 is beyond a dictionary of 2 entries",
		},
		"digits": {
			field:   decimal(column.Decimal64, 9),
			columns: digits(column.Of("c", []int64{1, 1e9}), 9),
			is:      parquetscan.ErrOutOfRange,
		},
		"digits below": {
			field:   decimal(column.Decimal64, 18),
			columns: digits(column.Of("c", []int64{1, math.MinInt64}), 18),
			is:      parquetscan.ErrOutOfRange,
		},
		"128 digits": {
			field:   decimal(column.Decimal128, 20),
			columns: digits(column.Of("c", []column.Int128{{}, {Hi: 1 << 62}}), 20),
			is:      parquetscan.ErrOutOfRange,
		},
		"128 least": {
			field:   decimal(column.Decimal128, 38),
			columns: digits(column.Of("c", []column.Int128{{}, {Hi: math.MinInt64}}), 38),
			is:      parquetscan.ErrOutOfRange,
		},
		"256 digits": {
			field:   decimal(column.Decimal256, 76),
			columns: digits(column.Of("c", []column.Int256{{}, {0, 0, 0, 1 << 63}}), 76),
			is:      parquetscan.ErrOutOfRange,
		},
		"milliseconds": {
			field:   column.Field{Name: "c", Type: millis},
			columns: []column.Column{as(t, column.Of("c", []int64{1, 1 << 31}), millis)},
			is:      parquetscan.ErrOutOfRange,
		},
		"field type": {
			field:   structure("v"),
			columns: []column.Column{column.Structs("c", column.Matrix("v", make([]float64, 2), 1))},
			is:      parquetscan.ErrNoColumn,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := parquetscan.NewWriter(io.Discard, []column.Field{c.field}, parquetscan.WriterOptions{})
			require.NoError(t, err)
			if c.rows == 0 {
				c.rows = 2
			}
			err = w.Write(&column.Batch{Columns: c.columns, Rows: c.rows})
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "parquetscan: ")
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.Equal(t, err, w.Write(&column.Batch{}))
			require.Equal(t, err, w.Close())
		})
	}
}

func TestWriterRagged(t *testing.T) {
	fields := []column.Field{{Name: "v", Type: column.Type{Kind: column.Vector, Elem: column.Float32}, Nullable: true}}
	w, err := parquetscan.NewWriter(io.Discard, fields, parquetscan.WriterOptions{})
	require.NoError(t, err)
	write := func(c column.Column) error {
		return w.Write(&column.Batch{Columns: []column.Column{c}, Rows: c.Len})
	}
	require.NoError(t, write(column.Matrix("v", make([]float32, 10), 5).WithValidity([]byte{0})), "all NULL: any dimension")
	require.NoError(t, write(column.Matrix("v", make([]float32, 6), 3)))
	require.NoError(t, write(column.Matrix("v", make([]float32, 10), 5).WithValidity([]byte{0})))
	require.NoError(t, write(column.Matrix("v", []float32{}, 4)))
	require.ErrorIs(t, write(column.Matrix("v", make([]float32, 8), 4)), parquetscan.ErrRagged)
	require.ErrorIs(t, w.Close(), parquetscan.ErrRagged)
}

func TestWriterClosed(t *testing.T) {
	fields := []column.Field{{Name: "n", Type: kindOf(column.Int64)}}
	w, err := parquetscan.NewWriter(io.Discard, fields, parquetscan.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.ErrorContains(t, w.Write(&column.Batch{Columns: []column.Column{column.Of("n", []int64{})}}), "writer is closed")
	require.NoError(t, w.Close())
}
