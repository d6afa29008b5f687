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
)

// Observers of attempts, connections, frames and streams, and tracing. An observer runs on the goroutine that made the
// request, which for a page requested ahead is a goroutine of its own; a ConnectObserver runs on the goroutine that
// dialed. No observer runs on the reader of a connection or under a lock of the driver. So a slow observer delays its
// own request only, and any observer may use the session. A panic in an observer is logged and has no other effect.

// A QueryObserver observes the attempts of queries (ClusterConfig.QueryObserver, Query.Observer).
type QueryObserver interface {
	// ObserveQuery is called after each attempt with the context of the query. Each page of a result is one request. The
	// attempts of a PREPARE that failed are reported too, to each query that waited for it.
	// Attempts of speculative executions are reported together when the request is complete, except those still in
	// flight.
	ObserveQuery(ctx context.Context, o ObservedQuery)
}

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Keyspace  string // of the query or the session
	Statement string
	Values    []any     // as bound, not copied; nil for values from a struct, a batch or a binding function
	Start     time.Time // of the attempt
	End       time.Time
	Rows      int // in the page
	Host      *cql.Host
	Metrics   HostMetrics // of the attempts on Host
	Err       error       // nil means success
	Attempt   int         // from 0
	Query     *Query      // a copy of the query as executed
}

// A BatchObserver observes the attempts of batches (ClusterConfig.BatchObserver, Batch.Observer).
type BatchObserver interface {
	// ObserveBatch is called after each attempt with the context of the batch, as ObserveQuery is.
	ObserveBatch(ctx context.Context, o ObservedBatch)
}

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Keyspace   string
	Statements []string
	Values     [][]any
	Start      time.Time
	End        time.Time
	Host       *cql.Host
	Metrics    HostMetrics
	Err        error
	Attempt    int // from 0
	Batch      *Batch
}

// HostMetrics are the totals of the attempts of one request on one node.
type HostMetrics struct {
	Attempts     int
	TotalLatency time.Duration
}

// A ConnectObserver observes the attempts to open a connection (ClusterConfig.ConnectObserver).
type ConnectObserver interface {
	// ObserveConnect is called after each attempt, on the goroutine that made it: several calls may run at once.
	ObserveConnect(o ObservedConnect)
}

// An ObservedConnect is one attempt to open a connection: dialing, TLS, STARTUP, authentication, and the verification
// of the peer.
type ObservedConnect struct {
	Host  *cql.Host // for a node not known yet it has the address only
	Start time.Time
	End   time.Time
	Err   error
}

// A FrameHeaderObserver observes the frame headers of all responses (ClusterConfig.FrameHeaderObserver).
type FrameHeaderObserver interface {
	// ObserveFrameHeader is called on the goroutine that made the request, before the response is parsed.
	ObserveFrameHeader(ctx context.Context, o ObservedFrameHeader)
}

// An ObservedFrameHeader is the frame header of a response (native_protocol_v5.spec, section 2). Start is when the
// request began. End is when its caller took the response, since the reader of a connection does not read the clock.
type ObservedFrameHeader struct {
	Version byte
	Flags   byte
	Stream  int16
	Opcode  byte
	Length  int32
	Start   time.Time
	End     time.Time
	Host    *cql.Host // for a node removed since it has the address only
}

// A StreamObserver observes the streams of requests (ClusterConfig.StreamObserver).
type StreamObserver interface {
	// StreamContext is called before an attempt is passed to a connection. It returns the observer of the stream; nil
	// means none.
	StreamContext(ctx context.Context) StreamObserverContext
}

// A StreamObserverContext observes one stream: StreamStarted is called first, then one of the others.
type StreamObserverContext interface {
	// StreamStarted is called when the attempt is passed to the connection.
	StreamStarted(o ObservedStream)
	// StreamAbandoned is called when the attempt was canceled or timed out, or the connection broke.
	StreamAbandoned(o ObservedStream)
	// StreamFinished is called when the response has arrived.
	StreamFinished(o ObservedStream)
}

