// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/vector"
)

// Exact searches of a table beside the obvious one.

// A shop is the table ks.items of a cluster, and its rows.
type shop struct {
	*cqltest.Cluster
	session *vecql.Session
	table   *table
	vectors [][]float32 // nil for NULL
	common  []float32   // of many rows
	shelves []int32     // the partition key
	names   []string    // the clustering key
	prices  []float64
}

// onShop runs f in virtual time.
func onShop(t *testing.T, cfg cqltest.Config, rows int, f func(t *testing.T, s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Network = cqltest.InMemory
		s := &shop{Cluster: cqltest.New(t, cfg)}
		require.NoError(t, s.Exec(fmt.Sprintf(
			`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': %d};
			CREATE TABLE ks.items (shelf int, name text, price double, v vector<float, %d>, tags list<text>, PRIMARY KEY (shelf, name))`,
			len(s.Nodes()), worldDim)))
		conf := &vecql.ClusterConfig{Hosts: s.Hosts()}
		conf.Pool.Dialer, conf.Logger = s.Dialer(), slog.New(slog.NewTextHandler(io.Discard, nil))
		var err error
		s.session, err = vecql.NewSession(t.Context(), *conf)
		require.NoError(t, err)
		defer s.session.Close()
		require.NoError(t, s.session.Ready(t.Context()))
		s.fill(t, rows)
		s.table, err = tableOf(t.Context(), s.session, target{keyspace: "ks", table: "items"})
		require.NoError(t, err)
		f(t, s)
	})
}

// fill inserts rows with duplicates, NULLs, zeros and NaNs.
func (s *shop) fill(t *testing.T, rows int) {
	t.Helper()
	r := rand.New(rand.NewPCG(13, 14))
	few := [][]float32{randomVector(r), randomVector(r)}
	s.common = few[0]
	for i := range rows {
		v := randomVector(r)
		switch r.IntN(8) {
		case 0:
			v = nil
		case 1:
			v = make([]float32, worldDim)
		case 2:
			v[2] = float32(math.NaN())
		case 3, 4, 5:
			v = few[r.IntN(2)]
		}
		s.vectors, s.prices = append(s.vectors, v), append(s.prices, float64(r.IntN(100)))
		s.shelves, s.names = append(s.shelves, int32(r.IntN(40)-10)), append(s.names, fmt.Sprint(i))
		err := s.session.Query("INSERT INTO ks.items (shelf, name, price, v, tags) VALUES (?, ?, ?, ?, ?)", s.shelves[i],
			s.names[i], s.prices[i], v, []string{"a", s.names[i]}).Idempotent(true).Exec(t.Context())
		require.NoError(t, err)
	}
}

// compareKeys compares rows by the cells of their primary keys.
func (s *shop) compareKeys(a, b int) int {
	key := func(i int) []byte {
		k := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 4}, uint32(s.shelves[i]))
		return append(binary.BigEndian.AppendUint32(k, uint32(len(s.names[i]))), s.names[i]...)
	}
	return bytes.Compare(key(a), key(b))
}

// requireHits compares an answer with the slow one.
func (s *shop) requireHits(t *testing.T, want []slowHit, f *found, message string) {
	t.Helper()
	require.Equal(t, []string{"name", "price"}, f.batch.Schema().Names())
	require.NoError(t, f.batch.Check())
	names, err := f.batch.Column("name").Text()
	require.NoError(t, err)
	require.Len(t, f.distances, len(want), message)
	require.Equal(t, len(want), f.batch.Rows)
	for i, h := range want {
		require.Equal(t, h.query, int(f.queries[i]), message)
		require.Equal(t, s.names[h.row], names.String(i), "hit %d: %s", i, message)
		require.Equal(t, math.Float32bits(h.distance), math.Float32bits(f.distances[i]), message)
		require.Equal(t, s.prices[h.row], f.batch.Column("price").Value(i))
		require.Contains(t, string(f.keys[i]), s.names[h.row])
	}
}

// TestExactEqualsSlowSearch compares searches with all filters and bounds, of several workers.
func TestExactEqualsSlowSearch(t *testing.T) {
	onShop(t, cqltest.Config{}, 900, func(t *testing.T, s *shop) {
		r := rand.New(rand.NewPCG(15, 16))
		parse := func(text string, args ...any) []expr.Expr {
			e, err := expr.Parse(text, args...)
			require.NoError(t, err)
			return []expr.Expr{e}
		}
		filters := []struct {
			filter   []expr.Expr
			selected func(i int) bool
			read     func(i int) bool
		}{
			{nil, everyRow, everyRow},
			{parse("price < ?", 50), func(i int) bool { return s.prices[i] < 50 }, everyRow},
			{append(parse("price < 50"), parse("name like '1%'")...), func(i int) bool { return s.prices[i] < 50 && s.names[i][0] == '1' }, everyRow},
			{
				parse("price < 50 and shelf in (3, 5, 7)"),
				func(i int) bool {
					return s.prices[i] < 50 && s.shelves[i] > 2 && s.shelves[i] < 8 && s.shelves[i]%2 == 1
				},
				func(i int) bool { return s.shelves[i] > 2 && s.shelves[i] < 8 && s.shelves[i]%2 == 1 },
			},
			{
				append(parse("shelf = 4"), parse("name > '5'")...), func(i int) bool { return s.shelves[i] == 4 && s.names[i] > "5" },
				func(i int) bool { return s.shelves[i] == 4 && s.names[i] > "5" },
			},
			{parse("shelf = 1000"), func(int) bool { return false }, func(int) bool { return false }},
		}
		for i, test := range filters {
			for j, metric := range []vector.Metric{vector.Cosine, vector.L2, vector.Dot} {
				queries := make([][]float32, []int{1, 9, 4}[j])
				for q := range queries {
					queries[q] = randomVector(r)
				}
				queries[0] = s.common // many ties
				req := exactRequest{
					columns: []string{"name", "price"}, filter: test.filter, queries: queries, k: []int{7, 40, 2000}[(i+j)%3],
					metric: metric, workers: []int{1, 3, 8}[(i+2*j)%3],
				}
				within := always
				if (i+j)%4 == 2 {
					bound := float32(0.3)
					req.minScore, within = &bound, func(score, _ float32) bool { return score >= bound }
				}
				message := fmt.Sprintf("%v, %v, k %d", test.filter, metric, req.k)
				want := slowly(s.vectors, test.selected, s.compareKeys, queries, req.k, metric, within)
				f, err := s.table.exact(t.Context(), s.session, req)
				require.NoError(t, err, message)
				s.requireHits(t, want, f, message)
				s.requireCounts(t, f, test.read, test.selected, &req)
			}
		}
	})
}

