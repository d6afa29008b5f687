// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/token"
)

// Query.Route and Batch.Route.

func TestRoute(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		const one, two, none = "SELECT v FROM ks.t WHERE k = ?", "UPDATE ks.t SET v = ? WHERE l = ? AND k = ? IF v = 1", "DROP TABLE t"
		c.Prepare(one, fakecql.Prepared{Bind: fakecql.Columns("k int"), PK: []int{0}})
		c.Prepare(two, fakecql.Prepared{Bind: fakecql.Columns("v int", "l text", "k int"), PK: []int{2, 1}})
		c.On(func(r *fakecql.Request) bool {
			bad := r.Op == fakecql.OpPrepare && r.Stmt == "SELECT bad"
			if bad {
				r.Fail(int32(cql.CodeSyntax))
			}
			return bad
		})
		// replicas do not depend on the policy
		for _, policy := range []HostSelectionPolicy{nil, RoundRobinPolicy{}, pickAll{}} {
			observed := 0
			s := sessionOn(c, func(cfg *ClusterConfig) {
				cfg.HostSelectionPolicy = policy
				cfg.Defaults.Observer = func(context.Context, ObservedAttempt) { observed++ }
			})
			got, err := s.Query(one, 7).Route(t.Context())
			require.NoError(t, err)
			key := []byte{0, 0, 0, 7}
			require.NotEmpty(t, got.Replicas)
			want := RouteInfo{
				Keyspace: "ks", Table: "t", Token: token.Murmur3(key), HasToken: true, RoutingKey: key, Idempotent: true,
				Statement: one, Replicas: got.Replicas,
			}
			require.Equal(t, want, got)
			got.RoutingKey[0] = 9 // the caller owns it

			key = []byte{0, 4, 0, 0, 0, 3, 0, 0, 1, 'x', 0}
			want = RouteInfo{
				Keyspace: "ks", Table: "t", Token: token.Murmur3(key), HasToken: true, RoutingKey: key, LWT: true, Statement: two,
			}
			got, err = s.Query(two, 1, "x", 3).Route(t.Context())
			require.NoError(t, err)
			want.Replicas = got.Replicas
			require.Equal(t, want, got)
			got, err = s.Batch(cql.LoggedBatch).Query(none).Query(two, 1, "x", 3).Query(one, 7).Route(t.Context())
			require.NoError(t, err)
			want.Statement = none
			require.Equal(t, want, got)

			got, err = s.Query(two, 1, nil, 3).Route(t.Context())
			require.NoError(t, err)
			require.Equal(t, RouteInfo{Keyspace: "ks", Table: "t", LWT: true, Statement: two}, got, "no key without a part of it")
			got, err = s.Query(none).RoutingKey([]byte("own")).Route(t.Context())
			require.NoError(t, err)
			require.Equal(t, []any{"own", token.Murmur3([]byte("own"))}, []any{string(got.RoutingKey), got.Token})
			got, err = s.Query(one, 7).RoutingKey([]byte("own")).Route(t.Context())
			require.NoError(t, err)
			require.Equal(t, []any{"own", token.Murmur3([]byte("own"))}, []any{string(got.RoutingKey), got.Token})
			got, err = s.Batch(cql.LoggedBatch).Route(t.Context())
			require.NoError(t, err)
			require.Equal(t, RouteInfo{}, got)

			for keyspace, q := range map[string]*Query{
				"mine": s.Query("UPDATE x SET v = 1").Keyspace("mine"), "": s.Query("UPDATE x SET v = 1"),
			} {
				got, err = q.RoutingKey([]byte("own")).Route(t.Context())
				require.NoError(t, err)
				require.Equal(t, []any{keyspace, "", true}, []any{got.Keyspace, got.Table, got.HasToken}, "the statement has no table")
			}

			_, err = s.Query(one).Route(t.Context())
			require.ErrorIs(t, err, ErrValueCount)
			_, err = s.Query(one, "text").Route(t.Context())
			var bad *cql.MarshalError
			require.ErrorAs(t, err, &bad)
			_, err = s.Batch(cql.LoggedBatch).Query(one, "text").Route(t.Context())
			require.ErrorAs(t, err, &bad)
			_, err = s.Query(one, 1).Profile("none").Route(t.Context())
			require.ErrorIs(t, err, ErrNoProfile)
			_, err = s.Query("SELECT bad").Route(t.Context())
			require.ErrorIs(t, err, cql.CodeSyntax)
			_, err = s.Batch(cql.LoggedBatch).Query("SELECT bad", 1).Route(t.Context())
			require.ErrorIs(t, err, cql.CodeSyntax)
			s.Close()
			_, err = s.Query("SELECT another").Route(t.Context())
			require.ErrorIs(t, err, ErrSessionClosed)
			require.Zero(t, observed)
		}
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Keyspace = "own" })
		for keyspace, q := range map[string]*Query{
			"own": s.Query("UPDATE x SET v = 1"), "other": s.Query("UPDATE x SET v = 1").Keyspace("other"), "ks": s.Query(one, 7),
		} {
			got, err := q.RoutingKey([]byte("own")).Route(t.Context())
			require.NoError(t, err)
			require.Equal(t, keyspace, got.Keyspace, "of the table, else of the query, else of the session")
		}
		for _, stmt := range []string{one, two} {
			sent, _ := c.Count(stmt)
			require.Zero(t, sent, "only prepared")
		}
	})
}
