// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the tests' server: the protocol's framing without a database behind it.

// fakeServer answers the handshake by itself and leaves every other frame to handle.
type fakeServer struct {
	version    byte
	compressor Compressor
	auth       string // class of the authenticator, empty: none
	handle     func(c *fakePeer, h wire.Header, body []byte)
	wrap       func(net.Conn) net.Conn               // of accepted connections
	supported  func(p *fakePeer) map[string][]string // nil: compression only
	refuse     func(c *fakePeer, h wire.Header)      // answers frames of other versions, nil: an error of the protocol

	wg        sync.WaitGroup
	mu        sync.Mutex
	conns     map[net.Conn]struct{} // that are served
	listeners []net.Listener
	stopped   bool // connections are closed at once
}

// fakePeer is the server's end of a connection.
type fakePeer struct {
	s    *fakeServer
	end  net.Conn // as it was accepted
	conn net.Conn // end, as the server's wrap makes it
	in   io.Reader
	mu   sync.Mutex
	seg  bool

	startup map[string]string // options of STARTUP
}

// echo answers with a RESULT whose body is that of the request.
func echo(c *fakePeer, h wire.Header, body []byte) { c.reply(h.Stream, opResult, body) }

// echoForever is echo for this frame and all that follow, without an allocation: what is counted is the client's.
func echoForever(c *fakePeer, h wire.Header, body []byte) {
	echo(c, h, body)
	var frame, out []byte
	head := make([]byte, wire.HeaderSize)
	for {
		if _, err := io.ReadFull(c.in, head); err != nil {
			return
		}
		h, err := wire.ParseHeader(head)
		if err != nil {
			return
		}
		frame = append(frame[:0], head...)
		if n := wire.HeaderSize + h.Length; cap(frame) < n {
			frame = append(frame, make([]byte, n-len(frame))...)
		} else {
			frame = frame[:n]
		}
		if _, err := io.ReadFull(c.in, frame[wire.HeaderSize:]); err != nil {
			return
		}
		h.Response, h.Opcode = true, byte(opResult)
		wire.PutHeader(frame, h)
		if out = append(out[:0], frame...); c.seg {
			out, _ = wire.AppendSegments(out[:0], frame, nil)
		}
		if _, err := c.conn.Write(out); err != nil {
			return
		}
	}
}

// listen serves on a loopback port until the test ends.
func (s *fakeServer) listen(t testing.TB) string {
	t.Cleanup(s.stop)
	return s.listenAt(t, "127.0.0.1:0")
}

// listenAt serves at addr, and returns where that is: port 0 is any that is free.
func (s *fakeServer) listenAt(t testing.TB, addr string) string {
	t.Helper()
	var ln net.Listener
	var err error
	for range 100 { // a port that was just left may be taken for a moment
		if ln, err = net.Listen("tcp", addr); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, err)
	s.mu.Lock()
	s.listeners, s.stopped = append(s.listeners, ln), false
	s.mu.Unlock()
	s.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.accept(conn)
		}
	})
	return ln.Addr().String()
}

// accept serves conn.
func (s *fakeServer) accept(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		_ = conn.Close()
		return
	}
	if s.conns == nil {
		s.conns = map[net.Conn]struct{}{}
	}
	s.conns[conn] = struct{}{}
	s.wg.Go(func() {
		s.serve(conn)
		_ = conn.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, conn)
	})
}

// hangUp breaks all connections.
func (s *fakeServer) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// up takes connections again.
func (s *fakeServer) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = false
}

// down breaks all connections, and refuses new ones.
func (s *fakeServer) down() {
	s.mu.Lock()
	s.stopped = true
	for _, ln := range s.listeners {
		_ = ln.Close()
	}
	s.mu.Unlock()
	s.hangUp()
}

// stop is down, and waits until nothing of the server runs.
func (s *fakeServer) stop() {
	s.down()
	s.wg.Wait()
}

// serve speaks on conn until it fails.
func (s *fakeServer) serve(conn net.Conn) {
	end := conn
	if s.wrap != nil {
		conn = s.wrap(conn)
	}
	p := &fakePeer{s: s, end: end, conn: conn, in: bufio.NewReader(conn)}
	for {
		h, body, err := p.read()
		if err != nil {
			return
		}
		if h.Version != s.version && s.refuse != nil {
			s.refuse(p, h)
			continue
		}
		if h.Version != s.version {
			p.reply(h.Stream, opError, append(wire.AppendInt(nil, int32(CodeProtocol)), "\x00\x07version"...))
			continue
		}
		switch opcode(h.Opcode) {
		case opOptions:
			options := []byte("\x00\x01\x00\x0bCOMPRESSION\x00\x02\x00\x03lz4\x00\x06snappy")
			if s.supported != nil {
				options = appendMultimap(nil, s.supported(p))
			}
			p.reply(h.Stream, opSupported, options)
		case opStartup:
			r := wire.NewReader(body)
			p.startup = map[string]string{}
			for range r.Short() {
				key := r.String()
				p.startup[key] = r.String()
			}
			if s.auth != "" {
				b, _ := wire.AppendString(nil, s.auth)
				p.reply(h.Stream, opAuthenticate, b)
			} else {
				p.reply(h.Stream, opReady, nil)
			}
			p.startSegments()
		default:
			s.handle(p, h, body)
		}
	}
}

