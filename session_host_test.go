// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Functions of the program that receive the node of a connection: HostDialer and AuthProvider.

// hostDials is a HostDialer that records its calls.
type hostDials struct {
	dial func(ctx context.Context, addr string, port int) (net.Conn, error)

	mu   sync.Mutex
	made []hostDial
}

// hostDial is one call of a HostDialer.
type hostDial struct {
	host *cql.Host
	addr string
	port int // the local port; 0 means any
}

func (d *hostDials) DialHost(ctx context.Context, host *cql.Host, addr string) (net.Conn, error) {
	return d.record(ctx, host, addr, 0)
}

func (d *hostDials) record(ctx context.Context, host *cql.Host, addr string, port int) (net.Conn, error) {
	d.mu.Lock()
	d.made = append(d.made, hostDial{host, addr, port})
	d.mu.Unlock()
	return d.dial(ctx, addr, port)
}

// calls returns the calls so far.
func (d *hostDials) calls() []hostDial {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.made
}

// hostPortDials is hostDials with local ports.
type hostPortDials struct{ hostDials }

func (d *hostPortDials) DialHostLocalPort(ctx context.Context, host *cql.Host, addr string, localPort int) (net.Conn, error) {
	return d.record(ctx, host, addr, localPort)
}

// inMemory returns the dial function of a cluster in memory.
func inMemory(c *fakecql.Cluster) func(ctx context.Context, addr string, port int) (net.Conn, error) {
	return func(ctx context.Context, addr string, port int) (net.Conn, error) {
		return c.DialContextLocalPort(ctx, "tcp", addr, port)
	}
}

// TestHostDialer: every connection is dialed with the node that it leads to, on the shard-aware port too if the dialer
// can choose local ports.
func TestHostDialer(t *testing.T) {
	for _, choosesPorts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, frame.V5, 2, fakecql.Sharded(4))
			withPorts := &hostPortDials{hostDials{dial: inMemory(c)}}
			d := &withPorts.hostDials
			s := sessionOn(c, func(cfg *ClusterConfig) {
				if cfg.Pool.Dialer, cfg.Pool.HostDialer = nil, d; choosesPorts {
					cfg.Pool.HostDialer = withPorts
				}
			})
			synctest.Wait()
			made := d.calls()
			require.Equal(t, c.Nodes[0].Addr(), made[0].addr)
			require.Equal(t, c.Nodes[0].Addr(), made[0].host.Address.String(), "of a contact point the address")
			require.Zero(t, made[0].host.ID, "and nothing else")
			direct := 0
			for _, m := range made[1:] {
				for _, n := range c.Nodes {
					if strings.HasPrefix(m.addr, n.IP+":") {
						require.Equal(t, n.ID.String(), m.host.ID.String())
						require.Equal(t, "dc1", m.host.DataCenter)
					}
				}
				if m.port != 0 {
					direct++
					require.True(t, strings.HasSuffix(m.addr, ":19042"), m.addr)
				}
			}
			for _, n := range c.Nodes {
				if choosesPorts {
					require.Equal(t, repeat(4, 1), poolOf(s, n).shardCounts())
				} else {
					require.True(t, poolOf(s, n).isUp())
				}
			}
			if choosesPorts {
				require.Equal(t, 2*(4-1), direct, "the first connection to a node takes the plain port")
			} else {
				require.Zero(t, direct)
			}
			require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		})
	}
}

// TestContactPointIsAnyNode: the node that a contact point was at the start has its id only while the node is
// connected, because the address of a proxy leads to the other nodes too.
func TestContactPointIsAnyNode(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		d := &hostDials{dial: inMemory(c)}
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Pool.Dialer, cfg.Pool.HostDialer = nil, d })
		id := cql.UUID(c.Nodes[0].ID)
		require.Equal(t, id, s.controlHost(c.Nodes[0].Addr()).ID)
		before := len(d.calls())
		c.Nodes[0].Stop()
		pass(time.Minute)
		anyNode, thisNode := 0, 0
		for _, call := range d.calls()[before:] {
			switch call.host.ID {
			case cql.UUID{}:
				anyNode++
				require.Equal(t, c.Nodes[0].Addr(), call.host.Address.String())
			case id:
				thisNode++
			}
		}
		require.Positive(t, anyNode, "the control connection")
		require.Positive(t, thisNode, "the pool")
	})
}

// TestHostDialerTLS: the session adds TLS to a connection of a HostDialer only if it has none.
func TestHostDialerTLS(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	now := time.Now() // certificates are not valid at the time of a bubble
	client.Time = func() time.Time { return now }
	client.ServerName = "127.0.0.1"
	for name, m := range map[string]struct{ ofDialer, ofSession bool }{
		"dialer": {true, false}, "dialer and configuration": {true, true}, "configuration": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, frame.V5, 1, func(n *fakecql.Node) {
					n.Server.Wrap = func(c net.Conn) net.Conn { return tls.Server(c, server) }
				})
				d := &hostDials{dial: func(ctx context.Context, addr string, _ int) (net.Conn, error) {
					sock, err := c.DialContext(ctx, "tcp", addr)
					if err == nil && m.ofDialer {
						sock = tls.Client(sock, client)
					}
					return sock, err
				}}
				s := sessionOn(c, func(cfg *ClusterConfig) {
					cfg.Pool.Dialer, cfg.Pool.HostDialer = nil, d
					if m.ofSession {
						cfg.TLS = client
					}
				})
				require.NoError(t, s.Query("INSERT").Exec(t.Context()))
			})
		})
	}
}

