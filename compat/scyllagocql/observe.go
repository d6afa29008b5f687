// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	"github.com/gocql/gocql/internal/frame"

	api "github.com/vecql/vecql/compat/api"
)

// Observers.

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Start     time.Time
	End       time.Time
	Err       error
	Host      *HostInfo
	Metrics   *api.HostMetrics // of the attempts on Host
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

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Start      time.Time
	End        time.Time
	Err        error
	Host       *HostInfo
	Metrics    *api.HostMetrics // of the attempts on Host
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
	return api.FrameText(f.Version, f.Flags, f.Stream, f.Opcode, f.Length)
}

// A FrameHeaderObserver observes the frame headers of responses.
type FrameHeaderObserver interface {
	ObserveFrameHeader(context.Context, ObservedFrameHeader)
}

// frameHeaderObserver adapts a FrameHeaderObserver.
type frameHeaderObserver struct{ FrameHeaderObserver }

// ObserveFrameHeader implements api.FrameHeaderObserver.
func (f frameHeaderObserver) ObserveFrameHeader(ctx context.Context, o api.ObservedFrameHeader[*HostInfo]) {
	f.FrameHeaderObserver.ObserveFrameHeader(ctx, ObservedFrameHeader{
		Version: frame.ProtoVersion(o.Version), Flags: o.Flags, Stream: o.Stream, Opcode: frame.Op(o.Opcode),
		Length: o.Length, Start: o.Start, End: o.End, Host: o.Host,
	})
}
