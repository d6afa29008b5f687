// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Structs that are read, compared with what is written and with arrow-go.

// arrowLeaf returns the logical type of a column as arrow-go reads it.
func arrowLeaf(e *SchemaElement) (t schema.LogicalType, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var w thrift.Writer
	w.Open(0)
	w.I32(1, 2)
	w.List(2, thrift.Struct, 2)
	root := SchemaElement{Type: NoType, Repetition: Required, Name: "schema", NumChildren: 1, Converted: NoConverted}
	root.Append(&w)
	e.Append(&w)
	w.I64(3, 0)
	w.List(4, thrift.Struct, 0)
	w.Close()
	meta, err := metadata.NewFileMetaData(w.B, nil)
	if err != nil {
		return nil, err
	}
	return meta.Schema.Column(0).LogicalType(), nil
}

// logicalTypes returns all logical types, with parameters.
func logicalTypes() (all []LogicalType) {
	for kind := LogicalString; kind <= LogicalGeography; kind++ {
		switch kind {
		case LogicalTime, LogicalTimestamp:
			for unit := Millis; unit <= Nanos; unit++ {
				all = append(all, LogicalType{Kind: kind, Unit: unit}, LogicalType{Kind: kind, Unit: unit, UTC: true})
			}
		case LogicalInteger:
			for _, bits := range []int8{0, 8, 16, 24, 32, 64} {
				all = append(all, LogicalType{Kind: kind, Bits: bits}, LogicalType{Kind: kind, Bits: bits, Signed: true})
			}
		case LogicalDecimal:
			for precision := range int32(60) {
				all = append(all, LogicalType{Kind: kind, Precision: precision, Scale: 5})
			}
		default:
			all = append(all, LogicalType{Kind: kind})
		}
	}
	return all
}

// TestMeaning compares the logical types that columns may have with those that arrow-go accepts.
func TestMeaning(t *testing.T) {
	var elements []SchemaElement
	for physical := Boolean; physical <= FixedLenByteArray; physical++ {
		for _, length := range []int32{1, 2, 3, 8, 12, 16, 17, 128} {
			if length > 1 && physical != FixedLenByteArray {
				continue
			}
			e := SchemaElement{Type: physical, Length: length, Name: "e", Converted: NoConverted}
			for _, e.Logical = range logicalTypes() {
				elements = append(elements, e)
			}
			e.Logical = LogicalType{}
			for e.Converted = NoConverted; e.Converted < 30; e.Converted++ {
				elements = append(elements, e)
				for _, decimal := range [][2]int32{{0, 0}, {9, -1}, {9, 9}, {9, 10}, {50, 5}} {
					e.Precision, e.Scale = decimal[0], decimal[1]
					elements = append(elements, e)
				}
			}
		}
	}
	accepted := 0
	for _, e := range elements {
		want, err := arrowLeaf(&e)
		got, ok := e.Meaning()
		require.Equal(t, err == nil, ok, "%+v: %v", e, err)
		if !ok {
			continue
		}
		accepted++
		if converted, _ := want.ToConvertedType(); e.Converted != NoConverted && got.Kind != LogicalUnknown {
			require.EqualValues(t, e.Converted, converted, "%+v", e)
		}
		none := got.Kind == NoLogical || got.Kind == LogicalUnknown && !want.IsValid()
		require.Equal(t, want.IsNone() || !want.IsValid(), none, "%+v", e)
	}
	require.Greater(t, accepted, 300)
}

// TestReadSchemaElements reads elements as they were written, with and without the fields that may be absent.
func TestReadSchemaElements(t *testing.T) {
	for _, e := range []SchemaElement{
		{Type: NoType, Repetition: NoRepetition, Name: "root", NumChildren: 3, Converted: NoConverted},
		{Type: NoType, Repetition: Repeated, Name: "", NumChildren: 1, Converted: ConvertedList, Logical: LogicalType{Kind: LogicalList}},
		{Type: FixedLenByteArray, Length: 7, Repetition: Optional, Name: "d", Converted: ConvertedDecimal, Scale: 2, Precision: 9},
		{Type: Boolean, Repetition: Required, Name: "b", Converted: NoConverted},
	} {
		for _, e.Logical = range append(logicalTypes(), e.Logical) {
			if e.Logical.Kind == LogicalInteger-1 {
				continue
			}
			var w thrift.Writer
			e.Append(&w)
			r := thrift.Reader{B: w.B}
			require.Equal(t, e, ReadSchemaElement(&r))
			require.Equal(t, len(w.B), r.Pos)
			require.False(t, r.Failed())
			for end := range w.B {
				r := thrift.Reader{B: w.B[:end]}
				ReadSchemaElement(&r)
				require.True(t, r.Failed(), end)
			}
		}
	}
}

