// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

// TestDriver runs the driver against clusters of all kinds.
func TestDriver(t *testing.T) {
	server, client := tlsConfigs(t)
	for name, m := range map[string]struct {
		cluster Config
		change  func(cfg *vecql.ClusterConfig)
	}{
		"v5":        {Config{}, nil},
		"v4":        {Config{Protocol: 4}, nil},
		"v3":        {Config{Protocol: 3}, nil},
		"v5 lz4":    {Config{}, func(cfg *vecql.ClusterConfig) { cfg.Compressor = vecql.LZ4Compressor{} }},
		"v4 snappy": {Config{}, func(cfg *vecql.ClusterConfig) { cfg.Compressor, cfg.Protocol.Version = vecql.SnappyCompressor{}, 4 }},
		"memory":    {Config{Network: InMemory}, nil},
		"scylla":    {Config{Scylla: &Scylla{Shards: 3, Tablets: 128}}, nil},
		"TLS and password": {Config{TLS: server, Users: map[string]string{"user": "password"}}, func(cfg *vecql.ClusterConfig) {
			cfg.TLS, cfg.Authenticator = client, vecql.PasswordAuthenticator{Username: "user", Password: "password"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			defer requireNothingLeft(t)
			began := time.Now()
			c, err := Start(m.cluster)
			require.NoError(t, err)
			took := time.Since(began)
			defer c.Close()
			require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
				CREATE TABLE ks.t (p int, c int, v vector<float, 3>, PRIMARY KEY (p, c));`))
			cfg := clusterConfig(c)
			cfg.Defaults.Consistency = cql.Quorum
			if m.change != nil {
				m.change(cfg)
			}
			s, err := vecql.NewSession(t.Context(), *cfg)
			require.NoError(t, err)
			defer s.Close()
			require.NoError(t, s.Query("CREATE TABLE ks.other (k text PRIMARY KEY, m map<text, int>)").Exec(t.Context()))
			for i := range 100 {
				require.NoError(t, s.Query("INSERT INTO ks.t (p, c, v) VALUES (?, ?, ?)", i%3, i, []float32{float32(i), 1, 2}).Exec(t.Context()))
			}
			var v []float32
			require.NoError(t, s.Query("SELECT v FROM ks.t WHERE p = ? AND c = ?", 1, 4).Scan(t.Context(), &v))
			require.Equal(t, []float32{4, 1, 2}, v)
			n := 0
			for c, err := range vecql.Rows[int](t.Context(), s.Query("SELECT c FROM ks.t WHERE p = 2").PageSize(7)) {
				require.NoError(t, err)
				require.Equal(t, 3*n+2, c)
				n++
			}
			require.Equal(t, 33, n)
			for _, err := range vecql.Rows[int](t.Context(), s.Query("SELECT c FROM ks.t").PageSize(9)) {
				require.NoError(t, err)
				n++
			}
			require.Equal(t, 133, n)
			require.NoError(t, s.Query("INSERT INTO ks.other (k, m) VALUES (?, ?)", "k", map[string]int{"a": 1}).Exec(t.Context()))
			require.ErrorIs(t, s.Query("SELECT x FROM ks.other").Exec(t.Context()), cql.CodeInvalid)
			applied, err := s.Query("INSERT INTO ks.other (k) VALUES ('k') IF NOT EXISTS").MapScanCAS(t.Context(), map[string]any{})
			require.NoError(t, err)
			require.False(t, applied)
			c.Node(0).Kill()
			c.Node(1).Kill()
			err = s.Query("INSERT INTO ks.other (k) VALUES ('x')").Idempotent(true).Exec(t.Context())
			require.ErrorIs(t, err, cql.CodeUnavailable, fmt.Sprint(err))
			require.Less(t, took, 50*time.Millisecond*slowness())
		})
	}
}

// TestStartTime starts clusters of three nodes in less than 50 ms each. A busy machine may exceed this once, but not
// each time.
func TestStartTime(t *testing.T) {
	for name, cfg := range map[string]Config{
		"cassandra": {}, "scylla": {Scylla: &Scylla{Shards: 8, Tablets: 1000}}, "memory": {Network: InMemory},
	} {
		t.Run(name, func(t *testing.T) {
			most, best := 50*time.Millisecond, time.Hour
			if soak.Race {
				most *= slowness()
			}
			for i := 0; i < 3 || i < 100 && best >= most; i++ {
				began := time.Now()
				c, err := Start(cfg)
				best = min(best, time.Since(began))
				require.NoError(t, err)
				c.Close()
			}
			t.Logf("%v", best)
			require.Less(t, best, most)
		})
	}
}

// slowness is a factor for bounds of times: for a busy machine, and for the race detector.
func slowness() time.Duration {
	if soak.Race {
		return 20
	}
	return 5
}
