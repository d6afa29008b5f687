// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/soak"
)

// vectorOf returns the vector of row k, which is the same in every run.
func vectorOf(k int, v []float32) []float32 {
	r := rand.New(rand.NewPCG(384, uint64(k)))
	for i := range v {
		v[i] = r.Float32()*2 - 1
	}
	return v
}

// sockets returns the number of open sockets of this process, -1 if it cannot be determined.
func sockets() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	n := 0
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

// TestKilledNode inserts 100,000 vectors while one of three nodes is killed and restarted, then reads all of them. No
// acknowledged row may be missing or different, and no socket of the session may remain.
func TestKilledNode(t *testing.T) {
	soak.Only(t)
	if external() != nil {
		t.Skip("VECQL_TEST_HOSTS is set: the test cannot kill its nodes")
	}
	const (
		rows    = 100_000
		dim     = 384
		workers = 64
	)
	cluster := start(t, threeNodes)
	before := sockets()
	cfg := config(t, threeNodes)
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	ks := keyspace(t, s, 3)
	typ := floats(s, dim)
	if !hasVectors(s) {
		typ = "frozen<" + typ + ">" // one cell a row, as a vector is; a list has one for each element
	}
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.t (k int PRIMARY KEY, v %s)", ks, typ))

	began := time.Now()
	var next, acknowledged, failed atomic.Int64
	var wg sync.WaitGroup
	insert := fmt.Sprintf("INSERT INTO %s.t (k, v) VALUES (?, ?)", ks)
	for range workers {
		wg.Go(func() {
			v := make([]float32, dim)
			for {
				k := int(next.Add(1) - 1)
				if k >= rows {
					return
				}
				vectorOf(k, v)
				for try := 1; ; try++ {
					err := s.Query(insert, k, v).Idempotent(true).Exec(t.Context())
					if err == nil {
						acknowledged.Add(1)
						break
					}
					failed.Add(1)
					if try == 10 {
						t.Errorf("row %d: %v", k, err)
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	victim := cluster.Nodes[1]
	require.Eventually(t, func() bool { return acknowledged.Load() > rows/4 }, 5*time.Minute, time.Millisecond)
	require.NoError(t, victim.Kill())
	t.Logf("killed the node after %d rows", acknowledged.Load())
	require.Eventually(t, func() bool { return acknowledged.Load() > rows*3/10 }, 5*time.Minute, time.Millisecond)
	require.NoError(t, victim.Start(t.Context()))
	t.Logf("restarted the node after %d rows", acknowledged.Load())
	wg.Wait()
	require.EqualValues(t, rows, acknowledged.Load())
	t.Logf("%d rows in %v, %d attempts failed", rows, time.Since(began).Round(time.Millisecond), failed.Load())

	began = time.Now()
	seen := make([]bool, rows)
	want := make([]float32, dim)
	for b, err := range s.Query(fmt.Sprintf("SELECT k, v FROM %s.t", ks)).PageSize(1000).BorrowBatches(t.Context()) {
		require.NoError(t, err)
		keys, err := column.Slice[int32](b.Column("k"))
		require.NoError(t, err)
		vectors := floatRows(t, b.Column("v"))
		for r, k := range keys {
			require.False(t, seen[k], "row %d was read twice", k)
			seen[k] = true
			vectorOf(int(k), want)
			for i, f := range vectors(r) {
				if math.Float32bits(f) != math.Float32bits(want[i]) {
					t.Fatalf("row %d element %d: got %v, want %v", k, i, f, want[i])
				}
			}
		}
	}
	missing := 0
	for _, ok := range seen {
		if !ok {
			missing++
		}
	}
	require.Zero(t, missing, "acknowledged rows are missing")
	t.Logf("read back in %v", time.Since(began).Round(time.Millisecond))

	require.Eventually(t, func() bool { // all nodes serve requests again
		reached := map[string]bool{}
		for k := range 50 {
			it := s.Query(fmt.Sprintf("SELECT k FROM %s.t WHERE k = ?", ks), k).Consistency(cql.One).Iter(t.Context())
			if it.Close() == nil {
				reached[it.Host().ID.String()] = true
			}
		}
		return len(reached) == 3
	}, time.Minute, 100*time.Millisecond)
	s.Close()
	leak.RequireNone(t, leak.Driver)
	require.Equal(t, before, sockets(), "sockets remain open")
}
