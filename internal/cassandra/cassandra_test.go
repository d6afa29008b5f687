// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// Real nodes, unless VECQL_TEST_HOSTS names servers to use in their place.

func startCluster(t *testing.T, o Options) *Cluster {
	t.Helper()
	if hosts := os.Getenv("VECQL_TEST_HOSTS"); hosts != "" {
		t.Skipf("VECQL_TEST_HOSTS is %q: this test starts its own nodes", hosts)
	}
	if runtime.GOOS != "linux" {
		t.Skip(ErrUnsupported)
	}
	o.Log = t.Log
	begun := time.Now()
	c, err := Start(t.Context(), o)
	require.NoError(t, err)
	t.Logf("%d nodes ready after %v", len(c.Hosts()), time.Since(begun).Round(time.Millisecond))
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoDirExists(t, c.dir.path)
		require.Empty(t, processesNaming(t, c.dir.path))
	})
	return c
}

// processesNaming returns the command lines of all live processes that contain s.
func processesNaming(t *testing.T, s string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var found []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), s) {
			found = append(found, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}

// greet sends STARTUP on a connection and returns the opcode of the response.
func greet(conn net.Conn) (*probe, byte, error) {
	p := &probe{Conn: conn}
	if err := p.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return nil, 0, err
	}
	op, _, err := p.call(opStartup, startupBody)
	return p, op, err
}

// TestShared logs in to the server that all packages share, with and without TLS.
func TestShared(t *testing.T) {
	if hosts := os.Getenv("VECQL_TEST_HOSTS"); hosts != "" {
		t.Skipf("VECQL_TEST_HOSTS is %q: this test uses the shared node", hosts)
	}
	if runtime.GOOS != "linux" {
		t.Skip(ErrUnsupported)
	}
	s, err := Shared(t.Context())
	require.NoError(t, err)
	again, err := Shared(t.Context())
	require.NoError(t, err)
	require.Same(t, s, again)
	config, err := s.TLSConfig()
	require.NoError(t, err)
	requireMutualTLS(t, s.Host, config)
	conn, err := net.Dial("tcp", net.JoinHostPort(s.Host, strconv.Itoa(Port)))
	require.NoError(t, err)
	defer conn.Close()
	requireLogin(t, conn)
}

// requireLogin logs in on a connection and returns it.
func requireLogin(t *testing.T, conn net.Conn) *probe {
	t.Helper()
	p, op, err := greet(conn)
	require.NoError(t, err)
	require.EqualValues(t, opAuthenticate, op)
	_, _, err = p.call(opAuthResponse, saslPlain(Username, Password))
	require.NoError(t, err)
	return p
}

// requireMutualTLS checks that the node at host demands a certificate and a password of a client with TLS, and has a
// certificate for its address.
func requireMutualTLS(t *testing.T, host string, config *tls.Config) {
	addr := net.JoinHostPort(host, strconv.Itoa(Port))
	verifying := config.Clone()
	verifying.ServerName = host
	t.Run("certificate and password", func(t *testing.T) {
		conn, err := tls.Dial("tcp", addr, verifying)
		require.NoError(t, err)
		defer conn.Close()
		requireLogin(t, conn)
	})
	t.Run("wrong password", func(t *testing.T) {
		conn, err := tls.Dial("tcp", addr, verifying)
		require.NoError(t, err)
		defer conn.Close()
		p, _, err := greet(conn)
		require.NoError(t, err)
		_, _, err = p.call(opAuthResponse, saslPlain(Username, "wrong"))
		require.ErrorAs(t, err, new(serverError))
	})
	t.Run("no client certificate", func(t *testing.T) {
		bare := verifying.Clone()
		bare.Certificates = nil
		conn, err := tls.Dial("tcp", addr, bare)
		if err == nil { // TLS 1.3: the server rejects the client after the handshake
			defer conn.Close()
			_, _, err = greet(conn)
		}
		require.Error(t, err)
	})
	t.Run("name of another host", func(t *testing.T) {
		other := verifying.Clone()
		other.ServerName = "127.0.0.1"
		_, err := tls.Dial("tcp", addr, other)
		require.ErrorAs(t, err, new(*tls.CertificateVerificationError))
	})
}

