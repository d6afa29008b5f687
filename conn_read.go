// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"

	"github.com/vecql/vecql/internal/wire"
)

// This file reads. One goroutine reads frames and puts each into the slot of its stream; it never waits for a caller and never runs a
// user's code.

const (
	// readBufferSize holds a whole segment, so that it is checked where it lies; a body larger than what is buffered goes straight into
	// its own memory.
	readBufferSize = 136 << 10
	// readStep bounds how much memory a frame's header can claim before its body arrives, on a connection that has not yet carried larger
	// ones: pages of one size follow each other, and are read where they belong.
	readStep = 1 << 20
	// readGrowth is how much more than what has arrived is then believed.
	readGrowth = 8
)

// setReader makes sock what frames are read from.
func (c *conn) setReader(sock net.Conn) {
	c.in = bufio.NewReaderSize(signsOfLife{c, sock}, readBufferSize)
	c.frames = c.in
}

// signsOfLife notes when a socket gives bytes: a large answer on a slow line is a sign of life before it is whole.
type signsOfLife struct {
	c    *conn
	sock net.Conn
}

func (s signsOfLife) Read(b []byte) (int, error) {
	n, err := s.sock.Read(b)
	if n > 0 {
		s.c.lastRead.Store(s.c.now())
	}
	return n, err
}

// read is the reading goroutine. It ends with the connection.
func (c *conn) read() {
	for {
		h, body, err := c.readFrame()
		if err != nil {
			c.close(fmt.Errorf("read: %w", err))
			return
		}
		if err := c.deliver(h, body); err != nil {
			body.release()
			c.close(err)
			return
		}
		if c.drained() {
			runtime.Gosched() // the callers just woken send their next requests while the server works; then it is time to look for more
		}
	}
}

// drained reports whether all that was read from the socket has been delivered.
func (c *conn) drained() bool {
	if s, ok := c.frames.(*wire.SegmentReader); ok && s.Buffered() > 0 {
		return false
	}
	return c.in.Buffered() == 0
}

// readFrame reads one frame; its body is decompressed. The receiver owns the body.
func (c *conn) readFrame() (wire.Header, *buffer, error) {
	if _, err := io.ReadFull(c.frames, c.head[:]); err != nil {
		return wire.Header{}, nil, err
	}
	h, err := wire.ParseHeader(c.head[:])
	if err == nil && !h.Response {
		err = fmt.Errorf("a request frame from the server: % x", c.head)
	}
	if err != nil {
		return h, nil, &ProtocolError{Message: "frame header", Err: err}
	}
	body := getBuffer(min(h.Length, max(readStep, 2*c.proven)))
	for read := 0; ; {
		n, err := io.ReadFull(c.frames, body.b[read:])
		if err != nil {
			body.release()
			return h, nil, unexpectedEOF(err)
		}
		if read += n; read == h.Length {
			break
		}
		more := getBuffer(min(h.Length, readGrowth*read))
		copy(more.b, body.b)
		body.release()
		body = more
	}
	c.proven = max(c.proven, h.Length)
	if h.Flags&wire.FlagCompressed != 0 && h.Version < protoV5 {
		return c.decompress(h, body)
	}
	return h, body, nil
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decompress replaces body, which it releases, by what it stands for.
func (c *conn) decompress(h wire.Header, body *buffer) (wire.Header, *buffer, error) {
	defer body.release()
	if c.compress == nil {
		return h, nil, &ProtocolError{Message: "a compressed frame, though no compression was agreed on"}
	}
	plain := getBuffer(2 * len(body.b))
	if err := c.decompressBody(plain, body.b); err != nil {
		plain.release()
		return h, nil, &ProtocolError{Message: "decompress frame", Err: err}
	}
	h.Length = len(plain.b)
	h.Flags &^= wire.FlagCompressed
	return h, plain, nil
}

// decompressBody and decompressSegment call the user's code.
func (c *conn) decompressBody(dst *buffer, body []byte) (err error) {
	defer recovered(&err)
	plain, err := c.compress.AppendDecompressedWithLength(dst.b[:0], body, wire.MaxBody)
	if err == nil {
		dst.b = plain
	}
	return err
}

func (c *conn) decompressSegment(dst, payload []byte, n int) (out []byte, err error) {
	defer recovered(&err)
	return c.compress.AppendDecompressed(dst, payload, n)
}

// deliver hands a frame to who waits for it. On an error the frame is still the caller's.
func (c *conn) deliver(h wire.Header, body *buffer) error {
	if h.Version != c.cfg.version {
		return &ProtocolError{Message: fmt.Sprintf("a frame of v%d on a connection of v%d", h.Version, c.cfg.version)}
	}
	if h.Stream < 0 {
		return c.deliverEvent(h, body)
	}
	id := int(h.Stream)
	if id >= c.streams.Cap() {
		return &ProtocolError{Message: fmt.Sprintf("an answer on stream %d, which was never used", id)}
	}
	b := c.blocks[id/slotBlock].Load()
	if b == nil {
		return &ProtocolError{Message: fmt.Sprintf("an answer on stream %d, which was never used", id)}
	}
	s := &b[id%slotBlock]
	for {
		switch state := s.state.Load(); state {
		case slotWaiting:
			if s.start.Load() < 0 {
				return &ProtocolError{Message: fmt.Sprintf("an answer on stream %d, on which nothing was sent yet", id)}
			}
			if !s.state.CompareAndSwap(slotWaiting, slotDelivering) {
				continue // given up just now
			}
			s.resp = response{header: h, page: body}
			s.state.Store(slotAnswered)
			s.signal()
			return nil
		case slotOrphaned:
			if !s.state.CompareAndSwap(slotOrphaned, slotFree) {
				continue
			}
			body.release()
			c.orphans.Add(-1)
			c.release(id)
			return nil
		default:
			return &ProtocolError{Message: fmt.Sprintf("an answer on stream %d, on which none is due", id)}
		}
	}
}

// maxEvents bounds the events that wait for their receiver; beyond it eventsLost takes the place of the last and of all that come
// until there is room: each one only says that something changed, and the receiver reads anew what there is.
const maxEvents = 1024

// eventsLost stands for any number of events.
type eventsLost struct{}

// eventQueue holds events until the receiver, which may be slow, takes them.
type eventQueue struct {
	mu      sync.Mutex
	waiting []any
	running bool
}

func (c *conn) deliverEvent(h wire.Header, body *buffer) error {
	if op := opcode(h.Opcode); op != opEvent || h.Stream != -1 {
		return &ProtocolError{Message: fmt.Sprintf("%v on stream %d", op, h.Stream)}
	}
	_, r, err := parseEnvelope(h, body.b)
	if err != nil {
		return err
	}
	event, err := parseEvent(&r)
	if err != nil {
		return err
	}
	body.release()
	if event == nil || c.cfg.onEvent == nil {
		return nil
	}
	q := &c.events
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) < maxEvents {
		q.waiting = append(q.waiting, event)
	} else {
		q.waiting[maxEvents-1] = eventsLost{}
	}
	if !q.running {
		q.running = true
		c.start(c.runEvents)
	}
	return nil
}

// runEvents hands over events until none is left.
func (c *conn) runEvents() {
	q := &c.events
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 || c.closed() {
			q.running = false
			q.mu.Unlock()
			return
		}
		event := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		c.cfg.onEvent(event)
	}
}
