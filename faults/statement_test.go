// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
)

// Faults 16 to 19: prepared statements that nodes forget, metadata changes, and pages.

// TestFault16UnpreparedBatch: a node has forgotten all statements of a batch, and reports one at a time. Each must be
// prepared once more, and the batch must be sent again until it is executed.
func TestFault16UnpreparedBatch(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, version, 1)
			known := map[string]bool{}
			c.On(func(r *fakecql.Request) bool {
				switch r.Op {
				case fakecql.OpPrepare:
					known[r.Stmt] = true
				case fakecql.OpBatch:
					for _, stmt := range r.Stmts {
						if !known[stmt] {
							r.Unprepared(fakecql.StatementID(stmt))
							return true
						}
					}
				}
				return false
			})
			s := sessionOn(c)
			b := s.Batch(vecql.LoggedBatch)
			for i := range 20 {
				stmt := fmt.Sprintf("INSERT INTO ks.t%d (id) VALUES (?)", i)
				c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint")})
				b.Query(stmt, i)
			}
			require.NoError(t, b.Exec())
			clear(known)
			require.NoError(t, b.Exec())
			for _, e := range b.Entries {
				_, prepares := c.Count(e.Stmt)
				require.Equal(t, 2, prepares, e.Stmt)
			}
		})
	}
}

// TestFault16UnpreparedThenBroken: a node has forgotten a statement, and its connection breaks while the statement is
// prepared again. The error must report that the request was not executed.
func TestFault16UnpreparedThenBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		s := sessionOn(c)
		require.NoError(t, s.Query("INSERT x").Exec())
		c.On(func(r *fakecql.Request) bool {
			switch r.Op {
			case fakecql.OpExecute:
				r.Unprepared(fakecql.StatementID("INSERT x"))
			case fakecql.OpPrepare:
				r.HangUp()
			default:
				return false
			}
			return true
		})
		err := s.Query("INSERT x").Exec()
		require.ErrorIs(t, err, vecql.ErrConnectionClosed)
		require.False(t, vecql.MayHaveApplied(err))
		sent, _ := c.Count("INSERT x")
		require.Equal(t, 2, sent)
	})
}

// TestFault17AlterBeforeReply: a table is altered while a request is in flight. Rows without metadata must be decoded
// with the metadata that was current when the request was sent, even if another request has received newer metadata
// since. Rows with new metadata must be decoded with it.
func TestFault17AlterBeforeReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		columns := threeColumns(c)
		altered := fakecql.Columns("extra text", "v vector<float, 3>", "name text", "id bigint")
		cells := func(i int) [][]byte {
			old := rowCells(i, 1)
			return [][]byte{fakecql.Cell("text", "new"), old[2], old[1], old[0]}
		}
		var held *fakecql.Request
		var asked []string
		executes := 0
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			asked = append(asked, r.MetadataID)
			require.True(t, r.SkipMetadata)
			switch executes++; executes {
			case 1:
				held = r
			case 2, 3: // sent before the driver knew the change, and after
				r.Rows(fakecql.Rows{Columns: altered, Cells: cells(2), NewID: "m2"})
			default:
				r.Rows(fakecql.Rows{Columns: altered, Cells: cells(4)})
			}
			return true
		})
		s := sessionOn(c)
		type row struct {
			ID    int64
			Name  string
			V     []float32
			Extra *string
		}
		read := func() (rows []row, err error) {
			for r, e := range vecql.Rows[row](context.Background(), s.Query(selectRows)) {
				if e != nil {
					return rows, e
				}
				rows = append(rows, r)
			}
			return rows, nil
		}
		done := make(chan error, 1)
		go func() {
			rows, err := read()
			if err == nil && (len(rows) != 1 || rows[0].ID != 1 || rows[0].Name != "name 1" || rows[0].Extra != nil) {
				err = fmt.Errorf("got %+v", rows)
			}
			done <- err
		}()
		synctest.Wait()
		for i := range 4 {
			rows, err := read()
			require.NoError(t, err)
			want := 2
			if i >= 2 {
				want = 4
			}
			require.Len(t, rows, 1)
			require.Equal(t, fmt.Sprint("name ", want), rows[0].Name, "typed rows follow the columns")
			require.EqualValues(t, want, rows[0].ID)
			require.Equal(t, "new", *rows[0].Extra)
		}
		held.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(1, 1)})
		require.NoError(t, <-done)
		require.Equal(t, []string{"m1", "m1", "m2", "m2", "m2"}, asked)
	})
}

