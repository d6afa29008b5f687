// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Levels that contradict the schema or each other, in files made byte by byte.

// A treeElement is a SchemaElement of a tree, each group followed by its fields.
type treeElement struct {
	name       string
	physical   int64 // -1 of a group
	repetition int64
	converted  int64
	children   int64
}

// convertedList annotates a group as a list.
const convertedList = 3

// treeFile makes a file of one row group, whose columns are the leaves of a tree.
func treeFile(rows int64, tree []treeElement, columns ...handColumn) []byte {
	fields := int64(0)
	for i := 0; i < len(tree); fields++ {
		for open := int64(1); open > 0; i++ {
			open += tree[i].children - 1
		}
	}
	file := []byte(footer.Magic)
	w := newCompact()
	w.i32(1, 2)
	w.list(2, thrift.Struct, uint64(1+len(tree)))
	w.element("schema", -1, -1, convertedNever, fields)
	for _, e := range tree {
		w.element(e.name, e.physical, e.repetition, e.converted, e.children)
	}
	w.i64(3, rows)
	w.list(4, thrift.Struct, 1)
	w.open()
	w.list(1, thrift.Struct, uint64(len(columns)))
	for _, c := range columns {
		start := int64(len(file))
		file = append(file, bytes.Join(c.pages, nil)...)
		w.chunk(c, start, start, int64(len(file))-start)
	}
	w.i64(2, 1)
	w.i64(3, rows)
	w.end()
	return withFooter(file, w)
}

