// SPDX-License-Identifier: Apache-2.0

package faults

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

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 29, 30, 31 and 35: retries, backoff, speculative execution, and failing code of the program.

// A pushy retry policy retries after every error.
type pushy struct {
	typ   vecql.RetryType
	asked *atomic.Int32
}

func (p pushy) Decide(context.Context, vecql.Attempt) vecql.Decision {
	p.asked.Add(1)
	return vecql.Decision{Type: p.typ}
}

// writeTimeoutFields returns the fields after the message of WRITE_TIMEOUT: consistency, received, block for, write
// type.
func writeTimeoutFields(typ string) []byte {
	b := wire.AppendShort(nil, uint16(cql.Quorum))
	b = fakecql.AppendString(wire.AppendInt(wire.AppendInt(b, 1), 2), typ)
	if typ == "CAS" {
		b = wire.AppendShort(b, 1) // contentions
	}
	return b
}

// TestFault29NotIdempotentIsSentOnce: a counter update fails in each way after which it may have been executed, under
// several retry policies and with speculative execution. The server must receive it exactly once.
func TestFault29NotIdempotentIsSentOnce(t *testing.T) {
	const update = "UPDATE ks.t SET n = n + 1 WHERE id = 1"
	for name, fail := range map[string]func(r *fakecql.Request){
		"write timeout of a counter": func(r *fakecql.Request) { r.Fail(int32(cql.CodeWriteTimeout), writeTimeoutFields("COUNTER")...) },
		"CAS write unknown": func(r *fakecql.Request) {
			r.Fail(int32(cql.CodeCASWriteUnknown), wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, uint16(cql.Serial)), 1), 2)...)
		},
		"write failure": func(r *fakecql.Request) {
			b := wire.AppendInt(wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, uint16(cql.Quorum)), 1), 2), 0)
			r.Fail(int32(cql.CodeWriteFailure), fakecql.AppendString(b, "COUNTER")...)
		},
		"server error":                     func(r *fakecql.Request) { r.Fail(int32(cql.CodeServer)) },
		"connection loss after write":      func(r *fakecql.Request) { r.HangUp() },
		"no answer":                        func(*fakecql.Request) {},
		"a response that cannot be parsed": func(r *fakecql.Request) { r.Conn.Reply(r.Stream, fakecql.OpReady, nil) },
	} {
		for policy, p := range map[string]vecql.RetryPolicy{
			"default": nil, "same node": pushy{vecql.Retry, new(atomic.Int32)}, "next node": pushy{vecql.RetryNextHost, new(atomic.Int32)},
			"simple":      vecql.SimpleRetryPolicy{NumRetries: 3},
			"downgrading": vecql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []cql.Consistency{cql.One, cql.One}},
		} {
			t.Run(name+", "+policy, func(t *testing.T) {
				bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
					cfg := configOf(c)
					cfg.Defaults.RetryPolicy = p
					cfg.Defaults.SpeculativeExecutionPolicy = &vecql.SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: time.Millisecond}
					s := openSession(t, cfg)
					c.Answer(func(r *fakecql.Request, _ int) { fail(r) })
					err := s.Query(update).Exec(t.Context())
					sent, _ := c.Count(update)
					require.Equal(t, 1, sent)
					if err == nil {
						require.Equal(t, "downgrading", policy, "the policy ignores the timeout of a write that reached a replica")
						return
					}
					require.True(t, vecql.MayHaveApplied(err))
					if pushed, ok := p.(pushy); ok {
						require.Positive(t, pushed.asked.Load(), "the retry policy was asked, and overruled")
					}
				})
			})
		}
	}
}

