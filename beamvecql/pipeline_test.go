// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// Whole pipelines, beside groupby on one machine.

var centroidConfig = groupby.Config{
	Keys:       groupby.By("label"),
	Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Mean("embedding").As("centroid")},
	Order:      groupby.Descending("count"), Limit: 10,
}

var centroids = RegisterGroups("test/centroids", centroidConfig)

const embeddingsTable = `CREATE TABLE shop.embeddings (id bigint PRIMARY KEY, label text, embedding vector<float, 4>);`

// embeddings returns rows whose labels have different frequencies. Elements are multiples of 1/16, so that sums are
// exact in any order.
func embeddings(first, n int) *column.Batch {
	r := rand.New(rand.NewPCG(uint64(first), 3))
	var ids []int64
	var labels []string
	var vectors []float32
	for i := range n {
		ids = append(ids, int64(first+i))
		labels = append(labels, fmt.Sprint("label ", int(r.ExpFloat64()*8)))
		for range 4 {
			vectors = append(vectors, float32(r.IntN(512))/16)
		}
	}
	return column.NewBatch(column.Of("id", ids), column.Strings("label", labels), column.Matrix("embedding", vectors, 4))
}

// writeEmbeddings writes files of several row groups and returns their pattern and all rows.
func writeEmbeddings(t *testing.T, files int) (pattern string, rows []*column.Batch) {
	t.Helper()
	dir := t.TempDir()
	for f := range files {
		var list []*column.Batch
		for g := range 3 {
			list = append(list, embeddings(f*300+g*100, 100))
		}
		name := filepath.Join(dir, fmt.Sprintf("part-%d.parquet", f))
		file, err := parquetscan.Create(name, list[0].Schema(), parquetscan.WriterOptions{RowGroupRows: 100})
		require.NoError(t, err)
		for _, b := range list {
			require.NoError(t, file.Write(b))
		}
		require.NoError(t, file.Close())
		rows = append(rows, list...)
	}
	return filepath.Join(dir, "part-*.parquet"), rows
}

// nightly is the pipeline of the tests: files to a table, and the largest groups of the table.
func nightly(s beam.Scope, uri, pattern string) beam.PCollection {
	rows := ReadParquet(s, ParquetOptions{BucketBytes: 1}, pattern)
	written, _ := Write(s, uri, "shop.embeddings", rows, WriteOptions{})
	return GroupBy(s, centroids, Read(s, uri, "SELECT label, embedding FROM shop.embeddings", ReadOptions{After: written}))
}

func TestPipeline(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, embeddingsTable)
	pattern, rows := writeEmbeddings(t, 4)
	want, err := centroidConfig.Aggregate(t.Context(), rows...)
	require.NoError(t, err)
	require.Equal(t, 10, want.Rows)
	var got func() []*column.Batch
	counters, err := run(t, func(s beam.Scope) { got = collect(t, s, nightly(s, uri, pattern)) })
	require.NoError(t, err)
	require.Len(t, got(), 1)
	require.Empty(t, column.Diff(got()[0], want))
	require.EqualValues(t, 12, counters["buckets_read"])
	require.EqualValues(t, 1200, counters["rows_written"])
	require.EqualValues(t, 2400, counters["rows_read"], "of the files and of the table")
	sessions.mu.Lock()
	defer sessions.mu.Unlock()
	require.Zero(t, sessions.open[uri].uses, "bundles end their use of the session")
}

