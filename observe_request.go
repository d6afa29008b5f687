// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"time"
)

// This file holds the observers: who is told of attempts, connections, frames and streams as they come. They run on the goroutine that made
// the request (that of a page asked for ahead is its own; a ConnectObserver runs on the one that dialled), never on a connection's reader
// and under no lock of the driver, so that a slow one delays its own request only and any of them may use the session. A panic in one is
// logged and harms nothing.

// QueryObserver is told of every attempt of every query that it was set for (ClusterConfig.QueryObserver, Query.Observer).
type QueryObserver interface {
	// ObserveQuery is called after each attempt; ctx is the query's. Each page of a result is a request of its own. Attempts of speculative
	// executions are told of together, when the request has its answer; those that are still under way then are not.
	ObserveQuery(ctx context.Context, o ObservedQuery)
}

// ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Keyspace  string // of the query or the session
	Statement string
	Values    []any     // as bound, not copied; nil for values that come from a struct or a binding function
	Start     time.Time // of the attempt
	End       time.Time
	Rows      int // in the page
	Host      *HostInfo
	Metrics   HostMetrics // of the attempts on Host
	Err       error       // nil if it succeeded
	Attempt   int         // from 0
	Query     *Query      // a copy of the query as it was run
}

// BatchObserver is QueryObserver for batches (ClusterConfig.BatchObserver, Batch.Observer).
type BatchObserver interface {
	// ObserveBatch is called after each attempt; ctx is the batch's.
	ObserveBatch(ctx context.Context, o ObservedBatch)
}

// ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Keyspace   string
	Statements []string
	Values     [][]any
	Start      time.Time
	End        time.Time
	Host       *HostInfo
	Metrics    HostMetrics
	Err        error
	Attempt    int // from 0
	Batch      *Batch
}

// HostMetrics sums up the attempts of one request on one node.
type HostMetrics struct {
	Attempts     int
	TotalLatency int64 // nanoseconds
}

// ConnectObserver is told of every attempt to open a connection (ClusterConfig.ConnectObserver).
type ConnectObserver interface {
	// ObserveConnect is called after each attempt, on the goroutine that made it.
	ObserveConnect(o ObservedConnect)
}

// ObservedConnect is one attempt to open a connection: dialling, TLS, STARTUP and authentication.
type ObservedConnect struct {
	Host  *HostInfo // of a node that is not known yet only the address
	Start time.Time
	End   time.Time
	Err   error
}

// FrameHeaderObserver is told of the header of every answer to a request (ClusterConfig.FrameHeaderObserver).
type FrameHeaderObserver interface {
	// ObserveFrameHeader is called by who made the request, before the answer is parsed.
	ObserveFrameHeader(ctx context.Context, o ObservedFrameHeader)
}

// ObservedFrameHeader is the header of an answer (native_protocol_v5.spec, section 2). The reader of a connection does not read the clock:
// Start is when the request was begun, End when its caller took the answer.
type ObservedFrameHeader struct {
	Version byte
	Flags   byte
	Stream  int16
	Opcode  byte
	Length  int32
	Start   time.Time
	End     time.Time
	Host    *HostInfo // of a node that is not known any more only the address
}

// StreamObserver is told of the streams of requests (ClusterConfig.StreamObserver).
type StreamObserver interface {
	// StreamContext is called before an attempt is handed to a connection. nil: no interest in this one.
	StreamContext(ctx context.Context) StreamObserverContext
}

// StreamObserverContext follows one stream: StreamStarted, then one of the others.
type StreamObserverContext interface {
	// StreamStarted is called when the attempt is handed to the connection.
	StreamStarted(o ObservedStream)
	// StreamAbandoned is called when the caller gave up, or the connection broke.
	StreamAbandoned(o ObservedStream)
	// StreamFinished is called when the answer has come.
	StreamFinished(o ObservedStream)
}

// ObservedStream says where a stream is.
type ObservedStream struct {
	Host *HostInfo // of a node that is not known any more only the address
}

// observation is who is told of the attempts of a call.
type observation struct {
	query *Query // or
	batch *Batch // or
	race  *race  // of an execution on a goroutine other than the caller's
	n     int
	hosts []hostSeen
}

type hostSeen struct {
	host    netip.AddrPort
	metrics HostMetrics
}

// attemptSeen is an attempt as it was.
type attemptSeen struct {
	node         *node
	began, ended time.Time
	rows         int
	err          error
}

