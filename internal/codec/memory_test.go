// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"fmt"
	"math/big"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// Tests of memory: decoded values belong to the caller, and allocations stay within budgets.

// TestRetention scans rows into one variable, keeps every value, overwrites the cell after each row, and compares all
// values at the end. Values have memory of their own, or share the memory of a row with another value.
func TestRetention(t *testing.T) {
	const rows = 2000
	vec := func(elem cql.TypeInfo) cql.TypeInfo { return cql.VectorType{SubType: elem, Dimensions: 3} }
	native := func(typ cql.Type) cql.TypeInfo { return cql.NativeType(typ) }
	for _, c := range []struct {
		info cql.TypeInfo
		row  func(i int) any
	}{
		{vec(floatType), func(i int) any { return []float32{float32(i), 1, 2} }},
		{vec(floatType), func(i int) any { return embedding{float32(i), 1, 2} }},
		{vec(floatType), func(i int) any { return [3]float32{float32(i), 1, 2} }},
		{vec(native(cql.TypeDouble)), func(i int) any { return []float64{float64(i), 1, 2} }},
		{vec(intType), func(i int) any { return []int32{int32(i), 1, 2} }},
		{vec(native(cql.TypeBigInt)), func(i int) any { return []int64{int64(i), 1, 2} }},
		{vec(native(cql.TypeBigInt)), func(i int) any { return []int{i, 1, 2} }},
		{vec(native(cql.TypeUUID)), func(i int) any { return []cql.UUID{{byte(i), byte(i >> 8)}, {1}, {2}} }},
		{vec(native(cql.TypeTimeUUID)), func(i int) any { return []cql.UUID{{byte(i), byte(i >> 8)}, {1}, {2}} }},
		{vec(textType), func(i int) any { return []string{fmt.Sprint(i), "1", ""} }},
		{vec(vec(floatType)), func(i int) any { return [][]float32{{float32(i), 1, 2}, {3, 4, 5}, {6, 7, 8}} }},
		{textType, func(i int) any { return fmt.Sprint(i) }},
		{textType, func(i int) any { return ptr(fmt.Sprint(i)) }},
		{textType, func(i int) any { return cql.NullOf(fmt.Sprint(i)) }},
		{native(cql.TypeBlob), func(i int) any { return fmt.Append(nil, i) }},
		{native(cql.TypeInet), func(i int) any { return net.IP{10, 0, byte(i), byte(i >> 8)} }},
		{native(cql.TypeVarint), func(i int) any { return big.NewInt(int64(-i)) }},
		{native(cql.TypeVarint), func(i int) any { return *new(big.Int).Lsh(big.NewInt(int64(i+1)), 70) }},
		{native(cql.TypeDecimal), func(i int) any { return *inf.NewDec(int64(i), 3) }},
		{native(cql.TypeTimestamp), func(i int) any { return time.UnixMilli(int64(i)).UTC() }},
		{native(cql.TypeBigInt), func(i int) any { return ptr(ptr(int64(i))) }},
		{cql.NewListType(intType), func(i int) any { return []int32{int32(i), 1} }},
		{cql.NewListType(textType), func(i int) any { return []string{fmt.Sprint(i), "b"} }},
		{cql.NewListType(native(cql.TypeBlob)), func(i int) any { return [][]byte{fmt.Append(nil, i), {}} }},
		{cql.NewListType(cql.NewListType(intType)), func(i int) any { return [][]int32{{int32(i)}, {}} }},
		{cql.NewListType(textType), func(i int) any { return [2]string{fmt.Sprint(i), "b"} }},
		{cql.NewMapType(textType, intType), func(i int) any { return map[string]int32{fmt.Sprint(i): int32(i), "b": 2} }},
		{cql.NewMapType(intType, cql.NewListType(textType)), func(i int) any { return map[int32][]string{int32(i): {fmt.Sprint(i)}, -1: {"b"}} }},
		{cql.NewSetType(textType), func(i int) any { return map[string]struct{}{fmt.Sprint(i): {}} }},
		{pairType, func(i int) any { return pair{int32(i), fmt.Sprint(i)} }},
		{pairType, func(i int) any { return []any{int(i), fmt.Sprint(i)} }},
		{addressType, func(i int) any {
			return address{Street: fmt.Sprint(i), Number: i, Zip: ptr(int32(i)), Tags: []string{fmt.Sprint(i)}}
		}},
		{nestedType, func(i int) any { return nested{Emb: []float32{float32(i), 2}, Extra: fmt.Sprint(i)} }},
	} {
		for i, into := range []string{"own", "any", "own", "any"} {
			var memory *Shared
			if i >= 2 {
				memory = new(Shared)
			}
			t.Run(fmt.Sprintf("%s/%T/%s/%v", c.info, c.row(0), into, memory != nil), func(t *testing.T) {
				typ := reflect.TypeOf(c.row(0))
				encode := planEncoder(c.info, typ)
				if into == "any" {
					typ = reflect.TypeFor[any]()
				}
				require.NotNil(t, encode)
				dst := reflect.New(typ)
				plan := NewScanPlan(c.info, dst.Interface())
				require.NotNil(t, plan.Value)
				var kept []any
				var cell []byte
				for i := range rows {
					out, err := encode(cell[:0], c.info, c.row(i))
					require.NoError(t, err)
					cell = out
					if memory != nil {
						memory.NextRow()
						require.NoError(t, plan.Store(c.info, cell[4:], reflect.New(typ).Interface(), memory))
					}
					require.NoError(t, plan.Store(c.info, cell[4:], dst.Interface(), memory))
					kept = append(kept, dst.Elem().Interface())
					for j := range cell {
						cell[j] = 0xA5
					}
				}
				for i, v := range kept {
					if into == "own" && !same(v, c.row(i)) {
						t.Fatalf("row %d: got %#v, want %#v", i, v, c.row(i))
					}
					out, err := planEncoder(c.info, reflect.TypeOf(v))(nil, c.info, v)
					require.NoError(t, err)
					if want, _ := encode(nil, c.info, c.row(i)); len(want) != len(out) || reflect.TypeOf(v).Kind() != reflect.Map && !bytes.Equal(out, want) {
						t.Fatalf("row %d: got %x, want %x", i, out, want)
					}
				}
			})
		}
	}
}

