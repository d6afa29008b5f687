// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Scans of whole tables beside a plain SELECT.

const selectAll = "SELECT id, n FROM ks.t"

func TestScanShapes(t *testing.T) {
	for name, cfg := range configs {
		for shape, fill := range map[string]func(t *testing.T, c *fake){
			"no rows":       func(*testing.T, *fake) {},
			"one row":       func(t *testing.T, c *fake) { c.insert(t, []byte{7}, 1) },
			"one partition": func(t *testing.T, c *fake) { c.insert(t, []byte{7}, 100) },
			"first token":   func(t *testing.T, c *fake) { c.insert(t, keyOf(math.MinInt64+1), 1) },
			"last token":    func(t *testing.T, c *fake) { c.insert(t, keyOf(math.MaxInt64), 1) },
			"all":           func(t *testing.T, c *fake) { c.fill(t) },
		} {
			t.Run(name+"/"+shape, func(t *testing.T) {
				onFake(t, cfg, func(t *testing.T, c *fake) {
					fill(t, c)
					want, got := c.all(t), &rows{}
					s := c.scan(t, selectAll, tablescan.Config{})
					require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
						got.add(t, b)
						return nil
					}))
					requireSame(t, want, got)
					p := s.Progress()
					require.EqualValues(t, len(want.count), p.Rows)
					require.InDelta(t, 1, p.Done, 0)
					require.Empty(t, s.Checkpoint().Left)
				})
			})
		}
	}
}

// TestScanSelects has statements whose result equals the result of the same statement without the scan.
func TestScanSelects(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		require.NoError(t, c.Exec(`CREATE TABLE ks."Tt" ("A" int, "from" int, "x""y" int, PRIMARY KEY (("A", "from")))`))
		for i := range 20 {
			require.NoError(t, c.Exec(fmt.Sprintf(`INSERT INTO ks."Tt" ("A", "from", "x""y") VALUES (%d, %d, 1)`, i, i*i)))
		}
		for text, values := range map[string][]any{
			"SELECT * FROM ks.t":                                                      nil,
			"select V from T;":                                                        nil,
			"SELECT v AS n, writetime(v) -- all\n FROM t":                             nil,
			"SELECT v FROM t WHERE n = ? ALLOW FILTERING":                             {1},
			"SELECT id, v FROM t WHERE n > ? /* */ AND n < 30 ALLOW FILTERING":        {3},
			`SELECT * FROM ks."Tt"`:                                                   nil,
			`SELECT "from", "x""y" FROM "Tt" WHERE "x""y" = 1 ALLOW FILTERING`:        nil,
			"SELECT DISTINCT id FROM t":                                               nil,
			"SELECT v FROM t PER PARTITION LIMIT 2":                                   nil,
			"SELECT cast(n AS text) FROM t":                                           nil,
			"SELECT v FROM t WHERE n IN (?, ?) PER PARTITION LIMIT 1 ALLOW FILTERING": {0, 1},
			"SELECT v FROM t WHERE n > ? PER PARTITION LIMIT ? ALLOW FILTERING":       {1, 2},
		} {
			want := batches(t, c.session.Query(text, values...).Batches(t.Context()))
			got := batches(t, c.scan(t, text, tablescan.Config{Values: values}).Batches(t.Context()))
			require.Equal(t, lines(want), lines(got), text)
			require.Equal(t, want.Schema(), got.Schema(), text)
		}
	})
}

func batches(t *testing.T, seq func(func(*column.Batch, error) bool)) *column.Batch {
	t.Helper()
	var all []*column.Batch
	for b, err := range seq {
		require.NoError(t, err)
		all = append(all, b)
	}
	b, err := column.Concat(all...)
	require.NoError(t, err)
	return b
}

