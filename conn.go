// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds conn: one socket, and the calls that are under way on it. A call claims a stream id, leaves its frame with the writer
// (conn_write.go), and waits in its slot until the reader (conn_read.go) puts the answer there, or its time is over (conn_deadline.go).
// A conn knows frames, and nothing of what is in them.

// connConfig says how to open a connection.
type connConfig struct {
	dial           func(ctx context.Context, addr string) (net.Conn, error) // nil: net.Dialer
	tls            *tls.Config                                              // nil: plain; ServerName is filled in from the address when it is empty
	version        byte
	compressor     Compressor    // used when the server and the protocol version have it; nil: none
	auth           Authenticator // nil: none
	tabletsV2      bool          // use ScyllaDB's experimental extension where the server has it
	options        map[string]string
	timeout        time.Duration // of a call whose context has no deadline; 0: none
	connectTimeout time.Duration // of dialling and handshake; 0: none
	heartbeat      time.Duration // see conn.beat; 0: none
	maxOrphans     int           // calls given up whose answers are still to come; beyond it the connection is replaced; 0: 1024
	maxStreams     int           // 0: all that the protocol has
	logger         *slog.Logger  // nil: none

	// Both are called on goroutines of their own, and drain waits for them: they must not call it.
	onEvent func(event any)          // one event at a time; nil: events are dropped
	onClose func(c *conn, err error) // once; nil: nobody is told
}

// defaultMaxOrphans is what ClusterConfig leaves to the connection.
const defaultMaxOrphans = 1024

// request is a frame to send, but for its stream id. roundTrip does not change it: it may be sent again, also at the same time.
type request struct {
	op    opcode
	flags byte
	body  *buffer
	began time.Time // the clock was read for it then; zero: it was not
	// timeout bounds the call, also where its context has a deadline. 0: the connection's, unless the context has one.
	timeout time.Duration
}

// response is an answer. Its body, decompressed, belongs to the receiver.
type response struct {
	header wire.Header
	page   *buffer
}

// The states of a slot. The caller takes it from free to waiting, and back to free at the end; the reader takes it from waiting to
// delivering to answered, or from orphaned to free.
const (
	slotFree       uint32 = iota
	slotWaiting           // the caller waits
	slotDelivering        // the reader, or the end of the connection, writes the outcome
	slotAnswered          // the outcome is there, for the caller to take
	slotOrphaned          // the caller has left; the stream id is in use until the answer comes
)

// slot is where a call waits. There is one for each stream id, used again and again.
type slot struct {
	state    atomic.Uint32
	start    atomic.Int64  // where its frame begins in all that was ever queued, -1 before it is
	deadline atomic.Int64  // on the connection's clock, 0: none
	wake     chan struct{} // capacity 1; a token may be stale, so that who receives one looks at the state
	resp     response
	err      error
}

const slotBlock = 64

type slots [slotBlock]slot

// conn is one connection. All its methods may be called by any number of goroutines.
type conn struct {
	cfg       *connConfig
	address   string
	born      time.Time // the connection's clock counts from here: unlike the wall clock it is never set
	sock      net.Conn
	raw       net.Conn // under TLS the socket below it, else sock
	resumable bool     // a write that was interrupted by a deadline can go on: TLS can't
	compress  Compressor
	options   map[string][]string // SUPPORTED
	features  features            // what of it is in use
	streams   *stream.Table
	blocks    []atomic.Pointer[slots] // made as stream ids are used
	freed     chan struct{}           // a token when an id was released while callers wait for one
	waiting   atomic.Int32            // callers that wait for an id
	orphans   atomic.Int32
	draining  atomic.Bool // no further calls of users
	isClosed  atomic.Bool
	closeOnce sync.Once
	closeErr  error         // why; written before done is closed
	done      chan struct{} // closed when the connection is
	idle      chan struct{} // a token when a call has ended while draining

	in       *bufio.Reader
	frames   io.Reader             // in, or the segments in it
	head     [wire.HeaderSize]byte // the reader's scratch
	proven   int                   // the reader's: the largest body that has arrived
	lastRead atomic.Int64          // when the socket last gave bytes, on the connection's clock

	w writer
	background
	deadlines
	events eventQueue
}

