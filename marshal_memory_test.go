// SPDX-License-Identifier: Apache-2.0

package vecql

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

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"
)

// This file holds the fast paths to their word about memory: what was decoded belongs to the caller for ever, and nothing is allocated
// beyond it.

// TestRetention scans rows into one variable as a caller does, keeps every value, overwrites the cell after each row, and looks at
// all values at the end.
func TestRetention(t *testing.T) {
	const rows = 2000
	vec := func(elem TypeInfo) TypeInfo { return VectorType{elem, 3} }
	native := func(typ Type) TypeInfo { return NativeType(typ) }
	for _, c := range []struct {
		info TypeInfo
		row  func(i int) any
	}{
		{vec(floatType), func(i int) any { return []float32{float32(i), 1, 2} }},
		{vec(floatType), func(i int) any { return embedding{float32(i), 1, 2} }},
		{vec(floatType), func(i int) any { return [3]float32{float32(i), 1, 2} }},
		{vec(native(TypeDouble)), func(i int) any { return []float64{float64(i), 1, 2} }},
		{vec(intType), func(i int) any { return []int32{int32(i), 1, 2} }},
		{vec(native(TypeBigInt)), func(i int) any { return []int64{int64(i), 1, 2} }},
		{vec(native(TypeBigInt)), func(i int) any { return []int{i, 1, 2} }},
		{vec(native(TypeUUID)), func(i int) any { return []UUID{{byte(i), byte(i >> 8)}, {1}, {2}} }},
		{vec(native(TypeTimeUUID)), func(i int) any { return []UUID{{byte(i), byte(i >> 8)}, {1}, {2}} }},
		{vec(textType), func(i int) any { return []string{fmt.Sprint(i), "1", ""} }},
		{vec(vec(floatType)), func(i int) any { return [][]float32{{float32(i), 1, 2}, {3, 4, 5}, {6, 7, 8}} }},
		{textType, func(i int) any { return fmt.Sprint(i) }},
		{textType, func(i int) any { return ptr(fmt.Sprint(i)) }},
		{textType, func(i int) any { return NullOf(fmt.Sprint(i)) }},
		{native(TypeBlob), func(i int) any { return fmt.Append(nil, i) }},
		{native(TypeInet), func(i int) any { return net.IP{10, 0, byte(i), byte(i >> 8)} }},
		{native(TypeVarint), func(i int) any { return big.NewInt(int64(-i)) }},
		{native(TypeVarint), func(i int) any { return *new(big.Int).Lsh(big.NewInt(int64(i+1)), 70) }},
		{native(TypeDecimal), func(i int) any { return *inf.NewDec(int64(i), 3) }},
		{native(TypeTimestamp), func(i int) any { return time.UnixMilli(int64(i)).UTC() }},
		{native(TypeBigInt), func(i int) any { return ptr(ptr(int64(i))) }},
		{NewListType(intType), func(i int) any { return []int32{int32(i), 1} }},
		{NewListType(textType), func(i int) any { return []string{fmt.Sprint(i), "b"} }},
		{NewListType(native(TypeBlob)), func(i int) any { return [][]byte{fmt.Append(nil, i), {}} }},
		{NewListType(NewListType(intType)), func(i int) any { return [][]int32{{int32(i)}, {}} }},
		{NewListType(textType), func(i int) any { return [2]string{fmt.Sprint(i), "b"} }},
		{NewMapType(textType, intType), func(i int) any { return map[string]int32{fmt.Sprint(i): int32(i), "b": 2} }},
		{NewMapType(intType, NewListType(textType)), func(i int) any { return map[int32][]string{int32(i): {fmt.Sprint(i)}, -1: {"b"}} }},
		{NewSetType(textType), func(i int) any { return map[string]struct{}{fmt.Sprint(i): {}} }},
		{pairType, func(i int) any { return pair{int32(i), fmt.Sprint(i)} }},
		{pairType, func(i int) any { return []any{int(i), fmt.Sprint(i)} }},
		{addressType, func(i int) any {
			return address{Street: fmt.Sprint(i), Number: i, Zip: ptr(int32(i)), Tags: []string{fmt.Sprint(i)}}
		}},
		{nestedType, func(i int) any { return nested{Emb: []float32{float32(i), 2}, Extra: fmt.Sprint(i)} }},
	} {
		for _, into := range []string{"own", "any"} {
			t.Run(fmt.Sprintf("%s/%T/%s", c.info, c.row(0), into), func(t *testing.T) {
				typ := reflect.TypeOf(c.row(0))
				encode := fastEncode(c.info, typ)
				if into == "any" {
					typ = reflect.TypeFor[any]()
				}
				decode := fastDecode(c.info, reflect.PointerTo(typ))
				require.NotNil(t, encode)
				require.NotNil(t, decode)
				dst := reflect.New(typ)
				var kept []any
				var cell []byte
				for i := range rows {
					out, err := encode(cell[:0], c.info, c.row(i))
					require.NoError(t, err)
					cell = out
					require.NoError(t, decode(c.info, cell[4:], dst.Interface()))
					kept = append(kept, dst.Elem().Interface())
					for j := range cell {
						cell[j] = 0xA5
					}
				}
				for i, v := range kept {
					if into == "own" && !same(v, c.row(i)) {
						t.Fatalf("row %d: got %#v, want %#v", i, v, c.row(i))
					}
					out, err := fastEncode(c.info, reflect.TypeOf(v))(nil, c.info, v)
					require.NoError(t, err)
					if want, _ := encode(nil, c.info, c.row(i)); len(want) != len(out) || reflect.TypeOf(v).Kind() != reflect.Map && !bytes.Equal(out, want) {
						t.Fatalf("row %d: got %x, want %x", i, out, want)
					}
				}
			})
		}
	}
}

