// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
)

// Arrays that break the rules of Arrow's format.

// A sample is a valid array and its field.
type sample struct {
	field arrow.Field
	data  *array.Data
}

// samples returns arrays of all supported types.
func samples(t testing.TB) []sample {
	var all []sample
	r := rand.New(rand.NewPCG(1, 1))
	b := columntest.Batch(r, columntest.Fields(), 20, 0.2)
	for i := range b.Columns {
		if b.Columns[i].Type.Kind.IsText() && i%2 == 0 {
			b.Columns = append(b.Columns, columntest.WithDictionary(b.Columns[i]))
		}
	}
	rec, err := Record(b)
	require.NoError(t, err)
	for i, arr := range rec.Columns() {
		all = append(all, sample{rec.Schema().Field(i), arr.Data().(*array.Data)})
	}
	mem := memory.NewGoAllocator()
	for _, dt := range []arrow.DataType{
		arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, arrow.LargeListOf(arrow.BinaryTypes.String),
		arrow.ListViewOf(arrow.BinaryTypes.String),
		arrow.LargeListViewOf(arrow.PrimitiveTypes.Int16), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int64, arrow.ListOf(arrow.BinaryTypes.String)), arrow.Null, arrow.FixedWidthTypes.Date64,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64},
		arrow.FixedSizeListOf(3, arrow.BinaryTypes.String), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), arrow.FixedWidthTypes.Timestamp_s,
	} {
		builder := array.NewBuilder(mem, dt)
		for i := range 20 {
			switch {
			case i%5 == 0:
				builder.AppendNull()
			default:
				builder.AppendEmptyValue()
			}
		}
		all = append(all, sample{arrow.Field{Name: "c", Type: dt, Nullable: true}, builder.NewArray().Data().(*array.Data)})
	}
	lists := arrow.Field{Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true}
	lists.Metadata = arrow.NewMetadata([]string{extensionName}, []string{markVector})
	vectors := columntest.Column(r, column.Field{Name: "v", Type: column.VectorOf(column.Int32, 3), Nullable: true}, 20, 0.2)
	data, err := dataOf(&vectors, lists)
	require.NoError(t, err)
	return append(all, sample{lists, data})
}

// broken returns a copy of an array with random damage.
func broken(r *rand.Rand, d *array.Data) *array.Data {
	buffers := make([]*memory.Buffer, 0, len(d.Buffers()))
	for _, b := range d.Buffers() {
		if b == nil || r.IntN(40) == 0 {
			buffers = append(buffers, nil)
			continue
		}
		raw := append([]byte(nil), b.Bytes()...)
		switch {
		case len(raw) > 0 && r.IntN(3) == 0:
			raw[r.IntN(len(raw))] = []byte{0, 1, 2, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(7)]
		case r.IntN(20) == 0:
			raw = raw[:r.IntN(len(raw)+1)]
		case len(raw) > 0 && r.IntN(20) == 0:
			raw = raw[1:] // not aligned
		}
		buffers = append(buffers, memory.NewBufferBytes(raw))
	}
	var children []arrow.ArrayData
	for _, child := range d.Children() {
		children = append(children, broken(r, child.(*array.Data)))
	}
	n, offset, nulls := d.Len(), d.Offset(), array.UnknownNullCount
	strange := []int{-1, 0, 1, 3, 21, 1 << 20, math.MaxInt32, math.MaxInt}
	switch r.IntN(20) {
	case 0:
		n = strange[r.IntN(len(strange))]
	case 1:
		offset = strange[r.IntN(len(strange))]
	case 2:
		nulls = strange[r.IntN(len(strange))]
	case 3:
		if len(children) > 0 {
			children = children[1:]
		}
	case 4:
		buffers = buffers[:r.IntN(len(buffers)+1)]
	}
	out := array.NewData(d.DataType(), n, buffers, children, nulls, offset)
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil && r.IntN(20) > 0 {
		out.SetDictionary(broken(r, dict))
	}
	return out
}

// convertBroken fails unless the conversion returns an error or a valid column.
func convertBroken(t testing.TB, f arrow.Field, d *array.Data) (ok bool) {
	field, err := columnField(f)
	require.NoError(t, err)
	s, err := spanOf(d)
	if err != nil {
		return false
	}
	c, err := (&converter{}).column(field, f.Type, s)
	if err != nil {
		return false
	}
	require.NoError(t, c.Check(), "%v", f)
	if c.Len < 100 {
		for i := range c.Len {
			c.Value(i)
		}
	}
	return true
}

// FuzzBatchMalformed reads damaged arrays of every type.
func FuzzBatchMalformed(f *testing.F) {
	all := samples(f)
	for _, s := range all {
		require.True(f, convertBroken(f, s.field, s.data), "%v", s.field)
	}
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		for _, s := range all {
			convertBroken(t, s.field, broken(r, s.data))
		}
	})
}

