// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// The reader of a connection. One goroutine reads frames and stores each in the slot of its stream. It never waits for
// a caller and never runs a user's code.

const (
	// readStep bounds the memory allocated for a frame from its header alone, on a connection that has not yet carried
	// larger frames. Pages of equal size follow each other and need no copy.
	readStep = 1 << 20
	// readGrowth is the factor between the bytes that have arrived and the next allocation.
	readGrowth = 8
	// calmAfter is how long little must have arrived at a time before the reader returns the memory of a busy time.
	calmAfter = time.Second
)

// setReader makes the connection read frames from sock.
func (c *Conn) setReader(sock net.Conn) {
	c.in = wire.NewInput(timedReader{c, sock})
	c.frames = c.in
}

// progressSize is how many bytes of an incomplete frame count as an answer: a large response on a slow line is a sign
// of life, a few bytes are not.
const progressSize = 64 << 10

// timedReader records when bytes arrive.
type timedReader struct {
	c    *Conn
	sock net.Conn
}

func (t timedReader) Read(b []byte) (int, error) {
	n, err := t.sock.Read(b)
	if n > 0 {
		t.c.readAt = t.c.now()
		if t.c.partial += n; t.c.partial >= progressSize {
			t.c.noteAnswer()
		}
	}
	return n, err
}

// noteAnswer records that an answer has arrived. Answers that arrive together cost one store.
func (c *Conn) noteAnswer() {
	if c.partial = 0; c.answered.Load() != c.readAt {
		c.answered.Store(c.readAt)
		c.Overload.Answers.Store(c.answers)
	}
}

// read is the goroutine of the reader. It ends with the connection.
func (c *Conn) read() {
	for {
		h, body, err := c.readFrame()
		if err != nil {
			c.Close(errtext.Errorf("read: %w", err))
			return
		}
		if h.Stream >= 0 && frame.Opcode(h.Opcode) != frame.OpSupported { // see silence.go
			c.answers++
			c.noteAnswer()
		}
		c.partial = 0
		if err := c.deliver(h, body); err != nil {
			body.Release()
			c.Close(err)
			return
		}
		if c.drained() {
			c.calm()
			runtime.Gosched() // let the callers just woken send their next requests before the next read blocks
		}
	}
}

// drained reports whether all bytes read from the socket have been delivered.
func (c *Conn) drained() bool {
	if s, ok := c.frames.(*wire.SegmentReader); ok && s.Buffered() > 0 {
		return false
	}
	return c.in.Buffered() == 0 && (c.w.records == nil || !c.w.records.more())
}

// calm returns the memory of a busy time once little has arrived at a time for calmAfter. The answer to a heartbeat is
// little, so an idle connection keeps no more than wire.InputLeast.
func (c *Conn) calm() {
	burst, size := c.in.Burst(), c.in.Size()
	if r := c.w.records; r != nil {
		burst, size = max(burst, r.in.Burst()), max(size, r.in.Size())
	}
	switch {
	case burst > wire.InputLeast:
		c.busyAt = c.readAt
	case size > wire.InputLeast && c.readAt-c.busyAt > int64(calmAfter):
		c.in.Shrink()
		if s, ok := c.frames.(*wire.SegmentReader); ok {
			s.Shrink()
		}
		if r := c.w.records; r != nil {
			r.in.Shrink()
		}
	}
}

// frameSource is the stream of frames, the segments of v5 removed.
type frameSource interface {
	io.Reader
	// Ahead returns the bytes that were received. They are valid until the next call.
	Ahead() []byte
	// Fill blocks until Ahead has bytes.
	Fill() error
	// Discard consumes n bytes of Ahead.
	Discard(n int)
}