func TestClusterMutualTLSAndPassword(t *testing.T) {
	soak.Only(t)
	c := startCluster(t, Options{TLS: TLSMutual, Auth: true, Set: map[string]any{"read_request_timeout": "7s"}})
	node := c.Nodes[0]
	verifying := c.TLSConfig()
	requireMutualTLS(t, node.Host(), verifying)
	verifying.ServerName = node.Host()
	t.Run("set", func(t *testing.T) {
		conn, err := tls.Dial("tcp", node.Addr(), verifying)
		require.NoError(t, err)
		defer conn.Close()
		name, want := "read_request_timeout", "7s"
		if old := c.Nodes[0].line().oldNames; old != nil {
			name, want = old[name].name, "7000"
		}
		value, err := requireLogin(t, conn).query("SELECT value FROM system_views.settings WHERE name = '"+name+"'", len(want))
		require.NoError(t, err)
		require.Equal(t, want, string(value))
	})
	t.Run("files", func(t *testing.T) {
		ca, cert, key := c.TLSFiles()
		pair, err := tls.LoadX509KeyPair(cert, key)
		require.NoError(t, err)
		require.Equal(t, verifying.Certificates[0].Certificate, pair.Certificate)
		require.FileExists(t, ca)
	})
	t.Run("plain text", func(t *testing.T) {
		conn, err := net.Dial("tcp", node.Addr())
		require.NoError(t, err)
		defer conn.Close()
		_, _, err = greet(conn)
		require.Error(t, err)
	})
}

func TestClusterThreeNodesKilledStoppedPaused(t *testing.T) {
	soak.Only(t)
	c := startCluster(t, Options{Nodes: 3, DCs: []string{"dc1", "dc1", "dc2"}})
	first, second, third := c.Nodes[0], c.Nodes[1], c.Nodes[2]

	p, err := third.dial(t.Context())
	require.NoError(t, err)
	dc, err := p.query("SELECT data_center FROM system.local", 3)
	require.NoError(t, err)
	require.Equal(t, "dc2", string(dc))
	p.end()

	require.NoError(t, second.Pause())
	_, err = dialFor(second, 300*time.Millisecond)
	require.Error(t, err, "a paused node responds")
	require.NoError(t, second.Resume())
	p, err = second.dial(t.Context())
	require.NoError(t, err, "a resumed node does not respond")
	p.end()

	require.NoError(t, second.Kill())
	require.NoError(t, second.Kill(), "a second Kill")
	require.Empty(t, processesNaming(t, second.dir+"/"))
	_, err = dialFor(second, time.Second)
	require.Error(t, err, "a killed node responds")
	require.Error(t, second.Pause())

	begun := time.Now()
	require.NoError(t, second.Start(t.Context()))
	t.Logf("killed node back after %v", time.Since(begun).Round(time.Millisecond))
	require.Error(t, second.Start(t.Context()), "start of a running node")

	begun = time.Now()
	require.NoError(t, third.Stop(t.Context()))
	t.Logf("clean stop took %v", time.Since(begun).Round(time.Millisecond))
	log, err := third.Log()
	require.NoError(t, err)
	require.Contains(t, log, "Announcing shutdown")
	p, err = first.dial(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, p.countAlive(3), "sees 2 nodes up, want 3")
	require.NoError(t, p.countAlive(2))
	p.end()
	require.NoError(t, third.Start(t.Context()))
}

// dialFor dials the node with a timeout of d.
func dialFor(n *Node, d time.Duration) (*probe, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return n.dial(ctx)
}

func TestStartCanceled(t *testing.T) {
	soak.Only(t)
	if os.Getenv("VECQL_TEST_HOSTS") != "" || runtime.GOOS != "linux" {
		t.Skip("this test starts its own node, on Linux only")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	// The name on the command line identifies the node of this test.
	c, err := Start(ctx, Options{JVM: []string{"-Dvecql.test=" + t.Name()}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Nil(t, c)
	require.Empty(t, processesNaming(t, "-Dvecql.test="+t.Name()))
}