// TestReadParquet requires all rows, with their numbers, also of files of different sizes in one bucket.
func TestReadParquet(t *testing.T) {
	pattern, rows := writeEmbeddings(t, 3)
	all, err := column.Concat(rows...)
	require.NoError(t, err)
	for _, size := range []int64{1, 3000, 1 << 30} {
		var got func() []*column.Batch
		_, err := run(t, func(s beam.Scope) {
			got = collect(t, s, ReadParquet(s, ParquetOptions{
				Columns: []string{"embedding", "id"}, RowNumbers: "number", BatchRows: 30, BucketBytes: size,
			}, pattern))
		})
		require.NoError(t, err)
		seen := make([]int, all.Rows)
		for _, b := range got() {
			require.Equal(t, all.Columns[2].Type, b.Columns[0].Type)
			for i := range b.Rows {
				number := int(b.Source.FirstRow) + i
				seen[number]++
				require.EqualValues(t, number, b.Column("number").Value(i))
				require.EqualValues(t, number, b.Column("id").Value(i))
				require.Equal(t, all.Columns[2].Value(number), b.Column("embedding").Value(i))
			}
		}
		require.NotContains(t, seen, 0)
		require.NotContains(t, seen, 2)
	}
	_, err = run(t, func(s beam.Scope) { ReadParquet(s, ParquetOptions{}, "missing-*.parquet") })
	require.ErrorContains(t, err, `beamvecql: open ["missing-*.parquet"]`)
}

// TestBucketErrors requires an error for an element that is no bucket, or one of a file that has changed.
func TestBucketErrors(t *testing.T) {
	for element, want := range map[string]string{
		"":                      "not a bucket of ReadParquet",
		"{}":                    "0 parts",
		`{"parts":[{}]}`:        "file does not exist",
		`{"before":-1}`:         "rows before",
		`{"parts":[{"file":7}`:  "not a bucket of ReadParquet",
		`{"parts":[{"size":1}]`: "not a bucket of ReadParquet",
	} {
		err := (&bucketFn{}).ProcessElement(t.Context(), element, nil)
		require.ErrorContains(t, err, want, element)
		require.Equal(t, want != "file does not exist", errors.Is(err, ErrBucket), element)
	}
}

var everything = RegisterGroups("test/everything", groupby.Config{
	Keys: groupby.By("label", "half", "score"),
	Aggregates: []groupby.Aggregate{
		groupby.Count(), groupby.CountOf("id"), groupby.Sum("id"), groupby.Mean("embedding"), groupby.Min("id"),
		groupby.Median("id"), groupby.CountDistinct("id"), groupby.ApproxCountDistinct("id"), groupby.TopK("id", 3),
		groupby.ArgMax("id", "label"), groupby.First("id"),
	},
	Order: groupby.ByKeys,
})

// keyed returns batches with keys of several kinds: NULLs, NaNs, both zeros, codes and plain text.
func keyed() []*column.Batch {
	var list []*column.Batch
	dict := column.NewDictionary([]byte("label 1label 2label 3"), []int32{0, 7, 14, 21})
	for f := range 6 {
		b := embeddings(f*100, 100)
		codes, scores, halves, null := make([]uint32, b.Rows), make([]float64, b.Rows), make([]int16, b.Rows), make([]bool, b.Rows)
		for i := range b.Rows {
			codes[i], halves[i], null[i] = uint32(i%3), int16(i%2), i%7 == 0
			scores[i] = []float64{math.NaN(), math.Copysign(math.NaN(), -1), 0, math.Copysign(0, -1), 1}[i%5]
		}
		if f%2 == 0 {
			b.Columns[1] = column.Codes("label", codes, dict)
		}
		b.Columns = append(b.Columns, column.Of("half", halves).WithNulls(null), column.Of("score", scores))
		b.Source.FirstRow = int64(f * 100)
		list = append(list, b)
	}
	return list
}

func init() { beam.RegisterFunction(emitKeyed) }

func emitKeyed(_ []byte, emit func(*column.Batch)) {
	for _, b := range keyed() {
		emit(b)
	}
}

