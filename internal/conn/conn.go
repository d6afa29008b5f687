// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/queue"
	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Config configures a connection.
type Config struct {
	Dial func(ctx context.Context, addr string) (net.Conn, error) // nil means net.Dialer
	// nil means no TLS; an empty ServerName is set from the address
	TLS       *tls.Config
	DialerTLS bool // dial may return a connection with TLS, to which tls does not apply
	Version   byte
	// used if the server and the protocol version support it; nil means none
	Compressor     cql.Compressor
	Auth           cql.Authenticator                 // nil means none
	AuthFor        func() (cql.Authenticator, error) // returns the Authenticator in place of auth; nil means auth
	NoTablets      bool                              // do not use ScyllaDB's tablets
	TabletsV2      bool                              // use ScyllaDB's experimental extension if the server supports it
	Options        map[string]string
	Timeout        time.Duration // of a call whose context has no deadline; 0 means none
	ConnectTimeout time.Duration // of dialing, handshake and prepare; 0 means none
	Heartbeat      time.Duration // see Conn.beat; 0 means none
	BeatTimeout    time.Duration // of a heartbeat; 0 means DefaultBeatTimeout
	maxOrphans     int           // canceled calls without a response; with more the connection is replaced; 0 means 1024
	MaxStreams     int           // 0 means the protocol's maximum
	Logger         *slog.Logger  // nil means none
	Memory         *queue.Budget // counts responses; nil means none
	// runs on a connection that is ready for requests; its error ends the connection; nil means none
	Prepare func(ctx context.Context, c *Conn) error

	OnEvent func(event any) // one event at a time; nil means that events are dropped
	Hooks
}

// Hooks are the functions by which a connection reports changes of its state; nil means none. They run on
// goroutines of the connection. drain waits for them, so they must not call drain.
type Hooks struct {
	OnClose   func(c *Conn, err error) // once
	OnSilence func(c *Conn)            // Conn.silent has changed
	// there are too many orphans: the owner opens another connection, then drains this one; called repeatedly. nil means
	// that the connection drains itself
	OnOverdue func(c *Conn)
}

// Request is a frame without its stream id. RoundTrip does not change it: several calls may send one request, even at
// the same time.
type Request struct {
	Op    frame.Opcode
	Flags byte
	Body  *Buffer
	Began time.Time // start of the request; zero means that the clock was not read
	// Timeout bounds the call, even if its context has a deadline. 0 means the connection's timeout, which applies only
	// without a context deadline.
	Timeout time.Duration
	// Movable means that the call ends with ErrSilent on a silent connection, before its time is up, because its caller
	// sends the request to another node.
	Movable bool
	// Prompt means that the end of the context ends the call at once, and not at the next look at the context. It costs
	// a channel of the context and a select. Callers set it where they cancel the context themselves.
	Prompt bool
	probe  bool // of the driver itself: also sent on a connection that refuses calls
	// Expected is the memory that the request has acquired for its response.
	Expected int64
}

// Response is the response to a request. The receiver owns its decompressed body.
type Response struct {
	Header  wire.Header
	Body    *Buffer
	Latency time.Duration // of a request that has read the clock at its start
}

// waiter is a call as its caller sees it.
type waiter struct {
	*slot
	id       int
	sent     int64 // start of the attempt; times are on the connection's clock
	deadline int64 // 0 means that only the context bounds the call
	patience int64 // see Conn.checkWait
	ends     int64 // deadline of the context; 0 means none
	movable  bool  // see request
	prompt   bool  // see request
	polls    bool  // the caller looks at its context from time to time: see Conn.checkWait
	silent   bool  // the connection was silent at the start
}