// TestFault17TypedPages: columns change their order and type between the pages of one result. Typed rows, scanned rows
// and maps must be decoded page by page.
func TestFault17TypedPages(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, version, 1)
			columns := threeColumns(c)
			other := fakecql.Columns("v vector<float, 3>", "name blob", "id varint")
			c.On(func(r *fakecql.Request) bool {
				if r.Op != fakecql.OpExecute {
					return false
				}
				id := func(of string) string { // the new metadata id, if the client has another one
					if version < fakecql.V5 || r.MetadataID == of {
						return ""
					}
					return of
				}
				switch string(r.State) {
				case "":
					r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 2), State: "1", NewID: id("m1")})
				default:
					res := fakecql.Rows{Columns: other, NewID: id("m2")}
					for i := 2; i < 4; i++ {
						cells := rowCells(i, 1)
						res.Cells = append(res.Cells, cells[2], cells[1], fakecql.Cell("varint", i))
					}
					r.Rows(res)
				}
				return true
			})
			s := sessionOn(c)
			type row struct {
				ID   int64
				Name string
				V    []float32
			}
			var got []row
			for r, err := range vecql.Rows[row](context.Background(), s.Query(selectRows)) {
				require.NoError(t, err)
				got = append(got, r)
			}
			require.Len(t, got, 4)
			for i, r := range got {
				require.Equal(t, row{int64(i), fmt.Sprint("name ", i), []float32{float32(i), 1, 2}}, r)
			}
			n := 0
			for r, err := range vecql.Rows[map[string]any](context.Background(), s.Query(selectRows)) {
				require.NoError(t, err)
				require.Equal(t, []float32{float32(n), 1, 2}, r["v"])
				n++
			}
			require.Equal(t, 4, n)
		})
	}
}

// TestFault18Pages: a thousand pages in a row are empty though more follow, and the paging state changes its size from
// page to page. All rows must arrive in order, however many pages are read ahead.
func TestFault18Pages(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		for _, prefetch := range []float64{-1, 0.25} {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, version, 1)
				columns := threeColumns(c)
				pages := 1100
				if pooled.Poisoned {
					pages = 300
				}
				sizes := []int{1, 16, 3000, 70_000, 2, 500}
				page := 0
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute {
						return false
					}
					if page > 0 { // the state must be that of the previous page, byte for byte
						require.Equal(t, strings.Repeat(string(rune('a'+(page-1)%26)), sizes[(page-1)%len(sizes)]), string(r.State))
					}
					res := fakecql.Rows{Columns: columns}
					if page < 3 || page >= pages-50 {
						res.Cells = rowCells(page, 1)
					}
					if page < pages-1 {
						res.State = strings.Repeat(string(rune('a'+page%26)), sizes[page%len(sizes)])
					}
					page++
					r.Rows(res)
					return true
				})
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.ProtoVersion = int(version) })
				it := s.Query(selectRows).Prefetch(prefetch).Iter()
				var id int64
				var ids []int64
				for it.Scan(&id, nil, nil) {
					ids = append(ids, id)
				}
				require.NoError(t, it.Close())
				require.Len(t, ids, 3+50)
				require.Equal(t, []int64{0, 1, 2, int64(pages) - 50}, ids[:4])
				require.Equal(t, pages, page)
			})
		}
	}
}

// TestFault18OtherStatesPage: a paging state belongs to another statement or is damaged, and the server refuses it. The
// caller must get the error after the rows of earlier pages, and no request may be repeated.
func TestFault18OtherStatesPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 2)
		columns := threeColumns(c)
		executes := 0
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			switch executes++; string(r.State) {
			case "":
				r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 3), State: "of another statement"})
			case "of another statement":
				r.Fail(int32(vecql.CodeInvalid))
			default:
				r.Fail(int32(vecql.CodeProtocol))
			}
			return true
		})
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.DefaultIdempotence = true })
		it := s.Query(selectRows).Iter()
		n := 0
		for it.Scan(nil, nil, nil) {
			n++
		}
		require.Equal(t, 3, n)
		require.ErrorIs(t, it.Close(), vecql.CodeInvalid)
		require.Equal(t, 2, executes)
		for _, m := range []struct {
			state string
			want  vecql.Code
		}{{"of another statement", vecql.CodeInvalid}, {"damaged", vecql.CodeProtocol}} {
			it := s.Query(selectRows).PageState([]byte(m.state)).Iter()
			require.False(t, it.Scan(nil, nil, nil))
			err := it.Close()
			require.ErrorIs(t, err, m.want)
			var f *vecql.RequestFailure
			require.ErrorAs(t, err, &f)
			require.Equal(t, 1, f.Attempts)
		}
	})
}

