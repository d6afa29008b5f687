// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// TestChanges: all changes of a random workload come once, in order by stream, across generations, splits of tablets,
// kills of nodes, and crashes of the reader.
func TestChanges(t *testing.T) {
	for seed := range uint64(soak.Size(1, 40)) {
		for _, tablets := range []int{0, 3} {
			t.Run(fmt.Sprintf("seed=%d/tablets=%d", seed, tablets), func(t *testing.T) {
				on(t, tablets, "{'enabled': true}", func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
					testChanges(t, seed, cluster, session)
				})
			})
		}
	}
}

func testChanges(t *testing.T, seed uint64, cluster *cqltest.Cluster, session *vecql.Session) {
	const end = 15 * time.Minute
	began := time.Now()
	var running sync.WaitGroup
	w := &workload{session: session, rand: rand.New(rand.NewPCG(seed, 1))}
	running.Go(func() {
		for time.Since(began) < end-time.Minute {
			w.write(t)
			time.Sleep(random(w.rand, 6*time.Second))
		}
	})
	running.Go(func() {
		for r := rand.New(rand.NewPCG(seed, 2)); time.Since(began) < end-time.Minute; {
			time.Sleep(random(r, 90*time.Second))
			disturb(t, r, cluster)
		}
	})
	c := &collector{session: session, rand: rand.New(rand.NewPCG(seed, 3)), until: began.Add(end)}
	for !c.done {
		c.run(t)
	}
	running.Wait()
	require.Positive(t, c.crashes)
	got := slices.Clone(c.rows)
	require.True(t, inOrder(got))
	slices.SortFunc(got, logRow.compare)
	require.Equal(t, direct(t, session), got, "the rows of the log, read at once")
	changes := make([]string, len(got))
	for i, r := range got {
		changes[i] = r.change
	}
	require.ElementsMatch(t, w.want, changes)
	require.EqualValues(t, len(got), c.checkpoint.Rows)
}

