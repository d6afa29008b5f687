// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"time"

	"github.com/gocql/gocql/internal/frame"
	"github.com/vecql/vecql"
)

// Observers.

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Start     time.Time
	End       time.Time
	Err       error
	Host      *HostInfo
	Metrics   *hostMetrics // of the attempts on Host
	Keyspace  string
	Statement string
	Values    []any // as bound, not copied
	Rows      int   // of the page
	Attempt   int   // from 0, over all executions of the query
}

// An ObservedQueryWithAttemptMetrics is an ObservedQuery with the attempts of the execution so far.
type ObservedQueryWithAttemptMetrics struct {
	ObservedQuery
	AttemptMetrics AttemptMetrics
}

// A QueryObserverWithAttemptMetrics is a QueryObserver that is called by its second method only.
type QueryObserverWithAttemptMetrics interface {
	QueryObserver
	ObserveQueryWithAttemptMetrics(context.Context, ObservedQueryWithAttemptMetrics)
}

// A QueryObserver observes the attempts of queries.
type QueryObserver interface {
	ObserveQuery(context.Context, ObservedQuery)
}

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Start      time.Time
	End        time.Time
	Err        error
	Host       *HostInfo
	Metrics    *hostMetrics // of the attempts on Host
	Keyspace   string
	Statements []string
	Values     [][]any
	Attempt    int // from 0, over all executions of the batch
}

// An ObservedBatchWithAttemptMetrics is an ObservedBatch with the attempts of the execution so far.
type ObservedBatchWithAttemptMetrics struct {
	ObservedBatch
	AttemptMetrics AttemptMetrics
}

// A BatchObserverWithAttemptMetrics is a BatchObserver that is called by its second method only.
type BatchObserverWithAttemptMetrics interface {
	BatchObserver
	ObserveBatchWithAttemptMetrics(context.Context, ObservedBatchWithAttemptMetrics)
}

// A BatchObserver observes the attempts of batches.
type BatchObserver interface {
	ObserveBatch(context.Context, ObservedBatch)
}

// queryObserver adapts the observer of a query.
type queryObserver struct {
	execution *execution
	query     *Query
}

// ObserveQuery implements vecql.QueryObserver.
func (q queryObserver) ObserveQuery(ctx context.Context, o vecql.ObservedQuery) {
	host := q.query.session.hosts.of(o.Host)
	attempt, metrics := q.execution.observe(host, o.Attempt, o.End.Sub(o.Start).Nanoseconds(), o.Metrics)
	seen := ObservedQuery{
		Keyspace: o.Keyspace, Statement: o.Statement, Values: q.query.values, Start: o.Start, End: o.End, Rows: o.Rows,
		Host: host, Metrics: metrics, Err: plain(o.Err), Attempt: attempt,
	}
	if full, ok := q.query.observer.(QueryObserverWithAttemptMetrics); ok {
		full.ObserveQueryWithAttemptMetrics(ctx, ObservedQueryWithAttemptMetrics{seen, q.execution.record(AttemptMetric{
			Host: host, Attempt: attempt, Latency: o.End.Sub(o.Start).Nanoseconds(),
		})})
		return
	}
	q.query.observer.ObserveQuery(ctx, seen)
}

// batchObserver adapts the observer of a batch.
type batchObserver struct {
	execution *execution
	batch     *Batch
	session   *Session
}

// ObserveBatch implements vecql.BatchObserver.
func (b batchObserver) ObserveBatch(ctx context.Context, o vecql.ObservedBatch) {
	host := b.session.hosts.of(o.Host)
	attempt, metrics := b.execution.observe(host, o.Attempt, o.End.Sub(o.Start).Nanoseconds(), o.Metrics)
	seen := ObservedBatch{
		Keyspace: o.Keyspace, Start: o.Start, End: o.End, Host: host, Err: plain(o.Err), Metrics: metrics, Attempt: attempt,
	}
	for _, e := range b.batch.Entries {
		seen.Statements = append(seen.Statements, e.Stmt)
		seen.Values = append(seen.Values, e.Args)
	}
	if full, ok := b.batch.observer.(BatchObserverWithAttemptMetrics); ok {
		full.ObserveBatchWithAttemptMetrics(ctx, ObservedBatchWithAttemptMetrics{seen, b.execution.record(AttemptMetric{
			Host: host, Attempt: attempt, Latency: o.End.Sub(o.Start).Nanoseconds(),
		})})
		return
	}
	b.batch.observer.ObserveBatch(ctx, seen)
}

