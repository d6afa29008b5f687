// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/vector"
)

// Searches of batches beside the obvious one.

// A slowHit is a row near to a query.
type slowHit struct {
	query, row int
	distance   float32
}

// slowly returns the nearest of some rows: it computes every distance in float64 and sorts all rows by distance, NaN
// last, then by order.
func slowly(vectors [][]float32, selected func(row int) bool, order func(a, b int) int, queries [][]float32, k int,
	metric vector.Metric, within func(score, distance float32) bool,
) (hits []slowHit) {
	for q, query := range queries {
		var all []slowHit
		for row, v := range vectors {
			if v != nil && selected(row) {
				d := float32(vector.Reference(metric, query, v)) + 0 // -0 is 0
				if d != d {
					d = float32(math.NaN()) // without a sign
				}
				all = append(all, slowHit{q, row, d})
			}
		}
		slices.SortFunc(all, func(a, b slowHit) int {
			switch an, bn := a.distance != a.distance, b.distance != b.distance; {
			case an && !bn:
				return 1
			case bn && !an:
				return -1
			case an && bn || a.distance == b.distance:
				return order(a.row, b.row)
			}
			return cmp.Compare(a.distance, b.distance)
		})
		for _, h := range all[:min(k, len(all))] {
			if within(metric.Score(h.distance, len(query)), h.distance) {
				hits = append(hits, h)
			}
		}
	}
	return hits
}

// resultOf makes the batch of hits as Batch does, from all rows of the source with the columns of the result.
func resultOf(t *testing.T, all *column.Batch, hits []slowHit, metric vector.Metric, dim int, many bool) *column.Batch {
	t.Helper()
	var rows, queries, ranks []int32
	var scores, distances []float32
	for i, h := range hits {
		rank := int32(1)
		if i > 0 && hits[i-1].query == h.query {
			rank = ranks[i-1] + 1
		}
		rows, queries, ranks = append(rows, int32(h.row)), append(queries, int32(h.query)), append(ranks, rank)
		scores, distances = append(scores, metric.Score(h.distance, dim)), append(distances, h.distance)
	}
	b, err := all.Take(rows)
	require.NoError(t, err)
	if many {
		b.Columns = append(b.Columns, column.Of("query", queries))
	}
	b.Columns = append(b.Columns, column.Of("rank", ranks), column.Of("score", scores), column.Of("distance", distances))
	return b
}

// A world is the rows of a source in batches. The elements of the vectors are small integers, so that float32 has all
// sums exactly.
type world struct {
	batches []*column.Batch
	all     *column.Batch
	vectors [][]float32 // nil for NULL
}

const worldDim = 5

func randomVector(r *rand.Rand) []float32 {
	v := make([]float32, worldDim)
	for i := range v {
		v[i] = float32(r.IntN(7) - 3)
	}
	v[0] = 4 // not zero
	return v
}

// newWorld makes batches of random sizes, with duplicates, NULLs, zeros and rows whose distance is NaN.
func newWorld(t *testing.T, r *rand.Rand, sizes ...int) *world {
	t.Helper()
	w := &world{}
	few := [][]float32{randomVector(r), randomVector(r)}
	id := int64(0)
	for _, size := range sizes {
		var ids, tags []int64
		var names []string
		var flat []float32
		offsets := []int32{0}
		nulls := make([]bool, size)
		for i := range size {
			v := randomVector(r)
			switch r.IntN(10) {
			case 0:
				nulls[i] = true
			case 1:
				v = make([]float32, worldDim)
			case 2:
				v[1] = float32(math.NaN())
			case 3, 4:
				v = few[r.IntN(2)]
			}
			flat = append(flat, v...)
			ids, names = append(ids, id), append(names, fmt.Sprint("row ", id%17))
			for range r.IntN(3) {
				tags = append(tags, r.Int64N(100))
			}
			offsets = append(offsets, int32(len(tags)))
			w.vectors = append(w.vectors, v)
			if nulls[i] {
				w.vectors[len(w.vectors)-1] = nil
			}
			id++
		}
		prices := make([]float64, size)
		for i := range prices {
			prices[i] = float64(r.IntN(100))
		}
		embedding := column.Matrix("embedding", flat, worldDim).WithNulls(nulls)
		if !slices.Contains(nulls, false) { // as the driver has a column without a value
			embedding.Type.Dim, embedding.Values = 0, nil
		}
		w.batches = append(w.batches, column.NewBatch(column.Of("id", ids), embedding, column.Strings("name", names),
			column.Of("price", prices).WithNulls(nulls), column.Lists("tags", offsets, column.Of("", tags))))
	}
	all, err := column.Concat(w.batches...)
	require.NoError(t, err)
	w.all = all
	return w
}