// An ObservedStream is a stream of a connection.
type ObservedStream struct {
	Host *cql.Host // for a node removed since it has the address only
}

// observation reports the attempts of a call: to the observer of its query or batch, or to a speculation or a log,
// whose owner reports them later.
type observation struct {
	query       *Query       // or
	batch       *Batch       // or
	speculation *speculation // of an execution on a goroutine other than the caller's, or
	log         *attemptLog  // of a PREPARE, which several calls may share
	n           int
	hosts       []hostSeen
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
	metrics := o.count(a)
	attempt := o.n
	o.n++
	defer s.caught("observer")
	if q := o.query; q != nil {
		q.policies.queryObserver.ObserveQuery(ctx, ObservedQuery{
			Keyspace: q.GetKeyspace(), Statement: q.stmt, Values: q.Values(), Start: a.began, End: a.ended, Rows: a.rows,
			Host: a.node.info, Metrics: metrics, Err: a.err, Attempt: attempt, Query: q,
		})
		return
	}
	b := o.batch
	seen := ObservedBatch{
		Keyspace: b.GetKeyspace(), Start: a.began, End: a.ended, Host: a.node.info, Metrics: metrics, Err: a.err,
		Attempt: attempt, Batch: b,
	}
	for _, e := range b.Entries {
		seen.Statements = append(seen.Statements, e.Stmt)
		seen.Values = append(seen.Values, e.Args)
	}
	b.policies.batchObserver.ObserveBatch(ctx, seen)
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

// observedStream is the stream of an attempt with its observer.
type observedStream struct {
	at     ObservedStream
	stream StreamObserverContext // nil means none
}

func (s *Session) observesStreams() bool {
	return s.cfg.StreamObserver != nil || s.cfg.FrameHeaderObserver != nil
}

// observeStream is transmit with the program's observers of streams and frame headers.
func (s *Session) observeStream(ctx context.Context, conn *conn.Conn, c *call) error {
	o := s.streamStarted(ctx, conn)
	err := s.transmit(ctx, conn, c)
	s.streamEnded(ctx, &o, c, err)
	return err
}

// streamStarted reports that an attempt is about to be passed to a connection.
func (s *Session) streamStarted(ctx context.Context, conn *conn.Conn) (o observedStream) {
	o.at = ObservedStream{Host: s.hostAt(conn.Addr())}
	if s.cfg.StreamObserver == nil {
		return o
	}
	defer s.caught("observer")
	if o.stream = s.cfg.StreamObserver.StreamContext(ctx); o.stream != nil {
		o.stream.StreamStarted(o.at)
	}
	return o
}

// streamEnded reports the response to an attempt, or its failure.
func (s *Session) streamEnded(ctx context.Context, o *observedStream, c *call, err error) {
	if s.cfg.FrameHeaderObserver != nil && err == nil {
		s.observeHeader(ctx, o, c, &c.answer.resp)
	}
	if o.stream == nil {
		return
	}
	defer s.caught("observer")
	if err == nil {
		o.stream.StreamFinished(o.at)
	} else {
		o.stream.StreamAbandoned(o.at)
	}
}

func (s *Session) observeHeader(ctx context.Context, o *observedStream, c *call, resp *conn.Response) {
	defer s.caught("observer")
	h := resp.Header
	s.cfg.FrameHeaderObserver.ObserveFrameHeader(ctx, ObservedFrameHeader{
		Version: h.Version, Flags: h.Flags, Stream: h.Stream, Opcode: h.Opcode, Length: int32(h.Length), Start: c.req.Began,
		End: time.Now(), Host: o.at.Host,
	})
}

func (s *Session) observeConnect(o ObservedConnect) {
	defer s.caught("observer")
	s.cfg.ConnectObserver.ObserveConnect(o)
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
