// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Files of other and older writers: schemas from before the standard, incomplete and inconsistent footers, odd
// compression, encryption.

// A rawColumn is the values and levels to write to a leaf.
type rawColumn struct {
	values     any // []int32, []parquet.Int96, []parquet.ByteArray
	defs, reps []int16
}

// writeRaw writes a file of one row group.
func writeRaw(t *testing.T, fields schema.FieldList, columns []rawColumn, options ...parquet.WriterProperty) []byte {
	t.Helper()
	var buf bytes.Buffer
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	g, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	for _, c := range columns {
		column, err := g.NextColumn()
		require.NoError(t, err)
		switch v := c.values.(type) {
		case []int32:
			_, err = column.(*file.Int32ColumnChunkWriter).WriteBatch(v, c.defs, c.reps)
		case []parquet.Int96:
			_, err = column.(*file.Int96ColumnChunkWriter).WriteBatch(v, c.defs, c.reps)
		case []parquet.ByteArray:
			_, err = column.(*file.ByteArrayColumnChunkWriter).WriteBatch(v, c.defs, c.reps)
		}
		require.NoError(t, err)
		require.NoError(t, column.Close())
	}
	require.NoError(t, g.Close())
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func TestOldSchemas(t *testing.T) {
	type fields = schema.FieldList
	const (
		required = parquet.Repetition(0)
		optional = parquet.Repetition(1)
		repeated = parquet.Repetition(2)
	)
	group := func(name string, rep parquet.Repetition, of schema.ConvertedType, f ...schema.Node) schema.Node {
		n, err := schema.NewGroupNodeConverted(name, rep, f, of, -1)
		require.NoError(t, err)
		return n
	}
	i32 := func(name string, rep parquet.Repetition) schema.Node { return schema.NewInt32Node(name, rep, -1) }
	none, list := schema.ConvertedTypes.None, schema.ConvertedTypes.List
	// Three rows: two elements, none, one. An optional group adds a fourth row, which is NULL.
	two := rawColumn{[]int32{1, 2, 3}, []int16{1, 1, 0, 1}, []int16{0, 1, 0, 0}}
	twoOptional := rawColumn{[]int32{1, 2, 3}, []int16{2, 2, 1, 2, 0}, []int16{0, 1, 0, 0, 0}}
	plain, structs := []string{"[1,2]", "[]", "[3]"}, []string{"[[1],[2]]", "[]", "[[3]]"}
	for _, c := range []struct {
		name    string
		node    schema.Node
		columns []rawColumn
		typ     string
		want    []string
	}{
		{"no annotation", i32("a", repeated), []rawColumn{two}, "list<int32>", plain},
		{"no annotation, group", group("a", repeated, none, i32("x", required)), []rawColumn{two}, "list<struct<x:int32>>", structs},
		{"two levels", group("a", required, list, i32("element", repeated)), []rawColumn{two}, "list<int32>", plain},
		{
			"two levels, NULL", group("a", optional, list, i32("array", repeated)),
			[]rawColumn{twoOptional},
			"list<int32>", append(plain[:3:3], "null"),
		},
		{
			"array", group("a", required, list, group("array", repeated, none, i32("x", required))),
			[]rawColumn{two},
			"list<struct<x:int32>>", structs,
		},
		{
			"tuple", group("a", required, list, group("a_tuple", repeated, none, i32("x", required))),
			[]rawColumn{two},
			"list<struct<x:int32>>", structs,
		},
		{
			"another's tuple", group("a", required, list, group("b_tuple", repeated, none, i32("x", required))),
			[]rawColumn{two},
			"list<int32>", plain,
		},
		{
			"any name", group("a", required, list, group("bag", repeated, none, i32("array_element", required))),
			[]rawColumn{two},
			"list<int32>", plain,
		},
		{
			"two fields", group("a", required, list, group("bag", repeated, none, i32("x", required), i32("y", required))),
			[]rawColumn{two, two},
			"list<struct<x:int32,y:int32>>",
			[]string{"[[1,1],[2,2]]", "[]", "[[3,3]]"},
		},
		{
			"lists of two levels", group("a", required, list, group("array", repeated, list, i32("array", repeated))),
			[]rawColumn{{[]int32{1, 2, 3, 4}, []int16{2, 2, 2, 1, 2, 0}, []int16{0, 2, 1, 1, 1, 0}}},
			"list<list<int32>>",
			[]string{"[[1,2],[3],[],[4]]", "[]"},
		},
		{
			"map", group("a", required, schema.ConvertedTypes.MapKeyValue, group("map", repeated, none, i32("k", required), i32("v", required))),
			[]rawColumn{two, two},
			"map<int32,int32>",
			[]string{"[[1,1],[2,2]]", "[]", "[[3,3]]"},
		},
		{
			"map with NULL as a key",
			group("a", required, schema.ConvertedTypes.Map, group("map", repeated, none, i32("k", optional), i32("v", required))),
			[]rawColumn{{[]int32{1, 3}, []int16{2, 1, 0, 2}, two.reps}, two},
			"map<int32,int32>",
			[]string{"[[1,1],[null,2]]", "[]", "[[3,3]]"},
		},
		{
			"map without values", group("a", required, schema.ConvertedTypes.Map, group("key_value", repeated, none, i32("key", required))),
			[]rawColumn{two},
			"list<int32>", plain,
		},
		{
			"map of numbers", group("a", required, schema.ConvertedTypes.Map, i32("x", repeated)),
			[]rawColumn{two},
			"struct<x:list<int32>>",
			[]string{"[[1,2]]", "[[]]", "[[3]]"},
		},
		{
			"map of nothing that repeats", group("a", required, schema.ConvertedTypes.Map, i32("x", required)),
			[]rawColumn{{values: []int32{1, 2}}},
			"struct<x:int32>",
			[]string{"[1]", "[2]"},
		},
		{
			"map of three fields",
			group("a", required, schema.ConvertedTypes.Map, group("m", repeated, none, i32("k", required), i32("v", required), i32("w", required))),
			[]rawColumn{two, two, two},
			"struct<m:list<struct<k:int32,v:int32,w:int32>>>",
			[]string{"[[[1,1,1],[2,2,2]]]", "[[]]", "[[[3,3,3]]]"},
		},
		{
			"list of nothing that repeats", group("a", required, list, i32("x", required)),
			[]rawColumn{{values: []int32{1, 2, 3}}},
			"struct<x:int32>",
			[]string{"[1]", "[2]", "[3]"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openBytes(t, writeRaw(t, fields{c.node}, c.columns))
			require.Equal(t, c.typ, typeText(d.Schema()[0]))
			rows, err := readTexts(d, Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, rows[0])
			requireEqual(t, d, Options{BatchRows: 1})
		})
	}
}

// footerOf returns a file's footer, for changes in place.
func footerOf(b []byte) []byte {
	return b[len(b)-8-int(binary.LittleEndian.Uint32(b[len(b)-8:])) : len(b)-8]
}

func TestFooterWithoutNumRows(t *testing.T) {
	b := writeRaw(t, schema.FieldList{schema.NewInt32Node("a", parquet.Repetitions.Required, -1)}, []rawColumn{{values: []int32{1, 2, 3}}})
	r := thrift.Reader{B: footerOf(b)}
	for id, typ, ok := r.Field(0); id != 3; id, typ, ok = r.Field(id) { // FileMetaData.num_rows
		require.True(t, ok)
		r.Skip(typ, 1)
	}
	require.EqualValues(t, 6, r.B[r.Pos])
	r.B[r.Pos] = 0
	d := openBytes(t, b)
	require.EqualValues(t, 3, d.NumRows())
	rows, err := readTexts(d, Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, rows[0])
	r.B[r.Pos] = 4
	_, err = readAll(b, Options{})
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestUnknownLogicalTypes(t *testing.T) {
	// The string type is {1: {}}, field 10 of a SchemaElement: after fields 4 and 6 here, and after 4.
	required := parquet.Repetitions.Required
	text := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("a", required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
	b := writeRaw(t, schema.FieldList{text, schema.NewInt32Node("b", required, -1)}, []rawColumn{
		{values: []parquet.ByteArray{[]byte("x"), []byte("yz")}}, {values: []int32{1, 2}},
	})
	known := []byte{0x4c, 0x1c, 0, 0} // field 6+4, a struct of field 1, a struct
	at := bytes.Index(footerOf(b), known)
	require.Positive(t, at)
	require.Equal(t, column.String, openBytes(t, b).Schema()[0].Type.Kind)
	for name, change := range map[string]func(union []byte){
		"9, which never was":   func(u []byte) { u[1] = 0x9c },
		"another kind of type": func(u []byte) { u[1] = 0x95; u[2] = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			c := bytes.Clone(b)
			change(footerOf(c)[at:])
			d := openBytes(t, c)
			require.Equal(t, "string", typeText(d.Schema()[0]), "the converted type still holds")
			rows, err := readTexts(d, Options{})
			require.NoError(t, err)
			require.Equal(t, [][]string{{`"x"`, `"yz"`}, {"1", "2"}}, rows)
		})
	}
}

func TestInt96(t *testing.T) {
	fields := schema.FieldList{schema.NewInt96Node("a", parquet.Repetitions.Required, -1)}
	early, late := parquet.NewInt96([3]uint32{0, 0, 2440588 - 106_751}), parquet.NewInt96([3]uint32{1, 0, 2440588 + 106_751})
	file := writeRaw(t, fields, []rawColumn{{values: []parquet.Int96{early, late, parquet.NewInt96([3]uint32{0, 0, 2440588})}}})
	rows, err := readTexts(openBytes(t, file), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"-9223286400000000000", "9223286400000000001", "0"}, rows[0])
	for _, bad := range []parquet.Int96{
		// the years 2262 and 1677
		parquet.NewInt96([3]uint32{0, 0, 2440588 + 106_752}), parquet.NewInt96([3]uint32{0, 0, 2440588 - 106_752}),
		parquet.NewInt96([3]uint32{0, 1 << 31, 2440588}), parquet.NewInt96([3]uint32{0, 0, 1 << 31}),
		parquet.NewInt96([3]uint32{1 << 31, 40_000, 2440588 + 106_751}),
	} {
		file := writeRaw(t, fields, []rawColumn{{values: []parquet.Int96{early, bad}}}, parquet.WithDictionaryDefault(false))
		_, err := readTexts(openBytes(t, file), Options{})
		var e *Error
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, ErrOutOfRange)
		require.EqualValues(t, 1, e.Row)
	}
}

