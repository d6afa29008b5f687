// SPDX-License-Identifier: Apache-2.0

// Package memconn has connections in memory, for test servers: with a window of fixed size, deadlines, half-closing and
// resets, like TCP connections. They use no socket, so that testing/synctest detects when they are idle.
package memconn

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// stream is one direction of a connection.
type stream struct {
	mu     sync.Mutex
	change sync.Cond
	buf    []byte
	window int
	eof    bool // the writer has closed
	reset  bool // the reader has closed
	read   deadline
	write  deadline
}

// deadline is a deadline of one direction of a Conn. The stream's mu guards its fields.
type deadline struct {
	timer *time.Timer
	past  bool
	turn  int // counts calls of set, so that a stale timer does nothing
}

func newStream(window int) *stream {
	s := &stream{window: window}
	s.change.L = &s.mu
	return s
}

// set arms a deadline of s.
func (s *stream) set(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.turn++
	d.past = false
	if !t.IsZero() {
		if wait := time.Until(t); wait <= 0 {
			d.past = true
		} else {
			turn := d.turn
			d.timer = time.AfterFunc(wait, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				if d.turn == turn {
					d.past = true
					s.change.Broadcast()
				}
			})
		}
	}
	s.change.Broadcast()
}

// stop stops the timers of s.
func (s *stream) stop(d *deadline) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.turn++
}

// A Conn is one end of a connection.
type Conn struct {
	OnClose func() // called once; nil means none

	r, w          *stream
	local, remote net.Addr
	once          sync.Once
}

// Pair returns both ends of a connection between two addresses. window is the number of bytes in flight in each
// direction before writes block.
func Pair(window int, first, second net.Addr) (a, b *Conn) {
	out, in := newStream(window), newStream(window)
	return &Conn{r: in, w: out, local: first, remote: second}, &Conn{r: out, w: in, local: second, remote: first}
}

func (c *Conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// Read blocks until there are bytes, the stream ends, or the deadline has passed. Bytes written before the end are read
// first.
func (c *Conn) Read(p []byte) (int, error) {
	s := c.r
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.reset:
			return 0, c.opError("read", net.ErrClosed)
		case s.read.past:
			return 0, c.opError("read", os.ErrDeadlineExceeded)
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			if s.buf = s.buf[n:]; len(s.buf) == 0 {
				s.buf = nil
			}
			s.change.Broadcast()
			return n, nil
		case s.eof:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.change.Wait()
	}
}

// Write blocks while the window of the peer is full, as a TCP connection does.
func (c *Conn) Write(p []byte) (int, error) {
	s := c.w
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for {
		switch {
		case s.eof:
			return n, c.opError("write", net.ErrClosed)
		case s.reset:
			return n, c.opError("write", syscall.EPIPE)
		case s.write.past:
			return n, c.opError("write", os.ErrDeadlineExceeded)
		}
		k := min(len(p)-n, s.window-len(s.buf))
		if k > 0 {
			s.buf = append(s.buf, p[n:n+k]...)
			n += k
			s.change.Broadcast()
		}
		if n == len(p) {
			return n, nil
		}
		s.change.Wait()
	}
}

// CloseWrite closes the direction to the peer, which reads the bytes in flight and then io.EOF.
func (c *Conn) CloseWrite() error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.eof = true
	c.w.change.Broadcast()
	return nil
}

// Close implements net.Conn. The peer can still read the bytes in flight.
func (c *Conn) Close() error {
	err := c.opError("close", net.ErrClosed)
	c.once.Do(func() {
		err = nil
		c.w.mu.Lock()
		c.w.eof = true
		c.w.stop(&c.w.write)
		c.w.change.Broadcast()
		c.w.mu.Unlock()
		c.r.mu.Lock()
		c.r.reset, c.r.buf = true, nil
		c.r.stop(&c.r.read)
		c.r.change.Broadcast()
		c.r.mu.Unlock()
		if c.OnClose != nil {
			c.OnClose()
		}
	})
	return err
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { c.r.set(&c.r.read, t); return nil }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { c.w.set(&c.w.write, t); return nil }

// Fill fills the window of the direction to the peer, so that writes block, as if the peer had stopped reading.
func (c *Conn) Fill() {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.buf = make([]byte, c.w.window)
}
