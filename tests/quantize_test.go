// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/vector"
)

// Rounded vectors of the embeddings that the tool's demo loads: 2,911 declarations of Go's standard library.

// embeddings returns the vectors of a file, one after the other.
func embeddings(t *testing.T, name string) []float32 {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), "../cmd/vecql/internal/tool/testdata/"+name)
	require.NoError(t, err)
	defer ds.Close()
	var all []float32
	for b, err := range ds.Batches(t.Context(), "embedding") {
		require.NoError(t, err)
		m, err := column.MatrixOf[float32](b.Column("embedding"))
		require.NoError(t, err)
		for i := range b.Rows {
			all = append(all, m.Row(i)...)
		}
	}
	return all
}

// TestQuantizedRecall searches int8 by integers for four times as many rows as wanted, and computes the distances of
// the candidates from floats.
func TestQuantizedRecall(t *testing.T) {
	const dim, k = 384, 10
	rows := embeddings(t, "gostdlib.parquet")
	queries := append(embeddings(t, "gostdlib-queries.parquet"), rows[:500*dim]...)
	var blobs []byte
	for v := range slices.Chunk(rows, dim) {
		var err error
		blobs, err = vector.Quantize(blobs, vector.Int8, v)
		require.NoError(t, err)
	}
	codes, err := vector.MatrixOfBlobs(blobs, vector.HeaderSize+vector.Int8.Size(dim), nil)
	require.NoError(t, err)
	floats := vector.MatrixOf(rows, dim)
	for _, metric := range []vector.Metric{vector.Dot, vector.Cosine, vector.L2} {
		exact, err := vector.Nearest(t.Context(), floats, queries, k, metric, vector.Options{})
		require.NoError(t, err)
		candidates, err := vector.Nearest(t.Context(), codes, queries, 4*k, metric, vector.Options{QuantizeQueries: true})
		require.NoError(t, err)
		var found, alone int
		for i := range len(queries) / dim {
			want, _ := exact.Query(i)
			near, _ := candidates.Query(i)
			alone += common(near[:k], want)
			rescored, err := vector.Nearest(t.Context(), floats, queries[i*dim:(i+1)*dim], k, metric, vector.Options{Selection: sorted(near)})
			require.NoError(t, err)
			found += common(rescored.Positions, want)
		}
		recall := float64(found) / float64(k*len(queries)/dim)
		t.Logf("%v: recall@%d %.4f, without floats %.4f", metric, k, recall, float64(alone)/float64(k*len(queries)/dim))
		require.GreaterOrEqual(t, recall, 0.99, metric)
	}
}

// sorted returns positions in ascending order, as a selection.
func sorted(positions []int64) []int32 {
	var selection []int32
	for _, p := range positions {
		selection = append(selection, int32(p))
	}
	slices.Sort(selection)
	return selection
}

// common returns the number of elements of a that b has, too.
func common(a, b []int64) (n int) {
	for _, v := range a {
		if slices.Contains(b, v) {
			n++
		}
	}
	return n
}
