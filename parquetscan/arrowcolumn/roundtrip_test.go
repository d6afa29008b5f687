// SPDX-License-Identifier: Apache-2.0

package arrowcolumn_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Round trips of batches through Arrow.

// TestRoundTrip converts columns of every kind to Arrow and back: whole and sliced, through IPC, with the schema of the
// batch and with a given one.
func TestRoundTrip(t *testing.T) {
	for _, f := range columntest.Fields() {
		for _, nulls := range []float64{0, 0.3, 1} {
			for _, n := range []int{0, 1, 8, 100} {
				t.Run(fmt.Sprintf("column=%s/nulls=%v/rows=%d", f.Name, nulls, n), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(n), 7))
					b := columntest.Batch(r, []column.Field{f}, n, nulls)
					requireRoundTrip(t, r, b, nil)
					schema, err := arrowcolumn.Schema(b.Schema())
					require.NoError(t, err)
					requireRoundTrip(t, r, b, schema)
					if f.Type.Kind.IsText() {
						coded := column.NewBatch(columntest.WithDictionary(b.Columns[0]))
						requireRoundTrip(t, r, coded, nil)
						requireRoundTrip(t, r, coded, schema)
					}
				})
			}
		}
	}
}

// FuzzRoundTrip converts random batches.
func FuzzRoundTrip(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, uint8(seed*3), uint8(seed*5))
	}
	fields := columntest.Fields()
	f.Fuzz(func(t *testing.T, seed uint64, rows, nulls uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var some []column.Field
		for range 5 {
			some = append(some, fields[r.IntN(len(fields))])
		}
		b := columntest.Batch(r, some, int(rows), float64(nulls)/255)
		for i := range b.Columns {
			if b.Columns[i].Type.Kind.IsText() && r.IntN(2) == 0 {
				b.Columns[i] = columntest.WithDictionary(b.Columns[i])
			}
		}
		from := r.IntN(b.Rows + 1)
		requireRoundTrip(t, r, b.Slice(from, from+r.IntN(b.Rows-from+1)), nil)
	})
}

func requireRoundTrip(t *testing.T, r *rand.Rand, want *column.Batch, schema *arrow.Schema) {
	t.Helper()
	rec, err := arrowcolumn.Record(want)
	if schema != nil {
		rec, err = arrowcolumn.RecordAs(want, schema)
	}
	require.NoError(t, err)
	require.EqualValues(t, want.Rows, rec.NumRows())
	requireEqual(t, rec, want)
	read := throughIPC(t, rec)[0]
	require.True(t, array.RecordEqual(rec, read))
	require.True(t, rec.Schema().Equal(read.Schema()), "%v; want %v", read.Schema(), rec.Schema())
	requireEqual(t, read, want)
	for range 3 {
		from := r.IntN(want.Rows + 1)
		to := from + r.IntN(want.Rows-from+1)
		slice := rec.NewSlice(int64(from), int64(to))
		requireEqual(t, slice, want.Slice(from, to))
		mid := r.IntN(to - from + 1)
		requireEqual(t, slice.NewSlice(int64(mid), slice.NumRows()), want.Slice(from+mid, to))
		requireEqual(t, throughIPC(t, slice)[0], want.Slice(from, to))
	}
}

// requireEqual checks that the record of a batch is valid, and that its batch converts to the same record.
func requireEqual(t *testing.T, rec arrow.RecordBatch, want *column.Batch) {
	t.Helper()
	for i, arr := range rec.Columns() {
		require.NoError(t, array.ValidateFull(arr), "%v", want.Columns[i].Field())
	}
	got, err := arrowcolumn.Batch(rec)
	require.NoError(t, err)
	require.NoError(t, got.Check())
	require.Empty(t, column.Diff(got, want))
	fields, err := arrowcolumn.Fields(rec.Schema())
	require.NoError(t, err)
	require.Equal(t, want.Schema().String(), fields.String())
	again, err := arrowcolumn.RecordAs(got, rec.Schema())
	require.NoError(t, err)
	require.True(t, array.RecordEqual(rec, again), "%v\n%v", rec, again)
}

// throughIPC writes records to memory and reads them.
func throughIPC(t *testing.T, recs ...arrow.RecordBatch) []arrow.RecordBatch {
	t.Helper()
	var read []arrow.RecordBatch
	r := ipcReader(t, recs...)
	for r.Next() {
		r.RecordBatch().Retain()
		read = append(read, r.RecordBatch())
	}
	require.NoError(t, r.Err())
	require.Len(t, read, len(recs))
	return read
}

func ipcReader(t *testing.T, recs ...arrow.RecordBatch) *ipc.Reader {
	t.Helper()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(recs[0].Schema()))
	for _, rec := range recs {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	r, err := ipc.NewReader(&buf)
	require.NoError(t, err)
	return r
}