// TestPagesOutliveTheWindow reads pages that are not compressed through a window that moves while a page is in use: a
// batch of both pages depends on whether the next page has codes.
func TestPagesOutliveTheWindow(t *testing.T) {
	values := make([]parquet.ByteArray, 300)
	want := make([]string, len(values))
	for i := range values {
		values[i] = []byte(fmt.Sprintf("%04d", i))
		want[i] = fmt.Sprintf("%q", values[i])
	}
	for _, dictionary := range []bool{false, true} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			b := writeRaw(t, schema.FieldList{schema.NewByteArrayNode("a", parquet.Repetitions.Required, -1)}, []rawColumn{{values: values}},
				parquet.WithDictionaryDefault(dictionary), parquet.WithDataPageVersion(version),
				parquet.WithDataPageSize(100), parquet.WithBatchSize(5))
			for _, size := range []int{1, 50, 128, 150, 200, 300, 1000} {
				source := Source{Name: "memory", Reader: bytes.NewReader(b), Size: int64(len(b))}
				d, err := Config{ReadBytes: size}.OpenSources(context.Background(), source)
				require.NoError(t, err)
				rows, err := readTexts(d, Options{Text: true})
				require.NoError(t, err)
				require.Equal(t, want, rows[0])
				rows, err = readTexts(d, Options{BatchRows: 64})
				require.NoError(t, err)
				require.Equal(t, want, rows[0])
				require.NoError(t, d.Close())
			}
		}
	}
}