// borrowed yields the batches in memory that is overwritten when the loop goes on.
func (w *world) borrowed() iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		for _, b := range w.batches {
			clone := b.Clone()
			if !yield(clone, nil) {
				return
			}
			for i := range clone.Columns {
				clear(clone.Columns[i].Values)
				clear(clone.Columns[i].Offsets)
				clear(clone.Columns[i].Validity)
			}
		}
	}
}

// requireBatch requires equal batches.
func requireBatch(t *testing.T, want, got *column.Batch, message ...any) {
	t.Helper()
	require.NoError(t, got.Check(), message...)
	require.Empty(t, column.Diff(want, got), message...)
}

func everyRow(int) bool { return true }

func always(_, _ float32) bool { return true }

// TestOverEqualsSlowSearch compares searches of random sources for all metrics, numbers of queries, filters and bounds.
func TestOverEqualsSlowSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		sizes := []int{0}
		for range 1 + r.IntN(12) {
			sizes = append(sizes, r.IntN(120)*r.IntN(2)+r.IntN(3))
		}
		w := newWorld(t, r, sizes...)
		columns, err := w.all.Select("id", "name", "price", "tags")
		require.NoError(t, err)
		price := w.all.Column("price")
		for _, metric := range []vector.Metric{vector.Cosine, vector.L2, vector.SquaredL2, vector.Dot} {
			queries := make([][]float32, 1+r.IntN(9))
			for i := range queries {
				queries[i] = randomVector(r)
			}
			k := 1 + r.IntN(20)*r.IntN(8)
			search := Over(w.borrowed(), "embedding").Metric(metric)
			selected, within := everyRow, always
			if r.IntN(2) == 0 {
				search = search.Where("price < ?", 70).Where("price <> 5")
				selected = func(i int) bool { p, ok := price.Value(i).(float64); return ok && p < 70 && p != 5 }
			}
			switch r.IntN(4) {
			case 0:
				search, within = search.MinScore(0.2), func(s, _ float32) bool { return s >= 0.2 }
			case 1:
				search, within = search.MaxDistance(1), func(_, d float32) bool { return d <= 1 }
			}
			message := fmt.Sprintf("%v, k %d, %d queries, batches of %v", metric, k, len(queries), sizes)
			hits := slowly(w.vectors, selected, cmp.Compare[int], queries, k, metric, within)
			got, err := search.Batch(t.Context(), queries, k)
			require.NoError(t, err, message)
			requireBatch(t, resultOf(t, columns, hits, metric, worldDim, true), got, message)
			for q := range queries {
				hits := slowly(w.vectors, selected, cmp.Compare[int], queries[q:q+1], k, metric, within)
				got, err := search.Nearest(t.Context(), queries[q], k)
				require.NoError(t, err, message)
				requireBatch(t, resultOf(t, columns, hits, metric, worldDim, false), got, message)
			}
		}
	}
}

// TestOverPartsOfBatches searches a batch that is larger than a part.
func TestOverPartsOfBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w := newWorld(t, r, 9001, 10)
	queries := make([][]float32, 300) // parts of 4096 rows
	for i := range queries {
		queries[i] = randomVector(r)
	}
	columns, err := w.all.Select("name", "id", "embedding")
	require.NoError(t, err)
	price := w.all.Column("price")
	cheap := func(i int) bool { p, ok := price.Value(i).(float64); return ok && p < 3 }
	for _, filter := range []bool{false, true} {
		search, selected := Over(w.borrowed(), "embedding").Columns("name", "id", "embedding"), everyRow
		if filter {
			search, selected = search.Where("price < 3"), cheap
		}
		got, err := search.Batch(t.Context(), queries, 3)
		require.NoError(t, err)
		hits := slowly(w.vectors, selected, cmp.Compare[int], queries, 3, vector.Cosine, always)
		requireBatch(t, resultOf(t, columns, hits, vector.Cosine, worldDim, true), got)
	}
}

