// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Splitting of frames into segments, and their reassembly (native_protocol_v5.spec, section 2).

// AppendSegments appends payload, one or more whole frames, as segments: uncompressed if compress is nil, otherwise
// LZ4. Frames that fit share a self-contained segment; a frame above MaxPayload is split over segments of its own.
// compress appends to dst; a payload that does not become smaller is stored uncompressed. On an error AppendSegments
// returns dst unchanged.
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

// wholeFrames returns the length of the longest run of whole frames at the start of payload that fits one segment, but
// at least one frame.
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

// appendSegment appends one segment (native_protocol_v5.spec, sections 2.1 and 2.2) whose payload is piece. A payload
// that compression does not shorten is stored as it is, with an uncompressed length of 0.
func appendSegment(dst, piece []byte, selfContained bool,
	compress func(dst, src []byte) ([]byte, error),
) ([]byte, error) {
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

// A SegmentReader reads segments and returns their payloads as one stream of frames. It checks the checksums before it
// returns a payload, and holds at most two payloads in memory. After a damaged segment (ErrCRC24, ErrCRC32, ErrLength
// or the error of decompress) every later Read returns the same error. An error of the source is returned once; reading
// may continue if the source can.
type SegmentReader struct {
	src        *Input
	decompress func(dst, src []byte, n int) ([]byte, error)
	rest       []byte // unread part of the current payload: part of src's memory or of plain
	plain      []byte // decompressed payload
	pending    int    // bytes of the current segment to discard from src when rest is empty
	err        error
}

// NewSegmentReader returns a reader of the segments in src, which may be an Input: uncompressed if decompress is nil,
// otherwise LZ4. decompress appends to dst the n uncompressed bytes of src.
func NewSegmentReader(src io.Reader, decompress func(dst, src []byte, n int) ([]byte, error)) *SegmentReader {
	in, ok := src.(*Input)
	if !ok {
		in = NewInput(src)
	}
	return &SegmentReader{src: in, decompress: decompress}
}

// Buffered returns the number of bytes that can be read without reading another segment.
func (s *SegmentReader) Buffered() int { return len(s.rest) }

// Fill reads segments until there are bytes ahead.
func (s *SegmentReader) Fill() error {
	for len(s.rest) == 0 {
		if s.err != nil {
			return s.err
		}
		if err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// Ahead returns the bytes that can be read without reading another segment. They are valid until the next call.
func (s *SegmentReader) Ahead() []byte { return s.rest }

// Discard consumes n of the bytes of Ahead.
func (s *SegmentReader) Discard(n int) {
	if s.rest = s.rest[min(n, len(s.rest)):]; len(s.rest) == 0 {
		s.discard()
	}
}

// Read implements io.Reader. A source that ends between two segments results in io.EOF, inside a segment in
// io.ErrUnexpectedEOF.
func (s *SegmentReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.Fill(); err != nil {
		return 0, err
	}
	n := copy(p, s.rest)
	s.Discard(n)
	return n, nil
}

// Shrink drops the memory for decompressed payloads if no payload is left.
func (s *SegmentReader) Shrink() {
	if len(s.rest) == 0 {
		s.rest, s.plain = nil, nil
	}
}

// next makes the next segment the current one. It consumes nothing from the source until the segment is complete, so
// that an error of the source within a segment loses nothing.
func (s *SegmentReader) next() error {
	s.discard()
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
		err = fmt.Errorf("%w: segment of %d bytes uncompressed, its header has %d", ErrLength, len(s.plain), h.Uncompressed)
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
	if errors.Is(err, io.EOF) && len(b) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// discard consumes the current segment, which is in the memory of the source.
func (s *SegmentReader) discard() {
	s.src.Discard(s.pending)
	s.pending = 0
}

func (s *SegmentReader) fail(err error) error {
	s.err = err
	return err
}
