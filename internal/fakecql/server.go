// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"bufio"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// The server side of the protocol's framing, without a database.

// A Compressor compresses bodies and segments. The driver's compressors implement it.
type Compressor interface {
	Name() string
	AppendCompressedWithLength(dst, src []byte) ([]byte, error)
	AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error)
	AppendCompressed(dst, src []byte) ([]byte, error)
	AppendDecompressed(dst, src []byte, size int) ([]byte, error)
}

// A Server responds to OPTIONS and STARTUP, and passes every other frame to Handle.
type Server struct {
	Version    byte
	Compressor Compressor                                // nil means none
	Auth       string                                    // class of the authenticator; empty means none
	Handle     func(c *Conn, h wire.Header, body []byte) // runs on the goroutine that reads from the connection
	Wrap       func(net.Conn) net.Conn                   // wraps an accepted connection
	Supported  func(c *Conn) map[string][]string         // options in SUPPORTED; nil means only compression
	// responds to frames of another version; nil means a protocol error
	Refuse func(c *Conn, h wire.Header)

	wg        sync.WaitGroup
	mu        sync.Mutex
	conns     map[net.Conn]struct{}
	listeners []net.Listener
	stopped   bool     // connections are closed at once
	prepared  sync.Map // the ids of statements, as string, in the RESULTs that were sent
}

// A Conn is the server's end of a connection.
type Conn struct {
	Server  *Server
	End     net.Conn          // as accepted
	Conn    net.Conn          // End, wrapped by Server.Wrap
	In      io.Reader         // frames without segments
	Startup map[string]string // options of STARTUP

	mu       sync.Mutex
	Segments bool // frames are in segments
}

// Echo responds to a frame with a RESULT of the same body.
func Echo(c *Conn, h wire.Header, body []byte) { c.Reply(h.Stream, OpResult, body) }

// EchoForever echoes this frame and all later ones without allocations, so that a test can count the client's
// allocations.
func EchoForever(c *Conn, h wire.Header, body []byte) {
	Echo(c, h, body)
	var frame, out []byte
	head := make([]byte, wire.HeaderSize)
	for {
		if _, err := io.ReadFull(c.In, head); err != nil {
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
		if _, err := io.ReadFull(c.In, frame[wire.HeaderSize:]); err != nil {
			return
		}
		h.Response, h.Opcode = true, byte(OpResult)
		wire.PutHeader(frame, h)
		if out = append(out[:0], frame...); c.Segments {
			out, _ = wire.AppendSegments(out[:0], frame, nil)
		}
		if _, err := c.Conn.Write(out); err != nil {
			return
		}
	}
}

// VoidForever responds to this request and all later ones on its connection with RESULT void, without allocations.
// Bodies have at most 4096 bytes.
func VoidForever(r *Request) {
	c, h := r.Conn, wire.Header{
		Version: r.Conn.Server.Version, Response: true, Stream: r.Stream, Opcode: byte(OpResult),
		Length: 4,
	}
	head, body := make([]byte, wire.HeaderSize), make([]byte, 4096)
	var frame, out []byte
	for {
		frame = append(frame[:0], make([]byte, wire.HeaderSize)...)
		wire.PutHeader(frame, h)
		frame = append(frame, 0, 0, 0, byte(ResultVoid))
		if out = append(out[:0], frame...); c.Segments {
			out, _ = wire.AppendSegments(out[:0], frame, nil)
		}
		if _, err := c.Conn.Write(out); err != nil {
			return
		}
		if _, err := io.ReadFull(c.In, head); err != nil {
			return
		}
		next, err := wire.ParseHeader(head)
		if err != nil || next.Length > len(body) {
			return
		}
		if _, err := io.ReadFull(c.In, body[:next.Length]); err != nil {
			return
		}
		h.Stream = next.Stream
	}
}

// Listen serves on a free loopback port until the test ends, and returns the address.
func (s *Server) Listen(t testing.TB) string {
	t.Cleanup(s.Stop)
	return s.listenAt(t, "127.0.0.1:0")
}

// listenAt serves at addr and returns the address with its port.
func (s *Server) listenAt(t testing.TB, addr string) string {
	t.Helper()
	var ln net.Listener
	var err error
	for range 100 { // a port that was just released may be in use for a moment
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
			s.Accept(conn)
		}
	})
	return ln.Addr().String()
}

// Accept serves conn.
func (s *Server) Accept(conn net.Conn) {
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

// Go runs f on a goroutine that Stop awaits.
func (s *Server) Go(f func()) { s.wg.Go(f) }

// HangUp breaks all connections.
func (s *Server) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// up reverts down.
func (s *Server) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = false
}

// down breaks all connections and refuses new ones.
func (s *Server) down() {
	s.mu.Lock()
	s.stopped = true
	for _, ln := range s.listeners {
		_ = ln.Close()
	}
	s.mu.Unlock()
	s.HangUp()
}

// Stop breaks all connections, refuses new ones, and waits until the goroutines of the server have ended.
func (s *Server) Stop() {
	s.down()
	s.wg.Wait()
}