// TestOverBlobs searches quantized vectors: with scales, and bits by Hamming.
func TestOverBlobs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for format, metric := range map[vector.Format]vector.Metric{vector.Int8: vector.L2, vector.Bits: vector.Hamming} {
		const rows, dim = 6000, 24
		var blobs []byte
		var ids []int32
		for i := range rows {
			v := make([]float32, dim)
			for j := range v {
				v[j] = float32(r.IntN(255) - 127)
			}
			v[0] = 127 // the scale is 1
			var err error
			blobs, err = vector.Quantize(blobs, format, v)
			require.NoError(t, err)
			ids = append(ids, int32(i))
		}
		nulls := make([]bool, rows)
		for i := range nulls {
			nulls[i] = i%5 == 1
		}
		c := column.FixedBytes("v", blobs, len(blobs)/rows).WithNulls(nulls)
		b := column.NewBatch(column.Of("id", ids), c)
		m, err := vector.MatrixOfColumn(&c)
		require.NoError(t, err)
		queries := make([]float32, 260*dim)
		list := make([][]float32, 260)
		for i := range queries {
			queries[i] = float32(r.IntN(255) - 127)
		}
		for i := range list {
			list[i] = queries[i*dim : (i+1)*dim]
		}
		want, err := vector.Nearest(t.Context(), m, queries, 4, metric, vector.Options{})
		require.NoError(t, err)
		got, err := Over(sourceOf(b), "v").Metric(metric).Batch(t.Context(), list, 4)
		require.NoError(t, err)
		found, err := column.Slice[int32](got.Column("id"))
		require.NoError(t, err)
		for i, p := range want.Positions {
			require.Equal(t, p, int64(found[i]), "%v", format)
		}
		distances, err := column.Slice[float32](got.Column("distance"))
		require.NoError(t, err)
		require.Equal(t, want.Distances, distances)
	}
}

