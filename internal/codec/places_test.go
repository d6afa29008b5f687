// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Values at the bounds of memory, of cells and of types.

// TestIntegersLeaveTheirNeighbors decodes into the middle of an array of each kind.
func TestIntegersLeaveTheirNeighbors(t *testing.T) {
	integers := []cql.Type{cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeVarint}
	for _, v := range []any{int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0)} {
		typ := reflect.TypeOf(v)
		for _, info := range nativesOf(integers...) {
			cell, err := Marshal(info, int64(5))
			require.NoError(t, err)
			for name, decode := range map[string]func(dst any) error{
				"Unmarshal": func(dst any) error { return Unmarshal(info, cell, dst) },
				"plan":      func(dst any) error { return DecoderOf(info, reflect.TypeOf(dst))(info, cell, dst) },
				"reference": func(dst any) error { return ReferenceDecode(info, cell, dst) },
			} {
				array := reflect.New(reflect.ArrayOf(17, typ)).Elem()
				for i := range array.Len() {
					array.Index(i).Set(reflect.ValueOf(1).Convert(typ))
				}
				require.NoError(t, decode(array.Index(8).Addr().Interface()))
				require.Equal(t, "[1 1 1 1 1 1 1 1 5 1 1 1 1 1 1 1 1]", fmt.Sprint(array.Interface()), "%s: %v into %v", name, info, typ)
			}
		}
	}
}

// TestErrorsNameTheNumber has numbers that only an unsigned type holds.
func TestErrorsNameTheNumber(t *testing.T) {
	_, err := Marshal(native(cql.TypeBigInt), uint64(math.MaxUint64))
	require.ErrorContains(t, err, "18446744073709551615 does not fit 8 bytes")
	varint, err := Marshal(native(cql.TypeVarint), uint64(math.MaxUint64))
	require.NoError(t, err)
	for _, dst := range []any{new(int), new(int8), new(int16), new(int32), new(int64), new(uint8), new(uint16), new(uint32)} {
		err := Unmarshal(native(cql.TypeVarint), varint, dst)
		require.ErrorIs(t, err, cql.ErrRange, "%T", dst)
		require.ErrorContains(t, err, "18446744073709551615 does not fit "+reflect.TypeOf(dst).Elem().String())
	}
}

// TestDecimalsAreDecimalsOnly refuses a decimal as a number of another type, and the other way.
func TestDecimalsAreDecimalsOnly(t *testing.T) {
	zero := "0000000000"
	for _, v := range []any{cql.Decimal{}, inf.Dec{}, &cql.Decimal{}, new(inf.Dec)} {
		for way, got := range encodings(t, native(cql.TypeDecimal), v) {
			require.Equal(t, zero, hex.EncodeToString(got), "%T %v", v, way)
		}
		plan := EncoderOf(native(cql.TypeDecimal), reflect.TypeOf(v))
		got, err := plan(nil, native(cql.TypeDecimal), v)
		require.NoError(t, err)
		require.Equal(t, "00000005"+zero, hex.EncodeToString(got))
		for _, info := range nativesOf(cql.TypeBoolean, cql.TypeFloat, cql.TypeDouble, cql.TypeInt, cql.TypeVarint, cql.TypeText) {
			for _, encode := range []Encoder{EncoderOf(info, reflect.TypeOf(v)), ReferenceEncode} {
				_, err := encode(nil, info, v)
				require.ErrorIs(t, err, cql.ErrConversion, "%T as %v", v, info)
			}
			dst := reflect.New(reflect.TypeOf(v)).Interface()
			for _, decode := range []Decoder{DecoderOf(info, reflect.TypeOf(dst)), ReferenceDecode} {
				require.ErrorIs(t, decode(info, make([]byte, 8), dst), cql.ErrConversion, "%v into %T", info, v)
			}
		}
	}
	for _, dst := range []any{new(cql.Decimal), new(inf.Dec)} {
		for n := 1; n < 5; n++ {
			for _, decode := range []Decoder{DecoderOf(native(cql.TypeDecimal), reflect.TypeOf(dst)), ReferenceDecode} {
				require.ErrorIs(t, decode(native(cql.TypeDecimal), make([]byte, n), dst), cql.ErrMissing)
			}
		}
		require.NoError(t, Unmarshal(native(cql.TypeDecimal), make([]byte, 5), dst))
	}
}

