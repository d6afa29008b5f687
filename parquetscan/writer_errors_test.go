// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql/parquetscan"
)

// This file holds what a Writer refuses.

func kindOf(k parquetscan.Kind) parquetscan.Type { return parquetscan.Type{Kind: k} }

func TestNewWriterErrors(t *testing.T) {
	number := parquetscan.Field{Name: "n", Type: kindOf(parquetscan.Int64)}
	named := func(name string) parquetscan.Field {
		return parquetscan.Field{Name: name, Type: kindOf(parquetscan.Int64)}
	}
	of := func(t parquetscan.Type, inner ...parquetscan.Field) []parquetscan.Field {
		return []parquetscan.Field{{Name: "c", Type: t, Fields: inner}}
	}
	nullable := number
	nullable.Nullable = true
	for name, c := range map[string]struct {
		fields  []parquetscan.Field
		options parquetscan.WriterOptions
		text    string
		is      error
	}{
		"no fields":      {text: "no fields"},
		"empty name":     {fields: []parquetscan.Field{number, {Type: number.Type}}, text: "field 1 of the file has no name"},
		"same name":      {fields: []parquetscan.Field{number, number}, text: "two fields of the file have the name n"},
		"name not UTF-8": {fields: []parquetscan.Field{named("\xff")}, text: "not UTF-8"},
		"same in struct": {
			fields: of(kindOf(parquetscan.Struct), number, number),
			text:   "column c: two fields of the struct have the name n",
		},
		"empty in struct": {fields: of(kindOf(parquetscan.Struct), named("")), text: "field 0 of the struct has no name"},
		"empty struct":    {fields: of(kindOf(parquetscan.Struct)), text: "the struct has no fields"},
		"same path":       {fields: append(of(kindOf(parquetscan.Struct), number), named("c.n")), text: "two fields have the path c.n"},
		"no kind":         {fields: of(parquetscan.Type{}), text: "no such type"},
		"unknown kind":    {fields: of(kindOf(200)), text: "no such type"},
		"no unit":         {fields: of(kindOf(parquetscan.Time)), text: "no such type"},
		"unit of int":     {fields: of(parquetscan.Type{Kind: parquetscan.Int8, Unit: parquetscan.Nanos}), text: "no such type"},
		"no precision":    {fields: of(kindOf(parquetscan.Decimal64)), text: "no such type"},
		"great precision": {fields: of(parquetscan.Type{Kind: parquetscan.Decimal64, Precision: 19}), text: "no such type"},
		"great scale":     {fields: of(parquetscan.Type{Kind: parquetscan.Decimal256, Precision: 5, Scale: 6}), text: "no such type"},
		"no width":        {fields: of(kindOf(parquetscan.Fixed)), text: "no such type"},
		"vector of int":   {fields: of(parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Int8}), text: "no such type"},
		"list of nothing": {fields: of(kindOf(parquetscan.List)), text: "list has 0 fields, not 1"},
		"map of one":      {fields: of(kindOf(parquetscan.Map), number), text: "map has 1 fields, not 2"},
		"nullable key":    {fields: of(kindOf(parquetscan.Map), nullable, number), text: "key of a map"},
		"fields of int":   {fields: of(kindOf(parquetscan.Int8), number), text: "int8 has 1 fields, not 0"},
		"inner kind":      {fields: of(kindOf(parquetscan.List), parquetscan.Field{Name: "x"}), text: "column c.element: no such type"},
		"codec":           {fields: of(number.Type), options: parquetscan.WriterOptions{Codec: 99}, text: "no such codec: 99"},
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
			fields:  of(kindOf(parquetscan.Bool)),
			options: parquetscan.WriterOptions{BloomFilters: []string{"c"}},
			text:    "no Bloom filter",
		},
		"metadata taken": {
			fields:  of(number.Type),
			options: parquetscan.WriterOptions{Metadata: map[string]string{"ARROW:schema": ""}},
			text:    "taken",
		},
		"metadata no UTF-8": {
			fields:  of(number.Type),
			options: parquetscan.WriterOptions{Metadata: map[string]string{"a": "\xff"}},
			text:    "UTF-8",
		},
	} {
		var buf bytes.Buffer
		_, err := parquetscan.NewWriter(&buf, c.fields, c.options)
		require.Error(t, err, name)
		require.ErrorContains(t, err, c.text, name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
		}
		require.Zero(t, buf.Len(), name)
	}
}

