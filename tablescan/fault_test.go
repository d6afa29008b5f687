// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Scans while nodes fail and the cluster changes: every row still comes exactly once.

// run scans the table in small pages, with another function at each page.
func (c *fake) run(t *testing.T, cfg tablescan.Config, atPage func(page int64)) *tablescan.Scan {
	t.Helper()
	c.fill(t)
	want, got := c.all(t), &rows{}
	s := c.scan(t, selectAll, cfg)
	var pages atomic.Int64
	require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
		got.add(t, b)
		atPage(pages.Add(1))
		return nil
	}))
	require.Greater(t, pages.Load(), int64(30))
	requireSame(t, want, got)
	return s
}

// TestFailedRequests fails most requests, each in one of several ways.
func TestFailedRequests(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			onFake(t, cfg, func(t *testing.T, c *fake) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				var mu sync.Mutex
				r := rand.New(rand.NewPCG(seed, 0))
				some := func(share float64) func(cqltest.Request) bool {
					return func(cqltest.Request) bool {
						mu.Lock()
						defer mu.Unlock()
						return r.Float64() < share
					}
				}
				for _, f := range []cqltest.Fault{
					{Error: &cqltest.Error{Code: cqltest.CodeReadTimeout}},
					{Error: &cqltest.Error{Code: cqltest.CodeOverloaded}},
					{Error: &cqltest.Error{Code: cqltest.CodeUnavailable}},
					{Close: true, CloseAfter: 20},
					{EmptyPage: true},
				} {
					f.Op, f.Statement, f.Match = cqltest.OpExecute, "token", some(0.12)
					c.Inject(f)
				}
				s := c.run(t, tablescan.Config{Workers: 3, PageBytes: 150, Retries: 100}, func(int64) {})
				if name == "one" { // otherwise the session may find another node each time
					require.Positive(t, s.Progress().Failures)
				}
			})
		})
	}
}

// TestLostAnswers drops answers of pages that the server has sent.
func TestLostAnswers(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Skip: 20, Times: 15, Drop: true, Execute: true})
		c.run(t, tablescan.Config{PageBytes: 150}, func(int64) {})
	})
}

// TestWidePartitionFails fails pages within a partition, so that it is read again and its first rows are dropped.
func TestWidePartitionFails(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(5), 100)
		c.insert(t, keyOf(6), 30)
		want, got := c.all(t), &rows{}
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 350})
		fault := cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Times: 3, Error: &cqltest.Error{Code: cqltest.CodeReadFailure}}
		pages, failAt := 0, map[int]bool{1: true, 2: true, 5: true, 9: true}
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			got.add(t, b)
			if pages++; failAt[pages] {
				c.Inject(fault)
			}
			return nil
		}))
		requireSame(t, want, got)
		require.EqualValues(t, 12, s.Progress().Failures)
		require.EqualValues(t, 130, s.Progress().Rows)
	})
}

// TestWideRangesFail fails every range above a width, so that ranges must be cut.
func TestWideRangesFail(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.fill(t)
		want, got := c.all(t), &rows{}
		c.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Statement: "token", Error: &cqltest.Error{Code: cqltest.CodeReadTimeout},
			Match: func(r cqltest.Request) bool { return widthOf(r) > 1<<57 },
		})
		s := c.scan(t, selectAll, tablescan.Config{Workers: 2, Retries: 5})
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			got.add(t, b)
			return nil
		}))
		requireSame(t, want, got)
		require.Positive(t, s.Progress().Failures)

		s = c.scan(t, selectAll, tablescan.Config{Workers: 2, Retries: 1}) // fails before it cuts
		err := s.Run(t.Context(), nil)
		var failed *tablescan.RangeError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 2, failed.Failures)
		require.ErrorIs(t, err, cql.CodeReadTimeout)
	})
}

// editState changes the paging state of an answer with rows.
func editState(a *cqltest.Answer, edit func(state []byte) []byte) {
	const at = 12 // of the paging state, after kind, flags and number of columns
	end := at + 4 + int(binary.BigEndian.Uint32(a.Body[at:]))
	state := edit(bytes.Clone(a.Body[at+4 : end]))
	rest := a.Body[end:]
	a.Body = append(binary.BigEndian.AppendUint32(bytes.Clone(a.Body[:at]), uint32(len(state))), state...)
	a.Body = append(a.Body, rest...)
}

