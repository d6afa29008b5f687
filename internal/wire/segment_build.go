// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Construction of uncompressed segments in place, so that a frame is copied once on its way to the socket.
// AppendSegments is the reference and has the same result.

// A SegmentBuilder collects frames in B with room for the headers and trailers of their segments. The zero value is
// ready to use.
type SegmentBuilder struct {
	B    []byte
	open int // start in B of the payload of the segment that can take more frames; 0 means none
}

// Append appends a frame: its header and its body.
func (s *SegmentBuilder) Append(head, body []byte) {
	n := len(head) + len(body)
	if s.open > 0 && len(s.B)-s.open+n > MaxPayload {
		s.close(true)
	}
	if s.open == 0 {
		s.begin()
	}
	s.B = append(s.B, head...)
	if n <= MaxPayload {
		s.B = append(s.B, body...)
		return
	}
	for piece := body[:MaxPayload-len(head)]; ; { // a frame too large for one segment is split over segments of its own
		s.B = append(s.B, piece...)
		s.close(false)
		if body = body[len(piece):]; len(body) == 0 {
			return
		}
		s.begin()
		piece = body[:min(len(body), MaxPayload)]
	}
}

func (s *SegmentBuilder) begin() {
	s.B = append(s.B, make([]byte, SegmentHeaderSize)...)
	s.open = len(s.B)
}

// close fills in the header of the open segment and leaves room for its trailer.
func (s *SegmentBuilder) close(selfContained bool) {
	PutSegmentHeader(s.B[s.open-SegmentHeaderSize:],
		SegmentHeader{Length: len(s.B) - s.open, SelfContained: selfContained})
	s.B = append(s.B, make([]byte, SegmentTrailerSize)...)
	s.open = 0
}

// Finish ends the last segment and returns all segments, without checksums (SealSegments). It resets the builder, which
// continues in the memory of spare.
func (s *SegmentBuilder) Finish(spare []byte) []byte {
	if s.open > 0 {
		s.close(true)
	}
	b := s.B
	*s = SegmentBuilder{B: spare[:0]}
	return b
}

// SealSegments fills in the CRC32 of each segment in b. It is separate from Finish because it is slow and needs no
// lock.
func SealSegments(b []byte) {
	for len(b) > 0 {
		end := SegmentHeaderSize + int(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16)&MaxPayload
		binary.LittleEndian.PutUint32(b[end:], CRC32(b[SegmentHeaderSize:end]))
		b = b[end+SegmentTrailerSize:]
	}
}