// Conn is one connection. All its methods are safe for concurrent use.
type Conn struct {
	Config       *Config
	address      string
	local        string    // host:port of this end; empty means unknown
	Born         time.Time // zero of the connection's clock, which is monotonic
	Sock         net.Conn
	raw          net.Conn // the socket below TLS; without TLS equal to sock
	resumable    bool     // a write to raw that was interrupted by a deadline can continue
	compress     cql.Compressor
	options      map[string][]string // SUPPORTED
	Features     Features            // the extensions in use
	Streams      *stream.Table
	slots        slots
	streamWake   chan struct{} // a token when an id was released while callers wait for one
	waiting      atomic.Int32  // callers waiting for an id
	Orphans      atomic.Int32
	Draining     atomic.Bool  // new calls of users are refused
	Silent       atomic.Bool  // see silence.go
	Probing      atomic.Bool  // the goroutine of probe runs
	waitingSince atomic.Int64 // when calls began to wait, on the connection's clock, see lag.go
	isClosed     atomic.Bool
	closeOnce    sync.Once
	CloseErr     error         // cause of the end; written before done is closed
	done         chan struct{} // closed when the connection has ended
	drainWake    chan struct{} // a token when a call has ended while draining

	// Each call reads the fields above, each answer changes some of those below, and each write some of the writer's. The
	// gaps keep the groups on cache lines of their own, in pairs, as processors fetch them.
	_         [128]byte
	in        *wire.Input
	frames    frameSource           // in, or the payload of the segments in it
	head      [wire.HeaderSize]byte // scratch of the reader
	proven    int                   // of the reader: size of the largest body that arrived in parts
	readAt    int64                 // of the reader: time of the last bytes received, on the connection's clock
	busyAt    int64                 // of the reader: when it last received much at a time, see calm
	partial   int                   // of the reader: bytes received since the last whole frame
	answers   uint64                // of the reader: answers received
	answered  atomic.Int64          // time of the last answer to a request, see noteAnswer
	usual     atomic.Int64          // latency in nanoseconds, see lag.go
	Latencies stats.Recorder        // of the reader

	_ [128]byte
	w writer

	_         [128]byte
	Overload  overload
	tasks     background.Group // goroutines and timers
	deadlines deadlines
	events    eventQueue
}

// VersionError means that the server does not support the protocol version that was tried.
type VersionError struct {
	Supported byte // version of the response
	Err       error
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("protocol version is not supported (the server answered with v%d): %v", e.Supported, e.Err)
}

func (e *VersionError) Unwrap() error { return e.Err }

// Dial opens a connection: TCP, TLS, STARTUP, authentication and Config.prepare. On an error it closes
// everything it opened.
func Dial(ctx context.Context, cfg *Config, addr string) (*Conn, error) {
	if cfg.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.ConnectTimeout)
		defer cancel()
	}
	sock, err := dialSocket(ctx, cfg, addr)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" { // its text begins with "dial"
			return nil, errtext.Errorf("%w", err)
		}
		return nil, errtext.Errorf("dial: %w", err)
	}
	c := New(cfg, addr, sock)
	// The handshake runs on this goroutine; the end of ctx interrupts its reads and writes.
	stop := context.AfterFunc(ctx, func() { _ = sock.SetDeadline(time.Unix(1, 0)) })
	err = c.handshake(ctx)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Sock.Close()
		if ctx.Err() != nil {
			err = errtext.Errorf("%w: %w", ctx.Err(), err)
		}
		return nil, err
	}
	c.run()
	if cfg.Prepare == nil {
		return c, nil
	}
	if err := cfg.Prepare(ctx, c); err != nil {
		_ = c.Drain(ctx, stats.EndOther) // it has no calls, and is not counted
		return nil, err
	}
	return c, nil
}