// appendMultimap appends a [string multimap].
func appendMultimap(b []byte, m map[string][]string) []byte {
	b = wire.AppendShort(b, uint16(len(m)))
	for k, values := range m {
		b = wire.AppendShort(mustString(b, k), uint16(len(values)))
		for _, v := range values {
			b = mustString(b, v)
		}
	}
	return b
}

func (p *fakePeer) startSegments() {
	if p.s.version < protoV5 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seg = true
	var decompress func(dst, src []byte, n int) ([]byte, error)
	if p.s.compressor != nil {
		decompress = p.s.compressor.AppendDecompressed
	}
	p.in = wire.NewSegmentReader(p.in, decompress)
}

func (p *fakePeer) read() (wire.Header, []byte, error) {
	var head [wire.HeaderSize]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return wire.Header{}, nil, err
	}
	h, err := wire.ParseHeader(head[:])
	if err != nil {
		return h, nil, err
	}
	body := make([]byte, h.Length)
	if _, err = io.ReadFull(p.in, body); err == nil && h.Flags&wire.FlagCompressed != 0 {
		body, err = p.s.compressor.AppendDecompressedWithLength(nil, body, wire.MaxBody)
	}
	return h, body, err
}

// reply sends a frame.
func (p *fakePeer) reply(stream int16, op opcode, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.conn.Write(p.frame(stream, op, body))
}

// replyFlags is reply with flags for what the body begins with.
func (p *fakePeer) replyFlags(stream int16, op opcode, flags byte, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.conn.Write(p.frameFlags(stream, op, flags, body))
}

// frame returns a frame as it goes over the wire.
func (p *fakePeer) frame(stream int16, op opcode, body []byte) []byte {
	return p.frameFlags(stream, op, 0, body)
}

func (p *fakePeer) frameFlags(stream int16, op opcode, flags byte, body []byte) []byte {
	h := wire.Header{Version: p.s.version, Response: true, Stream: stream, Opcode: byte(op), Flags: flags}
	if p.s.compressor != nil && p.s.version < protoV5 && len(body) > 100 {
		body, _ = p.s.compressor.AppendCompressedWithLength(nil, body)
		h.Flags |= wire.FlagCompressed
	}
	h.Length = len(body)
	b := make([]byte, wire.HeaderSize)
	wire.PutHeader(b, h)
	b = append(b, body...)
	if !p.seg {
		return b
	}
	var compress func(dst, src []byte) ([]byte, error)
	if p.s.compressor != nil {
		compress = p.s.compressor.AppendCompressed
	}
	b, _ = wire.AppendSegments(nil, b, compress)
	return b
}

// testConfig returns a configuration for connections to s.
func (s *fakeServer) testConfig() *connConfig {
	var d net.Dialer
	return &connConfig{
		dial:    func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) },
		version: s.version, compressor: s.compressor, timeout: 10 * time.Second, connectTimeout: 10 * time.Second,
		logger: slog.New(slog.DiscardHandler),
	}
}

// connect returns a connection over a socket. It is closed when the test ends, after which nothing of it may be left.
func (s *fakeServer) connect(t testing.TB, change ...func(*connConfig)) *conn {
	t.Helper()
	if s.handle == nil {
		s.handle = echo
	}
	addr := s.listen(t)
	requireNothingLeft(t)
	cfg := s.testConfig()
	for _, f := range change {
		f(cfg)
	}
	c, err := dialConn(context.Background(), cfg, addr)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.close(errDrained)
		<-c.gone
	})
	return c
}

// memory connects to s through memory. The connection belongs to the caller, who ends it and stops s.
func (s *fakeServer) memory(t testing.TB, change ...func(*connConfig)) *conn {
	t.Helper()
	c, err := s.dialMemory(change...)
	require.NoError(t, err)
	return c
}

func (s *fakeServer) dialMemory(change ...func(*connConfig)) (*conn, error) {
	if s.handle == nil {
		s.handle = echo
	}
	cfg := s.testConfig()
	cfg.dial = func(context.Context, string) (net.Conn, error) {
		client, server := newPipe()
		s.accept(server)
		return client, nil
	}
	for _, f := range change {
		f(cfg)
	}
	return dialConn(context.Background(), cfg, "127.0.0.1:9042")
}

// endConn closes a connection and waits until nothing of it is left, nor of its server.
func endConn(c *conn, s *fakeServer) {
	c.close(errDrained)
	<-c.gone
	s.stop()
}

// mayHaveLeft reports whether a byte of the request may have been handed to the socket.
func mayHaveLeft(err error) bool {
	var n *notSentError
	return !errors.As(err, &n)
}

// ask is roundTrip with a body of text.
func (c *conn) ask(ctx context.Context, body string) (string, error) {
	b := getBuffer(len(body))
	copy(b.b, body)
	defer b.release()
	resp, err := c.roundTrip(ctx, &request{op: opQuery, body: b})
	if err != nil {
		return "", err
	}
	defer resp.page.release()
	return string(resp.page.b), nil
}

// tlsPair returns a certificate for 127.0.0.1 and a pool that trusts it.
func tlsPair(t *testing.T, name string) (server, client *tls.Config) {
	t.Helper()
	cert, pool := selfSigned(t, name)
	return &tls.Config{Certificates: []tls.Certificate{cert}}, &tls.Config{RootCAs: pool}
}
