// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file tests profiles, request timeouts, and the setters that queries and batches share.

func TestProfile(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		policy, speculation := SimpleRetryPolicy{NumRetries: 7}, &SimpleSpeculativeExecution{NumAttempts: 1}
		cfg.Profiles = map[string]Profile{
			"all": {
				Consistency: LocalOne, SerialConsistency: LocalSerial, RetryPolicy: policy, SpeculativeExecutionPolicy: speculation,
				RequestTimeout: time.Minute, PageSize: 17, Idempotent: true,
			},
			"nothing": {},
			"no more": {SpeculativeExecutionPolicy: NonSpeculativeExecution{}, PageSize: -1},
		}
		s := openSession(t, cfg)
		delete(cfg.Profiles, "nothing") // the session has a copy
		q := s.Query(idempotentInsert).Profile("all")
		require.Equal(t, LocalOne, q.GetConsistency())
		serial, ok := q.GetSerialConsistency()
		require.True(t, ok)
		require.Equal(t, LocalSerial, serial)
		require.Equal(t, policy, q.how.retry)
		require.Equal(t, SpeculativeExecutionPolicy(speculation), q.how.speculative)
		require.Equal(t, time.Minute, q.GetRequestTimeout())
		require.Equal(t, 17, q.pageSize)
		require.True(t, q.IsIdempotent())
		require.NoError(t, q.Exec())
		require.Equal(t, *q, *s.Query(idempotentInsert).Profile("all").Profile("nothing"), "zero fields leave what is there")
		q.Profile("no more").Consistency(All)
		require.Nil(t, q.how.speculative)
		require.Equal(t, -1, q.pageSize)
		require.Equal(t, All, q.GetConsistency(), "what is set afterwards counts")
		require.NoError(t, q.Exec())
		b := s.Batch(LoggedBatch).Profile("all").Query(idempotentInsert)
		require.Equal(t, LocalOne, b.GetConsistency())
		require.True(t, b.IsIdempotent())
		require.Equal(t, time.Minute, b.GetRequestTimeout())
		require.NoError(t, b.Exec())

		before, _ := c.count(idempotentInsert)
		err := s.Query(idempotentInsert).Profile("none such").Exec()
		require.ErrorIs(t, err, ErrNoProfile)
		require.ErrorContains(t, err, `"none such"`)
		require.False(t, MayHaveApplied(err))
		require.ErrorIs(t, s.Query(idempotentInsert).Profile("none such").Iter().Close(), ErrNoProfile)
		require.ErrorIs(t, s.Batch(LoggedBatch).Query(idempotentInsert).Profile("none such").Exec(), ErrNoProfile)
		after, _ := c.count(idempotentInsert)
		require.Equal(t, before, after)
		require.NoError(t, s.Query(idempotentInsert).Profile("none such").Profile("all").Exec(), "corrected")
		require.Equal(t, DefaultRetryPolicy{}, s.Query(idempotentInsert).how.retry, "the session's settings are as they were")

		type record struct{ ID int64 }
		const insert = "INSERT INTO ks.t (id) VALUES (?)"
		c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}})
		st, err := Prepare[record](context.Background(), s.Query(insert).Profile("none such"))
		require.NoError(t, err)
		require.ErrorIs(t, st.Exec(context.Background(), &record{1}), ErrNoProfile)
	})
}

func TestConfigOfPoliciesIsChecked(t *testing.T) {
	cfg := NewCluster("127.0.0.1")
	cfg.MaxRequestsPerConn = 40000
	cfg.Throttle = Throttle{MaxRequests: -1, MaxBytes: -1}
	cfg.Profiles = map[string]Profile{"a": {Consistency: 99}, "b": {SerialConsistency: One}, "c": {RequestTimeout: -1}, "d": {}}
	_, err := cfg.CreateSession()
	for _, want := range []string{"MaxRequestsPerConn", "Throttle.MaxRequests", "Throttle.MaxBytes", `Profiles["a"]: Consistency`, `Profiles["b"]: Serial`, `Profiles["c"]: RequestTimeout`} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), `Profiles["d"]`)
}

func TestRequestTimeout(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.Timeout = 20 * time.Second
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		c.answer(func(r *fakeRequest, _ int) {
			time.Sleep(time.Minute)
			r.void()
		})
		patient := retryFunc(func(a Attempt) Decision {
			if a.Number < 3 {
				return Decision{Type: Retry}
			}
			return Decision{}
		})
		for _, m := range []struct {
			name string
			run  func() error
			took time.Duration
			err  error
		}{
			{"the cluster's", func() error { return s.Query(idempotentInsert).Exec() }, 20 * time.Second, ErrTimeoutNoResponse},
			{"the query's", func() error { return s.Query(idempotentInsert).SetRequestTimeout(3 * time.Second).Exec() }, 3 * time.Second, ErrTimeoutNoResponse},
			{"the batch's", func() error {
				return s.Batch(LoggedBatch).Query(idempotentInsert).SetRequestTimeout(3 * time.Second).Exec()
			}, 3 * time.Second, ErrTimeoutNoResponse},
			{"below the context's deadline", func() error {
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				return s.Query(idempotentInsert).SetRequestTimeout(3 * time.Second).ExecContext(ctx)
			}, 3 * time.Second, ErrTimeoutNoResponse},
			{"of each attempt", func() error {
				return s.Query(idempotentInsert).Idempotent(true).RetryPolicy(patient).SetRequestTimeout(4 * time.Second).Exec()
			}, 12 * time.Second, ErrTimeoutNoResponse},
			{"the context's is for all attempts", func() error {
				ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
				defer cancel()
				return s.Query(idempotentInsert).Idempotent(true).RetryPolicy(patient).SetRequestTimeout(4 * time.Second).ExecContext(ctx)
			}, 6 * time.Second, context.DeadlineExceeded},
			{"0 and negative: the cluster's", func() error { return s.Query(idempotentInsert).SetRequestTimeout(-1).Exec() }, 20 * time.Second, ErrTimeoutNoResponse},
		} {
			began := time.Now()
			err := m.run()
			require.ErrorIs(t, err, m.err, m.name)
			require.InDelta(t, m.took.Seconds(), time.Since(began).Seconds(), 2*tickInterval.Seconds(), m.name)
			time.Sleep(2 * time.Minute) // the late answers
		}
		require.Zero(t, s.Stats().ConnectionsLost, "a timeout harms its request only")
	})
}

func TestBatchSettings(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		s := openSession(t, cfg)
		id := c.nodes[1].id.String()
		b := s.Batch(LoggedBatch).SetHostID(id)
		require.Equal(t, id, b.GetHostID())
		_, ok := b.GetSerialConsistency()
		require.False(t, ok)
		require.False(t, b.IsIdempotent(), "an empty one")
		b.Entries = []BatchEntry{{Stmt: "DELETE a", Idempotent: true}, {Stmt: "DELETE b"}}
		require.False(t, b.IsIdempotent())
		b.Entries[1].Idempotent = true
		require.True(t, b.IsIdempotent())
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("name", tText)}})
		var args []ColumnInfo
		b.Bind(insert, func(q *QueryInfo) ([]any, error) {
			args = q.Args
			return []any{"v"}, nil
		})
		var hosts []string
		c.answer(func(r *fakeRequest, _ int) {
			hosts = append(hosts, r.node.ip)
			require.Len(t, r.stmts, 3)
			r.void()
		})
		for range 4 {
			require.NoError(t, b.Exec())
		}
		require.Equal(t, []ColumnInfo{col("name", tText)}, args)
		require.Equal(t, []string{"127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.2"}, hosts)
	})
}