// lines returns the rows as sorted texts.
func lines(b *column.Batch) []string {
	var list []string
	for i := range b.Rows {
		line := ""
		for k := range b.Columns {
			line += fmt.Sprint(b.Columns[k].Value(i), " ")
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func TestNewErrors(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		for _, text := range []string{
			"", "INSERT INTO t (id) VALUES (?)", "SELECT", "SELECT v", "SELECT v FROM", "SELECT JSON v FROM t",
			"SELECT n FROM t GROUP BY id", "SELECT n FROM t ORDER BY n", "SELECT n FROM t WHERE n = 1 LIMIT 3 ALLOW FILTERING",
			"SELECT n FROM t PER PARTITION LIMIT 1 LIMIT 3", "SELECT count(*) FROM t", "SELECT Max (n) FROM t",
			"SELECT cast(sum(n) AS bigint) FROM t", "SELECT v FROM t WHERE token(id) > 0", "SELECT v FROM t WHERE n = :n ALLOW FILTERING",
			"SELECT v FROM t WHERE n = ? ALLOW FILTERING", "SELECT v FROM t x", "SELECT v FROM t x WHERE n = 1",
		} {
			_, err := tablescan.New(t.Context(), c.session, text, tablescan.Config{})
			var refused *tablescan.StatementError
			require.ErrorAs(t, err, &refused, text)
			require.ErrorContains(t, err, "tablescan: ")
		}
		requireReason := func(text, reason string, values ...any) {
			t.Helper()
			_, err := tablescan.New(t.Context(), c.session, text, tablescan.Config{Values: values})
			var refused *tablescan.StatementError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, text, refused.Statement)
			require.Equal(t, reason, refused.Reason)
		}
		// values are in the order of the markers, which a name could change
		requireReason("SELECT v FROM t WHERE n = :n ALLOW FILTERING", "it has the named bind marker :n", 1)
		requireReason("SELECT v FROM t WHERE n = ? AND s = :s ALLOW FILTERING", "it has the named bind marker :s", 1, 2)
		requireReason(`SELECT v FROM t WHERE n = :"A b" ALLOW FILTERING`, "it has the named bind marker :A b", 1)
		requireReason("SELECT v FROM t WHERE n = ? AND s = ? ALLOW FILTERING",
			"it has 2 bind markers, Config.Values has 1 values", 1)
		requireReason("SELECT v FROM t", "it has 0 bind markers, Config.Values has 1 values", 1)
		requireReason("SELECT v FROM t WHERE n = ? PER PARTITION LIMIT ? ALLOW FILTERING",
			"it has 2 bind markers, Config.Values has 3 values", 1, 2, 3)
		for _, text := range []string{"SELECT v FROM ?.t", "SELECT v FROM ks.?", "SELECT v FROM ?", "SELECT v FROM 7.t"} {
			requireReason(text, "no table follows FROM")
		}
		for _, restriction := range []string{"n IN (1, 2)", "n = {1: 2, 3: 4}", "n = [1, 2]", "n = {[(1)]}", "n = ((1))"} {
			requireReason("SELECT v FROM t WHERE "+restriction+" LIMIT 3", "it has LIMIT")
			requireReason("SELECT v FROM t WHERE "+restriction+" AND token(id) > 0", "it restricts the token")
		}
		for text, want := range map[string]error{
			"SELECT v FROM none":      vecql.ErrNoTable,
			"SELECT v FROM none.t":    vecql.ErrKeyspaceDoesNotExist,
			"SELECT none FROM t":      cql.CodeInvalid,
			"SELECT v FROM t WHERE n": cql.CodeSyntax,
		} {
			_, err := tablescan.New(t.Context(), c.session, text, tablescan.Config{})
			require.ErrorIs(t, err, want, text)
		}
		for _, ranges := range [][]vecql.TokenRange{
			{{Start: 0, End: 0}}, {{Start: 1, End: 0}}, {{Start: 0, End: 10}, {Start: 5, End: 20}},
		} {
			_, err := tablescan.New(t.Context(), c.session, selectAll, tablescan.Config{Ranges: ranges})
			require.ErrorContains(t, err, "Config.Ranges")
		}
	})
}

