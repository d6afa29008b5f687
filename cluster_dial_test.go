// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/version"
)

// Options and ports of connections.

func TestSessionStartupOptions(t *testing.T) {
	m := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(2))
	var seen []map[string]string
	m.On(func(r *fakecql.Request) bool {
		m.Mu.Lock()
		defer m.Mu.Unlock()
		seen = append(seen, r.Conn.Startup)
		return false
	})
	s := sessionOn(m, func(cfg *ClusterConfig) {
		cfg.Protocol.ApplicationInfo = ApplicationInfo{ApplicationName: "loader", ClientID: "7"}
	})
	require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for _, options := range seen {
		require.Equal(t, "vecql", options["DRIVER_NAME"])
		require.Equal(t, version.Version, options["DRIVER_VERSION"])
		require.Equal(t, "loader", options["APPLICATION_NAME"])
		require.Equal(t, "7", options["CLIENT_ID"])
		require.NotContains(t, options, "APPLICATION_VERSION")
		require.Equal(t, s.id.String(), options["SESSION_ID"])
		require.Contains(t, options, conn.KeyTabletsV1)
	}
}

func TestSessionShardPort(t *testing.T) {
	f := conn.Features{Shards: 8, ShardAwarePort: 19042, ShardAwarePortSSL: 19142}
	for _, m := range []struct {
		name   string
		change func(cfg *ClusterConfig)
		want   uint16
		sock   net.Conn
	}{
		{"plain", func(*ClusterConfig) {}, 19042, nil},
		{"TLS", func(cfg *ClusterConfig) { cfg.TLS = &tls.Config{} }, 19142, &tls.Conn{}},
		{"not wanted", func(cfg *ClusterConfig) { cfg.Pool.DisableShardAwarePort = true }, 0, nil},
		{"custom dialer", func(cfg *ClusterConfig) { cfg.Pool.Dialer = dialerFunc(nil) }, 0, nil},
		{"dialer with a port", func(cfg *ClusterConfig) { cfg.Pool.Dialer = &net.Dialer{LocalAddr: &net.TCPAddr{Port: 9}} }, 0, nil},
		{"dialer that chooses ports", func(cfg *ClusterConfig) { cfg.Pool.Dialer = &fakecql.Cluster{} }, 19042, nil},
		{"host dialer", func(cfg *ClusterConfig) { cfg.Pool.HostDialer = &hostDials{} }, 0, nil},
		{"host dialer that chooses ports", func(cfg *ClusterConfig) { cfg.Pool.HostDialer = &hostPortDials{} }, 19042, nil},
		{"host dialer with TLS", func(cfg *ClusterConfig) { cfg.Pool.HostDialer = &hostPortDials{} }, 19142, &tls.Conn{}},
	} {
		t.Run(m.name, func(t *testing.T) {
			cfg := &ClusterConfig{Hosts: []string{"10.0.0.1"}}
			m.change(cfg)
			full, err := cfg.withDefaults()
			require.NoError(t, err)
			s := bareSession()
			s.cfg = full
			require.Equal(t, m.want, s.shardPort(&conn.Conn{Features: f, Sock: m.sock}))
		})
	}
	for _, ports := range [][2]uint16{{0, 5}, {6, 5}} {
		cfg := &ClusterConfig{Hosts: []string{"10.0.0.1"}}
		cfg.Pool.ShardAwareLocalPorts = ports
		_, err := cfg.withDefaults()
		require.ErrorContains(t, err, "ShardAwareLocalPorts")
	}
}