// TestCodesStayCodes checks that codes and dictionary survive both conversions.
func TestCodesStayCodes(t *testing.T) {
	dict := column.NewDictionary([]byte("ab"), []int32{0, 1, 2})
	b := column.NewBatch(column.Codes("c", []uint32{1, 0, 9}, dict).WithNulls([]bool{false, false, true}))
	rec, err := arrowcolumn.Record(b)
	require.NoError(t, err)
	require.Equal(t, "dictionary<values=utf8, indices=uint32, ordered=false>", rec.Column(0).DataType().String())
	require.Equal(t, []uint32{1, 0, 0}, rec.Column(0).(*array.Dictionary).Indices().(*array.Uint32).Uint32Values())
	back, err := arrowcolumn.Batch(rec)
	require.NoError(t, err)
	codes, _ := back.Columns[0].Codes()
	require.Equal(t, []uint32{1, 0, 0}, codes)
	require.Empty(t, column.Diff(back, b))
}

// TestMarks checks the storage types and marks of kinds that Arrow does not have.
func TestMarks(t *testing.T) {
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	for _, c := range []struct {
		typ        column.Type
		want, mark string
	}{
		{kind(column.Bool), "bool", ""},
		{kind(column.Float16), "float16", ""},
		{kind(column.Date), "date32", ""},
		{kind(column.Duration), "month_day_nano_interval", ""},
		{kind(column.UUID), "fixed_size_binary[16]", "arrow.uuid"},
		{column.Type{Kind: column.Fixed, Width: 16}, "fixed_size_binary[16]", ""},
		{kind(column.Inet), "utf8", "vecql.inet"},
		{kind(column.Varint), "utf8", "vecql.varint"},
		{kind(column.Decimal), "utf8", "vecql.decimal"},
		{column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2}, "decimal(9, 2)", "vecql.decimal64"},
		{column.Type{Kind: column.Decimal128, Precision: 9, Scale: 2}, "decimal(9, 2)", ""},
		{column.Type{Kind: column.Time, Unit: column.Millis}, "time32[ms]", ""},
		{column.Type{Kind: column.Time, Unit: column.Nanos, UTC: true}, "time64[ns]", "vecql.time_utc"},
		{column.Type{Kind: column.Timestamp, Unit: column.Micros}, "timestamp[us]", ""},
		{column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}, "timestamp[ms, tz=UTC]", ""},
		{column.VectorOf(column.Float32, 3), "fixed_size_list<element: float32>[3]", ""},
		{column.VectorOf(column.Int64, 0), "list<element: int64>", "vecql.vector"},
	} {
		schema, err := arrowcolumn.Schema(column.Schema{{Name: "c", Type: c.typ}})
		require.NoError(t, err)
		require.Equal(t, c.want, schema.Field(0).Type.String())
		mark, _ := schema.Field(0).Metadata.GetValue("ARROW:extension:name")
		require.Equal(t, c.mark, mark, "%v", c.typ)
		require.False(t, schema.Field(0).Nullable)
		fields, err := arrowcolumn.Fields(schema)
		require.NoError(t, err)
		require.Equal(t, column.Schema{{Name: "c", Type: c.typ}}, fields)
	}
	schema, err := arrowcolumn.Schema(columntest.Fields())
	require.NoError(t, err)
	fields, err := arrowcolumn.Fields(schema)
	require.NoError(t, err)
	require.Equal(t, column.Schema(columntest.Fields()), fields)
}

// TestVectorsOfUnknownDimension converts vectors to a schema without a dimension, and back.
func TestVectorsOfUnknownDimension(t *testing.T) {
	schema, err := arrowcolumn.Schema(column.Schema{{Name: "v", Type: column.VectorOf(column.UUID, 0), Nullable: true}})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 3} {
		for _, nulls := range []float64{0, 0.4} {
			b := columntest.Batch(r, []column.Field{{Name: "v", Type: column.VectorOf(column.UUID, dim), Nullable: true}}, 20, nulls)
			rec, err := arrowcolumn.RecordAs(b, schema)
			require.NoError(t, err)
			require.NoError(t, array.ValidateFull(rec.Column(0)))
			got, err := arrowcolumn.Batch(throughIPC(t, rec)[0].NewSlice(3, 19))
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, b.Slice(3, 19)))
		}
	}
	allNull := column.Column{Name: "v", Type: column.VectorOf(column.UUID, 0), Len: 3}.WithValidity([]byte{0})
	rec, err := arrowcolumn.Record(column.NewBatch(allNull))
	require.NoError(t, err)
	require.True(t, rec.Schema().Equal(schema))
	got, err := arrowcolumn.Batch(rec)
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, column.NewBatch(allNull)))
}
