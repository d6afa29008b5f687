// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/columntest"
)

// This file makes columns of slices.

func TestNewColumn(t *testing.T) {
	type named int32
	ids := []uuid.UUID{{1}, {2}}
	for _, c := range []struct {
		column parquetscan.Column
		want   parquetscan.Type
	}{
		{parquetscan.NewColumn("c", []bool{true, false}), kindOf(parquetscan.Bool)},
		{parquetscan.NewColumn("c", []int8{1, 2}), kindOf(parquetscan.Int8)},
		{parquetscan.NewColumn("c", []int16{1, 2}), kindOf(parquetscan.Int16)},
		{parquetscan.NewColumn("c", []named{1, 2}), kindOf(parquetscan.Int32)},
		{parquetscan.NewColumn("c", []int64{1, 2}), kindOf(parquetscan.Int64)},
		{parquetscan.NewColumn("c", []uint8{1, 2}), kindOf(parquetscan.Uint8)},
		{parquetscan.NewColumn("c", []uint16{1, 2}), kindOf(parquetscan.Uint16)},
		{parquetscan.NewColumn("c", []uint32{1, 2}), kindOf(parquetscan.Uint32)},
		{parquetscan.NewColumn("c", []uint64{1, 2}), kindOf(parquetscan.Uint64)},
		{parquetscan.NewColumn("c", []float32{1, 2}), kindOf(parquetscan.Float32)},
		{parquetscan.NewColumn("c", []float64{1, 2}), kindOf(parquetscan.Float64)},
		{parquetscan.NewColumn("c", ids), kindOf(parquetscan.ID)},
		{parquetscan.NewColumn("c", []parquetscan.Int128{{}, {}}), parquetscan.Type{Kind: parquetscan.Decimal128, Precision: 38}},
		{parquetscan.NewColumn("c", []parquetscan.Int256{{}, {}}), parquetscan.Type{Kind: parquetscan.Decimal256, Precision: 76}},
		{parquetscan.NewMatrix("c", []float32{1, 2, 3, 4}, 2), parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}},
		{parquetscan.NewMatrix("c", []float64{1, 2}, 1), parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float64}},
		{parquetscan.NewFixed("c", []byte("abcdef"), 3), parquetscan.Type{Kind: parquetscan.Fixed, Width: 3}},
		{parquetscan.NewStrings("c", []string{"a", ""}), kindOf(parquetscan.String)},
	} {
		require.Equal(t, c.want, c.column.Type)
		require.Equal(t, "c", c.column.Name)
		require.Equal(t, 2, c.column.Len(), c.want)
		require.Zero(t, c.column.Nulls())
	}
	c := parquetscan.NewColumn("c", ids)
	got, ok := parquetscan.SliceOf[uuid.UUID](&c)
	require.True(t, ok)
	require.Same(t, &ids[0], &got[0], "a column is a view")
	empty := parquetscan.NewText("c", nil, nil)
	require.Zero(t, empty.Len())
	_, offsets := empty.Text()
	require.Equal(t, []int32{0}, offsets)
}

func TestColumnAs(t *testing.T) {
	timestamp := parquetscan.Type{Kind: parquetscan.Timestamp, Unit: parquetscan.Nanos, UTC: true}
	decimal := parquetscan.Type{Kind: parquetscan.Decimal64, Precision: 18, Scale: 2}
	sixteen := parquetscan.Type{Kind: parquetscan.Fixed, Width: 16}
	longs, ids := parquetscan.NewColumn("c", []int64{1}), parquetscan.NewColumn("c", make([][16]byte, 1))
	matrix := parquetscan.NewMatrix("c", []float32{1}, 1)
	for _, c := range []struct {
		from parquetscan.Column
		to   parquetscan.Type
		ok   bool
	}{
		{longs, timestamp, true},
		{longs, decimal, true},
		{longs, parquetscan.Type{Kind: parquetscan.Time, Unit: parquetscan.Millis}, true},
		{longs, kindOf(parquetscan.Int64), true},
		{longs, kindOf(parquetscan.Uint64), false},
		{longs, kindOf(parquetscan.Timestamp), false}, // no unit
		{longs, kindOf(parquetscan.List), false},
		{longs, kindOf(parquetscan.String), false},
		{parquetscan.NewColumn("c", []int32{1}), kindOf(parquetscan.Date), true},
		{parquetscan.NewColumn("c", []uint16{1}), kindOf(parquetscan.Float16), true},
		{parquetscan.NewColumn("c", []int16{1}), kindOf(parquetscan.Float16), false},
		{parquetscan.NewColumn("c", []uint8{1}), parquetscan.Type{Kind: parquetscan.Fixed, Width: 1}, false},
		{parquetscan.NewFixed("c", []byte{1}, 1), kindOf(parquetscan.Uint8), false},
		{parquetscan.NewFixed("c", make([]byte, 16), 16), kindOf(parquetscan.ID), true},
		{ids, sixteen, true},
		{ids, parquetscan.Type{Kind: parquetscan.Fixed, Width: 8}, false},
		{ids, parquetscan.Type{Kind: parquetscan.Decimal128, Precision: 38}, false},
		{parquetscan.NewStrings("c", []string{"a"}), kindOf(parquetscan.Binary), true},
		{matrix, matrix.Type, true},
		{matrix, kindOf(parquetscan.Float32), false},
		{matrix, parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float64}, false},
		{parquetscan.Column{}, kindOf(parquetscan.Int8), false},
	} {
		got, err := c.from.As(c.to)
		if !c.ok {
			require.Error(t, err, "%v as %v", c.from.Type, c.to)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.to, got.Type)
		require.Equal(t, c.from.Len(), got.Len())
	}
}