// TestSelectIsIdempotent breaks the connection under the first attempt of a statement. A SELECT is sent again without a
// mark, also with comments and functions before anything else, unless the query or the configuration marks it as not
// idempotent.
func TestSelectIsIdempotent(t *testing.T) {
	const read = "SELECT now(), uuid() FROM ks.t WHERE id = 1"
	for name, test := range map[string]struct {
		text    string
		disable bool
		query   func(q *vecql.Query)
		sent    int
	}{
		"SELECT":                           {text: read, sent: 2},
		"in lower case, after comments":    {text: "-- one\n/* two */ select id from ks.t", sent: 2},
		"SELECT JSON":                      {text: "SELECT JSON id FROM ks.t", sent: 2},
		"Idempotent(false)":                {text: read, query: func(q *vecql.Query) { q.Idempotent(false) }, sent: 1},
		"DisableSelectIdempotence":         {text: read, disable: true, sent: 1},
		"DisableSelectIdempotence, marked": {text: read, disable: true, query: func(q *vecql.Query) { q.Idempotent(true) }, sent: 2},
		"INSERT":                           {text: "INSERT INTO ks.t (id) VALUES (1)", sent: 1},
		"a comment with SELECT":            {text: "/* SELECT */ DELETE FROM ks.t WHERE id = 1", sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				cfg.Defaults.DisableSelectIdempotence = test.disable
				s := openSession(t, cfg)
				c.Answer(func(r *fakecql.Request, nth int) {
					if nth == 0 {
						r.HangUp()
						return
					}
					r.Void()
				})
				q := s.Query(test.text)
				if test.query != nil {
					test.query(q)
				}
				err := q.Exec(t.Context())
				sent, _ := c.Count(test.text)
				require.Equal(t, test.sent, sent)
				require.Equal(t, test.sent == 2, err == nil, "%v", err)
				require.Equal(t, test.sent == 2, q.GetIdempotent())
			})
		})
	}
}

// Nodes report "too many requests in flight" as OVERLOADED too. The code of ScyllaDB's rate limit is negotiated;
// TestDefaultRetryPolicy covers it.
func TestFault30OverloadedBacksOff(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		var at []time.Duration
		began := time.Now()
		c.Answer(func(r *fakecql.Request, nth int) {
			at = append(at, time.Since(began))
			if nth < 3 {
				r.Fail(int32(cql.CodeOverloaded))
				return
			}
			r.Void()
		})
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec(t.Context()), "with one node, the retry goes to the same node after a wait")
		require.Len(t, at, 4)
		for i, most := range []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
			wait := at[i+1] - at[i]
			require.GreaterOrEqual(t, wait, most/2)
			require.LessOrEqual(t, wait, most)
		}
		// Jitter prevents clients that were refused together from retrying together.
		waits := map[time.Duration]bool{}
		for range 20 {
			c.Answer(func(r *fakecql.Request, nth int) {
				if nth == 0 {
					r.Fail(int32(cql.CodeOverloaded))
					return
				}
				r.Void()
			})
			began := time.Now()
			require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Exec(t.Context()))
			waits[time.Since(began)] = true
		}
		require.Greater(t, len(waits), 10)
	})
}

// TestFault30BackoffEndsByContext: a request waits an hour before its retry. The wait must end with the context, and
// with the session.
func TestFault30BackoffEndsByContext(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Defaults.RetryPolicy = vecql.ExponentialBackoffRetryPolicy{NumRetries: 5, Min: time.Hour, Max: time.Hour}
		s, err := vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		c.Answer(func(r *fakecql.Request, _ int) { r.Fail(int32(cql.CodeOverloaded)) })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		err = s.Query(idempotentInsert).Idempotent(true).Exec(ctx)
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, cql.CodeOverloaded, "the error includes the last server error")
		require.False(t, vecql.MayHaveApplied(err))
		// The end of the session ends the backoff too.
		errs := make(chan error)
		go func() { errs <- s.Query(idempotentInsert).Idempotent(true).Exec(t.Context()) }()
		synctest.Wait()
		began = time.Now()
		s.Close()
		require.ErrorIs(t, <-errs, vecql.ErrSessionClosed)
		require.Less(t, time.Since(began), time.Second)
	})
}

// steps are the responses to the executions of one request, in order.
type steps []func(*fakecql.Request)

