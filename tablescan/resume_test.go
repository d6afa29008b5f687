// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/tablescan"
)

// Scans that end at any position and are resumed, beside a model of the table: a list of its rows in the order of their
// tokens.

// A modelRow is a row of the table: its token, and its clustering column; -1 means a partition of static values only.
type modelRow struct {
	token int64
	n     int32
}

// A model is a table of random partitions, with its rows in their order.
type model struct {
	*fake
	rows []modelRow
}

// newModel fills the table with partitions of many sizes, at neighboring tokens, at both ends of the ring and anywhere.
func newModel(t *testing.T, c *fake, r *rand.Rand, partitions, most int) *model {
	t.Helper()
	m := &model{fake: c}
	tokens := []int64{math.MinInt64 + 1, math.MaxInt64}
	for len(tokens) < partitions {
		if r.IntN(2) == 0 {
			tokens = append(tokens, int64(r.Uint64()|1))
		} else if next := tokens[r.IntN(len(tokens))]; next < math.MaxInt64 {
			tokens = append(tokens, next+1)
		}
	}
	slices.Sort(tokens)
	for _, tok := range slices.Compact(tokens) {
		rows := []int{0, 1, 2, r.IntN(most), r.IntN(most)}[r.IntN(5)]
		m.insert(t, keyOf(tok), rows)
		if rows == 0 {
			require.NoError(t, c.session.Query("INSERT INTO ks.t (id, s) VALUES (?, 1)", keyOf(tok)).Exec(t.Context()))
			m.rows = append(m.rows, modelRow{tok, -1})
		}
		for n := range rows {
			m.rows = append(m.rows, modelRow{tok, int32(n)})
		}
	}
	return m
}

// rowsOf returns the rows of a batch with the columns n and token, which are in their order.
func rowsOf(t *testing.T, b *column.Batch) []modelRow {
	t.Helper()
	list := make([]modelRow, b.Rows)
	for i := range list {
		list[i].n = -1
		if n := b.Column("n").Value(i); n != nil {
			list[i].n = n.(int32)
		}
		list[i].token = b.Column(tablescan.TokenColumn).Value(i).(int64)
	}
	require.True(t, slices.IsSortedFunc(list, compareRows), "%v", list)
	return list
}

func compareRows(a, b modelRow) int {
	return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.n, b.n))
}

// A reading is the rows that the runs of a scan have acknowledged.
type reading struct {
	mu   sync.Mutex
	rows []modelRow
}

func (g *reading) add(rows ...modelRow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rows = append(g.rows, rows...)
}

// requireAll fails unless the rows are the model's, each once, and in order if that is promised.
func (m *model) requireAll(t *testing.T, g *reading, ordered bool) {
	t.Helper()
	if ordered {
		require.True(t, slices.IsSortedFunc(g.rows, compareRows), "the rows are in the order of their tokens")
	}
	got := slices.SortedFunc(slices.Values(g.rows), compareRows)
	require.Equal(t, m.rows, got)
}

var errStop = errors.New("stop")

// again returns the checkpoint of a scan as another process reads it.
func again(t *testing.T, s *tablescan.Scan) *tablescan.Checkpoint {
	t.Helper()
	text, err := json.Marshal(s.Checkpoint())
	require.NoError(t, err)
	checkpoint := new(tablescan.Checkpoint)
	require.NoError(t, json.Unmarshal(text, checkpoint))
	return checkpoint
}

// someFaults injects faults that pass, each for a few requests.
func (m *model) someFaults(r *rand.Rand) {
	m.ClearFaults()
	paged := func(q cqltest.Request) bool { return q.Paged }
	faults := []cqltest.Fault{
		{Error: &cqltest.Error{Code: cqltest.CodeReadTimeout}},
		{Error: &cqltest.Error{Code: cqltest.CodeInvalid}, Match: paged}, // as of a state of another version
		{Error: &cqltest.Error{Code: cqltest.CodeServer}, Match: paged},
		{Error: &cqltest.Error{Code: cqltest.CodeProtocol}, Match: paged},
		{EmptyPage: true},
		{Close: true, CloseAfter: 20},
		{PadPagingState: 7},
	}
	for _, f := range faults {
		if r.IntN(3) == 0 {
			f.Op, f.Statement, f.Skip, f.Times = cqltest.OpExecute, "token", r.IntN(6), 1+r.IntN(4)
			m.Inject(f)
		}
	}
}