// TestDialerKeepsTLS: a connection of a Dialer may have TLS of its own, to a proxy. The TLS of the configuration is
// inside it.
func TestDialerKeepsTLS(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	now := time.Now()
	client.Time = func() time.Time { return now }
	client.ServerName = "127.0.0.1"
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, frame.V5, 1, func(n *fakecql.Node) {
			n.Server.Wrap = func(c net.Conn) net.Conn { return tls.Server(tls.Server(c, server), server) }
		})
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.TLS = client
			cfg.Pool.Dialer = dialerFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
				sock, err := c.DialContext(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				return tls.Client(sock, client), nil
			})
		})
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	})
}

// needsPassword returns a change of nodes whose servers accept the user name that is the id of the node.
func needsPassword(n *fakecql.Node) {
	n.Server.Auth = "org.apache.cassandra.auth.PasswordAuthenticator"
}

// refuseOthers makes the nodes of c accept only their own ids as user names.
func refuseOthers(c *fakecql.Cluster) {
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpAuthResponse {
			return false
		}
		own := "\x00" + r.Node.ID.String() + "\x00"
		if text := string(r.Body[4:]); text != own && text != "\x00"+(cql.UUID{}).String()+"\x00" { // before the host id is known
			r.Fail(int32(cql.CodeCredentials))
		} else {
			r.Conn.Reply(r.Stream, fakecql.OpAuthSuccess, fakecql.Ints(-1))
		}
		return true
	})
}

// TestAuthProvider: each node gets the credentials for it.
func TestAuthProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, frame.V5, 3, needsPassword)
		refuseOthers(c)
		var mu sync.Mutex
		seen := map[string]int{}
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.AuthProvider = func(host *cql.Host) (cql.Authenticator, error) {
				mu.Lock()
				defer mu.Unlock()
				seen[host.Address.String()]++
				return PasswordAuthenticator{Username: host.ID.String()}, nil
			}
		})
		synctest.Wait()
		require.NoError(t, s.Ready(t.Context()))
		mu.Lock()
		defer mu.Unlock()
		want := map[string]int{c.Nodes[0].Addr(): 2, c.Nodes[1].Addr(): 1, c.Nodes[2].Addr(): 1} // with the control connection
		require.Equal(t, want, seen)
	})
}

func TestAuthProviderFails(t *testing.T) {
	broken := errors.New("no token")
	for want, provide := range map[string]func(*cql.Host) (cql.Authenticator, error){
		"ClusterConfig.AuthProvider: no token":                                      func(*cql.Host) (cql.Authenticator, error) { return nil, broken },
		"ClusterConfig.AuthProvider: neither an Authenticator nor an error was ret": func(*cql.Host) (cql.Authenticator, error) { return nil, nil },
		"ClusterConfig.AuthProvider: panic: oops":                                   func(*cql.Host) (cql.Authenticator, error) { panic("oops") },
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := configOf(newFakeCluster(t, frame.V5, 1, needsPassword))
			cfg.AuthProvider = provide
			_, err := NewSession(t.Context(), *cfg)
			require.ErrorContains(t, err, want)
			require.ErrorIs(t, err, ErrNoConnectionsStarted)
			var login *conn.LoginError
			require.ErrorAs(t, err, &login, "reconnection waits as after a refused login")
			if strings.Contains(want, broken.Error()) {
				require.ErrorIs(t, err, broken)
			}
		})
	}
}

// TestAuthProviderNotCalled: a server without authentication needs no Authenticator.
func TestAuthProviderNotCalled(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		sessionOn(c, func(cfg *ClusterConfig) {
			cfg.AuthProvider = func(*cql.Host) (cql.Authenticator, error) { return nil, errors.New("called") }
		})
	})
}

func TestOneDialerAndOneAuthenticator(t *testing.T) {
	for want, change := range map[string]func(*ClusterConfig){
		"ClusterConfig: Pool.Dialer and Pool.HostDialer are both set": func(cfg *ClusterConfig) {
			cfg.Pool.Dialer, cfg.Pool.HostDialer = &net.Dialer{}, &hostDials{}
		},
		"ClusterConfig: Authenticator and AuthProvider are both set": func(cfg *ClusterConfig) {
			cfg.Authenticator = PasswordAuthenticator{}
			cfg.AuthProvider = func(*cql.Host) (cql.Authenticator, error) { return nil, nil }
		},
	} {
		cfg := &ClusterConfig{Hosts: []string{"10.0.0.1"}}
		change(cfg)
		_, err := NewSession(t.Context(), *cfg)
		require.ErrorContains(t, err, want)
	}
	require.Contains(t, ClusterConfig{Hosts: []string{"10.0.0.1"}}.String(), "AuthProvider: none\n")
}