// TestAllOrderedIsWhole has workers that end long before the consumer.
func TestAllOrderedIsWhole(t *testing.T) {
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}
	d := openBytes(t, writeArrow(t, rand.New(rand.NewPCG(1, 1)), fields, 40, 0, 0, 10))
	for range 20 {
		s, err := d.Scan(Options{Ordered: true, Workers: 4, BatchRows: 5})
		require.NoError(t, err)
		rows := 0
		for b, err := range s.All(context.Background()) {
			require.NoError(t, err)
			require.EqualValues(t, rows, b.Source.FirstRow)
			rows += b.Rows
			time.Sleep(100 * time.Microsecond)
		}
		require.Equal(t, 40, rows)
	}
}

// encrypted writes rows of a column "plain", one encrypted with the footer's key and one with a key of its own.
func encrypted(t *testing.T, options ...parquet.EncryptOption) []byte {
	columns := parquet.ColumnPathToEncryptionPropsMap{
		"footer": parquet.NewColumnEncryptionProperties("footer"),
		"own":    parquet.NewColumnEncryptionProperties("own", parquet.WithKey(strings.Repeat("c", 16)), parquet.WithKeyID("kc")),
	}
	options = append(options, parquet.WithEncryptedColumns(columns), parquet.WithFooterKeyID("kf"))
	var fields []arrow.Field
	for _, name := range []string{"plain", "footer", "own"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	}
	props := parquet.NewFileEncryptionProperties(strings.Repeat("f", 16), options...)
	return writeArrow(t, rand.New(rand.NewPCG(1, 2)), fields, 1000, 0.1, 0, 10,
		parquet.WithEncryptionProperties(props), parquet.WithDataPageSize(40))
}

