// SPDX-License-Identifier: Apache-2.0

// Package tests runs the driver against real servers: the Cassandra node that all packages share and, in soak tests,
// nodes of its own (package cassandra); or those that VECQL_TEST_HOSTS names ("host[:port],..."), with VECQL_TEST_USER
// and VECQL_TEST_PASSWORD if they need a login.
package tests

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/leak"
)

// Clusters. The first test that needs one starts it. The shared node stops after its last use by any process, and
// TestMain stops the nodes of this package.

type kind int

const (
	plainNode      kind = iota // the shared node, with a password
	secureNode                 // the shared node, with TLS, a client certificate and a password
	bareNode                   // a node of this package, without TLS and password
	threeNodes                 // nodes of this package, without TLS and password
	nodeOfSix                  // a node of Cassandra 6 with Accord, without TLS and password
	threeOfSix                 // nodes of Cassandra 6 that wait two seconds for each other, without TLS and password
	embeddedNode               // package cqltest in place of a server; it must pass the same tests
	embeddedThree              // package cqltest, three nodes
	embeddedScylla             // package cqltest, three nodes with shards and tablets
)

// embedded reports whether the kind is of package cqltest. Each test then has a cluster of its own.
func (k kind) embedded() bool { return k >= embeddedNode }

// startTimeout bounds the start of servers. The first start on a machine installs and downloads.
const startTimeout = 6 * time.Minute

var clusters = struct {
	sync.Mutex
	m map[kind]*cassandra.Cluster
}{m: map[kind]*cassandra.Cluster{}}

func TestMain(m *testing.M) {
	cassandra.Supervise()
	code := m.Run()
	for _, c := range clusters.m {
		if err := c.Close(); err != nil {
			log.Print(err)
			code = 1
		}
	}
	os.Exit(code)
}

// external returns the servers of VECQL_TEST_HOSTS, nil if the tests start their own.
func external() []string {
	if h := os.Getenv("VECQL_TEST_HOSTS"); h != "" {
		return strings.Split(h, ",")
	}
	return nil
}

// start returns the package's own cluster of that kind. It fails the test if the cluster cannot start: a suite that
// does not run must not pass.
func start(t *testing.T, k kind) *cassandra.Cluster {
	t.Helper()
	clusters.Lock()
	defer clusters.Unlock()
	if c := clusters.m[k]; c != nil {
		return c
	}
	options := cassandra.Options{Log: t.Log}
	switch k {
	case threeNodes:
		options.Nodes = 3
	case nodeOfSix:
		options.Version = "6.0"
		options.Set = map[string]any{"accord.enabled": true, "dynamic_data_masking_enabled": true}
	case threeOfSix:
		options.Version, options.Nodes = "6.0", 3
		options.Set = map[string]any{
			"accord.enabled": true, "request_timeout": "2s", "cms_await_timeout": "2s",
			// By default a node that was killed does not start again: it may not know each vote of its transactions. These
			// tests have no transactions.
			"accord.journal.stop_marker_failure_policy": "ALLOW_UNSAFE_STARTUP",
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	began := time.Now()
	c, err := cassandra.Start(ctx, options)
	require.NoError(t, err)
	t.Logf("%d node(s) ready after %v", len(c.Nodes), time.Since(began).Round(time.Millisecond))
	clusters.m[k] = c
	return c
}

// shared returns the node that all packages share. It fails the test if the node cannot start.
func shared(t *testing.T) *cassandra.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := cassandra.Shared(ctx)
	require.NoError(t, err)
	return s
}

// login returns the user and the password of plainNode and secureNode, or of the external servers; "" for none.
func login() (user, password string) {
	if external() != nil {
		return os.Getenv("VECQL_TEST_USER"), os.Getenv("VECQL_TEST_PASSWORD")
	}
	return cassandra.Username, cassandra.Password
}

// config returns a configuration for the cluster of that kind, or for the external servers.
func config(t *testing.T, k kind) *vecql.ClusterConfig {
	t.Helper()
	cfg := &vecql.ClusterConfig{Hosts: []string{}}
	switch {
	case k.embedded():
		cfg.Hosts = embedded(t, k).Hosts()
	case external() != nil:
		cfg.Hosts = external()
	case k == plainNode, k == secureNode:
		cfg.Hosts = []string{shared(t).Host}
	default:
		cfg.Hosts = start(t, k).Hosts()
	}
	if k == secureNode {
		var err error
		cfg.TLS, err = shared(t).TLSConfig()
		require.NoError(t, err)
	}
	if user, password := login(); user != "" && (k == plainNode || k == secureNode || external() != nil && !k.embedded()) {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: password}
	}
	if !k.embedded() {
		cfg.Protocol.Version = cassandra.Protocol()
	}
	cfg.Timeout = 30 * time.Second
	cfg.Logger = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return cfg
}

// embedded returns a new cluster of package cqltest of that kind.
func embedded(t *testing.T, k kind) *cqltest.Cluster {
	c := cqltest.Config{Nodes: 3}
	switch k {
	case embeddedNode:
		c.Nodes = 1
	case embeddedScylla:
		c.Scylla = &cqltest.Scylla{Shards: 4, Tablets: 16, VectorStore: &cqltest.VectorStore{}}
	}
	return cqltest.New(t, c)
}

// testWriter writes to the log of t while the test runs.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// sessions is the number of open sessions that connect has opened.
var sessions atomic.Int32

// connect opens a session. The test closes it at its end. The end of the last session checks that no goroutine of a
// session remains.
func connect(t *testing.T, cfg *vecql.ClusterConfig) *vecql.Session {
	t.Helper()
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	sessions.Add(1)
	t.Cleanup(func() {
		s.Close()
		if sessions.Add(-1) == 0 {
			leak.RequireNone(t, leak.Driver)
		}
	})
	return s
}

// keyspace creates a keyspace for the test and drops it afterwards.
func keyspace(t *testing.T, s *vecql.Session, replicas int) string {
	t.Helper()
	name := fmt.Sprintf("t%d_%s", time.Now().UnixNano()%1e9, strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(t.Name())))
	name = name[:min(len(name), 48)]
	ctx := context.Background()
	dc := s.GetHosts()[0].DataCenter
	require.NoError(t, s.Query(fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': %d}", name, dc, replicas)).Exec(ctx))
	t.Cleanup(func() { _ = s.Query("DROP KEYSPACE IF EXISTS " + name).Exec(ctx) })
	return name
}
