// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"io"
	"net"
	"sync"
)

// A link that breaks after a number of bytes.

// A CutLine counts the bytes written by its ends, and fails all writes after Left bytes.
type CutLine struct {
	Left   int  // bytes until the cut
	HangUp bool // the cut closes the ends, like a peer; otherwise only writes fail

	mu    sync.Mutex
	total int
	cut   bool
	after int
	ends  []net.Conn
}

// Wrap attaches an end to the link.
func (l *CutLine) Wrap(c net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, c)
	return cutEnd{c, l}
}

// SetLeft sets Left while the line is in use.
func (l *CutLine) SetLeft(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Left = n
}

// Passed returns the number of bytes written to the ends before the cut.
func (l *CutLine) Passed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Cut reports whether Left is used up and a write has failed.
func (l *CutLine) Cut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// After returns the number of writes after the cut.
func (l *CutLine) After() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.after
}

// cutEnd is a connection through a CutLine.
type cutEnd struct {
	net.Conn
	line *CutLine
}

// Write implements net.Conn.
func (c cutEnd) Write(b []byte) (int, error) {
	l := c.line
	l.mu.Lock()
	if l.cut {
		l.after++
	}
	n := min(len(b), l.Left)
	l.Left -= n
	l.total += n
	cut := n < len(b)
	l.cut = l.cut || cut
	ends := l.ends
	l.mu.Unlock()
	written, err := c.Conn.Write(b[:n])
	if !cut || err != nil {
		return written, err
	}
	if !l.HangUp {
		return written, io.ErrClosedPipe
	}
	for _, end := range ends {
		_ = end.Close()
	}
	return written, io.ErrClosedPipe
}
