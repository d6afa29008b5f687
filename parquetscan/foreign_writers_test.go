// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Files as other writers make them, byte by byte.

// createdBy adds the name of a writer to a file whose footer has fields up to 4.
func createdBy(file []byte, writer string) []byte {
	end := len(file) - 8
	footer := file[end-int(binary.LittleEndian.Uint32(file[end:])) : end]
	w := &compactWriter{b: append([]byte{}, footer[:len(footer)-1]...), last: []int16{4}}
	w.text(6, writer)
	return withFooter(append([]byte{}, file[:end-len(footer)]...), w)
}

// TestPagesMarkedAsUncompressed reads pages V2 of parquet-cpp before Arrow 3.0, which marks compressed values as
// uncompressed (ARROW-17100). Other writers mean it.
func TestPagesMarkedAsUncompressed(t *testing.T) {
	levels := []byte{2<<1 | 1, 0b0111_1011, 0b0000_0001} // 9 rows, two of them NULL
	want := []int64{5, 6, -1, 7, 8, 9, 10, -1, 11}
	values := int64s(5, 7)
	codecs := compress.Codecs
	for _, kind := range []compress.Compression{codecs.Uncompressed, codecs.Snappy, codecs.Gzip, codecs.Brotli, codecs.Zstd, codecs.Lz4Raw} {
		compressed := encode(t, kind, values)
		file := func(values []byte, plain bool, writer string) []byte {
			h := rawHeader{typ: format.DataPageV2, n: 9, rows: 9, def: 3, plain: plain, uncompressed: 3 + 7*8}
			c := numberColumn(rawPage(h, append(append([]byte{}, levels...), values...)))
			c.codec, c.repetition = kind, optional
			return createdBy(oneColumn(9, c), writer)
		}
		for _, writer := range []string{"parquet-cpp version 1.5.1-SNAPSHOT", "parquet-cpp version 1.3.2", "parquet-cpp"} {
			for _, plain := range []bool{true, false} {
				require.Equal(t, want, readNumbers(t, file(compressed, plain, writer), Config{}), "%v of %s", kind, writer)
			}
		}
		for _, writer := range []string{"parquet-cpp-arrow version 3.0.0", "parquet-mr version 1.12.3 (build 1)", "parquet-cpp version 2.0.0", ""} {
			require.Equal(t, want, readNumbers(t, file(values, true, writer), Config{}), "%v of %s", kind, writer)
			require.Equal(t, want, readNumbers(t, file(compressed, kind == codecs.Uncompressed, writer), Config{}), "%v of %s", kind, writer)
		}
	}
}

// TestGroupsWithoutFields opens files whose schema has groups without fields: the other columns can be read, by name,
// in filters and counted; the group is a typed error that names it.
func TestGroupsWithoutFields(t *testing.T) {
	group := func(w *compactWriter, repetition int64, name string, fields int64) {
		w.open()
		w.i32(3, repetition)
		w.text(4, name)
		w.i32(5, fields)
		w.end()
	}
	file := []byte(footer.Magic)
	w := newCompact()
	w.i32(1, 2)
	w.list(2, thrift.Struct, 9)
	w.element("schema", -1, -1, convertedNever, 6)
	group(w, optional, "first", 0)
	w.element("a", physicalInt64, required, convertedNever, 0)
	group(w, required, "e", 0)
	group(w, required, "s", 2)
	group(w, optional, "inner", 0)
	w.element("b", physicalInt64, required, convertedNever, 0)
	group(w, repeated, "list", 0)
	w.element("c", physicalInt64, required, convertedNever, 0)
	w.i64(3, 3)
	w.list(4, thrift.Struct, 1)
	w.open()
	w.list(1, thrift.Struct, 3)
	for i := range 3 {
		start := int64(len(file))
		file = append(file, plainPage(3, int64s(10*i, 3))...)
		w.chunk(handColumn{name: "abc"[i : i+1], physical: physicalInt64, values: 3}, start, start, int64(len(file))-start)
	}
	w.i64(2, 1)
	w.i64(3, 3)
	w.end()
	d := openSources(t, Config{}, withFooter(file, w))
	require.Equal(t, []string{"first", "a", "e", "s", "list", "c"}, d.Schema().Names())
	read := func(o Options) (rows [][]int64, err error) {
		for b, err := range scanOf(t, d, o).All(t.Context()) {
			if err != nil {
				return nil, err
			}
			for i := range b.Columns {
				rows = append(rows, valuesOf[int64](&b.Columns[i]))
			}
		}
		return rows, nil
	}
	got, err := read(Options{Columns: []string{"c", "a", "s.b"}, Filter: Gt("a", 0)})
	require.NoError(t, err)
	require.Equal(t, [][]int64{{21, 22}, {1, 2}, {11, 12}}, got)
	count, err := scanOf(t, d, Options{Columns: []string{}}).Count(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, count)
	for _, o := range []struct {
		Options
		path string
	}{
		{Options{}, "first"},
		{Options{Columns: []string{"a", "e"}}, "e"},
		{Options{Columns: []string{"s"}}, "s.inner"},
		{Options{Columns: []string{"list"}}, "list"},
		{Options{Positions: []int{0}}, "first"},
	} {
		_, err := read(o.Options)
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, "group "+o.path+" has no fields; read the other columns")
		requireTyped(t, err)
	}
}
