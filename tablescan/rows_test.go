// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Typed rows, tokens, pages requested ahead, and pages while rows are skipped.

type logRow struct {
	ID []byte
	N  int
	V  *string
}

// TestRows leaves loops in the middle of pages and continues: each row comes once, and is acknowledged by the next one.
func TestRows(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		want, got := c.all(t), &rows{count: map[string]int{}}
		s := c.scan(t, "SELECT id, n, v FROM ks.t", tablescan.Config{Workers: 3, PageBytes: 300})
		for left, loops := true, 0; left; loops++ {
			left = false
			n := 0
			for r, err := range tablescan.Rows[logRow](t.Context(), s) {
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint("value ", r.N), *r.V)
				if n++; n == 7+loops {
					left = true
					break
				}
				got.count[fmt.Sprintf("%x %v", r.ID, r.N)]++
			}
			if left { // a checkpoint has the rows of the loop
				require.EqualValues(t, sum(got), s.Checkpoint().Rows)
				text, err := json.Marshal(s.Checkpoint())
				require.NoError(t, err)
				checkpoint := new(tablescan.Checkpoint)
				require.NoError(t, json.Unmarshal(text, checkpoint))
				s = c.scan(t, "SELECT id, n, v FROM ks.t", tablescan.Config{Workers: 3, PageBytes: 300, Checkpoint: checkpoint})
			}
			require.Less(t, loops, 100)
		}
		requireSame(t, want, got)
		require.Positive(t, s.Progress().Bytes)
	})
}

func sum(r *rows) (n int) {
	for _, count := range r.count {
		n += count
	}
	return n
}

// TestRowsOfTypes has rows of other types than structs, and types that do not fit.
func TestRowsOfTypes(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, []byte{7}, 3)
		var ns []int
		for n, err := range tablescan.Rows[int](t.Context(), c.scan(t, "SELECT n FROM ks.t", tablescan.Config{})) {
			require.NoError(t, err)
			ns = append(ns, n)
		}
		require.Equal(t, []int{0, 1, 2}, ns)
		for m, err := range tablescan.Rows[map[string]any](t.Context(), c.scan(t, "SELECT n, v FROM ks.t", tablescan.Config{Tokens: true})) {
			require.NoError(t, err)
			require.Equal(t, map[string]any{"n": m["n"], "v": fmt.Sprint("value ", m["n"])}, m)
		}
		requireError := func(statement string, want error) {
			t.Helper()
			var last error
			for _, err := range tablescan.Rows[struct{ V string }](t.Context(), c.scan(t, statement, tablescan.Config{})) {
				last = err
			}
			require.ErrorIs(t, last, want)
		}
		requireError("SELECT n, v FROM ks.t", cql.ErrConversion)
		time.Sleep(time.Second) // later than the write times of the rows
		require.NoError(t, c.Exec("UPDATE ks.t SET v = null WHERE id = 0x07 AND n = 1"))
		requireError("SELECT v FROM ks.t", cql.ErrNull)
		require.PanicsWithValue(t, "in the loop", func() {
			for _, err := range tablescan.Rows[int](t.Context(), c.scan(t, "SELECT n FROM ks.t", tablescan.Config{})) {
				require.NoError(t, err)
				panic("in the loop")
			}
		})
	})
}

// TestTokens counts the rows of a table by range, node and partition.
func TestTokens(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			onFake(t, cfg, func(t *testing.T, c *fake) {
				c.fill(t)
				ranges, err := c.session.TokenRanges(t.Context(), "ks", "t")
				require.NoError(t, err)
				s, err := tablescan.Tokens(t.Context(), c.session, "ks.t", tablescan.Config{Workers: 1, PageBytes: 150})
				require.NoError(t, err)
				byRange, byToken := make([]int, len(ranges)), map[int64]int{}
				require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
					require.Len(t, b.Columns, 1)
					tokens, err := column.Slice[int64](b.Column(tablescan.TokenColumn))
					require.NoError(t, err)
					in := func(tok int64) int {
						return slices.IndexFunc(ranges, func(r vecql.TokenRange) bool { return r.Start < tok && tok <= r.End })
					}
					require.Equal(t, in(tokens[0]), in(tokens[len(tokens)-1]), "a batch is of one range")
					byRange[in(tokens[0])] += len(tokens)
					for _, tok := range tokens {
						byToken[tok]++
					}
					return nil
				}))
				total := 0
				for _, n := range byRange {
					total += n
				}
				want := len(c.all(t).count)
				require.Equal(t, want, total)
				require.Equal(t, 60, byToken[0])
				require.Equal(t, 3, byToken[math.MaxInt64])
				p := s.Progress()
				require.EqualValues(t, want, p.TotalRows)
				require.Equal(t, p.Bytes, p.TotalBytes)
				require.Equal(t, "SELECT token FROM ks.t", s.Checkpoint().Statement)

				b := batches(t, c.scan(t, "SELECT n FROM ks.t", tablescan.Config{Tokens: true}).Batches(t.Context()))
				require.Equal(t, "n token", strings.Join([]string{b.Columns[0].Name, b.Columns[1].Name}, " "))
			})
		})
	}
}

