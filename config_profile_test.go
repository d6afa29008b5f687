// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
)

// Profiles, request timeouts, and the settings that queries and batches share.

func TestProfile(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		policy, speculation := SimpleRetryPolicy{NumRetries: 7}, &SimpleSpeculativeExecution{NumAttempts: 1}
		cfg.Profiles = map[string]Profile{
			"all": {
				Consistency: cql.LocalOne, SerialConsistency: cql.LocalSerial, RetryPolicy: policy, SpeculativeExecutionPolicy: speculation,
				RequestTimeout: time.Minute, PageSize: 17, Idempotent: true,
			},
			"nothing": {},
			"no more": {SpeculativeExecutionPolicy: NonSpeculativeExecution{}, PageSize: -1},
		}
		s := openSession(t, cfg)
		delete(cfg.Profiles, "nothing") // the session copied the map
		q := s.Query(idempotentInsert).Profile("all")
		require.Equal(t, cql.LocalOne, q.GetConsistency())
		serial, ok := q.GetSerialConsistency()
		require.True(t, ok)
		require.Equal(t, cql.LocalSerial, serial)
		require.Equal(t, policy, q.policies.retry)
		require.Equal(t, SpeculativeExecutionPolicy(speculation), q.policies.speculative)
		require.Equal(t, time.Minute, q.GetRequestTimeout())
		require.Equal(t, 17, q.pageSize)
		require.True(t, q.GetIdempotent())
		require.NoError(t, q.Exec(t.Context()))
		require.Equal(t, *q, *s.Query(idempotentInsert).Profile("all").Profile("nothing"), "zero fields change nothing")
		q.Profile("no more").Consistency(cql.All)
		require.Nil(t, q.policies.speculative)
		require.Equal(t, -1, q.pageSize)
		require.Equal(t, cql.All, q.GetConsistency(), "later setters override the profile")
		require.NoError(t, q.Exec(t.Context()))
		b := s.Batch(cql.LoggedBatch).Profile("all").Query(idempotentInsert)
		require.Equal(t, cql.LocalOne, b.GetConsistency())
		require.True(t, b.GetIdempotent())
		require.Equal(t, time.Minute, b.GetRequestTimeout())
		require.NoError(t, b.Exec(t.Context()))

		before, _ := c.Count(idempotentInsert)
		err := s.Query(idempotentInsert).Profile("none such").Exec(t.Context())
		require.ErrorIs(t, err, ErrNoProfile)
		require.ErrorContains(t, err, `"none such"`)
		require.False(t, MayHaveApplied(err))
		require.ErrorIs(t, s.Query(idempotentInsert).Profile("none such").Iter(t.Context()).Close(), ErrNoProfile)
		require.ErrorIs(t, s.Batch(cql.LoggedBatch).Query(idempotentInsert).Profile("none such").Exec(t.Context()), ErrNoProfile)
		after, _ := c.Count(idempotentInsert)
		require.Equal(t, before, after)
		require.NoError(t, s.Query(idempotentInsert).Profile("none such").Profile("all").Exec(t.Context()), "corrected")
		require.Equal(t, DefaultRetryPolicy{}, s.Query(idempotentInsert).policies.retry, "the session's settings are unchanged")

		type record struct{ ID int64 }
		const insert = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("id bigint")})
		st, err := Prepare[record](context.Background(), s.Query(insert).Profile("none such"))
		require.NoError(t, err)
		require.ErrorIs(t, st.Exec(context.Background(), &record{1}), ErrNoProfile)
	})
}

// TestSettingsOfRequestsAreOneVocabulary requires that a profile has the same effect as ClusterConfig.Defaults, as one
// of Profiles, and by the setters of a query.
func TestSettingsOfRequestsAreOneVocabulary(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		full := Profile{
			Consistency: cql.LocalOne, SerialConsistency: cql.LocalSerial, RequestTimeout: time.Minute, TotalTimeout: time.Hour, PageSize: 17, Prefetch: 0.5,
			Idempotent: true, DisableSelectIdempotence: true, ServerTimestamps: true, RetryPolicy: SimpleRetryPolicy{NumRetries: 7},
			SpeculativeExecutionPolicy: &SimpleSpeculativeExecution{NumAttempts: 1}, Observer: func(context.Context, ObservedAttempt) {},
		}
		v := reflect.ValueOf(full)
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), v.Type().Field(i).Name)
		}
		named, defaults := configOf(c), configOf(c)
		named.Profiles, defaults.Defaults = map[string]Profile{"full": full}, full
		s := openSession(t, named)
		state := func(q *Query) Query {
			require.NotNil(t, q.policies.observer)
			p := *q.policies
			p.observer, q.policies, q.session = nil, &p, nil // functions are never equal
			return *q
		}
		want := state(s.Query(idempotentInsert).Profile("full"))
		require.Equal(t, want, state(openSession(t, defaults).Query(idempotentInsert)))
		require.Equal(t, want, state(s.Query(idempotentInsert).Idempotent(true).selects(false).
			Consistency(full.Consistency).SerialConsistency(full.SerialConsistency).RequestTimeout(full.RequestTimeout).TotalTimeout(full.TotalTimeout).
			PageSize(full.PageSize).Prefetch(full.Prefetch).ServerTimestamps(true).RetryPolicy(full.RetryPolicy).
			SpeculativeExecutionPolicy(full.SpeculativeExecutionPolicy).Observer(full.Observer)))
	})
}

