// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Outputs that fail, and values that have no text.

// A fullDevice takes some bytes.
type fullDevice struct{ free int }

var errFull = errors.New("no space left")

func (d *fullDevice) Write(p []byte) (int, error) {
	if d.free -= len(p); d.free < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriterReturnsTheErrorOfItsOutput writes batches and blocks, few large and many small ones, until the output is
// full: the write that finds the error returns it, and each later one, and Close.
func TestWriterReturnsTheErrorOfItsOutput(t *testing.T) {
	for _, format := range []Format{CSV, JSON, Arrow} {
		for _, size := range []int{100, 100 << 10} {
			for _, encoded := range []bool{false, true} {
				name := fmt.Sprint(format, " ", size, " ", encoded)
				b := column.NewBatch(column.Strings("s", []string{strings.Repeat("x", size)}))
				o := WriterOptions{Format: format, Stream: true}
				device := &fullDevice{150 << 10}
				w, err := NewWriter(device, b.Schema(), o)
				require.NoError(t, err)
				block := Block{Batch: b}
				if encoded {
					e, err := NewEncoder(b.Schema(), o)
					require.NoError(t, err)
					block, err = e.Encode(b)
					require.NoError(t, err)
				}
				writes := 0
				for err == nil && writes < 3000 {
					err = block.Write(w)
					writes++
					require.Equal(t, device.free < 0, err != nil, "%s: write %d", name, writes)
				}
				require.ErrorIs(t, err, errFull, name)
				require.Greater(t, writes, 1, name)
				require.Error(t, block.Write(w), name)
				require.Error(t, w.Close(), name)
			}
		}
	}
}

// TestWriterRefusesABatchOfOtherColumns has each format, as a batch and as a block.
func TestWriterRefusesABatchOfOtherColumns(t *testing.T) {
	want := idsFrom(0, 1)
	for _, format := range formats {
		for name, b := range map[string]*column.Batch{
			"name": column.NewBatch(column.Of("other", []int64{1})), "fewer": {Rows: 1}, "more": column.NewBatch(want.Columns[0], want.Columns[0].As("more")),
		} {
			w, err := NewWriter(new(bytes.Buffer), want.Schema(), WriterOptions{Format: format})
			require.NoError(t, err)
			require.Error(t, w.Write(b), "%v %s", format, name)
			e, err := NewEncoder(want.Schema(), WriterOptions{Format: format})
			require.NoError(t, err)
			block, err := e.Encode(b)
			if format != Parquet { // its writer refuses the batch
				require.Error(t, err, "%v %s", format, name)
				require.Nil(t, block.text)
			}
		}
	}
}

// TestValuesWithoutTextAreRefused has values that are not of their type, or that the options cannot write, alone and in
// every place of other values.
func TestValuesWithoutTextAreRefused(t *testing.T) {
	typed := func(b []byte, typ column.Type) column.Column {
		c, err := column.Binaries("c", [][]byte{b}).WithType(typ)
		require.NoError(t, err)
		return c
	}
	stamp, err := column.Of("c", []int64{1500}).WithType(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	require.NoError(t, err)
	one := []int32{0, 1}
	for want, c := range map[string]column.Column{
		": [1 2 3] is not a value of inet":      typed([]byte{1, 2, 3}, kindOf(column.Inet)),
		": [0 0 0 1] is not a value of decimal": typed([]byte{0, 0, 0, 1}, kindOf(column.Decimal)),
		": [] is not a value of varint":         typed([]byte{}, kindOf(column.Varint)),
		": the text is not UTF-8":               column.Strings("c", []string{"\xff"}),
		": 1500 ms are not a number of 1s":      stamp,
	} {
		text := column.Of("text", []int32{1})
		for place, c := range map[string]column.Column{
			"alone": c, "list": column.Lists("l", one, c), "key": column.Maps("m", one, c, text), "value": column.Maps("m", one, text, c), "struct": column.Structs("s", text, c),
			"tuple": column.Tuples("t", c, text), "pair": column.Maps("m", one, column.Lists("l", one, c), text), "list in a list": column.Lists("l", one, column.Lists("l", one, c)),
		} {
			b := column.NewBatch(c)
			for _, format := range []Format{CSV, JSON} {
				o := WriterOptions{Format: format, Values: Values{Timestamp: Epoch, EpochUnit: time.Second, DecimalPoint: ','}}
				w, err := NewWriter(new(bytes.Buffer), b.Schema(), o)
				require.NoError(t, err)
				require.ErrorContains(t, w.Write(b), want, place)
				require.ErrorContains(t, w.Close(), want, "%s: the file is not complete", place)
				e, err := NewEncoder(b.Schema(), o)
				require.NoError(t, err)
				_, err = e.Encode(b)
				require.ErrorContains(t, err, want, place)
			}
			if want == ": 1500 ms are not a number of 1s" {
				continue // the text for a person has the default options
			}
			record := string(AppendRecord([]byte("before "), b, 0))
			require.True(t, strings.HasPrefix(record, "before no text\ncolumn ") && strings.HasSuffix(record, want), record)
		}
	}
}

// TestMapsOfNestedKeysReturn has keys that no name of an object can be.
func TestMapsOfNestedKeysReturn(t *testing.T) {
	words := column.Strings("", []string{"a", "b", "c"})
	for want, key := range map[string]column.Column{
		`[[[],"a"],[[1,2],"b"]]`:                        column.Lists("", []int32{0, 0, 2, 3}, column.Of("", []int32{1, 2, 3})),
		`[[[1,2],"a"],[[3,4],"b"]]`:                     column.Matrix("", []float32{1, 2, 3, 4, 5, 6}, 2),
		`[[[1,"a"],"a"],[[2,"b"],"b"]]`:                 column.Tuples("", column.Of("", []int32{1, 2, 3}), words),
		`[[{"x":1,"y":"a"},"a"],[{"x":2,"y":"b"},"b"]]`: column.Structs("", column.Of("x", []int32{1, 2, 3}), words.As("y")),
	} {
		b := column.NewBatch(column.Maps("m", []int32{0, 2, 3}, key, words))
		text := textOfBatch(t, b, WriterOptions{Format: JSON})
		require.Equal(t, `{"m":`+want+"}", strings.Split(text, "\n")[0])
		require.Empty(t, column.Diff(b, rowsOfText(t, Options{Format: JSON, Fields: b.Schema()}, text)))
		text = textOfBatch(t, b, WriterOptions{Format: CSV})
		require.Empty(t, column.Diff(b, rowsOfText(t, Options{Format: CSV, Fields: b.Schema()}, text)))
	}
}

// TestSizeCountsTheBytesOfValues has columns of each kind, and slices of them.
func TestSizeCountsTheBytesOfValues(t *testing.T) {
	words := column.Strings("c", []string{"", "ab", "cde"})
	numbers := column.Of("c", []int16{1, 2, 3, 4, 5})
	for _, c := range []struct {
		column column.Column
		want   [4]int // of the first rows
	}{
		{column.Of("c", []int64{1, 2, 3}), [4]int{0, 8, 16, 24}},
		{column.Matrix("c", []float32{1, 2, 3, 4, 5, 6}, 2), [4]int{0, 8, 16, 24}},
		{words, [4]int{0, 4, 4 + 4 + 2, 4 + 4 + 4 + 2 + 3}},
		{column.Codes("c", []uint32{0, 0, 0}, column.NewDictionary([]byte("abcdef"), []int32{0, 6})), [4]int{0, 4, 8, 12}},
		{column.Lists("c", []int32{0, 0, 2, 5}, numbers), [4]int{0, 0, 4, 10}},
		{column.Maps("c", []int32{0, 0, 2, 3}, column.Of("", []int64{1, 2, 3}), words), [4]int{0, 0, 8 + 8 + 4 + 4 + 2, 24 + 12 + 5}},
		{column.Structs("c", column.Of("a", []int8{1, 2, 3}), words.As("b")), [4]int{0, 5, 2 + 8 + 2, 3 + 12 + 5}},
	} {
		b := column.NewBatch(c.column)
		for i := range 4 {
			require.Equal(t, c.want[i], Size(b.Slice(0, i)), "%v, %d rows", c.column.Type, i)
			require.Equal(t, c.want[3]-c.want[i], Size(b.Slice(i, 3)), "%v, from row %d", c.column.Type, i)
		}
	}
}

// TestFolderWithoutRowsHasOneFile has the columns in it, unless there are files of an earlier run.
func TestFolderWithoutRowsHasOneFile(t *testing.T) {
	schema := column.Schema{fieldOf("n", kindOf(column.Int32)), fieldOf("s", kindOf(column.String))}
	for _, c := range []struct {
		first int
		want  []string
	}{{0, []string{"part-000000.csv"}}, {3, nil}} {
		folder := t.TempDir()
		p, err := NewParts(folder, schema, PartsOptions{WriterOptions: WriterOptions{Format: CSV}, First: c.first})
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.NoError(t, p.Close(), "again")
		require.Equal(t, c.want, namesIn(t, folder))
		if c.first == 0 {
			require.Equal(t, []string{"n", "s"}, readAllNames(t, filepath.Join(folder, c.want[0])))
		}
	}
}

// readAllNames returns the names of the columns of a file without rows.
func readAllNames(t *testing.T, path string) []string {
	t.Helper()
	in, err := Open(Options{Fields: column.Schema{}}, path)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
	}
	return in.Unused()
}

// TestCutFileIsNotFollowedByAnEmptyOne closes a folder whose last file is complete.
func TestCutFileIsNotFollowedByAnEmptyOne(t *testing.T) {
	folder := t.TempDir()
	b := idsFrom(0, 2)
	p, err := NewParts(folder, b.Schema(), PartsOptions{WriterOptions: WriterOptions{Format: CSV}})
	require.NoError(t, err)
	require.NoError(t, p.Write(b))
	require.NoError(t, p.Cut())
	require.NoError(t, p.Write(b.Slice(0, 0)))
	require.NoError(t, p.Close())
	require.Equal(t, []string{"part-000000.csv"}, namesIn(t, folder))
	require.Equal(t, 1, p.Files())
}

// TestPartThatCannotBeBegun has no folder any more.
func TestPartThatCannotBeBegun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	b := idsFrom(0, 2)
	p, err := NewParts(folder, b.Schema(), PartsOptions{WriterOptions: WriterOptions{Format: CSV}})
	require.NoError(t, err)
	require.NoError(t, os.Remove(folder))
	require.ErrorIs(t, p.Write(b), os.ErrNotExist)
	require.ErrorIs(t, p.Close(), os.ErrNotExist)
	require.Zero(t, p.Files())
}

func TestTextOfUUIDs(t *testing.T) {
	id, err := cql.ParseUUID("123e4567-e89b-12d3-a456-426614174000")
	require.NoError(t, err)
	b := column.NewBatch(column.Of("id", []cql.UUID{id}))
	require.Equal(t, "id\n123e4567-e89b-12d3-a456-426614174000\n", textOfBatch(t, b, WriterOptions{}))
}

// TestSchemaThatAFormatDoesNotHave is refused before a byte is written.
func TestSchemaThatAFormatDoesNotHave(t *testing.T) {
	schema := column.Schema{{Name: "x", Type: column.Type{Kind: 250}}}
	for _, format := range []Format{Parquet, Arrow} {
		var out bytes.Buffer
		w, err := NewWriter(&out, schema, WriterOptions{Format: format})
		require.Error(t, err, format)
		require.Nil(t, w, format)
		require.Zero(t, out.Len(), format)
	}
	_, err := NewEncoder(schema, WriterOptions{Format: Arrow})
	require.Error(t, err)
}