// TestCapacityIsNotOwnership decodes into slices that are long enough to be reused, which they must not be.
func TestCapacityIsNotOwnership(t *testing.T) {
	cell := appendVector(t, []float32{7, 8})
	for _, ways := range []string{"plan", "bulk", "list"} {
		t.Run(ways, func(t *testing.T) {
			lent := []float32{1, 2, 3, 4}
			dst := lent[:2]
			switch info := (VectorType{floatType, 2}); ways {
			case "plan":
				require.NoError(t, fastDecode(info, reflect.TypeOf(&dst))(info, cell, &dst))
			case "bulk":
				ok, err := bulkDecode(info, cell, &dst)
				require.True(t, ok)
				require.NoError(t, err)
			case "list":
				info := NewListType(floatType)
				out, _, err := bulkAppend(nil, info, []float32{7, 8})
				require.NoError(t, err)
				require.NoError(t, fastDecode(info, reflect.TypeOf(&dst))(info, out[4:], &dst))
			}
			require.Equal(t, []float32{7, 8}, dst)
			require.Equal(t, []float32{1, 2, 3, 4}, lent)
		})
	}
}

// appendVector returns the cell of a vector<float, len(v)> without its length.
func appendVector(t testing.TB, v []float32) []byte {
	out, ok, err := bulkAppend(nil, VectorType{floatType, len(v)}, v)
	require.True(t, ok)
	require.NoError(t, err)
	return out[4:]
}

