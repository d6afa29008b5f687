// SPDX-License-Identifier: Apache-2.0

package search

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
	"github.com/vecql/vecql/vector"
)

var benchRows = flag.Int("exact.rows", 20000, "rows of the table of BenchmarkExact")

// BenchmarkExact searches a table of cqltest on a real socket, beside the plain scan of the same columns. One operation
// is one pass over the table. The server is in the process and takes a part of the processors.
func BenchmarkExact(b *testing.B) {
	for _, dim := range []int{128, 768} {
		b.Run(fmt.Sprintf("rows=%d/dim=%d", *benchRows, dim), func(b *testing.B) {
			session, t := benchTable(b, *benchRows, dim)
			b.Run("source=scan", func(b *testing.B) {
				for b.Loop() {
					s, err := tablescan.New(b.Context(), session, `SELECT id, v FROM ks.items`, tablescan.Config{})
					require.NoError(b, err)
					require.NoError(b, s.Run(b.Context(), func(int, *column.Batch) error { return nil }))
					require.Equal(b, int64(*benchRows), s.Progress().Rows)
				}
				reportRows(b)
			})
			for _, queries := range []int{1, 32} {
				r := rand.New(rand.NewPCG(1, uint64(queries)))
				req := exactRequest{columns: []string{"id"}, k: 10, metric: vector.Cosine}
				for range queries {
					req.queries = append(req.queries, randomFloats(r, dim))
				}
				b.Run(fmt.Sprintf("source=search/queries=%d", queries), func(b *testing.B) {
					for b.Loop() {
						f, err := t.exact(b.Context(), session, req)
						require.NoError(b, err)
						require.Len(b, f.distances, 10*queries)
					}
					reportRows(b)
				})
			}
		})
	}
}

func reportRows(b *testing.B) {
	b.ReportMetric(float64(*benchRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func randomFloats(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// benchTable loads a table of random vectors.
func benchTable(b *testing.B, rows, dim int) (*vecql.Session, *table) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	require.NoError(b, err)
	b.Cleanup(cluster.Close)
	require.NoError(b, cluster.Exec(fmt.Sprintf(
		`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE ks.items (id bigint PRIMARY KEY, v vector<float, %d>)`, dim)))
	session, err := vecql.NewSession(b.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(b, err)
	b.Cleanup(session.Close)
	w, err := bulk.New(b.Context(), session, "INSERT INTO ks.items (id, v) VALUES (?, ?)", bulk.Options{})
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(2, 3))
	ids := make([]int64, rows)
	for i := range ids {
		ids[i] = int64(i)
	}
	require.NoError(b, w.Write(b.Context(), column.NewBatch(column.Of("id", ids), column.Matrix("v", randomFloats(r, rows*dim), dim))))
	require.NoError(b, w.Close(b.Context()))
	t, err := tableOf(b.Context(), session, target{keyspace: "ks", table: "items"})
	require.NoError(b, err)
	return session, t
}
