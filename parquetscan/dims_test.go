// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// The decision which lists are vectors.

// TestFooterDimensions decides by the numbers of rows and elements in footers whether lists are vectors: a dimension is
// one positive integer for all row groups that have rows.
func TestFooterDimensions(t *testing.T) {
	list := column.Type{Kind: column.List}
	for _, c := range []struct {
		groups [][2]int64 // rows and elements
		limit  int
		want   column.Type
	}{
		{[][2]int64{{3, 6}}, 0, column.VectorOf(column.Float32, 2)},
		{[][2]int64{{3, 6}, {2, 4}}, 0, column.VectorOf(column.Float32, 2)},
		{[][2]int64{{0, 0}, {3, 3}, {0, 0}}, 0, column.VectorOf(column.Float32, 1)},
		{[][2]int64{{3, 6}, {2, 6}}, 0, list},
		{[][2]int64{{3, 7}}, 0, list},
		{[][2]int64{{3, 0}}, 0, list},
		{[][2]int64{{3, -6}}, 0, list},
		{[][2]int64{{0, 5}, {3, 15}}, 0, list},
		{[][2]int64{{1, math.MaxInt32}}, 0, column.VectorOf(column.Float32, 0)}, // no batch can have it
		{[][2]int64{{1, math.MaxInt32 + 1}}, 0, list},
		{[][2]int64{{3, 6}}, 8, column.VectorOf(column.Float32, 2)},
		{[][2]int64{{3, 6}}, 7, column.VectorOf(column.Float32, 0)},
	} {
		var groups []rawGroup
		for _, g := range c.groups {
			v := handColumn{name: "v", physical: physicalFloat, converted: convertedNever, repetition: repeated, values: g[1]}
			n := numberColumn(plainPage(int(g[0]), int64s(0, int(g[0]))))
			n.values = g[0]
			groups = append(groups, rawGroup{g[0], []handColumn{v, n}})
		}
		s := scanOf(t, openSources(t, Config{}, rawFile(groups...)), Options{MaxBatchBytes: c.limit})
		require.Equal(t, c.want, s.Schema()[0].Type, "%v", c.groups)
	}
}

// TestNamedVectorsOfOtherDimensions reads a column in Options.Vectors whose files have different fixed lengths by
// Arrow's schema: the first row that is not NULL decides.
func TestNamedVectorsOfOtherDimensions(t *testing.T) {
	of := func(dim int32, json string) []byte {
		return arrowFile(t, arrow.FixedSizeListOf(dim, arrow.PrimitiveTypes.Int32), json, "own")
	}
	d := openSources(t, Config{}, of(3, `[null,null]`), of(2, `[[1,2],[3,4]]`))
	rows := 0
	s := scanOf(t, d, Options{Vectors: []string{"v"}})
	for b, err := range s.Batches(t.Context(), everything(s)) {
		require.NoError(t, err)
		rows += b.Rows
	}
	require.Equal(t, 4, rows)
	require.Equal(t, column.VectorOf(column.Int32, 2), s.Schema()[0].Type)
}

// TestSchemaOfNestedVectors reads the schemas of lists of a fixed length in a struct: vectors in the schema of a Scan,
// and lists in the schemas of a Dataset and of a Scan that reads lists.
func TestSchemaOfNestedVectors(t *testing.T) {
	element := arrow.PrimitiveTypes.Int32
	typ := arrow.StructOf(
		arrow.Field{Name: "n", Type: element, Nullable: true}, arrow.Field{Name: "a", Type: arrow.FixedSizeListOf(3, element), Nullable: true},
		arrow.Field{Name: "b", Type: arrow.ListOf(element), Nullable: true},
	)
	d := openSources(t, Config{}, arrowFile(t, typ, `[{"n":1,"a":[1,2,3],"b":[4]},{"n":1,"a":[5,6,7],"b":[4]}]`, "own"))
	for _, o := range []Options{{}, {Lists: []string{"v"}}} {
		s := scanOf(t, d, o)
		want := column.VectorOf(column.Int32, 3)
		if o.Lists != nil {
			want = column.Type{Kind: column.List}
		}
		for b, err := range s.Batches(t.Context(), everything(s)) {
			require.NoError(t, err)
			require.Equal(t, b.Schema().String(), s.Schema().String())
		}
		fields := s.Schema()[0].Fields
		require.Equal(t, []column.Type{column.TypeOf[int32](), want, {Kind: column.List}}, []column.Type{fields[0].Type, fields[1].Type, fields[2].Type})
		require.Equal(t, column.List, d.Schema()[0].Fields[1].Type.Kind, "a Scan does not change the schema of its Dataset")
	}
}
