// SPDX-License-Identifier: Apache-2.0

// Package tests runs the driver against real servers: Cassandra nodes that it starts itself (package cassandra), or those that
// VECQL_TEST_HOSTS names ("host[:port],..."; VECQL_TEST_USER and VECQL_TEST_PASSWORD where they want a password).
package tests

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tests/cassandra"
)

// This file starts each kind of cluster once, when the first test asks for it, and stops them all at the end.

type kind int

const (
	plainNode  kind = iota
	secureNode      // TLS with client certificates, and a password
	threeNodes
	embeddedNode   // package cqltest in place of a server: what passes on one must pass on the other
	embeddedThree  // likewise
	embeddedScylla // likewise, three nodes with shards and tablets
)

// embedded reports whether the kind is of package cqltest; then each test has a cluster of its own.
func (k kind) embedded() bool { return k >= embeddedNode }

var clusters = struct {
	sync.Mutex
	m map[kind]*cassandra.Cluster
}{m: map[kind]*cassandra.Cluster{}}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, c := range clusters.m {
		if err := c.Close(); err != nil {
			log.Print(err)
			code = 1
		}
	}
	os.Exit(code)
}

// external returns the servers that the environment names, nil when the tests start their own.
func external() []string {
	if h := os.Getenv("VECQL_TEST_HOSTS"); h != "" {
		return strings.Split(h, ",")
	}
	return nil
}

// start returns the cluster of that kind. It fails the test where one can't be had: a suite that is not run must not pass.
func start(t *testing.T, k kind) *cassandra.Cluster {
	t.Helper()
	clusters.Lock()
	defer clusters.Unlock()
	if c := clusters.m[k]; c != nil {
		return c
	}
	options := cassandra.Options{}
	switch k {
	case secureNode:
		options.TLS, options.Auth = cassandra.TLSMutual, true
	case threeNodes:
		options.Nodes = 3
	}
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	began := time.Now()
	c, err := cassandra.Start(ctx, options)
	require.NoError(t, err)
	t.Logf("%d node(s) ready after %v", len(c.Nodes), time.Since(began).Round(time.Millisecond))
	clusters.m[k] = c
	return c
}

// config returns a configuration for the cluster of that kind, or for the external servers.
func config(t *testing.T, k kind) *vecql.ClusterConfig {
	t.Helper()
	cfg := vecql.NewCluster(external()...)
	if user := os.Getenv("VECQL_TEST_USER"); user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: os.Getenv("VECQL_TEST_PASSWORD")}
	}
	switch {
	case k.embedded():
		c := cqltest.Config{Nodes: 3}
		switch k {
		case embeddedNode:
			c.Nodes = 1
		case embeddedScylla:
			c.Scylla = &cqltest.Scylla{Shards: 4, Tablets: 16}
		}
		cfg.Hosts = cqltest.New(t, c).Hosts()
	case external() == nil:
		c := start(t, k)
		cfg.Hosts = c.Hosts()
		if k == secureNode {
			cfg.TLS = c.TLSConfig()
			cfg.Authenticator = vecql.PasswordAuthenticator{Username: "cassandra", Password: "cassandra"}
		}
	}
	cfg.Timeout = 30 * time.Second
	cfg.Logger = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return cfg
}

// testWriter logs to t as long as the test runs.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// connect opens a session that ends with the test, after which none of its goroutines may be left.
func connect(t *testing.T, cfg *vecql.ClusterConfig) *vecql.Session {
	t.Helper()
	s, err := cfg.CreateSession()
	require.NoError(t, err)
	t.Cleanup(func() {
		s.Close()
		requireNoDriverGoroutines(t)
	})
	return s
}

// requireNoDriverGoroutines fails when a goroutine runs code of the driver, after a moment of grace for those that are just ending.
func requireNoDriverGoroutines(t *testing.T) {
	t.Helper()
	var stacks string
	for range 100 {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		found := false
		for _, g := range strings.Split(stacks, "\n\n")[1:] { // the first is this one
			if strings.Contains(g, "vecql.(*conn)") || strings.Contains(g, "vecql.(*pool)") || strings.Contains(g, "vecql.(*control)") {
				found = true
			}
		}
		if !found {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("goroutines of the driver are left after Close:\n%s", stacks)
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
	dc := s.GetHosts()[0].DataCenter()
	require.NoError(t, s.Query(fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': %d}", name, dc, replicas)).ExecContext(ctx))
	t.Cleanup(func() { _ = s.Query("DROP KEYSPACE IF EXISTS " + name).ExecContext(ctx) })
	return name
}
