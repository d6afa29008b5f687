// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// One attempt of a request: the flags of its frame, what it reads of the response, and what it leaves for the next one.

// TestObserversSeeRows requires the number of rows of each attempt, also after an attempt with rows.
func TestObserversSeeRows(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		const read = "SELECT v FROM ks.t"
		ints := fakecql.Columns("v int")
		c.Prepare(read, fakecql.Prepared{Result: ints})
		s := sessionOn(c)
		c.Answer(func(r *fakecql.Request, nth int) {
			switch {
			case r.Stmt == read && nth%3 == 0:
				r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 0, 3}}})
			case nth%3 == 1: // no response
			default:
				r.Void()
			}
		})
		var seen attemptRecorder
		for range 3 {
			require.NoError(t, s.Query(read).Observer(seen.observe).Exec(t.Context()))
			err := s.Query(idempotentInsert).Observer(seen.observe).RequestTimeout(time.Second).Exec(t.Context())
			require.ErrorIs(t, err, conn.ErrTimeout)
			require.NoError(t, s.Query(idempotentInsert).Observer(seen.observe).Exec(t.Context()))
		}
		var rows []int
		for _, o := range seen.queries {
			rows = append(rows, o.Rows)
		}
		require.Equal(t, []int{3, 0, 0, 3, 0, 0, 3, 0, 0}, rows)
	})
}

// tracerFunc is a function as a Tracer.
type tracerFunc func(id []byte)

func (f tracerFunc) Trace(id []byte) { f(id) }

// TestFlagsOfRequests requires the header flags of requests with a tracer, with a custom payload and with both, and
// that a response without a tracing id is not passed to the tracer.
func TestFlagsOfRequests(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		const traced, payload = wire.FlagTracing, wire.FlagCustomPayload
		id := cql.UUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
		var got []byte
		c.On(func(r *fakecql.Request) bool {
			switch r.Op {
			case fakecql.OpQuery, fakecql.OpExecute, fakecql.OpBatch:
				got = append(got, r.Flags&(traced|payload))
				if r.HasPayload || r.Flags&traced == 0 {
					return false
				}
				r.Conn.ReplyFlags(r.Stream, fakecql.OpResult, traced, wire.AppendInt(id[:], fakecql.ResultVoid))
				return true
			}
			return false
		})
		var ids [][]byte
		tracer := tracerFunc(func(id []byte) { ids = append(ids, id) })
		p := map[string][]byte{"k": {1}}
		for _, exec := range []func(context.Context) error{
			s.Query(idempotentInsert).Exec,
			s.Query(idempotentInsert).Trace(tracer).Exec,
			s.Query(idempotentInsert).CustomPayload(p).Exec,
			s.Query(idempotentInsert).CustomPayload(p).Trace(tracer).Exec,
			s.Query("CREATE TABLE ks.t").Trace(tracer).Exec,
			s.Batch(cql.LoggedBatch).Query(idempotentInsert).Trace(tracer).Exec,
			s.Batch(cql.LoggedBatch).Query(idempotentInsert).CustomPayload(p).Exec,
		} {
			require.NoError(t, exec(t.Context()))
		}
		require.Equal(t, []byte{0, traced, payload, traced | payload, traced, traced, payload}, got)
		require.Equal(t, [][]byte{id[:], id[:], id[:]}, ids)
	})
}

