// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/hooks"
)

// Observers of attempts and connections, and tracing. An observer runs on the goroutine that made the
// request, which for a page requested ahead is a goroutine of its own; a ConnectObserver runs on the goroutine that
// dialed. No observer runs on the reader of a connection or under a lock of the driver. So a slow observer delays its
// own request only, and any observer may use the session. A panic in an observer is logged and has no other effect.

// An Observer is called after each attempt of a query or batch with the context of the request. Each page of a result
// is one request. The attempts of a PREPARE that failed are reported too, to each request that waited for it. Attempts
// of speculative executions are reported together when the request is complete, except those still in flight.
type Observer func(ctx context.Context, a ObservedAttempt)

// An ObservedAttempt is one attempt of a query or batch.
type ObservedAttempt struct {
	Request    any    // the *Query or *Batch: a copy as executed
	Keyspace   string // of the request or the session
	Statements []string
	// Values are the values of each statement as bound, not copied; nil for values from a struct, from rows or of a
	// binding function.
	Values     [][]any
	Start, End time.Time
	Rows       int // in the page
	Host       *cql.Host
	Metrics    HostMetrics // of the attempts on Host
	Err        error       // nil means success
	Attempt    int         // from 0
}

// HostMetrics are the totals of the attempts of one request on one node.
type HostMetrics struct {
	Attempts     int
	TotalLatency time.Duration
}

// An ObservedConnect is one attempt to open a connection: dialing, TLS, STARTUP, authentication, and the verification
// of the peer.
type ObservedConnect struct {
	Host  *cql.Host // for a node not known yet it has the address only
	Start time.Time
	End   time.Time
	Err   error
}

// observation reports the attempts of a call: to the observer of its query or batch, or to a speculation or a log,
// whose owner reports them later.
type observation struct {
	request     observed // the query or batch, with its observer, or
	observer    Observer
	speculation *speculation // of an execution on a goroutine other than the caller's, or
	log         *attemptLog  // of a PREPARE, which several calls may share
	n           int
	hosts       []hostSeen
}

// observed is a *Query or a *Batch.
type observed interface {
	// describe sets what the request knows of its attempts.
	describe(a *ObservedAttempt)
}

// hostSeen is the total of a request's attempts on one node.
type hostSeen struct {
	host    netip.AddrPort
	metrics HostMetrics
}

// attemptLog stores the attempts of a call.
type attemptLog []attemptRecord

// attemptRecord is the outcome of an attempt.
type attemptRecord struct {
	node         *node
	began, ended time.Time
	rows         int
	err          error
}

// record reports an attempt.
func (o *observation) record(ctx context.Context, s *Session, a attemptRecord) {
	if o.speculation != nil {
		o.speculation.addRecord(a)
		return
	}
	if o.log != nil {
		*o.log = append(*o.log, a)
		return
	}
	seen := ObservedAttempt{
		Request: o.request, Start: a.began, End: a.ended, Rows: a.rows, Host: a.node.info, Metrics: o.count(a), Err: a.err,
		Attempt: o.n,
	}
	o.n++
	defer s.caught("observer")
	o.request.describe(&seen)
	o.observer(ctx, seen)
}

// count adds an attempt to the totals of its node and returns them.
func (o *observation) count(a attemptRecord) HostMetrics {
	i := 0
	for ; i < len(o.hosts) && o.hosts[i].host != a.node.info.Address; i++ {
	}
	if i == len(o.hosts) {
		o.hosts = append(o.hosts, hostSeen{host: a.node.info.Address})
	}
	m := &o.hosts[i].metrics
	m.Attempts++
	m.TotalLatency += a.ended.Sub(a.began)
	return *m
}

// caught recovers from a panic in the program's code and logs it. It must be deferred.
func (s *Session) caught(whose string) {
	if v := recover(); v != nil {
		s.log.Error("panic in the program's "+whose, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	}
}

// hostAt is hostOf for the text of an address.
func (s *Session) hostAt(addr string) *cql.Host {
	at, _ := netip.ParseAddrPort(addr) // zero for a host name
	return s.hostOf(at)
}

// hostOf returns the node at an address, or a Host that has only the address.
func (s *Session) hostOf(at netip.AddrPort) *cql.Host {
	for _, n := range s.topo.Load().nodes {
		if n.info.Address == at {
			return n.info
		}
	}
	return &cql.Host{Address: at}
}

// observeExchange is transmit with the hook of the session.
func (s *Session) observeExchange(ctx context.Context, link *conn.Conn, c *call) error {
	ended := s.exchangeBegins(ctx, link)
	err := s.transmit(ctx, link, c)
	if ended == nil {
		return err
	}
	defer s.caught("observer")
	answer := hooks.Answer{Start: c.req.Began}
	if err == nil {
		answer.Header = &c.answer.resp.Header
	}
	ended(answer)
	return err
}

// exchangeBegins calls the hook of the session.
func (s *Session) exchangeBegins(ctx context.Context, link *conn.Conn) (ended func(hooks.Answer)) {
	defer s.caught("observer")
	return s.hook(ctx, s.hostAt(link.Addr()))
}

func (s *Session) observeConnect(o ObservedConnect) {
	defer s.caught("observer")
	s.cfg.ConnectObserver(o)
}

// trace passes a tracing id to the tracer.
func (s *Session) trace(t Tracer, id cql.UUID) {
	defer s.caught("tracer")
	t.Trace(id[:]) // a copy, which the tracer may keep
}

// A Tracer receives the tracing id, 16 bytes, of each traced request, on the goroutine that made the request. It may
// keep the slice.
type Tracer interface {
	Trace(traceID []byte)
}

// NewTraceWriter returns a Tracer that waits up to 5 s until a trace is complete and writes its events to w.
func NewTraceWriter(session *Session, w io.Writer) Tracer {
	return &traceWriter{session: session, w: w}
}

// traceWriter writes traces as text. mu keeps the lines of one trace together.
type traceWriter struct {
	session *Session
	mu      sync.Mutex
	w       io.Writer
}

// Trace implements Tracer. If the trace cannot be read, it writes the error in place of the events.
func (t *traceWriter) Trace(traceID []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	text, err := t.read(ctx, traceID)
	if err != nil {
		text = fmt.Sprintf("tracing session %x: %v\n", traceID, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.w, text)
}

// read waits until the trace is complete and returns its text. The coordinator writes the duration of the session last.
func (t *traceWriter) read(ctx context.Context, traceID []byte) (string, error) {
	var coordinator net.IP
	var micros cql.Null[int]
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		err := t.session.Query("SELECT coordinator, duration FROM system_traces.sessions WHERE session_id = ?", traceID).
			Consistency(cql.One).Scan(ctx, &coordinator, &micros)
		if err == nil && micros.Valid {
			break
		}
		if !background.Sleep(ctx, wait) {
			if err == nil {
				err = ctx.Err()
			}
			return "", err
		}
	}
	text := fmt.Sprintf("tracing session %x (coordinator %s, duration %v):\n", traceID, coordinator,
		time.Duration(micros.V)*time.Microsecond)
	it := t.session.Query("SELECT event_id, activity, source, source_elapsed FROM system_traces.events WHERE session_id = ?", traceID).
		Consistency(cql.One).Iter(ctx)
	var at cql.UUID
	var activity string
	var source net.IP
	var elapsed int
	for it.Scan(&at, &activity, &source, &elapsed) {
		text += fmt.Sprintf("%s: %s [%s] (elapsed %v)\n", at.Time().Format("15:04:05.000000"), activity, source,
			time.Duration(elapsed)*time.Microsecond)
	}
	return text, it.Close()
}