// TestTextOfDurationsInGo has fractions, which CQL does not have, with units that Go does not have or in another order.
func TestTextOfDurationsInGo(t *testing.T) {
	info := native(cql.TypeDuration)
	for text, want := range map[string]int64{"1.5s": 1.5e9, "1m1.5s": 61.5e9, "1.5h": 5400e9, "2s": 2e9, "-1.5s": -1.5e9} {
		content, err := Marshal(info, text)
		require.NoError(t, err, text)
		var got cql.Duration
		require.NoError(t, Unmarshal(info, content, &got))
		require.Equal(t, cql.Duration{Nanoseconds: want}, got, text)
	}
	for _, text := range []string{"1.5d", "1.5mo", "1.5s1m", "1.5y", "1.s", "1.5", ".", "1.5x"} {
		_, err := Marshal(info, text)
		require.Error(t, err, text)
	}
}

// TestSignsOfDurations has each part alone, and two parts of each sign.
func TestSignsOfDurations(t *testing.T) {
	info := native(cql.TypeDuration)
	for months := int32(-1); months <= 1; months++ {
		for days := int32(-1); days <= 1; days++ {
			for nanos := int64(-1); nanos <= 1; nanos++ {
				d := cql.Duration{Months: months, Days: days, Nanoseconds: nanos}
				differ := min(int64(months), int64(days), nanos) < 0 && max(int64(months), int64(days), nanos) > 0
				for _, encode := range []Encoder{EncoderOf(info, reflect.TypeOf(d)), ReferenceEncode, AppendCell} {
					_, err := encode(nil, info, d)
					require.Equal(t, differ, err != nil, "%v: %v", d, err)
				}
				durations, err := column.Of("v", []cql.UUID{{}}).WithType(column.Type{Kind: column.Duration})
				if err == nil {
					*(*cql.Duration)(unsafe.Pointer(&durations.Values[0])) = d
					b := column.NewBatch(durations)
					plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}, b.Schema())
					require.NoError(t, err)
					_, err = plan.Append(nil, b, 0, 0, -1)
					require.Equal(t, differ, err != nil, "%v: %v", d, err)
				}
			}
		}
	}
}

func TestAppendContentIsACell(t *testing.T) {
	got, err := AppendContent([]byte{9}, []byte{1, 2})
	require.NoError(t, err)
	require.Equal(t, "09000000020102", hex.EncodeToString(got))
	got, err = AppendContent([]byte{9}, nil)
	require.NoError(t, err)
	require.Equal(t, "09ffffffff", hex.EncodeToString(got))
}

// TestKeysThatCannotBeCompared decodes into maps whose keys may hold slices.
func TestKeysThatCannotBeCompared(t *testing.T) {
	list := cql.TupleTypeInfo{Elems: []cql.TypeInfo{intList}}
	number := cql.TupleTypeInfo{Elems: []cql.TypeInfo{cqlInt}}
	type key struct{ V any }
	type deep struct{ A [1]key }
	for _, c := range []struct {
		key    cql.TypeInfo
		cell   string
		dst    any
		reason string // "" means none
	}{
		{list, "00000008" + "00000004" + "00000000", new(map[key]int), "not comparable"},
		{number, "00000008" + "00000004" + "00000007", new(map[key]int), ""},
		{list, "00000008" + "00000004" + "00000000", new(map[[1]any]int), "not comparable"},
		{number, "00000008" + "00000004" + "00000007", new(map[[1]any]int), ""},
		{intList, "00000004" + "00000000", new(map[any]int), "not comparable"},
		{cqlInt, "00000004" + "00000007", new(map[any]int), ""},
	} {
		cell := hexBytes(t, "00000001"+c.cell+"00000004"+"00000001")
		set := hexBytes(t, "00000001"+c.cell)
		sets := reflect.New(reflect.MapOf(reflect.TypeOf(c.dst).Elem().Key(), reflect.TypeFor[struct{}]())).Interface()
		for _, decode := range []Decoder{Unmarshal, DecoderOf(cql.NewMapType(c.key, cqlInt), reflect.TypeOf(c.dst)), ReferenceDecode} {
			err := decode(cql.NewMapType(c.key, cqlInt), cell, c.dst)
			errSet := decode(cql.NewSetType(c.key), set, sets)
			if c.reason == "" {
				require.NoError(t, err, "%T", c.dst)
				require.NoError(t, errSet, "%T", sets)
				require.Equal(t, 1, reflect.ValueOf(c.dst).Elem().Len())
				continue
			}
			require.ErrorContains(t, err, c.reason, "%T", c.dst)
			require.ErrorContains(t, errSet, c.reason, "%T", sets)
		}
	}
	require.False(t, alwaysHashable(reflect.TypeFor[deep]()))
	require.True(t, alwaysHashable(reflect.TypeFor[[2]struct{ A string }]()))
}