// TestAnswerRefusesResponses requires an error for a response that does not fit its request: with parts of the frame
// that are cut, of an unexpected opcode, or with rows whose columns are unknown.
func TestAnswerRefusesResponses(t *testing.T) {
	plan := newResultPlan(nil, frame.KnownColumns{Columns: []cql.ColumnInfo{col("v", nil)}})
	rows := func(columns, count int32) []byte {
		return fakecql.Ints(fakecql.ResultRows, fakecql.NoMetadata, columns, count)
	}
	for name, m := range map[string]struct {
		op    frame.Opcode
		flags byte
		body  []byte
		plan  *resultPlan
		want  string // empty means none
	}{
		"rows without metadata":               {frame.OpResult, 0, rows(1, 0), plan, ""},
		"void":                                {frame.OpResult, 0, fakecql.Ints(fakecql.ResultVoid), nil, ""},
		"half a tracing id":                   {frame.OpResult, wire.FlagTracing, make([]byte, 8), nil, "frame"},
		"warnings past the end":               {frame.OpResult, wire.FlagWarning, []byte{0xFF, 0xFF}, nil, "frame"},
		"an opcode of a handshake":            {frame.OpReady, 0, nil, nil, "EXECUTE answered with READY"},
		"rows with no metadata, not skipped":  {frame.OpResult, 0, rows(1, 0), nil, "although the request did not skip it"},
		"rows without metadata, more columns": {frame.OpResult, 0, rows(2, 0), plan, "rows of 2 columns without metadata, the statement has 1 columns"},
		"rows without metadata, no column":    {frame.OpResult, 0, rows(0, 0), plan, "rows of 0 columns without metadata, the statement has 1 columns"},
	} {
		stmt := &statement{}
		stmt.seen.Store(plan)
		c := &call{callState: callState{req: conn.Request{Op: frame.OpExecute}, plan: m.plan, stmts: []*statement{stmt}}}
		a := answer{resp: conn.Response{Header: wire.Header{Opcode: byte(m.op), Flags: m.flags}, Body: &conn.Buffer{B: m.body}}}
		err := a.parse(c, conn.New(&conn.Config{Version: frame.V5}, "127.0.0.1:9042", nil))
		if err == nil && a.res.Kind == frame.ResultRows {
			err = a.useMetadata(c)
		}
		if m.want == "" {
			require.NoError(t, err, name)
			continue
		}
		var broken *cql.ProtocolError
		require.ErrorAs(t, err, &broken, name)
		require.ErrorContains(t, err, m.want, name)
	}
}

// TestSpareBodyIsUsedOnce requires that a call uses its spare body for one request at a time, and for none that is
// larger.
func TestSpareBodyIsUsedOnce(t *testing.T) {
	spare := &conn.Buffer{B: make([]byte, 64)}
	c := &call{spare: spare}
	large := c.newBody(65)
	require.NotSame(t, spare, large)
	require.Same(t, spare, c.newBody(64))
	other := c.newBody(64)
	require.NotSame(t, spare, other, "it is in use")
	large.Release()
	other.Release()
}

// TestThrottledRequestHoldsNoMemory requires that a request that the throttle refuses returns its part of the memory
// budget.
func TestThrottledRequestHoldsNoMemory(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Limits.MemoryBudget = 1 << 20
			cfg.Limits.Throttle = Throttle{MaxRequests: 1}
		})
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(time.Second)
			r.Void()
		})
		first := make(chan error, 1)
		go func() { first <- s.Query(idempotentInsert).Exec(t.Context()) }()
		synctest.Wait()
		held := s.Stats().Memory.InFlight
		require.Positive(t, held)
		require.ErrorIs(t, s.Query(idempotentInsert).RequestTimeout(100*time.Millisecond).Exec(t.Context()), ErrThrottled)
		require.Equal(t, held, s.Stats().Memory.InFlight)
		require.NoError(t, <-first)
		require.Zero(t, s.Stats().Memory.InFlight)
	})
}

