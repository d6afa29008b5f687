// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the faults that a request survives by what its session decides: repetitions, waits, several executions, clocks, and the
// program's own code that fails.

// pushy is a policy that always wants another attempt.
type pushy struct {
	typ   RetryType
	asked *atomic.Int32
}

func (p pushy) Decide(context.Context, Attempt) Decision {
	p.asked.Add(1)
	return Decision{Type: p.typ}
}

// writeTimeoutFields are what follows the message of WRITE_TIMEOUT: consistency, received, block for, write type.
func writeTimeoutFields(typ string) []byte {
	b := wire.AppendShort(nil, uint16(Quorum))
	b = mustString(wire.AppendInt(wire.AppendInt(b, 1), 2), typ)
	if typ == "CAS" {
		b = wire.AppendShort(b, 1) // contentions
	}
	return b
}

func TestFault29NotIdempotentIsSentOnce(t *testing.T) {
	const update = "UPDATE ks.t SET n = n + 1 WHERE id = 1"
	for name, fail := range map[string]func(r *fakeRequest){
		"write timeout of a counter": func(r *fakeRequest) { r.fail(CodeWriteTimeout, writeTimeoutFields("COUNTER")...) },
		"CAS write unknown": func(r *fakeRequest) {
			r.fail(CodeCASWriteUnknown, wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, uint16(Serial)), 1), 2)...)
		},
		"write failure": func(r *fakeRequest) {
			b := wire.AppendInt(wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, uint16(Quorum)), 1), 2), 0)
			r.fail(CodeWriteFailure, mustString(b, "COUNTER")...)
		},
		"server error":                   func(r *fakeRequest) { r.fail(CodeServer) },
		"connection loss after write":    func(r *fakeRequest) { r.hangUp() },
		"no answer":                      func(*fakeRequest) {},
		"an answer that can not be read": func(r *fakeRequest) { r.peer.reply(r.stream, opReady, nil) },
	} {
		for policy, p := range map[string]RetryPolicy{
			"default": nil, "same node": pushy{Retry, new(atomic.Int32)}, "next node": pushy{RetryNextHost, new(atomic.Int32)},
			"simple": SimpleRetryPolicy{NumRetries: 3}, "downgrading": DowngradingConsistencyRetryPolicy{[]Consistency{One, One}},
		} {
			t.Run(name+", "+policy, func(t *testing.T) {
				bubble(t, 3, func(t *testing.T, c *fakeCluster) {
					cfg := c.config()
					cfg.RetryPolicy = p
					cfg.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: time.Millisecond}
					s := openSession(t, cfg)
					c.answer(func(r *fakeRequest, _ int) { fail(r) })
					err := s.Query(update).Exec()
					sent, _ := c.count(update)
					require.Equal(t, 1, sent)
					if err == nil {
						require.Equal(t, "downgrading", policy, "it counts a write that reached a replica as done")
						return
					}
					require.True(t, MayHaveApplied(err))
					if pushed, ok := p.(pushy); ok {
						require.Positive(t, pushed.asked.Load(), "the policy wanted another attempt, and was not listened to")
					}
				})
			})
		}
	}
}

// OVERLOADED is also what "too many requests in flight" comes as; the code of ScyllaDB's rate limit is negotiated: TestDefaultRetryPolicy has it.
func TestFault30OverloadedBacksOff(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		var at []time.Duration
		began := time.Now()
		c.answer(func(r *fakeRequest, nth int) {
			at = append(at, time.Since(began))
			if nth < 3 {
				r.fail(CodeOverloaded)
				return
			}
			r.void()
		})
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec(), "one node: the same one is asked again after a wait")
		require.Len(t, at, 4)
		for i, most := range []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
			wait := at[i+1] - at[i]
			require.GreaterOrEqual(t, wait, most/2)
			require.LessOrEqual(t, wait, most)
		}
		// Jitter: clients that were refused at once do not come back at once.
		waits := map[time.Duration]bool{}
		for range 20 {
			c.answer(func(r *fakeRequest, nth int) {
				if nth == 0 {
					r.fail(CodeOverloaded)
					return
				}
				r.void()
			})
			began := time.Now()
			require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec())
			waits[time.Since(began)] = true
		}
		require.Greater(t, len(waits), 10)
	})
}