// TestTotals estimates the rows of a table while it is read.
func TestTotals(t *testing.T) {
	onFake(t, configs["tablets"], func(t *testing.T, c *fake) {
		for i := range 400 {
			c.insert(t, fmt.Append(nil, "key ", i), 1)
		}
		s := c.scan(t, selectAll, tablescan.Config{})
		require.Zero(t, s.Progress().TotalRows, "unknown")
		stop := errors.New("stop")
		err := s.Run(t.Context(), func(_ int, b *column.Batch) error {
			if s.Progress().Done > .5 {
				return stop
			}
			return nil
		})
		require.ErrorIs(t, err, stop)
		require.InDelta(t, 400, s.Progress().TotalRows, 100)
	})
}

// TestNextPageAhead requests the next page while the program has one, and leaves the request when the scan ends.
func TestNextPageAhead(t *testing.T) {
	for name, want := range map[string]int{"no budget": 2, "large budget": 2, "small budget": 1} {
		t.Run(name, func(t *testing.T) {
			onFake(t, configs["one"], func(t *testing.T, c *fake) {
				c.insert(t, []byte{7}, 300) // the third page has the last ones
				conf := &vecql.ClusterConfig{Hosts: c.Hosts()}
				conf.Pool.Dialer, conf.Limits.MemoryBudget = c.Dialer(), map[string]int64{"large budget": 64 << 20, "small budget": 1 << 20}[name]
				session, err := vecql.NewSession(t.Context(), *conf)
				require.NoError(t, err)
				defer session.Close()
				s, err := tablescan.New(t.Context(), session, selectAll, tablescan.Config{Workers: 1})
				require.NoError(t, err)
				asked := c.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Match: func(r cqltest.Request) bool { return r.Paged }})
				pages := 0
				stop := errors.New("stop")
				began := time.Now()
				err = s.Run(t.Context(), func(int, *column.Batch) error {
					synctest.Wait()
					if pages++; pages == 1 {
						require.Equal(t, want-1, asked.Hits())
						if want == 2 { // this page and the next one were answered
							c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Delay: time.Minute})
							return nil
						}
					}
					return stop
				})
				require.ErrorIs(t, err, stop)
				require.Less(t, time.Since(began), time.Second, "the scan does not wait for the request ahead")
				stacks := make([]byte, 1<<20)
				require.NotContains(t, string(stacks[:runtime.Stack(stacks, true)]), "tablescan.(*reader).fetch", "it has ended")
				require.EqualValues(t, 16*(want-1), s.Progress().Rows)
			})
		})
	}
}

// TestSkippedPagesGrow resumes within a partition: its first rows are read in few pages.
func TestSkippedPagesGrow(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, []byte{7}, 1200)
		want, got := c.all(t), &rows{}
		s := c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 300})
		stop := errors.New("stop")
		require.ErrorIs(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			if s.Progress().Rows > 1000 {
				return stop
			}
			got.add(t, b)
			return nil
		}), stop)
		checkpoint := s.Checkpoint()
		asked := c.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Match: func(r cqltest.Request) bool { return r.Paged }})
		s = c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 64 << 10, Checkpoint: &checkpoint})
		pages, before := 0, 0
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			if pages++; pages == 1 {
				synctest.Wait()
				before = asked.Hits()
			}
			got.add(t, b)
			return nil
		}))
		requireSame(t, want, got)
		require.LessOrEqual(t, before, 2, "after 16 rows, all others that are skipped, and the rest")
	})
}