func dialSocket(ctx context.Context, cfg *Config, addr string) (sock net.Conn, err error) {
	if cfg.Dial == nil {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
	defer background.Recover(&err)
	if sock, err = cfg.Dial(ctx, addr); err == nil && sock == nil {
		err = errors.New("the dialer returned neither a connection nor an error")
	}
	return sock, err
}

// New returns a connection over sock, whose goroutines are not started and whose handshake is not done. addr is the
// host:port that sock is connected to.
func New(cfg *Config, addr string, sock net.Conn) *Conn {
	n := cfg.MaxStreams
	if n == 0 {
		n = stream.MaxStreams
	}
	c := &Conn{
		Config: cfg, address: addr, Born: time.Now(), Sock: sock, raw: sock, Streams: stream.New(n),
		streamWake: make(chan struct{}, 1), done: make(chan struct{}), drainWake: make(chan struct{}, 1),
	}
	c.deadlines.ticks = c.tasks.NewTimer(c.onTick)
	c.deadlines.beats = c.tasks.NewTimer(c.beat)
	switch sock.(type) {
	case *net.TCPConn, *net.UnixConn: // other types, such as a user's wrapper, may not support it
		c.resumable = true
	}
	return c
}

// run starts the reader and the heartbeat.
func (c *Conn) run() {
	c.answered.Store(c.now())
	if r := c.w.records; r != nil {
		r.store(true)
	}
	c.tasks.Go(c.read)
	if c.Config.Heartbeat > 0 {
		c.deadlines.beats.Reset(c.Config.Heartbeat)
	}
}

func (c *Conn) Version() byte { return c.Config.Version }
func (c *Conn) Addr() string  { return c.address }
func (c *Conn) Closed() bool  { return c.isClosed.Load() }

// Refuses reports whether the connection takes no further calls.
func (c *Conn) Refuses() bool { return c.Draining.Load() }

func (c *Conn) InFlight() int { return c.Streams.InUse() }

// now returns the time on the connection's clock, in nanoseconds, never 0.
func (c *Conn) now() int64 { return int64(time.Since(c.Born)) + 1 }

// RoundTrip is call with a response of its own.
func (c *Conn) RoundTrip(ctx context.Context, req *Request) (resp Response, err error) {
	err = c.Call(ctx, req, &resp)
	return resp, err
}

// Call sends req, waits for the response, and stores it in resp. The error is ctx's, ErrTimeoutNoResponse, ErrSilent,
// ErrConnectionClosed, ErrNodeBusy or ErrNoStreams; it is wrapped in a *NotSentError if no byte of the frame was handed
// to the socket. A response always goes to the request it belongs to, even when other requests on the connection are
// canceled: the stream id of a canceled call stays in use until its response arrives.
func (c *Conn) Call(ctx context.Context, req *Request, resp *Response) error {
	w := waiter{sent: c.clock(req), movable: req.Movable, prompt: req.Prompt, silent: c.Silent.Load()}
	if err := c.admit(ctx, req); err != nil {
		return &NotSentError{Err: err}
	}
	c.bound(ctx, &w, req.Timeout)
	id, err := c.claim(ctx, w.deadline)
	if err != nil {
		return &NotSentError{Err: err}
	}
	w.id, w.slot = id, c.slots.claimed(id)
	w.start.Store(-1)
	if c.Config.Memory != nil {
		w.expected.Store(req.Expected)
	}
	if w.began = 0; !req.Began.IsZero() {
		w.began = w.sent
	}
	w.due.Store(c.nextLook(&w, w.sent, w.sent+w.patience))
	c.waitBegan(w.sent)
	w.state.Store(slotWaiting)
	c.startTicking()
	if c.isClosed.Load() && w.state.CompareAndSwap(slotWaiting, slotFree) { // close may have visited this slot before
		c.release(w.id)
		return &NotSentError{Err: c.ClosedError()}
	}
	if err := c.send(ctx, &w, req); err != nil {
		c.withdraw(w.slot, w.id)
		return &NotSentError{Err: err}
	}
	return c.wait(ctx, &w, resp)
}

// admit returns the error of a call that is not sent.
func (c *Conn) admit(ctx context.Context, req *Request) error {
	switch {
	case c.Draining.Load() && !req.probe:
		return c.ClosedError()
	case c.busy() && !req.probe:
		return ErrNodeBusy
	case len(req.Body.B) > wire.MaxBody:
		return frame.ErrTooBig
	}
	return ctx.Err()
}

// bound sets the deadline of a call, and its patience to a quarter of its time, from leastPatience to probeTimeout.
func (c *Conn) bound(ctx context.Context, w *waiter, timeout time.Duration) {
	end, bounded := ctx.Deadline()
	if timeout <= 0 && !bounded {
		timeout = c.Config.Timeout
	}
	w.patience = int64(probeTimeout)
	if timeout > 0 {
		w.deadline = w.sent + int64(timeout)
		w.patience = min(w.patience, int64(timeout)/4)
	}
	if bounded {
		w.ends = int64(end.Sub(c.Born)) + 1
		w.patience = min(w.patience, (w.ends-w.sent)/4)
	}
	w.patience = max(w.patience, int64(leastPatience))
	w.polls = !w.prompt && ctx != context.Background()
}

// clock returns the start of a request on the connection's clock.
func (c *Conn) clock(req *Request) int64 {
	if req.Began.IsZero() {
		return c.now()
	}
	return int64(req.Began.Sub(c.Born)) + 1
}

// withdraw frees the slot of a call whose frame was not queued.
func (c *Conn) withdraw(s *slot, id int) {
	if !s.state.CompareAndSwap(slotWaiting, slotFree) { // close has delivered its error, or is delivering it
		for s.state.Load() != slotAnswered { // awaitRoom may have received the token already, so check the state first
			<-s.wake
		}
		var none Response
		_ = s.take(&none)
	}
	c.release(id)
}

// wait blocks until the outcome of a call whose frame is queued, and stores a response in resp.
func (c *Conn) wait(ctx context.Context, w *waiter, resp *Response) error {
	for {
		var ended error
		if w.prompt {
			ended = wakeOrEnd(ctx, w.wake)
		} else {
			<-w.wake
		}
		if w.state.Load() == slotAnswered {
			err := w.take(resp)
			c.release(w.id)
			return err
		}
		if end := c.checkWait(ctx, w); ended == nil {
			ended = end
		}
		if ended != nil && c.leave(w, ended) {
			return ended
		}
		if ended != nil {
			ctx, w.prompt = context.Background(), false // the response is being delivered and arrives at once
		}
	}
}

// wakeOrEnd blocks until a token arrives or ctx ends, and then returns the error of ctx. It is a function of its own so
// that the stack of other callers stays small.
//
//go:noinline
func wakeOrEnd(ctx context.Context, wake <-chan struct{}) error {
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave makes the slot of a caller an orphan. It returns false if the outcome is being delivered.
func (c *Conn) leave(w *waiter, ended error) bool {
	now := c.now()
	w.due.Store(now)
	if !w.state.CompareAndSwap(slotWaiting, slotOrphaned) {
		return false
	}
	c.orphaned()
	if !errors.Is(ended, context.Canceled) {
		c.Overload.lateAfter.Store(now - w.sent)
	}
	return true
}

// wakeCallers wakes all callers that wait in a slot.
func (c *Conn) wakeCallers() {
	c.slots.each(func(s *slot) {
		if s.state.Load() == slotWaiting {
			s.signal()
		}
	})
}

// claim returns a free stream id. If none is free, it blocks until one is, until ctx ends, or until the deadline.
func (c *Conn) claim(ctx context.Context, deadline int64) (int, error) {
	if id, ok := c.Streams.Claim(); ok {
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
		if id, ok := c.Streams.Claim(); ok {
			if c.waiting.Load() > 1 { // one token may stand for several releases
				c.passToken()
			}
			return id, nil
		}
		select {
		case <-c.streamWake:
		case <-c.done:
			return 0, c.ClosedError()
		case <-timeout:
			return 0, ErrNoStreams
		case <-ctx.Done():
			return 0, errtext.Errorf("%w: %w", ErrNoStreams, ctx.Err())
		}
	}
}

// release frees a stream id for further calls.
func (c *Conn) release(id int) {
	c.Streams.Release(id)
	if c.waiting.Load() > 0 {
		c.passToken()
	}
	c.callEnded()
}

func (c *Conn) passToken() {
	select {
	case c.streamWake <- struct{}{}:
	default:
	}
}

// callEnded wakes a drain after a caller has left.
func (c *Conn) callEnded() {
	if c.Draining.Load() {
		select {
		case c.drainWake <- struct{}{}:
		default:
		}
	}
}

// awaitCalls blocks until no caller waits for a response, and reports whether that happened before ctx ended.
func (c *Conn) awaitCalls(ctx context.Context) bool {
	for c.callersWait() {
		select {
		case <-c.drainWake:
		case <-c.done:
			return true
		case <-ctx.Done():
			return false
		}
	}
	return true
}