// as is Column.As of what must work.
func as(t *testing.T, c parquetscan.Column, to parquetscan.Type) parquetscan.Column {
	t.Helper()
	c, err := c.As(to)
	require.NoError(t, err)
	return c
}

func TestWriteErrors(t *testing.T) {
	null := []byte{0b01}
	ints := parquetscan.NewColumn("c", []int64{1, 2})
	int64Field := parquetscan.Field{Name: "c", Type: ints.Type}
	decimal := func(kind parquetscan.Kind, precision int) parquetscan.Field {
		return parquetscan.Field{Name: "c", Type: parquetscan.Type{Kind: kind, Precision: precision}}
	}
	digits := func(c parquetscan.Column, precision int) []parquetscan.Column {
		kind := c.Type.Kind
		if kind == parquetscan.Int64 {
			kind = parquetscan.Decimal64
		}
		return []parquetscan.Column{as(t, c, decimal(kind, precision).Type)}
	}
	list := func(element parquetscan.Field) parquetscan.Field {
		return parquetscan.Field{Name: "c", Type: kindOf(parquetscan.List), Fields: []parquetscan.Field{element}}
	}
	millis := parquetscan.Type{Kind: parquetscan.Time, Unit: parquetscan.Millis}
	vector := parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}
	structure := func(names ...string) (f parquetscan.Field) {
		f = parquetscan.Field{Name: "c", Type: kindOf(parquetscan.Struct)}
		for _, n := range names {
			f.Fields = append(f.Fields, parquetscan.Field{Name: n, Type: ints.Type})
		}
		return f
	}
	dict := parquetscan.NewDictionary([]byte("ab"), []int32{0, 1, 2})
	for name, c := range map[string]struct {
		field   parquetscan.Field
		columns []parquetscan.Column
		rows    int // 2 if 0
		text    string
		is      error
	}{
		"no column":   {field: int64Field, text: "a batch has 0 columns, the file 1", is: parquetscan.ErrNoColumn},
		"two columns": {field: int64Field, columns: []parquetscan.Column{ints, ints}, is: parquetscan.ErrNoColumn},
		"another name": {
			field:   int64Field,
			columns: []parquetscan.Column{parquetscan.NewColumn("d", []int64{1, 2})},
			is:      parquetscan.ErrNoColumn,
		},
		"another type": {
			field:   int64Field,
			columns: []parquetscan.Column{parquetscan.NewColumn("c", []uint64{1, 2})},
			is:      parquetscan.ErrNoColumn,
		},
		"rows": {field: int64Field, columns: []parquetscan.Column{ints}, rows: 1, text: "column c has 2 rows, the batch 1"},
		"NULL": {field: int64Field, columns: []parquetscan.Column{ints.WithValidity(null)}, text: "value 1 is NULL"},
		"NULL vector": {
			field:   parquetscan.Field{Name: "c", Type: vector},
			columns: []parquetscan.Column{parquetscan.NewMatrix("c", make([]float32, 4), 2).WithValidity(null)},
			text:    "value 1 is NULL",
		},
		"NULL element": {
			field:   list(int64Field),
			columns: []parquetscan.Column{parquetscan.NewList("c", []int32{0, 1, 2}, ints.WithValidity(null))},
			text:    "column c.element: value 1 is NULL",
		},
		"NULL list": {
			field:   list(int64Field),
			columns: []parquetscan.Column{parquetscan.NewList("c", []int32{0, 1, 2}, ints).WithValidity(null)},
			text:    "column c: value 1 is NULL",
		},
		"field name": {
			field:   structure("a"),
			columns: []parquetscan.Column{parquetscan.NewStruct("c", parquetscan.NewColumn("b", []int64{1, 2}))},
			is:      parquetscan.ErrNoColumn,
		},
		"field count": {
			field:   structure("a", "b"),
			columns: []parquetscan.Column{parquetscan.NewStruct("c", parquetscan.NewColumn("a", []int64{1, 2}))},
			is:      parquetscan.ErrNoColumn,
		},
		"element type": {
			field:   list(int64Field),
			columns: []parquetscan.Column{parquetscan.NewList("c", []int32{0, 0, 0}, parquetscan.NewColumn("", []int8{}))},
			is:      parquetscan.ErrNoColumn,
		},
		"code": {
			field:   parquetscan.Field{Name: "c", Type: kindOf(parquetscan.String)},
			columns: []parquetscan.Column{parquetscan.NewCodes("c", []uint32{1, 2}, dict)},
			text:    "value 1: code 2 of a dictionary of 2",
		},
		"digits": {
			field:   decimal(parquetscan.Decimal64, 9),
			columns: digits(parquetscan.NewColumn("c", []int64{1, 1e9}), 9),
			is:      parquetscan.ErrOutOfRange,
		},
		"digits below": {
			field:   decimal(parquetscan.Decimal64, 18),
			columns: digits(parquetscan.NewColumn("c", []int64{1, math.MinInt64}), 18),
			is:      parquetscan.ErrOutOfRange,
		},
		"128 digits": {
			field:   decimal(parquetscan.Decimal128, 20),
			columns: digits(parquetscan.NewColumn("c", []parquetscan.Int128{{}, {Hi: 1 << 62}}), 20),
			is:      parquetscan.ErrOutOfRange,
		},
		"128 least": {
			field:   decimal(parquetscan.Decimal128, 38),
			columns: digits(parquetscan.NewColumn("c", []parquetscan.Int128{{}, {Hi: math.MinInt64}}), 38),
			is:      parquetscan.ErrOutOfRange,
		},
		"256 digits": {
			field:   decimal(parquetscan.Decimal256, 76),
			columns: digits(parquetscan.NewColumn("c", []parquetscan.Int256{{}, {0, 0, 0, 1 << 63}}), 76),
			is:      parquetscan.ErrOutOfRange,
		},
		"milliseconds": {
			field:   parquetscan.Field{Name: "c", Type: millis},
			columns: []parquetscan.Column{as(t, parquetscan.NewColumn("c", []int64{1, 1 << 31}), millis)},
			is:      parquetscan.ErrOutOfRange,
		},
		"field type": {
			field:   structure("v"),
			columns: []parquetscan.Column{parquetscan.NewStruct("c", parquetscan.NewMatrix("v", make([]float64, 2), 1))},
			is:      parquetscan.ErrNoColumn,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := parquetscan.NewWriter(io.Discard, []parquetscan.Field{c.field}, parquetscan.WriterOptions{})
			require.NoError(t, err)
			if c.rows == 0 {
				c.rows = 2
			}
			err = w.Write(&parquetscan.Batch{Columns: c.columns, Rows: c.rows})
			require.Error(t, err)
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "parquetscan: ")
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.Equal(t, err, w.Write(&parquetscan.Batch{}))
			require.Equal(t, err, w.Close())
		})
	}
}

