// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests what a program sees of its requests: observers, counters, and a log that does not repeat itself.

func TestObservers(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		seen := &attemptRecorder{}
		cfg.QueryObserver, cfg.BatchObserver, cfg.ConnectObserver, cfg.FrameHeaderObserver = seen, seen, seen, seen
		cfg.RetryPolicy = SimpleRetryPolicy{NumRetries: 1}
		cfg.Keyspace = "ks"
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("name", tText)}})
		s := openSession(t, cfg)
		require.Len(t, seen.connects, 3, "two nodes and the control connection")
		for _, o := range seen.connects {
			require.NoError(t, o.Err)
			require.NotEmpty(t, o.Host.ConnectAddress())
			require.False(t, o.End.Before(o.Start))
		}
		c.answer(func(r *fakeRequest, nth int) {
			time.Sleep(time.Second)
			if nth%2 == 0 {
				r.fail(CodeServer)
				return
			}
			r.void()
		})
		q := s.Query(insert, "v").Idempotent(true)
		began := time.Now()
		require.NoError(t, q.Exec())
		require.Len(t, seen.queries, 2)
		for i, o := range seen.queries {
			require.Equal(t, i, o.Attempt)
			require.Equal(t, insert, o.Statement)
			require.Equal(t, []any{"v"}, o.Values)
			require.Equal(t, "ks", o.Keyspace)
			require.Equal(t, q.Statement(), o.Query.Statement())
			require.Equal(t, began.Add(time.Duration(i)*time.Second), o.Start)
			require.Equal(t, time.Second, o.End.Sub(o.Start))
			require.Equal(t, HostMetrics{Attempts: 1, TotalLatency: 1e9}, o.Metrics)
			require.Equal(t, i == 0, errors.Is(o.Err, CodeServer))
			require.Equal(t, goroutineID(), seen.goroutines[i])
		}
		require.NotSame(t, seen.queries[0].Host, seen.queries[1].Host)
		b := s.Batch(LoggedBatch).Query(insert, "a").Query("DELETE FROM ks.t WHERE id = 1").Idempotent(true)
		require.NoError(t, b.Exec())
		require.Len(t, seen.batches, 2)
		require.ErrorIs(t, seen.batches[0].Err, CodeServer)
		require.NoError(t, seen.batches[1].Err)
		require.Equal(t, []string{insert, "DELETE FROM ks.t WHERE id = 1"}, seen.batches[1].Statements)
		require.Equal(t, [][]any{{"a"}, nil}, seen.batches[1].Values)
		require.Equal(t, 1, seen.batches[1].Attempt)
		require.Same(t, b, seen.batches[1].Batch)
		require.Len(t, seen.frames, 5, "PREPARE and two attempts of each request")
		for i, op := range []opcode{opResult, opError, opResult, opError, opResult} {
			require.Equal(t, byte(op), seen.frames[i].Opcode)
			require.EqualValues(t, protoV5, seen.frames[i].Version)
			require.Positive(t, seen.frames[i].Length)
			require.NotNil(t, seen.frames[i].Host)
		}
		own := &attemptRecorder{}
		require.NoError(t, s.Query(insert, "v").Idempotent(true).Observer(own).Exec())
		require.Len(t, own.queries, 2)
		require.NoError(t, s.Batch(LoggedBatch).Query(insert, "a").Idempotent(true).Observer(own).Exec())
		require.Len(t, own.batches, 2)
		require.NoError(t, s.Query(insert, "v").Idempotent(true).Observer(nil).Exec())
		require.Len(t, seen.queries, 2, "another observer, or none, in its place")
	})
}

func TestObserverCountsAttemptsByNode(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		seen := &attemptRecorder{}
		c.answer(func(r *fakeRequest, nth int) {
			time.Sleep(time.Second)
			if nth < 2 {
				r.fail(CodeServer)
				return
			}
			r.void()
		})
		policy := retryFunc(func(Attempt) Decision { return Decision{Type: Retry} })
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).Observer(seen).RetryPolicy(policy).Exec())
		require.Len(t, seen.queries, 3)
		require.Equal(t, HostMetrics{Attempts: 3, TotalLatency: 3e9}, seen.queries[2].Metrics)
	})
}

func TestStreamObserver(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		seen := &attemptRecorder{}
		cfg.StreamObserver = seen
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		require.Equal(t, []string{"started", "finished", "started", "finished"}, seen.streams, "PREPARE and EXECUTE")
		c.answer(func(*fakeRequest, int) {})
		require.ErrorIs(t, s.Query(idempotentInsert).SetRequestTimeout(time.Second).Exec(), ErrTimeoutNoResponse)
		require.Equal(t, []string{"started", "abandoned"}, seen.streams[4:])
	})
}

