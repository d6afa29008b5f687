// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// In-memory connections. They have a window and deadlines, like TCP connections, and virtual time (testing/synctest)
// detects when they are idle.

// pipeWindow is the number of bytes in flight in one direction before a writer blocks.
const pipeWindow = 256 << 10

// A pipeHalf is one direction of a connection.
type pipeHalf struct {
	mu                     sync.Mutex
	changed                *sync.Cond
	b                      []byte
	writerGone, readerGone bool
	readBy, writeBy        time.Time // deadlines; zero means none
}

// A PipeEnd is one end of a connection in memory.
type PipeEnd struct {
	in, out *pipeHalf
	once    sync.Once
	closed  func() // called once; nil means none
}

// NewPipe returns the two ends of a connection.
func NewPipe() (a, b *PipeEnd) {
	var halves [2]*pipeHalf
	for i := range halves {
		h := &pipeHalf{}
		h.changed = sync.NewCond(&h.mu)
		halves[i] = h
	}
	return &PipeEnd{in: halves[0], out: halves[1]}, &PipeEnd{in: halves[1], out: halves[0]}
}

func passed(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

// Read implements net.Conn.
func (p *PipeEnd) Read(b []byte) (int, error) {
	h := p.in
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerGone:
			return 0, net.ErrClosed
		case passed(h.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(h.b) > 0:
			n := copy(b, h.b)
			h.b = h.b[n:]
			h.changed.Broadcast()
			return n, nil
		case h.writerGone:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

// Write implements net.Conn.
func (p *PipeEnd) Write(b []byte) (written int, err error) {
	h := p.out
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch n := min(pipeWindow-len(h.b), len(b)-written); {
		case h.writerGone:
			return written, net.ErrClosed
		case h.readerGone:
			return written, io.ErrClosedPipe
		case passed(h.writeBy):
			return written, os.ErrDeadlineExceeded
		case n > 0:
			h.b = append(h.b, b[written:written+n]...)
			written += n
			h.changed.Broadcast()
		}
		if written == len(b) {
			return written, nil
		}
		if len(h.b) >= pipeWindow {
			h.changed.Wait()
		}
	}
}

// Close ends both directions. The peer reads what was written, then io.EOF.
func (p *PipeEnd) Close() error {
	p.once.Do(func() {
		for _, h := range []*pipeHalf{p.in, p.out} {
			h.mu.Lock()
			if h == p.in {
				h.readerGone = true
			} else {
				h.writerGone = true
			}
			h.changed.Broadcast()
			h.mu.Unlock()
		}
		if p.closed != nil {
			p.closed()
		}
	})
	return nil
}

// setDeadline sets a deadline of h. The goroutines that wait on h wake up when it has passed.
func (h *pipeHalf) setDeadline(deadline *time.Time, t time.Time) {
	h.mu.Lock()
	*deadline = t
	h.changed.Broadcast()
	h.mu.Unlock()
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.changed.Broadcast()
		})
	}
}

// SetReadDeadline implements net.Conn.
func (p *PipeEnd) SetReadDeadline(t time.Time) error { p.in.setDeadline(&p.in.readBy, t); return nil }

// SetWriteDeadline implements net.Conn.
func (p *PipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.setDeadline(&p.out.writeBy, t)
	return nil
}

// SetDeadline implements net.Conn.
func (p *PipeEnd) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

// LocalAddr implements net.Conn.
func (p *PipeEnd) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (p *PipeEnd) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// Fill fills the send window of p, so that further writes block, as if the peer had stopped reading.
func (p *PipeEnd) Fill() {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	p.out.b = make([]byte, pipeWindow)
}
