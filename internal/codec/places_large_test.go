// SPDX-License-Identifier: Apache-2.0

//go:build (linux || darwin) && (amd64 || arm64)

package codec

import (
	"math"
	"reflect"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Values of 2^31 bytes, whose memory is not touched.

// reservedBytes returns n bytes of memory that is only reserved: an access crashes.
func reservedBytes(t *testing.T, n int) []byte {
	t.Helper()
	room, err := syscall.Mmap(-1, 0, n, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(room)) })
	return room
}

// TestValuesBeyondTheLengthOfACellAreRefused has values of 2^31 bytes, which no code may touch, alone and in others.
func TestValuesBeyondTheLengthOfACellAreRefused(t *testing.T) {
	blob := reservedBytes(t, math.MaxInt32+1)
	text := unsafe.String(&blob[0], len(blob))
	pair := cql.TupleTypeInfo{Elems: []cql.TypeInfo{cqlText}}
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
	}{
		{native(cql.TypeBlob), blob},
		{cqlText, text},
		{cql.NewListType(cqlText), []string{text}},
		{cql.NewListType(native(cql.TypeBlob)), [][]byte{blob}},
		{cql.NewMapType(cqlInt, cqlText), map[int32]string{1: text}},
		{cql.NewMapType(cqlText, cqlText), map[string]string{"": text}},
		{pair, []string{text}},
		{vectorOf(cqlText, 1), []string{text}},
		{vectorOf(cqlInt, 1<<29), unsafe.Slice((*int32)(unsafe.Pointer(&blob[0])), 1<<29)},
		{cql.NewListType(cqlInt), unsafe.Slice((*int32)(unsafe.Pointer(&blob[0])), 1<<28)},
	} {
		for name, encode := range map[string]Encoder{"AppendCell": AppendCell, "plan": EncoderOf(c.info, reflect.TypeOf(c.v))} {
			if name == "AppendCell" && !canBeKey(c.info) {
				continue // the reference copies the value first
			}
			_, err := encode(nil, c.info, c.v)
			require.ErrorIs(t, err, cql.ErrRange, "%s: %v", name, c.info)
			require.ErrorContains(t, err, "more than 2147483647 bytes", "%s: %v", name, c.info)
		}
	}
	_, err := AppendContent(nil, blob)
	require.ErrorIs(t, err, cql.ErrRange)
	_, _, err = AppendMarshal(nil, vectorOf(cqlInt, 1<<29), unsafe.Slice((*int32)(unsafe.Pointer(&blob[0])), 1<<29))
	require.ErrorIs(t, err, cql.ErrRange)
}

// TestColumnsBeyondTheirOffsetsAreRefused appends one byte to 2^31-1.
func TestColumnsBeyondTheirOffsetsAreRefused(t *testing.T) {
	n := newDecodeNode(ColumnField("v", cql.NewListType(cqlText)), cql.NewListType(cqlText))
	for size, want := range map[int]error{math.MaxInt32: nil, math.MaxInt32 + 1: column.ErrTooLarge} {
		var c column.Column
		n.reset(&c)
		c.Children[0].Values = reservedBytes(t, size)
		room := pageRoom{left: 1 << 20}
		require.ErrorIs(t, n.append(&c, hexBytes(t, "0000000100000000"), &room), want)
	}
}

// TestColumnOfCellsHasTheBytesThatItsOffsetsCount fills a column up to its last byte. Its memory is only reserved: a
// copy of it would crash.
func TestColumnOfCellsHasTheBytesThatItsOffsetsCount(t *testing.T) {
	room := reservedBytes(t, math.MaxInt32)
	c := column.Column{Name: "c", Type: CellType, Len: 1, Values: room, Offsets: []int32{0, math.MaxInt32}, Validity: []byte{1}}
	require.NoError(t, AppendCellRow(&c, []byte{}))
	require.NoError(t, AppendCellRow(&c, nil))
	require.ErrorIs(t, AppendCellRow(&c, []byte{1}), column.ErrTooLarge)
	require.Equal(t, 3, c.Len)
	require.Equal(t, []int32{0, math.MaxInt32, math.MaxInt32, math.MaxInt32}, c.Offsets)
}

func TestDimensionsBeyondMemoryAreOutOfRange(t *testing.T) {
	info := vectorOf(native(cql.TypeBoolean), 1<<40)
	require.ErrorIs(t, ReferenceDecode(info, []byte{1}, new([]bool)), cql.ErrRange)
}