func TestWriterRagged(t *testing.T) {
	fields := []parquetscan.Field{{Name: "v", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}, Nullable: true}}
	w, err := parquetscan.NewWriter(io.Discard, fields, parquetscan.WriterOptions{})
	require.NoError(t, err)
	write := func(c parquetscan.Column) error {
		return w.Write(&parquetscan.Batch{Columns: []parquetscan.Column{c}, Rows: c.Len()})
	}
	require.NoError(t, write(parquetscan.NewMatrix("v", make([]float32, 10), 5).WithValidity([]byte{0})), "all NULL: any dimension")
	require.NoError(t, write(parquetscan.NewMatrix("v", make([]float32, 6), 3)))
	require.NoError(t, write(parquetscan.NewMatrix("v", make([]float32, 10), 5).WithValidity([]byte{0})))
	require.NoError(t, write(parquetscan.NewMatrix("v", []float32{}, 4)))
	require.ErrorIs(t, write(parquetscan.NewMatrix("v", make([]float32, 8), 4)), parquetscan.ErrRagged)
	require.ErrorIs(t, w.Close(), parquetscan.ErrRagged)
}

func TestWriterClosed(t *testing.T) {
	fields := []parquetscan.Field{{Name: "n", Type: kindOf(parquetscan.Int64)}}
	w, err := parquetscan.NewWriter(io.Discard, fields, parquetscan.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Error(t, w.Write(&parquetscan.Batch{Columns: []parquetscan.Column{parquetscan.NewColumn("n", []int64{})}}))
	require.NoError(t, w.Close())
}