// TestReadOddLogicalTypes reads unions that contradict the format.
func TestReadOddLogicalTypes(t *testing.T) {
	const name = "\x48\x01e"
	for text, c := range map[string]struct {
		union string
		want  LogicalType
		bad   bool
	}{
		"none":                     {"\x00", LogicalType{}, false},
		"string":                   {"\x1c\x00\x00", LogicalType{Kind: LogicalString}, false},
		"9":                        {"\x9c\x00\x00", LogicalType{}, false},
		"19":                       {"\x0c\x26\x00\x00", LogicalType{}, false},
		"18":                       {"\x0c\x24\x00\x00", LogicalType{Kind: LogicalGeography}, false},
		"a negative number":        {"\x0c\x01\x00\x00", LogicalType{}, false},
		"a number":                 {"\x15\x02\x00", LogicalType{}, true},
		"an unknown number":        {"\x95\x02\x00", LogicalType{}, false},
		"integer":                  {"\xac\x13\x10\x11\x00\x00", LogicalType{Kind: LogicalInteger, Bits: 16, Signed: true}, false},
		"integer without a sign":   {"\xac\x13\x10\x00\x00", LogicalType{Kind: LogicalInteger, Bits: 16}, true},
		"integer of another type":  {"\xac\x15\x10\x11\x00\x00", LogicalType{Kind: LogicalInteger, Signed: true}, true},
		"time":                     {"\x7c\x12\x1c\x3c\x00\x00\x00\x00", LogicalType{Kind: LogicalTime, Unit: Nanos}, false},
		"time of an unknown unit":  {"\x7c\x12\x1c\x4c\x00\x00\x00\x00", LogicalType{Kind: LogicalTime}, true},
		"time without a unit":      {"\x7c\x12\x00\x00", LogicalType{Kind: LogicalTime}, true},
		"decimal":                  {"\x5c\x15\x04\x15\x12\x00\x00", LogicalType{Kind: LogicalDecimal, Scale: 2, Precision: 9}, false},
		"decimal without a scale":  {"\x5c\x25\x12\x00\x00", LogicalType{Kind: LogicalDecimal, Precision: 9}, true},
		"decimal of 33 bits":       {"\x5c\x15\x04\x15\x80\x80\x80\x80\x20\x00\x00", LogicalType{Kind: LogicalDecimal, Scale: 2}, true},
		"geometry with its system": {"\x0c\x22\x18\x01x\x00\x00", LogicalType{Kind: LogicalGeometry}, false},
	} {
		r := thrift.Reader{B: []byte(name + "\x6c" + c.union + "\x00")}
		e := ReadSchemaElement(&r)
		require.Equal(t, c.want, e.Logical, text)
		require.Equal(t, c.bad, r.Failed(), text)
	}
	r := thrift.Reader{B: []byte("\x15\x02\x00")}
	ReadSchemaElement(&r)
	require.True(t, r.Bad, "without a name")
}

// TestReadPageIndex reads indexes as they were written, and rejects cut ones.
func TestReadPageIndex(t *testing.T) {
	for _, counts := range [][]int64{nil, {0, 3, 1 << 40}} {
		index := ColumnIndex{
			NullPages: []bool{false, true, false}, Min: [][]byte{{1}, {}, []byte("low")}, Max: [][]byte{{2}, {}, []byte("high")}, Order: Ascending, NullCounts: counts,
		}
		var w thrift.Writer
		index.Append(&w)
		got, ok := ReadColumnIndex(w.B)
		require.True(t, ok)
		require.Equal(t, index, got)
		for end := range w.B {
			_, ok := ReadColumnIndex(w.B[:end])
			require.False(t, ok, end)
		}
		for _, change := range []func(x *ColumnIndex){
			func(x *ColumnIndex) { x.NullPages = x.NullPages[1:] },
			func(x *ColumnIndex) { x.Min = x.Min[1:] },
			func(x *ColumnIndex) { x.Max = x.Max[1:] },
			func(x *ColumnIndex) { x.NullCounts = []int64{1} },
		} {
			odd := index
			change(&odd)
			var w thrift.Writer
			odd.Append(&w)
			_, ok := ReadColumnIndex(w.B)
			require.False(t, ok)
		}
	}
	var w thrift.Writer
	pages := []PageLocation{{4, 100, 0}, {1 << 40, 7, 1 << 33}}
	AppendOffsetIndex(&w, pages)
	got, ok := ReadOffsetIndex(w.B)
	require.True(t, ok)
	require.Equal(t, pages, got)
	for end := range w.B {
		_, ok := ReadOffsetIndex(w.B[:end])
		require.False(t, ok, end)
	}
}

// TestReadOddPageIndexes reads lists of elements of another type, and longer than their bytes.
func TestReadOddPageIndexes(t *testing.T) {
	for _, text := range []string{
		"", "\x00", "\x19\x15\x02\x00", "\x19\xfc\xff\xff\x03\x00", "\x19\x1c\x16\x02\x00\x00", "\x19\x1c\x16\x02\x15\x02\x00\x00",
	} {
		_, ok := ReadOffsetIndex([]byte(text))
		require.False(t, ok, "%q", text)
	}
	for _, text := range []string{
		"", "\x00", "\x19\x15\x02\x19\x18\x00\x19\x18\x00\x15\x00\x00", "\x19\x11\x01\x19\x15\x00\x19\x18\x00\x15\x00\x00",
		"\x19\x11\x01\x19\x18\x00\x19\x18\x00\x00", "\x19\xf1\xff\xff\x03\x00",
	} {
		_, ok := ReadColumnIndex([]byte(text))
		require.False(t, ok, "%q", text)
	}
	x, ok := ReadColumnIndex([]byte("\x19\x11\x01\x19\x18\x00\x19\x18\x00\x15\x00\x00"))
	require.True(t, ok)
	require.Equal(t, []bool{true}, x.NullPages)
}