// TestFault19SingleFlight: a hundred callers wait for a statement that is being prepared for another caller, whose
// context is canceled. One PREPARE a node must serve them all: with its response, with the server's error, or, if the
// node fails, with another node's response.
func TestFault19SingleFlight(t *testing.T) {
	for _, m := range []struct {
		name   string
		answer func(first, second *fakecql.Request)
		want   error
	}{
		{"answered by the first node", func(r, _ *fakecql.Request) { answerPrepare(r) }, nil},
		{"answered by the second node", func(_, r *fakecql.Request) { answerPrepare(r) }, nil},
		{"refused", func(r, _ *fakecql.Request) { r.Fail(int32(vecql.CodeInvalid)) }, vecql.CodeInvalid},
		{"the first node goes away", func(r, other *fakecql.Request) { r.HangUp(); answerPrepare(other) }, nil},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V5, 2)
				var held []*fakecql.Request // guarded by c.Mu
				c.On(func(r *fakecql.Request) bool {
					c.Mu.Lock()
					defer c.Mu.Unlock()
					if r.Op != fakecql.OpPrepare || len(held) == 2 {
						return false
					}
					held = append(held, r)
					return true
				})
				s := sessionOn(c)
				ctx, cancel := context.WithCancel(context.Background())
				leader := make(chan error, 1)
				go func() { leader <- s.Query("SELECT 1").ExecContext(ctx) }()
				synctest.Wait()
				c.Mu.Lock()
				require.Len(t, held, 1)
				c.Mu.Unlock()
				var wg sync.WaitGroup
				followers := make(chan error, 100)
				for range cap(followers) {
					wg.Go(func() { followers <- s.Query("SELECT 1").Exec() })
				}
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					defer cancel()
					err := s.Query("SELECT 1").ExecContext(ctx)
					if !errors.Is(err, context.DeadlineExceeded) || vecql.MayHaveApplied(err) {
						t.Errorf("a follower with a deadline: %v", err)
					}
				})
				synctest.Wait()
				cancel()
				err := <-leader
				require.ErrorIs(t, err, context.Canceled)
				require.False(t, vecql.MayHaveApplied(err))
				time.Sleep(2 * time.Second)
				require.Empty(t, followers, "they wait")
				_, prepares := c.Count("SELECT 1")
				require.Equal(t, 2, prepares)
				c.Mu.Lock()
				first, second := held[0], held[1]
				c.Mu.Unlock()
				m.answer(first, second)
				wg.Wait()
				for range cap(followers) {
					err := <-followers
					require.ErrorIs(t, err, m.want)
					if m.want != nil {
						require.False(t, vecql.MayHaveApplied(err))
					}
				}
			})
		})
	}
}

// answerPrepare sends the response to a PREPARE that a hook has kept.
func answerPrepare(r *fakecql.Request) {
	r.Conn.Reply(r.Stream, fakecql.OpResult, r.Node.PreparedBody(r.Stmt, false))
}