// requireCounts requires the numbers of rows that were read and left out.
func (s *shop) requireCounts(t *testing.T, f *found, read, selected func(int) bool, req *exactRequest) {
	t.Helper()
	rows, candidates := 0, 0
	for i, v := range s.vectors {
		if read(i) {
			rows++
		}
		if v != nil && selected(i) {
			candidates++
		}
	}
	require.Equal(t, int64(rows), f.rows)
	hits := make([]int, len(req.queries))
	for _, q := range f.queries {
		hits[q]++
	}
	for q, n := range hits {
		require.Equal(t, min(req.k, candidates), n+f.outside[q])
	}
}

// TestExactSurvivesLostNodes kills a node while the table is read, and another page fails now and then.
func TestExactSurvivesLostNodes(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{
		"vnodes": {}, "tablets": {Scylla: &cqltest.Scylla{Shards: 2, Tablets: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			onShop(t, cfg, 600, func(t *testing.T, s *shop) {
				var once sync.Once
				rule := s.Inject(cqltest.Fault{
					Op: cqltest.OpExecute, Statement: "token", Skip: 5, Times: 3, Error: &cqltest.Error{Code: cqltest.CodeReadTimeout},
				})
				level := cql.LocalQuorum
				queries := [][]float32{s.common, {1, 2, 3, 4, 5}}
				last := int64(0)
				f, err := s.table.exact(t.Context(), s.session, exactRequest{
					columns: []string{"name", "price"}, queries: queries, k: 50, metric: vector.L2, consistency: &level,
					progress: func(rows int64) {
						require.Greater(t, rows, last)
						if last = rows; rows > 100 {
							once.Do(s.Node(1).Kill)
						}
					},
				})
				require.NoError(t, err)
				require.Equal(t, int64(600), last)
				require.Positive(t, rule.Hits())
				s.requireHits(t, slowly(s.vectors, everyRow, s.compareKeys, queries, 50, vector.L2, always), f, name)
			})
		})
	}
}

// TestExactRefuses requires the errors of requests, and the end of a canceled search.
func TestExactRefuses(t *testing.T) {
	onShop(t, cqltest.Config{Nodes: 1}, 50, func(t *testing.T, s *shop) {
		search := func(ctx context.Context, change func(*exactRequest)) error {
			req := exactRequest{columns: []string{"name"}, queries: [][]float32{{1, 2, 3, 4, 5}}, k: 3, metric: vector.Cosine}
			change(&req)
			_, err := s.table.exact(ctx, s.session, req)
			return err
		}
		var dimension *vector.DimensionError
		require.ErrorAs(t, search(t.Context(), func(r *exactRequest) { r.queries[0] = []float32{1} }), &dimension)
		require.ErrorIs(t, search(t.Context(), func(r *exactRequest) { r.k = 0 }), vector.ErrK)
		require.ErrorIs(t, search(t.Context(), func(r *exactRequest) { r.queries[0] = make([]float32, 5) }), vector.ErrZero)
		var compile *expr.CompileError
		require.ErrorAs(t, search(t.Context(), func(r *exactRequest) { r.filter = []expr.Expr{expr.Col("cost").Lt(3)} }), &compile)
		require.ErrorIs(t, search(t.Context(), func(r *exactRequest) { r.columns = []string{"cost"} }), column.ErrNoColumn)
		level := cql.Any
		require.ErrorIs(t, search(t.Context(), func(r *exactRequest) { r.consistency = &level }), cql.CodeInvalid)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		err := search(ctx, func(r *exactRequest) { r.progress = func(int64) { cancel(cause) } })
		require.ErrorIs(t, err, cause)
		require.NoError(t, s.Exec("DROP TABLE ks.items"))
		err = search(t.Context(), func(r *exactRequest) {})
		require.ErrorContains(t, err, "search: exact search of ks.items(v): ")
	})
}

// TestExactWithoutHits has the columns of the result also if no row is near, or without queries.
func TestExactWithoutHits(t *testing.T) {
	onShop(t, cqltest.Config{Nodes: 1}, 0, func(t *testing.T, s *shop) {
		for _, queries := range [][][]float32{nil, {{1, 2, 3, 4, 5}}} {
			f, err := s.table.exact(t.Context(), s.session, exactRequest{
				columns: []string{"tags", "shelf"}, queries: queries, k: 3, metric: vector.Dot,
			})
			require.NoError(t, err)
			require.Equal(t, []string{"tags", "shelf"}, f.batch.Schema().Names())
			require.Zero(t, f.batch.Rows)
		}
	})
}
