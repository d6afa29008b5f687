// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Page sizes, manual paging, and settings that a query overrides, as a program that moves from gocql uses them.

// TestPageSizeAndState requires the page size and the paging state that requests contain.
func TestPageSizeAndState(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		const read = "SELECT v FROM ks.t"
		ints := fakecql.Columns("v int")
		c.Prepare(read, fakecql.Prepared{Result: ints})
		type page struct {
			size  int32
			state string
		}
		var asked []page
		c.Answer(func(r *fakecql.Request, _ int) {
			c.Mu.Lock()
			asked = append(asked, page{r.PageSize, string(r.State)})
			c.Mu.Unlock()
			rows := fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, byte(len(r.State))}}}
			if len(r.State) < 2 {
				rows.State = string(r.State) + "x"
			}
			r.Rows(rows)
		})
		s := sessionOn(c)
		for _, m := range []struct {
			query *Query
			want  []page
			next  string
		}{
			{s.Query(read), []page{{5000, ""}, {5000, "x"}, {5000, "xx"}}, ""},
			{s.Query(read).PageSize(10), []page{{10, ""}, {10, "x"}, {10, "xx"}}, ""},
			{s.Query(read).PageSize(0).PageState(nil), []page{{0, ""}}, "x"},
			{s.Query(read).PageSize(-1).PageState([]byte("x")), []page{{0, "x"}}, "xx"},
			{s.Query(read).PageSize(7).PageState(cql.PageToken("xx")), []page{{7, "xx"}}, ""},
			// one row needs no second page
			{s.Query(read).Prefetch(-1), nil, ""},
		} {
			asked = nil
			it := m.query.Iter(t.Context())
			rows := 0
			var v int
			if m.want == nil {
				require.True(t, it.Scan(&v))
				require.NoError(t, it.Close())
				require.Len(t, asked, 1)
				continue
			}
			for it.Scan(&v) {
				rows++
			}
			require.Equal(t, m.next, string(it.PageState()))
			require.NoError(t, it.Close())
			require.Equal(t, len(m.want), rows)
			require.Equal(t, m.want, asked)
		}
		none := sessionOn(c, func(cfg *ClusterConfig) { cfg.Defaults.PageSize = -1 })
		asked = nil
		require.NoError(t, none.Query(read).PageState(nil).Exec(t.Context()))
		require.Equal(t, []page{{0, ""}}, asked)
	})
}

// TestIterOfConditional requires that Iter returns the result of a conditional statement with its first column, and the
// result of a SELECT to a program that expected such a column.
func TestIterOfConditional(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		columns := fakecql.Columns("[applied] boolean", "v int")
		applied := true
		c.Answer(func(r *fakecql.Request, _ int) {
			switch {
			case r.Stmt == "SELECT":
				r.Rows(fakecql.Rows{Columns: columns[1:], Cells: [][]byte{{0, 0, 0, 7}}})
			case applied:
				r.Rows(fakecql.Rows{Columns: columns[:1], Cells: [][]byte{{1}}})
			default:
				r.Rows(fakecql.Rows{Columns: columns, Cells: [][]byte{{0}, {0, 0, 0, 7}, {0}, {0, 0, 0, 8}}})
			}
		})
		s := sessionOn(c)
		for _, row := range []struct {
			iter    func(context.Context) *Iter
			applied bool
			names   []string
			want    [][]byte
		}{
			{s.Query(idempotentInsert).Iter, true, []string{"[applied]"}, [][]byte{{1}}},
			{s.Query(idempotentInsert).Iter, false, []string{"[applied]", "v"}, [][]byte{{0}, {0, 0, 0, 7}, {0}, {0, 0, 0, 8}}},
			{s.Batch(cql.LoggedBatch).Query(idempotentInsert).Iter, false, []string{"[applied]", "v"}, [][]byte{{0}, {0, 0, 0, 7}, {0}, {0, 0, 0, 8}}},
			{s.Query("SELECT").Iter, false, []string{"v"}, [][]byte{{0, 0, 0, 7}}},
		} {
			applied = row.applied
			it := row.iter(t.Context())
			var names []string
			for _, column := range it.Columns() {
				names = append(names, column.Name)
			}
			require.Equal(t, row.names, names)
			var got [][]byte
			cells := make([][]byte, len(names))
			for it.NextRaw(cells) {
				for _, cell := range cells {
					got = append(got, append([]byte{}, cell...))
				}
			}
			require.NoError(t, it.Close())
			require.Equal(t, row.want, got)
		}
		_, err := s.Query("SELECT").MapScanCAS(t.Context(), map[string]any{})
		require.ErrorContains(t, err, appliedColumn)
	})
}

