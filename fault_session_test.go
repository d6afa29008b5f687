// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Faults that a session handles.

// TestFault47OtherProtocolOfServers repeats TestFault47OtherProtocol with servers of other packages.
func TestFault47OtherProtocolOfServers(t *testing.T) {
	serverTLS, clientTLS := fakecql.TLSPair(t, "127.0.0.1")
	web, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: 100 * time.Millisecond}
	go func() { _ = server.Serve(web) }()
	t.Cleanup(func() { _ = server.Close() })
	secured, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = secured.Close() })
	go func() {
		for {
			conn, err := secured.Accept()
			if err != nil {
				return
			}
			_ = tls.Server(conn, serverTLS).Handshake()
			_ = conn.Close()
		}
	}()
	plain := cqltest.New(t, cqltest.Config{Nodes: 1})
	for name, m := range map[string]struct {
		addr string
		tls  *tls.Config
		want string
	}{
		"a web server":                 {web.Addr().String(), nil, conn.SpeaksHTTP},
		"a web server, TLS set":        {web.Addr().String(), clientTLS, conn.SpeaksHTTP},
		"a server with TLS":            {secured.Addr().String(), nil, "ClusterConfig.TLS"},
		"a server without it, TLS set": {plain.Hosts()[0], clientTLS, conn.SpeaksPlain},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := &ClusterConfig{Hosts: []string{m.addr}}
			cfg.TLS, cfg.ConnectTimeout = m.tls, 5*time.Second
			_, err := NewSession(t.Context(), *cfg)
			require.ErrorIs(t, err, ErrNoConnectionsStarted)
			require.ErrorContains(t, err, m.want)
			require.ErrorContains(t, err, "node "+m.addr)
			t.Log(err)
		})
	}
}

// TestFault15OtherVersions: the server supports other versions than the driver's first one, and refuses it in one of
// the ways of real servers. The session must use a lower one, or fail at once with an error that names the version.
func TestFault15OtherVersions(t *testing.T) {
	refuse := func(version byte, text string) func(p *fakecql.Conn, h wire.Header) {
		return func(p *fakecql.Conn, h wire.Header) {
			body := fakecql.Message(fakecql.Ints(int32(cql.CodeProtocol)), fakecql.AppendString(nil, text))
			b := make([]byte, wire.HeaderSize)
			wire.PutHeader(b, wire.Header{Version: version, Response: true, Stream: h.Stream, Length: len(body)})
			_, _ = p.Conn.Write(append(b, body...))
		}
	}
	for _, m := range []struct {
		name   string
		speaks byte // version of the server; 0 means none that the driver supports
		asked  int  // ClusterConfig.Protocol.Version
		refuse func(p *fakecql.Conn, h wire.Header)
		want   string // of the error; empty means success
	}{
		{"4 answers 5 in 4", 4, 0, refuse(4, "Invalid or unsupported protocol version (5); the lowest supported version is 3 and the greatest is 4"), ""},
		{"4 answers 5 in 5", 4, 0, refuse(5, "Invalid or unsupported protocol version: 5"), ""},
		{"4 answers 5 in 3", 4, 0, refuse(3, "Invalid or unsupported protocol version: 5"), ""},
		{"5 is a beta", 4, 0, refuse(4, "Beta version of the protocol used (5/v5-beta), but USE_BETA flag is unset"), ""},
		{"4 answers 5 in 6", 4, 0, refuse(6, "Invalid or unsupported protocol version (5)"), ""},
		{"supports 4, configured 5", 4, 5, refuse(4, "Invalid or unsupported protocol version (5)"), "v4"},
		{"supports 5, configured 4", 5, 4, refuse(5, "Invalid or unsupported protocol version (4)"), "v5"},
		{"3 answers 5 in 3", 3, 0, refuse(3, "Invalid or unsupported protocol version: 5"), ""},
		{"3 answers 5 in 4", 3, 0, refuse(4, "Invalid or unsupported protocol version (5)"), ""},
		{"supports 4, configured 3", 4, 3, refuse(4, "Invalid or unsupported protocol version (3)"), "v4"},
		{"3", 0, 0, refuse(3, "Invalid or unsupported protocol version: 4"), "v3"},
		{"6", 0, 0, refuse(6, "Invalid or unsupported protocol version (5)"), "v6"},
		{"supports 3, configured 4", 0, 4, refuse(3, "Invalid or unsupported protocol version: 4"), "v3"},
		{"another protocol error", 0, 0, refuse(5, "Unknown opcode 5"), "Unknown opcode 5"},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, frame.V4, 1)
				c.Nodes[0].Server.Version = m.speaks
				if m.speaks != 0 {
					c.Version = m.speaks
				}
				c.Nodes[0].Server.Refuse = m.refuse
				cfg := configOf(c)
				cfg.Protocol.Version = m.asked
				began := time.Now()
				s, err := NewSession(t.Context(), *cfg)
				require.Less(t, time.Since(began), time.Second)
				if m.want != "" {
					require.ErrorIs(t, err, ErrNoConnectionsStarted)
					require.ErrorIs(t, err, cql.CodeProtocol)
					require.ErrorContains(t, err, m.want)
					return
				}
				require.NoError(t, err)
				defer s.Close()
				require.EqualValues(t, m.speaks, s.ProtoVersion())
				require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
			})
		})
	}
}