// change changes the ring.
func (m *model) change(t *testing.T, r *rand.Rand) {
	t.Helper()
	switch r.IntN(6) {
	case 0:
		m.MoveTablets()
	case 1:
		m.SetTablets(1 + r.IntN(40))
	case 2:
		if len(m.Nodes()) < 5 && len(m.Nodes()) > 1 {
			_, err := m.AddNode("datacenter1", "rack1")
			require.NoError(t, err)
		}
	case 3:
		if len(m.Nodes()) > 3 {
			m.RemoveNode(m.Node(r.IntN(len(m.Nodes()))))
		}
	case 4:
		m.Node(r.IntN(len(m.Nodes()))).CloseConns()
		time.Sleep(time.Minute) // until the session is connected again
	}
}

// runOnce runs a scan until it has read everything or ends at a random position, by one of the three loops.
func (m *model) runOnce(t *testing.T, r *rand.Rand, s *tablescan.Scan, g *reading) error {
	t.Helper()
	last := r.IntN(10)
	var mu sync.Mutex
	left := func() bool {
		mu.Lock()
		defer mu.Unlock()
		last--
		return last < 0
	}
	switch r.IntN(3) {
	case 0:
		return s.Run(t.Context(), func(_ int, b *column.Batch) error {
			if left() {
				return errStop
			}
			g.add(rowsOf(t, b)...)
			return nil
		})
	case 1:
		for b, err := range s.Batches(t.Context()) {
			if err != nil {
				return err
			}
			if left() {
				return errStop
			}
			g.add(rowsOf(t, b)...)
		}
	default:
		type row struct {
			ID []byte
			N  *int32
		}
		last *= 9
		for v, err := range tablescan.Rows[row](t.Context(), s) {
			if err != nil {
				return err
			}
			if left() {
				return errStop
			}
			g.add(m.rowOf(t, v.ID, v.N))
		}
	}
	return nil
}

func (m *model) rowOf(t *testing.T, id []byte, n *int32) modelRow {
	t.Helper()
	if n == nil {
		n = pointerTo(int32(-1))
	}
	i := slices.IndexFunc(m.rows, func(r modelRow) bool { return r.n == *n && string(keyOf(r.token)) == string(id) })
	require.GreaterOrEqual(t, i, 0, "%x %d", id, *n)
	return m.rows[i]
}

func pointerTo[T any](v T) *T { return &v }

// newRand returns a generator with a seed by chance, which it logs.
func newRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestResumeModel reads random tables with random pages, workers and faults, ends at random positions, changes the
// ring, and goes on with the same scan or with another one of its checkpoint: each row comes once, in order where
// that is promised, and the counters count the rows.
func TestResumeModel(t *testing.T) {
	r := newRand(t)
	for range soak.Size(3, 100) {
		for name, cfg := range configs {
			onFake(t, cfg, func(t *testing.T, c *fake) {
				m := newModel(t, c, r, 12, 60)
				for range 3 {
					m.readInRuns(t, r, name)
				}
			})
		}
	}
}

// readInRuns reads the table in many runs.
func (m *model) readInRuns(t *testing.T, r *rand.Rand, name string) {
	t.Helper()
	ordered := r.IntN(2) == 0
	config := func() tablescan.Config {
		return tablescan.Config{
			Ordered: ordered, Workers: 1 + r.IntN(4), PageBytes: 20 + r.IntN(600), Retries: 8 + r.IntN(20), Tokens: true,
			SplitBytes: 1 + r.Int64N(2000),
		}
	}
	got := &reading{}
	s := m.scan(t, selectAll, config())
	for runs := 0; ; runs++ {
		require.Less(t, runs, 1000)
		if r.IntN(2) == 0 {
			m.someFaults(r)
		}
		err := m.runOnce(t, r, s, got)
		m.ClearFaults()
		var failed *tablescan.RangeError
		require.True(t, err == nil || errors.Is(err, errStop) || errors.As(err, &failed), "%s: %v", name, err)
		p, checkpoint := s.Progress(), again(t, s)
		require.EqualValues(t, len(got.rows), p.Rows)
		require.Equal(t, p.Rows, checkpoint.Rows)
		require.Equal(t, p.Bytes, checkpoint.Bytes)
		if err == nil {
			require.Empty(t, checkpoint.Left)
			require.InDelta(t, 1, p.Done, 0)
			break
		}
		if r.IntN(3) == 0 {
			m.change(t, r)
		}
		if r.IntN(2) == 0 {
			cfg := config()
			cfg.Checkpoint = checkpoint
			s = m.scan(t, selectAll, cfg)
		}
	}
	m.requireAll(t, got, ordered)
}

