// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds faults 16 to 19: of prepared statements, their metadata and their pages. session_query_test.go has more of 16 and 17.

// TestFault16UnpreparedBatch: a node has forgotten all statements of a batch, and tells one after the other. Each must be prepared once more,
// and the batch be sent until it is taken.
func TestFault16UnpreparedBatch(t *testing.T) {
	for _, version := range []byte{protoV4, protoV5} {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, version, 1)
			known := map[string]bool{}
			c.on(func(r *fakeRequest) bool {
				switch r.op {
				case opPrepare:
					known[r.stmt] = true
				case opBatch:
					for _, stmt := range r.stmts {
						if !known[stmt] {
							r.unprepared(statementID(stmt))
							return true
						}
					}
				}
				return false
			})
			s := c.session()
			b := s.Batch(LoggedBatch)
			for i := range 20 {
				stmt := fmt.Sprintf("INSERT INTO ks.t%d (id) VALUES (?)", i)
				c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}})
				b.Query(stmt, i)
			}
			require.NoError(t, b.Exec())
			clear(known)
			require.NoError(t, b.Exec())
			for _, e := range b.Entries {
				_, prepares := c.count(e.Stmt)
				require.Equal(t, 2, prepares, e.Stmt)
			}
		})
	}
}

// TestFault16UnpreparedThenBroken: a node has forgotten a statement, and goes away while it is prepared again. The error must say that the
// request was not executed: it was refused.
func TestFault16UnpreparedThenBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 1)
		s := c.session()
		require.NoError(t, s.Query("INSERT x").Exec())
		c.on(func(r *fakeRequest) bool {
			switch r.op {
			case opExecute:
				r.unprepared(statementID("INSERT x"))
			case opPrepare:
				r.hangUp()
			default:
				return false
			}
			return true
		})
		err := s.Query("INSERT x").Exec()
		require.ErrorIs(t, err, ErrConnectionClosed)
		require.False(t, MayHaveApplied(err))
		sent, _ := c.count("INSERT x")
		require.Equal(t, 2, sent)
	})
}

// TestFault17AlterBeforeReply: a request is under way with the metadata of a table that is altered meanwhile. Its rows, which come without
// metadata, must be decoded with what was current when it was sent, though another request has learnt of the change by then; and a
// request sent before the change whose rows come with new metadata must be decoded with those.
func TestFault17AlterBeforeReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 1)
		columns := threeColumns(c)
		altered := []ColumnInfo{col("extra", tText), col("v", tVector), col("name", tText), col("id", tBigint)}
		cells := func(i int) [][]byte {
			old := rowCells(i, 1)
			return [][]byte{cellOf(tText, "new"), old[2], old[1], old[0]}
		}
		var held *fakeRequest
		var asked []string
		executes := 0
		c.on(func(r *fakeRequest) bool {
			if r.op != opExecute {
				return false
			}
			asked = append(asked, r.metadataID)
			require.True(t, r.skipMetadata)
			switch executes++; executes {
			case 1:
				held = r
			case 2, 3: // sent before the change was known to the driver, and after it
				r.rows(fakeResult{columns: altered, cells: cells(2), newID: "m2"})
			default:
				r.rows(fakeResult{columns: altered, cells: cells(4)})
			}
			return true
		})
		s := c.session()
		type row struct {
			ID    int64
			Name  string
			V     []float32
			Extra *string
		}
		read := func() (rows []row, err error) {
			for r, e := range Rows[row](context.Background(), s.Query(selectRows)) {
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
		held.rows(fakeResult{columns: columns, cells: rowCells(1, 1)})
		require.NoError(t, <-done)
		require.Equal(t, []string{"m1", "m1", "m2", "m2", "m2"}, asked)
	})
}

// TestFault17TypedPages: columns change their order and their type between the pages of one result. Typed rows, scanned rows and maps must
// follow.
func TestFault17TypedPages(t *testing.T) {
	for _, version := range []byte{protoV4, protoV5} {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, version, 1)
			columns := threeColumns(c)
			other := []ColumnInfo{col("v", tVector), col("name", NativeType(TypeBlob)), col("id", NativeType(TypeVarint))}
			c.on(func(r *fakeRequest) bool {
				if r.op != opExecute {
					return false
				}
				id := func(of string) string { // tells it where the client has another one
					if version < protoV5 || r.metadataID == of {
						return ""
					}
					return of
				}
				switch string(r.state) {
				case "":
					r.rows(fakeResult{columns: columns, cells: rowCells(0, 2), state: "1", newID: id("m1")})
				default:
					res := fakeResult{columns: other, newID: id("m2")}
					for i := 2; i < 4; i++ {
						cells := rowCells(i, 1)
						res.cells = append(res.cells, cells[2], cells[1], cellOf(NativeType(TypeVarint), i))
					}
					r.rows(res)
				}
				return true
			})
			s := c.session()
			type row struct {
				ID   int64
				Name string
				V    []float32
			}
			var got []row
			for r, err := range Rows[row](context.Background(), s.Query(selectRows)) {
				require.NoError(t, err)
				got = append(got, r)
			}
			require.Len(t, got, 4)
			for i, r := range got {
				require.Equal(t, row{int64(i), fmt.Sprint("name ", i), []float32{float32(i), 1, 2}}, r)
			}
			n := 0
			for r, err := range Rows[map[string]any](context.Background(), s.Query(selectRows)) {
				require.NoError(t, err)
				require.Equal(t, []float32{float32(n), 1, 2}, r["v"])
				n++
			}
			require.Equal(t, 4, n)
		})
	}
}