// TestFault04StalledWrites: the server's receive window is zero while requests are queued. Each caller must return when
// its context ends, whether its frame waits in the socket, behind the leader or for room. The connection must be
// replaced, and other connections must not be affected.
func TestFault04StalledWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, frame.V5, 2)
		var mu sync.Mutex
		var lines []*fakecql.PipeEnd // to node 2
		c.Wrap = func(n *fakecql.Node, end net.Conn) net.Conn {
			mu.Lock()
			defer mu.Unlock()
			if n == c.Nodes[1] {
				lines = append(lines, end.(*fakecql.PipeEnd))
			}
			return end
		}
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Pool.HeartbeatInterval, cfg.Timeout = 10*time.Second, time.Minute })
		other := s.Query("INSERT x").HostID(cql.UUID(c.Nodes[0].ID))
		stalled := s.Query("INSERT x").HostID(cql.UUID(c.Nodes[1].ID))
		require.NoError(t, stalled.Exec(t.Context()))
		mu.Lock()
		line, connections := lines[len(lines)-1], len(lines)
		mu.Unlock()
		line.Fill()
		began := time.Now()
		body := strings.Repeat("x", 1<<20)
		var wg sync.WaitGroup
		for i := range 20 { // more than fit into the pending bytes
			wg.Go(func() {
				deadline := time.Duration(i+1) * 100 * time.Millisecond
				ctx, cancel := context.WithTimeout(context.Background(), deadline)
				defer cancel()
				err := s.Query("CREATE " + body).HostID(cql.UUID(c.Nodes[1].ID)).Exec(ctx)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != deadline {
					t.Errorf("%v: got %v after %v", deadline, err, time.Since(began))
				}
			})
			wg.Go(func() {
				if err := other.Exec(t.Context()); err != nil || time.Since(began) > time.Millisecond {
					t.Errorf("the other node: %v after %v", err, time.Since(began))
				}
			})
		}
		wg.Wait()
		time.Sleep(2*10*time.Second + time.Second - time.Since(began))
		mu.Lock()
		require.Len(t, lines, connections+1, "the connection is replaced")
		mu.Unlock()
		require.NoError(t, stalled.Exec(t.Context()))
	})
}

// TestFault05RetryAfterTornWrite is fault 5 in a session: a request that has no byte written is retried on another
// node although it is not idempotent; a request written in part is not.
func TestFault05RetryAfterTornWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := &fakecql.CutLine{Left: 1 << 30}
		c := newFakeCluster(t, frame.V4, 2)
		c.Wrap = func(n *fakecql.Node, end net.Conn) net.Conn {
			if n == c.Nodes[1] {
				return line.Wrap(end)
			}
			return end
		}
		s := sessionOn(c)
		require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
		n := s.topo.Load().nodeByID(cql.UUID(c.Nodes[1].ID))
		link := n.pool.pick()
		link.Stall(false)
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() { errs <- s.Query("INSERT x").Exec(t.Context()) }()
		}
		synctest.Wait()
		var begun int
		require.Positive(t, link.Stalled(), "both nodes have requests")
		line.SetLeft(1) // of the first frame
		link.Flush()
		for range cap(errs) {
			err := <-errs
			if err != nil {
				begun++
				require.ErrorIs(t, err, conn.ErrClosed)
				require.True(t, MayHaveApplied(err))
			}
		}
		require.Equal(t, 1, begun)
	})
}
