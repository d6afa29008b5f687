// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"io"
	"sync"
)

// The buffered reader of a connection.

const (
	// InputLeast is the memory that an Input always has.
	InputLeast = 2 << 10
	// InputMost is the most memory of an Input. It holds a whole segment, so that its checksum needs no copy.
	InputMost = 136 << 10
	// maxEmptyReads is the number of reads without bytes in a row after which a source counts as broken.
	maxEmptyReads = 100
)

// inputPools hold the memory of Inputs above InputLeast, by size. They hold pointers, because a slice in an interface
// costs an allocation.
var inputPools = [...]struct {
	size int
	pool sync.Pool // of *[]byte
}{{size: 8 << 10}, {size: 32 << 10}, {size: InputMost}}

var errReadCount = errors.New("the source returned an invalid number of bytes")

// An Input is a buffered reader, like bufio.Reader, whose memory follows the traffic. A read that fills the memory
// makes the memory of the next read larger, up to InputMost. Shrink makes it small again. A Read of more bytes than the
// memory holds goes directly to the source.
type Input struct {
	src        io.Reader
	least      []byte  // InputLeast bytes
	held       *[]byte // from a pool; nil means none
	level      int     // the pool of held is inputPools[level-1]; 0 means none
	buf        []byte  // least or held
	begin, end int     // buf[begin:end] is unread
	filled     bool    // the last read filled buf
	burst      int     // see Burst
	err        error   // of the source, to be returned once the bytes that came with it are read
}

// NewInput returns an Input that reads src.
func NewInput(src io.Reader) *Input {
	in := &Input{src: src, least: make([]byte, InputLeast)}
	in.buf = in.least
	return in
}

// Buffered returns the number of bytes that can be read without a read of the source.
func (in *Input) Buffered() int { return in.end - in.begin }

// Size returns the size of the memory.
func (in *Input) Size() int { return len(in.buf) }

// Burst returns the number of bytes received since the last call.
func (in *Input) Burst() int {
	n := in.burst
	in.burst = 0
	return n
}

// Read implements io.Reader.
func (in *Input) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if in.begin == in.end {
		if len(p) >= len(in.buf) && in.err == nil {
			return in.readSource(p)
		}
		if err := in.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, in.buf[in.begin:in.end])
	in.begin += n
	return n, nil
}

// Peek returns the next n bytes, at most InputMost, without consuming them. They are valid until the next call. With
// fewer bytes it returns an error.
func (in *Input) Peek(n int) ([]byte, error) {
	for in.end-in.begin < n {
		for len(in.buf) < n {
			in.grow()
		}
		if err := in.fill(); err != nil {
			return in.buf[in.begin:in.end], err
		}
	}
	return in.buf[in.begin : in.begin+n], nil
}

// Fill reads from the source unless there are bytes ahead.
func (in *Input) Fill() error {
	if in.begin < in.end {
		return nil
	}
	return in.fill()
}

// Ahead returns the bytes that can be read without a read of the source. They are valid until the next call.
func (in *Input) Ahead() []byte { return in.buf[in.begin:in.end] }

// Discard consumes n buffered bytes.
func (in *Input) Discard(n int) { in.begin = min(in.begin+n, in.end) }

// Shrink returns memory above InputLeast to its pool, unless it has unread bytes.
func (in *Input) Shrink() {
	if in.begin == in.end {
		in.use(0)
	}
}

// fill reads from the source once, into memory that is not full.
func (in *Input) fill() error {
	if err := in.err; err != nil {
		in.err = nil
		return err
	}
	if in.filled {
		in.grow()
	}
	if in.begin > 0 {
		in.end = copy(in.buf, in.buf[in.begin:in.end])
		in.begin = 0
	}
	n, err := in.readSource(in.buf[in.end:])
	in.end += n
	in.filled = in.end == len(in.buf)
	if n > 0 {
		in.err, err = err, nil
	}
	return err
}

// readSource reads at least one byte of the source, or returns an error.
func (in *Input) readSource(p []byte) (int, error) {
	for range maxEmptyReads {
		n, err := in.src.Read(p)
		if n < 0 || n > len(p) {
			return 0, errReadCount
		}
		if in.burst += n; n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// grow makes the memory larger, unless it has InputMost bytes.
func (in *Input) grow() { in.use(min(in.level+1, len(inputPools))) }

// use moves the unread bytes, which fit, to memory of a level.
func (in *Input) use(level int) {
	if level == in.level {
		return
	}
	old, from := in.held, in.level
	unread := in.buf[in.begin:in.end]
	if level == 0 {
		in.held, in.buf = nil, in.least
	} else {
		p := &inputPools[level-1]
		in.held, _ = p.pool.Get().(*[]byte)
		if in.held == nil {
			b := make([]byte, p.size)
			in.held = &b
		}
		in.buf = *in.held
	}
	in.level, in.filled = level, false
	in.begin, in.end = 0, copy(in.buf, unread)
	if old != nil {
		inputPools[from-1].pool.Put(old)
	}
}
