// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/wire"
)

// MayHaveApplied where it depends on the request as well as on the error.

// unavailableFields returns the fields after the message of UNAVAILABLE: consistency, required, alive.
func unavailableFields(c cql.Consistency) []byte {
	return wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, uint16(c)), 2), 1)
}

// A server writes the partitions of a statement or batch one by one and checks the replicas of each only then
// (org.apache.cassandra.service.StorageProxy.mutate). It commits a conditional statement after agreement (commitPaxos).
func TestRefusedAfterPartsWereWritten(t *testing.T) {
	const insert = "INSERT INTO ks.t (id) VALUES (?)"
	const several = "DELETE FROM ks.t WHERE id IN (1, ?)"
	const transaction = "BEGIN TRANSACTION LET x = (SELECT v FROM ks.t WHERE id = ?); SELECT x.v; IF x.v = 1 THEN " +
		"UPDATE ks.t SET v = 2 WHERE id = 1; END IF COMMIT TRANSACTION"
	batch := func(typ cql.BatchType, n int) func(s *Session) error {
		return func(s *Session) error {
			b := s.Batch(typ)
			for i := range n {
				b.Query(insert, int64(i))
			}
			return b.Exec(context.Background())
		}
	}
	query := func(stmt string) func(s *Session) error {
		return func(s *Session) error { return s.Query(stmt, int64(1)).Exec(context.Background()) }
	}
	inBatch := func(typ cql.BatchType) func(s *Session) error {
		return func(s *Session) error { return s.Batch(typ).Query(several, int64(1)).Exec(context.Background()) }
	}
	unavailable := func(c cql.Consistency) func(r *fakecql.Request) {
		return func(r *fakecql.Request) { r.Fail(int32(cql.CodeUnavailable), unavailableFields(c)...) }
	}
	overloaded := func(r *fakecql.Request) { r.Fail(int32(cql.CodeOverloaded)) }
	readTimeout := func(r *fakecql.Request) {
		r.Fail(int32(cql.CodeReadTimeout), append(unavailableFields(cql.Serial), 0)...)
	}
	for name, m := range map[string]struct {
		run  func(s *Session) error
		fail func(r *fakecql.Request)
		may  bool
	}{
		"a statement, unavailable":                {query(insert), unavailable(cql.Quorum), false},
		"a statement, overloaded":                 {query(insert), overloaded, false},
		"a batch of one, unavailable":             {batch(cql.UnloggedBatch, 1), unavailable(cql.Quorum), false},
		"an unlogged batch, unavailable":          {batch(cql.UnloggedBatch, 2), unavailable(cql.Quorum), true},
		"counters, unavailable":                   {batch(cql.CounterBatch, 2), unavailable(cql.Quorum), true},
		"a logged batch, unavailable":             {batch(cql.LoggedBatch, 2), unavailable(cql.Quorum), false},
		"a logged batch, overloaded":              {batch(cql.LoggedBatch, 2), overloaded, true},
		"several partitions, unavailable":         {query(several), unavailable(cql.Quorum), true},
		"several partitions, overloaded":          {query(several), overloaded, true},
		"a batch of one for several, unavailable": {inBatch(cql.UnloggedBatch), unavailable(cql.Quorum), true},
		"a logged batch of one for several":       {inBatch(cql.LoggedBatch), unavailable(cql.Quorum), false},
		"conditional, unavailable for Paxos":      {query(insert + " IF NOT EXISTS"), unavailable(cql.Serial), false},
		"conditional, unavailable for the commit": {query(insert + " IF NOT EXISTS"), unavailable(cql.All), true},
		"conditional, timeout of its read":        {query(insert + " IF NOT EXISTS"), readTimeout, true},
		"conditional, overloaded":                 {query(insert + " IF NOT EXISTS"), overloaded, true},
		"a read, its timeout":                     {query("SELECT v FROM ks.t WHERE id = ?"), readTimeout, false},
		"a transaction, unavailable":              {query(transaction), unavailable(cql.Quorum), true},
		"a transaction, overloaded":               {query(transaction), overloaded, true},
		"a transaction, timeout of its read":      {query(transaction), readTimeout, true},
		"a batch, timeout of its read":            {batch(cql.LoggedBatch, 1), readTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				for _, stmt := range []string{insert, insert + " IF NOT EXISTS", several, transaction, "SELECT v FROM ks.t WHERE id = ?"} {
					c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
				}
				cfg.Defaults.RetryPolicy = SimpleRetryPolicy{NumRetries: 1}
				s := openSession(t, cfg)
				sent := 0
				c.Answer(func(r *fakecql.Request, _ int) {
					sent++
					m.fail(r)
				})
				err := m.run(s)
				require.Error(t, err)
				require.Equal(t, m.may, MayHaveApplied(err))
				want := 2
				if m.may {
					want = 1
				}
				require.Equal(t, want, sent, "a request that may have been executed is not retried")
			})
		})
	}
}