// readFrame reads one frame and decompresses its body, which the caller owns.
func (c *Conn) readFrame() (wire.Header, *Buffer, error) {
	if err := c.frames.Fill(); err != nil {
		return wire.Header{}, nil, err
	}
	h, body, err := c.takeFrame()
	if body == nil && err == nil {
		h, body, err = c.awaitFrame()
	}
	if err == nil && h.Flags&wire.FlagCompressed != 0 && h.Version < frame.V5 {
		return c.decompress(h, body, c.acquired(h))
	}
	return h, body, err
}

// takeFrame reads a frame that was received as a whole. The body is nil if there is none.
func (c *Conn) takeFrame() (h wire.Header, body *Buffer, err error) {
	ahead := c.frames.Ahead()
	if len(ahead) < wire.HeaderSize {
		return h, nil, nil
	}
	if h, err = parseHeader(ahead); err != nil {
		copy(c.head[:], ahead) // for foreignAnswer
		return h, nil, err
	}
	if ahead = ahead[wire.HeaderSize:]; len(ahead) < h.Length {
		return h, nil, nil
	}
	if string(ahead[:h.Length]) == voidResult {
		body = voidBody
	} else {
		body = c.getBody(h.Length, c.acquired(h))
		copy(body.B, ahead)
	}
	c.frames.Discard(wire.HeaderSize + h.Length)
	return h, body, nil
}

func parseHeader(b []byte) (wire.Header, error) {
	h, err := wire.ParseHeader(b)
	if err == nil && !h.Response {
		err = errtext.Errorf("a request frame from the server: % x", b[:wire.HeaderSize])
	}
	if err != nil {
		return h, &cql.ProtocolError{Message: "frame header", Err: err}
	}
	return h, nil
}

// awaitFrame reads the rest of a frame that was received in part.
func (c *Conn) awaitFrame() (wire.Header, *Buffer, error) {
	if _, err := io.ReadFull(c.frames, c.head[:]); err != nil {
		return wire.Header{}, nil, err
	}
	h, err := parseHeader(c.head[:])
	if err != nil {
		return h, nil, err
	}
	acquired := c.acquired(h)
	body := c.getBody(min(h.Length, max(readStep, 2*c.proven)), acquired)
	for read := 0; ; {
		n, err := io.ReadFull(c.frames, body.B[read:])
		if err != nil {
			body.Release()
			return h, nil, unexpectedEOF(err)
		}
		if read += n; read == h.Length {
			break
		}
		more := c.getBody(min(h.Length, readGrowth*read), acquired)
		copy(more.B, body.B)
		body.Release()
		body = more
	}
	c.proven = max(c.proven, h.Length)
	return h, body, nil
}

// getBody returns a buffer for a response, which the memory budget counts. acquired is the part that the request has
// acquired.
func (c *Conn) getBody(size int, acquired int64) *Buffer {
	b := GetBuffer(size)
	b.count(c.Config.Memory, acquired)
	return b
}