func openEncrypted(b []byte, cfg Config) (*Dataset, error) {
	return cfg.OpenSources(context.Background(), Source{Name: "encrypted", Reader: bytes.NewReader(b), Size: int64(len(b)), ETag: "1"})
}

func TestEncrypted(t *testing.T) {
	keys := keyRing{"kf": strings.Repeat("f", 16), "kc": strings.Repeat("c", 16)}
	for name, options := range map[string][]parquet.EncryptOption{
		"footer encrypted": nil, "footer plain": {parquet.WithPlaintextFooter()}, "CTR": {parquet.WithAlg(parquet.AesCtr)},
	} {
		t.Run(name, func(t *testing.T) {
			b := encrypted(t, options...)
			cache := NewCache(1 << 20)
			without, err := openEncrypted(b, Config{Cache: cache})
			if name == "footer plain" {
				require.NoError(t, err)
				_, err = readTexts(without, Options{Columns: []string{"plain"}})
				require.NoError(t, err)
				for _, column := range []string{"footer", "own"} {
					_, err = readTexts(without, Options{Columns: []string{column}})
					requireTyped(t, err)
					require.ErrorIs(t, err, ErrEncrypted)
				}
				require.NoError(t, without.Close())
			} else {
				requireTyped(t, err)
				require.ErrorIs(t, err, ErrEncrypted)
			}
			for _, wrong := range []keyRing{
				{},
				{"kf": keys["kf"]},
				{"kf": "short"},
				{"kf": strings.Repeat("x", 16), "kc": keys["kc"]},
				{"kf": keys["kf"], "kc": strings.Repeat("x", 16)},
			} {
				d, err := openEncrypted(b, Config{Decryption: wrong.keys()})
				if err == nil {
					_, err = readTexts(d, Options{})
					require.NoError(t, d.Close())
				}
				require.Error(t, err, wrong)
				requireTyped(t, err)
			}
			d, err := openEncrypted(b, Config{Cache: cache, Decryption: keys.keys()})
			require.NoError(t, err)
			defer d.Close()
			requireEqual(t, d, Options{})
			// Several goroutines read metadata and pages at once.
			s, err := d.Scan(Options{Workers: 8})
			require.NoError(t, err)
			rows := make([]int, 8)
			require.NoError(t, s.Borrow(context.Background(), nil, func(worker int, batch *column.Batch) error {
				rows[worker] += batch.Rows
				s.SplitByCount(3)
				return nil
			}))
			total := 0
			for _, n := range rows {
				total += n
			}
			require.Equal(t, 1000, total)
		})
	}
}