// TestPagesWithoutRowsEnd requires that a scan fails when pages without rows lead to each other, and reads pages that
// follow many of them.
func TestPagesWithoutRowsEnd(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.fill(t)
		empty := func(state func(n int) string) *cqltest.Rule {
			n := 0
			return c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", EmptyPage: true, Edit: func(a *cqltest.Answer) {
				n++
				editState(a, func([]byte) []byte { return []byte("first page" + state(n)) })
			}})
		}
		for name, m := range map[string]struct {
			state func(n int) string
			most  int
		}{
			"the same": {func(int) string { return "x" }, 20},
			"a circle": {func(n int) string { return strconv.Itoa(n % 3) }, 10_000},
		} {
			rule := empty(m.state)
			s := c.scan(t, selectAll, tablescan.Config{Workers: 1, Retries: 2})
			err := s.Run(t.Context(), func(int, *column.Batch) error { return nil })
			var violation *cql.ProtocolError
			require.ErrorAs(t, err, &violation, name)
			require.ErrorContains(t, err, "leads to the same page again")
			require.Less(t, rule.Hits(), m.most, name)
			c.ClearFaults()
		}
		rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", EmptyPage: true, Times: 500})
		c.run(t, tablescan.Config{PageBytes: 150}, func(int64) {})
		require.Equal(t, 500, rule.Hits())
	})
}

// TestPagingStateRefused refuses the first page states, as after the upgrade of a node.
func TestPagingStateRefused(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		rule := c.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Statement: "token", Times: 4, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
			Match: func(r cqltest.Request) bool { return r.Paged },
		})
		c.run(t, tablescan.Config{PageBytes: 150}, func(int64) {})
		require.Equal(t, 4, rule.Hits())
	})
}

// TestUnauthorizedPage requires that no page is requested again after an error which stays.
func TestUnauthorizedPage(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		rule := c.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Statement: "token", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeUnauthorized},
			Match: func(r cqltest.Request) bool { return r.Paged },
		})
		s := c.scan(t, selectAll, tablescan.Config{PageBytes: 150})
		err := s.Run(t.Context(), func(int, *column.Batch) error { return nil })
		require.ErrorIs(t, err, cql.CodeUnauthorized)
		require.Equal(t, 1, rule.Hits())
		require.Zero(t, s.Progress().Failures)
	})
}

// TestNodesFail kills, pauses and restarts nodes while the scan runs.
func TestNodesFail(t *testing.T) {
	for _, name := range []string{"vnodes", "shards", "tablets"} {
		t.Run(name, func(t *testing.T) {
			onFake(t, configs[name], func(t *testing.T, c *fake) {
				c.run(t, tablescan.Config{Workers: 4, PageBytes: 150}, func(page int64) {
					switch page {
					case 5:
						c.Node(0).Kill()
					case 12:
						c.Node(1).Pause()
						time.Sleep(time.Second)
					case 20:
						c.Node(1).Resume()
						require.NoError(t, c.Node(0).Restart())
					case 25:
						c.Node(2).Kill()
					}
				})
			})
		})
	}
}

// TestAllNodesFail stops the scan while no node answers, and continues.
func TestAllNodesFail(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		want, got := c.all(t), &rows{}
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 150, Retries: 3})
		pages := atomic.Int64{}
		read := func(_ int, b *column.Batch) error {
			got.add(t, b)
			if pages.Add(1) == 5 {
				for _, n := range c.Nodes() {
					n.Kill()
				}
			}
			return nil
		}
		err := s.Run(t.Context(), read)
		var failed *tablescan.RangeError
		require.ErrorAs(t, err, &failed)
		for _, n := range c.Nodes() {
			require.NoError(t, n.Restart())
		}
		require.NoError(t, c.session.Ready(t.Context()))
		require.NoError(t, s.Run(t.Context(), read))
		requireSame(t, want, got)
	})
}

// TestClusterChanges resizes the cluster, splits and moves tablets, and changes the number of shards.
func TestClusterChanges(t *testing.T) {
	for _, name := range []string{"vnodes", "shards", "tablets"} {
		t.Run(name, func(t *testing.T) {
			onFake(t, configs[name], func(t *testing.T, c *fake) {
				c.run(t, tablescan.Config{Workers: 4, PageBytes: 150}, func(page int64) {
					switch page {
					case 3, 9, 15, 21:
						c.MoveTablets()
					case 6:
						c.SetTablets(5)
					case 12:
						c.SetTablets(64)
					case 18:
						_, err := c.AddNode("datacenter1", "rack1")
						require.NoError(t, err)
					case 24:
						if name != "vnodes" {
							c.Node(1).SetShards(5)
							c.Node(1).CloseConns()
						}
					case 27:
						c.RemoveNode(c.Node(2))
					}
				})
			})
		})
	}
}

// TestDroppedTable ends the scan at once: a retry cannot succeed.
func TestDroppedTable(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1})
		require.NoError(t, c.Exec("DROP TABLE ks.t"))
		err := s.Run(t.Context(), func(int, *column.Batch) error { return errors.New("no row") })
		require.ErrorIs(t, err, cql.CodeInvalid)
	})
}

// widthOf returns the number of tokens in the range of a request.
func widthOf(r cqltest.Request) uint64 {
	start, end := binary.BigEndian.Uint64(r.Values[0].Bytes), binary.BigEndian.Uint64(r.Values[1].Bytes)
	return end - start
}