// TestErrorOfASchemaIsThatOfTheScan: it is not asked for again.
func TestErrorOfASchemaIsThatOfTheScan(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		failed := c.Inject(cqltest.Fault{Statement: "system_schema.tables", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		_, err := tablescan.New(t.Context(), c.session, selectAll, tablescan.Config{})
		require.ErrorIs(t, err, cql.CodeInvalid)
		require.Equal(t, 1, failed.Hits())
		_, err = tablescan.New(t.Context(), c.session, selectAll, tablescan.Config{})
		require.NoError(t, err)
	})
}

// TestTokensOfAnotherTypeAreRefused, and a statement that has no bind markers for the server.
func TestTokensOfAnotherTypeAreRefused(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		var plain []byte
		read := c.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Edit: func(a *cqltest.Answer) { plain = slices.Clone(a.Body) }})
		_, err := c.session.StatementMetadata(t.Context(), selectAll, "")
		require.NoError(t, err)
		read.Remove()
		const marker, bigint, varint = "partition key token", "\x00\x02", "\x00\x0e"
		for text, edit := range map[string]func(a *cqltest.Answer){
			"SELECT v FROM t": func(a *cqltest.Answer) {
				a.Body = bytes.ReplaceAll(a.Body, []byte(marker+bigint), []byte(marker+varint))
			},
			"SELECT n FROM t": func(a *cqltest.Answer) { a.Body = slices.Clone(plain) },
		} {
			edited := c.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Edit: edit})
			_, err := tablescan.New(t.Context(), c.session, text, tablescan.Config{})
			require.ErrorIs(t, err, tablescan.ErrPartitioner)
			require.ErrorContains(t, err, "ks.t")
			edited.Remove()
		}
	})
}

// TestCheckpoint stops a scan at random, again and again, and resumes each time from the JSON of its checkpoint.
func TestCheckpoint(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			onFake(t, cfg, func(t *testing.T, c *fake) {
				c.fill(t)
				want, got := c.all(t), &rows{}
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				stop := errors.New("stop")
				var checkpoint *tablescan.Checkpoint
				for runs := 0; checkpoint == nil || len(checkpoint.Left) > 0; runs++ {
					require.Less(t, runs, 1000)
					s := c.scan(t, selectAll, tablescan.Config{Workers: 3, PageBytes: 150, Checkpoint: checkpoint})
					var pages atomic.Int64
					last := int64(1 + (seed+uint64(runs)*7)%13)
					err := s.Run(t.Context(), func(_ int, b *column.Batch) error {
						if pages.Add(1) > last {
							return stop
						}
						got.add(t, b)
						return nil
					})
					if err != nil {
						require.ErrorIs(t, err, stop)
					}
					text, err := json.Marshal(s.Checkpoint())
					require.NoError(t, err)
					checkpoint = new(tablescan.Checkpoint)
					require.NoError(t, json.Unmarshal(text, checkpoint))
				}
				requireSame(t, want, got)
				require.EqualValues(t, len(want.count), checkpoint.Rows)
				s := c.scan(t, selectAll, tablescan.Config{Checkpoint: checkpoint})
				require.InDelta(t, 1, s.Progress().Done, 0)
				require.NoError(t, s.Run(t.Context(), func(int, *column.Batch) error { return stop }), "nothing is left")
			})
		})
	}
}

func TestCheckpointErrors(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		good := c.scan(t, selectAll, tablescan.Config{}).Checkpoint()
		require.Equal(t, []tablescan.Part{{Start: math.MinInt64, End: math.MaxInt64}}, good.Left)
		for name, change := range map[string]func(p *tablescan.Checkpoint){
			"statement":   func(p *tablescan.Checkpoint) { p.Statement = "SELECT n FROM ks.t" },
			"empty part":  func(p *tablescan.Checkpoint) { p.Left = []tablescan.Part{{Start: 1, End: 1}} },
			"overlap":     func(p *tablescan.Checkpoint) { p.Left = []tablescan.Part{{Start: 1, End: 9}, {Start: 8, End: 10}} },
			"skip":        func(p *tablescan.Checkpoint) { p.Left = []tablescan.Part{{Start: 1, End: 9, Skip: -1}} },
			"total":       func(p *tablescan.Checkpoint) { p.Total = math.NaN() },
			"rows":        func(p *tablescan.Checkpoint) { p.Rows = -1 },
			"bytes":       func(p *tablescan.Checkpoint) { p.Bytes = -1 },
			"other order": func(p *tablescan.Checkpoint) { p.Left = []tablescan.Part{{Start: 5, End: 9}, {Start: 1, End: 2}} },
		} {
			bad := good
			change(&bad)
			_, err := tablescan.New(t.Context(), c.session, selectAll, tablescan.Config{Checkpoint: &bad})
			require.ErrorIs(t, err, tablescan.ErrCheckpoint, name)
		}
	})
}