// TestShared takes memory for rows. The values of a row that uses as much as the row before are in one block. No values
// overlap, and an append to one leaves the others.
func TestShared(t *testing.T) {
	var s Shared
	row := func(sizes ...int) (values [][]byte) {
		s.NextRow()
		require.Empty(t, s.block, "rows share no memory")
		for i, n := range sizes {
			b := s.take(n)
			require.Equal(t, make([]byte, n), b)
			require.NotNil(t, b)
			require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8*uintptr(n/8), "numbers are aligned")
			for j := range b {
				b[j] = byte(i + 1)
			}
			values = append(values, b)
		}
		for i, b := range values {
			require.Equal(t, bytes.Repeat([]byte{byte(i + 1)}, sizes[i]), b)
			_ = append(b, 0xA5)
		}
		for i, b := range values {
			require.Equal(t, bytes.Repeat([]byte{byte(i + 1)}, sizes[i]), b)
		}
		return values
	}
	inOneBlock := func(values [][]byte) bool {
		first, last := values[0], values[len(values)-1]
		distance := uintptr(unsafe.Pointer(&last[0])) - uintptr(unsafe.Pointer(&first[0]))
		return distance == uintptr(len(values)-1)*24
	}
	row(20, 20, 20)
	require.Empty(t, s.block, "the first row has no block: each value is allocated as it comes")
	require.True(t, inOneBlock(row(20, 20, 20)))
	s.NextRow()
	s.take(20)
	require.Len(t, s.block, 48, "the block has room for the values of a row like the last one")
	row(20, 20, 20)
	row(0, 1, 64, 65, 7, 8, 9)
	require.Equal(t, 8+64+8+8+16, s.used, "65 bytes have memory of their own")
	row(20)
	row(20, 20, 20, 20)
	require.Empty(t, s.block, "what the row before did not use is allocated as it comes")
	for range 2 {
		row(slices.Repeat([]int{64}, 100)...)
	}
	require.Equal(t, 6400, s.used)
	s.NextRow()
	s.take(1)
	require.Len(t, s.block, maxBlock-8, "a block is bounded")
	require.Equal(t, "text", (*Shared)(nil).text([]byte("text")))
	require.Equal(t, []byte{}, (*Shared)(nil).bytes(nil))
}

