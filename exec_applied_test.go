// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests what errors say about whether a request may have been executed where that is not the error's own business alone.

// unavailableFields are what follows the message of UNAVAILABLE: consistency, required, alive.
func unavailableFields(c Consistency) []byte {
	return wire.AppendInt(wire.AppendInt(wire.AppendShort(nil, uint16(c)), 2), 1)
}

// A server writes the statements of a batch one after the other, and finds out about each when it is its turn
// (org.apache.cassandra.service.StorageProxy.mutate); a conditional statement is committed after it was agreed on (commitPaxos).
func TestRefusedAfterPartsWereWritten(t *testing.T) {
	const insert = "INSERT INTO ks.t (id) VALUES (?)"
	batch := func(typ BatchType, n int) func(s *Session) error {
		return func(s *Session) error {
			b := s.Batch(typ)
			for i := range n {
				b.Query(insert, int64(i))
			}
			return b.Exec()
		}
	}
	query := func(stmt string) func(s *Session) error {
		return func(s *Session) error { return s.Query(stmt, int64(1)).Exec() }
	}
	unavailable := func(c Consistency) func(r *fakeRequest) {
		return func(r *fakeRequest) { r.fail(CodeUnavailable, unavailableFields(c)...) }
	}
	overloaded := func(r *fakeRequest) { r.fail(CodeOverloaded) }
	for name, m := range map[string]struct {
		run  func(s *Session) error
		fail func(r *fakeRequest)
		may  bool
	}{
		"a statement, unavailable":              {query(insert), unavailable(Quorum), false},
		"a statement, overloaded":               {query(insert), overloaded, false},
		"a batch of one, unavailable":           {batch(UnloggedBatch, 1), unavailable(Quorum), false},
		"an unlogged batch, unavailable":        {batch(UnloggedBatch, 2), unavailable(Quorum), true},
		"counters, unavailable":                 {batch(CounterBatch, 2), unavailable(Quorum), true},
		"a logged batch, unavailable":           {batch(LoggedBatch, 2), unavailable(Quorum), false},
		"a logged batch, overloaded":            {batch(LoggedBatch, 2), overloaded, true},
		"conditional, unavailable for Paxos":    {query(insert + " IF NOT EXISTS"), unavailable(Serial), false},
		"conditional, unavailable for the rest": {query(insert + " IF NOT EXISTS"), unavailable(All), true},
		"conditional, overloaded":               {query(insert + " IF NOT EXISTS"), overloaded, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakeCluster) {
				cfg := c.config()
				for _, stmt := range []string{insert, insert + " IF NOT EXISTS"} {
					c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}, pk: []int{0}})
				}
				cfg.RetryPolicy = SimpleRetryPolicy{NumRetries: 1}
				s := openSession(t, cfg)
				sent := 0
				c.answer(func(r *fakeRequest, _ int) {
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
				require.Equal(t, want, sent, "what may have been executed is not sent again")
			})
		})
	}
}

// An execution that is still under way when the request ends may have been executed, whatever the others met with.
func TestSpeculativeExecutionUnderWayMayHaveApplied(t *testing.T) {
	for name, fail := range map[string]func(r *fakeRequest){
		"the other was refused":          func(r *fakeRequest) { r.fail(CodeUnavailable, unavailableFields(Quorum)...) },
		"the other ended it for all":     func(r *fakeRequest) { r.fail(CodeUnauthorized) },
		"the other found no connections": func(r *fakeRequest) { r.fail(CodeBootstrapping) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakeCluster) {
				cfg := c.config()
				cfg.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 100 * time.Millisecond}
				cfg.RetryPolicy = SimpleRetryPolicy{}
				s := openSession(t, cfg)
				c.answer(func(r *fakeRequest, nth int) {
					if nth == 1 {
						time.Sleep(10 * time.Second)
						r.void()
						return
					}
					time.Sleep(200 * time.Millisecond)
					fail(r)
				})
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				err := s.Query(idempotentInsert).Idempotent(true).ExecContext(ctx)
				require.Error(t, err)
				sent, _ := c.count(idempotentInsert)
				require.Equal(t, 2, sent)
				require.True(t, MayHaveApplied(err))
				time.Sleep(20 * time.Second)
				synctest.Wait()
			})
		})
	}
}
