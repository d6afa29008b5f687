// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/hooks"
)

// Observers of connections, frames and streams. The events of queries and batches differ between the modules.

// An ObservedConnect is one attempt to open a connection.
type ObservedConnect[H any] struct {
	Host  H
	Start time.Time
	End   time.Time
	Err   error
}

// A ConnectObserver observes the attempts to open connections.
type ConnectObserver[H any] interface {
	ObserveConnect(ObservedConnect[H])
}

// An ObservedFrameHeader is the frame header of a response.
type ObservedFrameHeader[H any] struct {
	Version ProtoVersion
	Flags   byte
	Stream  int16
	Opcode  FrameOp
	Length  int32
	Start   time.Time
	End     time.Time
	Host    H
}

// String returns the fields of the header.
func (f ObservedFrameHeader[H]) String() string {
	return FrameText(f.Version, f.Flags, f.Stream, f.Opcode, f.Length)
}

// FrameText returns the text of an observed frame header.
func FrameText(version fmt.Stringer, flags byte, stream int16, op fmt.Stringer, length int32) string {
	return fmt.Sprintf("[observed header version=%s flags=0x%x stream=%d op=%s length=%d]", version, flags, stream, op,
		length)
}

// A FrameHeaderObserver observes the frame headers of responses.
type FrameHeaderObserver[H any] interface {
	ObserveFrameHeader(context.Context, ObservedFrameHeader[H])
}

// An ObservedStream is a stream of a connection.
type ObservedStream[H any] struct {
	Host H
}

// A StreamObserver observes the streams of requests.
type StreamObserver[H any] interface {
	StreamContext(ctx context.Context) StreamObserverContext[H]
}

// A StreamObserverContext observes one stream: StreamStarted is called first, then one of the others.
type StreamObserverContext[H any] interface {
	StreamStarted(observedStream ObservedStream[H])
	StreamAbandoned(observedStream ObservedStream[H])
	StreamFinished(observedStream ObservedStream[H])
}

// Observers are the observers of a session, nil for none, and what they need: the HostInfo of a node and the API's
// error for one of vecql.
type Observers[H any] struct {
	HostOf  func(*cql.Host) H
	Plain   func(error) error
	Connect ConnectObserver[H]
	Frame   FrameHeaderObserver[H]
	Stream  StreamObserver[H]
}

// Configure sets the observer of connections.
func (o Observers[H]) Configure(c *vecql.ClusterConfig) {
	if o.Connect != nil {
		c.Pool.ConnectObserver = func(a vecql.ObservedConnect) {
			o.Connect.ObserveConnect(ObservedConnect[H]{Host: o.HostOf(a.Host), Start: a.Start, End: a.End, Err: o.Plain(a.Err)})
		}
	}
}

// Context returns a context for vecql.NewSession, whose session calls the observers of streams and frame headers.
func (o Observers[H]) Context(ctx context.Context) context.Context {
	if o.Frame == nil && o.Stream == nil {
		return ctx
	}
	return hooks.With(ctx, o.exchange)
}

// exchange observes the stream and the frame header of an attempt.
func (o Observers[H]) exchange(ctx context.Context, host *cql.Host) (ended func(hooks.Answer)) {
	on := ObservedStream[H]{o.HostOf(host)}
	var stream StreamObserverContext[H]
	if o.Stream != nil {
		if stream = o.Stream.StreamContext(ctx); stream != nil {
			stream.StreamStarted(on)
		}
	}
	return func(a hooks.Answer) {
		switch {
		case stream == nil:
		case a.Header == nil:
			defer stream.StreamAbandoned(on)
		default:
			defer stream.StreamFinished(on)
		}
		if h := a.Header; h != nil && o.Frame != nil {
			o.Frame.ObserveFrameHeader(ctx, ObservedFrameHeader[H]{
				Version: ProtoVersion(h.Version | 0x80), Flags: h.Flags, Stream: h.Stream, Opcode: FrameOp(h.Opcode),
				Length: int32(h.Length), Start: a.Start, End: time.Now(), Host: on.Host,
			})
		}
	}
}