// TestGroupBy requires the result of one machine for many aggregates and kinds of keys, in one batch and in shards.
func TestGroupBy(t *testing.T) {
	config, err := everything.config()
	require.NoError(t, err)
	want, err := config.Aggregate(t.Context(), keyed()...)
	require.NoError(t, err)
	var one, some, none func() []*column.Batch
	_, err = run(t, func(s beam.Scope) {
		batches := beam.Reshuffle(s, beam.ParDo(s, emitKeyed, beam.Impulse(s)))
		one = collect(t, s, GroupBy(s, everything, batches))
		some = collect(t, s.Scope("shards"), GroupByShards(s, everything, 5, batches))
		empty := beam.ParDo(s, &makeFn{}, beam.Impulse(s))
		none = collect(t, s.Scope("none"), GroupBy(s, everything, empty))
	})
	require.NoError(t, err)
	require.Len(t, one(), 1)
	require.Empty(t, column.Diff(one()[0], want))
	require.Greater(t, len(some()), 1)
	rows := map[string]int{}
	for _, b := range some() {
		for i := range b.Rows {
			rows[fmt.Sprint(rowOf(b, i))]++
		}
	}
	require.Len(t, rows, want.Rows)
	for i := range want.Rows {
		require.Equal(t, 1, rows[fmt.Sprint(rowOf(want, i))])
	}
	for _, b := range none() {
		require.Zero(t, b.Rows)
	}
}

// rowOf returns the values of a row.
func rowOf(b *column.Batch, i int) []any {
	row := make([]any, len(b.Columns))
	for k := range b.Columns {
		row[k] = b.Columns[k].Value(i)
	}
	return row
}

// TestAccumulators merges accumulators in any order, encoded at any time.
func TestAccumulators(t *testing.T) {
	config, err := everything.config()
	require.NoError(t, err)
	want, err := config.Aggregate(t.Context(), keyed()...)
	require.NoError(t, err)
	fn := &groupFn{Groups: "test/everything"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := make([]*accumulator, 3)
		for i := range list {
			list[i] = fn.CreateAccumulator()
		}
		step := func(i int) {
			if r.IntN(3) == 0 {
				data, err := encodeAccumulator(list[i])
				require.NoError(t, err)
				if r.IntN(2) == 0 {
					list[i], err = decodeAccumulator(data)
					require.NoError(t, err)
				}
			}
		}
		for _, b := range keyed() {
			i := r.IntN(len(list))
			list[i], err = fn.AddInput(list[i], b)
			require.NoError(t, err)
			step(r.IntN(len(list)))
		}
		merged := fn.CreateAccumulator()
		for _, i := range r.Perm(len(list)) {
			step(i)
			merged, err = fn.MergeAccumulators(merged, list[i])
			require.NoError(t, err)
		}
		got, err := fn.ExtractOutput(merged)
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, want), "seed %d", seed)
	}
}

func TestGroupErrors(t *testing.T) {
	_, err := (&groupFn{Groups: "unknown"}).AddInput(&accumulator{}, items(0, 1))
	require.ErrorIs(t, err, ErrGroups)
	fn := &groupFn{Groups: "test/centroids"}
	_, err = fn.AddInput(&accumulator{}, column.NewBatch(column.Of("label", []int64{1})))
	require.ErrorIs(t, err, column.ErrNoColumn)
	a, err := fn.AddInput(&accumulator{}, embeddings(0, 10))
	require.NoError(t, err)
	var corrupt *groupby.CorruptError
	_, err = fn.MergeAccumulators(a, &accumulator{partial: []byte("vecqlgby")})
	require.ErrorAs(t, err, &corrupt)
	other, err := (&groupFn{Groups: "test/everything"}).AddInput(&accumulator{}, keyed()[0])
	require.NoError(t, err)
	var mismatch *groupby.MismatchError
	_, err = fn.MergeAccumulators(&accumulator{partial: nil}, other)
	require.NoError(t, err, "nothing to merge with")
	_, err = fn.ExtractOutput(&accumulator{partial: other.partial})
	require.NoError(t, err)
	require.NoError(t, other.close())
	_, err = fn.ExtractOutput(&accumulator{partial: other.partial})
	require.ErrorAs(t, err, &mismatch)
	require.Panics(t, func() { RegisterGroups("test/centroids", centroidConfig) }, "taken")
	require.Panics(t, func() { RegisterGroups("test/invalid", groupby.Config{Limit: -1}) })
	require.ErrorIs(t, (&shardFn{Groups: "unknown"}).ProcessElement(items(0, 1), nil), ErrGroups)
	require.ErrorIs(t, (&shardFn{Groups: "test/everything"}).ProcessElement(items(0, 1), nil), column.ErrNoColumn)
}