// Cassandra 6 answers a change of the schema as an invalid request if its commit to the log of the cluster's metadata
// fails or times out, although the log may have it.
func TestUnknownChangeOfSchemaMayHaveApplied(t *testing.T) {
	for message, may := range map[string]bool{
		"java.util.concurrent.ExecutionException: org.apache.cassandra.net.MessageDelivery$GivingUpException: Could not succeed sending " +
			"TCM_COMMIT_REQ to CandidateIterator{candidates=[/127.0.67.1:7000], checkLive=true}; policy Retry{remainingMs=0, attempts=2} " +
			"exhausted attempts": true,
		"Ran out of candidates while sending TCM_COMMIT_REQ: CandidateIterator{candidates=[], checkLive=true}": true,
		"Could not perform commit after 3 attempts. Time remaining: 0ms":                                       true,
		"Could not commit SCHEMA_CHANGE at epoch Epoch{epoch=9}":                                               true,
		"Timed out waiting for follower to run at least once. Pending is [] and current is now at epoch 9.":    true,
		"Table 'ks.t' already exists": false,
		"Keyspace 'ks' doesn't exist": false,
	} {
		bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
			cfg := configOf(c)
			cfg.Defaults.RetryPolicy = retryFunc(func(Attempt) Decision { return Decision{Type: RetryNextHost} })
			s := openSession(t, cfg)
			sent := 0
			c.On(func(r *fakecql.Request) bool {
				if r.Op != fakecql.OpQuery || !strings.Contains(string(r.Body), "CREATE TABLE") {
					return false
				}
				sent++
				r.Conn.Reply(r.Stream, fakecql.OpError, fakecql.AppendString(wire.AppendInt(nil, int32(cql.CodeInvalid)), message))
				return true
			})
			err := s.Query("CREATE TABLE ks.t (k int PRIMARY KEY)").Exec(context.Background())
			require.ErrorIs(t, err, cql.CodeInvalid)
			require.Equal(t, may, MayHaveApplied(err), message)
			require.Equal(t, may, sent == 1, "a change that may have been made is not sent again")
		})
	}
}

// An execution still in flight when the request ends may have been applied, independent of the other executions.
func TestSpeculativeExecutionInFlightMayHaveApplied(t *testing.T) {
	for name, fail := range map[string]func(r *fakecql.Request){
		"the other execution was refused":          func(r *fakecql.Request) { r.Fail(int32(cql.CodeUnavailable), unavailableFields(cql.Quorum)...) },
		"the other execution failed for all":       func(r *fakecql.Request) { r.Fail(int32(cql.CodeUnauthorized)) },
		"the other execution found no connections": func(r *fakecql.Request) { r.Fail(int32(cql.CodeBootstrapping)) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 100 * time.Millisecond}
				cfg.Defaults.RetryPolicy = SimpleRetryPolicy{}
				s := openSession(t, cfg)
				c.Answer(func(r *fakecql.Request, nth int) {
					if nth == 1 {
						time.Sleep(10 * time.Second)
						r.Void()
						return
					}
					time.Sleep(200 * time.Millisecond)
					fail(r)
				})
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				err := s.Query(idempotentInsert).Idempotent(true).Exec(ctx)
				require.Error(t, err)
				sent, _ := c.Count(idempotentInsert)
				require.Equal(t, 2, sent)
				require.True(t, MayHaveApplied(err))
				time.Sleep(20 * time.Second)
				synctest.Wait()
			})
		})
	}
}

// One execution may have been applied, the other was refused. Both have ended, in either order.
func TestSpeculativeExecutionsDisagreeMayHaveApplied(t *testing.T) {
	for _, last := range []int{0, 1} {
		bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
			s := sessionOn(c, func(cfg *ClusterConfig) {
				cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 100 * time.Millisecond}
				cfg.Defaults.RetryPolicy = SimpleRetryPolicy{}
			})
			c.Answer(func(r *fakecql.Request, nth int) {
				time.Sleep(200 * time.Millisecond)
				if nth == last {
					time.Sleep(time.Second)
					r.Fail(int32(cql.CodeUnavailable), unavailableFields(cql.Quorum)...)
					return
				}
				r.Fail(int32(cql.CodeWriteTimeout), writeTimeoutFields("SIMPLE")...)
			})
			err := s.Query(idempotentInsert).Idempotent(true).Exec(t.Context())
			var f *RequestFailure
			require.ErrorAs(t, err, &f)
			require.Equal(t, 2, f.Attempts)
			require.True(t, MayHaveApplied(err))
		})
	}
}

// The first attempt times out after it was written, the second one is refused: the first may have been applied.
func TestEarlierAttemptMayHaveApplied(t *testing.T) {
	const blocking = "INSERT INTO ks.t (id) VALUES (2)"
	for name, m := range map[string]struct {
		refuse func(r *fakecql.Request) // nil means that the second attempt finds no free stream
		want   error
	}{
		"by the server":        {func(r *fakecql.Request) { r.Fail(int32(cql.CodeUnauthorized)) }, cql.CodeUnauthorized},
		"before it is written": {nil, conn.ErrNoStreams},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
				s := sessionOn(c, func(cfg *ClusterConfig) {
					cfg.Defaults.RetryPolicy = SimpleRetryPolicy{NumRetries: 1}
					cfg.Pool.MaxRequestsPerConn = 1
				})
				for _, stmt := range []string{blocking, idempotentInsert} {
					_, err := s.prepare(t.Context(), s.defaultPolicies, "", stmt)
					require.NoError(t, err)
				}
				c.Answer(func(r *fakecql.Request, nth int) {
					switch {
					case m.refuse == nil && nth == 0:
						time.Sleep(10 * time.Second)
						r.Void()
					case m.refuse != nil && nth == 1:
						m.refuse(r)
					} // all others are not answered
				})
				if m.refuse == nil {
					go func() { _ = s.Query(blocking).Exec(t.Context()) }() // holds the only stream of one node
					synctest.Wait()
				}
				err := s.Query(idempotentInsert).Idempotent(true).RequestTimeout(time.Second).Exec(t.Context())
				require.ErrorIs(t, err, m.want)
				var f *RequestFailure
				require.ErrorAs(t, err, &f)
				require.Equal(t, 2, f.Attempts)
				require.True(t, MayHaveApplied(err))
			})
		})
	}
}