// TestResumeAtEachRow ends a scan at each of its rows, and at each of its pages, and resumes it from its checkpoint.
func TestResumeAtEachRow(t *testing.T) {
	r := newRand(t)
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		m := newModel(t, c, r, 8, 25)
		cfg := tablescan.Config{Ordered: true, PageBytes: 60, Tokens: true}
		for end := range len(m.rows) + 1 {
			got := &reading{}
			resumed := cfg
			for len(got.rows) < len(m.rows) {
				s := m.scan(t, selectAll, resumed)
				rows := 0
				for v, err := range tablescan.Rows[struct {
					ID []byte
					N  *int32
				}](t.Context(), s) {
					require.NoError(t, err)
					if rows++; rows > end && len(got.rows) < 2*end {
						break
					}
					got.add(m.rowOf(t, v.ID, v.N))
				}
				resumed.Checkpoint = again(t, s)
				require.EqualValues(t, len(got.rows), resumed.Checkpoint.Rows)
			}
			m.requireAll(t, got, true)
		}
		for last := 0; ; last++ {
			got := &reading{}
			s := m.scan(t, selectAll, cfg)
			pages := 0
			err := s.Run(t.Context(), func(_ int, b *column.Batch) error {
				if pages++; pages > last {
					return errStop
				}
				got.add(rowsOf(t, b)...)
				return nil
			})
			resumed := cfg
			resumed.Checkpoint = again(t, s)
			s = m.scan(t, selectAll, resumed)
			require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error { got.add(rowsOf(t, b)...); return nil }))
			m.requireAll(t, got, true)
			if err == nil {
				return
			}
			require.ErrorIs(t, err, errStop)
		}
	})
}

// TestResumeAfterDelete resumes within a partition that has lost most of its rows: no row of another partition is
// dropped for them, and the pages behind it grow as in any scan.
func TestResumeAfterDelete(t *testing.T) {
	onFake(t, configs["one"], func(t *testing.T, c *fake) {
		c.insert(t, keyOf(5), 1000)
		for tok := int64(6); tok < 500; tok++ {
			c.insert(t, keyOf(tok), 1)
		}
		s := c.scan(t, selectAll, tablescan.Config{Ordered: true, PageBytes: 600, Tokens: true})
		require.ErrorIs(t, s.Run(t.Context(), func(int, *column.Batch) error {
			if s.Progress().Rows > 700 {
				return errStop
			}
			return nil
		}), errStop)
		cfg := tablescan.Config{Ordered: true, PageBytes: 64 << 10, Tokens: true, Checkpoint: again(t, s)}
		for _, left := range []int{3, 0} {
			time.Sleep(time.Second) // later than the write times of the rows
			require.NoError(t, c.Exec(fmt.Sprintf("DELETE FROM ks.t WHERE id = 0x%x AND n >= %d", keyOf(5), left)))
			got, pages := &reading{}, []int{}
			require.NoError(t, c.scan(t, selectAll, cfg).Run(t.Context(), func(_ int, b *column.Batch) error {
				pages = append(pages, b.Rows)
				got.add(rowsOf(t, b)...)
				return nil
			}))
			rest := slices.DeleteFunc(got.rows, func(r modelRow) bool { return r.token == 5 })
			require.Len(t, rest, 494)
			require.Equal(t, modelRow{6, 0}, rest[0])
			require.Equal(t, 128, pages[1], "the second page has eight times the rows of the first one")
		}
	})
}

