// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// Writers with random options, rows and faults, which end at any time and are resumed, beside a model: the outcome of
// each row follows from its content. Virtual time makes a call that waits for ever fail the test.

// The kinds of rows of a model.
const (
	goodRow      = iota
	impossible   // cannot be encoded
	refused      // by the server, at each attempt
	alwaysFails  // with a server error at each attempt
	kindsOfModel = 4
)

// newRand returns a generator with a seed by chance, which it logs.
func newRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A modelRun is rows of shop.events, the numbers of their executions, and the runs that have written them.
type modelRun struct {
	*shop
	r      *rand.Rand
	kinds  []int
	table  *column.Batch
	source string
	path   string
	repeat bool // the statement is idempotent

	mu       sync.Mutex
	executed map[string]int // by key, of this run
	crashAt  int            // the number of requests before the process of this run is killed; negative means never
	crashed  func()
	stored   []byte         // the checkpoint at that time
	rejected map[int64]int  // by number; rejections that the program has accepted
	doubt    map[int64]bool // rejected with ErrInDoubt, or with an error after which the row may be written
}

const modelSchema = eventSchema + "; CREATE TABLE shop.events_counted (id bigint, n int, c counter, PRIMARY KEY (id, n))"

// newModelRun makes rows of few partitions, in their order and mixed. Some of the rows fail.
func newModelRun(t *testing.T, s *shop, r *rand.Rand, repeat bool) *modelRun {
	t.Helper()
	m := &modelRun{
		shop: s, r: r, repeat: repeat, path: filepath.Join(t.TempDir(), "checkpoint.json"),
		executed: map[string]int{}, rejected: map[int64]int{}, doubt: map[int64]bool{},
	}
	m.source = []string{"", "rows"}[r.IntN(2)]
	rows := 20 + r.IntN(200)
	ids, ns, texts := make([]int64, rows), make([]int64, rows), make([]string, rows)
	m.kinds = make([]int, rows)
	id := int64(0)
	for i := range rows {
		if r.IntN(8) == 0 {
			id = r.Int64N(20)
		}
		ids[i], ns[i], texts[i] = id, int64(i), strings.Repeat("x", r.IntN(30)*r.IntN(30)/3)
		if r.IntN(25) == 0 {
			m.kinds[i] = r.IntN(kindsOfModel)
		}
		switch m.kinds[i] {
		case impossible:
			ns[i] = 1 << 40 // an int
		case refused:
			texts[i] = "refused"
		case alwaysFails:
			texts[i] = "fails"
		}
	}
	m.table = column.NewBatch(column.Of("id", ids), column.Of("n", ns), column.Strings("a", texts))
	return m
}