// levelRuns returns levels of a page V1, a run for each.
func levelRuns(levels ...byte) []byte {
	b := make([]byte, 4)
	for _, l := range levels {
		b = append(b, 1<<1, l)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// levelsPage returns a page of levels and values.
func levelsPage(reps, defs []byte, values ...byte) handColumn {
	var data []byte
	if reps != nil {
		data = levelRuns(reps...)
	}
	data = append(append(data, levelRuns(defs...)...), values...)
	return handColumn{physical: physicalFloat, values: int64(len(defs)), pages: [][]byte{plainPage(len(defs), data)}}
}

// TestDefinitionLevelsBeyondTheSchema has a level above the level of a value at each place of a column: it is neither a
// value nor a NULL.
func TestDefinitionLevelsBeyondTheSchema(t *testing.T) {
	structs := []treeElement{{"s", -1, optional, convertedNever, 1}, {"x", physicalFloat, optional, convertedNever, 0}}
	lists := []treeElement{
		{"s", -1, optional, convertedList, 1}, {"list", -1, repeated, convertedNever, 1}, {"element", physicalFloat, required, convertedNever, 0},
	}
	for i := range 4 {
		defs := []byte{2, 2, 2, 2}
		good := levelsPage(nil, defs, make([]byte, 16)...)
		goodList := levelsPage([]byte{0, 1, 0, 1}, defs, make([]byte, 16)...)
		defs[i] = 3
		bad := levelsPage(nil, defs, make([]byte, 16)...)
		badList := levelsPage([]byte{0, 1, 0, 1}, defs, make([]byte, 16)...)
		for _, o := range []Options{{}, {BatchRows: 1}, {Columns: []string{"s"}, Lists: []string{"s"}}, {Vectors: []string{"s"}}, {Columns: []string{"s.x"}}} {
			if o.Vectors == nil && o.Lists == nil {
				requireLevels(t, treeFile(4, structs, good), treeFile(4, structs, bad), o)
			}
			if len(o.Columns) == 0 || o.Columns[0] == "s" {
				requireLevels(t, treeFile(2, lists, goodList), treeFile(2, lists, badList), o)
			}
		}
	}
}

// requireLevels reads a file, and another that is corrupt.
func requireLevels(t *testing.T, good, bad []byte, o Options) {
	t.Helper()
	_, err := readError(t, good, Config{}, o)
	require.NoError(t, err)
	_, err = readError(t, bad, Config{}, o)
	require.ErrorIs(t, err, ErrCorrupt, "%+v", o)
	requireTyped(t, err)
}

// TestColumnsOfOneListHaveOneLength has a list of structs whose second field has other lengths than the first.
func TestColumnsOfOneListHaveOneLength(t *testing.T) {
	tree := []treeElement{
		{"s", -1, optional, convertedList, 1},
		{"list", -1, repeated, convertedNever, 1},
		{"element", -1, required, convertedNever, 2},
		{"x", physicalFloat, required, convertedNever, 0},
		{"y", physicalFloat, required, convertedNever, 0},
	}
	x := levelsPage([]byte{0, 1, 0, 1}, []byte{2, 2, 2, 2}, make([]byte, 16)...)
	for name, y := range map[string]handColumn{
		"fewer":       levelsPage([]byte{0, 1, 0}, []byte{2, 2, 2}, make([]byte, 12)...),
		"more":        levelsPage([]byte{0, 1, 0, 1, 1}, []byte{2, 2, 2, 2, 2}, make([]byte, 20)...),
		"fewer, NULL": levelsPage([]byte{0, 1, 0}, []byte{2, 2, 0}, make([]byte, 8)...),
		"none":        levelsPage([]byte{0, 0}, []byte{1, 1}),
	} {
		for _, o := range []Options{{}, {Columns: []string{"s"}, BatchRows: 1}} {
			_, err := readError(t, treeFile(2, tree, x, y), Config{}, o)
			require.ErrorIs(t, err, ErrCorrupt, name)
			_, err = readError(t, treeFile(2, tree, y, x), Config{}, o)
			require.ErrorIs(t, err, ErrCorrupt, name)
			_, err = readError(t, treeFile(2, tree, y, y), Config{}, o)
			require.NoError(t, err, name)
		}
	}
}

// TestLevelsOfABatchAreBounded has rows of NULLs, empty lists and lists of NULLs in a few bytes: what their levels take
// in memory is bounded.
func TestLevelsOfABatchAreBounded(t *testing.T) {
	const levels, limit = 1 << 24, 1 << 20
	run := func(n uint64, level byte) []byte {
		b := append(binary.AppendUvarint(make([]byte, 4), n<<1), level)
		binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
		return b
	}
	elements := []treeElement{
		{"s", -1, optional, convertedList, 1}, {"list", -1, repeated, convertedNever, 1}, {"element", physicalFloat, optional, convertedNever, 0},
	}
	inner := []treeElement{
		{"s", -1, optional, convertedList, 1},
		{"list", -1, repeated, convertedNever, 1},
		{"element", -1, optional, convertedList, 1},
		{"list", -1, repeated, convertedNever, 1},
		{"element", physicalFloat, optional, convertedNever, 0},
	}
	for name, c := range map[string]struct {
		tree []treeElement
		def  byte
	}{"NULL elements": {elements, 2}, "NULL lists within a list": {inner, 2}, "empty lists within a list": {inner, 3}, "lists of NULL": {inner, 4}} {
		reps := []byte{0, 0, 0, 0, 1 << 1, 0} // one row
		reps = append(binary.AppendUvarint(reps, (levels-1)<<1), 1)
		binary.LittleEndian.PutUint32(reps, uint32(len(reps)-4))
		page := plainPage(levels, append(reps, run(levels, c.def)...))
		file := treeFile(1, c.tree, handColumn{physical: physicalFloat, values: levels, pages: [][]byte{page}})
		for _, o := range []Options{{MaxBatchBytes: limit}, {MaxBatchBytes: limit, Lists: []string{"s"}}} {
			allocated, err := readError(t, file, Config{}, o)
			require.ErrorIs(t, err, ErrTooLarge, name)
			requireTyped(t, err)
			require.Less(t, allocated, uint64(8*limit), name)
		}
	}
}

// TestElementsOfNullListsAreNotWritten writes lists, maps, tuples and vectors of kinds that are stored as text, whose
// NULL rows have elements that are no values.
func TestElementsOfNullListsAreNotWritten(t *testing.T) {
	bytesOf := func(kind column.Kind, values ...string) column.Column {
		c, err := column.Strings("element", values).WithType(column.Type{Kind: kind})
		require.NoError(t, err)
		return c
	}
	good := map[column.Kind]string{column.Decimal: "\x00\x00\x00\x02\x7f", column.Varint: "\x05", column.Inet: "\x7f\x00\x00\x01"}
	bad := map[column.Kind]string{column.Decimal: "\x01", column.Varint: "", column.Inet: "\x01\x02"}
	nulls := []bool{false, true, false, true}
	for kind := range good {
		element := bytesOf(kind, good[kind], bad[kind], bad[kind], good[kind], bad[kind])
		offsets := []int32{0, 1, 3, 4, 5}
		list := column.Lists("c", offsets, element)
		key := column.Strings("key", []string{"a", "b", "c", "d", "e"})
		element.Name = "value"
		for _, c := range []column.Column{
			list.WithNulls(nulls), column.Maps("c", offsets, key, element).WithNulls(nulls),
			column.Tuples("c", bytesOf(kind, good[kind], bad[kind], good[kind], bad[kind])).WithNulls(nulls),
			column.Structs("c", list).WithNulls(nulls),
			column.Lists("c", []int32{0, 1, 2, 3, 4}, column.Lists("element", offsets, element)).WithNulls(nulls),
		} {
			if c.Type.Kind == column.Struct {
				c.Children[0].Name = "l"
			}
			b := column.NewBatch(c)
			file := writeBatches(t, b.Schema(), WriterOptions{}, b)
			d := openSources(t, Config{}, file)
			for got, err := range scanOf(t, d, Options{Lists: []string{"c"}}).All(t.Context()) {
				require.NoError(t, err)
				require.Empty(t, column.Diff(got, b), fmt.Sprint(kind, c.Type))
			}
		}
		// The same values where the row is not NULL are errors.
		for _, c := range []column.Column{list, column.Tuples("c", bytesOf(kind, bad[kind]))} {
			_, err := NewWriter(new(bytes.Buffer), column.NewBatch(c).Schema(), WriterOptions{})
			require.NoError(t, err)
			var out bytes.Buffer
			w, err := NewWriter(&out, column.NewBatch(c).Schema(), WriterOptions{})
			require.NoError(t, err)
			err = w.Write(column.NewBatch(c))
			if err == nil {
				err = w.Close()
			}
			require.Error(t, err, fmt.Sprint(kind, c.Type))
		}
	}
}