// TestStateThatFails has a state of a page of one partition, which cannot be cut, that fails each time: the scan begins
// again at its position.
func TestStateThatFails(t *testing.T) {
	for _, retries := range []int{1, 3, 10} {
		onFake(t, configs["one"], func(t *testing.T, c *fake) {
			m := &model{fake: c}
			c.insert(t, keyOf(5), 90)
			for n := range 90 {
				m.rows = append(m.rows, modelRow{5, int32(n)})
			}
			var broken atomic.Bool
			c.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Statement: "token", Error: &cqltest.Error{Code: cqltest.CodeReadTimeout},
				Match: func(q cqltest.Request) bool {
					if !q.Paged {
						broken.Store(false)
					}
					return broken.Load()
				},
			})
			s := c.scan(t, selectAll, tablescan.Config{
				PageBytes: 300, Tokens: true, Retries: retries, Ranges: []vecql.TokenRange{{Start: 4, End: 5}},
			})
			got, pages := &reading{}, 0
			require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
				got.add(rowsOf(t, b)...)
				if pages++; pages == 2 {
					broken.Store(true)
				}
				return nil
			}))
			m.requireAll(t, got, true)
			require.EqualValues(t, min(retries, 6), s.Progress().Failures)
		})
	}
}

// requestedState returns the paging state of a request from the one that EmptyPage answers, which has one byte more of
// padding and ends with the number of these bytes.
func requestedState(state []byte) []byte {
	n := len(state) - 2
	return binary.BigEndian.AppendUint16(state[:n-1], binary.BigEndian.Uint16(state[n:])-1)
}

// TestPageThatDoesNotEnd has a node that always answers with the state of the request: a failure that another request
// may repair, and an error when none does.
func TestPageThatDoesNotEnd(t *testing.T) {
	for _, times := range []int{1, 3, 0} {
		onFake(t, configs["one"], func(t *testing.T, c *fake) {
			c.insert(t, keyOf(5), 60)
			stuck := c.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Statement: "token", EmptyPage: true, Times: times,
				Match: func(q cqltest.Request) bool { return q.Paged },
				Edit:  func(a *cqltest.Answer) { editState(a, requestedState) },
			})
			s := c.scan(t, selectAll, tablescan.Config{Tokens: true, PageBytes: 300, Ranges: []vecql.TokenRange{{Start: 4, End: 5}}})
			got := &reading{}
			err := s.Run(t.Context(), func(_ int, b *column.Batch) error { got.add(rowsOf(t, b)...); return nil })
			if times > 0 {
				require.NoError(t, err)
				require.Len(t, got.rows, 60)
				require.EqualValues(t, times, s.Progress().Failures)
				return
			}
			var failed *tablescan.RangeError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, tablescan.Part{Start: 4, End: 5, Skip: 16}, failed.Part)
			require.ErrorContains(t, err, "a paging state that leads to the same page again")
			require.Equal(t, 11, failed.Failures)
			require.Less(t, stuck.Hits(), 20)
		})
	}
}

// TestSchemaChanges adds and drops columns while a scan runs. The columns are as in New.
func TestSchemaChanges(t *testing.T) {
	r := newRand(t)
	onFake(t, configs["vnodes"], func(t *testing.T, c *fake) {
		m := newModel(t, c, r, 12, 60)
		require.NoError(t, c.Exec("ALTER TABLE ks.t ADD extra int"))
		require.NoError(t, c.session.AwaitSchemaAgreement(t.Context()))
		time.Sleep(time.Minute)
		s := m.scan(t, "SELECT * FROM ks.t", tablescan.Config{Workers: 3, PageBytes: 300, Tokens: true})
		got, pages := &reading{}, 0
		var mu sync.Mutex
		require.NoError(t, s.Run(t.Context(), func(_ int, b *column.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, []string{"id", "n", "s", "extra", "v", "token"}, b.Schema().Names())
			got.add(rowsOf(t, b)...)
			switch pages++; pages {
			case 2:
				require.NoError(t, c.Exec("ALTER TABLE ks.t ADD more text"))
			case 4:
				require.NoError(t, c.Exec("ALTER TABLE ks.t DROP more"))
			}
			return nil
		}))
		m.requireAll(t, got, false)
	})
}
