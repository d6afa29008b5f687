// SPDX-License-Identifier: Apache-2.0

package toolsoak

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/parquetscan"
)

// A load into a cluster that is in trouble for a while.

// A gauge counts the INSERTs that nodes have received and not answered.
type gauge struct {
	mu             sync.Mutex
	inFlight, peak int
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight += n
	g.peak = max(g.peak, g.inFlight)
}

// most returns the highest number so far.
func (g *gauge) most() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peak
}

// inserts returns a fault of all INSERTs which the gauge counts until just before their answer is sent.
func (g *gauge) inserts(delay time.Duration, err *cqltest.Error) cqltest.Fault {
	return cqltest.Fault{
		Statement: "INSERT", Delay: delay, Error: err,
		Match: func(r cqltest.Request) bool {
			if r.Op == cqltest.OpPrepare {
				return false
			}
			g.add(1)
			return true
		},
		Wire: func(answer []byte) []byte { g.add(-1); return answer }, // after the delay
	}
}

// newFake starts a cluster with a table of two replicas, and writes a Parquet file of its rows: n texts, a
// multiple of 100, for so many different ids.
func newFake(t *testing.T, n, distinct int, text string) (c *cqltest.Cluster, source string) {
	t.Helper()
	c = cqltest.New(t, cqltest.Config{})
	require.NoError(t, c.Exec(`CREATE KEYSPACE soak WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2};
		CREATE TABLE soak.items (id int PRIMARY KEY, text text)`))
	source = filepath.Join(t.TempDir(), "items.parquet")
	schema := column.Schema{{Name: "id", Type: column.TypeOf[int32]()}, {Name: "text", Type: column.Type{Kind: column.String}}}
	f, err := parquetscan.Create(source, schema, parquetscan.WriterOptions{})
	require.NoError(t, err)
	const step = 100 // bounds the memory of long texts
	for first := 0; first < n; first += step {
		ids, texts := make([]int32, step), make([]string, step)
		for i := range step {
			ids[i], texts[i] = int32((first+i)%distinct), text
		}
		require.NoError(t, f.Write(column.NewBatch(column.Of("id", ids), column.Strings("text", texts))))
	}
	require.NoError(t, f.Close())
	return c, source
}

// TestOverload has a cluster that answers OVERLOADED, or slowly, for 30 seconds of a load by requests of one row and
// of several. Throughput is back within 10 seconds. The machine must be idle otherwise: a load that waits for a
// processor takes that for a slow cluster.
func TestOverload(t *testing.T) {
	overloaded := &cqltest.Error{Code: cqltest.CodeOverloaded}
	for _, trouble := range []struct {
		delay time.Duration
		err   *cqltest.Error
		rows  int // enough for a load of more than 45 seconds
		batch int // partitions of a request
	}{
		{err: overloaded, rows: 60_000, batch: 1},
		{err: overloaded, rows: 400_000, batch: 10},
		{delay: 2 * time.Second, rows: 60_000, batch: 1},
		{delay: 2 * time.Second, rows: 400_000, batch: 10},
	} {
		t.Run(fmt.Sprintf("overloaded=%t/batch=%d", trouble.err != nil, trouble.batch), func(t *testing.T) {
			t.Parallel()
			const most, usual = 64, 50 * time.Millisecond
			rows := trouble.rows
			x := newTool(t)
			c, source := newFake(t, rows, rows, "text")
			x.use(c.Hosts())
			var g gauge
			replace := func(delay time.Duration, err *cqltest.Error) *cqltest.Rule {
				c.ClearFaults()
				return c.Inject(g.inserts(delay, err))
			}
			calm := replace(usual, nil)
			p := x.start("load", "soak.items", source, "--max-in-flight", fmt.Sprint(most), "--summary", "json",
				"--batch-partitions", fmt.Sprint(trouble.batch))
			require.NoError(t, calm.Wait(t.Context(), 1))
			time.Sleep(10 * time.Second)
			before := rate(calm, 5*time.Second)
			during := replace(trouble.delay, trouble.err)
			time.Sleep(30 * time.Second)
			calm = replace(usual, nil)
			back := recovery(t, calm, .8*before)
			replace(0, nil)
			<-p.endDone
			s := x.summaryOf(p)
			t.Logf("%.0f requests/s before, %d in 30 s of trouble, %.0f requests/s again after %v; %d retries; at most %d of %d requests in flight",
				before, during.Hits(), .8*before, back, s.Retries, g.most(), most)
			require.Positive(t, before, "the rows last until the trouble")
			require.Less(t, back, 10*time.Second)
			require.Equal(t, rows, s.Rows)
			require.Zero(t, s.Rejected)
			require.LessOrEqual(t, g.most(), most)
			require.Greater(t, g.most(), most/2, "the bound applies")
			require.Equal(t, fmt.Sprintf("%d rows are equal.\n", rows), x.run("verify", source, "soak.items"))
		})
	}
}

// rate returns the requests per second that meet a rule.
func rate(r *cqltest.Rule, d time.Duration) float64 {
	hits, began := r.Hits(), time.Now()
	time.Sleep(d)
	return float64(r.Hits()-hits) / time.Since(began).Seconds()
}

// recovery returns the time until the rate over two seconds is high enough.
func recovery(t *testing.T, r *cqltest.Rule, enough float64) time.Duration {
	t.Helper()
	began := time.Now()
	for rate(r, 2*time.Second) < enough {
		require.Less(t, time.Since(began), time.Minute, "throughput is not back")
	}
	return time.Since(began).Round(time.Millisecond)
}

// TestOverloadBytes loads rows of 256 KiB into a slow cluster. 64 MiB of them are in flight at most.
func TestOverloadBytes(t *testing.T) {
	const rows, distinct, rowBytes, bound = 2000, 50, 256 << 10, 64 << 20
	x := newTool(t)
	c, source := newFake(t, rows, distinct, strings.Repeat("x", rowBytes))
	x.use(c.Hosts())
	var g gauge
	c.Inject(g.inserts(time.Second, nil))
	p := x.start("load", "soak.items", source, "--summary", "json")
	<-p.endDone
	s := x.summaryOf(p)
	t.Logf("%d rows, %.0f rows/s; at most %d requests, %d MiB, in flight", s.Rows, s.RowsPerSecond, g.most(), g.most()*rowBytes>>20)
	require.Equal(t, rows, s.Rows)
	require.LessOrEqual(t, g.most()*rowBytes, bound)
	require.Greater(t, g.most()*rowBytes, bound/2, "the bound applies")
	require.Equal(t, fmt.Sprintln(distinct), x.run("count", "soak.items"))
}