// TestMapOfOtherValuesIsNoSet refuses a map whose values would be lost.
func TestMapOfOtherValuesIsNoSet(t *testing.T) {
	info := cql.NewSetType(cqlInt)
	cell := hexBytes(t, "00000001"+"00000004"+"00000007")
	for _, v := range []any{map[int32]struct{ A int }{7: {}}, map[int32]bool{7: true}, map[int32][0]int{7: {}}} {
		for _, encode := range []Encoder{AppendCell, EncoderOf(info, reflect.TypeOf(v)), ReferenceEncode} {
			_, err := encode(nil, info, v)
			require.ErrorIs(t, err, cql.ErrConversion, "%T", v)
			_, err = encode(nil, intList, map[int32]struct{}{7: {}})
			require.ErrorIs(t, err, cql.ErrConversion, "a set is no list")
		}
		dst := reflect.New(reflect.TypeOf(v)).Interface()
		for _, decode := range []Decoder{Unmarshal, DecoderOf(info, reflect.TypeOf(dst)), ReferenceDecode} {
			require.ErrorIs(t, decode(info, cell, dst), cql.ErrConversion, "%T", v)
		}
	}
}

// endless is a pointer to itself.
type endless *endless

func TestChainsOfPointersEnd(t *testing.T) {
	var p endless
	p = &p
	for _, encode := range []Encoder{AppendCell, EncoderOf(cqlInt, reflect.TypeOf(p)), ReferenceEncode} {
		_, err := encode(nil, cqlInt, p)
		require.ErrorContains(t, err, "a chain of more than 16 pointers")
	}
	for _, decode := range []Decoder{Unmarshal, DecoderOf(cqlInt, reflect.TypeOf(&p)), ReferenceDecode} {
		require.ErrorIs(t, decode(cqlInt, make([]byte, 4), &p), cql.ErrConversion)
	}
	deep := ptr(ptr(ptr(ptr(int32(7)))))
	for _, encode := range []Encoder{AppendCell, EncoderOf(cqlInt, reflect.TypeOf(deep)), ReferenceEncode} {
		got, err := encode(nil, cqlInt, deep)
		require.NoError(t, err)
		require.Equal(t, "0000000400000007", hex.EncodeToString(got))
	}
}

// TestLyingVectorsAllocateLittle has dimensions that their cells cannot hold, by plan and by reference.
func TestLyingVectorsAllocateLittle(t *testing.T) {
	const many, huge = 1 << 24, math.MaxInt/2 + 1
	nothing := vectorOf(cqlInt, 0)
	for _, c := range []struct {
		info cql.VectorType
		dst  any
	}{
		{vectorOf(cqlText, many), new([]string)},
		{vectorOf(cqlInt, many), new([]int32)},
		{vectorOf(cqlInt, many), new([]int)},
		{vectorOf(native(cql.TypeTinyInt), many), new([]int8)},
		{vectorOf(nothing, many), new([][]int32)},
		{vectorOf(vectorOf(nothing, 8), 8), new([][][]int32)},
		{vectorOf(nothing, 9), new([][]int32)},
		{vectorOf(cqlText, huge), new([]string)},
		{vectorOf(cqlInt, huge), new([]int32)},
		{vectorOf(cqlInt, -1), new([]int32)},
		{vectorOf(nothing, -1), new([][]int32)},
	} {
		for name, decode := range map[string]Decoder{"Unmarshal": Unmarshal, "plan": DecoderOf(c.info, reflect.TypeOf(c.dst)), "reference": ReferenceDecode} {
			var err error
			require.Less(t, allocated(func() { err = decode(c.info, []byte{}, c.dst) }), uint64(1<<20), "%s: %v", name, c.info)
			require.Error(t, err, "%s: %v", name, c.info)
		}
	}
	for _, decode := range []Decoder{Unmarshal, DecoderOf(vectorOf(nothing, 8), reflect.TypeFor[*[][]int32]()), ReferenceDecode} {
		var got [][]int32
		require.NoError(t, decode(vectorOf(nothing, 8), []byte{}, &got))
		require.Len(t, got, 8)
		var bools []bool
		require.NoError(t, decode(vectorOf(native(cql.TypeBoolean), 9), make([]byte, 9), &bools))
		require.Len(t, bools, 9)
	}
	dst := []int32{1}
	for _, n := range []int{-1, maxDimensions + 1, huge} {
		require.Error(t, Unmarshal(vectorOf(cqlInt, n), []byte{}, AppendTo(&dst)), n)
		require.Equal(t, []int32{1}, dst)
	}
}

