// SPDX-License-Identifier: Apache-2.0

package hostpool_test

import (
	"errors"
	"testing"

	"github.com/hailocab/go-hostpool"
	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	policy "github.com/apache/cassandra-gocql-driver/v2/hostpool"
	"github.com/vecql/vecql/cqltest"
)

// A session takes its nodes from the pool, and the pool receives their failures.
func TestHostPoolHostPolicy(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	pool := &pool{HostPool: hostpool.New(nil)}
	cfg := gocql.NewCluster(cluster.Hosts()...)
	cfg.Dialer = cluster.Dialer()
	p := policy.HostPoolHostPolicy(pool)
	cfg.PoolConfig.HostSelectionPolicy = p
	s, err := cfg.CreateSession()
	require.NoError(t, err)
	defer s.Close()
	require.Len(t, pool.Hosts(), 3)
	seen := map[string]bool{}
	for range 6 {
		it := s.Query("SELECT key FROM system.local").Iter()
		require.NoError(t, it.Close())
		seen[it.Host().HostID()] = true
	}
	require.Len(t, seen, 3)
	require.Zero(t, pool.failed)
	require.Error(t, s.Query("SELECT nothing FROM system.local").Exec())
	require.Positive(t, pool.failed)

	h := s.GetHosts()[0]
	p.HostDown(h)
	require.Len(t, pool.Hosts(), 2)
	p.HostUp(h)
	p.SetHosts([]*gocql.HostInfo{h})
	require.Equal(t, []string{h.ConnectAddress().String()}, pool.Hosts())
	p.RemoveHost(h)
	require.Nil(t, p.Pick(nil)())
}

// pool counts the failures that Mark receives.
type pool struct {
	hostpool.HostPool

	failed int
}

func (p *pool) Get() hostpool.HostPoolResponse { return response{p.HostPool.Get(), p} }

type response struct {
	hostpool.HostPoolResponse

	pool *pool
}

func (r response) Mark(err error) {
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		r.pool.failed++
	}
	r.HostPoolResponse.Mark(err)
}
