// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Read on Prism, beside plain SELECTs.

const itemsTable = `CREATE TABLE shop.items (label text, id int, embedding vector<float, 3>, PRIMARY KEY (label, id));`

// fill writes n rows of 20 partitions to shop.items.
func fill(t *testing.T, uri string, n int) {
	t.Helper()
	session := connect(t, uri)
	for i := range n {
		err := session.Query("INSERT INTO items (label, id, embedding) VALUES (?, ?, ?)", fmt.Sprint("label ", i%20), i,
			[]float32{float32(i), 1, 2}).Exec(t.Context())
		require.NoError(t, err)
	}
}

func TestRead(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{
		"vnodes":  {},
		"one":     {Nodes: 1, VNodes: 1},
		"tablets": {Scylla: &cqltest.Scylla{Shards: 2, Tablets: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			_, uri := start(t, cfg, itemsTable)
			fill(t, uri, 500)
			var got func() []*column.Batch
			counters, err := run(t, func(s beam.Scope) {
				got = collect(t, s, Read(s, uri, "SELECT * FROM shop.items", ReadOptions{PageBytes: 512}))
			})
			require.NoError(t, err)
			seen := map[string]int{}
			for _, b := range got() {
				require.Len(t, b.Columns, 3)
				for i := range b.Rows {
					seen[fmt.Sprint(b.Column("id").Value(i), b.Column("embedding").Value(i))]++
				}
			}
			require.Len(t, seen, 500)
			for i := range 500 {
				require.Equal(t, 1, seen[fmt.Sprint(i, []float32{float32(i), 1, 2})], "row %d", i)
			}
			require.EqualValues(t, 500, counters["rows_read"])
			require.GreaterOrEqual(t, counters["ranges_read"], int64(16))
			require.Positive(t, counters["bytes_read"])
		})
	}
}

// TestDynamicSplits splits restrictions while their pages are read, as a runner does, in rings of all shapes: each row
// is emitted once, by the part that has its token.
func TestDynamicSplits(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, itemsTable)
	fill(t, uri, 300)
	for name, whole := range map[string]Tokens{
		"whole ring":        wholeRing,
		"whole ring from 7": {Start: 7, End: 7},
		"wraps around":      {Start: 1 << 62, End: 1<<62 - 1}, // all tokens but one
	} {
		t.Run(name, func(t *testing.T) {
			fn := &readFn{Cluster: uri, Statement: "SELECT id FROM shop.items", PageBytes: 64, Tokens: true}
			defer fn.Teardown()
			r := rand.New(rand.NewPCG(5, 5))
			seen, splits := map[any]int{}, 0
			queue := []Tokens{whole}
			for len(queue) > 0 {
				rt := fn.CreateTracker(queue[0])
				queue = queue[1:]
				split := func() {
					primary, residual, err := rt.TrySplit([]float64{0, 0.01, 0.5, 1}[r.IntN(4)])
					require.NoError(t, err)
					if residual != nil {
						splits++
						queue = append(queue, residual.(Tokens))
					}
					require.Equal(t, primary, rt.GetRestriction())
				}
				if r.IntN(4) == 0 {
					split()
				}
				require.NoError(t, fn.ProcessElement(t.Context(), rt, nil, func(b *column.Batch) {
					rest := rt.GetRestriction().(Tokens)
					for i := range b.Rows {
						seen[b.Column("id").Value(i)]++
						token := b.Column(tablescan.TokenColumn).Value(i).(int64)
						require.LessOrEqual(t, rest.position(token), rest.last())
					}
					if r.IntN(3) == 0 {
						split()
					}
				}))
				require.True(t, rt.IsDone())
			}
			require.Len(t, seen, 300)
			for id, n := range seen {
				require.Equal(t, 1, n, "row %v", id)
			}
			require.Greater(t, splits, 3)
		})
	}
}

// TestSplitRestriction requires that the first ranges are the ring, each within a range of the table.
func TestSplitRestriction(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, itemsTable)
	fn := &readFn{Cluster: uri, Statement: "SELECT id FROM shop.items"}
	list, err := fn.SplitRestriction(t.Context(), nil, wholeRing)
	require.NoError(t, err)
	ranges, err := connect(t, uri).TokenRanges(t.Context(), "shop", "items")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list), max(32, len(ranges)))
	at := int64(math.MinInt64)
	for _, r := range list {
		require.Equal(t, at, r.Start)
		require.Positive(t, fn.RestrictionSize(nil, r))
		require.True(t, slices.ContainsFunc(ranges, func(of vecql.TokenRange) bool { return of.Start <= r.Start && r.End <= of.End }))
		at = r.End
	}
	require.EqualValues(t, math.MaxInt64, at)
	again, err := fn.SplitRestriction(t.Context(), nil, list[3])
	require.NoError(t, err)
	require.Equal(t, list[3:4], again)
	fn.Statement = "SELECT id FROM shop.items LIMIT 3"
	_, err = fn.SplitRestriction(t.Context(), nil, wholeRing)
	require.ErrorContains(t, err, "it has LIMIT")
}

// TestReadFailures reads while a node leaves, and fails with the cause when a table is dropped.
func TestReadFailures(t *testing.T) {
	cluster, uri := start(t, cqltest.Config{}, "")
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE safe WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE safe.items (id int PRIMARY KEY)`))
	session := connect(t, uri)
	for i := range 200 {
		require.NoError(t, session.Query("INSERT INTO safe.items (id) VALUES (?)", i).Exec(t.Context()))
	}
	fn := &readFn{Cluster: uri, Statement: "SELECT id FROM safe.items", PageBytes: 64}
	defer fn.Teardown()
	rows := 0
	require.NoError(t, fn.ProcessElement(t.Context(), fn.CreateTracker(wholeRing), nil, func(b *column.Batch) {
		if rows == 0 {
			cluster.RemoveNode(cluster.Nodes()[1])
		}
		rows += b.Rows
	}))
	require.Equal(t, 200, rows)
	require.NoError(t, cluster.Exec("DROP TABLE safe.items"))
	err := fn.ProcessElement(t.Context(), fn.CreateTracker(wholeRing), nil, nil)
	require.ErrorContains(t, err, `beamvecql: read "SELECT id FROM safe.items": `)
}