// TestFault46PrepareIsLost pauses one node of three, which then answers no PREPARE. A new statement must not wait for
// its timeout: another node prepares it. Without any node that answers, the request's own timeout ends it.
func TestFault46PrepareIsLost(t *testing.T) {
	for name, change := range map[string]func(q *vecql.Query) (context.Context, context.CancelFunc){
		"request timeout": func(q *vecql.Query) (context.Context, context.CancelFunc) {
			q.RequestTimeout(50 * time.Millisecond)
			return context.Background(), func() {}
		},
		"deadline": func(*vecql.Query) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 50*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				var all atomic.Bool // nodes are paused
				c.On(func(r *fakecql.Request) bool {
					return r.Op == fakecql.OpPrepare && (all.Load() || r.Node == c.Nodes[0])
				})
				s := sessionOn(c)
				run := func(i int) error {
					q := s.Query(fmt.Sprintf("SELECT v%d FROM ks.t", i))
					ctx, cancel := change(q)
					defer cancel()
					return q.ExecContext(ctx)
				}
				failed, slowest := 0, time.Duration(0)
				for i := range 12 {
					began := time.Now()
					if err := run(i); err != nil {
						failed++
						t.Error(err)
					}
					slowest = max(slowest, time.Since(began))
				}
				evidence(t, "PREPARE lost by one of three nodes, "+name, "12 new statements, %d failures, slowest %v", failed, slowest)
				require.Less(t, slowest, 50*time.Millisecond)
				time.Sleep(time.Minute) // PREPAREs in the background have ended
				all.Store(true)
				began := time.Now()
				err := run(12)
				require.Equal(t, 50*time.Millisecond, time.Since(began))
				require.True(t, errors.Is(err, vecql.ErrTimeoutNoResponse) || errors.Is(err, context.DeadlineExceeded), "%v", err)
				require.False(t, vecql.MayHaveApplied(err))
			})
		})
	}
}

// TestFault46PrepareEverywhere prepares a statement: all nodes must have it soon after, so that none answers
// UNPREPARED.
func TestFault46PrepareEverywhere(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		const stmt = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
		prepared := map[*fakecql.Node]int{}
		c.On(func(r *fakecql.Request) bool {
			c.Mu.Lock()
			defer c.Mu.Unlock()
			if r.Op == fakecql.OpPrepare {
				prepared[r.Node]++
			}
			return false
		})
		s := sessionOn(c)
		require.NoError(t, s.Query(stmt, 1).Exec())
		synctest.Wait()
		c.Mu.Lock()
		defer c.Mu.Unlock()
		require.Equal(t, map[*fakecql.Node]int{c.Nodes[0]: 1, c.Nodes[1]: 1, c.Nodes[2]: 1}, prepared)
	})
}

// TestFault16UnpreparedOnce: a node has forgotten a statement. The statement must be prepared once more and the request
// sent again, even if it is not idempotent, because the node has refused it.
func TestFault16UnpreparedOnce(t *testing.T) {
	for _, v := range []byte{fakecql.V4, fakecql.V5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			c := newCluster(t, v, 1)
			const stmt = "INSERT INTO ks.t (id) VALUES (?)"
			c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
			var forgotten atomic.Bool
			c.On(func(r *fakecql.Request) bool {
				if (r.Op == fakecql.OpExecute || r.Op == fakecql.OpBatch) && forgotten.CompareAndSwap(true, false) {
					r.Unprepared(fakecql.StatementID(stmt))
					return true
				}
				return false
			})
			s := sessionOn(c)
			require.NoError(t, s.Query(stmt, 1).Exec())
			forgotten.Store(true)
			require.NoError(t, s.Query(stmt, 2).Exec(), "safe to resend although not idempotent, because the node refused it")
			sent, prepares := c.Count(stmt)
			require.Equal(t, 3, sent)
			require.Equal(t, 2, prepares)
			forgotten.Store(true)
			require.NoError(t, s.Batch(vecql.LoggedBatch).Query(stmt, 3).Query("DELETE FROM ks.t WHERE id = 1").Query(stmt, 4).Exec())
			_, prepares = c.Count(stmt)
			require.Equal(t, 3, prepares)
		})
	}
}

// TestFault16UnpreparedAlways: a node forgets a statement immediately, every time. The request must fail after a few
// attempts.
func TestFault16UnpreparedAlways(t *testing.T) {
	c := newCluster(t, fakecql.V5, 1)
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			r.Unprepared(fakecql.StatementID("SELECT 1"))
		}
		return r.Op == fakecql.OpExecute
	})
	s := sessionOn(c)
	err := s.Query("SELECT 1").Exec()
	require.ErrorIs(t, err, vecql.CodeUnprepared)
	require.False(t, vecql.MayHaveApplied(err))
	sent, _ := c.Count("SELECT 1")
	require.LessOrEqual(t, sent, 3)
}