// sourceOf yields batches.
func sourceOf(batches ...*column.Batch) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		for _, b := range batches {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// TestOverChecksQueries requires the errors of queries before the source is read.
func TestOverChecksQueries(t *testing.T) {
	unread := func(func(*column.Batch, error) bool) { t.Error("the source was read") }
	over := Over(unread, "v")
	var element *vector.ElementError
	var dimension *vector.DimensionError
	_, err := over.Nearest(t.Context(), []float32{1, float32(math.Inf(1))}, 1)
	require.ErrorAs(t, err, &element)
	_, err = over.Batch(t.Context(), [][]float32{{1, 2}, {1}}, 1)
	require.ErrorAs(t, err, &dimension)
	require.EqualError(t, err, "search: vector: query 1 of dimension 1, want 2")
	for want, search := range map[error]func() error{
		vector.ErrK:     func() error { _, err := over.Nearest(t.Context(), []float32{1}, 0); return err },
		vector.ErrZero:  func() error { _, err := over.Nearest(t.Context(), []float32{0, 0}, 1); return err },
		vector.ErrShape: func() error { _, err := over.Nearest(t.Context(), nil, 1); return err },
		vector.ErrMetric: func() error {
			_, err := over.Metric(77).Nearest(t.Context(), []float32{1}, 1)
			return err
		},
	} {
		require.ErrorIs(t, search(), want)
	}
	_, err = over.Where("price <").Nearest(t.Context(), []float32{1}, 1)
	var syntax *expr.SyntaxError
	require.ErrorAs(t, err, &syntax)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	_, err = over.Nearest(ctx, []float32{1}, 1)
	require.ErrorIs(t, err, cause)
	b, err := over.Batch(t.Context(), nil, 3)
	require.NoError(t, err)
	require.Equal(t, []string{"query", "rank", "score", "distance"}, b.Schema().Names())
	require.Zero(t, b.Rows)
}

// TestOverChecksColumns requires the errors of sources.
func TestOverChecksColumns(t *testing.T) {
	one := func(columns ...column.Column) *column.Batch {
		return column.NewBatch(append(columns, column.Matrix("v", []float32{1, 2}, 2))...)
	}
	ids := column.Of("id", []int64{1})
	failure := errors.New("no such file")
	failing := func(yield func(*column.Batch, error) bool) { yield(nil, failure) }
	for name, test := range map[string]struct {
		search *Source
		want   error
		text   string
	}{
		"another column": {Over(sourceOf(one(ids)), "w"), column.ErrNoColumn, `"w"; the columns are: id, v`},
		"another result": {Over(sourceOf(one(ids)), "v").Columns("x"), column.ErrNoColumn, `"x"`},
		"column rank":    {Over(sourceOf(one(column.Of("rank", []int64{1}))), "v"), ErrSchema, "column rank"},
		"column query":   {Over(sourceOf(one(column.Of("query", []int64{1}))), "v"), ErrSchema, "column query"},
		"fewer columns":  {Over(sourceOf(one(ids), one()), "v"), ErrSchema, "a batch has 1 columns, the first one has 2 (batch from row 1"},
		"other names":    {Over(sourceOf(one(ids), one(ids.As("x"))), "v"), ErrSchema, "x int64"},
		"other types":    {Over(sourceOf(one(ids), one(column.Of("id", []int32{1}))), "v"), ErrSchema, "id int32"},
		"other elements": {
			Over(sourceOf(one(column.Lists("l", []int32{0, 1}, ids)), one(column.Lists("l", []int32{0, 1}, column.Of("id", []int32{1})))), "v"),
			ErrSchema, "element int32",
		},
		"an error": {Over(failing, "v"), failure, "read the source: no such file"},
	} {
		_, err := test.search.Batch(t.Context(), [][]float32{{1, 2}}, 1)
		require.ErrorIs(t, err, test.want, name)
		require.ErrorContains(t, err, test.text, name)
	}
	var dimension *vector.DimensionError
	_, err := Over(sourceOf(one(ids)), "v").Nearest(t.Context(), []float32{1}, 1)
	require.ErrorAs(t, err, &dimension)
	var typed *column.TypeError
	_, err = Over(sourceOf(one(ids)), "id").Nearest(t.Context(), []float32{1}, 1)
	require.ErrorAs(t, err, &typed)
	var compile *expr.CompileError
	_, err = Over(sourceOf(one(ids)), "v").Where("price > 3").Nearest(t.Context(), []float32{1, 1}, 1)
	require.ErrorAs(t, err, &compile)
	var row *expr.RowError
	_, err = Over(sourceOf(one(ids)), "v").Where("id / (id - 1) > 3").Nearest(t.Context(), []float32{1, 1}, 1)
	require.ErrorAs(t, err, &row)

	b, err := Over(sourceOf(one(column.Of("rank", []int64{1}), column.Of("query", []int64{7}))), "v").Columns("query").
		Nearest(t.Context(), []float32{1, 1}, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"query", "rank", "score", "distance"}, b.Schema().Names())
	b, err = Over(sourceOf(), "v").Nearest(t.Context(), []float32{1, 1}, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"rank", "score", "distance"}, b.Schema().Names())
}

// TestOverSettersCopy requires that setters leave their receiver as it was.
func TestOverSettersCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	w := newWorld(t, r, 50)
	base := Over(w.borrowed(), "embedding").Where("price < 90")
	query := randomVector(r)
	want, err := base.Nearest(t.Context(), query, 9)
	require.NoError(t, err)
	seen := int64(-1)
	few, err := base.Where("price < 20").MaxDistance(0.5).MinScore(0.7).Metric(vector.L2).Columns("id").
		Progress(func(rows int64) { seen = rows }).Nearest(t.Context(), query, 2)
	require.NoError(t, err)
	require.Equal(t, int64(50), seen)
	require.NotEqual(t, want.Schema(), few.Schema())
	got, err := base.Nearest(t.Context(), query, 9)
	require.NoError(t, err)
	requireBatch(t, want, got)
}

// TestOverEnds cancels a search between batches.
func TestOverEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	w := newWorld(t, r, 20, 20, 20)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	read := int64(0)
	_, err := Over(w.borrowed(), "embedding").Progress(func(rows int64) {
		if read = rows; rows == 40 {
			cancel(cause)
		}
	}).Nearest(ctx, randomVector(r), 3)
	require.ErrorIs(t, err, cause)
	require.Equal(t, int64(40), read)
}