// saw tells of an attempt.
func (o *observation) saw(ctx context.Context, s *Session, a attemptSeen) {
	if o.race != nil {
		o.race.add(a)
		return
	}
	metrics := o.count(a)
	attempt := o.n
	o.n++
	defer s.caught("observer")
	if q := o.query; q != nil {
		q.how.queryObserver.ObserveQuery(ctx, ObservedQuery{
			Keyspace: q.Keyspace(), Statement: q.stmt, Values: q.values, Start: a.began, End: a.ended, Rows: a.rows, Host: a.node.info,
			Metrics: metrics, Err: a.err, Attempt: attempt, Query: q,
		})
		return
	}
	b := o.batch
	seen := ObservedBatch{
		Keyspace: b.Keyspace(), Start: a.began, End: a.ended, Host: a.node.info, Metrics: metrics, Err: a.err, Attempt: attempt, Batch: b,
	}
	for _, e := range b.Entries {
		seen.Statements = append(seen.Statements, e.Stmt)
		seen.Values = append(seen.Values, e.Args)
	}
	b.how.batchObserver.ObserveBatch(ctx, seen)
}

// count adds an attempt to those on its node.
func (o *observation) count(a attemptSeen) HostMetrics {
	i := 0
	for ; i < len(o.hosts) && o.hosts[i].host != a.node.info.addr; i++ {
	}
	if i == len(o.hosts) {
		o.hosts = append(o.hosts, hostSeen{host: a.node.info.addr})
	}
	m := &o.hosts[i].metrics
	m.Attempts++
	m.TotalLatency += a.ended.Sub(a.began).Nanoseconds()
	return *m
}

// caught, deferred, logs a panic of a user's code that nobody waits for.
func (s *Session) caught(whose string) {
	if v := recover(); v != nil {
		s.log.Error("panic in the program's "+whose, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	}
}

// Keyspace returns the keyspace of the query, else the session's; it may be empty.
func (q *Query) Keyspace() string { return cmp.Or(q.keyspace, q.session.cfg.Keyspace) }

// Keyspace returns the keyspace of the batch, else the session's; it may be empty.
func (b *Batch) Keyspace() string { return cmp.Or(b.keyspace, b.session.cfg.Keyspace) }

// hostAt returns the node at an address, or one of which nothing but the address is known.
func (s *Session) hostAt(addr string) *HostInfo {
	for _, n := range s.topo.Load().nodes {
		if n.info.addr.String() == addr {
			return n.info
		}
	}
	at, _ := netip.ParseAddrPort(addr) // a name is not one: the address stays empty
	return &HostInfo{addr: at}
}

// roundTrip is conn.roundTrip, and tells who observes frames and streams.
func (s *Session) roundTrip(ctx context.Context, conn *conn, c *call) (response, error) {
	if s.cfg.StreamObserver == nil && s.cfg.FrameHeaderObserver == nil {
		return s.callOn(ctx, conn, c)
	}
	at := ObservedStream{Host: s.hostAt(conn.addr())}
	stream := s.streamStarted(ctx, at)
	resp, err := s.callOn(ctx, conn, c)
	if o := s.cfg.FrameHeaderObserver; o != nil && err == nil {
		h := resp.header
		func() {
			defer s.caught("observer")
			o.ObserveFrameHeader(ctx, ObservedFrameHeader{
				Version: h.Version, Flags: h.Flags, Stream: h.Stream, Opcode: h.Opcode, Length: int32(h.Length), Start: c.req.began,
				End: time.Now(), Host: at.Host,
			})
		}()
	}
	if stream != nil {
		func() {
			defer s.caught("observer")
			if err == nil {
				stream.StreamFinished(at)
			} else {
				stream.StreamAbandoned(at)
			}
		}()
	}
	return resp, err
}

func (s *Session) streamStarted(ctx context.Context, at ObservedStream) (stream StreamObserverContext) {
	if s.cfg.StreamObserver == nil {
		return nil
	}
	defer s.caught("observer")
	if stream = s.cfg.StreamObserver.StreamContext(ctx); stream != nil {
		stream.StreamStarted(at)
	}
	return stream
}

// dialObserved is dialConn with a bound on requests, and with those told who want to know of connections.
func (s *Session) dialObserved(ctx context.Context, cfg *connConfig, addr string) (*conn, error) {
	closed := cfg.onClose
	cfg.onClose = func(c *conn, err error) {
		if !errors.Is(err, errDrained) {
			s.counters.lost.Add(1)
		}
		closed(c, err)
	}
	cfg.maxStreams = s.cfg.MaxRequestsPerConn
	began := time.Now()
	c, err := dialConn(ctx, cfg, addr)
	switch {
	case err == nil:
		s.counters.opened.Add(1)
	case !errors.Is(err, context.Canceled): // not the session's end
		s.counters.connectFailures.Add(1)
	}
	if s.cfg.ConnectObserver != nil {
		s.observeConnect(ObservedConnect{Host: s.hostAt(addr), Start: began, End: time.Now(), Err: err})
	}
	return c, err
}

func (s *Session) observeConnect(o ObservedConnect) {
	defer s.caught("observer")
	s.cfg.ConnectObserver.ObserveConnect(o)
}

// trace hands a tracing id to the program.
func (s *Session) trace(t Tracer, id UUID) {
	defer s.caught("tracer")
	t.Trace(id[:]) // a copy, which may be kept
}
