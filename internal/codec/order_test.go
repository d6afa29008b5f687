// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/valuetest"
	"github.com/vecql/vecql/internal/wire"
)

// The order of sets and maps.

// sortedCell returns the content of a cell as a partition key has it.
func sortedCell(info cql.TypeInfo, content []byte) []byte {
	cell := append(wire.AppendInt(nil, int32(len(content))), content...)
	return NewSorter(info).SortCell(cell, 0)[4:]
}

// TestSortedAsOnServer encodes Go values whose elements are not sorted, by plan and by reference, and compares the
// sorted cells with those that Cassandra stores.
func TestSortedAsOnServer(t *testing.T) {
	n := 0
	for _, v := range valuetest.Stored() {
		for _, unsorted := range v.Unsorted {
			info, want := v.Info(), hex.EncodeToString(v.Sent())
			for range 5 { // Go maps have another order each time
				content, err := Marshal(info, unsorted)
				require.NoError(t, err, v.Name())
				require.Equal(t, want, hex.EncodeToString(sortedCell(info, content)), "%s: %v", v.Name(), unsorted)
				cell, err := ReferenceEncode(nil, info, unsorted)
				require.NoError(t, err, v.Name())
				require.Equal(t, want, hex.EncodeToString(sortedCell(info, cell[4:])), "%s: %v", v.Name(), unsorted)
				cell, err = EncoderOf(info, reflect.TypeOf(unsorted))(nil, info, unsorted)
				require.NoError(t, err, v.Name())
				require.Equal(t, want, hex.EncodeToString(sortedCell(info, cell[4:])), "%s: %v", v.Name(), unsorted)
			}
			n++
		}
	}
	require.Greater(t, n, 80)
}

// TestTuplesAndVectorsAreSorted encodes values whose sets a server would store as they are sent: the literal has the
// same bytes without a further step.
func TestTuplesAndVectorsAreSorted(t *testing.T) {
	n := 0
	for _, v := range valuetest.Stored() {
		if _, collection := v.Info().(cql.CollectionType); collection {
			continue
		}
		for _, unsorted := range v.Unsorted {
			content, err := Marshal(v.Info(), unsorted)
			require.NoError(t, err, v.Name())
			require.Equal(t, hex.EncodeToString(v.Sent()), hex.EncodeToString(content), v.Name())
			n++
		}
	}
	require.GreaterOrEqual(t, n, 4)
}

// TestNestedCollectionsAreSorted encodes collections of sets and maps by plan and by reference. Cassandra 6 stores what
// lies within a collection as it is sent.
func TestNestedCollectionsAreSorted(t *testing.T) {
	set := cql.NewSetType(native(cql.TypeInt))
	const one, two = "0000000400000001", "0000000400000002"
	const sortedSet, sortedMap = "00000014" + "00000002" + one + two, "00000024" + "00000002" + one + one + two + two
	type pair [2]int32
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
		want string
	}{
		{cql.NewSetType(set), [][]int32{{2, 1, 2}}, "00000001" + sortedSet},
		{cql.NewListType(set), [1]pair{{2, 1}}, "00000001" + sortedSet},
		{cql.NewListType(set), []any{[]any{2, 1}}, "00000001" + sortedSet},
		{cql.NewSetType(set), map[pair]struct{}{{2, 1}: {}}, "00000001" + sortedSet},
		{cql.NewMapType(set, set), map[pair][]int{{2, 1}: {2, 1}}, "00000001" + sortedSet + sortedSet},
		{cql.NewMapType(native(cql.TypeInt), set), map[int]map[int]struct{}{1: {2: {}, 1: {}}}, "00000001" + one + sortedSet},
		{
			cql.NewListType(cql.NewListType(cql.NewMapType(native(cql.TypeInt), native(cql.TypeInt)))),
			[][]map[int]int{{{1: 1, 2: 2}}},
			"00000001" + "0000002c" + "00000001" + sortedMap,
		},
	} {
		for range 5 { // Go maps have another order each time
			content, err := Marshal(c.info, c.v)
			require.NoError(t, err, "%v from %T", c.info, c.v)
			require.Equal(t, c.want, hex.EncodeToString(content), "%v from %T", c.info, c.v)
			cell, err := ReferenceEncode(nil, c.info, c.v)
			require.NoError(t, err, "%v from %T", c.info, c.v)
			require.Equal(t, c.want, hex.EncodeToString(cell[4:]), "%v from %T", c.info, c.v)
		}
	}
}