// TestSharedAllocates counts the allocations of a row with two texts, a blob, an address and a list of numbers.
func TestSharedAllocates(t *testing.T) {
	var s Shared
	var name, note string
	var data []byte
	var addr net.IP
	var marks []int
	list := []byte{0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 2}
	columns := []struct {
		info cql.TypeInfo
		cell []byte
		dst  any
	}{
		{textType, []byte("a name"), &name},
		{textType, []byte("a note of a few words"), &note},
		{cql.NativeType(cql.TypeBlob), []byte("data"), &data},
		{cql.NativeType(cql.TypeInet), []byte{10, 0, 0, 1}, &addr},
		{cql.NewListType(intType), list, &marks},
	}
	var plans []ScanPlan
	for _, c := range columns {
		plans = append(plans, NewScanPlan(c.info, c.dst))
	}
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		s.NextRow()
		for i, c := range columns {
			if err := plans[i].Store(c.info, c.cell, c.dst, &s); err != nil {
				t.Fatal(err)
			}
		}
	}))
	require.Equal(t, "a name a note of a few words data 10.0.0.1 [1 2]", fmt.Sprintf("%s %s %s %v %v", name, note, data, addr, marks))
}

// TestCapacityIsNotOwnership decodes into slices with enough capacity, which must not be reused.
func TestCapacityIsNotOwnership(t *testing.T) {
	cell := appendVector(t, []float32{7, 8})
	for _, ways := range []string{"plan", "switch", "list"} {
		t.Run(ways, func(t *testing.T) {
			lent := []float32{1, 2, 3, 4}
			dst := lent[:2]
			switch info := (cql.VectorType{SubType: floatType, Dimensions: 2}); ways {
			case "plan":
				require.NoError(t, planDecoder(info, reflect.TypeOf(&dst))(info, cell, &dst))
			case "switch":
				ok, err := switchDecode(info, cell, &dst)
				require.True(t, ok)
				require.NoError(t, err)
			case "list":
				info := cql.NewListType(floatType)
				out, _, err := switchAppend(nil, info, []float32{7, 8})
				require.NoError(t, err)
				require.NoError(t, planDecoder(info, reflect.TypeOf(&dst))(info, out[4:], &dst))
			}
			require.Equal(t, []float32{7, 8}, dst)
			require.Equal(t, []float32{1, 2, 3, 4}, lent)
		})
	}
}

// appendVector returns the cell of a vector<float, len(v)> without its length.
func appendVector(t testing.TB, v []float32) []byte {
	out, ok, err := switchAppend(nil, cql.VectorType{SubType: floatType, Dimensions: len(v)}, v)
	require.True(t, ok)
	require.NoError(t, err)
	return out[4:]
}