// TestMalformed breaks each rule of the format.
func TestMalformed(t *testing.T) {
	ints := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(bytesOf(v)) }
	longs := func(v ...int64) *memory.Buffer { return memory.NewBufferBytes(bytesOf(v)) }
	text := memory.NewBufferBytes([]byte("abc"))
	int8s := func(n int) arrow.ArrayData {
		return array.NewData(arrow.PrimitiveTypes.Int8, n, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, n))}, nil, 0, 0)
	}
	child := func(d ...arrow.ArrayData) []arrow.ArrayData { return d }
	codes := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int8}
	list, view := arrow.ListOf(arrow.PrimitiveTypes.Int8), arrow.ListViewOf(arrow.PrimitiveTypes.Int8)
	vector := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)
	record := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8})
	entries := arrow.MapOf(arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int8)
	runs := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8)
	ends := func(v ...int32) arrow.ArrayData {
		return array.NewData(arrow.PrimitiveTypes.Int32, len(v), []*memory.Buffer{nil, ints(v...)}, nil, 0, 0)
	}
	for name, c := range map[string]struct {
		t        arrow.DataType
		rows     int
		offset   int
		buffers  []*memory.Buffer
		children []arrow.ArrayData
	}{
		"no values":             {arrow.PrimitiveTypes.Int32, 1, 0, nil, nil},
		"few values":            {arrow.PrimitiveTypes.Int32, 3, 0, []*memory.Buffer{nil, ints(1, 2)}, nil},
		"few values from":       {arrow.PrimitiveTypes.Int32, 2, 1, []*memory.Buffer{nil, ints(1, 2)}, nil},
		"few bools":             {arrow.FixedWidthTypes.Boolean, 9, 0, []*memory.Buffer{nil, memory.NewBufferBytes([]byte{1})}, nil},
		"few bits":              {arrow.PrimitiveTypes.Int8, 9, 0, []*memory.Buffer{memory.NewBufferBytes([]byte{1}), memory.NewBufferBytes(make([]byte, 9))}, nil},
		"rows":                  {arrow.PrimitiveTypes.Int32, math.MaxInt, 0, []*memory.Buffer{nil, ints(1, 2)}, nil},
		"offset":                {arrow.PrimitiveTypes.Int32, 1, math.MaxInt, []*memory.Buffer{nil, ints(1, 2)}, nil},
		"negative":              {arrow.PrimitiveTypes.Int32, -1, 0, []*memory.Buffer{nil, ints(1, 2)}, nil},
		"text beyond":           {arrow.BinaryTypes.String, 2, 0, []*memory.Buffer{nil, ints(0, 2, 4), text}, nil},
		"text decreases":        {arrow.BinaryTypes.String, 2, 0, []*memory.Buffer{nil, ints(0, 2, 1), text}, nil},
		"text negative":         {arrow.BinaryTypes.String, 2, 0, []*memory.Buffer{nil, ints(-1, 2, 3), text}, nil},
		"text without offsets":  {arrow.BinaryTypes.String, 2, 0, []*memory.Buffer{nil, ints(0, 2), text}, nil},
		"text without bytes":    {arrow.BinaryTypes.String, 2, 0, []*memory.Buffer{nil, ints(0, 2, 3)}, nil},
		"text rows":             {arrow.BinaryTypes.String, math.MaxInt, 0, []*memory.Buffer{nil, ints(0, 2, 3), text}, nil},
		"large text beyond":     {arrow.BinaryTypes.LargeString, 1, 0, []*memory.Buffer{nil, longs(0, 1<<40), text}, nil},
		"large text negative":   {arrow.BinaryTypes.LargeString, 1, 0, []*memory.Buffer{nil, longs(-1<<40, 1), text}, nil},
		"view beyond":           {arrow.BinaryTypes.StringView, 1, 0, []*memory.Buffer{nil, ints(13, 0, 0, 0), text}, nil},
		"view buffer":           {arrow.BinaryTypes.StringView, 1, 0, []*memory.Buffer{nil, ints(13, 0, 1, 0), text}, nil},
		"view negative":         {arrow.BinaryTypes.StringView, 1, 0, []*memory.Buffer{nil, ints(-1, 0, 0, 0), text}, nil},
		"view offset":           {arrow.BinaryTypes.StringView, 1, 0, []*memory.Buffer{nil, ints(13, 0, 0, -1), text}, nil},
		"no dictionary":         {codes, 1, 0, []*memory.Buffer{nil, ints(0)}, nil},
		"list beyond":           {list, 1, 0, []*memory.Buffer{nil, ints(0, 3)}, child(int8s(2))},
		"list without elements": {list, 1, 0, []*memory.Buffer{nil, ints(0, 1)}, nil},
		"list of nil":           {list, 1, 0, []*memory.Buffer{nil, ints(0, 1)}, child(nil)},
		"list view beyond":      {view, 1, 0, []*memory.Buffer{nil, ints(1), ints(2)}, child(int8s(2))},
		"list view negative":    {view, 1, 0, []*memory.Buffer{nil, ints(1), ints(-2)}, child(int8s(2))},
		"list view sizes":       {view, 1, 0, []*memory.Buffer{nil, ints(1)}, child(int8s(2))},
		"vectors":               {vector, 2, 0, []*memory.Buffer{nil}, child(int8s(3))},
		"vectors from":          {vector, 1, math.MaxInt / 2, []*memory.Buffer{nil}, child(int8s(3))},
		"struct":                {record, 4, 0, []*memory.Buffer{nil}, child(int8s(3))},
		"struct without fields": {record, 4, 0, []*memory.Buffer{nil}, nil},
		"map":                   {entries, 1, 0, []*memory.Buffer{nil, ints(0, 1)}, child(int8s(3))},
		"runs end":              {runs, 4, 0, nil, child(ends(1, 3), int8s(2))},
		"runs decrease":         {runs, 4, 0, nil, child(ends(1, 3, 2, 4), int8s(4))},
		"runs of nothing":       {runs, 4, 0, nil, child(ends(1, 4), int8s(1))},
		"runs without":          {runs, 4, 0, nil, child(ends(1, 4))},
	} {
		field, err := columnField(arrow.Field{Name: "c", Type: c.t})
		require.NoError(t, err)
		s, err := spanOf(array.NewData(c.t, c.rows, c.buffers, c.children, 0, c.offset))
		if name == "few bits" {
			s, err = spanOf(array.NewData(c.t, c.rows, c.buffers, c.children, -1, c.offset))
		}
		if err == nil {
			_, err = (&converter{}).column(field, c.t, s)
		}
		require.ErrorIs(t, err, ErrMalformed, name)
	}
}