// TestTimeUUIDsAreSortedByTime sorts UUIDs of version 1, whose times differ in each of their 60 bits.
func TestTimeUUIDsAreSortedByTime(t *testing.T) {
	var times []uint64
	for bit := range 60 {
		times = append(times, 1<<bit-1, 1<<bit)
	}
	times = append(slices.Compact(times), 1<<60-1)
	cell := func(times []uint64) []byte {
		content := wire.AppendInt(nil, int32(len(times)))
		for _, at := range times {
			content = wire.AppendInt(content, 16)
			content = binary.BigEndian.AppendUint32(content, uint32(at))
			content = binary.BigEndian.AppendUint16(content, uint16(at>>32))
			content = binary.BigEndian.AppendUint16(content, uint16(at>>48)|1<<12)
			content = append(content, 0x80, 0, 0, 0, 0, 0, 0, 1)
		}
		return content
	}
	mixed := slices.Clone(times)
	rand.New(rand.NewPCG(5, 5)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for _, typ := range []cql.Type{cql.TypeTimeUUID, cql.TypeUUID} {
		require.Equal(t, cell(times), sortedCell(cql.NewSetType(native(typ)), cell(mixed)), typ)
	}
}

// TestSetsWithoutAPlanAreSorted encodes tuples and user-defined types whose sets only the reference encodes.
func TestSetsWithoutAPlanAreSorted(t *testing.T) {
	set := ptr(ptr([]int32{2, 1}))
	info := cql.NewSetType(cqlInt)
	require.Nil(t, PlanEncode(info, reflect.TypeOf(&set)))
	const sorted = "00000014" + "00000002" + "0000000400000001" + "0000000400000002"
	type fields struct{ S ***[]int32 }
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
	}{
		{cql.TupleTypeInfo{Elems: []cql.TypeInfo{info}}, fields{&set}},
		{cql.TupleTypeInfo{Elems: []cql.TypeInfo{info}}, []***[]int32{&set}},
		{cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "s", Type: info}}}, fields{&set}},
		{cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "s", Type: info}}}, map[string]***[]int32{"s": &set}},
	} {
		for _, got := range encodings(t, c.info, c.v) {
			require.Equal(t, sorted, hex.EncodeToString(got), "%v from %T", c.info, c.v)
		}
	}
}

// TestMalformedElementsAreSorted requires one order of elements, malformed ones included.
func TestMalformedElementsAreSorted(t *testing.T) {
	vectors := cql.NewSetType(cql.VectorType{SubType: native(cql.TypeText), Dimensions: 2})
	tuples := cql.NewSetType(cql.TupleTypeInfo{Elems: []cql.TypeInfo{cqlInt}})
	lists := cql.NewSetType(cql.NewListType(cqlInt))
	for _, c := range []struct {
		info cql.TypeInfo
		want []string // in order
	}{
		{vectors, []string{"", "\x01a", "\x01a\x01a", "\x01a\x01b", "\x01a\x05", "\x20", "\x30"}},
		{tuples, []string{"", "\x00\x00\x00\x04\xff\xff\xff\xff", "\x00\x00\x00\x04\x00\x00\x00\x01", "\x00\x00\x00\x04\x00\x00\x00\x01x", "\x00", "\x00\x00\x00\x09"}},
		{lists, []string{"", "\x00", "\x01", "\x00\x00\x00\x00", "\x00\x00\x00\x01", "\x00\x00\x00\x01\x00\x00\x00\x04\xff\xff\xff\xff", "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01", "\x00\x00\x00\x01\x00"}},
	} {
		cell := func(elements []string) []byte {
			content := wire.AppendInt(nil, int32(len(elements)))
			for _, e := range elements {
				content = append(wire.AppendInt(content, int32(len(e))), e...)
			}
			return content
		}
		want := cell(c.want)
		require.Equal(t, want, sortedCell(c.info, want), "%v", c.info)
		for seed := range uint64(20) {
			mixed := slices.Clone(c.want)
			rand.New(rand.NewPCG(seed, 1)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			require.Equal(t, want, sortedCell(c.info, cell(mixed)), "%v: %q", c.info, mixed)
		}
	}
}

// FuzzSorter sorts random cells: a cell that is malformed stays as it is, and a sorted cell is not changed again.
func FuzzSorter(f *testing.F) {
	var infos []cql.TypeInfo
	for _, v := range valuetest.Stored() {
		if info := v.Info(); NewSorter(info) != nil && v.Recorded().Cell != nil {
			f.Add(uint(len(infos)), v.Recorded().Cell)
			infos = append(infos, info)
		}
	}
	f.Fuzz(func(t *testing.T, n uint, content []byte) {
		info := infos[n%uint(len(infos))]
		before := bytes.Clone(content)
		once := bytes.Clone(sortedCell(info, content))
		require.Equal(t, before, content)
		require.LessOrEqual(t, len(once), len(content))
		require.True(t, slices.Equal(once, sortedCell(info, once)), "%v: %x, then %x", info, content, once)
	})
}
