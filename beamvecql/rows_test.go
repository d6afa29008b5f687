// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Structs to batches and back.

type item struct {
	Label     string
	ID        int64 `cql:"id"`
	Stock     *int32
	Small     int16
	Byte      uint8
	Sold      bool
	Price     float64
	Ratio     *float32
	Image     []byte
	Embedding []float32
	Tags      []string
	Counts    []int64
}

func init() {
	RegisterRow[item]()
	beam.RegisterFunction(emitItems)
	beam.RegisterDoFn(&collectItemFn{})
}

// manyItems returns rows with all shapes of values.
func manyItems(n int) []item {
	var list []item
	for i := range n {
		stock, ratio := int32(-i), float32(i)/4
		it := item{
			Label: fmt.Sprint("label ", i%7), ID: int64(i), Stock: &stock, Small: int16(i), Byte: uint8(i), Sold: i%2 == 0,
			Price: float64(i) / 8, Ratio: &ratio, Image: []byte{byte(i), 1}, Embedding: []float32{float32(i), 2},
			Tags: make([]string, i%3), Counts: []int64{int64(i)},
		}
		if i%5 == 1 {
			it.Stock, it.Ratio, it.Image, it.Embedding, it.Tags, it.Counts = nil, nil, nil, nil, nil, nil
		}
		if i%1500 == 1400 { // the vectors of a batch differ in length
			it.Embedding = []float32{1, 2, 3}
		}
		list = append(list, it)
	}
	return list
}

func emitItems(_ []byte, emit func(item)) {
	for _, it := range manyItems(2500) {
		emit(it)
	}
}

var collectedItems = struct {
	sync.Mutex
	list []item
}{}

type collectItemFn struct{}

func (*collectItemFn) ProcessElement(it item) {
	collectedItems.Lock()
	defer collectedItems.Unlock()
	collectedItems.list = append(collectedItems.list, it)
}

// TestRows converts structs to batches and back, encoded in between.
func TestRows(t *testing.T) {
	collectedItems.list = nil
	var made func() []*column.Batch
	_, err := run(t, func(s beam.Scope) {
		rows := beam.Reshuffle(s, beam.ParDo(s, emitItems, beam.Impulse(s)))
		batches := Batches[item](s, rows)
		made = collect(t, s, batches)
		again := beam.Reshuffle(s, Rows[item](s, beam.Reshuffle(s, batches)))
		beam.ParDo0(s, &collectItemFn{}, again)
	})
	require.NoError(t, err)
	for _, b := range made() {
		require.LessOrEqual(t, b.Rows, batchRows)
		require.NoError(t, b.Check())
	}
	got := collectedItems.list
	slices.SortFunc(got, func(a, b item) int { return int(a.ID - b.ID) })
	want := manyItems(2500)
	for i := range want {
		require.Equal(t, want[i].normal(), got[i].normal(), "row %d", i)
	}
	require.Len(t, got, len(want))
}

// TestLargeRows requires that a batch ends by its bytes, too.
func TestLargeRows(t *testing.T) {
	fn := &batchesFn{Type: beam.EncodedType{T: reflect.TypeFor[item]()}}
	var sizes []int
	emit := func(b *column.Batch) { sizes = append(sizes, b.Rows) }
	for range 5 {
		require.NoError(t, fn.ProcessElement(item{Image: make([]byte, 3<<20), Tags: []string{strings.Repeat("x", 2<<20)}}, emit))
	}
	require.Equal(t, []int{2, 2}, sizes)
	fn.FinishBundle(emit)
	fn.FinishBundle(emit)
	require.Equal(t, []int{2, 2, 1}, sizes)
	require.ErrorIs(t, fn.ProcessElement(7, emit), ErrRow)
}

// normal returns an item with nil for slices without elements: Beam's row coder has no nil for slices in its schema.
func (it item) normal() item {
	v := reflect.ValueOf(&it).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Len() == 0 {
			f.SetZero()
		}
	}
	return it
}