// An ObservedConnect is one attempt to open a connection.
type ObservedConnect struct {
	Host  *HostInfo
	Start time.Time
	End   time.Time
	Err   error
}

// A ConnectObserver observes the attempts to open connections.
type ConnectObserver interface {
	ObserveConnect(ObservedConnect)
}

// connectObserver adapts a ConnectObserver.
type connectObserver struct {
	observer ConnectObserver
	hosts    *hosts
}

// ObserveConnect implements vecql.ConnectObserver.
func (c connectObserver) ObserveConnect(o vecql.ObservedConnect) {
	c.observer.ObserveConnect(ObservedConnect{Host: c.hosts.of(o.Host), Start: o.Start, End: o.End, Err: plain(o.Err)})
}

// An ObservedFrameHeader is the frame header of a response.
type ObservedFrameHeader struct {
	Start   time.Time
	End     time.Time
	Host    *HostInfo
	Length  int32
	Stream  int16
	Version frame.ProtoVersion
	Flags   byte
	Opcode  frame.Op
}

// String returns the fields of the header.
func (f ObservedFrameHeader) String() string {
	return fmt.Sprintf("[observed header version=%s flags=0x%x stream=%d op=%s length=%d]", f.Version, f.Flags, f.Stream,
		f.Opcode, f.Length)
}

// A FrameHeaderObserver observes the frame headers of responses.
type FrameHeaderObserver interface {
	ObserveFrameHeader(context.Context, ObservedFrameHeader)
}

// frameHeaderObserver adapts a FrameHeaderObserver.
type frameHeaderObserver struct {
	observer FrameHeaderObserver
	hosts    *hosts
}

// ObserveFrameHeader implements vecql.FrameHeaderObserver.
func (f frameHeaderObserver) ObserveFrameHeader(ctx context.Context, o vecql.ObservedFrameHeader) {
	f.observer.ObserveFrameHeader(ctx, ObservedFrameHeader{
		Version: frame.ProtoVersion(o.Version | 0x80), Flags: o.Flags, Stream: o.Stream, Opcode: frame.Op(o.Opcode),
		Length: o.Length, Start: o.Start, End: o.End, Host: f.hosts.of(o.Host),
	})
}

// An ObservedStream is a stream of a connection.
type ObservedStream struct {
	Host *HostInfo
}

// A StreamObserver observes the streams of requests.
type StreamObserver interface {
	StreamContext(ctx context.Context) StreamObserverContext
}

// A StreamObserverContext observes one stream.
type StreamObserverContext interface {
	StreamStarted(observedStream ObservedStream)
	StreamAbandoned(observedStream ObservedStream)
	StreamFinished(observedStream ObservedStream)
}

// streamObserver adapts a StreamObserver.
type streamObserver struct {
	observer StreamObserver
	hosts    *hosts
}

// StreamContext implements vecql.StreamObserver.
func (s streamObserver) StreamContext(ctx context.Context) vecql.StreamObserverContext {
	of := s.observer.StreamContext(ctx)
	if of == nil {
		return nil
	}
	return streamContext{of, s.hosts}
}

// streamContext adapts a StreamObserverContext.
type streamContext struct {
	of    StreamObserverContext
	hosts *hosts
}

func (s streamContext) StreamStarted(o vecql.ObservedStream) {
	s.of.StreamStarted(ObservedStream{s.hosts.of(o.Host)})
}

func (s streamContext) StreamAbandoned(o vecql.ObservedStream) {
	s.of.StreamAbandoned(ObservedStream{s.hosts.of(o.Host)})
}

func (s streamContext) StreamFinished(o vecql.ObservedStream) {
	s.of.StreamFinished(ObservedStream{s.hosts.of(o.Host)})
}
