// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Fault 36: sessions that open, fail to open and close at any moment.

// TestFault36OpenClose opens and closes sessions, in memory and on sockets, and requires that no resources are left.
func TestFault36OpenClose(t *testing.T) {
	for _, row := range []struct {
		name  string
		c     *fakecql.Cluster
		times int
	}{
		{"shards", newCluster(t, fakecql.V4, 1, fakecql.Sharded(2)), 1000},
		{"sockets", newSocketCluster(t, fakecql.V4, 2), 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i := range row.times {
				s, err := vecql.NewSession(t.Context(), *configOf(row.c))
				require.NoError(t, err)
				if i%2 == 0 {
					go s.Close()
				}
				s.Close() // often while the pools fill
			}
		})
	}
}

// TestFault36StartFails makes the start of a session fail at each stage.
func TestFault36StartFails(t *testing.T) {
	stages := map[string]func(r *fakecql.Request) bool{
		"REGISTER": func(r *fakecql.Request) bool { return r.Op == fakecql.OpRegister },
		"system.local": func(r *fakecql.Request) bool {
			return r.Stmt == "SELECT * FROM system.local WHERE key = 'local'"
		},
		"system.peers": func(r *fakecql.Request) bool { return r.Stmt == "SELECT * FROM system.peers_v2" },
		"keyspaces": func(r *fakecql.Request) bool {
			return r.Stmt == "SELECT keyspace_name, replication FROM system_schema.keyspaces"
		},
		"USE": func(r *fakecql.Request) bool { return r.Stmt == `USE "ks"` },
	}
	ends := map[string]func(r *fakecql.Request, cancel func()){
		"error":    func(r *fakecql.Request, _ func()) { r.Fail(int32(cql.CodeUnauthorized)) },
		"hang up":  func(r *fakecql.Request, _ func()) { r.HangUp() },
		"silence":  func(*fakecql.Request, func()) {},
		"canceled": func(_ *fakecql.Request, cancel func()) { cancel() },
	}
	for stage, is := range stages {
		for end, do := range ends {
			t.Run(stage+", "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := newCluster(t, fakecql.V4, 2, fakecql.Sharded(2))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					m.On(func(r *fakecql.Request) bool {
						if is(r) {
							do(r, cancel)
							return true
						}
						return false
					})
					cfg := configOf(m)
					cfg.Keyspace = "ks"
					began := time.Now()
					_, err := vecql.NewSession(ctx, *cfg)
					require.Error(t, err)
					require.LessOrEqual(t, time.Since(began), 30*time.Second)
				})
			})
		}
	}
}

// TestFault36CloseDuringFill closes sessions at random moments while their pools fill, including nodes that do not
// respond.
func TestFault36CloseDuringFill(t *testing.T) {
	for i := range 40 {
		synctest.Test(t, func(t *testing.T) {
			m := newCluster(t, fakecql.V4, 3, fakecql.Sharded(8))
			m.Nodes[0].Delay = 3 * time.Millisecond
			m.Nodes[1].Delay = 7 * time.Millisecond
			m.Nodes[2].Silent = i%2 == 0
			cfg := configOf(m)
			cfg.Pool.DisableShardAwarePort = i%3 == 0
			s, err := vecql.NewSession(t.Context(), *cfg)
			require.NoError(t, err)
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.NoError(t, s.Shutdown(ctx))
			require.Less(t, time.Since(began), time.Second)
		})
	}
}

// TestFault36CloseInFlight closes a session twice at once with a thousand requests in flight. Some are never
// answered.
func TestFault36CloseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 2, fakecql.Sharded(4))
		m.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute && r.Stmt == "SELECT slow" {
				time.AfterFunc(700*time.Millisecond, r.Void)
			}
			return r.Op == fakecql.OpExecute
		})
		cfg := configOf(m)
		s, err := vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		var ok, lost atomic.Int32
		for i := range 1000 {
			stmt := "SELECT slow"
			if i%10 == 0 {
				stmt = "SELECT never"
			}
			wg.Go(func() {
				switch err := s.Query(stmt).Exec(t.Context()); {
				case err == nil:
					ok.Add(1)
				case errors.Is(err, vecql.ErrConnectionClosed) || errors.Is(err, vecql.ErrTimeoutNoResponse):
					lost.Add(1)
				default:
					t.Errorf("%v", err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		for range 2 {
			wg.Go(s.Close)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
		wg.Wait()
		require.LessOrEqual(t, time.Since(began), cfg.Timeout+time.Second)
		require.EqualValues(t, 900, ok.Load(), "requests with a response in time succeed")
		require.EqualValues(t, 100, lost.Load())
		require.True(t, s.Closed())
		require.ErrorIs(t, s.Query("SELECT new").Exec(t.Context()), vecql.ErrSessionClosed)
		require.ErrorIs(t, s.Query("CREATE new").Exec(t.Context()), vecql.ErrSessionClosed)
		require.False(t, vecql.MayHaveApplied(s.Query("INSERT new").Exec(t.Context())))
	})
}
