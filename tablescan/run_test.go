// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Errors, times and progress of scans that run.

// oneToken limits a scan to the partition with the token 5.
var oneToken = []vecql.TokenRange{{Start: 4, End: 5}}

// TestLoopsEndWithTheError yields the error of the scan as the last pair, after the rows, and nothing after a break.
func TestLoopsEndWithTheError(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(5), 60)
		refused := func() *tablescan.Scan {
			s := c.scan(t, selectAll, tablescan.Config{PageBytes: 300, Ranges: oneToken})
			c.ClearFaults()
			c.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Statement: "token", Skip: 1, Error: &cqltest.Error{Code: cqltest.CodeUnauthorized},
			})
			return s
		}
		pairs, rows := 0, 0
		var last error
		for b, err := range refused().Batches(t.Context()) {
			require.NoError(t, last, "the error is the last pair")
			pairs++
			if last = err; err == nil {
				rows += b.Rows
			} else {
				require.Nil(t, b)
			}
		}
		require.Equal(t, [2]int{2, 16}, [2]int{pairs, rows})
		require.ErrorIs(t, last, cql.CodeUnauthorized)
		pairs, last = 0, nil
		for row, err := range tablescan.Rows[logRow](t.Context(), refusedRows(t, c)) {
			require.NoError(t, last, "the error is the last pair")
			pairs++
			if last = err; err != nil {
				require.Zero(t, row)
			}
		}
		require.Equal(t, 17, pairs)
		require.ErrorIs(t, last, cql.CodeUnauthorized)
		c.ClearFaults()
		pairs = 0
		for _, err := range c.scan(t, selectAll, tablescan.Config{Ranges: oneToken}).Batches(t.Context()) {
			require.NoError(t, err)
			pairs++
			break
		}
		require.Equal(t, 1, pairs, "no error follows a break")
	})
}

// refusedRows returns a scan whose second page is refused.
func refusedRows(t *testing.T, c *fake) *tablescan.Scan {
	t.Helper()
	s := c.scan(t, "SELECT id, n, v FROM ks.t", tablescan.Config{PageBytes: 300, Ranges: oneToken})
	c.ClearFaults()
	c.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: "token", Skip: 1, Error: &cqltest.Error{Code: cqltest.CodeUnauthorized},
	})
	return s
}

// TestForeignRows has a server that answers with the rows of other tokens: no position can be stored, so that the scan
// ends.
func TestForeignRows(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(70), 3)
		s := c.scan(t, selectAll, tablescan.Config{
			Ranges: oneToken, Query: func(q *vecql.Query) { q.Bind(int64(60), int64(80)) },
		})
		err := s.Run(t.Context(), func(int, *column.Batch) error { return errors.New("no row is passed") })
		require.EqualError(t, err, "tablescan: read tokens above 4 up to 5: rows are not in the order of their tokens: "+
			"token 70 is not above 4 up to 5")
		require.Zero(t, s.Progress().Failures)
		require.Equal(t, []tablescan.Part{{Start: 4, End: 5}}, s.Checkpoint().Left)
	})
}

// TestWaitsGrow reads a range that fails again after growing waits.
func TestWaitsGrow(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Error: &cqltest.Error{Code: cqltest.CodeReadFailure}})
		for retries, most := range map[int]time.Duration{
			1: 100 * time.Millisecond, 4: 1500 * time.Millisecond, 8: 6300*time.Millisecond + 2*5*time.Second,
		} {
			s := c.scan(t, selectAll, tablescan.Config{Retries: retries, Ranges: oneToken})
			began := time.Now()
			var failed *tablescan.RangeError
			require.ErrorAs(t, s.Run(t.Context(), nil), &failed)
			require.Equal(t, retries+1, failed.Failures)
			require.GreaterOrEqual(t, time.Since(began), most/2)
			require.LessOrEqual(t, time.Since(began), most)
		}
	})
}

// TestProgressWhileRunning measures the time of all runs, and keeps the share that is done over a checkpoint.
func TestProgressWhileRunning(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.fill(t)
		s := c.scan(t, selectAll, tablescan.Config{Ordered: true, PageBytes: 150})
		require.Zero(t, s.Progress().Elapsed)
		pages := 0
		run := func(last int) {
			_ = s.Run(t.Context(), func(int, *column.Batch) error {
				if pages == last {
					return errStop
				}
				time.Sleep(time.Second)
				pages++
				require.Equal(t, time.Duration(pages)*time.Second, s.Progress().Elapsed)
				return nil
			})
		}
		run(5)
		time.Sleep(time.Hour)
		require.Equal(t, 5*time.Second, s.Progress().Elapsed, "the scan does not run")
		run(12)
		p := s.Progress()
		require.Equal(t, 12*time.Second, p.Elapsed)
		require.Greater(t, p.Done, 0.)
		require.Less(t, p.Done, 1.)
		require.InDelta(t, 12*(1-p.Done)/p.Done, p.Left.Seconds(), 1e-3)
		resumed := c.scan(t, selectAll, tablescan.Config{Checkpoint: again(t, s)}).Progress()
		require.InDelta(t, p.Done, resumed.Done, 1e-9)
		require.Zero(t, resumed.Elapsed+resumed.Left)
		require.Equal(t, [2]int64{p.Rows, p.Bytes}, [2]int64{resumed.Rows, resumed.Bytes})
	})
}