func TestInto(t *testing.T) {
	info := cql.VectorType{SubType: floatType, Dimensions: 3}
	cell := appendVector(t, []float32{1, 2, 3})
	buf := make([]float32, 3, 8)
	dst := Into(buf)
	ways := map[string]func(info cql.TypeInfo, cell []byte, dst any) error{
		"plan": func(info cql.TypeInfo, cell []byte, dst any) error {
			return planDecoder(info, reflect.TypeOf(dst))(info, cell, dst)
		},
		"reference": ReferenceDecode,
		"whole":     Unmarshal,
	}
	for name, decode := range ways {
		t.Run(name, func(t *testing.T) {
			clear(buf)
			require.NoError(t, decode(info, cell, dst))
			require.Equal(t, []float32{1, 2, 3}, buf)
			require.NoError(t, decode(info, appendVector(t, []float32{4, 5, 6}), dst))
			require.Equal(t, []float32{4, 5, 6}, buf, "overwritten in place")
			require.ErrorIs(t, decode(info, nil, dst), cql.ErrNull)
			require.ErrorIs(t, decode(cql.VectorType{SubType: floatType, Dimensions: 4}, append(slices.Clone(cell), 0, 0, 0, 0), dst), cql.ErrDimension)
			require.ErrorIs(t, decode(info, cell[:11], dst), cql.ErrMissing)
			require.ErrorIs(t, decode(info, []byte{}, dst), cql.ErrMissing)
			require.ErrorIs(t, decode(info, append(slices.Clone(cell), 0), dst), cql.ErrTrailing)
			require.ErrorIs(t, decode(cql.VectorType{SubType: intType, Dimensions: 3}, cell, dst), cql.ErrConversion)
			require.ErrorIs(t, decode(cql.NewListType(floatType), cell, dst), cql.ErrConversion)
			require.ErrorIs(t, decode(floatType, cell[:4], dst), cql.ErrConversion)
		})
	}
	for _, c := range []struct {
		typ cql.Type
		v   any
		dst any
	}{
		{cql.TypeDouble, []float64{1, -2}, Into(make([]float64, 2))},
		{cql.TypeInt, []int32{1, -2}, Into(make([]int32, 2))},
		{cql.TypeBigInt, []int64{1, -2}, Into(make([]int64, 2))},
		{cql.TypeUUID, []cql.UUID{{1}, {15: 2}}, Into(make([]cql.UUID, 2))},
		{cql.TypeTimeUUID, []cql.UUID{{1}, {15: 2}}, Into(make([]cql.UUID, 2))},
	} {
		info := cql.VectorType{SubType: cql.NativeType(c.typ), Dimensions: 2}
		out, ok, err := switchAppend(nil, info, c.v)
		require.True(t, ok)
		require.NoError(t, err)
		ok, err = switchDecode(info, out[4:], c.dst)
		require.True(t, ok)
		require.NoError(t, err)
		d := c.dst.(*into)
		require.Equal(t, out[4:], swapAppend(nil, d.elements), c.typ)
	}
}