func TestFault30BackoffEndsByContext(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.RetryPolicy = ExponentialBackoffRetryPolicy{NumRetries: 5, Min: time.Hour, Max: time.Hour}
		s, err := cfg.CreateSession()
		require.NoError(t, err)
		c.answer(func(r *fakeRequest, _ int) { r.fail(CodeOverloaded) })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		err = s.Query(idempotentInsert).Idempotent(true).ExecContext(ctx)
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, CodeOverloaded, "the error says what it waited for")
		require.False(t, MayHaveApplied(err))
		// The session's end ends it, too.
		errs := make(chan error)
		go func() { errs <- s.Query(idempotentInsert).Idempotent(true).Exec() }()
		synctest.Wait()
		began = time.Now()
		s.Close()
		require.ErrorIs(t, <-errs, ErrSessionClosed)
		require.Less(t, time.Since(began), time.Second)
	})
}

func TestFault31SpeculativeExecution(t *testing.T) {
	const slow, delay = 10 * time.Second, 100 * time.Millisecond
	select1 := "SELECT id, name, v FROM ks.t WHERE id = 1"
	rows := func(r *fakeRequest) {
		r.rows(fakeResult{columns: []ColumnInfo{col("id", tBigint), col("name", tText), col("v", tVector)}, cells: rowCells(7, 1)})
	}
	late := func(d time.Duration, answer func(r *fakeRequest)) func(*fakeRequest) {
		return func(r *fakeRequest) {
			time.Sleep(d)
			answer(r)
		}
	}
	fails := func(c Code) func(r *fakeRequest) { return func(r *fakeRequest) { r.fail(c) } }
	hangsUp := func(r *fakeRequest) { r.hangUp() }
	for name, m := range map[string]struct {
		executions    []func(r *fakeRequest) // the answer to each
		notIdempotent bool
		sent          int
		took          time.Duration
		err           error
		spec, wins    uint64
		either        bool // one of them wins
	}{
		"the first answers in time":         {executions: []func(*fakeRequest){late(delay/2, rows), rows}, sent: 1, took: delay / 2},
		"the second answers first":          {executions: []func(*fakeRequest){late(slow, rows), rows}, sent: 2, took: delay, spec: 1, wins: 1},
		"the third answers first":           {executions: []func(*fakeRequest){late(slow, rows), late(slow, rows), rows}, sent: 3, took: 2 * delay, spec: 2, wins: 1},
		"the first answers after all":       {executions: []func(*fakeRequest){late(3*delay, rows), late(slow, rows), late(slow, rows)}, sent: 3, took: 3 * delay, spec: 2},
		"both answer at once":               {executions: []func(*fakeRequest){late(3*delay/2, rows), late(delay/2, rows)}, sent: 2, took: 3 * delay / 2, spec: 1, either: true},
		"the first fails, the second not":   {executions: []func(*fakeRequest){late(2*delay-1, fails(CodeServer)), late(5*delay, rows), late(slow, rows)}, sent: 3, took: 6 * delay, spec: 2, wins: 1},
		"both fail":                         {executions: []func(*fakeRequest){late(3*delay, fails(CodeServer)), late(3*delay, fails(CodeServer)), late(3*delay, fails(CodeServer))}, sent: 3, took: 5 * delay, err: CodeServer, spec: 2},
		"both connections break":            {executions: []func(*fakeRequest){late(2*delay-1, hangsUp), late(2*delay-1, hangsUp), rows}, sent: 3, took: 2 * delay, spec: 2, wins: 1},
		"an error that all would end with":  {executions: []func(*fakeRequest){late(slow, rows), fails(CodeSyntax), rows}, sent: 2, took: delay, err: CodeSyntax, spec: 1},
		"not idempotent":                    {executions: []func(*fakeRequest){late(3*delay, rows), rows}, notIdempotent: true, sent: 1, took: 3 * delay},
		"nobody answers before the context": {executions: []func(*fakeRequest){late(2*slow, rows), late(2*slow, rows), late(2*slow, rows)}, sent: 3, took: slow, err: context.DeadlineExceeded, spec: 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakeCluster) {
				cfg := c.config()
				cfg.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: delay}
				cfg.RetryPolicy = SimpleRetryPolicy{}
				seen := &attemptRecorder{}
				cfg.QueryObserver = seen
				s := openSession(t, cfg)
				c.prepare(select1, preparedSpec{result: []ColumnInfo{col("id", tBigint), col("name", tText), col("v", tVector)}})
				_, err := s.StatementMetadata(context.Background(), select1, "")
				require.NoError(t, err)
				var hosts []string
				c.answer(func(r *fakeRequest, nth int) {
					c.mu.Lock()
					hosts = append(hosts, r.node.ip)
					c.mu.Unlock()
					m.executions[nth](r)
				})
				ctx, cancel := context.WithTimeout(context.Background(), slow)
				defer cancel()
				began := time.Now()
				var id int64
				var name string
				var v []float32
				err = s.Query(select1).Idempotent(!m.notIdempotent).ScanContext(ctx, &id, &name, &v)
				require.InDelta(t, m.took.Seconds(), time.Since(began).Seconds(), 0.001)
				if m.err == nil {
					require.NoError(t, err)
					require.EqualValues(t, 7, id)
					require.Equal(t, []float32{7, 1, 2}, v)
				} else {
					require.ErrorIs(t, err, m.err)
				}
				synctest.Wait()
				require.Len(t, hosts, m.sent)
				slices.Sort(hosts)
				require.Len(t, slices.Compact(hosts), m.sent, "each execution has a node of its own")
				st := s.Stats()
				require.Equal(t, m.spec, st.SpeculativeExecutions)
				if m.either {
					m.wins = min(st.SpeculativeWins, 1)
				}
				require.Equal(t, m.wins, st.SpeculativeWins)
				require.EqualValues(t, 1, st.Requests)
				require.NotEmpty(t, seen.queries)
				succeeded := 0
				for i, o := range seen.queries {
					require.Equal(t, goroutineID(), seen.goroutines[i], "observers are told on the caller's goroutine: %v", o.Err)
					require.Equal(t, i, o.Attempt)
					if o.Err == nil {
						succeeded++
					}
				}
				if m.err == nil {
					require.Positive(t, succeeded, "the winner's attempt is told of, wherever it ran")
				}
				time.Sleep(3 * slow) // the late answers come, and their buffers are released: the cluster counts them
				for _, n := range s.Stats().Nodes {
					require.Zero(t, n.Orphans)
				}
			})
		})
	}
}

