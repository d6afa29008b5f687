// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// A network in memory: connections with a window of fixed size, deadlines, half-closing and resets. It uses no socket,
// so that a cluster with its clients runs inside a testing/synctest bubble.

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
	out, in := newMemStream(m.window), newMemStream(m.window)
	client := &memConn{r: in, w: out, local: from, remote: to, gone: func() {
		m.mu.Lock()
		delete(m.inUse, from)
		m.mu.Unlock()
	}}
	server := &memConn{r: out, w: in, local: to, remote: from}
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

// memStream is one direction of a connection.
type memStream struct {
	mu     sync.Mutex
	change sync.Cond
	buf    []byte
	window int
	eof    bool // the writer has closed
	reset  bool // the reader has closed
	read   memDeadline
	write  memDeadline
}

// memDeadline is a deadline of one direction of a memConn. The stream's mu guards its fields.
type memDeadline struct {
	timer *time.Timer
	past  bool
	turn  int // counts calls of set, so that a stale timer does nothing
}

func newMemStream(window int) *memStream {
	s := &memStream{window: window}
	s.change.L = &s.mu
	return s
}

// set arms a deadline of s.
func (s *memStream) set(d *memDeadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.turn++
	d.past = false
	if !t.IsZero() {
		if wait := time.Until(t); wait <= 0 {
			d.past = true
		} else {
			turn := d.turn
			d.timer = time.AfterFunc(wait, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				if d.turn == turn {
					d.past = true
					s.change.Broadcast()
				}
			})
		}
	}
	s.change.Broadcast()
}

// stop stops the timers of s.
func (s *memStream) stop(d *memDeadline) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.turn++
}

// memConn is one end of a connection.
type memConn struct {
	r, w          *memStream
	local, remote netip.AddrPort
	once          sync.Once
	gone          func()
}

func (c *memConn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// Read blocks until there are bytes, the stream ends, or the deadline has passed. Bytes written before the end are read
// first.
func (c *memConn) Read(p []byte) (int, error) {
	s := c.r
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.reset:
			return 0, c.opError("read", net.ErrClosed)
		case s.read.past:
			return 0, c.opError("read", os.ErrDeadlineExceeded)
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			if s.buf = s.buf[n:]; len(s.buf) == 0 {
				s.buf = nil
			}
			s.change.Broadcast()
			return n, nil
		case s.eof:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.change.Wait()
	}
}

// Write blocks while the window of the peer is full, as a TCP connection does.
func (c *memConn) Write(p []byte) (int, error) {
	s := c.w
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for {
		switch {
		case s.eof:
			return n, c.opError("write", net.ErrClosed)
		case s.reset:
			return n, c.opError("write", syscall.EPIPE)
		case s.write.past:
			return n, c.opError("write", os.ErrDeadlineExceeded)
		}
		k := min(len(p)-n, s.window-len(s.buf))
		if k > 0 {
			s.buf = append(s.buf, p[n:n+k]...)
			n += k
			s.change.Broadcast()
		}
		if n == len(p) {
			return n, nil
		}
		s.change.Wait()
	}
}

// CloseWrite closes the direction to the peer, which reads the bytes in flight and then io.EOF.
func (c *memConn) CloseWrite() error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.eof = true
	c.w.change.Broadcast()
	return nil
}

// Close implements net.Conn. The peer can still read the bytes in flight.
func (c *memConn) Close() error {
	err := c.opError("close", net.ErrClosed)
	c.once.Do(func() {
		err = nil
		c.w.mu.Lock()
		c.w.eof = true
		c.w.stop(&c.w.write)
		c.w.change.Broadcast()
		c.w.mu.Unlock()
		c.r.mu.Lock()
		c.r.reset, c.r.buf = true, nil
		c.r.stop(&c.r.read)
		c.r.change.Broadcast()
		c.r.mu.Unlock()
		if c.gone != nil {
			c.gone()
		}
	})
	return err
}

func (c *memConn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.local) }
func (c *memConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

func (c *memConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *memConn) SetReadDeadline(t time.Time) error  { c.r.set(&c.r.read, t); return nil }
func (c *memConn) SetWriteDeadline(t time.Time) error { c.w.set(&c.w.write, t); return nil }

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
