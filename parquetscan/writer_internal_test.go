// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Columns that constructors do not make.

// TestWriterDimensionZero writes vectors of unknown dimension, as read from a file of NULLs and empty lists.
func TestWriterDimensionZero(t *testing.T) {
	for _, elem := range []column.Kind{column.Float32, column.Float64} {
		typ := column.Type{Kind: column.Vector, Elem: elem}
		for _, c := range []struct {
			column column.Column
			want   string
		}{
			{column.Column{Len: 2, Nulls: 2, Validity: []byte{0}}, `[null, null]`},
			{column.Column{Len: 3, Nulls: 1, Validity: []byte{0b101}}, `[[], null, []]`},
			{column.Column{Len: 2}, `[[], []]`},
		} {
			c.column.Name, c.column.Type = "v", typ
			inner := column.Structs("s", c.column)
			var buf bytes.Buffer
			w, err := NewWriter(&buf, []column.Field{
				{Name: "v", Type: typ, Nullable: true},
				{Name: "s", Type: inner.Type, Fields: []column.Field{{Name: "v", Type: typ, Nullable: true}}},
			}, WriterOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(&column.Batch{Columns: []column.Column{c.column, inner}, Rows: c.column.Len}))
			require.NoError(t, w.Close())
			table, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(buf.Bytes()), parquet.NewReaderProperties(nil),
				pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
			require.NoError(t, err)
			got, err := table.Column(0).Data().Chunk(0).MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
			got, err = table.Column(1).Data().Chunk(0).(*array.Struct).Field(0).MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
			table.Release()
		}
	}
}

func TestDecimalWidth(t *testing.T) {
	for precision, width := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 10: 5, 18: 8, 19: 9, 38: 16, 39: 17, 76: 32} {
		require.Equal(t, width, decimalWidth(precision), precision)
	}
	require.Equal(t, [4]uint64{1e18}, decimalLimit(18))
	require.Equal(t, [4]uint64{0x98a224000000000, 0x4b3b4ca85a86c47a}, decimalLimit(38))
}

func TestDecimalWithin(t *testing.T) {
	limit := decimalLimit(20)
	one := column.Int256{1}
	for _, c := range []struct {
		x    column.Int256
		want bool
	}{
		{column.Int256{}, true},
		{one, true},
		{column.Int256{limit[0] - 1, limit[1]}, true},
		{column.Int256{limit[0], limit[1]}, false},
		{column.Int256{^limit[0] + 2, ^limit[1], ^uint64(0), ^uint64(0)}, true},  // 1 - 10^20
		{column.Int256{^limit[0] + 1, ^limit[1], ^uint64(0), ^uint64(0)}, false}, // -10^20
		{column.Int256{0, 0, 0, 1 << 63}, false},
		{column.Int256{0, 0, 1}, false},
	} {
		require.Equal(t, c.want, within(c.x, &limit), "%x", c.x)
	}
}

// TestLeavesOfNames selects the leaves of a column, or of a path in it, and not the leaves of a name that begins alike.
func TestLeavesOfNames(t *testing.T) {
	id := column.Of("id", []int64{1})
	b := column.NewBatch(column.Structs("s", id, column.Lists("list", []int32{0, 1}, id)), column.Of("st", []int64{1}), column.Of("s2", []int64{1}))
	s, err := newWriteSchema(b.Schema())
	require.NoError(t, err)
	for name, want := range map[string][]string{
		"s": {"s.id", "s.list.list.element"}, "s.id": {"s.id"}, "s.list": {"s.list.list.element"}, "st": {"st"}, "s2": {"s2"},
		"s.i": nil, "t": nil, "": nil, "s.": nil, "s.id.x": nil,
	} {
		leaves, err := s.leavesOf([]string{name})
		var got []string
		for _, leaf := range leaves {
			got = append(got, strings.Join(leaf.column.Path, "."))
		}
		require.Equal(t, want, got, name)
		if want == nil {
			require.ErrorIs(t, err, ErrNoColumn, name)
		}
	}
}

// TestFieldsHaveNoIDs: a reader that finds columns by ids would take one for another.
func TestFieldsHaveNoIDs(t *testing.T) {
	list := column.Field{Name: "l", Type: column.Type{Kind: column.List}, Fields: []column.Field{{Name: column.ElementName, Type: column.TypeOf[int64]()}}}
	object := column.Field{Name: "o", Type: column.Type{Kind: column.Struct}, Fields: []column.Field{list, {Name: "n", Type: column.TypeOf[int64]()}}}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, column.Schema{list, object, {Name: "v", Type: column.VectorOf(column.Float32, 2)}}, WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var walk func(n schema.Node)
	walk = func(n schema.Node) {
		require.EqualValues(t, -1, n.FieldID(), n.Path())
		if group, ok := n.(*schema.GroupNode); ok {
			for i := range group.NumFields() {
				walk(group.Field(i))
			}
		}
	}
	f, err := file.NewParquetReader(bytes.NewReader(buf.Bytes()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	root := f.MetaData().Schema.Root()
	for i := range root.NumFields() {
		walk(root.Field(i))
	}
}
