// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// This file cuts frames into segments and puts the frames in segments together again (native_protocol_v5.spec, section 2).

// AppendSegments appends payload, one or more whole frames, as segments: plain ones when compress is nil, else LZ4 ones. Frames that
// fit share a self-contained segment; a frame above MaxPayload is cut into segments of its own. compress appends to dst; a payload
// that it does not make smaller is stored as it is. On an error dst is returned as it was.
func AppendSegments(dst, payload []byte, compress func(dst, src []byte) ([]byte, error)) ([]byte, error) {
	out := dst
	for len(payload) > 0 {
		n, err := wholeFrames(payload)
		if err != nil {
			return dst, err
		}
		selfContained := n <= MaxPayload
		for frames := payload[:n]; len(frames) > 0; {
			piece := frames[:min(len(frames), MaxPayload)]
			if out, err = appendSegment(out, piece, selfContained, compress); err != nil {
				return dst, err
			}
			frames = frames[len(piece):]
		}
		payload = payload[n:]
	}
	return out, nil
}

// wholeFrames returns the length of as many frames from the start of payload as one segment can hold, but of one frame at least.
func wholeFrames(payload []byte) (int, error) {
	if len(payload) <= MaxPayload {
		return len(payload), nil
	}
	for n := 0; ; {
		if len(payload)-n < HeaderSize {
			return 0, fmt.Errorf("%w: frame header of %d bytes", ErrShort, len(payload)-n)
		}
		h, err := ParseHeader(payload[n:])
		if err != nil {
			return 0, err
		}
		next := n + HeaderSize + h.Length
		switch {
		case next > len(payload):
			return 0, fmt.Errorf("%w: frame of %d bytes, %d left", ErrShort, next-n, len(payload)-n)
		case next > MaxPayload && n > 0:
			return n, nil
		case next > MaxPayload:
			return next, nil
		}
		n = next
	}
}

func appendSegment(dst, piece []byte, selfContained bool, compress func(dst, src []byte) ([]byte, error)) ([]byte, error) {
	h := SegmentHeader{Length: len(piece), SelfContained: selfContained}
	start := len(dst)
	var err error
	if compress == nil {
		dst = append(dst, make([]byte, SegmentHeaderSize)...)
		dst = append(dst, piece...)
		PutSegmentHeader(dst[start:], h)
		return appendTrailer(dst, start+SegmentHeaderSize), nil
	}
	dst = append(dst, make([]byte, SegmentHeaderSizeLZ4)...)
	body := len(dst)
	if dst, err = compress(dst, piece); err != nil {
		return dst[:start], err
	}
	if n := len(dst) - body; n < len(piece) {
		h.Length, h.Uncompressed = n, len(piece)
	} else {
		dst = append(dst[:body], piece...)
	}
	PutSegmentHeaderLZ4(dst[start:], h)
	return appendTrailer(dst, body), nil
}

// appendTrailer appends the CRC32 of dst[body:].
func appendTrailer(dst []byte, body int) []byte {
	return binary.LittleEndian.AppendUint32(dst, CRC32(dst[body:]))
}

// SegmentReader reads segments and yields their payloads as one stream: the frames, whether they were cut or not. What it yields has
// passed its checksums. It holds at most two payloads in memory. A damaged segment (ErrCRC24, ErrCRC32, ErrLength or the error of
// decompress) is returned again by every later Read; an error of the source is returned once, and reading can go on if the source can.
type SegmentReader struct {
	src        *bufio.Reader
	decompress func(dst, src []byte, n int) ([]byte, error)
	rest       []byte // what is left of the current payload: part of src's buffer or of plain
	plain      []byte // decompressed payload
	pending    int    // bytes of the current segment, to be discarded from src when rest is empty
	err        error
}

// NewSegmentReader returns a reader of the segments in src: plain ones when decompress is nil, else LZ4 ones. decompress appends to
// dst the n bytes that src stands for.
func NewSegmentReader(src io.Reader, decompress func(dst, src []byte, n int) ([]byte, error)) *SegmentReader {
	const size = SegmentHeaderSizeLZ4 + MaxPayload + SegmentTrailerSize // a whole segment: it is checked where it lies
	return &SegmentReader{src: bufio.NewReaderSize(src, size), decompress: decompress}
}

// Buffered returns how many bytes can be read without reading a further segment.
func (s *SegmentReader) Buffered() int { return len(s.rest) }

// Read implements io.Reader. A source that ends between two segments gives io.EOF, inside of one io.ErrUnexpectedEOF.
func (s *SegmentReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next makes the next segment the current one. Nothing is taken from the source before the segment is whole, so that an error of the
// source in the middle of it loses nothing.
func (s *SegmentReader) next() error {
	if s.pending > 0 {
		s.discard()
	}
	headerSize, parse := SegmentHeaderSize, ParseSegmentHeader
	if s.decompress != nil {
		headerSize, parse = SegmentHeaderSizeLZ4, ParseSegmentHeaderLZ4
	}
	b, err := s.peek(headerSize)
	if err != nil {
		return err
	}
	h, err := parse(b)
	if err != nil {
		return s.fail(err)
	}
	size := headerSize + h.Length + SegmentTrailerSize
	if b, err = s.peek(size); err != nil {
		return err
	}
	payload, trailer := b[headerSize:size-SegmentTrailerSize], b[size-SegmentTrailerSize:]
	if got, want := binary.LittleEndian.Uint32(trailer), CRC32(payload); got != want {
		return s.fail(fmt.Errorf("%w: got %08x, want %08x", ErrCRC32, got, want))
	}
	s.pending = size
	if h.Uncompressed == 0 {
		s.rest = payload
		return nil
	}
	s.plain, err = s.decompress(s.plain[:0], payload, h.Uncompressed)
	if err == nil && len(s.plain) != h.Uncompressed {
		err = fmt.Errorf("%w: segment of %d bytes, its header says %d", ErrLength, len(s.plain), h.Uncompressed)
	}
	if err != nil {
		return s.fail(err)
	}
	s.discard()
	s.rest = s.plain
	return nil
}

func (s *SegmentReader) peek(n int) ([]byte, error) {
	b, err := s.src.Peek(n)
	if err == io.EOF && len(b) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// discard takes the current segment from the source, which holds it in its buffer: this can't fail.
func (s *SegmentReader) discard() {
	_, _ = s.src.Discard(s.pending)
	s.pending = 0
}

func (s *SegmentReader) fail(err error) error {
	s.err = err
	return err
}