// TestEmptyPageStateIsTheStart requires that a token without bytes is the first page, and that no request contains an
// empty paging state, custom payload or routing key.
func TestEmptyPageStateIsTheStart(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		const read = "SELECT v FROM ks.t"
		ints := fakecql.Columns("v int")
		c.Prepare(read, fakecql.Prepared{Result: ints})
		var asked []*fakecql.Request
		c.Answer(func(r *fakecql.Request, _ int) {
			c.Mu.Lock()
			asked = append(asked, r)
			c.Mu.Unlock()
			r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, 7}}, State: "next"})
		})
		s := sessionOn(c)
		text, err := cql.ParsePageToken("")
		require.NoError(t, err)
		for _, state := range []cql.PageToken{nil, {}, text, make([]byte, 0, 8), cql.PageToken("")} {
			var v int
			require.NoError(t, s.Query(read).PageState(state).Scan(t.Context(), &v))
			it := s.Query(read).PageState(state).CustomPayload(map[string][]byte{}).RoutingKey([]byte{}).Iter(t.Context())
			require.True(t, it.Scan(&v))
			require.False(t, it.Scan(&v))
			require.Equal(t, "next", string(it.PageState()))
			require.NoError(t, it.Close())
			for page, err := range Pages[int](t.Context(), s.Query(read).PageState(state)) {
				require.NoError(t, err)
				require.Equal(t, []int{7}, page.Rows)
			}
		}
		for _, r := range asked {
			require.Nil(t, r.State)
			require.False(t, r.HasPayload)
		}
		require.Len(t, asked, 15)
		require.NoError(t, s.Batch(cql.LoggedBatch).Query(idempotentInsert).CustomPayload(map[string][]byte{}).Exec(t.Context()))
		require.False(t, asked[15].HasPayload)
		info, err := s.Query(read).RoutingKey([]byte{}).Route(t.Context())
		require.NoError(t, err)
		require.False(t, info.HasToken)
	})
}

// readAllPages are the readers of results with several pages. Each reads until the end.
var readAllPages = map[string]func(q *Query) error{
	"Scan": func(q *Query) error {
		it := q.Iter(context.Background())
		for it.Scan(nil) {
			continue
		}
		return it.Close()
	},
	"SliceMap": func(q *Query) error { _, err := q.Iter(context.Background()).SliceMap(); return err },
	"one row": func(q *Query) error {
		var v int
		return q.Scan(context.Background(), &v)
	},
	"NextRaw": func(q *Query) error {
		it := q.Iter(context.Background())
		for it.NextRaw(make([][]byte, 1)) {
			continue
		}
		return it.Close()
	},
	"Batches": func(q *Query) error {
		for _, err := range q.Batches(context.Background()) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"Rows": func(q *Query) error {
		for _, err := range Rows[int](context.Background(), q) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"Pages": func(q *Query) error {
		for _, err := range Pages[int](context.Background(), q) {
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// TestPagesWithoutRows requires that every reader ends with an error when a page without rows has the state that it was
// requested with, and reads on when the state is another one, at a bounded rate.
func TestPagesWithoutRows(t *testing.T) {
	for name, read := range readAllPages {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				const text = "SELECT v FROM ks.t"
				ints := fakecql.Columns("v int")
				c.Prepare(text, fakecql.Prepared{Result: ints})
				var requests atomic.Int32
				state, last := "", 0
				c.Answer(func(r *fakecql.Request, _ int) {
					n := int(requests.Add(1))
					rows := fakecql.Rows{Columns: ints, State: cmp.Or(state, strconv.Itoa(n))}
					if n == last {
						rows.Cells, rows.State = [][]byte{{0, 0, 0, 7}}, ""
					}
					r.Rows(rows)
				})
				s := sessionOn(c)
				for _, first := range []string{"", "same"} {
					requests.Store(0)
					state = "same"
					q := s.Query(text)
					if first != "" {
						q.PageState(cql.PageToken(first)) // the only page
					}
					err := read(q)
					var violation *cql.ProtocolError
					require.ErrorAs(t, err, &violation)
					require.ErrorContains(t, err, "leads to the same page again")
					require.ErrorContains(t, err, c.Nodes[0].Addr())
					require.LessOrEqual(t, requests.Load(), int32(2))
				}
				requests.Store(0)
				state, last = "", 1000
				began := time.Now()
				require.NoError(t, read(s.Query(text)))
				require.EqualValues(t, last, requests.Load())
				require.Greater(t, time.Since(began), time.Second, "long runs are paced")
			})
		})
	}
}

// TestPacedPageEndsWithItsContext requires that the wait before a page ends with the context of the Iter.
func TestPacedPageEndsWithItsContext(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		var requests atomic.Int32
		c.Answer(func(r *fakecql.Request, _ int) {
			r.Rows(fakecql.Rows{Columns: fakecql.Columns("v int"), State: strconv.Itoa(int(requests.Add(1)))})
		})
		s := sessionOn(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		it := s.Query("SELECT v FROM ks.t").Iter(ctx)
		require.False(t, it.Scan(nil))
		require.ErrorIs(t, it.Close(), context.DeadlineExceeded)
		require.Less(t, requests.Load(), int32(300))
	})
}
