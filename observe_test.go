// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Observers, counters, and the log without repeats.

func TestObservers(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		seen := &attemptRecorder{}
		cfg.Defaults.Observer, cfg.Pool.ConnectObserver = seen.observe, seen.connected
		cfg.Defaults.RetryPolicy = SimpleRetryPolicy{NumRetries: 1}
		cfg.Keyspace = "ks"
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("name text")})
		s := openHooked(t, cfg, seen.exchange)
		require.Len(t, seen.connects, 3, "two nodes and the control connection")
		for _, o := range seen.connects {
			require.NoError(t, o.Err)
			require.True(t, o.Host.Address.IsValid())
			require.False(t, o.End.Before(o.Start))
		}
		_, err := s.StatementMetadata(t.Context(), insert, "")
		require.NoError(t, err)
		synctest.Wait() // both nodes have prepared the statement
		c.Answer(func(r *fakecql.Request, nth int) {
			time.Sleep(time.Second)
			if nth%2 == 0 {
				r.Fail(int32(cql.CodeServer))
				return
			}
			r.Void()
		})
		q := s.Query(insert, "v").Idempotent(true)
		began := time.Now()
		require.NoError(t, q.Exec(t.Context()))
		require.Len(t, seen.queries, 2)
		for i, o := range seen.queries {
			require.Equal(t, i, o.Attempt)
			require.Equal(t, []string{insert}, o.Statements)
			require.Equal(t, [][]any{{"v"}}, o.Values)
			require.Equal(t, "ks", o.Keyspace)
			require.Equal(t, q.Statement(), o.Request.(*Query).Statement())
			require.Equal(t, began.Add(time.Duration(i)*time.Second), o.Start)
			require.Equal(t, time.Second, o.End.Sub(o.Start))
			require.Equal(t, HostMetrics{Attempts: 1, TotalLatency: time.Second}, o.Metrics)
			require.Equal(t, i == 0, errors.Is(o.Err, cql.CodeServer))
			require.Equal(t, goroutineID(), seen.goroutines[i])
		}
		require.NotSame(t, seen.queries[0].Host, seen.queries[1].Host)
		b := s.Batch(cql.LoggedBatch).Query(insert, "a").Query("DELETE FROM ks.t WHERE id = 1").Idempotent(true)
		require.NoError(t, b.Exec(t.Context()))
		require.Len(t, seen.batches, 2)
		require.ErrorIs(t, seen.batches[0].Err, cql.CodeServer)
		require.NoError(t, seen.batches[1].Err)
		require.Equal(t, []string{insert, "DELETE FROM ks.t WHERE id = 1"}, seen.batches[1].Statements)
		require.Equal(t, [][]any{{"a"}, nil}, seen.batches[1].Values)
		require.Equal(t, 1, seen.batches[1].Attempt)
		require.Same(t, b, seen.batches[1].Request)
		require.Len(t, seen.frames, 6, "PREPARE on both nodes, and two attempts of each request")
		for i, op := range []frame.Opcode{frame.OpResult, frame.OpResult, frame.OpError, frame.OpResult, frame.OpError, frame.OpResult} {
			require.Equal(t, byte(op), seen.frames[i].Opcode)
			require.EqualValues(t, frame.V5, seen.frames[i].Version)
			require.Positive(t, seen.frames[i].Length)
		}
		own := &attemptRecorder{}
		require.NoError(t, s.Query(insert, "v").Idempotent(true).Observer(own.observe).Exec(t.Context()))
		require.Len(t, own.queries, 2)
		require.NoError(t, s.Batch(cql.LoggedBatch).Query(insert, "a").Idempotent(true).Observer(own.observe).Exec(t.Context()))
		require.Len(t, own.batches, 2)
		require.NoError(t, s.Query(insert, "v").Idempotent(true).Observer(nil).Exec(t.Context()))
		require.Len(t, seen.queries, 2, "queries with another observer or none are not recorded")
	})
}

func TestObserverCountsAttemptsByNode(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		seen := &attemptRecorder{}
		c.Answer(func(r *fakecql.Request, nth int) {
			time.Sleep(time.Second)
			if nth < 2 {
				r.Fail(int32(cql.CodeServer))
				return
			}
			r.Void()
		})
		policy := retryFunc(func(Attempt) Decision { return Decision{Type: Retry} })
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Observer(seen.observe).RetryPolicy(policy).Exec(t.Context()))
		require.Len(t, seen.queries, 3)
		require.Equal(t, HostMetrics{Attempts: 3, TotalLatency: 3 * time.Second}, seen.queries[2].Metrics)
	})
}

func TestExchangeHook(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		seen := &attemptRecorder{}
		s := openHooked(t, cfg, seen.exchange)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		require.Equal(t, []string{"started", "finished", "started", "finished"}, seen.streams, "PREPARE and EXECUTE")
		c.Answer(func(*fakecql.Request, int) {})
		require.ErrorIs(t, s.Query(idempotentInsert).RequestTimeout(time.Second).Exec(t.Context()), conn.ErrTimeout)
		require.Equal(t, []string{"started", "abandoned"}, seen.streams[4:])
	})
}

