// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"time"

	"github.com/vecql/vecql"
)

// Observers of attempts, connections, frames and streams.

// hostMetrics are the totals of the attempts of one request on one node. TotalLatency is in nanoseconds.
type hostMetrics struct {
	Attempts     int
	TotalLatency int64
}

func metricsOf(m vecql.HostMetrics) *hostMetrics {
	return &hostMetrics{Attempts: m.Attempts, TotalLatency: int64(m.TotalLatency)}
}

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Keyspace  string // of the session
	Statement string
	Values    []any
	Start     time.Time
	End       time.Time
	Rows      int
	Host      *HostInfo
	Metrics   *hostMetrics // of the attempts on Host
	Err       error
	Attempt   int // from 0
	Query     *Query
}

// A QueryObserver observes the attempts of queries.
type QueryObserver interface {
	ObserveQuery(context.Context, ObservedQuery)
}

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Keyspace   string // of the session
	Statements []string
	Values     [][]any
	Start      time.Time
	End        time.Time
	Host       *HostInfo
	Err        error
	Metrics    *hostMetrics // of the attempts on Host
	Attempt    int          // from 0
	Batch      *Batch
}

// A BatchObserver observes the attempts of batches.
type BatchObserver interface {
	ObserveBatch(context.Context, ObservedBatch)
}

// An ObservedConnect is one attempt to open a connection.
type ObservedConnect struct {
	Host  *HostInfo
	Start time.Time
	End   time.Time
	Err   error
}

// A ConnectObserver observes the attempts to open a connection.
type ConnectObserver interface {
	ObserveConnect(ObservedConnect)
}

type protoVersion byte

func (p protoVersion) String() string {
	direction := "REQ"
	if p&0x80 != 0 {
		direction = "RESP"
	}
	return fmt.Sprintf("[version=%d direction=%s]", p&0x7F, direction)
}

type frameOp byte

var frameOps = [...]string{
	0x00: "ERROR", 0x01: "STARTUP", 0x02: "READY", 0x03: "AUTHENTICATE", 0x05: "OPTIONS", 0x06: "SUPPORTED",
	0x07: "QUERY", 0x08: "RESULT", 0x09: "PREPARE", 0x0A: "EXECUTE", 0x0B: "REGISTER", 0x0C: "EVENT", 0x0D: "BATCH",
	0x0E: "AUTH_CHALLENGE", 0x0F: "AUTH_RESPONSE", 0x10: "AUTH_SUCCESS",
}

func (f frameOp) String() string {
	if int(f) < len(frameOps) && frameOps[f] != "" {
		return frameOps[f]
	}
	return fmt.Sprintf("UNKNOWN_OP_%d", byte(f))
}

// An ObservedFrameHeader is the frame header of a response.
type ObservedFrameHeader struct {
	Version protoVersion
	Flags   byte
	Stream  int16
	Opcode  frameOp
	Length  int32
	Start   time.Time
	End     time.Time
	Host    *HostInfo
}

func (f ObservedFrameHeader) String() string {
	return fmt.Sprintf("[observed header version=%s flags=0x%x stream=%d op=%s length=%d]", f.Version, f.Flags, f.Stream,
		f.Opcode, f.Length)
}

// A FrameHeaderObserver observes the frame headers of responses.
type FrameHeaderObserver interface {
	ObserveFrameHeader(context.Context, ObservedFrameHeader)
}

// An ObservedStream is a stream of a connection.
type ObservedStream struct {
	Host *HostInfo
}

// A StreamObserver observes the streams of requests.
type StreamObserver interface {
	StreamContext(ctx context.Context) StreamObserverContext
}

// A StreamObserverContext observes one stream: StreamStarted is called first, then one of the others.
type StreamObserverContext interface {
	StreamStarted(observedStream ObservedStream)
	StreamAbandoned(observedStream ObservedStream)
	StreamFinished(observedStream ObservedStream)
}

// convertObservers sets the observers of a session, except those of queries and batches, which build sets.
func (s *Session) convertObservers(c *vecql.ClusterConfig) {
	if o := s.cfg.ConnectObserver; o != nil {
		c.ConnectObserver = connectObserver{s, o}
	}
	if o := s.cfg.FrameHeaderObserver; o != nil {
		c.FrameHeaderObserver = frameObserver{s, o}
	}
	if o := s.cfg.StreamObserver; o != nil {
		c.StreamObserver = streamObserver{s, o}
	}
}

type queryObserver struct {
	observer QueryObserver
	query    *Query
}

// ObserveQuery implements vecql.QueryObserver.
func (a queryObserver) ObserveQuery(ctx context.Context, o vecql.ObservedQuery) {
	s := a.query.session
	a.observer.ObserveQuery(ctx, ObservedQuery{
		Keyspace: s.cfg.Keyspace, Statement: o.Statement, Values: a.query.values, Start: o.Start, End: o.End, Rows: o.Rows,
		Host: s.host(o.Host), Metrics: metricsOf(o.Metrics), Err: plain(o.Err), Attempt: o.Attempt, Query: a.query,
	})
}

type batchObserver struct {
	observer BatchObserver
	batch    *Batch
}

// ObserveBatch implements vecql.BatchObserver.
func (a batchObserver) ObserveBatch(ctx context.Context, o vecql.ObservedBatch) {
	s := a.batch.session
	values := make([][]any, len(a.batch.Entries))
	for i := range values {
		values[i] = a.batch.Entries[i].Args
	}
	a.observer.ObserveBatch(ctx, ObservedBatch{
		Keyspace: s.cfg.Keyspace, Statements: o.Statements, Values: values, Start: o.Start, End: o.End,
		Host: s.host(o.Host), Err: plain(o.Err), Metrics: metricsOf(o.Metrics), Attempt: o.Attempt, Batch: a.batch,
	})
}

type connectObserver struct {
	s        *Session
	observer ConnectObserver
}

// ObserveConnect implements vecql.ConnectObserver.
func (a connectObserver) ObserveConnect(o vecql.ObservedConnect) {
	a.observer.ObserveConnect(ObservedConnect{Host: a.s.host(o.Host), Start: o.Start, End: o.End, Err: plain(o.Err)})
}

type frameObserver struct {
	s        *Session
	observer FrameHeaderObserver
}

// ObserveFrameHeader implements vecql.FrameHeaderObserver.
func (a frameObserver) ObserveFrameHeader(ctx context.Context, o vecql.ObservedFrameHeader) {
	a.observer.ObserveFrameHeader(ctx, ObservedFrameHeader{
		Version: protoVersion(o.Version), Flags: o.Flags, Stream: o.Stream, Opcode: frameOp(o.Opcode), Length: o.Length,
		Start: o.Start, End: o.End, Host: a.s.host(o.Host),
	})
}

type streamObserver struct {
	s        *Session
	observer StreamObserver
}

// StreamContext implements vecql.StreamObserver.
func (a streamObserver) StreamContext(ctx context.Context) vecql.StreamObserverContext {
	o := a.observer.StreamContext(ctx)
	if o == nil {
		return nil
	}
	return streamContext{a.s, o}
}

type streamContext struct {
	s        *Session
	observer StreamObserverContext
}

func (a streamContext) StreamStarted(o vecql.ObservedStream) {
	a.observer.StreamStarted(ObservedStream{a.s.host(o.Host)})
}

func (a streamContext) StreamAbandoned(o vecql.ObservedStream) {
	a.observer.StreamAbandoned(ObservedStream{a.s.host(o.Host)})
}

func (a streamContext) StreamFinished(o vecql.ObservedStream) {
	a.observer.StreamFinished(ObservedStream{a.s.host(o.Host)})
}
