// SPDX-License-Identifier: Apache-2.0

// Package examples holds programs that put the packages of this module together, a folder each.
package examples

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// This file holds the code of README.md, section Parquet.

func addItems(ctx context.Context, workers []*groupby.Worker) error {
	ds, err := parquetscan.Open(ctx, parquetscan.Config{}, "items-*.parquet")
	if err != nil {
		return err
	}
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{Columns: []string{"kind", "embedding"}, Text: true})
	if err != nil {
		return err
	}
	// On all processors at once. A batch is lent: its memory is used again when the function has returned.
	return scan.Borrow(ctx, nil, func(worker int, b *parquetscan.Batch) error {
		kind, embedding := &b.Columns[0], &b.Columns[1]
		matrix := parquetscan.Values[float32](embedding) // rows x embedding.Dim()
		return workers[worker].Add(ctx, groupby.Batch{
			Keys:   []groupby.Column{groupby.Text(kind.Text()).WithValidity(kind.Validity())},
			Values: []groupby.Column{groupby.Matrix(matrix, embedding.Dim())},
		})
	})
}

// TestREADME has the centroids of the demo's embeddings computed from two copies of its file. The means are those of pqarrow and a loop.
func TestREADME(t *testing.T) {
	file, err := os.ReadFile("../cmd/vecql/testdata/gostdlib.parquet")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("items-1.parquet", file, 0o600))
	require.NoError(t, os.WriteFile("items-2.parquet", file, 0o600))
	g, err := groupby.New(groupby.Config{
		Keys:       []groupby.Type{groupby.String},
		Values:     []groupby.Type{groupby.Vector(groupby.Float32, 384)},
		Aggregates: []groupby.Aggregate{groupby.Count(), groupby.VectorMean(0)},
		Order:      groupby.ByKeys,
	})
	require.NoError(t, err)
	workers := make([]*groupby.Worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = g.Worker()
	}
	require.NoError(t, addItems(t.Context(), workers))
	res, err := g.Finish(t.Context())
	require.NoError(t, err)
	counts, _ := groupby.SliceOf[int64](res.Aggregate(0))
	means, _ := groupby.SliceOf[float64](res.Aggregate(1)) // row after row
	require.Len(t, means, 2*384)
	for i, want := range []string{"func 3882 [-0.0027 0.0168 -0.0399]", "type 1940 [-0.0250 0.0150 -0.0495]"} {
		require.Equal(t, want, fmt.Sprintf("%s %d %.4f", res.Key(0).Strings()[i], counts[i], means[i*384:i*384+3]))
	}
}
