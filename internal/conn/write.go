// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// The writer of a connection: group commit. Frames gather in one chunk of bytes. A caller that finds no leader becomes
// the leader: it writes the gathered frames, then those that gathered during its write, and so on, without a goroutine
// or a timer. An idle connection costs one write per request; a busy one sends many requests with one write.
//
// A leader is also a caller and must return when its own context ends. After leaderRounds writes, or when a write
// stalls, it hands over to a goroutine that ends when nothing is pending. onTick interrupts a stalled write by a
// deadline in the past; the goroutine continues where the write stopped. Writes to a socket of the user's own type may
// not allow that, so a caller with a deadline or a cancelable context does not write to it at all.

const (
	maxPending = 4 << 20 // with more pending bytes, callers wait for the writer
	// larger memory is dropped after a write; all memory is dropped when the connection is idle
	maxKept      = 2 * maxPending
	leaderRounds = 8 // writes by one caller before it hands over
	// compressFrom is the minimum size of a v4 body or v5 segment to compress.
	compressFrom = 512
)

// writer collects frames and writes them to the socket: group commit. Callers hold mu, except for the fields of the
// leader.
type writer struct {
	mu        sync.Mutex
	pending   wire.SegmentBuilder // frames to write: as segments in uncompressed v5, else without
	spare     []byte              // memory of a written chunk, for reuse
	queued    int64               // bytes of all frames ever queued
	handed    int64               // how many of them were handed to the socket, or will be at once
	leading   bool                // a caller or goroutine writes, or is about to
	stopped   bool                // no frame is accepted
	records   *records            // of TLS; nil without TLS
	flushDone chan struct{}       // closed when pending is taken; nil means that no caller waits

	// Fields of the leader:
	frames   []byte       // the chunk being written; empty means none
	size     int          // bytes of frames in it
	plain    []byte       // the chunk in the protocol's encoding
	out      []byte       // the chunk as written: plain, or over TLS its records; nil before seal
	written  int          // bytes of out already written
	segments []byte       // memory for out in compressed v5
	sealed   []byte       // memory for out over TLS
	since    atomic.Int64 // tick of the start of a caller's write, from 1; 0 means no write
}

// send queues the frame of a call and makes sure that it is written. An error means that the frame was not queued.
func (c *Conn) send(ctx context.Context, call *waiter, req *Request) error {
	h := wire.Header{
		Version: c.Config.Version, Flags: req.Flags | c.betaFlag(), Stream: int16(call.id), Opcode: byte(req.Op),
		Length: len(req.Body.B),
	}
	body := req.Body.B
	if c.compress != nil && c.Config.Version < frame.V5 && len(body) >= compressFrom {
		packed := GetBuffer(len(body))
		defer packed.Release()
		if err := c.compressBody(packed, body); err != nil {
			return err
		}
		if len(packed.B) < len(body) {
			body = packed.B
			h.Flags |= wire.FlagCompressed
			h.Length = len(body)
		}
	}
	w := &c.w
	w.mu.Lock()
	for len(w.pending.B) > maxPending && !w.stopped {
		if err := c.awaitRoom(ctx, call); err != nil { // unlocks w.mu while it waits
			w.mu.Unlock()
			return err
		}
	}
	if w.stopped {
		w.mu.Unlock()
		return c.ClosedError()
	}
	call.start.Store(w.queued)
	w.add(&h, body, c.plainSegments())
	lead := !w.leading
	w.leading = true
	w.mu.Unlock()
	if !lead {
		return nil
	}
	if !c.resumable && (call.prompt || call.polls || call.deadline != 0) {
		c.tasks.Go(c.Flush)
		return nil
	}
	if c.InFlight() > 1 {
		runtime.Gosched() // let ready callers add to the same write
	}
	c.lead()
	return nil
}

// betaFlag is in the header of each request of a version that is a beta. A version that another server has as a beta,
// such as v5 of Cassandra 3.11, is not the one of the specification, and so is refused without the flag.
func (c *Conn) betaFlag() byte {
	if c.Config.Version >= frame.V6 {
		return wire.FlagBeta
	}
	return 0
}

// plainSegments reports whether frames are put into segments when they are queued. Compressed segments are made later,
// from the whole chunk.
func (c *Conn) plainSegments() bool { return c.Config.Version >= frame.V5 && c.compress == nil }

// add appends a frame to the pending bytes. Callers hold w.mu.
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

// awaitRoom blocks until the writer has taken the pending bytes. Callers hold w.mu; awaitRoom releases it while it
// waits.
func (c *Conn) awaitRoom(ctx context.Context, call *waiter) error {
	w := &c.w
	if w.flushDone == nil {
		w.flushDone = make(chan struct{})
	}
	room := w.flushDone
	w.mu.Unlock()
	defer w.mu.Lock()
	for {
		select {
		case <-room:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-c.done:
			return c.ClosedError()
		case <-call.wake:
			if err := c.checkWait(ctx, call); err != nil {
				return err
			}
		}
	}
}

// compressBody and compressSegment call the user's code and recover from a panic in it.
func (c *Conn) compressBody(dst *Buffer, body []byte) (err error) {
	defer func() {
		if err != nil {
			err = errtext.Errorf("compress: %w", err)
		}
	}()
	defer background.Recover(&err)
	dst.B, err = c.compress.AppendCompressedWithLength(dst.B[:0], body)
	return err
}

// compressSegment is the callback of wire.AppendSegments, which stores a payload uncompressed unless it becomes
// smaller. On an error the payload stays uncompressed, because the frames in a segment belong to many callers.
func (c *Conn) compressSegment(dst, payload []byte) (out []byte, err error) {
	if len(payload) < compressFrom {
		return append(dst, payload...), nil
	}
	defer func() {
		if err != nil {
			out, err = append(dst, payload...), nil
		}
	}()
	defer background.Recover(&err)
	return c.compress.AppendCompressed(dst, payload)
}

