// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// The legacy codec LZ4, which the format deprecates. Its writers disagree: some write Hadoop's framing, others a raw
// block, which is LZ4_RAW.

// decompressLZ4 decodes src to dst, which has the expected length: as Hadoop's frames if they have exactly that length,
// else as a raw block. codec is that of LZ4_RAW.
func decompressLZ4(codec compress.Codec, dst, src []byte) ([]byte, error) {
	if decompressHadoop(codec, dst, src) {
		return dst, nil
	}
	return compress.Decode(codec, dst, src)
}

// decompressHadoop decodes frames: the length of the content and that of the block, 4 bytes each, big-endian, and a raw
// block. It returns false if src is anything else.
func decompressHadoop(codec compress.Codec, dst, src []byte) bool {
	for len(src) > 0 {
		if len(src) < 8 {
			return false
		}
		n, size := int64(binary.BigEndian.Uint32(src)), int64(binary.BigEndian.Uint32(src[4:]))
		src = src[8:]
		if n > int64(len(dst)) || size > int64(len(src)) {
			return false
		}
		if n > 0 {
			out, err := compress.Decode(codec, dst[:n:n], src[:size])
			if err != nil || int64(len(out)) != n {
				return false
			}
			copy(dst, out) // the codec may have allocated its own memory
		}
		dst, src = dst[n:], src[size:]
	}
	return len(dst) == 0
}
