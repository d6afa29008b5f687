// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// The defaults of a ClusterConfig.

func TestZeroConfigHasTheDefaults(t *testing.T) {
	hosts := []string{"127.0.0.1"}
	zero, err := ClusterConfig{Hosts: hosts}.withDefaults()
	require.NoError(t, err)
	filled, err := ClusterConfig{Hosts: hosts, Port: 9042}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, zero, filled)
	again, err := zero.withDefaults()
	require.NoError(t, err)
	require.Equal(t, zero, again, "defaults are valid values")

	require.Equal(t, 9042, zero.Port)
	require.Equal(t, "3.0.0", zero.Protocol.CQLVersion)
	require.Equal(t, 11*time.Second, zero.Timeout)
	require.Equal(t, 11*time.Second, zero.ConnectTimeout)
	require.Equal(t, 30*time.Second, zero.Pool.HeartbeatInterval)
	require.Equal(t, time.Minute, zero.Nodes.ReconnectInterval)
	require.Equal(t, time.Minute, zero.Schema.MaxWaitAgreement)
	require.Equal(t, 2, zero.Pool.NumConns)
	require.Equal(t, 1000, zero.Limits.MaxPreparedStmts)
	require.Equal(t, cql.Quorum, zero.Defaults.Consistency)
	require.Equal(t, 5000, zero.Defaults.PageSize)
	require.Equal(t, 0.25, zero.Defaults.Prefetch)
	require.Equal(t, 32768, zero.Pool.MaxRequestsPerConn)
	require.Equal(t, MetadataFull, zero.Schema.Metadata)
}

func TestZeroConfigOpensASession(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		s := openSession(t, &ClusterConfig{Hosts: cfg.Hosts, Pool: PoolConfig{Dialer: cfg.Pool.Dialer}, Logger: cfg.Logger})
		require.Equal(t, cql.Quorum, s.Query("INSERT").GetConsistency())
		require.Equal(t, cql.Any, s.Query("INSERT").Consistency(cql.Any).GetConsistency())
		require.False(t, s.Query("INSERT").serverTimestamps)
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	})
}
