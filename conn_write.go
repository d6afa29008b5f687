// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/wire"
)

// This file writes. Frames gather in one chunk of bytes; whoever finds no leader becomes it and writes what has gathered, then what has
// gathered meanwhile, and so on: a group commit without a goroutine or a timer of its own. An idle connection costs one write per
// request; a busy one sends many requests with one.
//
// A leader is a caller too and must get back to its own context. After some rounds, or when a write stalls, it leaves the rest to a
// goroutine that lives as long as there is something to write. A stalled write is ended by a deadline in the past (see onTick); the
// goroutine goes on where it stopped. Where that can't be, as in TLS, a caller that can be called back does not write at all.

const (
	maxPending   = 4 << 20        // bytes that may gather before callers wait for the writer
	maxKept      = 2 * maxPending // memory above it is given up after the write; all of it when the connection has fallen idle
	leaderRounds = 8              // writes by a caller before it hands over
	// compressFrom is the smallest v4 body, or v5 segment, worth compressing.
	compressFrom = 512
)

type writer struct {
	mu      sync.Mutex
	pending wire.SegmentBuilder // frames to write: in plain v5 with their segments, else as they are
	spare   []byte              // the memory of a chunk that was written
	queued  int64               // all bytes of frames that ever gathered
	handed  int64               // how many of them were handed to the socket, or are about to be
	leading bool                // somebody writes, or is about to
	stopped bool                // nothing is taken any more
	room    chan struct{}       // closed when pending was taken; nil while nobody waits for that

	// Of who leads:
	frames   []byte       // the chunk that is being written, empty when none is
	size     int          // bytes of frames in it
	out      []byte       // its form on the wire, nil before it was made
	written  int          // bytes of out
	segments []byte       // memory for out in compressed v5
	since    atomic.Int64 // tick at which a caller's write began, counted from 1; 0 while none is under way
}

// send queues the frame of a call and sees that it is written. An error says that it was not queued.
func (c *conn) send(ctx context.Context, s *slot, id int, req *request) error {
	h := wire.Header{Version: c.cfg.version, Flags: req.flags, Stream: int16(id), Opcode: byte(req.op), Length: len(req.body.b)}
	body := req.body.b
	if c.compress != nil && c.cfg.version < protoV5 && len(body) >= compressFrom {
		packed := getBuffer(len(body))
		defer packed.release()
		if err := c.compressBody(packed, body); err != nil {
			return err
		}
		if len(packed.b) < len(body) {
			body = packed.b
			h.Flags |= wire.FlagCompressed
			h.Length = len(body)
		}
	}
	w := &c.w
	w.mu.Lock()
	for len(w.pending.B) > maxPending && !w.stopped {
		if err := c.awaitRoom(ctx, s); err != nil { // unlocks meanwhile
			w.mu.Unlock()
			return err
		}
	}
	if w.stopped {
		w.mu.Unlock()
		return c.closedError()
	}
	s.start.Store(w.queued)
	w.add(&h, body, c.plainSegments())
	lead := !w.leading
	w.leading = true
	w.mu.Unlock()
	if !lead {
		return nil
	}
	if !c.resumable && (ctx.Done() != nil || s.deadline.Load() != 0) {
		c.start(c.flush)
		return nil
	}
	if c.inFlight() > 1 {
		runtime.Gosched() // callers that are ready to run get into the same write
	}
	c.lead()
	return nil
}

// plainSegments reports whether frames are put into segments as they gather. Compressed ones are made of what has gathered.
func (c *conn) plainSegments() bool { return c.cfg.version >= protoV5 && c.compress == nil }

// add appends a frame to what is pending. w.mu is held.
func (w *writer) add(h *wire.Header, body []byte, segments bool) {
	var head [wire.HeaderSize]byte
	wire.PutHeader(head[:], *h)
	if segments {
		w.pending.Append(head[:], body)
	} else {
		w.pending.B = append(append(w.pending.B, head[:]...), body...)
	}
	w.queued += int64(len(head) + len(body))
}

// awaitRoom waits until the writer has taken what is pending. w.mu is held at the call and at the return.
func (c *conn) awaitRoom(ctx context.Context, s *slot) error {
	w := &c.w
	if w.room == nil {
		w.room = make(chan struct{})
	}
	room := w.room
	w.mu.Unlock()
	defer w.mu.Lock()
	for {
		select {
		case <-room:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-c.done:
			return c.closedError()
		case <-s.wake:
			if s.expired(c.now()) {
				return ErrTimeoutNoResponse
			}
		}
	}
}

// compressBody and compressSegment call the user's code.
func (c *conn) compressBody(dst *buffer, body []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("compress: %w", err)
		}
	}()
	defer recovered(&err)
	dst.b, err = c.compress.AppendCompressedWithLength(dst.b[:0], body)
	return err
}