// TestExpectedAnswers requires the memory that a request acquires for its answer: the size of the last answer if it was
// large, a share of the budget for the first answer with rows, and nothing otherwise.
func TestExpectedAnswers(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		const budget = 64 << 20
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Limits.MemoryBudget = budget })
		statementOf := func(columns int, size int64) *statement {
			stmt := &statement{}
			stmt.result.Store(newResultPlan(nil, frame.KnownColumns{Columns: make([]cql.ColumnInfo, columns)}))
			stmt.answerSize.Store(size)
			return stmt
		}
		for name, m := range map[string]struct {
			op   frame.Opcode
			stmt *statement
			want int64
		}{
			"unknown, with columns":    {frame.OpExecute, statementOf(1, 0), budget / 8},
			"unknown, without columns": {frame.OpExecute, statementOf(0, 0), 0},
			"small":                    {frame.OpExecute, statementOf(1, conn.SmallBody), 0},
			"large":                    {frame.OpExecute, statementOf(1, conn.SmallBody+1), conn.SmallBody + 1},
			"large, without columns":   {frame.OpExecute, statementOf(0, 1<<20), 1 << 20},
			"of a QUERY":               {frame.OpQuery, nil, 0},
			"of a BATCH":               {frame.OpBatch, statementOf(1, 0), 0},
		} {
			call := callState{req: conn.Request{Op: m.op, Body: &conn.Buffer{B: make([]byte, 1000)}}, stmts: []*statement{m.stmt}}
			require.Equal(t, m.want, s.expectedAnswer(&call), name)
			// beside the rest of the budget there is room for the request and its answer, and no byte more
			rest := budget - 1000 - m.want
			s.memory.Add(rest)
			require.False(t, s.memoryFull(&call), name)
			s.memory.Add(1)
			require.True(t, s.memoryFull(&call), name)
			s.memory.Release(rest + 1)
		}
		require.False(t, bareSession().memoryFull(&callState{}), "without a budget")
	})
}

// TestPartsOfResponses requires the warnings and the custom payload of a response beside its rows.
func TestPartsOfResponses(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, nth int) {
			body := fakecql.Message(2, 1, "a", 2, "bc", 1, 1, "k", fakecql.Ints(1), "v", fakecql.Ints(fakecql.ResultVoid))
			if nth == 1 {
				r.Void()
				return
			}
			r.Conn.ReplyFlags(r.Stream, fakecql.OpResult, wire.FlagWarning|wire.FlagCustomPayload, body)
		})
		for _, want := range []struct {
			warnings []string
			payload  map[string][]byte
		}{{[]string{"a", "bc"}, map[string][]byte{"k": []byte("v")}}, {}} {
			it := s.Query(idempotentInsert).Iter(t.Context())
			require.Equal(t, want.warnings, it.Warnings())
			require.Equal(t, want.payload, it.GetCustomPayload())
			require.NoError(t, it.Close())
		}
		it := s.Query("USE ks").Iter(t.Context())
		require.Nil(t, it.Warnings(), "there is no response")
		require.ErrorIs(t, it.Close(), ErrUseStmt)
	})
}

// TestShardOfRequest requires the shard of a request on a node: the shard of its tablet, else the shard of its token.
func TestShardOfRequest(t *testing.T) {
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{})
	defer p.forceClose()
	open := conn.New(&conn.Config{Version: frame.V4}, "127.0.0.1:9042", nil)
	open.Features = conn.Features{Shards: 8, IgnoreMSB: 12}
	p.open.Store(newPoolView([]*conn.Conn{open}))
	n := &node{pool: p}
	const tok = 0x0007_FFFF_FFFF_FFFF
	own := token.ShardOf(tok, 8, 12)
	require.Positive(t, own)
	for name, m := range map[string]struct {
		call callState
		at   candidate
		want int32
	}{
		"of the token":              {callState{hasToken: true, token: tok}, candidate{node: n, shard: -1}, own},
		"of the tablet":             {callState{hasToken: true, token: tok}, candidate{node: n, shard: 5}, 5},
		"of the tablet, the first":  {callState{hasToken: true, token: tok}, candidate{node: n, shard: 0}, 0},
		"unknown without a token":   {callState{token: tok}, candidate{node: n, shard: -1}, -1},
		"of the tablet, by a claim": {callState{}, candidate{node: n, shard: 3}, 3},
	} {
		c := call{callState: m.call}
		require.Equal(t, m.want, c.shardOf(m.at), name)
	}
}
