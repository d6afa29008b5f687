// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds the network of the fault tests: connections in memory that behave as TCP's do, with a window and deadlines, and that
// virtual time (testing/synctest) knows to be idle; and a cluster of scripted nodes behind such connections.
//
// The fault tests are numbered: TestFault07... is case 7 of the list of faults that the driver must survive. fault_transport_test.go has
// 1 to 6, fault_segment_test.go 7 and 8, fault_protocol_test.go and fault_stream_test.go 9 to 15, fault_statement_test.go 16 to 19,
// fault_semantics_test.go 32 to 34.

// pipeWindow is how many bytes may be under way in one direction before the writer waits.
const pipeWindow = 256 << 10

// pipeHalf is one direction of a connection.
type pipeHalf struct {
	mu                     sync.Mutex
	changed                *sync.Cond
	b                      []byte
	writerGone, readerGone bool
	readBy, writeBy        time.Time // deadlines, zero: none
}

// pipeEnd is one end of a connection in memory.
type pipeEnd struct {
	in, out *pipeHalf
	once    sync.Once
	closed  func() // once, may be nil
}

// newPipe returns the two ends of a connection.
func newPipe() (a, b *pipeEnd) {
	var halves [2]*pipeHalf
	for i := range halves {
		h := &pipeHalf{}
		h.changed = sync.NewCond(&h.mu)
		halves[i] = h
	}
	return &pipeEnd{in: halves[0], out: halves[1]}, &pipeEnd{in: halves[1], out: halves[0]}
}

func passed(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func (p *pipeEnd) Read(b []byte) (int, error) {
	h := p.in
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerGone:
			return 0, net.ErrClosed
		case passed(h.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(h.b) > 0:
			n := copy(b, h.b)
			h.b = h.b[n:]
			h.changed.Broadcast()
			return n, nil
		case h.writerGone:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (p *pipeEnd) Write(b []byte) (written int, err error) {
	h := p.out
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch n := min(pipeWindow-len(h.b), len(b)-written); {
		case h.writerGone:
			return written, net.ErrClosed
		case h.readerGone:
			return written, io.ErrClosedPipe
		case passed(h.writeBy):
			return written, os.ErrDeadlineExceeded
		case n > 0:
			h.b = append(h.b, b[written:written+n]...)
			written += n
			h.changed.Broadcast()
		}
		if written == len(b) {
			return written, nil
		}
		if len(h.b) >= pipeWindow {
			h.changed.Wait()
		}
	}
}

// Close ends both directions: the peer reads what is under way, then io.EOF.
func (p *pipeEnd) Close() error {
	p.once.Do(func() {
		for _, h := range []*pipeHalf{p.in, p.out} {
			h.mu.Lock()
			if h == p.in {
				h.readerGone = true
			} else {
				h.writerGone = true
			}
			h.changed.Broadcast()
			h.mu.Unlock()
		}
		if p.closed != nil {
			p.closed()
		}
	})
	return nil
}

// setDeadline sets a deadline of h and wakes who waits when it has passed.
func (h *pipeHalf) setDeadline(deadline *time.Time, t time.Time) {
	h.mu.Lock()
	*deadline = t
	h.changed.Broadcast()
	h.mu.Unlock()
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.changed.Broadcast()
		})
	}
}

func (p *pipeEnd) SetReadDeadline(t time.Time) error { p.in.setDeadline(&p.in.readBy, t); return nil }
func (p *pipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.setDeadline(&p.out.writeBy, t)
	return nil
}
func (p *pipeEnd) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

func (p *pipeEnd) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (p *pipeEnd) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// memory connects to s through memory. The connection belongs to the caller, who ends it and stops s.
func (s *testServer) memory(t testing.TB, change ...func(*connConfig)) *conn {
	t.Helper()
	c, err := s.dialMemory(change...)
	require.NoError(t, err)
	return c
}

func (s *testServer) dialMemory(change ...func(*connConfig)) (*conn, error) {
	if s.handle == nil {
		s.handle = echo
	}
	cfg := s.testConfig()
	cfg.dial = func(context.Context, string) (net.Conn, error) {
		client, server := newPipe()
		s.wg.Go(func() { s.serve(server) })
		return client, nil
	}
	for _, f := range change {
		f(cfg)
	}
	return dialConn(context.Background(), cfg, "127.0.0.1:9042")
}