// serve reads frames from conn until a read fails.
func (s *Server) serve(conn net.Conn) {
	end := conn
	if s.Wrap != nil {
		conn = s.Wrap(conn)
	}
	p := &Conn{Server: s, End: end, Conn: conn, In: bufio.NewReader(conn)}
	for {
		h, body, err := p.read()
		if err != nil {
			return
		}
		switch {
		case h.Version != s.Version && s.Refuse != nil:
			s.Refuse(p, h)
		case h.Version >= V6 && h.Flags&wire.FlagBeta == 0: // of each request, as Cassandra does
			p.Reply(h.Stream, OpError, AppendString(wire.AppendInt(nil, codeProtocol),
				"Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"))
		case h.Version != s.Version:
			p.Reply(h.Stream, OpError, AppendString(wire.AppendInt(nil, codeProtocol), "version"))
		case Opcode(h.Opcode) == OpOptions:
			options := map[string][]string{"COMPRESSION": {"lz4", "snappy"}}
			if s.Supported != nil {
				options = s.Supported(p)
			}
			p.Reply(h.Stream, OpSupported, appendMultimap(nil, options))
		case Opcode(h.Opcode) == OpStartup:
			p.start(h.Stream, body)
		default:
			s.Handle(p, h, body)
		}
	}
}

// start responds to STARTUP. On v5 this response is the last frame without segments.
func (c *Conn) start(stream int16, body []byte) {
	r := wire.NewReader(body)
	c.Startup = map[string]string{}
	for range r.Short() {
		key := r.String()
		c.Startup[key] = r.String()
	}
	if c.Server.Auth != "" {
		c.Reply(stream, OpAuthenticate, AppendString(nil, c.Server.Auth))
	} else {
		c.Reply(stream, OpReady, nil)
	}
	if c.Server.Version < V5 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Segments = true
	var decompress func(dst, src []byte, n int) ([]byte, error)
	if c.Server.Compressor != nil {
		decompress = c.Server.Compressor.AppendDecompressed
	}
	c.In = wire.NewSegmentReader(c.In, decompress)
}

// appendMultimap appends a [string multimap].
func appendMultimap(b []byte, m map[string][]string) []byte {
	b = wire.AppendShort(b, uint16(len(m)))
	for k, values := range m {
		b = wire.AppendShort(AppendString(b, k), uint16(len(values)))
		for _, v := range values {
			b = AppendString(b, v)
		}
	}
	return b
}

// read returns the next frame, with its body decompressed.
func (c *Conn) read() (wire.Header, []byte, error) {
	var head [wire.HeaderSize]byte
	if _, err := io.ReadFull(c.In, head[:]); err != nil {
		return wire.Header{}, nil, err
	}
	h, err := wire.ParseHeader(head[:])
	if err != nil {
		return h, nil, err
	}
	body := make([]byte, h.Length)
	if _, err = io.ReadFull(c.In, body); err == nil && h.Flags&wire.FlagCompressed != 0 {
		body, err = c.Server.Compressor.AppendDecompressedWithLength(nil, body, wire.MaxBody)
	}
	return h, body, err
}

// Reply sends a frame.
func (c *Conn) Reply(stream int16, op Opcode, body []byte) { c.ReplyFlags(stream, op, 0, body) }

// ReplyFlags sends a frame with header flags.
func (c *Conn) ReplyFlags(stream int16, op Opcode, flags byte, body []byte) {
	if op == OpResult {
		c.Server.notePrepared(body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.Conn.Write(c.frame(stream, op, flags, body))
}

// notePrepared stores the id of the statement if body is the RESULT of a PREPARE.
func (s *Server) notePrepared(body []byte) {
	r := wire.NewReader(body)
	if r.Int() == ResultPrepared {
		s.prepared.Store(string(r.ShortBytes()), true)
	}
}

// Push sends an EVENT.
func (c *Conn) Push(body []byte) { c.Reply(-1, OpEvent, body) }

// Frame returns the bytes that Reply sends.
func (c *Conn) Frame(stream int16, op Opcode, body []byte) []byte {
	return c.frame(stream, op, 0, body)
}

// frame returns the bytes of a response: a frame, in segments once the connection uses them. Short bodies stay
// uncompressed, so that tests see both forms.
func (c *Conn) frame(stream int16, op Opcode, flags byte, body []byte) []byte {
	s := c.Server
	h := wire.Header{Version: s.Version, Response: true, Stream: stream, Opcode: byte(op), Flags: flags}
	if s.Compressor != nil && s.Version < V5 && len(body) > 100 {
		body, _ = s.Compressor.AppendCompressedWithLength(nil, body)
		h.Flags |= wire.FlagCompressed
	}
	h.Length = len(body)
	b := make([]byte, wire.HeaderSize)
	wire.PutHeader(b, h)
	b = append(b, body...)
	if !c.Segments {
		return b
	}
	var compress func(dst, src []byte) ([]byte, error)
	if s.Compressor != nil {
		compress = s.Compressor.AppendCompressed
	}
	b, _ = wire.AppendSegments(nil, b, compress)
	return b
}

// Closed reports whether the connection has ended.
func (c *Conn) Closed() bool {
	c.Server.mu.Lock()
	defer c.Server.mu.Unlock()
	_, open := c.Server.conns[c.End]
	return !open
}
