// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// open returns a cluster and a session that logs nothing.
func open(t *testing.T, cfg cqltest.Config, set func(*vecql.ClusterConfig)) (*cqltest.Cluster, *vecql.Session) {
	cluster := cqltest.New(t, cfg)
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Logger = slog.New(slog.DiscardHandler)
	if set != nil {
		set(config)
	}
	session, err := vecql.NewSession(t.Context(), *config)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return cluster, session
}

// texts returns the findings, one a line.
func texts(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(string(f.Severity) + ": " + f.What + " -> " + f.Do + "\n")
	}
	return b.String()
}

func TestHealthy(t *testing.T) {
	cluster, session := open(t, cqltest.Config{DataCenters: []cqltest.DataCenter{
		{Name: "west", Nodes: 1}, {Name: "east", Nodes: 2},
	}}, nil)
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'east': 2, 'west': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY)`))
	require.NoError(t, session.AwaitSchemaAgreement(t.Context()))
	r := Examine(t.Context(), session, Options{Probes: 5})
	require.Zero(t, r.Problems(), texts(r))
	require.Equal(t, "cqltest", r.Cluster)
	require.Equal(t, 5, r.Protocol)
	require.Equal(t, []Keyspace{
		{Name: "shop", Strategy: "NetworkTopologyStrategy", Factors: map[string]int{"east": 2, "west": 1}, Tables: 1},
	}, r.Keyspaces)
	require.Len(t, r.Nodes, 3)
	for i, dc := range []string{"east", "east", "west"} {
		n := r.Nodes[i]
		require.Equal(t, dc, n.DataCenter)
		require.Equal(t, "5.0.9", n.Version)
		require.Empty(t, n.Error)
		require.Len(t, n.Latency, 5)
		require.True(t, n.Clock.Known)
		require.Less(t, n.Clock.Ahead.Abs()-n.Clock.Uncertainty, 50*time.Millisecond)
	}
}

func TestClockSkew(t *testing.T) {
	for step, want := range map[time.Duration]string{
		10 * time.Second: "ahead of this machine's", -10 * time.Second: "behind this machine's",
	} {
		cluster, session := open(t, cqltest.Config{Nodes: 1}, nil)
		cluster.StepClock(step)
		r := Examine(t.Context(), session, Options{Probes: 3})
		require.Equal(t, 1, r.Problems())
		require.Contains(t, texts(r), "problem: the clock of 127.0.0.1:")
		require.Contains(t, texts(r), want)
	}
}

func TestNodeDown(t *testing.T) {
	cluster, session := open(t, cqltest.Config{Nodes: 2}, nil)
	cluster.Node(1).Kill()
	r := Examine(t.Context(), session, Options{Probes: 2, Timeout: 200 * time.Millisecond})
	require.Contains(t, texts(r), "problem: "+cluster.Node(1).Addr().String()+" does not answer: ")
	require.Equal(t, 1, r.Problems())
}

func TestSchemaDisagreement(t *testing.T) {
	cluster, session := open(t, cqltest.Config{Nodes: 2}, nil)
	cluster.Node(1).SetSchemaVersion(&[16]byte{1})
	r := Examine(t.Context(), session, Options{Probes: 2})
	require.Contains(t, texts(r), "problem: the nodes disagree on the schema: 127.0.0.1:")
	cluster.Node(1).SetSchemaVersion(nil)
	require.Zero(t, Examine(t.Context(), session, Options{Probes: 2}).Problems())
}

func TestLatency(t *testing.T) {
	cluster, session := open(t, cqltest.Config{Nodes: 2}, nil)
	slow := cluster.Node(1)
	cluster.Inject(cqltest.Fault{Node: slow, Statement: "now()", Op: cqltest.OpExecute, Delay: 20 * time.Millisecond})
	for _, n := range Examine(t.Context(), session, Options{Probes: 3}).Nodes {
		require.Equal(t, n.Address == slow.Addr().String(), n.Latency.Quantile(0) >= 20*time.Millisecond)
	}
	r := &Report{Nodes: []Node{
		{Address: "a", Latency: Latencies{1e6, 1e6, 1e6, 300e6}},
		{Address: "b", Latency: Latencies{1e6, 2e6, 3e6}},
		{Address: "c", Latency: Latencies{20e6, 21e6, 22e6}},
		{Address: "far", DataCenter: "west", Latency: Latencies{90e6}},
	}}
	r.Findings = r.findings(time.Now())
	require.Equal(t, `advice: a pauses: its slowest answer took 300ms, the median 1ms -> look for pauses of the garbage collector or a full disk queue (nodetool gcstats, iostat)