// TestFault31SpeculativeExecution: up to three executions of a SELECT respond or fail at set times. The caller must get
// one result at the time of the first success, and only as many executions may be sent.
func TestFault31SpeculativeExecution(t *testing.T) {
	const slow, delay = 10 * time.Second, 100 * time.Millisecond
	select1 := "SELECT id, name, v FROM ks.t WHERE id = 1"
	rows := func(r *fakecql.Request) {
		r.Rows(fakecql.Rows{Columns: fakecql.Columns("id bigint", "name text", "v vector<float, 3>"), Cells: rowCells(7, 1)})
	}
	late := func(d time.Duration, answer func(r *fakecql.Request)) func(*fakecql.Request) {
		return func(r *fakecql.Request) {
			time.Sleep(d)
			answer(r)
		}
	}
	fails := func(c cql.Code) func(r *fakecql.Request) { return func(r *fakecql.Request) { r.Fail(int32(c)) } }
	hangsUp := func(r *fakecql.Request) { r.HangUp() }
	for name, m := range map[string]struct {
		executions    []func(r *fakecql.Request) // the response to each execution
		notIdempotent bool
		sent          int
		took          time.Duration
		err           error
		spec, wins    uint64
		either        bool // any of them may win
	}{
		"the first responds in time":           {executions: steps{late(delay/2, rows), rows}, sent: 1, took: delay / 2},
		"the second responds first":            {executions: steps{late(slow, rows), rows}, sent: 2, took: delay, spec: 1, wins: 1},
		"the third responds first":             {executions: steps{late(slow, rows), late(slow, rows), rows}, sent: 3, took: 2 * delay, spec: 2, wins: 1},
		"the first still responds first":       {executions: steps{late(3*delay, rows), late(slow, rows), late(slow, rows)}, sent: 3, took: 3 * delay, spec: 2},
		"two respond at once":                  {executions: steps{late(3*delay/2, rows), late(delay/2, rows)}, sent: 2, took: 3 * delay / 2, spec: 1, either: true},
		"the first fails, the second succeeds": {executions: steps{late(2*delay-1, fails(cql.CodeServer)), late(5*delay, rows), late(slow, rows)}, sent: 3, took: 6 * delay, spec: 2, wins: 1},
		"both fail":                            {executions: steps{late(3*delay, fails(cql.CodeServer)), late(3*delay, fails(cql.CodeServer)), late(3*delay, fails(cql.CodeServer))}, sent: 3, took: 5 * delay, err: cql.CodeServer, spec: 2},
		"both connections break":               {executions: steps{late(2*delay-1, hangsUp), late(2*delay-1, hangsUp), rows}, sent: 3, took: 2 * delay, spec: 2, wins: 1},
		"an error that is final":               {executions: steps{late(slow, rows), fails(cql.CodeSyntax), rows}, sent: 2, took: delay, err: cql.CodeSyntax, spec: 1},
		"not idempotent":                       {executions: steps{late(3*delay, rows), rows}, notIdempotent: true, sent: 1, took: 3 * delay},
		"no response before the deadline":      {executions: steps{late(2*slow, rows), late(2*slow, rows), late(2*slow, rows)}, sent: 3, took: slow, err: context.DeadlineExceeded, spec: 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				cfg.Defaults.SpeculativeExecutionPolicy = &vecql.SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: delay}
				cfg.Defaults.RetryPolicy = vecql.SimpleRetryPolicy{}
				seen := &attemptRecorder{}
				cfg.Defaults.Observer = seen.observe
				s := openSession(t, cfg)
				c.Prepare(select1, fakecql.Prepared{Result: fakecql.Columns("id bigint", "name text", "v vector<float, 3>")})
				_, err := s.StatementMetadata(context.Background(), select1, "")
				require.NoError(t, err)
				var hosts []string
				c.Answer(func(r *fakecql.Request, nth int) {
					c.Mu.Lock()
					hosts = append(hosts, r.Node.IP)
					c.Mu.Unlock()
					m.executions[nth](r)
				})
				ctx, cancel := context.WithTimeout(context.Background(), slow)
				defer cancel()
				began := time.Now()
				var id int64
				var name string
				var v []float32
				err = s.Query(select1).Idempotent(!m.notIdempotent).Scan(ctx, &id, &name, &v)
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
				require.Len(t, slices.Compact(hosts), m.sent, "each execution uses another node")
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
					require.Equal(t, goroutineID(), seen.goroutines[i], "observers run on the caller's goroutine: %v", o.Err)
					require.Equal(t, i, o.Attempt)
					if o.Err == nil {
						succeeded++
					}
				}
				if m.err == nil {
					require.Positive(t, succeeded, "the winning attempt is observed, whichever goroutine ran it")
				}
				time.Sleep(3 * slow) // wait for the late responses: their buffers must be released, which the cluster checks
				for _, n := range s.Stats().Nodes {
					require.Zero(t, n.Orphans)
				}
			})
		})
	}
}

