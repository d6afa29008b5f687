// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/examples/internal/authority"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, "", &out))
	require.Equal(t, doctest.Prints(t), out.String())
}

// started returns a stand-in, and a session on it.
func started(t *testing.T) (*standIn, *vecql.Session) {
	t.Helper()
	s, err := start(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.close)
	bundle, err := zip.OpenReader(s.bundle)
	require.NoError(t, err)
	defer bundle.Close()
	a, err := openBundle(t.Context(), bundle)
	require.NoError(t, err)
	config := a.config(token)
	config.Logger = slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return s, session
}

// TestRoutes requires that each node is reached by its host id, and that the driver knows which node is which.
func TestRoutes(t *testing.T) {
	s, session := started(t)
	require.NoError(t, session.Ready(t.Context()))
	for _, stmt := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'cndb-eu-west-1': 1}",
		"CREATE TABLE shop.items (id int PRIMARY KEY, name text)",
	} {
		require.NoError(t, session.Query(stmt).Exec(t.Context()))
	}
	s.cluster.ResetStats()
	for id := range 20 {
		require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", id, "lamp").Exec(t.Context()))
	}
	stats := s.cluster.Stats()
	require.EqualValues(t, 20, stats.Routable)
	require.EqualValues(t, 20, stats.OnReplica, "every request goes to the replica of its partition")
}

// TestAllNodesReplaced requires that a session follows a database whose nodes are all replaced.
func TestAllNodesReplaced(t *testing.T) {
	s, session := started(t)
	before := s.cluster.Nodes()
	s.cluster.MuteEvents(true)
	for range before {
		_, err := s.cluster.AddNode("cndb-eu-west-1", "rack1")
		require.NoError(t, err)
	}
	for _, n := range before {
		n.Kill()
		s.cluster.RemoveNode(n)
	}
	require.Eventually(t, func() bool {
		hosts := session.GetHosts()
		for _, h := range hosts {
			for _, n := range before {
				if h.ID == n.HostID() {
					return false
				}
			}
		}
		return len(hosts) == len(before) && session.Query("SELECT key FROM system.local").Exec(t.Context()) == nil
	}, 20*time.Second, 10*time.Millisecond)
}

// TestWrongCertificate requires that a proxy whose certificate another authority signed is refused.
func TestWrongCertificate(t *testing.T) {
	s, _ := started(t)
	other, err := authority.New("other")
	require.NoError(t, err)
	client, err := other.Issue("client")
	require.NoError(t, err)
	wrong := filepath.Join(t.TempDir(), "wrong.zip")
	require.NoError(t, writeBundle(wrong, s.proxy.Addr(), other, client))
	require.ErrorAs(t, run(t.Context(), []string{wrong}, token, &strings.Builder{}), new(x509.UnknownAuthorityError))
}

func TestWrongBundle(t *testing.T) {
	_, err := openBundle(t.Context(), fstest.MapFS{"ca.crt": {}, "cert": {}, "key": {}})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = openBundle(t.Context(), fstest.MapFS{"ca.crt": {}, "cert": {}, "key": {}, "config.json": {}})
	require.ErrorContains(t, err, "certificate")
}