advice: c is slow: half of its answers take more than 21ms, half of the other nodes' more than 2ms -> look at its load, disk and compactions (nodetool tpstats, nodetool compactionstats)
`, texts(r))
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	config := &tls.Config{RootCAs: roots}
	_, session := open(t, cqltest.Config{Nodes: 1, TLS: &tls.Config{Certificates: server.TLS.Certificates}},
		func(c *vecql.ClusterConfig) { c.TLS = config })
	r := Examine(t.Context(), session, Options{Probes: 1, TLS: config, Password: true, Timeout: time.Minute})
	require.NotContains(t, texts(r), "password")
	require.NotContains(t, texts(r), "certificate")
	require.Equal(t, "TLS 1.3", r.Nodes[0].TLS.Version)
	r.Nodes[0].TLS.NotAfter = time.Now().Add(time.Hour)
	r.Findings = r.findings(time.Now())
	require.Contains(t, texts(r), "advice: the certificate of 127.0.0.1:")
	r = Examine(t.Context(), session, Options{Probes: 1, TLS: &tls.Config{}, Timeout: time.Minute})
	require.Contains(t, texts(r), "TLS: tls: failed to verify certificate")
	_, plain := open(t, cqltest.Config{Nodes: 1}, nil)
	r = Examine(t.Context(), plain, Options{Probes: 1, Password: true})
	require.Contains(t, texts(r), "advice: the password crosses the network unencrypted -> enable TLS on the servers and set --tls or --ca\n")
}

func TestTablets(t *testing.T) {
	cluster, session := open(t, cqltest.Config{Nodes: 2, Scylla: &cqltest.Scylla{Shards: 2, Tablets: 4}}, nil)
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2};
		CREATE TABLE shop.items (id int PRIMARY KEY)`))
	insert := session.Query("INSERT INTO shop.items (id) VALUES (?)")
	for id := range 100 { // the answers have the tablets
		require.NoError(t, insert.Bind(id).Exec(t.Context()))
	}
	require.NoError(t, session.Ready(t.Context()))
	r := Examine(t.Context(), session, Options{Probes: 2})
	require.Equal(t, 4, r.Keyspaces[0].Tablets)
	require.Equal(t, 4, r.Nodes[0].Tablets)
	require.Positive(t, r.Nodes[0].Shards)
}

func TestReplication(t *testing.T) {
	r := &Report{
		Nodes: []Node{
			{Address: "a", DataCenter: "east", Version: "5.0.1"},
			{Address: "b", DataCenter: "east", Version: "5.0.2"},
			{Address: "c", DataCenter: "west"},
		},
		Keyspaces: []Keyspace{
			{Name: "simple", Strategy: "SimpleStrategy", Factors: map[string]int{"": 4}},
			{Name: "one", Factors: map[string]int{"east": 1, "west": 1}},
			{Name: "gone", Factors: map[string]int{"south": 3}},
		},
	}
	r.Findings = r.findings(time.Now())
	require.Equal(t, `problem: keyspace simple wants 4 replicas in the cluster, which has 3 nodes -> add nodes or lower the factor
problem: keyspace gone wants 3 replicas in south, which has 0 nodes -> add nodes or lower the factor
advice: the nodes have different versions: 5.0.1, 5.0.2 -> finish the upgrade
advice: keyspace simple has SimpleStrategy in 2 data centers -> use NetworkTopologyStrategy
advice: keyspace one has one replica: a lost node loses data -> raise the replication factor to 3 and repair
`, texts(r))
}

func TestBars(t *testing.T) {
	require.Equal(t, "█  ▄       ▂", Latencies{1e3, 2e3, 3e3, 4e3, 9e5, 9e5, 1e9}.Bars())
	require.Equal(t, "            ", Latencies(nil).Bars())
	require.Equal(t, 123*time.Millisecond, Round(123456*time.Microsecond))
	require.Zero(t, Latencies(nil).Quantile(.5))
	require.Equal(t, 3*time.Nanosecond, Latencies{1, 2, 3}.Quantile(1))
}