// TestExchangeHookPanics requires that a hook that panics has no effect on its request.
func TestExchangeHookPanics(t *testing.T) {
	for name, hook := range map[string]hooks.Exchange{
		"at the start": func(context.Context, *cql.Host) func(hooks.Answer) { panic("oops") },
		"at the end":   func(context.Context, *cql.Host) func(hooks.Answer) { return func(hooks.Answer) { panic("oops") } },
		"no end":       func(context.Context, *cql.Host) func(hooks.Answer) { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				s := openHooked(t, configOf(c), hook)
				require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
			})
		})
	}
}

func TestConnectObserverSeesFailures(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		seen := &attemptRecorder{}
		cfg.Pool.ConnectObserver = seen.connected
		cfg.Hosts = []string{"127.0.0.9", c.Nodes[0].Addr()}
		s := openSession(t, cfg)
		require.Len(t, seen.connects, 3)
		require.ErrorContains(t, seen.connects[0].Err, "no route to host")
		require.Equal(t, "127.0.0.9:9042", seen.connects[0].Host.Address.String())
		require.EqualValues(t, 1, s.Stats().ConnectionsFailed)
		require.EqualValues(t, 2, s.Stats().ConnectionsOpened)
	})
}

func TestStats(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("name text")})
		s := openSession(t, cfg)
		synctest.Wait() // for the pools, which are filled
		st := s.Stats()
		require.Zero(t, st.Requests)
		require.Len(t, st.Nodes, 2)
		for i, n := range st.Nodes {
			require.Len(t, n.Conns, 1)
			require.Zero(t, n.Latency.Count())
			n.Conns, n.Latency = nil, stats.Histogram{}
			require.Equal(t, stats.Node{
				Address: s.GetHosts()[i].Address.String(), HostID: s.GetHosts()[i].ID.String(),
				DataCenter: s.GetHosts()[i].DataCenter, Rack: s.GetHosts()[i].Rack, Connections: 1,
			}, n)
		}
		for i := range 10 {
			require.NoError(t, s.Query(insert, fmt.Sprintf("%d", i)).Exec(t.Context()))
		}
		st = s.Stats()
		require.EqualValues(t, 10, st.Requests)
		require.EqualValues(t, 1, st.PreparedMisses)
		require.EqualValues(t, 9, st.PreparedHits)
		body := st.BytesOut / 11
		require.Greater(t, body, uint64(len(insert))/2)
		require.Greater(t, st.BytesIn, uint64(10*4))
		require.Empty(t, st.Errors)

		again := st.PreparedAgain // the other node may not have been asked before the first request
		forgotten := true
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute && forgotten {
				forgotten = false
				r.Unprepared(fakecql.StatementID(insert))
				return true
			}
			return false
		})
		require.NoError(t, s.Query(insert, "x").Exec(t.Context()))
		require.Equal(t, again+1, s.Stats().PreparedAgain)

		c.Answer(func(*fakecql.Request, int) {})
		go func() {
			_ = s.Query(insert, "x").Exec(t.Context())
		}()
		synctest.Wait()
		inFlight := 0
		for _, n := range s.Stats().Nodes {
			inFlight += n.InFlight
		}
		require.Equal(t, 1, inFlight)
		time.Sleep(cfg.Timeout + time.Second)
		st = s.Stats()
		require.EqualValues(t, 1, st.Timeouts())
		require.EqualValues(t, 1, st.Failed)
		require.Equal(t, 1, st.Nodes[0].Orphans+st.Nodes[1].Orphans)

		c.Answer(func(r *fakecql.Request, _ int) { r.HangUp() })
		require.Error(t, s.Query(insert, "x").Exec(t.Context()))
		time.Sleep(10 * time.Second)
		st = s.Stats()
		require.EqualValues(t, 1, st.Errors[stats.ClassConnection])
		require.EqualValues(t, 1, st.ConnectionsLost)
		require.EqualValues(t, 4, st.ConnectionsOpened, "the connection was replaced")

		c.Answer(func(r *fakecql.Request, _ int) {
			body, err := frame.AppendCustomPayload(nil, frame.V4, map[string][]byte{"tablets-routing-v1": {1, 2, 3}})
			require.NoError(t, err)
			body = wire.AppendInt(body, int32(frame.ResultVoid))
			out := make([]byte, wire.HeaderSize)
			wire.PutHeader(out, wire.Header{
				Version: frame.V5, Response: true, Flags: wire.FlagCustomPayload, Stream: r.Stream, Opcode: byte(frame.OpResult), Length: len(body),
			})
			out, err = wire.AppendSegments(nil, append(out, body...), nil)
			require.NoError(t, err)
			_, err = r.Conn.Conn.Write(out)
			require.NoError(t, err)
		})
		require.NoError(t, s.Query(insert, "x").Exec(t.Context()))
		require.Zero(t, s.Stats().TabletHints, "a request without a token stores no tablet")
	})
}