func TestWithValidity(t *testing.T) {
	c := parquetscan.NewColumn("c", make([]int8, 11))
	require.Nil(t, c.Validity())
	nulls := c.WithValidity([]byte{0b10111111, 0b11111101})
	require.Equal(t, 2, nulls.Nulls(), "bits beyond the last value do not count")
	require.True(t, nulls.Null(6))
	require.True(t, nulls.Null(9))
	require.False(t, nulls.Null(10))
	require.Zero(t, c.Nulls(), "the column itself is as it was")
	whole := nulls.WithValidity([]byte{0xff, 0xff})
	require.Zero(t, whole.Nulls())
	require.Nil(t, whole.Validity())
	none := nulls.WithValidity(nil)
	require.Zero(t, none.Nulls())
}

func TestColumnPanics(t *testing.T) {
	one, two := parquetscan.NewColumn("", []int8{1}), parquetscan.NewColumn("", []int8{1, 2})
	for name, f := range map[string]func(){
		"offset falls":     func() { parquetscan.NewText("c", []byte("abc"), []int32{0, 2, 1}) },
		"offset negative":  func() { parquetscan.NewText("c", []byte("abc"), []int32{-1, 2}) },
		"offset too great": func() { parquetscan.NewText("c", []byte("abc"), []int32{0, 4}) },
		"dictionary":       func() { parquetscan.NewDictionary([]byte("abc"), []int32{0, 4}) },
		"no dictionary":    func() { parquetscan.NewCodes("c", []uint32{1}, nil) },
		"no dimension":     func() { parquetscan.NewMatrix("c", []float32{1}, 0) },
		"ragged":           func() { parquetscan.NewMatrix("c", []float32{1, 2, 3}, 2) },
		"no width":         func() { parquetscan.NewFixed("c", []byte{1}, 0) },
		"part of a width":  func() { parquetscan.NewFixed("c", []byte{1, 2, 3}, 2) },
		"list":             func() { parquetscan.NewList("c", []int32{0, 2}, one) },
		"map":              func() { parquetscan.NewMap("c", []int32{0, 2}, one, one) },
		"keys and values":  func() { parquetscan.NewMap("c", []int32{0, 1}, one, two) },
		"NULL key":         func() { parquetscan.NewMap("c", []int32{0, 1}, one.WithValidity([]byte{0}), one) },
		"no fields":        func() { parquetscan.NewStruct("c") },
		"fields":           func() { parquetscan.NewStruct("c", one, two) },
		"validity":         func() { two.WithValidity([]byte{}) },
	} {
		require.Panics(t, f, name)
	}
}

func TestNestedColumns(t *testing.T) {
	c := parquetscan.NewList("c", []int32{0, 2, 2, 3}, parquetscan.NewStruct("x",
		parquetscan.NewStrings("s", []string{"a", "b", "c"}),
		parquetscan.NewMap("m", []int32{0, 1, 1, 2},
			parquetscan.NewColumn("x", []int8{1, 2}), parquetscan.NewColumn("x", []bool{true, false})),
	))
	require.Equal(t, "element", c.Children()[0].Name)
	require.Equal(t, "value", c.Children()[0].Children()[1].Children()[1].Name)
	require.Equal(t, []any{
		[]any{[]any{"a", []any{[]any{int64(1), true}}}, []any{"b", []any{}}},
		[]any{},
		[]any{[]any{"c", []any{[]any{int64(2), false}}}},
	}, columntest.OfColumn(&c))
}
