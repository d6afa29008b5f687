// SPDX-License-Identifier: Apache-2.0

package arrowstream

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The metadata of messages: flatbuffers of Message.fbs and Schema.fbs of Arrow's format.

// Types of messages.
const (
	headerSchema     = 1
	headerDictionary = 2
	headerRecord     = 3
)

// A header is the metadata of a message.
type header struct {
	bodyLength int64
	codec      int // of the buffers; -1 means none
	buffers    []extent
	lengths    int64 // of the arrays, together
}

// An extent is the place of a buffer in a body.
type extent struct{ offset, length int64 }

// A schema is what the metadata of batches is compared with.
type schema struct {
	views      int           // columns, with their children, that have a number of buffers
	dictionary map[int64]int // views of the values of each dictionary
}

// parse checks the metadata of a message. What package ipc allocates for it is then at most a constant times its bytes.
func (s *schema) parse(meta []byte) (header, error) {
	f := &flat{buf: meta, budget: 16 * len(meta)}
	h := header{codec: -1}
	message := f.root()
	kind := f.byteAt(message.slot(1))
	content := f.table(message.slot(2))
	h.bodyLength = f.int64At(message.slot(3))
	f.keyValues(message.slot(4))
	switch kind {
	case headerSchema:
		s.dictionary = map[int64]int{}
		s.views = f.fields(content.slot(1), 0, s.dictionary)
		f.keyValues(content.slot(2))
		f.vector(content.slot(3), 8)
	case headerDictionary:
		h.record(f, f.table(content.slot(1)), s.dictionary[f.int64At(content.slot(0))])
	case headerRecord:
		h.record(f, content, s.views)
	default:
		return h, fmt.Errorf("%w: a message of type %d", ErrDamaged, kind)
	}
	if f.bad {
		return h, fmt.Errorf("%w: the metadata of a message is malformed", ErrDamaged)
	}
	if h.bodyLength < 0 {
		return h, fmt.Errorf("%w: a body of %d bytes", ErrDamaged, h.bodyLength)
	}
	return h, nil
}

// record reads the lengths of a record batch that has a number of views.
func (h *header) record(f *flat, t table, views int) {
	rows := f.int64At(t.slot(0))
	nodes, n := f.vector(t.slot(1), 16)
	for i := range n {
		length := f.int64(nodes + 16*i)
		if length < 0 || length > math.MaxInt32 {
			f.bad = true
			return
		}
		h.lengths += length
	}
	if rows < 0 || rows > math.MaxInt32 {
		f.bad = true
	}
	h.lengths = max(h.lengths, rows)
	buffers, n := f.vector(t.slot(2), 16)
	for i := range n {
		h.buffers = append(h.buffers, extent{f.int64(buffers + 16*i), f.int64(buffers + 16*i + 8)})
	}
	if compression := t.slot(3); compression.at != 0 {
		h.codec = f.byteAt(f.table(compression).slot(0))
	}
	counts, n := f.vector(t.slot(4), 8)
	f.bad = f.bad || n < views
	left := int64(len(h.buffers))
	for i := range n {
		count := f.int64(counts + 8*i)
		f.bad = f.bad || count < 0 || count > left
		left -= count
	}
}

// freeLength is the number of elements that the arrays of a message may have together beyond the bits of their buffers:
// arrays of NULLs and of runs have few buffers.
const freeLength = 1 << 22

// checkBody compares the claims of a header with the body.
func (h *header) checkBody(body []byte) error {
	content := int64(0) // bytes, without compression
	for _, b := range h.buffers {
		if b.offset < 0 || b.length < 0 || b.offset > int64(len(body)) || b.length > int64(len(body))-b.offset {
			return fmt.Errorf("%w: a buffer of %d bytes at %d of a body of %d", ErrDamaged, b.length, b.offset, len(body))
		}
		n, err := h.contentLength(body[b.offset : b.offset+b.length])
		if err != nil {
			return err
		}
		content += n
	}
	if most := 8*content + freeLength; h.lengths > most {
		return fmt.Errorf("%w: %d elements in buffers of %d bytes", ErrDamaged, h.lengths, content)
	}
	return nil
}

// The most bytes that a byte of a compressed buffer can become: a block of zstd of 4 bytes becomes 128 KiB, and a byte
// of LZ4 255. A frame has some bytes more.
var expansion = map[int]int64{0: 255, 1: 32 << 10}

// contentLength returns the bytes of a buffer without its compression.
func (h *header) contentLength(buffer []byte) (int64, error) {
	if h.codec < 0 || len(buffer) == 0 {
		return int64(len(buffer)), nil
	}
	factor, ok := expansion[h.codec]
	if !ok || len(buffer) < 8 {
		return 0, fmt.Errorf("%w: a buffer of %d bytes with the compression %d", ErrDamaged, len(buffer), h.codec)
	}
	n, rest := int64(binary.LittleEndian.Uint64(buffer)), int64(len(buffer)-8)
	switch {
	case n == -1: // not compressed
		return rest, nil
	case n < 0 || n > factor*rest:
		return 0, fmt.Errorf("%w: a buffer of %d compressed bytes claims %d", ErrDamaged, rest, n)
	}
	return n, nil
}
