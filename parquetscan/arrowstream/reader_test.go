// SPDX-License-Identifier: Apache-2.0

package arrowstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// stream returns a stream of a schema with several types, and two record batches.
func stream(t testing.TB, opts ...ipc.Option) []byte {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "pair", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.Null, Nullable: true})},
		{Name: "view", Type: arrow.BinaryTypes.StringView},
	}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(opts, ipc.WithSchema(schema))...)
	for range 2 {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for i := range 100 {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			require.NoError(t, b.Field(1).(*array.BinaryDictionaryBuilder).AppendString([]string{"lamp", "cup"}[i%2]))
			tags := b.Field(2).(*array.ListBuilder)
			tags.Append(true)
			tags.ValueBuilder().(*array.StringBuilder).Append("x")
			b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(i))
			b.Field(4).(*array.StructBuilder).Append(true)
			b.Field(4).(*array.StructBuilder).FieldBuilder(0).AppendNull()
			b.Field(5).(*array.StringViewBuilder).Append("a text of more than twelve bytes")
		}
		require.NoError(t, w.Write(b.NewRecordBatch()))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// read reads a stream to its end and returns its rows.
func read(r io.Reader) (rows int64, err error) {
	records, err := NewReader(r)
	if err != nil {
		return 0, err
	}
	for records.Next() {
		rows += records.RecordBatch().NumRows()
	}
	return rows, records.Err()
}

func TestReadsWhatPackageIPCWrites(t *testing.T) {
	soak.NoRace(t)
	for name, opts := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		data := stream(t, opts...)
		for _, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), bytes.NewReader(data[:len(data)-8])} {
			rows, err := read(r)
			require.NoError(t, err, name)
			require.Equal(t, int64(200), rows, name)
		}
		for n := range data[:len(data)-8] {
			if _, err := read(bytes.NewReader(data[:n])); err == nil {
				rows, _ := read(bytes.NewReader(data[:n]))
				require.Contains(t, []int64{0, 100}, rows, "the stream ends after %d bytes, between messages", n)
			}
		}
		_, err := read(io.MultiReader(bytes.NewReader(data[:200]), iotest.ErrReader(errors.New("the disk is gone"))))
		require.ErrorContains(t, err, "the disk is gone")
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// most is the memory that a damaged stream of some KiB may take.
const most = 64 << 20

// TestClaimedLengthsAreNotAllocated writes great numbers over each place of streams.
func TestClaimedLengthsAreNotAllocated(t *testing.T) {
	soak.NoRace(t)
	failed := 0
	for _, opts := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
		data := stream(t, opts...)
		for at := 4; at+8 <= len(data); at += 4 {
			for _, v := range []uint64{1<<31 - 1, 1 << 40} {
				damaged := bytes.Clone(data)
				if v < 1<<31 {
					binary.LittleEndian.PutUint32(damaged[at:], uint32(v))
				} else {
					binary.LittleEndian.PutUint64(damaged[at:], v)
				}
				var err error
				require.Less(t, allocated(func() { _, err = read(bytes.NewReader(damaged)) }), uint64(most), "%d at %d", v, at)
				if err != nil {
					failed++
				}
			}
		}
	}
	require.Greater(t, failed, 500)
}

// TestRandomDamage changes some bytes of streams, most of them of their metadata.
func TestRandomDamage(t *testing.T) {
	data := stream(t)
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		damaged := bytes.Clone(data)
		for range 1 + r.IntN(6) {
			damaged[r.IntN(min(len(damaged), 1600*(1+r.IntN(4))))] = []byte{0, 1, 2, 4, 8, 0x7f, 0xff, 0xfe, byte(r.Uint32())}[r.IntN(9)]
		}
		if r.IntN(3) == 0 {
			at := r.IntN(len(damaged) - 4)
			damaged = append(damaged[:at], damaged[at+r.IntN(4):]...)
		}
		require.Less(t, allocated(func() { _, _ = read(bytes.NewReader(damaged)) }), uint64(most), seed)
	}
}

func TestDamagedMessages(t *testing.T) {
	data := stream(t)
	for name, damaged := range map[string][]byte{
		"length of the metadata": append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, data[8:]...),
		"negative length":        append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, data[8:]...),
		"no mark":                data[4:],
		"no metadata":            data[:8],
		"half of a mark":         data[:2],
	} {
		_, err := read(bytes.NewReader(damaged))
		require.ErrorIs(t, err, ErrDamaged, name)
	}
}

// FuzzReader reads damaged streams: an error or rows, in a bounded memory.
func FuzzReader(f *testing.F) {
	for _, opts := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
		f.Add(stream(f, opts...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := allocated(func() { _, _ = read(bytes.NewReader(data)) }); n > most+uint64(len(data))*64<<10 {
			t.Fatalf("%d bytes for a stream of %d", n, len(data))
		}
	})
}