// background counts the goroutines of a connection.
type background struct {
	mu      sync.Mutex
	running int
	ended   bool          // no further ones
	gone    chan struct{} // closed when ended and none is left
}

// enter counts the calling goroutine in, unless the connection has ended. leave counts it out.
func (g *background) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.running++
	return true
}

func (g *background) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.ended && g.running == 0 {
		close(g.gone)
	}
}

// start runs f on a goroutine of its own, unless the connection has ended.
func (g *background) start(f func()) {
	if g.enter() {
		go func() {
			defer g.leave()
			f()
		}()
	}
}

// end lets no further goroutine start. It is called once.
func (g *background) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended = true; g.running == 0 {
		close(g.gone)
	}
}

// versionError says that the server does not speak the version that was tried.
type versionError struct {
	supported byte // the version of the server's answer
	err       error
}

func (e *versionError) Error() string {
	return fmt.Sprintf("protocol version is not supported (the server answered with v%d): %v", e.supported, e.err)
}

func (e *versionError) Unwrap() error { return e.err }

// dialConn opens a connection: TCP, TLS, STARTUP and authentication. On an error nothing is left open.
func dialConn(ctx context.Context, cfg *connConfig, addr string) (*conn, error) {
	if cfg.connectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.connectTimeout)
		defer cancel()
	}
	sock, err := dialSocket(ctx, cfg, addr)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	c := newConn(cfg, addr, sock)
	// The handshake runs on this goroutine; the end of ctx ends whatever it waits for on the socket.
	stop := context.AfterFunc(ctx, func() { _ = sock.SetDeadline(time.Unix(1, 0)) })
	err = c.handshake(ctx)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.sock.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return nil, err
	}
	c.run()
	return c, nil
}

