// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
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

// Configure sets the observers of a session.
func (o Observers[H]) Configure(c *vecql.ClusterConfig) {
	if o.Connect != nil {
		c.ConnectObserver = connectObserver[H]{o}
	}
	if o.Frame != nil {
		c.FrameHeaderObserver = frameHeaderObserver[H]{o}
	}
	if o.Stream != nil {
		c.StreamObserver = streamObserver[H]{o}
	}
}

type connectObserver[H any] struct{ Observers[H] }

// ObserveConnect implements vecql.ConnectObserver.
func (c connectObserver[H]) ObserveConnect(o vecql.ObservedConnect) {
	c.Connect.ObserveConnect(ObservedConnect[H]{Host: c.HostOf(o.Host), Start: o.Start, End: o.End, Err: c.Plain(o.Err)})
}

type frameHeaderObserver[H any] struct{ Observers[H] }

// ObserveFrameHeader implements vecql.FrameHeaderObserver.
func (f frameHeaderObserver[H]) ObserveFrameHeader(ctx context.Context, o vecql.ObservedFrameHeader) {
	f.Frame.ObserveFrameHeader(ctx, ObservedFrameHeader[H]{
		Version: ProtoVersion(o.Version | 0x80), Flags: o.Flags, Stream: o.Stream, Opcode: FrameOp(o.Opcode),
		Length: o.Length, Start: o.Start, End: o.End, Host: f.HostOf(o.Host),
	})
}

type streamObserver[H any] struct{ Observers[H] }

// StreamContext implements vecql.StreamObserver.
func (s streamObserver[H]) StreamContext(ctx context.Context) vecql.StreamObserverContext {
	of := s.Stream.StreamContext(ctx)
	if of == nil {
		return nil
	}
	return streamContext[H]{of, s.HostOf}
}

type streamContext[H any] struct {
	of     StreamObserverContext[H]
	hostOf func(*cql.Host) H
}

func (s streamContext[H]) StreamStarted(o vecql.ObservedStream) {
	s.of.StreamStarted(ObservedStream[H]{s.hostOf(o.Host)})
}

func (s streamContext[H]) StreamAbandoned(o vecql.ObservedStream) {
	s.of.StreamAbandoned(ObservedStream[H]{s.hostOf(o.Host)})
}

func (s streamContext[H]) StreamFinished(o vecql.ObservedStream) {
	s.of.StreamFinished(ObservedStream[H]{s.hostOf(o.Host)})
}
