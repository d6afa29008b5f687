// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Clusters by URI and by name, and the sessions of a process.

func TestURI(t *testing.T) {
	cfg, err := clusterConfig("scylla://us%40er:p%2Fw@h1:9043,[::1]:9044,h3/shop?data_center=dc2&consistency=one&timeout=3s" +
		"&connect_timeout=4s&protocol=4&compression=snappy&tls.verify=false&tls.server_name=name")
	require.NoError(t, err)
	require.Equal(t, []string{"h1:9043", "[::1]:9044", "h3"}, cfg.Hosts)
	require.Equal(t, "shop", cfg.Keyspace)
	require.Equal(t, vecql.PasswordAuthenticator{Username: "us@er", Password: "p/w"}, cfg.Authenticator)
	require.Equal(t, cql.One, cfg.Defaults.Consistency)
	require.Equal(t, []time.Duration{3 * time.Second, 4 * time.Second}, []time.Duration{cfg.Timeout, cfg.ConnectTimeout})
	require.Equal(t, 4, cfg.Protocol.Version)
	require.Equal(t, vecql.SnappyCompressor{}, cfg.Compressor)
	require.NotNil(t, cfg.HostSelectionPolicy)
	require.Equal(t, "name", cfg.TLS.ServerName)
	require.True(t, cfg.TLS.InsecureSkipVerify)

	cfg, err = clusterConfig("cassandra://h?tls=true&compression=lz4")
	require.NoError(t, err)
	require.False(t, cfg.TLS.InsecureSkipVerify)
	require.Equal(t, vecql.LZ4Compressor{}, cfg.Compressor)
	cfg, err = clusterConfig("cassandra://h?tls=false&compression=none")
	require.NoError(t, err)
	require.Nil(t, cfg.TLS)
	require.Equal(t, "beamvecql", cfg.Protocol.ApplicationInfo.ApplicationName)
}

func TestURIErrors(t *testing.T) {
	for uri, want := range map[string]string{
		"http://h":                           "does not begin with cassandra://",
		"cassandra://":                       "has no name: want host[:port]",
		"cassandra://user:secret@/ks":        "has no name: want host[:port]",
		"cassandra://u:%zzsecret@h":          "the uri cannot be parsed",
		"cassandra://h?consistency=most":     "the setting consistency of the uri",
		"cassandra://h?tls.ca=missing.pem":   "tls.ca: open missing.pem",
		"cassandra://h?tls.cert=missing.pem": "tls.cert and tls.key",
		"unregistered":                       `no cluster is registered as "unregistered": call RegisterCluster`,
	} {
		_, err := clusterConfig(uri)
		require.ErrorIs(t, err, ErrCluster, uri)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
	_, s := beam.NewPipelineWithRoot()
	require.Panics(t, func() { Read(s, "cassandra://h?user=x", "SELECT", ReadOptions{}) })
	require.NotPanics(t, func() { Read(s, "cassandra://h?tls.ca=missing.pem", "SELECT", ReadOptions{}) },
		"the files are those of workers")
	require.Panics(t, func() { Write(s, "cassandra://h?user=x", "t", beam.Impulse(s), WriteOptions{}) })
}

func TestRegisterCluster(t *testing.T) {
	_, uri := start(t, cqltest.Config{Nodes: 1}, itemsTable)
	fill(t, uri, 10)
	calls := 0
	RegisterCluster("test/cluster", func() (vecql.ClusterConfig, error) {
		calls++
		return uriConfig(uri, true)
	})
	t.Cleanup(func() { closeSessions("test/cluster") })
	var got func() []*column.Batch
	_, err := run(t, func(s beam.Scope) { got = collect(t, s, Read(s, "test/cluster", "SELECT * FROM items", ReadOptions{})) })
	require.NoError(t, err)
	require.NotEmpty(t, got())
	require.Equal(t, 1, calls, "all bundles share a session")

	failed := errors.New("no secrets")
	RegisterCluster("test/failing", func() (cfg vecql.ClusterConfig, err error) { return cfg, failed })
	var l lease
	_, err = l.acquire(t.Context(), "test/failing")
	require.ErrorIs(t, err, failed)
	for _, name := range []string{"test/cluster", "", "a://b"} {
		require.Panics(t, func() { RegisterCluster(name, nil) }, name)
	}
}

// TestSessions requires one session for all users of a cluster, and that it is closed when none is left.
func TestSessions(t *testing.T) {
	old := closeAfter
	closeAfter = time.Millisecond
	defer func() { closeAfter = old }()
	_, uri := start(t, cqltest.Config{Nodes: 1}, "")
	var a, b lease
	first, err := a.acquire(t.Context(), uri)
	require.NoError(t, err)
	second, err := b.acquire(t.Context(), uri)
	require.NoError(t, err)
	require.Same(t, first, second)
	a.release()
	a.release()
	time.Sleep(20 * closeAfter)
	require.False(t, first.Closed(), "it is in use")
	closeAfter = time.Hour
	b.release()
	third, err := a.acquire(t.Context(), uri)
	require.NoError(t, err)
	require.Same(t, first, third, "it is kept for a while")
	closeAfter = time.Millisecond
	a.release()
	require.Eventually(t, first.Closed, 10*time.Second, time.Millisecond)
	fourth, err := a.acquire(t.Context(), uri)
	require.NoError(t, err)
	require.NotSame(t, first, fourth)
	a.release()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.acquire(ctx, "cassandra://127.0.0.1:1")
	require.ErrorContains(t, err, "beamvecql: connect: ")
}