func TestFault31BodyOutlivesItsCaller(t *testing.T) {
	// The loser's frame is still being written when the winner's answer is there and the caller's body would be used again.
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Millisecond}
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("name", tText)}})
		s := openSession(t, cfg)
		value := strings.Repeat("v", 3000)
		good := atomic.Int32{}
		c.on(func(r *fakeRequest) bool {
			if r.op != opExecute {
				return false
			}
			if bytes.Contains(r.body, []byte(value)) {
				good.Add(1)
			}
			r.node.server.wg.Go(func() {
				time.Sleep(time.Duration(2+r.node.id[1]) * time.Millisecond)
				r.void()
			})
			return true
		})
		for range 50 {
			require.NoError(t, s.Query(insert, value).Idempotent(true).Exec())
		}
		time.Sleep(time.Second)
		sent, _ := c.count(insert)
		require.Equal(t, 100, sent)
		require.EqualValues(t, sent, good.Load(), "every copy of the request was whole")
	})
}

// attemptRecorder is an observer of everything.
type attemptRecorder struct {
	queries    []ObservedQuery
	batches    []ObservedBatch
	connects   []ObservedConnect
	frames     []ObservedFrameHeader
	streams    []string
	goroutines []string
	do         func() // what else it does when it is told of a query
}

func (r *attemptRecorder) ObserveQuery(_ context.Context, o ObservedQuery) {
	r.queries = append(r.queries, o)
	r.goroutines = append(r.goroutines, goroutineID())
	if r.do != nil {
		r.do()
	}
}

func (r *attemptRecorder) ObserveBatch(_ context.Context, o ObservedBatch) {
	r.batches = append(r.batches, o)
}
func (r *attemptRecorder) ObserveConnect(o ObservedConnect) { r.connects = append(r.connects, o) }
func (r *attemptRecorder) ObserveFrameHeader(_ context.Context, o ObservedFrameHeader) {
	r.frames = append(r.frames, o)
}
func (r *attemptRecorder) StreamContext(context.Context) StreamObserverContext { return r }
func (r *attemptRecorder) StreamStarted(ObservedStream)                        { r.streams = append(r.streams, "started") }

func (r *attemptRecorder) StreamAbandoned(ObservedStream) { r.streams = append(r.streams, "abandoned") }

func (r *attemptRecorder) StreamFinished(ObservedStream) { r.streams = append(r.streams, "finished") }

// panics is user code that does nothing else.
type panics struct{}

func (panics) ObserveQuery(context.Context, ObservedQuery)             { panic("query observer") }
func (panics) ObserveBatch(context.Context, ObservedBatch)             { panic("batch observer") }
func (panics) ObserveConnect(ObservedConnect)                          { panic("connect observer") }
func (panics) ObserveFrameHeader(context.Context, ObservedFrameHeader) { panic("frame observer") }
func (panics) StreamContext(context.Context) StreamObserverContext     { panic("stream observer") }
func (panics) Trace([]byte)                                            { panic("tracer") }
func (panics) Decide(context.Context, Attempt) Decision                { panic("retry policy") }
func (panics) Attempts() int                                           { panic("speculative policy") }