// TestElementsOfOtherLengthsAreRefused has lists whose elements have the bytes of two elements, divided otherwise.
func TestElementsOfOtherLengthsAreRefused(t *testing.T) {
	for typ, size := range map[cql.Type]int{cql.TypeBoolean: 1, cql.TypeInt: 4, cql.TypeFloat: 4, cql.TypeBigInt: 8, cql.TypeDouble: 8, cql.TypeUUID: 16} {
		info := cql.NewListType(native(typ))
		for first := range 2*size + 1 {
			cell := append(hexBytes(t, "00000002"), byte(0), 0, 0, byte(first))
			cell = append(append(cell, make([]byte, first)...), 0, 0, 0, byte(2*size-first))
			cell = append(cell, make([]byte, 2*size-first)...)
			dst := reflect.New(reflect.SliceOf(DefaultGoType(native(typ)))).Interface()
			for _, decode := range []Decoder{Unmarshal, DecoderOf(info, reflect.TypeOf(dst)), ReferenceDecode} {
				err := decode(info, cell, dst)
				require.Equal(t, first == size, err == nil, "%v, %d of %d bytes: %v", info, first, size, err)
			}
		}
	}
}

// TestCountsNameThemselves has counts of collections that their cells cannot hold.
func TestCountsNameThemselves(t *testing.T) {
	for info, want := range map[cql.TypeInfo]string{intList: "1000 elements in 8 bytes", textToInt: "1000 elements in 8 bytes", textSet: "1000 elements in 8 bytes"} {
		cell := hexBytes(t, "000003e8"+"0000000000000000")
		page := append(hexBytes(t, "0000000c"), cell...)
		var b column.Batch
		err := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}).Decode(page, 1, &b)
		require.ErrorIs(t, err, cql.ErrMissing)
		require.ErrorContains(t, err, want, info)
	}
	one := hexBytes(t, "0000000c"+"00000002"+"0000000000000000")
	var b column.Batch
	require.NoError(t, NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: cql.NewListType(native(cql.TypeBlob))}}).Decode(one, 1, &b))
	require.ErrorContains(t, NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: textToInt}}).Decode(one, 1, &b), "2 elements in 8 bytes")
	require.ErrorContains(t, NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: vectorOf(cqlFloat, 1<<20)}}).Decode(nil, 1<<20, &b), "row 0: ")
}

// TestOrderOfCells compares all pairs of cells, which ascend.
func TestOrderOfCells(t *testing.T) {
	// a line is a type and its cells; those joined by = are equal
	for _, c := range []struct {
		info  cql.TypeInfo
		cells string
	}{
		{native(cql.TypeVarint), "| 8000 ff00 80 fe ff=ffff 00=0000 01 7f 0080 00ff 0100 7fff"},
		{native(cql.TypeInt), "| 80000000 fffffffe ffffffff 00000000 00000001 7fffffff"},
		{native(cql.TypeTimestamp), "| 8000000000000000 ffffffffffffffff 0000000000000000"},
		{native(cql.TypeDecimal), "| 0000000080 0000000000ff=0000000100000009f6=000000000000ff 000000000100 00000000010000"},
		{cqlFloat, "| ff800000 bf800000 80000000 00000000 3f800000 7f800000 7fc00000=ffc00001"},
		{native(cql.TypeDouble), "| fff0000000000000 8000000000000000 0000000000000000 7ff0000000000000 7ff8000000000000=fff8000000000001"},
		{native(cql.TypeUUID), "| 00000001000010008000000000000000 00000000000110008000000000000000 00000000000010018000000000000000 00000000000010018000000000000001 00000000000040008000000000000000"},
		{native(cql.TypeTimeUUID), "| 00000000000010008000000000000000 0000000000001000ff00000000000000 00000000000010000000000000000000 00000000000010007f00000000000000 00000001000010008000000000000000"},
		{cqlText, "| 00 61 6161 62 ff"},
		{native(cql.TypeBoolean), "| 00 01"},
		{intList, "| 00 0000 000000 00000000 000000010000000400000001 00000002000000040000000100000004ffffffff 000000010000000400000002"},
		{textToInt, "00000000 " + "00000001" + "0000000161" + "0000000400000000 " + "00000001" + "0000000161" + "0000000400000001 " + "00000001" + "0000000162" + "0000000400000000"},
		{pairTuple, "=ffffffff 00000004ffffffff 00000004ffffffff00000000 00000004ffffffff0000000161 0000000400000001=0000000400000001ffffffff 000000040000000200000000"},
		{vectorOf(cqlInt, 2), "ffffffff00000000 0000000000000000 0000000000000001 0000000100000000"},
		{vectorOf(cqlText, 2), "01610161 01610162 0261610161 01620161"},
		{vectorOf(vectorOf(cqlInt, 0), 2), "| 00"},
	} {
		type cell struct {
			rank  int
			bytes []byte
		}
		var cells []cell
		for rank, group := range strings.Fields(strings.ReplaceAll(c.cells, "|", "-")) {
			for text := range strings.SplitSeq(group, "=") {
				text = strings.TrimPrefix(text, "-")
				cells = append(cells, cell{rank, hexBytes(t, text)})
			}
		}
		order := comparisonOf(c.info)
		for _, a := range cells {
			for _, b := range cells {
				require.Equal(t, sign(a.rank-b.rank), sign(order(a.bytes, b.bytes)), "%v: %x and %x", c.info, a.bytes, b.bytes)
			}
		}
	}
}