// endConn closes a connection and waits until nothing of it is left, nor of its server.
func endConn(c *conn, s *testServer) {
	c.close(errDrained)
	<-c.gone
	s.stop()
}

// pipeCluster is a fakeCluster whose sessions reach the nodes through memory.
type pipeCluster struct {
	*fakeCluster
	lines  sync.Mutex
	open   int                                    // clients' ends that are not closed
	dials  map[string]int                         // by node
	down   bool                                   // every dial is refused
	client func(ip string, end net.Conn) net.Conn // wraps clients' ends; nil: nothing
	ends   map[string][]*pipeEnd                  // servers' ends, by node
}

var errRefused = errors.New("connection refused")

func newPipeCluster(t testing.TB, version byte, n int, change ...func(*testServer)) *pipeCluster {
	t.Helper()
	c := &fakeCluster{
		t: t, version: version, port: 9042, prepared: map[string]preparedSpec{}, sent: map[string]int{}, prepares: map[string]int{},
	}
	for i := range n {
		node := &fakeNode{cluster: c, ip: net.IPv4(127, 0, 0, byte(i+1)).String(), id: UUID{0xFA, byte(i + 1)}, schema: UUID{1}}
		node.token = fmt.Sprint(int64(i) << 60)
		node.server = &testServer{version: version, handle: node.handle}
		for _, f := range change {
			f(node.server)
		}
		c.nodes = append(c.nodes, node)
	}
	c.peers = c.nodes
	return &pipeCluster{fakeCluster: c, dials: map[string]int{}, ends: map[string][]*pipeEnd{}}
}

// DialContext implements Dialer.
func (p *pipeCluster) DialContext(_ context.Context, _, addr string) (net.Conn, error) {
	p.lines.Lock()
	defer p.lines.Unlock()
	for _, node := range p.nodes {
		if node.addr() != addr || p.down {
			continue
		}
		client, server := newPipe()
		p.dials[node.ip]++
		p.open++
		client.closed = func() {
			p.lines.Lock()
			defer p.lines.Unlock()
			p.open--
		}
		p.ends[node.ip] = append(p.ends[node.ip], server)
		node.server.wg.Go(func() { node.server.serve(server) })
		if p.client != nil {
			return p.client(node.ip, client), nil
		}
		return client, nil
	}
	return nil, errRefused
}

// config returns a configuration that reaches the first node.
func (p *pipeCluster) config() *ClusterConfig {
	cfg := p.fakeCluster.config()
	cfg.Dialer, cfg.Logger = p, slog.New(slog.DiscardHandler)
	return cfg
}

// session returns a session; stop ends it.
func (p *pipeCluster) session(change ...func(*ClusterConfig)) *Session {
	p.t.Helper()
	cfg := p.config()
	for _, f := range change {
		f(cfg)
	}
	s, err := cfg.CreateSession()
	require.NoError(p.t, err)
	return s
}

// stop ends s, which may be nil, and the nodes, and checks that no socket is left. It runs in a bubble of synctest, where a goroutine that
// is left fails the test by itself.
func (p *pipeCluster) stop(s *Session) {
	p.t.Helper()
	if s != nil {
		s.Close()
	}
	for _, node := range p.nodes {
		node.server.stop()
	}
	synctest.Wait() // connections that broke just now are on their way out
	p.lines.Lock()
	defer p.lines.Unlock()
	require.Zero(p.t, p.open, "sockets are left")
}

// breakNode closes all connections of a node, at its end.
func (p *pipeCluster) breakNode(ip string) {
	p.lines.Lock()
	ends := p.ends[ip]
	p.ends[ip] = nil
	p.lines.Unlock()
	for _, end := range ends {
		_ = end.Close()
	}
}

// dialCount returns how many connections were made.
func (p *pipeCluster) dialCount() (n int) {
	p.lines.Lock()
	defer p.lines.Unlock()
	for _, d := range p.dials {
		n += d
	}
	return n
}