func TestAppendTo(t *testing.T) {
	vector := cql.VectorType{SubType: floatType, Dimensions: 2}
	cell := appendVector(t, []float32{1, 2})
	floats, text := make([]float32, 1, 8), []byte("a")
	first := &floats[0]
	for name, decode := range map[string]func(info cql.TypeInfo, cell []byte, dst any) error{
		"plan": func(info cql.TypeInfo, cell []byte, dst any) error {
			return planDecoder(info, reflect.TypeOf(dst))(info, cell, dst)
		},
		"reference": ReferenceDecode,
		"whole":     Unmarshal,
	} {
		t.Run(name, func(t *testing.T) {
			floats, text = floats[:1], text[:1]
			require.NoError(t, decode(vector, cell, AppendTo(&floats)))
			require.NoError(t, decode(vector, appendVector(t, []float32{3, 4}), AppendTo(&floats)))
			require.Equal(t, []float32{0, 1, 2, 3, 4}, floats)
			require.Same(t, first, &floats[0], "appended without reallocation")
			require.ErrorIs(t, decode(vector, nil, AppendTo(&floats)), cql.ErrNull)
			require.ErrorIs(t, decode(vector, cell[:7], AppendTo(&floats)), cql.ErrMissing)
			require.ErrorIs(t, decode(vector, append(slices.Clone(cell), 0), AppendTo(&floats)), cql.ErrTrailing)
			require.ErrorIs(t, decode(cql.VectorType{SubType: intType, Dimensions: 2}, cell, AppendTo(&floats)), cql.ErrConversion)
			require.ErrorIs(t, decode(textType, cell, AppendTo(&floats)), cql.ErrConversion)
			require.Len(t, floats, 5, "errors leave the slice unchanged")
			require.NoError(t, decode(textType, []byte("bc"), AppendTo(&text)))
			require.NoError(t, decode(textType, nil, AppendTo(&text)))
			require.NoError(t, decode(cql.NativeType(cql.TypeBlob), []byte{}, AppendTo(&text)))
			require.NoError(t, decode(cql.CustomType{Class: "x"}, []byte("d"), AppendTo(&text)))
			require.Equal(t, "abcd", string(text))
			require.ErrorIs(t, decode(intType, []byte{0, 0, 0, 1}, AppendTo(&text)), cql.ErrConversion)
			require.ErrorIs(t, decode(vector, cell, AppendTo(&text)), cql.ErrConversion)
		})
	}
}

// TestDestinationOfOthers passes a copy to a program's own type with the method of a destination.
func TestDestinationOfOthers(t *testing.T) {
	var own selfCoded
	var d cql.Destination = &own
	cell := []byte("abc")
	for _, decode := range []func(cql.TypeInfo, []byte, any) error{Unmarshal, DecoderOf(textType, reflect.TypeOf(d)), ReferenceDecode} {
		require.NoError(t, decode(textType, cell, d))
		require.Equal(t, "abc", string(own.content))
		require.NotSame(t, &cell[0], &own.content[0])
	}
}

// TestWrongDynamicType passes values of other types than the plan's. No memory may be misinterpreted.
func TestWrongDynamicType(t *testing.T) {
	encode := planEncoder(textType, reflect.TypeFor[string]())
	out, err := encode(nil, textType, []byte("ab"))
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 2, 'a', 'b'}, out)
	_, err = encode(nil, textType, int64(3))
	require.ErrorIs(t, err, cql.ErrConversion)
	decode := planDecoder(textType, reflect.TypeFor[*string]())
	var b []byte
	require.NoError(t, decode(textType, []byte("ab"), &b))
	require.Equal(t, "ab", string(b))
	require.ErrorIs(t, decode(textType, []byte("ab"), new(int)), cql.ErrConversion)
	require.ErrorIs(t, decode(textType, []byte("ab"), (*string)(nil)), cql.ErrConversion)
	for _, dst := range []any{nil, (*string)(nil), (*[]byte)(nil), "ab", 5} {
		require.ErrorIs(t, Unmarshal(textType, []byte("ab"), dst), cql.ErrConversion, "%T", dst)
	}
	require.ErrorIs(t, Unmarshal(cql.VectorType{SubType: floatType, Dimensions: 1}, []byte("abcd"), (*[]float32)(nil)), cql.ErrConversion)
}

// TestPointerShaped codes values that an interface stores directly.
func TestPointerShaped(t *testing.T) {
	type box struct{ P *int32 }
	n := int32(5)
	udt := cql.UDTTypeInfo{Name: "box", Elements: []cql.UDTField{{Name: "p", Type: intType}}}
	out, err := planEncoder(udt, reflect.TypeFor[box]())(nil, udt, box{&n})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 5}, out)
	list := cql.NewListType(intType)
	out, err = planEncoder(list, reflect.TypeFor[[1]*int32]())(nil, list, [1]*int32{&n})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5}, out)
}