// TestRowValues requires the documented conversions, and an error for all others.
func TestRowValues(t *testing.T) {
	type values struct {
		Int   int32
		Float float64
		Half  float32
		Text  string
		List  []float64
	}
	fits := column.NewBatch(
		mustType(t, column.Of("int", []int32{7}), column.Type{Kind: column.Date}), column.Of("float", []int64{1 << 53}),
		column.Of("half", []float32{0.5}), column.Of("text", [][16]byte{{15: 1}}), column.Matrix("list", []float32{1, 2}, 2))
	convert := func(b *column.Batch) (got values, err error) {
		fn := &rowsFn{beam.EncodedType{T: reflect.TypeFor[values]()}}
		err = fn.ProcessElement(b, func(row beam.Y) { got = row.(values) })
		return got, err
	}
	got, err := convert(fits)
	require.NoError(t, err)
	require.Equal(t, values{7 * 24 * 60 * 60 * 1000, 1 << 53, 0.5, "00000000-0000-0000-0000-000000000001", []float64{1, 2}}, got)
	for i, wrong := range []column.Column{
		column.Of("int", []int64{1 << 31}), column.Of("int", []uint64{1 << 63}), column.Of("int", []float64{1}),
		column.Of("float", []int64{1<<53 + 1}), column.Strings("float", []string{"1"}), column.Of("half", []float64{0.5}),
		column.Of("text", []int64{1}), column.Binaries("text", [][]byte{{1}}), column.Strings("list", []string{"x"}),
		column.Lists("list", []int32{0, 1}, column.Of("", []float32{1}).WithNulls([]bool{true})),
		column.Of("int", []int32{1}).WithNulls([]bool{true}),
	} {
		b := *fits
		b.Columns = slices.Clone(b.Columns)
		b.Columns[b.Index(wrong.Name)] = wrong
		_, err := convert(&b)
		require.ErrorIs(t, err, ErrRow, "%d", i)
		require.ErrorContains(t, err, "column "+wrong.Name)
	}
	_, err = convert(&column.Batch{Columns: fits.Columns[1:], Rows: 1})
	require.ErrorIs(t, err, column.ErrNoColumn)
}

// TestClockValuesAreIntegersOfCQL requires the integers that package vecql binds to a timestamp and a time, from
// columns of every unit.
func TestClockValuesAreIntegersOfCQL(t *testing.T) {
	for _, c := range []struct {
		typ    column.Type
		stored int64
		want   int64
	}{
		{column.Type{Kind: column.Timestamp, Unit: column.Millis}, -1, -1},
		{column.Type{Kind: column.Timestamp, Unit: column.Micros}, -7000, -7},
		{column.Type{Kind: column.Timestamp, Unit: column.Nanos}, 7e6, 7},
		{column.Type{Kind: column.Time, Unit: column.Millis}, 7, 7e6},
		{column.Type{Kind: column.Time, Unit: column.Micros}, 7, 7000},
		{column.Type{Kind: column.Time, Unit: column.Nanos}, 7, 7},
	} {
		var got int64
		clock := mustType(t, column.Of("at", []int64{c.stored}), c.typ)
		require.NoError(t, setValue(reflect.ValueOf(&got).Elem(), &clock, 0))
		require.Equal(t, c.want, got, "%v", c.typ)
	}
	parts := mustType(t, column.Of("at", []int64{1001}), column.Type{Kind: column.Timestamp, Unit: column.Micros})
	require.ErrorContains(t, setValue(reflect.ValueOf(new(int64)).Elem(), &parts, 0), "part below the millisecond")
}

func TestRegisterRow(t *testing.T) {
	require.PanicsWithValue(t,
		"beamvecql: register row struct { At time.Time }: field At of type time.Time cannot be encoded",
		RegisterRow[struct{ At time.Time }])
	require.Panics(t, RegisterRow[struct{ private int }])
	require.Panics(t, RegisterRow[struct{ N int }])
	require.Panics(t, RegisterRow[struct{ N [][]int64 }])
	require.Panics(t, RegisterRow[int])
}