// TestFault31BodyOutlivesItsCaller: the caller gets the answer of one execution while the body of the other is still
// being written. The server must receive every body unchanged.
func TestFault31BodyOutlivesItsCaller(t *testing.T) {
	// The loser's frame is still being written when the winner's answer arrives and the body could be reused.
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Defaults.SpeculativeExecutionPolicy = &vecql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Millisecond}
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("name text")})
		s := openSession(t, cfg)
		value := strings.Repeat("v", 3000)
		good := atomic.Int32{}
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			if bytes.Contains(r.Body, []byte(value)) {
				good.Add(1)
			}
			r.Node.Server.Go(func() {
				time.Sleep(time.Duration(2+r.Node.ID[1]) * time.Millisecond)
				r.Void()
			})
			return true
		})
		for range 50 {
			require.NoError(t, s.Query(insert, value).Idempotent(true).Exec(t.Context()))
		}
		time.Sleep(time.Second)
		sent, _ := c.Count(insert)
		require.Equal(t, 100, sent)
		require.EqualValues(t, sent, good.Load(), "every received request is intact")
	})
}

// An attemptRecorder records attempts.
type attemptRecorder struct {
	queries    []vecql.ObservedAttempt
	goroutines []string
}

func (r *attemptRecorder) observe(_ context.Context, a vecql.ObservedAttempt) {
	r.queries = append(r.queries, a)
	r.goroutines = append(r.goroutines, goroutineID())
}

// panics implements every interface of user code by a panic.
type panics struct{}

func (panics) observe(context.Context, vecql.ObservedAttempt) { panic("observer") }

func (panics) connected(vecql.ObservedConnect) { panic("connect observer") }

func (panics) Trace([]byte) { panic("tracer") }

func (panics) Decide(context.Context, vecql.Attempt) vecql.Decision { panic("retry policy") }

func (panics) Attempts() int { panic("speculative policy") }

func (panics) Delay() time.Duration { panic("speculative policy") }

func (panics) MarshalCQL(cql.TypeInfo) ([]byte, error) { panic("marshaler") }

func (panics) Enabled(context.Context, slog.Level) bool { panic("logger") }

func (panics) Handle(context.Context, slog.Record) error { panic("logger") }

func (p panics) WithAttrs([]slog.Attr) slog.Handler { return p }

func (p panics) WithGroup(string) slog.Handler { return p }