// lead writes on the goroutine of a caller, for at most leaderRounds writes.
func (c *Conn) lead() {
	for range leaderRounds {
		if !c.w.next() {
			return
		}
		if err := c.writeChunk(true); err != nil {
			if errors.Is(err, errStalled) {
				c.tasks.Go(c.Flush)
			}
			return
		}
	}
	if c.w.next() {
		c.tasks.Go(c.Flush)
	}
}

// flushSoon starts a leader unless there is one.
func (c *Conn) flushSoon() {
	w := &c.w
	w.mu.Lock()
	start := !w.leading && !w.stopped
	w.leading = w.leading || start
	w.mu.Unlock()
	if start {
		c.tasks.Go(c.Flush)
	}
}

// Stall makes frames wait as if the socket took no bytes. With full they wait for room. Only tests call it.
func (c *Conn) Stall(full bool) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.leading = true
	if full {
		c.w.pending.B = make([]byte, maxPending+1)
	}
}

// Stalled returns the number of bytes that wait.
func (c *Conn) Stalled() int {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return len(c.w.pending.B)
}

// Flush writes until nothing is pending.
func (c *Conn) Flush() {
	if c.InFlight() > 1 {
		runtime.Gosched() // let ready callers add to the same write
	}
	for c.w.next() {
		if err := c.writeChunk(false); errors.Is(err, errStalled) {
			_ = c.raw.SetWriteDeadline(time.Time{}) // the deadline was for a leader, which has left
		} else if err != nil {
			return
		}
	}
}

// next makes a chunk of the pending bytes, unless one is still being written, and reports whether there is a chunk.
// Without a chunk the leader steps down.
func (w *writer) next() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	if len(w.frames) > 0 || w.out != nil {
		return true
	}
	if cap(w.frames) > 0 && cap(w.frames) <= maxKept {
		w.spare = w.frames
	}
	if w.frames = nil; len(w.pending.B) == 0 {
		w.size = 0
		w.leading = w.records != nil && w.records.waiting() // records without frames
		return w.leading
	}
	w.frames, w.spare = w.pending.Finish(w.spare), nil
	w.size = int(w.queued - w.handed)
	w.handed = w.queued
	if w.flushDone != nil {
		close(w.flushDone)
		w.flushDone = nil
	}
	return true
}

// errStalled means that the deadline for a leader interrupted a write, which can continue.
var errStalled = errors.New("write stalled")

// writeChunk makes one write of the rest of the chunk. After errStalled there is still a rest; any other error has
// closed the connection.
func (c *Conn) writeChunk(byCaller bool) error {
	w := &c.w
	if w.out == nil {
		if err := c.seal(); err != nil {
			c.Close(errtext.Errorf("write: %w", err))
			return err
		}
	}
	if byCaller {
		w.since.Store(c.deadlines.tick.Load() + 1)
	}
	n, err := c.raw.Write(w.out[w.written:])
	if byCaller {
		w.since.Store(0)
	}
	w.written += n
	switch {
	case err == nil:
		w.frames, w.plain, w.out, w.written = w.frames[:0], nil, nil, 0
		if cap(w.segments) > maxKept {
			w.segments = nil
		}
		if cap(w.sealed) > maxKept {
			w.sealed = nil
		}
		return nil
	case c.resumable && errors.Is(err, os.ErrDeadlineExceeded):
		return errStalled
	}
	w.failed(c.framesBegun())
	c.Close(errtext.Errorf("write: %w", err))
	return err
}

// seal makes w.out, the chunk as it is written.
func (c *Conn) seal() error {
	w := &c.w
	w.plain = w.frames
	switch {
	case c.Config.Version < frame.V5:
	case c.plainSegments():
		wire.SealSegments(w.plain)
	default:
		var err error
		if w.segments, err = wire.AppendSegments(w.segments[:0], w.frames, c.compressSegment); err != nil {
			return errtext.Errorf("segment: %w", err)
		}
		w.plain = w.segments
	}
	w.out = w.plain
	if w.records == nil {
		return nil
	}
	var err error
	w.out, err = w.records.seal(c.Sock, w.plain, w.sealed)
	w.sealed = w.out
	return err
}

// framesBegun returns how many bytes of frames the written part of the chunk covers. A segment counts as a whole.
func (c *Conn) framesBegun() int {
	w := &c.w
	written := w.written
	if w.records != nil {
		written = min(contentBegun(w.out, written), len(w.plain))
	}
	if c.Config.Version < frame.V5 {
		return written
	}
	headerSize, parse := wire.SegmentHeaderSize, wire.ParseSegmentHeader
	if c.compress != nil {
		headerSize, parse = wire.SegmentHeaderSizeLZ4, wire.ParseSegmentHeaderLZ4
	}
	begun := 0
	for at := 0; at < written; {
		h, err := parse(w.plain[at:])
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

// failed records that only begun bytes of the chunk's frames were handed to the socket. Frames beyond them count as not
// sent.
func (w *writer) failed(begun int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped { // after stop the outcomes are already delivered
		w.handed += int64(begun - w.size)
	}
}

// stop makes the writer refuse further frames, and returns how many of the queued bytes were handed to the socket.
func (w *writer) stop() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.pending = wire.SegmentBuilder{}
	return w.handed
}

// shrink drops the memory of a busy time, unless there is a leader.
func (w *writer) shrink() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.leading {
		w.pending, w.frames, w.spare, w.segments, w.sealed = wire.SegmentBuilder{}, nil, nil, nil, nil
		if w.records != nil {
			w.records.shrink()
		}
	}
}