// TestPlansAreShared uses each plan from many goroutines at once.
func TestPlansAreShared(t *testing.T) {
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
	}{
		{cql.NewMapType(textType, intType), map[string]int32{"a": 1}},
		{cql.NewSetType(textType), map[string]struct{}{"a": {}}},
		{addressType, map[string]any{"street": "s", "no": 1, "zip": nil, "tags": []string{"t"}}},
		{nestedType, nested{Where: address{Street: "s"}, Emb: []float32{1, 2}, Extra: "e"}},
		{cql.VectorType{SubType: textType, Dimensions: 2}, []string{"a", "b"}},
	} {
		typ := reflect.TypeOf(c.v)
		encode, decode := planEncoder(c.info, typ), planDecoder(c.info, reflect.PointerTo(typ))
		want, err := ReferenceEncode(nil, c.info, c.v)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 200 {
					out, err := encode(nil, c.info, c.v)
					dst := reflect.New(typ)
					if err == nil {
						err = decode(c.info, out[4:], dst.Interface())
					}
					if err != nil || !bytes.Equal(out, want) || !same(dst.Elem().Interface(), c.v) {
						t.Errorf("%s: got %x, %v, %v; want %x", c.info, out, dst.Elem(), err, want)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func allocs(t *testing.T, want float64, f func()) {
	t.Helper()
	if got := testing.AllocsPerRun(100, f); got != want {
		t.Errorf("%v allocations, want %v", got, want)
	}
}

const dim = 1536

// vectors returns one vector of each type that is copied in bulk.
func vectors() []struct {
	typ cql.Type
	v   any
} {
	return []struct {
		typ cql.Type
		v   any
	}{
		{cql.TypeFloat, make([]float32, dim)},
		{cql.TypeDouble, make([]float64, dim)},
		{cql.TypeInt, make([]int32, dim)},
		{cql.TypeBigInt, make([]int64, dim)},
		{cql.TypeUUID, make([]cql.UUID, dim)},
		{cql.TypeTimeUUID, make([]cql.UUID, dim)},
	}
}

func TestAllocsEncode(t *testing.T) {
	buf := make([]byte, 0, 1<<16)
	check := func(name string, info cql.TypeInfo, v any) {
		t.Run(name, func(t *testing.T) {
			plan := planEncoder(info, reflect.TypeOf(v))
			require.NotNil(t, plan)
			allocs(t, 0, func() {
				if _, err := plan(buf, info, v); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	for _, c := range vectors() {
		info := cql.TypeInfo(cql.VectorType{SubType: cql.NativeType(c.typ), Dimensions: dim})
		check("vector of "+c.typ.String(), info, c.v)
		t.Run("whole "+c.typ.String(), func(t *testing.T) {
			allocs(t, 0, func() {
				if _, _, err := AppendMarshal(buf, info, c.v); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	check("named", cql.VectorType{SubType: floatType, Dimensions: 2}, embedding{1, 2})
	check("array", cql.VectorType{SubType: floatType, Dimensions: 2}, [2]float32{1, 2})
	check("array pointer", cql.VectorType{SubType: floatType, Dimensions: dim}, new([dim]float32))
	check("nested", cql.VectorType{SubType: cql.VectorType{SubType: floatType, Dimensions: 2}, Dimensions: 2}, [][]float32{{1, 2}, {3, 4}})
	check("texts", cql.VectorType{SubType: textType, Dimensions: 2}, []string{"a", "b"})
	check("list of 1000 floats", cql.NewListType(floatType), make([]float32, 1000))
	check("list of 100 texts", cql.NewListType(textType), strings.Fields(strings.Repeat("text ", 100)))
	check("list of boolean", cql.NewListType(cql.NativeType(cql.TypeBoolean)), []bool{true, false})
	check("bigint", cql.NativeType(cql.TypeBigInt), int64(1<<40))
	check("bigint pointer", cql.NativeType(cql.TypeBigInt), ptr(int64(1<<40)))
	check("pointer to pointer", cql.NativeType(cql.TypeBigInt), ptr(ptr(int64(1<<40))))
	check("text", textType, "hello")
	check("null text", textType, cql.NullOf("hello"))
	check("blob", cql.NativeType(cql.TypeBlob), []byte("hello"))
	check("uuid", cql.NativeType(cql.TypeUUID), cql.UUID{1})
	check("inet", cql.NativeType(cql.TypeInet), net.IP{1, 2, 3, 4})
	check("timestamp", cql.NativeType(cql.TypeTimestamp), time.Unix(1, 0))
	check("list of text", cql.NewListType(textType), []string{"a", "b"})
	check("list of int", cql.NewListType(intType), []int32{1, 2})
	check("tuple", pairType, pair{1, "b"})
	check("udt", addressType, address{Street: "s", Zip: ptr[int32](5), Tags: []string{"t"}})
}

func TestAllocsDecode(t *testing.T) {
	check := func(name string, want float64, info cql.TypeInfo, v, dst any) {
		t.Run(name, func(t *testing.T) {
			out, err := planEncoder(info, reflect.TypeOf(v))(nil, info, v)
			require.NoError(t, err)
			cell := out[4:]
			plan := planDecoder(info, reflect.TypeOf(dst))
			require.NotNil(t, plan)
			allocs(t, want, func() {
				if err := plan(info, cell, dst); err != nil {
					t.Fatal(err)
				}
			})
			if ok, _ := switchDecode(info, cell, dst); ok {
				allocs(t, want, func() {
					if _, err := switchDecode(info, cell, dst); err != nil {
						t.Fatal(err)
					}
				})
			}
		})
	}
	for _, c := range vectors() {
		info := cql.VectorType{SubType: cql.NativeType(c.typ), Dimensions: dim}
		check("vector of "+c.typ.String(), 1, info, c.v, reflect.New(reflect.TypeOf(c.v)).Interface())
	}
	info := cql.VectorType{SubType: floatType, Dimensions: dim}
	v := make([]float32, dim)
	check("array", 0, info, v, new([dim]float32))
	check("into", 0, info, v, Into(make([]float32, dim)))
	check("named", 1, cql.VectorType{SubType: floatType, Dimensions: 2}, embedding{1, 2}, new(embedding))
	check("nested", 3, cql.VectorType{SubType: cql.VectorType{SubType: floatType, Dimensions: 2}, Dimensions: 2}, [][]float32{{1, 2}, {3, 4}}, new([][]float32))
	check("bigint", 0, cql.NativeType(cql.TypeBigInt), int64(1<<40), new(int64))
	check("bigint pointer", 1, cql.NativeType(cql.TypeBigInt), int64(1<<40), new(*int64))
	check("bigint any", 1, cql.NativeType(cql.TypeBigInt), int64(1<<40), new(any))
	check("text", 1, textType, "hello", new(string))
	check("text null", 1, textType, "hello", new(cql.Null[string]))
	check("text any", 2, textType, "hello", new(any))
	check("uuid", 0, cql.NativeType(cql.TypeUUID), cql.UUID{1}, new(cql.UUID))
	check("timestamp", 0, cql.NativeType(cql.TypeTimestamp), time.Unix(1, 0), new(time.Time))
	check("list of text", 2, cql.NewListType(textType), []string{"a b", "b a"}, new([]string))
	check("list of int", 1, cql.NewListType(intType), []int32{1, 2}, new([]int32))
	check("list of 1000 floats", 1, cql.NewListType(floatType), make([]float32, 1000), new([]float32))
	check("list of 100 texts", 2, cql.NewListType(textType), strings.Fields(strings.Repeat("text ", 100)), new([]string))
	check("vector of boolean", 1, cql.VectorType{SubType: cql.NativeType(cql.TypeBoolean), Dimensions: 3}, []bool{true, false, true}, new([]bool))
	check("tuple", 1, pairType, pair{1, "bcd"}, new(pair))
}