// TestSizesOfManyNodes asks more nodes than are asked at a time.
func TestSizesOfManyNodes(t *testing.T) {
	onFake(t, cqltest.Config{Nodes: 20, VNodes: 1}, func(t *testing.T, c *fake) {
		sizes, err := tablescan.Sizes(t.Context(), c.session, selectAll)
		require.NoError(t, err)
		require.Len(t, sizes, 21)
	})
}

// TestSizesEndWithTheContext ends while nodes do not answer.
func TestSizesEndWithTheContext(t *testing.T) {
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		c.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Statement: "estimates", Drop: true}) // no such table
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := tablescan.Sizes(ctx, c.session, selectAll)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, `tablescan: read the sizes for "SELECT id, n FROM ks.t": `)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = tablescan.New(ctx, c.session, selectAll, tablescan.Config{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, `tablescan: plan "SELECT id, n FROM ks.t": `)
		began := time.Now()
		_, err = tablescan.Sizes(t.Context(), c.session, selectAll)
		require.NoError(t, err, "a node that does not answer has no estimates")
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

// TestOtherKeyspace scans a table of another keyspace than the session's, which has a table of that name, too.
func TestOtherKeyspace(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		require.NoError(t, c.Exec(`CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
			CREATE TABLE other.t (a int PRIMARY KEY); INSERT INTO other.t (a) VALUES (7)`))
		require.NoError(t, c.session.AwaitSchemaAgreement(t.Context()))
		time.Sleep(time.Minute)
		b := batches(t, c.scan(t, "SELECT * FROM other.t", tablescan.Config{}).Batches(t.Context()))
		require.Equal(t, []string{"7 "}, lines(b))
		_, err := tablescan.Sizes(t.Context(), c.session, "SELECT a FROM other.t")
		require.NoError(t, err)
	})
}

// TestSizesRefuseWhatScansRefuse asks for the sizes of statements and tables that a scan cannot have.
func TestSizesRefuseWhatScansRefuse(t *testing.T) {
	onFake(t, configs["tablets"], func(t *testing.T, c *fake) {
		for text, want := range map[string]error{
			"SELECT none FROM t": cql.CodeInvalid, "SELECT v FROM none": vecql.ErrNoTable, "SELECT v FROM none.t": vecql.ErrKeyspaceDoesNotExist,
		} {
			sizes, err := tablescan.Sizes(t.Context(), c.session, text)
			require.ErrorIs(t, err, want, text)
			require.Nil(t, sizes)
		}
		c.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Statement: "system.tablets", Drop: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sizes, err := tablescan.Sizes(ctx, c.session, selectAll)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "read the tablets of ks.t")
		require.Nil(t, sizes)
	})
}

// TestContextThatEndsAfterTheLastPage ends the context while the program has the last page. The scan is done.
func TestContextThatEndsAfterTheLastPage(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(5), 3)
		s := c.scan(t, selectAll, tablescan.Config{Ranges: oneToken})
		require.Zero(t, s.Progress().Done, "a single token is not read yet")
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		require.NoError(t, s.Run(ctx, func(int, *column.Batch) error { calls++; cancel(); return nil }))
		require.Equal(t, 1, calls)
		require.Empty(t, s.Checkpoint().Left)
		require.InDelta(t, 1, s.Progress().Done, 0)
		require.NoError(t, s.Run(ctx, nil), "no page is left that a context could end")
	})
}

// TestStatesRefusedInAnyWay refuses states of pages by each code of servers, which older and newer nodes do.
func TestStatesRefusedInAnyWay(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(5), 60)
		for _, code := range []int32{cqltest.CodeInvalid, cqltest.CodeProtocol, cqltest.CodeServer} {
			rule := c.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Statement: "token", Times: 2, Error: &cqltest.Error{Code: code},
				Match: func(r cqltest.Request) bool { return r.Paged },
			})
			want, got := c.all(t), &rows{}
			s := c.scan(t, selectAll, tablescan.Config{Workers: 1, PageBytes: 300})
			require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error { got.add(t, b); return nil }), code)
			requireSame(t, want, got)
			require.Equal(t, 2, rule.Hits())
			require.Positive(t, s.Progress().Failures)
		}
	})
}
