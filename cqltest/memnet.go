// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"github.com/vecql/vecql/internal/memconn"
)

// A network in memory. It uses no socket, so that a cluster with its clients runs inside a testing/synctest bubble.

// memNet is a network in memory.
type memNet struct {
	window int // capacity in bytes of each direction of a connection

	mu        sync.Mutex
	listeners map[netip.AddrPort]*memListener
	nextPort  uint16
	inUse     map[netip.AddrPort]bool // local addresses of clients
}

// Range of local ports for clients that do not name one. Higher ports stay free for clients that select shards by port.
const (
	lowEphemeral  = 32768
	highEphemeral = 49151
)

func newMemNet(window int) *memNet {
	return &memNet{
		window: window, listeners: map[netip.AddrPort]*memListener{}, nextPort: lowEphemeral,
		inUse: map[netip.AddrPort]bool{},
	}
}

func (m *memNet) listen(at netip.AddrPort) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: syscall.EADDRINUSE}
	}
	l := &memListener{net: m, at: at, accepted: make(chan net.Conn, 4096), closed: make(chan struct{})}
	m.listeners[at] = l
	return l, nil
}

// memClient is the address of every client.
var memClient = netip.MustParseAddr("10.255.255.1")

// dial connects to addr from the local port; 0 means any.
func (m *memNet) dial(ctx context.Context, port uint16, addr string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	fail := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	if err := ctx.Err(); err != nil {
		return nil, fail(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.listeners[to]
	if l == nil {
		return nil, fail(syscall.ECONNREFUSED)
	}
	from := netip.AddrPortFrom(memClient, port)
	for tries := 0; port == 0; tries++ {
		if tries > 1<<16 {
			return nil, fail(syscall.EADDRNOTAVAIL)
		}
		from = netip.AddrPortFrom(memClient, m.nextPort)
		if m.nextPort++; m.nextPort > highEphemeral {
			m.nextPort = lowEphemeral
		}
		if !m.inUse[from] {
			break
		}
	}
	if m.inUse[from] {
		return nil, fail(syscall.EADDRINUSE)
	}
	client, server := memconn.Pair(m.window, net.TCPAddrFromAddrPort(from), net.TCPAddrFromAddrPort(to))
	client.OnClose = func() {
		m.mu.Lock()
		delete(m.inUse, from)
		m.mu.Unlock()
	}
	select {
	case l.accepted <- server:
		m.inUse[from] = true
		return client, nil
	default:
		return nil, fail(syscall.ECONNREFUSED)
	}
}

// memListener is a listener of a memNet.
type memListener struct {
	net      *memNet
	at       netip.AddrPort
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close removes the listener and closes the connections that Accept has not returned.
func (l *memListener) Close() error {
	l.once.Do(func() {
		l.net.mu.Lock() // excludes concurrent dials
		delete(l.net.listeners, l.at)
		close(l.closed)
		l.net.mu.Unlock()
		for {
			select {
			case c := <-l.accepted:
				_ = c.Close()
			default:
				return
			}
		}
	})
	return nil
}

func (l *memListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

// A Dialer connects to the nodes of a cluster. A driver uses it in place of a net.Dialer when the cluster's Network is
// InMemory; it works for the other networks, too.
type Dialer struct {
	// LocalPort is the source port, which selects the shard on a shard-aware port; 0 means any.
	LocalPort uint16

	net *memNet
}

// Dialer returns a Dialer for the nodes of the cluster.
func (c *Cluster) Dialer() *Dialer { return &Dialer{net: c.memory} }

// From returns a Dialer with another source port.
func (d *Dialer) From(port uint16) *Dialer { return &Dialer{LocalPort: port, net: d.net} }

// DialContextLocalPort is From(port).DialContext. The driver calls it on dialers that can select shards.
func (d *Dialer) DialContextLocalPort(ctx context.Context, network, addr string, port int) (net.Conn, error) {
	return d.From(uint16(port)).DialContext(ctx, network, addr)
}

// DialContext connects to "address:port" of a node.
func (d *Dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.net != nil {
		return d.net.dial(ctx, d.LocalPort, addr)
	}
	dialer := net.Dialer{}
	if d.LocalPort != 0 {
		dialer.LocalAddr = &net.TCPAddr{Port: int(d.LocalPort)}
	}
	return dialer.DialContext(ctx, network, addr)
}

// tcpListen listens on the loopback address; port 0 means any.
func tcpListen(at netip.AddrPort) (net.Listener, error) {
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, fmt.Errorf("cqltest: %w", err)
	}
	return l, nil
}