// TestBatches leaves loops, which do not acknowledge their last batch, and continues with the same scan.
func TestBatches(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		want, got := c.all(t), &rows{}
		s := c.scan(t, selectAll, tablescan.Config{Workers: 4, PageBytes: 300})
		var kept []*column.Batch
		for left := true; left; {
			left = false
			n := 0
			for b, err := range s.Batches(t.Context()) {
				require.NoError(t, err)
				if n++; n == 5 {
					left = true
					break
				}
				kept = append(kept, b)
				require.ErrorIs(t, s.Run(t.Context(), nil), tablescan.ErrRunning)
			}
		}
		for _, b := range kept {
			got.add(t, b) // the memory of each is its own
		}
		requireSame(t, want, got)
		require.PanicsWithValue(t, "in the loop", func() {
			for _, err := range c.scan(t, selectAll, tablescan.Config{}).Batches(t.Context()) {
				require.NoError(t, err)
				panic("in the loop")
			}
		})
	})
}

// TestRunEnds has the ways in which a scan ends early.
func TestRunEnds(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		s := c.scan(t, selectAll, tablescan.Config{})
		require.ErrorContains(t, s.Run(t.Context(), func(int, *column.Batch) error { panic("in f") }), "panic: in f")
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("cause")
		require.ErrorIs(t, s.Run(ctx, func(int, *column.Batch) error { cancel(cause); return nil }), cause)
		for _, err := range s.Batches(ctx) {
			require.ErrorIs(t, err, cause)
		}
		_, err := tablescan.New(ctx, c.session, selectAll, tablescan.Config{})
		require.ErrorIs(t, err, cause)

		rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		require.ErrorIs(t, s.Run(t.Context(), nil), cql.CodeInvalid)
		require.Zero(t, s.Progress().Failures, "an invalid statement is not sent again")
		rule.Remove()
		got := &rows{}
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error { got.add(t, b); return nil }))
		require.Zero(t, s.Progress().Left)
	})
}

// TestErrorInLastRange returns the error of a program that fails in the last range, after which no range is queued.
func TestErrorInLastRange(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		ranges, err := c.session.TokenRanges(t.Context(), "ks", "t")
		require.NoError(t, err)
		full := errors.New("disk full")
		for _, r := range ranges { // a range with rows
			calls := 0
			s := c.scan(t, selectAll, tablescan.Config{Ordered: true, Ranges: []vecql.TokenRange{{Start: r.Start, End: r.End}}})
			require.Len(t, s.Checkpoint().Left, 1)
			err = s.Run(t.Context(), func(int, *column.Batch) error { calls++; return full })
			if calls == 0 {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, full)
			require.Len(t, s.Checkpoint().Left, 1)
			return
		}
		t.Fatal("no range has rows")
	})
}

// TestRanges shares a table between two scans.
func TestRanges(t *testing.T) {
	onFake(t, configs["tablets"], func(t *testing.T, c *fake) {
		c.fill(t)
		ranges, err := c.session.TokenRanges(t.Context(), "ks", "t")
		require.NoError(t, err)
		want, got := c.all(t), &rows{}
		half := len(ranges) / 2
		for _, share := range [][]vecql.TokenRange{ranges[:half], ranges[half:], {}} {
			s := c.scan(t, selectAll, tablescan.Config{Ranges: share})
			require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error { got.add(t, b); return nil }))
			require.InDelta(t, 1, s.Progress().Done, 0)
		}
		requireSame(t, want, got)
	})
}