// TestFault35UserCodePanics: an observer, policy, marshaler or binding of the program panics. At most its own request
// fails, with an error that names what has panicked.
func TestFault35UserCodePanics(t *testing.T) {
	const insert = "INSERT INTO ks.t (name) VALUES (?)"
	for name, m := range map[string]struct {
		config func(cfg *vecql.ClusterConfig)
		run    func(s *vecql.Session) error
		code   cql.Code // of the response; 0 means RESULT
		err    string   // empty means that the request succeeds and the panic is only logged
		log    bool
	}{
		"query observer":   {config: func(cfg *vecql.ClusterConfig) { cfg.Defaults.Observer = panics{}.observe }, log: true},
		"connect observer": {config: func(cfg *vecql.ClusterConfig) { cfg.Pool.ConnectObserver = panics{}.connected }, log: true},
		"batch observer": {
			config: func(cfg *vecql.ClusterConfig) { cfg.Defaults.Observer = panics{}.observe },
			run: func(s *vecql.Session) error {
				return s.Batch(cql.LoggedBatch).Query(insert, "v").Exec(context.Background())
			}, log: true,
		},
		"tracer": {run: func(s *vecql.Session) error { return s.Query(insert, "v").Trace(panics{}).Exec(context.Background()) }},
		"retry policy": {
			config: func(cfg *vecql.ClusterConfig) { cfg.Defaults.RetryPolicy = panics{} }, code: cql.CodeTruncate, err: "retry policy",
		},
		"speculative execution policy": {
			config: func(cfg *vecql.ClusterConfig) { cfg.Defaults.SpeculativeExecutionPolicy = panics{} }, err: "speculative policy",
			run: func(s *vecql.Session) error { return s.Query(insert, "v").Idempotent(true).Exec(context.Background()) },
		},
		"marshaler": {run: func(s *vecql.Session) error { return s.Query(insert, panics{}).Exec(context.Background()) }, err: "marshaler"},
		"binding": {run: func(s *vecql.Session) error {
			return s.Bind(insert, func(vecql.StatementMetadata) ([]any, error) { panic("binding") }).Exec(context.Background())
		}, err: "binding"},
		"binding of a batch": {run: func(s *vecql.Session) error {
			b := s.Batch(cql.LoggedBatch)
			b.Bind(insert, func(vecql.StatementMetadata) ([]any, error) { panic("binding") })
			return b.Exec(context.Background())
		}, err: "binding"},
		"logger": {config: func(cfg *vecql.ClusterConfig) {
			cfg.Logger = slog.New(panics{})
			cfg.Pool.ConnectObserver = panics{}.connected
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				var records []slog.Record
				cfg.Logger = slog.New(fakecql.LogRecorder{Records: &records})
				if m.config != nil {
					m.config(cfg)
				}
				c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("name text")})
				s := openSession(t, cfg)
				c.Answer(func(r *fakecql.Request, _ int) {
					if m.code != 0 {
						r.Fail(int32(m.code))
						return
					}
					r.Void()
				})
				if m.run == nil {
					m.run = func(s *vecql.Session) error { return s.Query(insert, "v").Exec(t.Context()) }
				}
				err := m.run(s)
				if m.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, m.err)
				}
				require.NotErrorIs(t, err, vecql.ErrConnectionClosed)
				require.Equal(t, m.log, slices.ContainsFunc(records, func(r slog.Record) bool { return strings.Contains(r.Message, "panic in the program's") }))
				c.On(nil)
				require.NoError(t, s.Query("INSERT other").Exec(t.Context()), "other requests still succeed")
				require.EqualValues(t, 3, s.Stats().ConnectionsOpened)
				require.Zero(t, s.Stats().ConnectionsLost)
			})
		})
	}
}

// TestFault35ObserverBlocksAndCallsBack: an observer sleeps and then sends a request itself, in a session that admits
// one request at a time. Other requests must not wait.
func TestFault35ObserverBlocksAndCallsBack(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Limits.Throttle = vecql.Throttle{MaxRequests: 1} // a request of the observer needs the same slot
		s := openSession(t, cfg)
		seen := &attemptRecorder{}
		observe := func(ctx context.Context, a vecql.ObservedAttempt) {
			seen.observe(ctx, a)
			time.Sleep(10 * time.Second)
			require.NoError(t, s.Query("INSERT from the observer").Exec(t.Context()))
		}
		began := time.Now()
		errs := make(chan error)
		go func() { errs <- s.Query("INSERT observed").Observer(observe).Exec(t.Context()) }()
		synctest.Wait()
		for range 10 {
			require.NoError(t, s.Query("INSERT other").Exec(t.Context()))
		}
		require.Zero(t, time.Since(began), "other requests are not delayed")
		require.NoError(t, <-errs)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Len(t, seen.queries, 1)
	})
}

// goroutineID returns the id of the calling goroutine.
func goroutineID() string {
	buf := make([]byte, 64)
	id, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return id
}

const idempotentInsert = "INSERT INTO ks.t (id) VALUES (1)"