// faults injects the failures of rows, and others that pass.
func (m *modelRun) faults() {
	m.cluster.ClearFaults()
	for _, op := range []cqltest.Opcode{cqltest.OpExecute, cqltest.OpBatch} {
		m.cluster.Inject(cqltest.Fault{Op: op, Statement: "events", Match: m.see, Drop: true})
	}
	has := func(text string) func(cqltest.Request) bool {
		return func(q cqltest.Request) bool {
			for _, v := range q.Values {
				if v.Text() == "'"+text+"'" {
					return true
				}
			}
			return false
		}
	}
	for _, op := range []cqltest.Opcode{cqltest.OpExecute, cqltest.OpBatch} {
		m.cluster.Inject(cqltest.Fault{Op: op, Match: has("refused"), Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		m.cluster.Inject(cqltest.Fault{Op: op, Match: has("fails"), Error: &cqltest.Error{Code: cqltest.CodeServer}})
	}
	if m.r.IntN(3) > 0 {
		m.trouble(10 + m.r.IntN(30))
	}
}

// see counts the rows of a request, and reports whether the process was killed before. Its requests are then lost.
func (m *modelRun) see(q cqltest.Request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.crashAt == 0 && m.stored == nil {
		m.stored, _ = os.ReadFile(m.path)
		m.crashed()
	}
	if m.stored != nil {
		return true
	}
	m.crashAt--
	for i, v := range q.Values {
		if v.Name == "id" {
			m.executed[v.Text()+" "+q.Values[i+1].Text()]++
		}
	}
	return false
}

var errProgram = errors.New("the program cannot store the row")

// options returns random options.
func (m *modelRun) options(stop int) Options {
	o := Options{
		MaxInFlight: 1 + m.r.IntN(8), BatchRows: m.r.IntN(12), BatchPartitions: m.r.IntN(5), AllowMissing: m.repeat, Checkpoint: m.path,
		CheckpointEvery: time.Duration(1+m.r.IntN(200)) * time.Millisecond, Counters: !m.repeat, MaxRejected: len(m.kinds),
		MaxBytes: []int64{0, 1, 100, 1000, 5000}[m.r.IntN(5)],
	}
	if m.r.IntN(4) == 0 {
		o.RowsPerSecond = 500
	}
	o.Rejected = func(r Rejection) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if stop--; stop < 0 || m.stored != nil {
			return errProgram
		}
		m.rejected[r.Index]++
		if errors.Is(r.Err, ErrInDoubt) || vecql.MayHaveApplied(r.Err) {
			m.doubt[r.Index] = true
		}
		return nil
	}
	return o
}

// run writes all rows with a new writer, in several calls, of several goroutines if they have a source. It reports
// whether the run ended without an error.
func (m *modelRun) run(t *testing.T) (ok bool) {
	t.Helper()
	m.mu.Lock()
	m.executed, m.stored, m.crashAt = map[string]int{}, nil, -1
	if m.r.IntN(2) == 0 {
		m.crashAt = m.r.IntN(40)
	}
	m.mu.Unlock()
	m.faults()
	stop := len(m.kinds)
	if m.r.IntN(3) == 0 {
		stop = m.r.IntN(3)
	}
	var w *Writer
	var err error
	if o := m.options(stop); m.repeat {
		w, err = Insert(t.Context(), m.Session, "shop.events", o)
	} else {
		w, err = New(t.Context(), m.Session, "UPDATE shop.events_counted SET c = c + 1 WHERE id = :id AND n = :n", o)
	}
	require.NoError(t, err)
	before := w.Checkpoint().Sources[m.source]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.mu.Lock()
	m.crashed = cancel
	m.mu.Unlock()
	if m.r.IntN(2) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(m.r.IntN(400))*time.Millisecond)
		defer cancel()
	}
	var calls sync.WaitGroup
	failed := make(chan error, len(m.kinds)+1)
	for first := 0; first < len(m.kinds); {
		end := min(first+1+m.r.IntN(80), len(m.kinds))
		b := m.table.Slice(first, end)
		b.Source = column.Source{}
		if m.source != "" {
			b.Source = column.Source{File: m.source, FirstRow: int64(first)}
		}
		if m.source != "" && m.r.IntN(3) == 0 {
			calls.Go(func() { failed <- w.Write(ctx, b) })
		} else if err := w.Write(ctx, b); err != nil {
			failed <- err
			break
		}
		first = end
	}
	if m.r.IntN(2) == 0 {
		calls.Wait()
	}
	err = w.Close(ctx)
	calls.Wait()
	synctest.Wait() // until nodes have received the requests that were canceled
	m.mu.Lock()
	defer m.mu.Unlock()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	m.requireEnded(t, w, before, err == nil)
	m.restart(t)
	return err == nil
}

// restart leaves what the process that was killed has stored: rejections since then come again.
func (m *modelRun) restart(t *testing.T) {
	t.Helper()
	if m.stored == nil {
		return
	}
	require.NoError(t, os.WriteFile(m.path, m.stored, 0o600))
	done := doneOf(t, m.path)
	maps.DeleteFunc(m.rejected, func(row int64, _ int) bool { return !done[row] })
}