// TestOverMemory searches many rows, each nearer than the ones before, and holds the number of copied rows.
func TestOverMemory(t *testing.T) {
	const rows, k = 20000, 8
	seek, err := newSeeker([][]float32{{0, 1}, {1, 1}}, k, vector.L2)
	require.NoError(t, err)
	var w scratch
	most := 0
	for i := 0; i < rows; i += 10 {
		var v []float32
		var ids []int64
		for j := range 10 {
			v, ids = append(v, float32(rows-i-j), 1), append(ids, int64(i+j))
		}
		b := column.NewBatch(column.Matrix("v", v, 2), column.Of("id", ids))
		if i == 0 {
			require.NoError(t, seek.setSchema(b.Schema(), "v", nil))
			seek.columns = []int{1}
		}
		require.NoError(t, seek.add(t.Context(), &w, b, int64(i)))
		most = max(most, seek.kept.held)
		require.LessOrEqual(t, len(seek.kept.chunks)+len(seek.kept.idle), 4*2*k+64+spareChunks)
	}
	require.LessOrEqual(t, most, 4*2*k+64+10)
	f, err := seek.found()
	require.NoError(t, err)
	ids, err := column.Slice[int64](f.batch.Column("id"))
	require.NoError(t, err)
	for i, id := range ids {
		require.Equal(t, int64(rows-1-i%k), id)
	}
}

// TestOverAllocations holds the allocations of a search whose nearest rows come first: none for a row.
func TestOverAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const size, count, dim = 500, 40, 16
	var batches []*column.Batch
	for i := range count {
		v, ids, names := make([]float32, size*dim), make([]int64, size), make([]string, size)
		for j := range v {
			v[j] = r.Float32() + float32(i)
		}
		batches = append(batches, column.NewBatch(column.Of("id", ids), column.Matrix("v", v, dim), column.Strings("name", names)))
	}
	queries := make([][]float32, 8)
	for i := range queries {
		queries[i] = make([]float32, dim)
		queries[i][i] = 0.5
	}
	allocations := func(batches []*column.Batch) float64 {
		search := Over(sourceOf(batches...), "v").Metric(vector.L2).Where("id < 10")
		return testing.AllocsPerRun(5, func() {
			_, err := search.Batch(t.Context(), queries, 10)
			require.NoError(t, err)
		})
	}
	few, many := allocations(batches[:2]), allocations(batches)
	require.LessOrEqual(t, many-few, float64(6*(count-2)), "batches of %d rows", size)
}

// FuzzOver compares searches of any floats with searches of all rows in memory, for all ways to cut the rows.
func FuzzOver(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(2), uint8(3), uint8(2), uint8(4))
	f.Add([]byte{0, 0, 0, 255, 255, 255, 127, 127, 128}, uint8(1), uint8(1), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, dim, k, queries, metric uint8) {
		d, n := int(dim%6)+1, int(queries%8)
		m := vector.Metric(metric%4) + vector.SquaredL2
		special := []float32{float32(math.NaN()), float32(math.Inf(1)), -1e38, 0}
		var values []float32
		for _, b := range data {
			v := float32(b) - 100
			if b > 251 {
				v = special[b-252]
			}
			values = append(values, v)
		}
		rows := len(values) / d
		if rows == 0 {
			return
		}
		values = values[:rows*d]
		list := make([][]float32, n)
		var flat []float32
		for i := range list {
			list[i] = make([]float32, d)
			list[i][i%d] = float32(1 + i)
			flat = append(flat, list[i]...)
		}
		ids := make([]int64, rows)
		nulls := make([]bool, rows)
		for i := range ids {
			ids[i], nulls[i] = int64(i), data[i]%9 == 0
		}
		v := column.Matrix("v", values, d).WithNulls(nulls)
		all := column.NewBatch(column.Of("id", ids), v)
		var batches []*column.Batch
		for at := 0; at < rows; {
			to := min(at+int(data[at])%7, rows)
			batches = append(batches, all.Slice(at, to))
			if to == at {
				to++
				batches = append(batches, all.Slice(at, to))
			}
			at = to
		}
		matrix, err := vector.MatrixOfColumn(&v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := vector.Nearest(t.Context(), matrix, flat, int(k)+1, m, vector.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Over(sourceOf(batches...), "v").Metric(m).Batch(t.Context(), list, int(k)+1)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		found, _ := column.Slice[int64](got.Column("id"))
		distances, _ := column.Slice[float32](got.Column("distance"))
		if !slices.Equal(found, want.Positions) || slices.CompareFunc(distances, want.Distances, func(a, b float32) int {
			return int(int32(math.Float32bits(a)) - int32(math.Float32bits(b)))
		}) != 0 {
			t.Fatalf("%v %v, want %v %v", found, distances, want.Positions, want.Distances)
		}
	})
}
