// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// This file holds connections in memory that behave as TCP's do, with a window and deadlines, and that virtual time (testing/synctest)
// knows to be idle.

// pipeWindow is how many bytes may be under way in one direction before the writer waits.
const pipeWindow = 256 << 10

// pipeHalf is one direction of a connection.
type pipeHalf struct {
	mu                     sync.Mutex
	changed                *sync.Cond
	b                      []byte
	writerGone, readerGone bool
	readBy, writeBy        time.Time // deadlines, zero: none
}

// pipeEnd is one end of a connection in memory.
type pipeEnd struct {
	in, out *pipeHalf
	once    sync.Once
	closed  func() // once, may be nil
}

// newPipe returns the two ends of a connection.
func newPipe() (a, b *pipeEnd) {
	var halves [2]*pipeHalf
	for i := range halves {
		h := &pipeHalf{}
		h.changed = sync.NewCond(&h.mu)
		halves[i] = h
	}
	return &pipeEnd{in: halves[0], out: halves[1]}, &pipeEnd{in: halves[1], out: halves[0]}
}

func passed(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func (p *pipeEnd) Read(b []byte) (int, error) {
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

func (p *pipeEnd) Write(b []byte) (written int, err error) {
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

// Close ends both directions: the peer reads what is under way, then io.EOF.
func (p *pipeEnd) Close() error {
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

// setDeadline sets a deadline of h and wakes who waits when it has passed.
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

func (p *pipeEnd) SetReadDeadline(t time.Time) error { p.in.setDeadline(&p.in.readBy, t); return nil }

func (p *pipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.setDeadline(&p.out.writeBy, t)
	return nil
}

func (p *pipeEnd) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

func (p *pipeEnd) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (p *pipeEnd) RemoteAddr() net.Addr { return &net.TCPAddr{} }