// TestFault16UnpreparedOtherID: a node reports another statement than the one sent as unprepared, or returns another id
// when it is prepared again. The encoded request must not be executed, and the error must name the reason.
func TestFault16UnpreparedOtherID(t *testing.T) {
	t.Run("of a statement that was not sent", func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute {
				r.Unprepared("another statement's id")
			}
			return r.Op == fakecql.OpExecute
		})
		err := sessionOn(c).Query("SELECT 1").Exec()
		var broken *vecql.ProtocolError
		require.ErrorAs(t, err, &broken)
		require.False(t, vecql.MayHaveApplied(err), "the node refused the request")
	})
	t.Run("after the table changed", func(t *testing.T) { // values encoded for the old columns must not be sent
		c := newCluster(t, fakecql.V5, 1)
		const stmt = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), ID: "old"})
		s := sessionOn(c)
		require.NoError(t, s.Query(stmt, 1).Exec())
		c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id text"), ID: "new"})
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute && bytes.Contains(r.Body, []byte("old")) {
				r.Unprepared("old")
				return true
			}
			return false
		})
		var broken *vecql.ProtocolError
		err := s.Query(stmt, 1).Exec()
		require.ErrorAs(t, err, &broken)
		require.False(t, vecql.MayHaveApplied(err))
		require.NoError(t, s.Query(stmt, "1").Exec(), "the next request prepares the statement again")
	})
}

// TestFault17ChangeWhilePaging: a column is added between two pages. Each page must be decoded with its own metadata.
func TestFault17ChangeWhilePaging(t *testing.T) {
	c := newCluster(t, fakecql.V5, 1)
	columns := threeColumns(c)
	wider := append(slices.Clone(columns), fakecql.Columns("extra bigint")...)
	var asked []string
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute {
			return false
		}
		asked = append(asked, r.MetadataID)
		switch string(r.State) {
		case "":
			r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 2), State: "1"})
		case "1": // the table was altered, and this page has the new metadata
			cells := append(rowCells(2, 1), fakecql.Cell("bigint", 77))
			r.Rows(fakecql.Rows{Columns: wider, Cells: cells, State: "2", NewID: "m2"})
		default:
			cells := append(rowCells(3, 1), fakecql.Cell("bigint", 78))
			r.Rows(fakecql.Rows{Columns: wider, Cells: cells})
		}
		return true
	})
	s := sessionOn(c)
	rows, err := s.Query(selectRows).Prefetch(0).Iter().SliceMap()
	require.NoError(t, err)
	require.Len(t, rows, 4)
	require.NotContains(t, rows[1], "extra")
	require.EqualValues(t, 77, rows[2]["extra"])
	require.EqualValues(t, 78, rows[3]["extra"])
	require.Equal(t, []string{"m1", "m1", "m2"}, asked, "later requests use the new id")
	_, prepares := c.Count(selectRows)
	require.Equal(t, 1, prepares)
}

// TestFault17WithoutMetadata: rows lack the metadata that was requested. They must not be decoded with other metadata.
func TestFault17WithoutMetadata(t *testing.T) {
	c := newCluster(t, fakecql.V4, 1)
	columns := threeColumns(c)
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			require.False(t, r.SkipMetadata, "v4 cannot report a change of metadata, so every request asks for it")
			r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 1), NoMetadata: true})
		}
		return r.Op == fakecql.OpExecute
	})
	var broken *vecql.ProtocolError
	require.ErrorAs(t, sessionOn(c).Query(selectRows).Exec(), &broken)
}

// TestFault17OtherColumnCount: rows without metadata have more or fewer columns than the statement.
func TestFault17OtherColumnCount(t *testing.T) {
	for name, columns := range map[string][]fakecql.Column{
		"fewer": fakecql.Columns("id bigint", "name text"),
		"more":  fakecql.Columns("id bigint", "name text", "v vector<float, 3>", "w int"),
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, fakecql.V5, 1)
			threeColumns(c)
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					require.True(t, r.SkipMetadata)
					cells := make([][]byte, 6*len(columns)) // enough NULLs for rows of any of these numbers of columns
					r.Rows(fakecql.Rows{Columns: columns, Cells: cells, NoMetadata: true})
				}
				return r.Op == fakecql.OpExecute
			})
			it := sessionOn(c).Query(selectRows).Iter()
			require.False(t, it.Scan(nil, nil, nil))
			var broken *vecql.ProtocolError
			require.ErrorAs(t, it.Close(), &broken)
			require.ErrorContains(t, it.Close(), "the statement has 3 columns")
		})
	}
}