func (panics) Delay() time.Duration                      { panic("speculative policy") }
func (panics) MarshalCQL(TypeInfo) ([]byte, error)       { panic("marshaler") }
func (panics) Enabled(context.Context, slog.Level) bool  { panic("logger") }
func (panics) Handle(context.Context, slog.Record) error { panic("logger") }
func (p panics) WithAttrs([]slog.Attr) slog.Handler      { return p }
func (p panics) WithGroup(string) slog.Handler           { return p }

func TestFault35UserCodePanics(t *testing.T) {
	const insert = "INSERT INTO ks.t (name) VALUES (?)"
	for name, m := range map[string]struct {
		config func(cfg *ClusterConfig)
		run    func(s *Session) error
		code   Code   // of the answer; 0: RESULT
		err    string // empty: the request succeeds, only the log tells
		log    bool
	}{
		"query observer":   {config: func(cfg *ClusterConfig) { cfg.QueryObserver = panics{} }, log: true},
		"frame observer":   {config: func(cfg *ClusterConfig) { cfg.FrameHeaderObserver = panics{} }, log: true},
		"stream observer":  {config: func(cfg *ClusterConfig) { cfg.StreamObserver = panics{} }, log: true},
		"connect observer": {config: func(cfg *ClusterConfig) { cfg.ConnectObserver = panics{} }, log: true},
		"batch observer": {
			config: func(cfg *ClusterConfig) { cfg.BatchObserver = panics{} },
			run:    func(s *Session) error { return s.Batch(LoggedBatch).Query(insert, "v").Exec() }, log: true,
		},
		"tracer": {run: func(s *Session) error { return s.Query(insert, "v").Trace(panics{}).Exec() }},
		"retry policy": {
			config: func(cfg *ClusterConfig) { cfg.RetryPolicy = panics{} }, code: CodeTruncate, err: "retry policy",
		},
		"speculative execution policy": {
			config: func(cfg *ClusterConfig) { cfg.SpeculativeExecutionPolicy = panics{} }, err: "speculative policy",
			run: func(s *Session) error { return s.Query(insert, "v").Idempotent(true).Exec() },
		},
		"marshaler": {run: func(s *Session) error { return s.Query(insert, panics{}).Exec() }, err: "marshaler"},
		"binding": {run: func(s *Session) error {
			return s.Bind(insert, func(*QueryInfo) ([]any, error) { panic("binding") }).Exec()
		}, err: "binding"},
		"binding of a batch": {run: func(s *Session) error {
			b := s.Batch(LoggedBatch)
			b.Bind(insert, func(*QueryInfo) ([]any, error) { panic("binding") })
			return b.Exec()
		}, err: "binding"},
		"logger": {config: func(cfg *ClusterConfig) { cfg.Logger = slog.New(panics{}); cfg.ConnectObserver = panics{} }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakeCluster) {
				cfg := c.config()
				var records []slog.Record
				cfg.Logger = slog.New(recordingHandler{records: &records})
				if m.config != nil {
					m.config(cfg)
				}
				c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("name", tText)}})
				s := openSession(t, cfg)
				c.answer(func(r *fakeRequest, _ int) {
					if m.code != 0 {
						r.fail(m.code)
						return
					}
					r.void()
				})
				if m.run == nil {
					m.run = func(s *Session) error { return s.Query(insert, "v").Exec() }
				}
				err := m.run(s)
				if m.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, m.err)
				}
				require.NotErrorIs(t, err, ErrConnectionClosed)
				require.Equal(t, m.log, slices.ContainsFunc(records, func(r slog.Record) bool { return strings.Contains(r.Message, "panic in the program's") }))
				c.on(nil)
				require.NoError(t, s.Query("INSERT other").Exec(), "others are not concerned")
				require.EqualValues(t, 3, s.Stats().ConnectionsOpened)
				require.Zero(t, s.Stats().ConnectionsLost)
			})
		})
	}
}

func TestFault35ObserverBlocksAndCallsBack(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.Throttle = Throttle{MaxRequests: 1} // what an observer sends needs the same room
		s := openSession(t, cfg)
		seen := &attemptRecorder{}
		seen.do = func() {
			time.Sleep(10 * time.Second)
			require.NoError(t, s.Query("INSERT from the observer").Exec())
		}
		began := time.Now()
		errs := make(chan error)
		go func() { errs <- s.Query("INSERT observed").Observer(seen).Exec() }()
		synctest.Wait()
		for range 10 {
			require.NoError(t, s.Query("INSERT other").Exec())
		}
		require.Zero(t, time.Since(began), "others are not delayed")
		require.NoError(t, <-errs)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Len(t, seen.queries, 1)
	})
}

// goroutineID returns what tells the calling goroutine apart.
func goroutineID() string {
	buf := make([]byte, 64)
	id, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return id
}