// requireEnded fails unless the writer has ended and its counters agree with the rows.
func (m *modelRun) requireEnded(t *testing.T, w *Writer, before Progress, ok bool) {
	t.Helper()
	st, after := w.Stats(), w.Checkpoint().Sources[m.source]
	require.Zero(t, st.Pending+st.InFlight+int(st.PendingBytes))
	require.LessOrEqual(t, st.PeakInFlight, w.o.MaxInFlight)
	for _, target := range st.Targets {
		require.Zero(t, target.InFlight+target.Queued)
	}
	require.Equal(t, doneRows(after), doneOf(t, m.path), "the file is stored by Close")
	for i := range doneRows(before) {
		require.Zero(t, m.executed[m.key(int(i))], "row %d was done and is sent again", i)
	}
	grown := len(doneRows(after)) - len(doneRows(before))
	require.EqualValues(t, st.Rows+st.Rejected, grown)
	if ok {
		require.EqualValues(t, len(m.kinds), after.Watermark())
		require.EqualValues(t, len(m.kinds), st.Rows+st.Rejected+st.Skipped)
		require.EqualValues(t, len(doneRows(before)), st.Skipped)
		require.Empty(t, after.Started, "no row is in doubt")
	}
	require.ErrorIs(t, w.Write(t.Context(), m.table), ErrClosed)
}

// key returns the primary key of a row.
func (m *modelRun) key(i int) string {
	return fmt.Sprint(m.table.Column("id").Value(i), " ", m.table.Column("n").Value(i))
}

func doneRows(p Progress) map[int64]bool {
	done := map[int64]bool{}
	for _, v := range p.Done {
		for i := v[0]; i < v[1]; i++ {
			done[i] = true
		}
	}
	return done
}

// requireOutcomes fails unless each row has the outcome of its kind.
func (m *modelRun) requireOutcomes(t *testing.T) {
	t.Helper()
	m.cluster.ClearFaults()
	stored := map[string]int64{}
	query := m.Query("SELECT id, n, a FROM shop.events")
	if !m.repeat {
		query = m.Query("SELECT id, n, c FROM shop.events_counted")
	}
	for b, err := range query.Batches(t.Context()) {
		require.NoError(t, err)
		for i := range b.Rows {
			count := int64(1)
			if !m.repeat {
				count = b.Column("c").Value(i).(int64)
			}
			stored[fmt.Sprint(b.Column("id").Value(i), " ", b.Column("n").Value(i))] = count
		}
	}
	for i, kind := range m.kinds {
		number, key := int64(i), m.key(i)
		if !m.repeat && kind != impossible {
			kind = goodRow // the statement has no text that is refused
		}
		require.LessOrEqual(t, m.rejected[number], 1, "row %d", i)
		require.LessOrEqual(t, stored[key], int64(1), "row %d", i)
		switch {
		case kind != goodRow:
			require.Equal(t, 1, m.rejected[number], "row %d", i)
			require.Zero(t, stored[key], "row %d", i)
		case m.repeat:
			require.Zero(t, m.rejected[number], "row %d", i)
			require.EqualValues(t, 1, stored[key], "row %d", i)
		case m.rejected[number] == 1:
			require.True(t, m.doubt[number], "row %d", i)
		default:
			require.EqualValues(t, 1, stored[key], "row %d", i)
		}
	}
}

// TestWriterModel writes random rows in runs that end at random times, until one run has no error: each row is written
// or rejected, no row that a checkpoint has is sent again, and no row that is not idempotent is written twice.
func TestWriterModel(t *testing.T) {
	r := newRand(t)
	for range soak.Size(15, 1000) {
		inShop(t, 1+r.IntN(3), func(t *testing.T, s *shop) {
			require.NoError(t, s.cluster.Exec(modelSchema))
			m := newModelRun(t, s, r, r.IntN(3) > 0)
			for runs := 0; !m.run(t); runs++ {
				require.Less(t, runs, 200)
			}
			m.requireOutcomes(t)
			for !m.run(t) {
			}
			require.Empty(t, m.executed, "all rows are done")
		}, shortTimeout)
	}
}
