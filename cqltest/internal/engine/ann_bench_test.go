// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/vector"
)

// randomVector returns a serialized vector of floats.
func randomVector(r *rand.Rand, dim int) []byte {
	var b []byte
	for range dim {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(r.NormFloat64())))
	}
	return b
}

// fillVectors creates a table t with an index and writes rows.
func fillVectors(t testing.TB, e *Engine, using string, rows, dim int) *rand.Rand {
	mustRun(t, e, fmt.Sprintf("CREATE TABLE t (k int PRIMARY KEY, a int, v vector<float, %d>)", dim))
	mustRun(t, e, "CREATE CUSTOM INDEX i ON t (v) USING '"+using+"'")
	insert, err := e.Prepare("ks", "INSERT INTO t (k, a, v) VALUES (?, ?, ?)")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range int32(rows) {
		_, err := e.Execute(t.Context(), insert, &Request{Values: []Value{
			{Bytes: int32Bytes(k)}, {Bytes: int32Bytes(k % 10)}, {Bytes: randomVector(r, dim)},
		}})
		require.NoError(t, err)
	}
	return r
}

// TestSearchReadsOnlyVectors searches 3,000 vectors of 384 floats: the allocations of a search do not grow with the
// rows, and its time is near the time of the kernel. The limits leave room for a busy machine: reading the rows of
// the table took 40 times the time of the kernel.
func TestSearchReadsOnlyVectors(t *testing.T) {
	const rows, dim = 3000, 384
	e, _ := newEngine(t)
	r := fillVectors(t, e, "sai", rows, dim)
	s, err := e.Prepare("ks", "SELECT k FROM t ORDER BY v ANN OF ? LIMIT 10")
	require.NoError(t, err)
	target := randomVector(r, dim)
	search := func() {
		res, err := e.Execute(t.Context(), s, &Request{Values: []Value{{Bytes: target}}, Consistency: consistencyOne})
		if err != nil || len(res.Rows) != 10 {
			t.Fatal(len(res.Rows), err)
		}
	}
	require.Less(t, testing.AllocsPerRun(10, search), 150.0)

	index := e.schema.Load().keyspaces["ks"].tables.get("t").indexes[0].vector.data
	query := make([]float32, dim)
	for i := range query {
		query[i] = float32(element32(target, i))
	}
	kernel := func() {
		m := vector.Matrix{Format: vector.Float32Big, Dim: dim, Data: index.vectors}
		_, err := vector.Nearest(t.Context(), m, query, 10, vector.Cosine, vector.Options{Workers: 1})
		require.NoError(t, err)
	}
	limit := 6 * shortest(kernel)
	if pooled.Poisoned { // the race detector slows down Go code, and not the kernel
		limit *= 4
	}
	require.Less(t, shortest(search), limit)
}

// shortest returns the shortest of 50 times of f.
func shortest(f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 50 {
		begun := time.Now()
		f()
		least = min(least, time.Since(begun))
	}
	return least
}

// BenchmarkSearch searches 3,000 vectors of 384 floats.
func BenchmarkSearch(b *testing.B) {
	for _, server := range []string{"cassandra", "scylla"} {
		for _, limit := range []int{10, 1000} {
			for _, where := range []string{"none", "a<5"} {
				b.Run(fmt.Sprintf("server=%s/rows=3000/dim=384/limit=%d/filter=%s", server, limit, where), func(b *testing.B) {
					e, _ := newEngine(b)
					using := "sai"
					if server == "scylla" {
						e, _ = newVectorStore(b, Options{VectorStore: &VectorStore{Recall: 1}})
						using = "vector_index"
					}
					r := fillVectors(b, e, using, 3000, 384)
					clause := ""
					if where != "none" {
						clause = "WHERE " + where
						if server == "scylla" {
							mustRun(b, e, "DROP INDEX i")
							mustRun(b, e, "CREATE CUSTOM INDEX i ON t (v, a) USING 'vector_index'")
						} else {
							mustRun(b, e, "CREATE INDEX ON t (a) USING 'sai'")
						}
					}
					s, err := e.Prepare("ks", fmt.Sprintf("SELECT k FROM t %s ORDER BY v ANN OF ? LIMIT %d ALLOW FILTERING", clause, limit))
					require.NoError(b, err)
					request := &Request{Values: []Value{{Bytes: randomVector(r, 384)}}, Consistency: consistencyOne}
					b.ReportAllocs()
					for b.Loop() {
						res, err := e.Execute(b.Context(), s, request)
						if err != nil || len(res.Rows) != limit {
							b.Fatal(len(res.Rows), err)
						}
					}
				})
			}
		}
	}
}