// TestPageBytes bounds pages of large rows.
// TestOrdered reads a table in the order of its tokens, leaves the loop, and continues in this order.
func TestOrdered(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			onFake(t, cfg, func(t *testing.T, c *fake) {
				c.fill(t)
				want, got := c.all(t), &rows{}
				s := c.scan(t, selectAll, tablescan.Config{Ordered: true, Workers: 7, Tokens: true, PageBytes: 256})
				var tokens []int64
				for len(s.Checkpoint().Left) > 0 {
					batches := 0
					for b, err := range s.Batches(t.Context()) {
						require.NoError(t, err)
						if batches++; batches > 5 {
							break // this batch comes again
						}
						list, err := column.Slice[int64](b.Column(tablescan.TokenColumn))
						require.NoError(t, err)
						tokens = append(tokens, list...)
						b.Columns = b.Columns[:2]
						got.add(t, b)
					}
				}
				require.True(t, slices.IsSorted(tokens))
				requireSame(t, want, got)
			})
		})
	}
}

func TestSizes(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		sizes, err := tablescan.Sizes(t.Context(), c.session, "SELECT id FROM ks.t WHERE n = ? ALLOW FILTERING")
		require.NoError(t, err)
		ranges, err := c.session.TokenRanges(t.Context(), "ks", "t")
		require.NoError(t, err)
		require.Len(t, sizes, len(ranges))
		for i, size := range sizes {
			require.Equal(t, ranges[i], size.TokenRange)
			require.GreaterOrEqual(t, size.Bytes, 0.0)
		}
		_, err = tablescan.Sizes(t.Context(), c.session, "SELECT id FROM ks.t LIMIT 3")
		require.ErrorContains(t, err, "it has LIMIT")
		_, err = tablescan.Sizes(t.Context(), c.session, "SELECT id FROM ks.missing")
		require.ErrorContains(t, err, "missing")
	})
}

func TestPageBytes(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		value := make([]byte, 10_000)
		for i := range value {
			value[i] = 'x'
		}
		for n := range 150 {
			require.NoError(t, c.session.Query("INSERT INTO ks.t (id, n, v) VALUES (0x01, ?, ?)", n, string(value)).Exec(t.Context()))
		}
		s := c.scan(t, "SELECT v FROM t", tablescan.Config{Workers: 1, PageBytes: 50_000})
		var pages []int
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			pages = append(pages, b.Rows)
			return nil
		}))
		require.Equal(t, 16, pages[0], "the size of a row is not known yet")
		require.Equal(t, 4, slices.Max(pages[1:]))
		require.Greater(t, s.Progress().Bytes, int64(150*len(value)))
		var seen atomic.Int64
		s = c.scan(t, "SELECT n FROM t", tablescan.Config{Query: func(q *vecql.Query) {
			seen.Add(1)
			q.Consistency(cql.LocalOne)
		}})
		pages = nil
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error { pages = append(pages, b.Rows); return nil }))
		require.Equal(t, []int{16, 128, 6}, pages)
		require.Positive(t, seen.Load())
	})
}

// TestRequestsGoToReplicas scans a table with one replica of each range.
func TestRequestsGoToReplicas(t *testing.T) {
	for _, name := range []string{"vnodes", "shards"} {
		t.Run(name, func(t *testing.T) {
			onFake(t, configs[name], func(t *testing.T, c *fake) {
				require.NoError(t, c.Exec(`CREATE KEYSPACE one WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
					CREATE TABLE one.t (id int PRIMARY KEY)`))
				require.NoError(t, c.session.AwaitSchemaAgreement(t.Context()))
				time.Sleep(time.Minute) // until the session has the replicas of the keyspace
				s := c.scan(t, "SELECT id FROM one.t", tablescan.Config{})
				all := c.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token"})
				astray := c.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Match: func(r cqltest.Request) bool {
					end := int64(binary.BigEndian.Uint64(r.Values[1].Bytes))
					return c.Replicas("one", "t", end)[0] != r.Node
				}})
				require.NoError(t, s.Run(t.Context(), nil))
				require.GreaterOrEqual(t, all.Hits(), 3*16)
				require.Zero(t, astray.Hits())
			})
		})
	}
}