// compressSegment is for wire.AppendSegments, which stores what did not become smaller. The frames in a segment are of many callers: when
// it can't be compressed, they are sent all the same.
func (c *conn) compressSegment(dst, payload []byte) (out []byte, err error) {
	if len(payload) < compressFrom {
		return append(dst, payload...), nil
	}
	defer func() {
		if err != nil {
			out, err = append(dst, payload...), nil
		}
	}()
	defer recovered(&err)
	return c.compress.AppendCompressed(dst, payload)
}

// lead writes on behalf of a caller, for a while.
func (c *conn) lead() {
	for range leaderRounds {
		if !c.w.next() {
			return
		}
		if err := c.writeChunk(true); err != nil {
			if errors.Is(err, errStalled) {
				c.start(c.flush)
			}
			return
		}
	}
	if c.w.next() {
		c.start(c.flush)
	}
}

// flush writes until nothing is left, however long it takes.
func (c *conn) flush() {
	for c.w.next() {
		if err := c.writeChunk(false); errors.Is(err, errStalled) {
			_ = c.sock.SetWriteDeadline(time.Time{}) // it was meant for a leader, who has left
		} else if err != nil {
			return
		}
	}
}

// next makes a chunk of what is pending, unless one is still being written, and reports whether there is one. When there is none, nobody
// leads any more.
func (w *writer) next() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	if len(w.frames) > 0 {
		return true
	}
	if cap(w.frames) > 0 && cap(w.frames) <= maxKept {
		w.spare = w.frames
	}
	if w.frames = nil; len(w.pending.B) == 0 {
		w.leading = false
		return false
	}
	w.frames, w.spare = w.pending.Finish(w.spare), nil
	w.size = int(w.queued - w.handed)
	w.handed = w.queued
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
	return true
}

// errStalled says that a write was ended by the deadline set for a leader, and can go on.
var errStalled = errors.New("write stalled")

// writeChunk writes once what is left of the chunk. After errStalled the rest is still there; any other error has closed the connection.
func (c *conn) writeChunk(byCaller bool) error {
	w := &c.w
	if w.out == nil {
		if err := c.seal(); err != nil {
			c.close(fmt.Errorf("segment: %w", err))
			return err
		}
	}
	if byCaller {
		w.since.Store(c.tick.Load() + 1)
	}
	n, err := c.sock.Write(w.out[w.written:])
	if byCaller {
		w.since.Store(0)
	}
	w.written += n
	switch {
	case err == nil:
		w.frames, w.out, w.written = w.frames[:0], nil, 0
		if cap(w.segments) > maxKept {
			w.segments = nil
		}
		return nil
	case c.resumable && errors.Is(err, os.ErrDeadlineExceeded):
		return errStalled
	}
	w.failed(c.framesBegun())
	c.close(fmt.Errorf("write: %w", err))
	return err
}

// seal gives the chunk its form on the wire.
func (c *conn) seal() error {
	w := &c.w
	w.out = w.frames
	if c.cfg.version < protoV5 {
		return nil
	}
	if c.plainSegments() {
		wire.SealSegments(w.out)
		return nil
	}
	var err error
	w.segments, err = wire.AppendSegments(w.segments[:0], w.frames, c.compressSegment)
	w.out = w.segments
	return err
}

// framesBegun returns how many bytes of the chunk's frames are in what was written of it, a segment counting as a whole.
func (c *conn) framesBegun() int {
	w := &c.w
	if c.cfg.version < protoV5 {
		return w.written
	}
	headerSize, parse := wire.SegmentHeaderSize, wire.ParseSegmentHeader
	if c.compress != nil {
		headerSize, parse = wire.SegmentHeaderSizeLZ4, wire.ParseSegmentHeaderLZ4
	}
	begun := 0
	for at := 0; at < w.written; {
		h, err := parse(w.out[at:])
		if err != nil {
			return w.size
		}
		at += headerSize + h.Length + wire.SegmentTrailerSize
		if h.Uncompressed > 0 {
			begun += h.Uncompressed
		} else {
			begun += h.Length
		}
	}
	return begun
}

// failed notes how many bytes of the chunk's frames were handed to the socket before a write failed: frames beyond them count as not sent.
func (w *writer) failed(begun int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped { // else the outcomes are given out already
		w.handed += int64(begun - w.size)
	}
}

// stop makes the writer take nothing more, and returns how many of the queued bytes were handed to the socket.
func (w *writer) stop() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.pending = wire.SegmentBuilder{}
	return w.handed
}

// shrink gives up memory that a busy time has left, unless somebody writes.
func (w *writer) shrink() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.leading {
		w.pending, w.frames, w.spare, w.segments = wire.SegmentBuilder{}, nil, nil, nil
	}
}