// selects sets whether a SELECT is idempotent without a mark, for which no setter exists.
func (q *Query) selects(v bool) *Query { q.selectsIdempotent = v; return q }

func TestConfigOfPoliciesIsChecked(t *testing.T) {
	cfg := &ClusterConfig{Hosts: []string{"127.0.0.1"}}
	cfg.Pool.MaxRequestsPerConn = 40000
	cfg.Limits.Throttle = Throttle{MaxRequests: -1}
	cfg.Limits.MemoryBudget = -1
	cfg.Profiles = map[string]Profile{"a": {Consistency: 99}, "b": {SerialConsistency: cql.One}, "c": {RequestTimeout: -1}, "d": {}, "e": {TotalTimeout: -1}}
	_, err := NewSession(t.Context(), *cfg)
	for _, want := range []string{"MaxRequestsPerConn", "Throttle.MaxRequests", "MemoryBudget", `Profiles["a"]: Consistency`, `Profiles["b"]: Serial`, `Profiles["c"]: RequestTimeout`, `Profiles["e"]: TotalTimeout`} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), `Profiles["d"]`)
}

func TestRequestTimeout(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Timeout = 20 * time.Second
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(time.Minute)
			r.Void()
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
			{"the cluster's", func() error { return s.Query(idempotentInsert).Exec(t.Context()) }, 20 * time.Second, conn.ErrTimeout},
			{"the query's", func() error { return s.Query(idempotentInsert).RequestTimeout(3 * time.Second).Exec(t.Context()) }, 3 * time.Second, conn.ErrTimeout},
			{"the batch's", func() error {
				return s.Batch(cql.LoggedBatch).Query(idempotentInsert).RequestTimeout(3 * time.Second).Exec(t.Context())
			}, 3 * time.Second, conn.ErrTimeout},
			{"below the context's deadline", func() error {
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				return s.Query(idempotentInsert).RequestTimeout(3 * time.Second).Exec(ctx)
			}, 3 * time.Second, conn.ErrTimeout},
			{"of each attempt", func() error {
				return s.Query(idempotentInsert).Idempotent(true).RetryPolicy(patient).RequestTimeout(4 * time.Second).Exec(t.Context())
			}, 12 * time.Second, conn.ErrTimeout},
			{"the context's is for all attempts", func() error {
				ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
				defer cancel()
				return s.Query(idempotentInsert).Idempotent(true).RetryPolicy(patient).RequestTimeout(4 * time.Second).Exec(ctx)
			}, 6 * time.Second, context.DeadlineExceeded},
			{"the total of all attempts", func() error {
				return s.Query(idempotentInsert).Idempotent(true).RetryPolicy(patient).RequestTimeout(4 * time.Second).TotalTimeout(9 * time.Second).Exec(t.Context())
			}, 9 * time.Second, context.DeadlineExceeded},
			{"the total beyond the cluster's", func() error {
				return s.Query(idempotentInsert).TotalTimeout(time.Minute).Exec(t.Context())
			}, 20 * time.Second, conn.ErrTimeout},
			{"the total of a batch", func() error {
				return s.Batch(cql.LoggedBatch).Query(idempotentInsert).Idempotent(true).RetryPolicy(patient).TotalTimeout(30 * time.Second).Exec(t.Context())
			}, 30 * time.Second, context.DeadlineExceeded},
			{"the context's below the total", func() error {
				ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
				defer cancel()
				return s.Query(idempotentInsert).TotalTimeout(9 * time.Second).Exec(ctx)
			}, 6 * time.Second, context.DeadlineExceeded},
			{"0 and negative: the cluster's", func() error { return s.Query(idempotentInsert).RequestTimeout(-1).Exec(t.Context()) }, 20 * time.Second, conn.ErrTimeout},
		} {
			began := time.Now()
			err := m.run()
			require.ErrorIs(t, err, m.err, m.name)
			require.InDelta(t, m.took.Seconds(), time.Since(began).Seconds(), 2*conn.TickInterval.Seconds(), m.name)
			time.Sleep(2 * time.Minute) // until the late responses have arrived
		}
		require.Zero(t, s.Stats().ConnectionsLost, "a timeout fails its request only")
	})
}

func TestBatchSettings(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, cfg)
		id := cql.UUID(c.Nodes[1].ID)
		b := s.Batch(cql.LoggedBatch).HostID(id)
		require.Equal(t, id, b.GetHostID())
		_, ok := b.GetSerialConsistency()
		require.False(t, ok)
		require.False(t, b.GetIdempotent(), "an empty batch")
		b.Entries = []BatchEntry{{Stmt: "DELETE a", Idempotent: true}, {Stmt: "DELETE b"}}
		require.False(t, b.GetIdempotent())
		b.Entries[1].Idempotent = true
		require.True(t, b.GetIdempotent())
		const insert = "INSERT INTO ks.t (name) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("name text")})
		var args []cql.ColumnInfo
		b.Bind(insert, func(m StatementMetadata) ([]any, error) {
			args = m.BindMarkers
			return []any{"v"}, nil
		})
		var hosts []string
		c.Answer(func(r *fakecql.Request, _ int) {
			hosts = append(hosts, r.Node.IP)
			require.Len(t, r.Stmts, 3)
			r.Void()
		})
		for range 4 {
			require.NoError(t, b.Exec(t.Context()))
		}
		require.Equal(t, []cql.ColumnInfo{col("name", tText)}, args)
		require.Equal(t, []string{"127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.2"}, hosts)
	})
}