func TestInto(t *testing.T) {
	info := VectorType{floatType, 3}
	cell := appendVector(t, []float32{1, 2, 3})
	buf := make([]float32, 3, 8)
	dst := Into(buf)
	ways := map[string]func(info TypeInfo, cell []byte, dst any) error{
		"plan": func(info TypeInfo, cell []byte, dst any) error {
			return fastDecode(info, reflect.TypeOf(dst))(info, cell, dst)
		},
		"reference": reflectDecode,
		"whole":     Unmarshal,
	}
	for name, decode := range ways {
		t.Run(name, func(t *testing.T) {
			clear(buf)
			require.NoError(t, decode(info, cell, dst))
			require.Equal(t, []float32{1, 2, 3}, buf)
			require.NoError(t, decode(info, appendVector(t, []float32{4, 5, 6}), dst))
			require.Equal(t, []float32{4, 5, 6}, buf, "overwritten in place")
			require.ErrorIs(t, decode(info, nil, dst), ErrNull)
			require.ErrorIs(t, decode(VectorType{floatType, 4}, append(slices.Clone(cell), 0, 0, 0, 0), dst), ErrDimension)
			require.ErrorIs(t, decode(info, cell[:11], dst), ErrMissing)
			require.ErrorIs(t, decode(info, []byte{}, dst), ErrMissing)
			require.ErrorIs(t, decode(info, append(slices.Clone(cell), 0), dst), ErrTrailing)
			require.ErrorIs(t, decode(VectorType{intType, 3}, cell, dst), ErrConversion)
			require.ErrorIs(t, decode(NewListType(floatType), cell, dst), ErrConversion)
			require.ErrorIs(t, decode(floatType, cell[:4], dst), ErrConversion)
		})
	}
	for _, c := range []struct {
		typ Type
		v   any
		dst any
	}{
		{TypeDouble, []float64{1, -2}, Into(make([]float64, 2))},
		{TypeInt, []int32{1, -2}, Into(make([]int32, 2))},
		{TypeBigInt, []int64{1, -2}, Into(make([]int64, 2))},
		{TypeUUID, []UUID{{1}, {15: 2}}, Into(make([]UUID, 2))},
		{TypeTimeUUID, []UUID{{1}, {15: 2}}, Into(make([]UUID, 2))},
	} {
		info := VectorType{NativeType(c.typ), 2}
		out, ok, err := bulkAppend(nil, info, c.v)
		require.True(t, ok)
		require.NoError(t, err)
		ok, err = bulkDecode(info, out[4:], c.dst)
		require.True(t, ok)
		require.NoError(t, err)
		d := c.dst.(*into)
		require.Equal(t, out[4:], swapAppend(nil, d.elements), c.typ)
	}
}

func TestAppendTo(t *testing.T) {
	vector := VectorType{floatType, 2}
	cell := appendVector(t, []float32{1, 2})
	floats, text := make([]float32, 1, 8), []byte("a")
	first := &floats[0]
	for name, decode := range map[string]func(info TypeInfo, cell []byte, dst any) error{
		"plan": func(info TypeInfo, cell []byte, dst any) error {
			return fastDecode(info, reflect.TypeOf(dst))(info, cell, dst)
		},
		"reference": reflectDecode,
		"whole":     Unmarshal,
	} {
		t.Run(name, func(t *testing.T) {
			floats, text = floats[:1], text[:1]
			require.NoError(t, decode(vector, cell, AppendTo(&floats)))
			require.NoError(t, decode(vector, appendVector(t, []float32{3, 4}), AppendTo(&floats)))
			require.Equal(t, []float32{0, 1, 2, 3, 4}, floats)
			require.Same(t, first, &floats[0], "there was room")
			require.ErrorIs(t, decode(vector, nil, AppendTo(&floats)), ErrNull)
			require.ErrorIs(t, decode(vector, cell[:7], AppendTo(&floats)), ErrMissing)
			require.ErrorIs(t, decode(vector, append(slices.Clone(cell), 0), AppendTo(&floats)), ErrTrailing)
			require.ErrorIs(t, decode(VectorType{intType, 2}, cell, AppendTo(&floats)), ErrConversion)
			require.ErrorIs(t, decode(textType, cell, AppendTo(&floats)), ErrConversion)
			require.Len(t, floats, 5, "errors leave it as it was")
			require.NoError(t, decode(textType, []byte("bc"), AppendTo(&text)))
			require.NoError(t, decode(textType, nil, AppendTo(&text)))
			require.NoError(t, decode(NativeType(TypeBlob), []byte{}, AppendTo(&text)))
			require.NoError(t, decode(CustomType{Class: "x"}, []byte("d"), AppendTo(&text)))
			require.Equal(t, "abcd", string(text))
			require.ErrorIs(t, decode(intType, []byte{0, 0, 0, 1}, AppendTo(&text)), ErrConversion)
			require.ErrorIs(t, decode(vector, cell, AppendTo(&text)), ErrConversion)
		})
	}
}

func TestBorrow(t *testing.T) {
	cols, cells := pageOf(t, 3, []TypeInfo{textType, intType}, []any{"abc", 7})
	it := iterOver(newResultPlan(nil, knownColumns{columns: cols}), 3, cells)
	var text, number []byte
	a, b := Borrow(&text), Borrow(&number)
	for range 3 {
		require.True(t, it.Scan(a, b))
		require.Equal(t, "abc", string(text))
		require.Equal(t, []byte{0, 0, 0, 7}, number)
	}
	require.Equal(t, &cells[len(cells)-4], &number[0], "no copy")
	require.False(t, it.Scan(a, b))
	require.NoError(t, it.Close())
	require.ErrorIs(t, new(Query).Scan(new(int), a), ErrConversion, "the page would be gone")
	_, err := new(Query).ScanCAS(a)
	require.ErrorIs(t, err, ErrConversion)
}

