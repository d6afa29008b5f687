// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Zstandard: the decoder of pages, and a bound of what a page can decompress to.

// zstdDecoder returns the decoder of the pages that internal/zstd refuses. It decodes as many at once as there are
// processors. Output that exceeds the capacity of the destination is an error, so that a false header allocates
// nothing. A destination with 16 bytes of capacity more than its frame lets the decoder copy whole words up to its end.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // an option out of range
	}
	return d
})

// zstdBlock is the greatest content of a block (RFC 8878, 3.1.1.2.3).
const zstdBlock = 128 << 10

var errShortFrame = errors.New("frame ends too early")

// zstdBound returns a bound of the content of Zstandard frames. Frames with more content fail to decode. It walks over
// the headers of frames and blocks (RFC 8878, 3.1).
func zstdBound(src []byte) (bound uint64, err error) {
	for at := 0; at < len(src); {
		if len(src)-at >= 8 && src[at]&0xf0 == 0x50 && string(src[at+1:at+4]) == "\x2a\x4d\x18" { // a skippable frame
			length := int64(binary.LittleEndian.Uint32(src[at+4:]))
			if length > int64(len(src)-at-8) {
				return 0, errShortFrame
			}
			at += 8 + int(length)
			continue
		}
		content, length, err := zstdFrame(src[at:])
		if err != nil {
			return 0, err
		}
		bound += content
		at += length
	}
	return bound, nil
}

// zstdFrame returns a bound of the content of the frame that src begins with, and the frame's length.
func zstdFrame(src []byte) (content uint64, length int, err error) {
	if len(src) < 6 || string(src[:4]) != "\x28\xb5\x2f\xfd" {
		return 0, 0, errors.New("not a Zstandard frame")
	}
	d := src[4]
	at := 5
	single := d>>5&1 == 1
	if !single { // Window_Descriptor
		at++
	}
	at += [...]int{0, 1, 2, 4}[d&3] // Dictionary_ID
	size := [...]int{0, 2, 4, 8}[d>>6]
	if single && size == 0 {
		size = 1
	}
	if at+size > len(src) {
		return 0, 0, errShortFrame
	}
	var b [8]byte // Frame_Content_Size
	copy(b[:], src[at:at+size])
	sized := binary.LittleEndian.Uint64(b[:])
	if size == 2 {
		sized += 256
	}
	at += size
	for last := false; !last; {
		if at+3 > len(src) {
			return 0, 0, errShortFrame
		}
		h := uint(src[at]) | uint(src[at+1])<<8 | uint(src[at+2])<<16
		size := int(h >> 3)
		at += 3
		switch h >> 1 & 3 {
		case 0: // raw
			content, at = content+uint64(size), at+size
		case 1: // one byte, repeated
			content, at = content+uint64(size), at+1
		case 2: // compressed
			content, at = content+zstdBlock, at+size
		default:
			return 0, 0, errors.New("block of the reserved type")
		}
		last = h&1 == 1
	}
	if d>>2&1 == 1 {
		at += 4 // Content_Checksum
	}
	if at > len(src) {
		return 0, 0, errShortFrame
	}
	if size > 0 { // the blocks may have less
		content = min(content, sized)
	}
	return content, at, nil
}
