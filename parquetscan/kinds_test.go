// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/base64"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Kinds from Arrow's schema in the footer, and schemas that do not fit the file.

// unmarked returns a file without Arrow's schema: it overwrites the key in the footer.
func unmarked(file []byte) []byte {
	return bytes.ReplaceAll(file, []byte(footer.ArrowSchemaKey), []byte("arrow_schema"))
}

// arrowFile returns a file of one column, which arrow-go writes from JSON, with or without the schema in the footer, or
// with another one.
func arrowFile(t testing.TB, typ arrow.DataType, json, schema string) []byte {
	t.Helper()
	sc := arrow.NewSchema([]arrow.Field{{Name: "v", Type: typ, Nullable: true}}, nil)
	arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, bytes.NewReader([]byte(json)))
	require.NoError(t, err)
	defer arr.Release()
	rec := array.NewRecordBatch(sc, []arrow.Array{arr}, int64(arr.Len()))
	defer rec.Release()
	props := pqarrow.DefaultWriterProps()
	if schema == "own" {
		props = pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
	}
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(sc, &buf, parquet.NewWriterProperties(), props)
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	if schema != "own" && schema != "" {
		require.NoError(t, w.AppendKeyValueMetadata(footer.ArrowSchemaKey, schema))
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// firstBatch reads a file of one batch.
func firstBatch(t testing.TB, file []byte, o Options) (*column.Batch, error) {
	t.Helper()
	s, err := openSources(t, Config{}, file).Scan(o)
	if err != nil {
		return nil, err
	}
	for b, err := range s.Batches(context.Background(), everything(s)) {
		if err == nil {
			require.NoError(t, b.Check())
		}
		return b, err
	}
	return nil, nil
}

func TestFixedSizeLists(t *testing.T) {
	fixed := func(elem arrow.DataType) arrow.DataType { return arrow.FixedSizeListOf(2, elem) }
	ints, floats := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float32
	for name, c := range map[string]struct {
		typ     arrow.DataType
		json    string
		schema  string
		options Options
		want    column.Type
	}{
		"int32":           {fixed(ints), `[[1,2],[3,4]]`, "own", Options{}, column.VectorOf(column.Int32, 2)},
		"int64":           {fixed(arrow.PrimitiveTypes.Int64), `[[1,2],[3,4]]`, "own", Options{}, column.VectorOf(column.Int64, 2)},
		"int8":            {fixed(arrow.PrimitiveTypes.Int8), `[[1,2],[3,4]]`, "own", Options{}, column.Type{Kind: column.List}},
		"NULL element":    {fixed(ints), `[[1,2],[3,null]]`, "own", Options{}, column.Type{Kind: column.List}},
		"lists":           {fixed(ints), `[[1,2],[3,4]]`, "own", Options{Lists: []string{"v"}}, column.Type{Kind: column.List}},
		"without schema":  {fixed(ints), `[[1,2],[3,4]]`, "", Options{}, column.Type{Kind: column.List}},
		"named":           {fixed(ints), `[[1,2],[3,4]]`, "", Options{Vectors: []string{"v"}}, column.VectorOf(column.Int32, 2)},
		"list of int32":   {arrow.ListOf(ints), `[[1,2],[3,4]]`, "own", Options{}, column.Type{Kind: column.List}},
		"list of float32": {arrow.ListOf(floats), `[[1,2],[3,4]]`, "own", Options{}, column.VectorOf(column.Float32, 2)},
		"ragged":          {arrow.ListOf(floats), `[[1,2],[3,4,5]]`, "own", Options{}, column.Type{Kind: column.List}},
		"even on average": {arrow.ListOf(floats), `[[1],[3,4,5]]`, "own", Options{}, column.Type{Kind: column.List}},
		"all NULL":        {arrow.ListOf(floats), `[null,null]`, "own", Options{}, column.VectorOf(column.Float32, 0)},
		"all empty":       {arrow.ListOf(floats), `[[],[]]`, "own", Options{}, column.Type{Kind: column.List}},
		"not base64":      {fixed(floats), `[[1,2],[3,4]]`, "?", Options{}, column.VectorOf(column.Float32, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := firstBatch(t, arrowFile(t, c.typ, c.json, c.schema), c.options)
			require.NoError(t, err)
			require.Equal(t, c.want, b.Columns[0].Type)
		})
	}
	_, err := firstBatch(t, arrowFile(t, fixed(ints), `[[1,2],[3,null]]`, "own"), Options{Vectors: []string{"v"}})
	require.ErrorIs(t, err, ErrRagged)
	_, err = firstBatch(t, arrowFile(t, ints, `[1]`, "own"), Options{Vectors: []string{"v"}})
	require.ErrorContains(t, err, "Vectors: column v is int32, not lists of numbers or UUIDs")
	_, err = firstBatch(t, arrowFile(t, ints, `[1]`, "own"), Options{Vectors: []string{"w"}})
	require.ErrorContains(t, err, "Vectors: column w is not read")
	_, err = firstBatch(t, arrowFile(t, fixed(ints), `[[1,2]]`, "own"), Options{Vectors: []string{"v"}, Lists: []string{"v"}})
	require.ErrorContains(t, err, "column v is in both Lists and Vectors")
}

// arrowSchemaOf returns the schema that a Writer of these columns stores.
func arrowSchemaOf(t testing.TB, schema column.Schema) string {
	t.Helper()
	s, err := newWriteSchema(schema)
	require.NoError(t, err)
	return encodeArrowSchema(s.fields)
}

// TestWrongArrowSchemas reads files with the Arrow schema of other data.
func TestWrongArrowSchemas(t *testing.T) {
	of := func(f column.Field) string {
		f.Name, f.Nullable = "v", true
		return arrowSchemaOf(t, column.Schema{f})
	}
	text := arrow.BinaryTypes.String
	list := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	vector := of(column.Field{Type: column.VectorOf(column.Int32, 3)})
	b, err := firstBatch(t, arrowFile(t, list, `[[1,2,3],null,[4,5,6]]`, vector), Options{})
	require.NoError(t, err)
	require.Equal(t, column.VectorOf(column.Int32, 3), b.Columns[0].Type)
	for _, json := range []string{`[[1,2,3],[4,5]]`, `[[1,2,3],[]]`, `[[1,2,3],[4,null,5]]`, `[[1,2],[3,4]]`} {
		b, err := firstBatch(t, arrowFile(t, list, json, vector), Options{})
		require.NoError(t, err)
		require.Equal(t, column.List, b.Columns[0].Type.Kind)
		nested := arrow.StructOf(arrow.Field{Name: "a", Type: list, Nullable: true})
		rows := `[{"a":` + json[1:len(json)-1]
		rows = `[` + `{"a":[1,2,3]},` + rows[1:bytes.Index([]byte(rows), []byte("]"))+1] + `},{"a":[1]}]`
		inner := of(column.Field{Type: column.Type{Kind: column.Struct}, Fields: []column.Field{
			{Name: "a", Type: column.VectorOf(column.Int32, 3), Nullable: true},
		}})
		b, err = firstBatch(t, arrowFile(t, nested, rows, inner), Options{})
		require.NoError(t, err)
		require.Equal(t, column.List, b.Columns[0].Children[0].Type.Kind)
		_, err = firstBatch(t, arrowFile(t, nested, rows, inner), Options{Vectors: []string{"v"}})
		require.ErrorIs(t, err, ErrRagged)
	}
	// A type without a fixed size, whatever its first field is.
	for _, kind := range []column.Kind{column.Int32, column.Uint8, column.Float64} {
		floats := arrowFile(t, arrow.ListOf(arrow.PrimitiveTypes.Float32), `[[1,2,3],null,[4,5,6]]`, of(column.Field{Type: column.Type{Kind: kind}}))
		require.False(t, openSources(t, Config{}, floats).files[0].Nodes[0].Fixed, kind)
	}
	for k := range footer.Extensions {
		if !k.HasText() {
			continue
		}
		_, err := firstBatch(t, arrowFile(t, text, `["what is this"]`, of(column.Field{Type: column.Type{Kind: k}})), Options{})
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, "column v: ")
		none := &Selector{Columns: []string{"v"}, New: func() func(*column.Batch, []int32) ([]int32, error) {
			return func(*column.Batch, []int32) ([]int32, error) { return nil, nil }
		}}
		_, err = firstBatch(t, arrowFile(t, text, `["what is this"]`, of(column.Field{Type: column.Type{Kind: k}})), Options{Selector: none})
		require.ErrorIs(t, err, ErrCorrupt, "a Selector gets values of the kind")
		// Types other than text do not change.
		b, err := firstBatch(t, arrowFile(t, arrow.PrimitiveTypes.Int32, `[1]`, of(column.Field{Type: column.Type{Kind: k}})), Options{})
		require.NoError(t, err)
		require.Equal(t, column.Int32, b.Columns[0].Type.Kind)
	}
	// NULLs of a dimension that exceeds every batch.
	huge := of(column.Field{Type: column.Type{Kind: column.Struct}, Fields: []column.Field{
		{Name: "a", Type: column.VectorOf(column.Int32, 1<<31-1), Nullable: true},
	}})
	nulls := arrowFile(t, arrow.StructOf(arrow.Field{Name: "a", Type: list, Nullable: true}), `[{"a":null},{"a":null}]`, huge)
	_, err = firstBatch(t, nulls, Options{})
	require.ErrorIs(t, err, ErrTooLarge)
	b, err = firstBatch(t, nulls, Options{Lists: []string{"v"}})
	require.NoError(t, err)
	require.Equal(t, 2, b.Columns[0].Children[0].Nulls)
	// Bytes that are not a schema.
	rng := rand.New(rand.NewPCG(1, 2))
	good, err := base64.StdEncoding.DecodeString(of(column.Field{Type: column.VectorOf(column.Float32, 3)}))
	require.NoError(t, err)
	for range 2000 {
		bad := bytes.Clone(good)
		for range 1 + rng.IntN(4) {
			bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		}
		nodes := []*footer.Node{{Field: column.Field{Name: "v", Type: column.Type{Kind: column.List}, Fields: make([]column.Field, 1)}, Children: []*footer.Node{
			{Field: column.Field{Name: "element", Type: column.Type{Kind: column.Float32}}, Leaf: &footer.Leaf{Type: column.Type{Kind: column.Float32}}},
		}}}
		footer.ApplyArrowSchema(nodes, base64.StdEncoding.EncodeToString(bad[:rng.IntN(len(bad)+1)]))
	}
}