// TestWrongDynamicType gives plans values of other types than they were made for: no memory may be misread.
func TestWrongDynamicType(t *testing.T) {
	encode := fastEncode(textType, reflect.TypeFor[string]())
	out, err := encode(nil, textType, []byte("ab"))
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 2, 'a', 'b'}, out)
	_, err = encode(nil, textType, int64(3))
	require.ErrorIs(t, err, ErrConversion)
	decode := fastDecode(textType, reflect.TypeFor[*string]())
	var b []byte
	require.NoError(t, decode(textType, []byte("ab"), &b))
	require.Equal(t, "ab", string(b))
	require.ErrorIs(t, decode(textType, []byte("ab"), new(int)), ErrConversion)
	require.ErrorIs(t, decode(textType, []byte("ab"), (*string)(nil)), ErrConversion)
	for _, dst := range []any{nil, (*string)(nil), (*[]byte)(nil), "ab", 5} {
		require.ErrorIs(t, Unmarshal(textType, []byte("ab"), dst), ErrConversion, "%T", dst)
	}
	require.ErrorIs(t, Unmarshal(VectorType{floatType, 1}, []byte("abcd"), (*[]float32)(nil)), ErrConversion)
}

// TestPointerShaped holds values that an interface stores without a pointer to them.
func TestPointerShaped(t *testing.T) {
	type box struct{ P *int32 }
	n := int32(5)
	udt := UDTTypeInfo{Name: "box", Elements: []UDTField{{"p", intType}}}
	out, err := fastEncode(udt, reflect.TypeFor[box]())(nil, udt, box{&n})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 5}, out)
	list := NewListType(intType)
	out, err = fastEncode(list, reflect.TypeFor[[1]*int32]())(nil, list, [1]*int32{&n})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5}, out)
}