func TestConnectObserverSeesFailures(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		seen := &attemptRecorder{}
		cfg.ConnectObserver = seen
		cfg.Hosts = []string{"127.0.0.9", c.nodes[0].addr()}
		s := openSession(t, cfg)
		require.Len(t, seen.connects, 3)
		require.ErrorContains(t, seen.connects[0].Err, "no route to host")
		require.Equal(t, "127.0.0.9:9042", seen.connects[0].Host.ConnectAddressAndPort())
		require.EqualValues(t, 1, s.Stats().ConnectionsFailed)
		require.EqualValues(t, 2, s.Stats().ConnectionsOpened)
	})
}

func TestStats(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("name", tText)}})
		s := openSession(t, cfg)
		st := s.Stats()
		require.Zero(t, st.Requests)
		require.Len(t, st.Nodes, 2)
		for i, n := range st.Nodes {
			require.Equal(t, NodeStats{Host: s.GetHosts()[i], Connections: 1}, n)
		}
		for i := range 10 {
			require.NoError(t, s.Query(insert, fmt.Sprintf("%d", i)).Exec())
		}
		st = s.Stats()
		require.EqualValues(t, 10, st.Requests)
		require.EqualValues(t, 1, st.PreparedMisses)
		require.EqualValues(t, 9, st.PreparedHits)
		body := st.BytesOut / 11
		require.Greater(t, body, uint64(len(insert))/2)
		require.Greater(t, st.BytesIn, uint64(10*4))
		require.Empty(t, st.Errors)

		forgotten := true
		c.on(func(r *fakeRequest) bool {
			if r.op == opExecute && forgotten {
				forgotten = false
				r.unprepared(statementID(insert))
				return true
			}
			return false
		})
		require.NoError(t, s.Query(insert, "x").Exec())
		require.EqualValues(t, 1, s.Stats().PreparedAgain)

		c.answer(func(*fakeRequest, int) {})
		go func() {
			_ = s.Query(insert, "x").Exec()
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

		c.answer(func(r *fakeRequest, _ int) { r.hangUp() })
		require.Error(t, s.Query(insert, "x").Exec())
		time.Sleep(10 * time.Second)
		st = s.Stats()
		require.EqualValues(t, 1, st.Errors[ClassConnection])
		require.EqualValues(t, 1, st.ConnectionsLost)
		require.EqualValues(t, 4, st.ConnectionsOpened, "it came back")

		c.answer(func(r *fakeRequest, _ int) {
			body, err := appendCustomPayload(nil, map[string][]byte{"tablets-routing-v1": {1, 2, 3}})
			require.NoError(t, err)
			body = wire.AppendInt(body, int32(resultVoid))
			frame := make([]byte, wire.HeaderSize)
			wire.PutHeader(frame, wire.Header{
				Version: protoV5, Response: true, Flags: wire.FlagCustomPayload, Stream: r.stream, Opcode: byte(opResult), Length: len(body),
			})
			out, err := wire.AppendSegments(nil, append(frame, body...), nil)
			require.NoError(t, err)
			_, err = r.peer.conn.Write(out)
			require.NoError(t, err)
		})
		require.NoError(t, s.Query(insert, "x").Exec())
		require.Zero(t, s.Stats().TabletHints, "who does not know his partition learns nothing")
	})
}

func TestLogIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []slog.Record
		log := limitedLogger(slog.New(recordingHandler{records: &records}))
		a, b := log.With("node", "a"), log.With("node", "b")
		for i := range 100 {
			a.Info("lost", "err", fmt.Sprint("port ", i))
			b.Info("lost")
			log.Info("lost", "node", "c")
			a.Warn("lost")
			a.Info("found")
		}
		require.Len(t, records, 5, "by level, message and node; errors differ each time")
		time.Sleep(logInterval)
		records = nil
		a.Info("lost")
		a.Info("lost")
		require.Len(t, records, 1)
		repeated := ""
		records[0].Attrs(func(a slog.Attr) bool {
			repeated += a.String() + " "
			return true
		})
		require.Equal(t, "node=a repeated=99 ", repeated)
		time.Sleep(logInterval)
		records = nil
		a.WithGroup("g").Info("lost")
		require.Equal(t, 1, len(records))
		for i := range 3 * logKinds {
			log.Info("state", "node", i)
		}
		h := log.Handler().(*limitHandler)
		require.LessOrEqual(t, len(h.seen.last), logKinds, "memory is bounded")
		require.Len(t, records, 1+3*logKinds)
	})
}