func sign(n int) int { return big.NewInt(int64(n)).Sign() }

// TestCellsAreSortedAtEveryDepth has cells with one level that is sorted already, and cells that stay as they are.
func TestCellsAreSortedAtEveryDepth(t *testing.T) {
	set := cql.NewSetType(cqlInt)
	const one, two = "0000000400000001", "0000000400000002"
	const unsorted, sorted = "00000002" + two + one, "00000002" + one + two
	cell := func(content string) string { return fmt.Sprintf("%08x", len(content)/2) + content }
	for _, c := range []struct {
		info          cql.TypeInfo
		content, want string
	}{
		{set, unsorted, sorted},
		{set, sorted, sorted},
		{set, "00000003" + one + two + one, sorted},
		{intList, unsorted, unsorted},
		{cql.NewListType(set), "00000001" + cell(unsorted), "00000001" + cell(sorted)},
		{cql.NewSetType(set), "00000001" + cell(unsorted), "00000001" + cell(sorted)},
		{cql.NewMapType(cqlInt, set), "00000001" + one + cell(unsorted), "00000001" + one + cell(sorted)},
		{cql.NewMapType(set, cqlInt), "00000001" + cell(unsorted) + one, "00000001" + cell(sorted) + one},
		{cql.NewMapType(cqlInt, cqlInt), "00000002" + one + two + two + one, "00000002" + one + two + two + one},
		{cql.NewMapType(cqlInt, cqlInt), "00000002" + two + one + one + one, "00000002" + one + one + two + one},
		{cql.NewMapType(cqlInt, cqlInt), "00000002" + one + one + one + two, "00000001" + one + two},
		// malformed
		{set, "", ""},
		{set, "00", "00"},
		{set, "000000", "000000"},
		{set, "00000003" + two + one, "00000003" + two + one},
		{set, "00000002" + two + "00000004", "00000002" + two + "00000004"},
		{set, "00000002" + two + "ffffffff", "00000002" + two + "ffffffff"},
		{cql.NewListType(set), "00000001" + cell("000000"), "00000001" + cell("000000")},
		{cql.NewMapType(cqlInt, set), "00000001" + one, "00000001" + one},
		{cql.NewSetType(set), "00000001" + cell("00"), "00000001" + cell("00")},
	} {
		content := hexBytes(t, c.content)
		require.Equal(t, c.want, hex.EncodeToString(sortedContent(c.info, content)), "%v", c.info)
		if s := NewSorter(c.info); s != nil {
			require.Equal(t, c.want, hex.EncodeToString(sortedCell(c.info, content)), "%v", c.info)
		}
	}
	require.Nil(t, sortedContent(set, nil))
	null := hexBytes(t, "ffffffff")
	require.Equal(t, null, NewSorter(set).SortCell(null, 0))
	require.Equal(t, hexBytes(t, "09ffffffff"), NewSorter(set).SortCell(hexBytes(t, "09ffffffff"), 1))
}