// TestPlansAreShared uses each plan from many goroutines at once, as statements do.
func TestPlansAreShared(t *testing.T) {
	for _, c := range []struct {
		info TypeInfo
		v    any
	}{
		{NewMapType(textType, intType), map[string]int32{"a": 1}},
		{NewSetType(textType), map[string]struct{}{"a": {}}},
		{addressType, map[string]any{"street": "s", "no": 1, "zip": nil, "tags": []string{"t"}}},
		{nestedType, nested{Where: address{Street: "s"}, Emb: []float32{1, 2}, Extra: "e"}},
		{VectorType{textType, 2}, []string{"a", "b"}},
	} {
		typ := reflect.TypeOf(c.v)
		encode, decode := fastEncode(c.info, typ), fastDecode(c.info, reflect.PointerTo(typ))
		want, err := reflectEncode(nil, c.info, c.v)
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

// vectors are one vector of each bulk type.
func vectors() []struct {
	typ Type
	v   any
} {
	return []struct {
		typ Type
		v   any
	}{
		{TypeFloat, make([]float32, dim)},
		{TypeDouble, make([]float64, dim)},
		{TypeInt, make([]int32, dim)},
		{TypeBigInt, make([]int64, dim)},
		{TypeUUID, make([]UUID, dim)},
		{TypeTimeUUID, make([]UUID, dim)},
	}
}

func TestAllocsEncode(t *testing.T) {
	buf := make([]byte, 0, 1<<16)
	check := func(name string, info TypeInfo, v any) {
		t.Run(name, func(t *testing.T) {
			plan := fastEncode(info, reflect.TypeOf(v))
			require.NotNil(t, plan)
			allocs(t, 0, func() {
				if _, err := plan(buf, info, v); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	for _, c := range vectors() {
		info := TypeInfo(VectorType{NativeType(c.typ), dim})
		check("vector of "+c.typ.String(), info, c.v)
		t.Run("whole "+c.typ.String(), func(t *testing.T) {
			allocs(t, 0, func() {
				if _, err := AppendMarshal(buf, info, c.v); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	check("named", VectorType{floatType, 2}, embedding{1, 2})
	check("array", VectorType{floatType, 2}, [2]float32{1, 2})
	check("array pointer", VectorType{floatType, dim}, new([dim]float32))
	check("nested", VectorType{VectorType{floatType, 2}, 2}, [][]float32{{1, 2}, {3, 4}})
	check("texts", VectorType{textType, 2}, []string{"a", "b"})
	check("list of 1000 floats", NewListType(floatType), make([]float32, 1000))
	check("list of 100 texts", NewListType(textType), strings.Fields(strings.Repeat("text ", 100)))
	check("list of boolean", NewListType(NativeType(TypeBoolean)), []bool{true, false})
	check("bigint", NativeType(TypeBigInt), int64(1<<40))
	check("bigint pointer", NativeType(TypeBigInt), ptr(int64(1<<40)))
	check("pointer to pointer", NativeType(TypeBigInt), ptr(ptr(int64(1<<40))))
	check("text", textType, "hello")
	check("null text", textType, NullOf("hello"))
	check("blob", NativeType(TypeBlob), []byte("hello"))
	check("uuid", NativeType(TypeUUID), UUID{1})
	check("inet", NativeType(TypeInet), net.IP{1, 2, 3, 4})
	check("timestamp", NativeType(TypeTimestamp), time.Unix(1, 0))
	check("list of text", NewListType(textType), []string{"a", "b"})
	check("list of int", NewListType(intType), []int32{1, 2})
	check("tuple", pairType, pair{1, "b"})
	check("udt", addressType, address{Street: "s", Zip: ptr[int32](5), Tags: []string{"t"}})
}

func TestAllocsDecode(t *testing.T) {
	check := func(name string, want float64, info TypeInfo, v, dst any) {
		t.Run(name, func(t *testing.T) {
			out, err := fastEncode(info, reflect.TypeOf(v))(nil, info, v)
			require.NoError(t, err)
			cell := out[4:]
			plan := fastDecode(info, reflect.TypeOf(dst))
			require.NotNil(t, plan)
			allocs(t, want, func() {
				if err := plan(info, cell, dst); err != nil {
					t.Fatal(err)
				}
			})
			if ok, _ := bulkDecode(info, cell, dst); ok {
				allocs(t, want, func() {
					if _, err := bulkDecode(info, cell, dst); err != nil {
						t.Fatal(err)
					}
				})
			}
		})
	}
	for _, c := range vectors() {
		info := VectorType{NativeType(c.typ), dim}
		check("vector of "+c.typ.String(), 1, info, c.v, reflect.New(reflect.TypeOf(c.v)).Interface())
	}
	info := VectorType{floatType, dim}
	v := make([]float32, dim)
	check("array", 0, info, v, new([dim]float32))
	check("into", 0, info, v, Into(make([]float32, dim)))
	check("named", 1, VectorType{floatType, 2}, embedding{1, 2}, new(embedding))
	check("nested", 3, VectorType{VectorType{floatType, 2}, 2}, [][]float32{{1, 2}, {3, 4}}, new([][]float32))
	check("bigint", 0, NativeType(TypeBigInt), int64(1<<40), new(int64))
	check("bigint pointer", 1, NativeType(TypeBigInt), int64(1<<40), new(*int64))
	check("bigint any", 1, NativeType(TypeBigInt), int64(1<<40), new(any))
	check("text", 1, textType, "hello", new(string))
	check("text null", 1, textType, "hello", new(Null[string]))
	check("text any", 2, textType, "hello", new(any))
	check("uuid", 0, NativeType(TypeUUID), UUID{1}, new(UUID))
	check("timestamp", 0, NativeType(TypeTimestamp), time.Unix(1, 0), new(time.Time))
	check("list of text", 2, NewListType(textType), []string{"a b", "b a"}, new([]string))
	check("list of int", 1, NewListType(intType), []int32{1, 2}, new([]int32))
	check("list of 1000 floats", 1, NewListType(floatType), make([]float32, 1000), new([]float32))
	check("list of 100 texts", 2, NewListType(textType), strings.Fields(strings.Repeat("text ", 100)), new([]string))
	check("vector of boolean", 1, VectorType{NativeType(TypeBoolean), 3}, []bool{true, false, true}, new([]bool))
	check("tuple", 1, pairType, pair{1, "bcd"}, new(pair))
}