// random returns a duration below most.
func random(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

// disturb changes the streams or the nodes. At most one node is down.
func disturb(t *testing.T, r *rand.Rand, cluster *cqltest.Cluster) {
	switch r.IntN(4) {
	case 0:
		cluster.NewGeneration(random(r, time.Minute))
	case 1:
		cluster.SetTablets(1 + r.IntN(8))
	case 2:
		cluster.MoveTablets()
	case 3:
		n := cluster.Node(r.IntN(3))
		n.Kill()
		time.Sleep(random(r, time.Minute))
		require.NoError(t, n.Restart())
		time.Sleep(10 * time.Second)
	}
}

// A workload writes random changes, and notes the rows that they make.
type workload struct {
	session *vecql.Session
	rand    *rand.Rand
	v       int
	want    []string // "operation pk ck v"
}

func (w *workload) write(t *testing.T) {
	statements := 1
	if w.rand.IntN(5) == 0 {
		statements = 1 + w.rand.IntN(30)
	}
	pk, batch := w.rand.IntN(20), w.session.Batch(cql.UnloggedBatch).Idempotent(true)
	for i := range statements {
		ck := 10*i + w.rand.IntN(9) // rows of a batch differ
		w.v++
		switch w.rand.IntN(7) {
		case 0, 1:
			batch.Query("INSERT INTO t (pk, ck, v) VALUES (?, ?, ?)", pk, ck, w.v)
			w.note("insert", pk, ck, w.v)
		case 2:
			batch.Query("UPDATE t SET v = ? WHERE pk = ? AND ck = ?", w.v, pk, ck)
			w.note("update", pk, ck, w.v)
		case 3:
			batch.Query("UPDATE t SET m = m + {1: 2} WHERE pk = ? AND ck = ?", pk, ck)
			w.note("update", pk, ck, nil)
		case 4:
			batch.Query("DELETE FROM t WHERE pk = ? AND ck = ?", pk, ck)
			w.note("delete row", pk, ck, nil)
		case 5:
			batch.Query("DELETE FROM t WHERE pk = ? AND ck >= ? AND ck < ?", pk, ck, ck+1)
			w.note("delete from inclusive", pk, ck, nil)
			w.note("delete to exclusive", pk, ck+1, nil)
		case 6:
			if statements == 1 {
				batch.Query("DELETE FROM t WHERE pk = ?", pk)
				w.note("delete partition", pk, nil, nil)
				continue
			}
			batch.Query("UPDATE t USING TTL 60 SET v = ? WHERE pk = ? AND ck = ?", w.v, pk, ck)
			w.note("update", pk, ck, w.v)
		}
	}
	require.NoError(t, batch.Exec(t.Context()))
}

func (w *workload) note(operation string, pk, ck, v any) {
	null := func(x any) any {
		if x == nil {
			return "null"
		}
		return x
	}
	w.want = append(w.want, fmt.Sprintf("%s %v %v %v", operation, pk, null(ck), null(v)))
}

// A logRow is a row of the log.
type logRow struct {
	stream string
	time   string // text that has the order of the time
	seq    int32
	change string
}

func (a logRow) compare(b logRow) int {
	return cmp.Or(strings.Compare(a.stream, b.stream), strings.Compare(a.time, b.time), cmp.Compare(a.seq, b.seq))
}

// inOrder reports whether the rows of each stream are in order.
func inOrder(rows []logRow) bool {
	last := map[string]logRow{}
	for _, r := range rows {
		if before, ok := last[r.stream]; ok && before.compare(r) >= 0 {
			return false
		}
		last[r.stream] = r
	}
	return true
}

func rowsOf(b *column.Batch) []logRow {
	var out []logRow
	for i := range b.Rows {
		cell := func(name string) any {
			if v := b.Column(name).Value(i); v != nil {
				return v
			}
			return "null"
		}
		at := cell("cdc$time").(cql.UUID)
		out = append(out, logRow{
			stream: fmt.Sprintf("%x", cell("cdc$stream_id")), time: fmt.Sprintf("%020d %v", at.Timestamp(), at),
			seq:    cell("cdc$batch_seq_no").(int32),
			change: fmt.Sprint(cdc.Operation(cell("cdc$operation").(int8)), " ", cell("pk"), " ", cell("ck"), " ", cell("v")),
		})
	}
	return out
}

// direct returns the rows of the log by one SELECT.
func direct(t *testing.T, session *vecql.Session) []logRow {
	var out []logRow
	for b, err := range session.Query("SELECT * FROM t_scylla_cdc_log").Batches(t.Context()) {
		require.NoError(t, err)
		out = append(out, rowsOf(b)...)
	}
	slices.SortFunc(out, logRow.compare)
	return out
}

// A collector reads changes until it crashes. What it has stored, rows and checkpoint at once, survives.
type collector struct {
	session    *vecql.Session
	rand       *rand.Rand
	until      time.Time
	rows       []logRow
	checkpoint *cdc.Checkpoint
	crashes    int
	done       bool
}

func (c *collector) run(t *testing.T) {
	left := c.rand.IntN(30)
	r, err := cdc.Open(t.Context(), c.session, "t", cdc.Config{
		Until: c.until, Checkpoint: c.checkpoint, Workers: 1 + c.rand.IntN(4), PageRows: 1 + c.rand.IntN(10),
		Window: time.Duration(1+c.rand.IntN(300)) * time.Second,
	})
	require.NoError(t, err)
	var pending []logRow
	for b, err := range r.Batches(t.Context()) {
		require.NoError(t, err)
		if c.rand.IntN(3) == 0 {
			c.store(t, r, pending)
			pending = nil
		}
		if left--; left < 0 {
			c.crashes++
			return
		}
		pending = append(pending, rowsOf(b)...)
		require.True(t, whole(b), "a change is in one batch")
	}
	c.store(t, r, pending)
	c.done = true
}

// whole reports whether a batch ends with the end of a change.
func whole(b *column.Batch) bool { return b.Column("cdc$end_of_batch").Value(b.Rows-1) == true }

func (c *collector) store(t *testing.T, r *cdc.Reader, rows []logRow) {
	c.rows = append(c.rows, rows...)
	text, err := json.Marshal(r.Checkpoint())
	require.NoError(t, err)
	c.checkpoint = new(cdc.Checkpoint)
	require.NoError(t, json.Unmarshal(text, c.checkpoint))
}