func dialSocket(ctx context.Context, cfg *connConfig, addr string) (sock net.Conn, err error) {
	if cfg.dial == nil {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
	defer recovered(&err)
	if sock, err = cfg.dial(ctx, addr); err == nil && sock == nil {
		err = errors.New("the dialer gave neither a connection nor an error")
	}
	return sock, err
}

func newConn(cfg *connConfig, addr string, sock net.Conn) *conn {
	n := cfg.maxStreams
	if n == 0 {
		n = stream.MaxStreams
	}
	c := &conn{
		cfg: cfg, address: addr, born: time.Now(), sock: sock, raw: sock, streams: stream.New(n), freed: make(chan struct{}, 1),
		done: make(chan struct{}), idle: make(chan struct{}, 1), background: background{gone: make(chan struct{})},
	}
	switch sock.(type) {
	case *net.TCPConn, *net.UnixConn: // of any other type, a user's wrapper say, it is not known
		c.resumable = true
	}
	c.blocks = make([]atomic.Pointer[slots], (c.streams.Cap()+slotBlock-1)/slotBlock)
	return c
}

// run starts what a connection does by itself: reading, deadlines and heartbeat.
func (c *conn) run() {
	c.start(c.read)
	c.startTimers()
}

func (c *conn) version() byte { return c.cfg.version }
func (c *conn) addr() string  { return c.address }
func (c *conn) closed() bool  { return c.isClosed.Load() }

// refuses reports whether the connection takes no further calls.
func (c *conn) refuses() bool { return c.draining.Load() }

func (c *conn) inFlight() int { return c.streams.InUse() }

// now reads the connection's clock, in nanoseconds; it is never 0.
func (c *conn) now() int64 { return int64(time.Since(c.born)) + 1 }

// roundTrip sends req and waits for its answer. Errors are ctx's, ErrTimeoutNoResponse, ErrConnectionClosed and ErrNoStreams; they come
// in a *notSentError where no byte of the frame was handed to the socket. A call that is given up harms no other one: its stream id
// stays in use until the answer comes.
func (c *conn) roundTrip(ctx context.Context, req *request) (response, error) {
	if c.draining.Load() {
		return response{}, &notSentError{err: c.closedError()}
	}
	return c.call(ctx, req)
}

// call is roundTrip on a connection that may be draining.
func (c *conn) call(ctx context.Context, req *request) (response, error) {
	if err := ctx.Err(); err != nil {
		return response{}, &notSentError{err: err}
	}
	if len(req.body.b) > wire.MaxBody {
		return response{}, &notSentError{err: ErrFrameTooBig}
	}
	timeout := req.timeout
	if timeout <= 0 {
		if _, ok := ctx.Deadline(); !ok {
			timeout = c.cfg.timeout
		}
	}
	var deadline int64
	if timeout > 0 {
		deadline = c.clock(req) + int64(timeout)
	}
	id, err := c.claim(ctx, deadline)
	if err != nil {
		return response{}, &notSentError{err: err}
	}
	s := c.slot(id)
	s.start.Store(-1)
	s.deadline.Store(deadline)
	s.state.Store(slotWaiting)
	c.watch()
	if c.isClosed.Load() && s.state.CompareAndSwap(slotWaiting, slotFree) { // the end may have passed this slot by
		c.release(id)
		return response{}, &notSentError{err: c.closedError()}
	}
	if err := c.send(ctx, s, id, req); err != nil {
		c.withdraw(s, id)
		return response{}, &notSentError{err: err}
	}
	return c.wait(ctx, s, id)
}

// clock returns when a request began, on the connection's clock.
func (c *conn) clock(req *request) int64 {
	if req.began.IsZero() {
		return c.now()
	}
	return int64(req.began.Sub(c.born))
}

// withdraw frees the slot of a call whose frame was not queued.
func (c *conn) withdraw(s *slot, id int) {
	if !s.state.CompareAndSwap(slotWaiting, slotFree) { // the end of the connection was delivered, or is being
		for s.state.Load() != slotAnswered { // first the look: the token may have been taken in awaitRoom
			<-s.wake
		}
		_, _ = s.take()
	}
	c.release(id)
}

// wait waits for the outcome of a call whose frame is queued.
func (c *conn) wait(ctx context.Context, s *slot, id int) (response, error) {
	done := ctx.Done()
	for {
		var ended error
		if done == nil {
			<-s.wake
		} else {
			select {
			case <-s.wake:
			case <-done:
				ended = ctx.Err()
			}
		}
		if s.state.Load() == slotAnswered {
			resp, err := s.take()
			c.release(id)
			return resp, err
		}
		if ended == nil && s.expired(c.now()) {
			ended = ErrTimeoutNoResponse
		}
		if ended != nil && s.state.CompareAndSwap(slotWaiting, slotOrphaned) {
			c.orphaned()
			return response{}, ended
		}
		if ended != nil {
			done = nil // the answer is being delivered: it comes at once
		}
	}
}

// take takes the outcome out of an answered slot and frees it.
func (s *slot) take() (response, error) {
	resp, err := s.resp, s.err
	s.resp, s.err = response{}, nil
	s.state.Store(slotFree)
	return resp, err
}

func (s *slot) expired(now int64) bool {
	d := s.deadline.Load()
	return d != 0 && now >= d
}

// signal wakes the slot's caller, now or at its next wait.
func (s *slot) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// slot returns the slot of a stream id that was claimed.
func (c *conn) slot(id int) *slot {
	block := &c.blocks[id/slotBlock]
	b := block.Load()
	if b == nil {
		b = new(slots)
		for i := range b {
			b[i].wake = make(chan struct{}, 1)
		}
		if !block.CompareAndSwap(nil, b) {
			b = block.Load()
		}
	}
	return &b[id%slotBlock]
}

// claim returns a free stream id; when there is none it waits for one, until ctx or the deadline ends the wait.
func (c *conn) claim(ctx context.Context, deadline int64) (int, error) {
	if id, ok := c.streams.Claim(); ok {
		return id, nil
	}
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	var timeout <-chan time.Time
	if deadline != 0 {
		t := time.NewTimer(time.Duration(deadline - c.now()))
		defer t.Stop()
		timeout = t.C
	}
	for {
		if id, ok := c.streams.Claim(); ok {
			if c.waiting.Load() > 1 { // there may be another one: the token stands for any number of releases
				c.passToken()
			}
			return id, nil
		}
		select {
		case <-c.freed:
		case <-c.done:
			return 0, c.closedError()
		case <-timeout:
			return 0, ErrNoStreams
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", ErrNoStreams, ctx.Err())
		}
	}
}

// release frees a stream id for further calls.
func (c *conn) release(id int) {
	c.streams.Release(id)
	if c.waiting.Load() > 0 {
		c.passToken()
	}
	c.callEnded()
}

func (c *conn) passToken() {
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// callEnded tells a drain that a caller has left.
func (c *conn) callEnded() {
	if c.draining.Load() {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// orphaned counts a call that was given up. When too many are, the server is not answering: the connection takes no further calls, and
// ends when those under way have had their time.
func (c *conn) orphaned() {
	limit := c.cfg.maxOrphans
	if limit == 0 {
		limit = defaultMaxOrphans
	}
	limit = min(limit, max(c.streams.Cap()/4, 1))
	tooMany := int(c.orphans.Add(1)) > limit
	c.callEnded()
	if !tooMany || !c.draining.CompareAndSwap(false, true) {
		return
	}
	c.start(func() {
		ctx, cancel := context.WithTimeout(context.Background(), max(c.cfg.timeout, time.Second))
		defer cancel()
		c.awaitCalls(ctx)
		c.close(fmt.Errorf("%w: more than %d", errOrphans, limit))
	})
}

// awaitCalls waits until no caller waits for an answer, and reports whether that was before ctx ended.
func (c *conn) awaitCalls(ctx context.Context) bool {
	for c.callersWait() {
		select {
		case <-c.idle:
		case <-c.done:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// errOrphans is the cause of the end of a connection whose server does not answer.
var errOrphans = errors.New("requests were given up without an answer")

// errDrained is the cause of an end that nobody needs to be told of.
var errDrained = errors.New("closed by the driver")

// closeGrace is how long the last steps of an end may take: TLS's farewell, goroutines on their way out.
const closeGrace = time.Second

// drain refuses further calls, waits for those under way as long as ctx allows, and closes the connection. It returns when nothing of
// the connection is left, with ctx's error if it had to end calls, or if a callback does not return.
func (c *conn) drain(ctx context.Context) error {
	c.draining.Store(true)
	var err error
	if !c.awaitCalls(ctx) {
		err = ctx.Err()
	}
	c.close(errDrained)
	if late := awaitEnd(ctx, c.gone); late != nil {
		return late
	}
	return err
}

// awaitEnd waits until gone is closed, as long as ctx allows and closeGrace in any case.
func awaitEnd(ctx context.Context, gone <-chan struct{}) error {
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-gone:
		return nil
	case <-grace.C:
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the connection and every call on it. It does not wait for the connection's goroutines.
func (c *conn) close(err error) {
	c.closeOnce.Do(func() {
		c.draining.Store(true)
		c.closeErr = err
		close(c.done)
		c.isClosed.Store(true)
		handed := c.w.stop()
		for i := range c.blocks {
			b := c.blocks[i].Load()
			if b == nil {
				continue
			}
			for j := range b {
				c.failCall(&b[j], handed)
			}
		}
		if c.cfg.onClose != nil {
			c.start(func() { c.cfg.onClose(c, err) })
		}
		c.end()
		c.stopTimers()
		c.closeSocket()
	})
}

// closeSocket ends the reader and whoever is writing.
func (c *conn) closeSocket() {
	if c.sock != c.raw && errors.Is(c.closeErr, errDrained) {
		// TLS takes its leave with a record, and would wait for five seconds for room in the socket.
		defer time.AfterFunc(closeGrace, func() { _ = c.raw.Close() }).Stop()
		_ = c.sock.Close()
	}
	_ = c.raw.Close()
}

// failCall gives a call the end of the connection as its outcome. handed tells how many of the queued bytes were handed to the socket.
func (c *conn) failCall(s *slot, handed int64) {
	if !s.state.CompareAndSwap(slotWaiting, slotDelivering) {
		return
	}
	s.err = c.closedError()
	if start := s.start.Load(); start < 0 || start >= handed {
		s.err = &notSentError{err: s.err}
	}
	s.state.Store(slotAnswered)
	s.signal()
}

// closedError returns ErrConnectionClosed with the cause, if there is one yet.
func (c *conn) closedError() error {
	select {
	case <-c.done:
		if c.closeErr != nil && !errors.Is(c.closeErr, errDrained) {
			return fmt.Errorf("%w: %w", ErrConnectionClosed, c.closeErr)
		}
	default:
	}
	return ErrConnectionClosed
}
