// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// TestFault37OtherEmbedded kills one of three nodes and starts another cluster at its address. Requests are served by
// the other two nodes, none reaches the other cluster, and the node serves again when it is back.
func TestFault37OtherEmbedded(t *testing.T) {
	users := map[string]string{"user": "password"}
	for name, c := range map[string]cqltest.Config{
		"Cassandra": {}, "v4": {Protocol: 4}, "password": {Users: users}, "ScyllaDB": {Scylla: &cqltest.Scylla{Shards: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			c.ClusterName = "prod"
			prod := cqltest.New(t, c)
			embeddedTable(t, prod, "3")
			require.NoError(t, prod.Exec("INSERT INTO ks.t (k, v) VALUES (1, 10)"))
			cfg := embeddedConfig(prod)
			cfg.Authenticator = vecql.PasswordAuthenticator{Username: "user", Password: "password"}
			cfg.Nodes.ReconnectInterval = time.Second
			s := open(t, cfg)
			lost := prod.Node(2)
			lost.Kill()

			c.ClusterName, c.Nodes, c.Addrs = "staging", 1, []netip.AddrPort{lost.Addr()}
			var requests atomic.Int64
			c.OnRequest = func(r cqltest.Request) {
				if strings.Contains(r.Statement, "ks.t") {
					requests.Add(1)
				}
			}
			staging := cqltest.New(t, c)
			embeddedTable(t, staging, "1")
			require.NoError(t, staging.Exec("INSERT INTO ks.t (k, v) VALUES (1, 20)"))
			require.Eventually(t, func() bool { return s.Stats().WrongPeers > 2 }, time.Minute, time.Millisecond)
			for range 1200 {
				var v int64
				require.NoError(t, s.Query("SELECT v FROM ks.t WHERE k = ?", 1).Scan(t.Context(), &v))
				require.EqualValues(t, 10, v)
			}
			for i := range 1000 {
				require.NoError(t, s.Query("INSERT INTO ks.t (k, v) VALUES (?, ?)", i+2, i).Exec(t.Context()))
			}
			require.Zero(t, requests.Load(), "requests to the other cluster")
			staging.Close()
			require.NoError(t, lost.Restart())
			id := cql.UUID(lost.HostID())
			require.Eventually(t, func() bool {
				return s.Query("SELECT v FROM ks.t WHERE k = ?", 1).HostID(id).Exec(t.Context()) == nil
			}, time.Minute, time.Millisecond)
		})
	}
}

// TestFault37OtherCassandra stops a Cassandra and starts one of another cluster at the same address, with a table of
// the same name. The session must neither read from it nor write to it, and must serve again when its own is back.
// TestFault37OtherEmbedded has the same claim without the time that servers take to start.
func TestFault37OtherCassandra(t *testing.T) {
	soak.Only(t)
	if external() != nil {
		t.Skip("VECQL_TEST_HOSTS is set: the test cannot stop its nodes")
	}
	startNamed := func(name string, takes *cassandra.Cluster) *cassandra.Cluster {
		t.Helper()
		c, err := cassandra.Start(t.Context(), cassandra.Options{Takes: takes, Set: map[string]any{"cluster_name": name}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		return c
	}
	configOf := func(c *cassandra.Cluster) *vecql.ClusterConfig {
		cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
		cfg.Timeout, cfg.Protocol.Version = 30*time.Second, cassandra.Protocol()
		cfg.Logger = slog.New(slog.NewTextHandler(testWriter{t}, nil))
		return cfg
	}
	createTable := func(s *vecql.Session, row string) {
		t.Helper()
		exec(t, s, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		exec(t, s, "CREATE TABLE shop.t (k int PRIMARY KEY, v text)")
		exec(t, s, "INSERT INTO shop.t (k, v) VALUES (1, '"+row+"')")
	}
	const read, write = "SELECT v FROM shop.t WHERE k = ?", "INSERT INTO shop.t (k, v) VALUES (?, ?)"
	valueOf := func(s *vecql.Session, key int) (v string, err error) {
		err = s.Query(read, key).Consistency(cql.One).Idempotent(true).Scan(t.Context(), &v)
		return v, err
	}

	prod := startNamed("prod", nil)
	s := connect(t, configOf(prod))
	createTable(s, "prod")
	v, err := valueOf(s, 1)
	require.NoError(t, err)
	require.Equal(t, "prod", v)
	require.NoError(t, prod.Nodes[0].Stop(t.Context())) // not Kill, which loses the commit log since its last sync

	staging := startNamed("staging", prod)
	direct, err := vecql.NewSession(t.Context(), *configOf(staging))
	require.NoError(t, err)
	defer direct.Close()
	createTable(direct, "staging")
	require.Eventually(t, func() bool { return s.Stats().WrongPeers > 2 }, time.Minute, 10*time.Millisecond)
	reads, writes := 0, 0
	for i := range 1200 {
		if v, err := valueOf(s, 1); err == nil {
			reads++
			t.Logf("read %d got %q", i, v)
		}
	}
	for i := range 1000 {
		if s.Query(write, 10+i, "prod").Consistency(cql.One).Exec(t.Context()) == nil {
			writes++
		}
	}
	require.Zero(t, reads, "reads answered by the other cluster")
	require.Zero(t, writes, "writes acknowledged by the other cluster")
	_, err = valueOf(s, 1)
	var wrong *vecql.PeerError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "prod", wrong.Want.ClusterName)
	require.Equal(t, "staging", wrong.Got.ClusterName)
	var rows int
	require.NoError(t, direct.Query("SELECT count(*) FROM shop.t").Scan(t.Context(), &rows))
	require.Equal(t, 1, rows, "its own row only")

	require.NoError(t, staging.Nodes[0].Stop(t.Context()))
	require.NoError(t, prod.Nodes[0].Start(t.Context()))
	require.Eventually(t, func() bool {
		v, err = valueOf(s, 1)
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, "prod", v)
}