// acquired returns the memory for a response that its request has acquired: 0 when the caller has left.
func (c *Conn) acquired(h wire.Header) int64 {
	if c.Config.Memory == nil || h.Stream < 0 {
		return 0
	}
	if s := c.slots.at(int(h.Stream)); s != nil && s.state.Load() == slotWaiting {
		return s.expected.Load()
	}
	return 0
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decompress returns the decompressed body and releases body.
func (c *Conn) decompress(h wire.Header, body *Buffer, acquired int64) (wire.Header, *Buffer, error) {
	defer body.Release()
	if c.compress == nil {
		return h, nil, &cql.ProtocolError{Message: "a compressed frame without negotiated compression"}
	}
	plain := GetBuffer(2 * len(body.B))
	if err := c.decompressBody(plain, body.B); err != nil {
		plain.Release()
		return h, nil, &cql.ProtocolError{Message: "decompress frame", Err: err}
	}
	plain.count(c.Config.Memory, acquired)
	h.Length = len(plain.B)
	h.Flags &^= wire.FlagCompressed
	return h, plain, nil
}

// decompressBody and decompressSegment call the user's code and return a panic in it as an error.
func (c *Conn) decompressBody(dst *Buffer, body []byte) (err error) {
	defer background.Recover(&err)
	plain, err := c.compress.AppendDecompressedWithLength(dst.B[:0], body, wire.MaxBody)
	if err == nil {
		dst.B = plain
	}
	return err
}

func (c *Conn) decompressSegment(dst, payload []byte, n int) (out []byte, err error) {
	defer background.Recover(&err)
	return c.compress.AppendDecompressed(dst, payload, n)
}

// deliver stores a response in the slot of its call. On an error the body still belongs to the caller.
func (c *Conn) deliver(h wire.Header, body *Buffer) error {
	if h.Version != c.Config.Version {
		return &cql.ProtocolError{Message: fmt.Sprintf("a frame of v%d on a connection of v%d", h.Version, c.Config.Version)}
	}
	if h.Stream < 0 {
		return c.deliverEvent(h, body)
	}
	id := int(h.Stream)
	s := c.slots.at(id)
	if s == nil {
		return &cql.ProtocolError{Message: fmt.Sprintf("a response on stream %d, which was never used", id)}
	}
	for {
		switch state := s.state.Load(); state {
		case slotWaiting:
			if s.start.Load() < 0 {
				return &cql.ProtocolError{Message: fmt.Sprintf("a response on stream %d, on which no request was sent yet", id)}
			}
			if !s.startDelivery() {
				continue // the caller has just left
			}
			s.resp = Response{Header: h, Body: body, Latency: c.recordLatency(s)}
			s.state.Store(slotAnswered)
			s.signal()
			return nil
		case slotOrphaned:
			if !s.state.CompareAndSwap(slotOrphaned, slotFree) {
				continue
			}
			c.recordLatency(s)
			body.Release()
			c.Overload.late.Add(1)
			c.Orphans.Add(-1)
			c.release(id)
			return nil
		default:
			return &cql.ProtocolError{Message: fmt.Sprintf("a response on stream %d, on which no request is in flight", id)}
		}
	}
}

// MaxEvents bounds the queue of events. When it is full, EventsLost replaces the last event and all further ones.
// Nothing is lost by that: an event only triggers a new reading of the system tables.
const MaxEvents = 1024

// EventsLost replaces any number of events.
type EventsLost struct{}

// eventQueue queues events for the receiver, which may be slow.
type eventQueue struct {
	mu      sync.Mutex
	waiting []any
	running bool
}

// deliverEvent appends an event to the queue of runEvents and takes ownership of body. When the queue is full,
// EventsLost replaces its last event: the reader must not wait for a listener. Only EVENT frames have a negative stream
// id, which is -1 (native_protocol_v5.spec, section 2.4.1.3).
func (c *Conn) deliverEvent(h wire.Header, body *Buffer) error {
	if op := frame.Opcode(h.Opcode); op != frame.OpEvent || h.Stream != -1 {
		return &cql.ProtocolError{Message: fmt.Sprintf("%v on stream %d", op, h.Stream)}
	}
	_, r, err := frame.ReadEnvelope(h.Flags, body.B)
	if err != nil {
		return err
	}
	event, err := frame.ParseEvent(&r)
	if err != nil {
		return err
	}
	body.Release()
	if _, ends := event.(frame.ShutdownEvent); ends {
		c.closeWhenIdle(&EndError{Cause: stats.EndShutdown, Err: errShutdown})
		return nil
	}
	if event == nil || c.Config.OnEvent == nil {
		return nil
	}
	q := &c.events
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) < MaxEvents {
		q.waiting = append(q.waiting, event)
	} else {
		q.waiting[MaxEvents-1] = EventsLost{}
	}
	if !q.running {
		q.running = true
		c.tasks.Go(c.runEvents)
	}
	return nil
}

// runEvents delivers events until the queue is empty.
func (c *Conn) runEvents() {
	q := &c.events
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 || c.Closed() {
			q.running = false
			q.mu.Unlock()
			return
		}
		event := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		c.Config.OnEvent(event)
	}
}