// TestStoredAsText reads kinds that Parquet does not have: without the schema that marks them, and with arrow-go.
func TestStoredAsText(t *testing.T) {
	addr := netip.MustParseAddr("10.0.0.1").As4()
	inet := column.Column{Name: "v", Type: column.Type{Kind: column.Inet}, Len: 2, Values: addr[:], Offsets: []int32{0, 4, 4}}
	inet = inet.WithNulls([]bool{false, true})
	tuple := column.Tuples("t", inet, column.Of("", []int32{1, 2}))
	want := column.NewBatch(inet, tuple)
	file := writeBatches(t, want.Schema(), WriterOptions{}, want)
	require.Equal(t, want.Schema().String(), openSources(t, Config{}, file).Schema().String(), "fields of fields, too")
	b, err := firstBatch(t, unmarked(file), Options{})
	require.NoError(t, err)
	require.Equal(t, "v string?, t struct?[0 string? 1 int32?]", b.Schema().String())
	require.Equal(t, []string{"10.0.0.1", ""}, stringsOf(&b.Columns[0]))
	table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(file), parquet.NewReaderProperties(nil), pqarrow.ArrowReadProperties{},
		memory.DefaultAllocator)
	require.NoError(t, err)
	defer table.Release()
	require.Equal(t, "utf8", table.Column(0).DataType().String())
	require.Equal(t, arrow.STRUCT, table.Column(1).DataType().ID())

	// Filters cannot compare them.
	d := openSources(t, Config{}, file)
	for _, path := range []string{"v", "t.0"} {
		_, err := d.Scan(Options{Filter: Eq(path, "10.0.0.1")})
		require.ErrorIs(t, err, ErrFilter)
		require.ErrorContains(t, err, `filter on column "`+path+`"`)
		rows := 0
		for b, err := range scanOf(t, d, Options{Filter: NotNull(path)}).All(t.Context()) {
			require.NoError(t, err)
			require.Empty(t, column.Diff(b, want.Slice(0, 1)))
			rows += b.Rows
		}
		require.Equal(t, 1, rows)
		r, err := scanOf(t, d, Options{}).Range(path)
		require.NoError(t, err)
		require.Equal(t, Range{Nulls: -1}, r)
	}
}

// TestFilteredKinds reads every kind with a filter on another column.
func TestFilteredKinds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	fields := append([]column.Field{{Name: "keep", Type: column.Type{Kind: column.Bool}}}, columntest.Fields()...)
	want := columntest.Batch(r, fields, 300, 0.2)
	keep := valuesOf[bool](&want.Columns[0])
	file := writeBatches(t, want.Schema(), WriterOptions{PageBytes: 100, DataPageV2: true}, want)
	var kept []*column.Batch
	for i, k := range keep {
		if k {
			kept = append(kept, want.Slice(i, i+1))
		}
	}
	selected, err := column.Concat(kept...)
	require.NoError(t, err)
	var got []*column.Batch
	for b, err := range scanOf(t, openSources(t, Config{}, file), Options{Filter: Eq("keep", true), BatchRows: 70, Ordered: true}).All(t.Context()) {
		require.NoError(t, err)
		got = append(got, b)
	}
	all, err := column.Concat(got...)
	require.NoError(t, err)
	require.Empty(t, column.Diff(all, selected))
}