// TestFault18Pages: pages are empty though more follow, a thousand of them in a row; the paging state changes its size from one page to the
// next. All rows must come, in order, whatever is read ahead.
func TestFault18Pages(t *testing.T) {
	for _, version := range []byte{protoV4, protoV5} {
		for _, prefetch := range []float64{-1, 0.25} {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, version, 1)
				columns := threeColumns(c)
				pages := 1100
				if poison {
					pages = 300
				}
				sizes := []int{1, 16, 3000, 70_000, 2, 500}
				page := 0
				c.on(func(r *fakeRequest) bool {
					if r.op != opExecute {
						return false
					}
					if page > 0 { // the state must be that of the page before, to the byte
						require.Equal(t, strings.Repeat(string(rune('a'+(page-1)%26)), sizes[(page-1)%len(sizes)]), string(r.state))
					}
					res := fakeResult{columns: columns}
					if page < 3 || page >= pages-50 {
						res.cells = rowCells(page, 1)
					}
					if page < pages-1 {
						res.state = strings.Repeat(string(rune('a'+page%26)), sizes[page%len(sizes)])
					}
					page++
					r.rows(res)
					return true
				})
				s := c.session(func(cfg *ClusterConfig) { cfg.ProtoVersion = int(version) })
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

// TestFault18OtherStatesPage: a paging state is of another statement, or damaged. The server refuses it; the error must reach the caller, after
// the rows of pages before, and nothing may be sent again or start over.
func TestFault18OtherStatesPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 2)
		columns := threeColumns(c)
		executes := 0
		c.on(func(r *fakeRequest) bool {
			if r.op != opExecute {
				return false
			}
			switch executes++; string(r.state) {
			case "":
				r.rows(fakeResult{columns: columns, cells: rowCells(0, 3), state: "of another statement"})
			case "of another statement":
				r.fail(CodeInvalid)
			default:
				r.fail(CodeProtocol)
			}
			return true
		})
		s := c.session(func(cfg *ClusterConfig) { cfg.DefaultIdempotence = true })
		it := s.Query(selectRows).Iter()
		n := 0
		for it.Scan(nil, nil, nil) {
			n++
		}
		require.Equal(t, 3, n)
		require.ErrorIs(t, it.Close(), CodeInvalid)
		require.Equal(t, 2, executes)
		for _, m := range []struct {
			state string
			want  Code
		}{{"of another statement", CodeInvalid}, {"damaged", CodeProtocol}} {
			it := s.Query(selectRows).PageState([]byte(m.state)).Iter()
			require.False(t, it.Scan(nil, nil, nil))
			err := it.Close()
			require.ErrorIs(t, err, m.want)
			var f *RequestFailure
			require.ErrorAs(t, err, &f)
			require.Equal(t, 1, f.Attempts)
		}
	})
}

// TestFault19SingleFlight: a hundred callers want a statement that is being prepared for another one, who gives up. They must have it when
// the answer comes, from one PREPARE; or all the server's error; or, when the node goes away, another node's answer.
func TestFault19SingleFlight(t *testing.T) {
	for _, m := range []struct {
		name     string
		answer   func(r *fakeRequest)
		want     error
		prepares int
	}{
		{"answered", func(r *fakeRequest) { r.peer.reply(r.stream, opResult, r.node.preparedBody(r.stmt, false)) }, nil, 1},
		{"refused", func(r *fakeRequest) { r.fail(CodeInvalid) }, CodeInvalid, 1},
		{"the node goes away", func(r *fakeRequest) { r.hangUp() }, nil, 2},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, protoV5, 2)
				var held *fakeRequest
				c.on(func(r *fakeRequest) bool {
					if r.op != opPrepare || held != nil {
						return false
					}
					held = r
					return true
				})
				s := c.session()
				ctx, cancel := context.WithCancel(context.Background())
				leader := make(chan error, 1)
				go func() { leader <- s.Query("SELECT 1").ExecContext(ctx) }()
				synctest.Wait()
				require.NotNil(t, held)
				var wg sync.WaitGroup
				followers := make(chan error, 100)
				for range cap(followers) {
					wg.Go(func() { followers <- s.Query("SELECT 1").Exec() })
				}
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					defer cancel()
					err := s.Query("SELECT 1").ExecContext(ctx)
					if !errors.Is(err, context.DeadlineExceeded) || MayHaveApplied(err) {
						t.Errorf("a follower with a deadline: %v", err)
					}
				})
				synctest.Wait()
				cancel()
				err := <-leader
				require.ErrorIs(t, err, context.Canceled)
				require.False(t, MayHaveApplied(err))
				time.Sleep(2 * time.Second)
				require.Empty(t, followers, "they wait")
				m.answer(held)
				wg.Wait()
				for range cap(followers) {
					err := <-followers
					require.ErrorIs(t, err, m.want)
					if m.want != nil {
						require.False(t, MayHaveApplied(err))
					}
				}
				_, prepares := c.count("SELECT 1")
				require.Equal(t, m.prepares, prepares)
			})
		})
	}
}
