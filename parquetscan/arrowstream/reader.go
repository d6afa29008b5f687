// SPDX-License-Identifier: Apache-2.0

// Package arrowstream reads streams of Arrow IPC whose lengths are not trusted. Package ipc allocates what the lengths
// of a stream claim; here each length is compared with the bytes that the stream has.
package arrowstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ErrDamaged means that a stream is not valid Arrow IPC, or claims more than it can have.
var ErrDamaged = errors.New("damaged Arrow IPC")

// NewReader returns a reader of a stream that begins with a message: after the magic number of a file. The memory of a
// message is at most a constant times its bytes.
func NewReader(r io.Reader) (*ipc.Reader, error) {
	m := &messages{r: r}
	m.refs.Store(1)
	return ipc.NewReaderFromMessageReader(m)
}

// messages is an ipc.MessageReader.
type messages struct {
	r      io.Reader
	refs   atomic.Int64
	schema schema
	msg    *ipc.Message
	err    error // the first one
}

func (m *messages) Retain() { m.refs.Add(1) }

func (m *messages) Release() {
	if m.refs.Add(-1) == 0 {
		m.msg = nil
	}
}

// Message returns the next message, and io.EOF at the end.
func (m *messages) Message() (*ipc.Message, error) {
	if m.err == nil {
		m.msg, m.err = m.next()
	}
	return m.msg, m.err
}

// continuation precedes the length of the metadata of each message.
const continuation = 0xffffffff

// next reads a message: a mark, the length of the metadata, the metadata, and the body whose length the metadata has.
func (m *messages) next() (*ipc.Message, error) {
	var head [8]byte
	switch n, err := io.ReadFull(m.r, head[:4]); {
	case err != nil && n == 0:
		return nil, err // io.EOF: the mark of the end is optional
	case err != nil:
		return nil, fmt.Errorf("%w: the stream ends within a message", ErrDamaged)
	}
	if mark := binary.LittleEndian.Uint32(head[:]); mark != continuation {
		return nil, fmt.Errorf("%w: a message begins with %#08x", ErrDamaged, mark)
	}
	if _, err := io.ReadFull(m.r, head[4:]); err != nil {
		return nil, fmt.Errorf("%w: the stream ends within a message", ErrDamaged)
	}
	size := int64(int32(binary.LittleEndian.Uint32(head[4:])))
	if size == 0 {
		return nil, io.EOF
	}
	meta, err := readBytes(m.r, size, "metadata")
	if err != nil {
		return nil, err
	}
	h, err := m.schema.parse(meta)
	if err != nil {
		return nil, err
	}
	body, err := readBytes(m.r, h.bodyLength, "a body")
	if err != nil {
		return nil, err
	}
	if err := h.checkBody(body); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

const (
	firstBytes = 1 << 20 // that are allocated before any was read
	minBytes   = 64      // of an allocation, which then is aligned as columns require
)

// readBytes reads n bytes. It allocates at most twice the bytes that the stream has, and a constant.
func readBytes(r io.Reader, n int64, what string) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: %s of %d bytes", ErrDamaged, what, n)
	}
	buf := make([]byte, min(n, firstBytes), max(min(n, firstBytes), minBytes))
	for at := 0; ; {
		k, err := io.ReadFull(r, buf[at:])
		at += k
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: %s of %d bytes, and the stream has %d", ErrDamaged, what, n, at)
		case err != nil:
			return nil, err
		case int64(at) == n:
			return buf, nil
		}
		larger := make([]byte, min(n, 2*int64(len(buf))))
		copy(larger, buf)
		buf = larger
	}
}
