// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"
)

// The legacy codec LZ4, which the format deprecates. Its writers disagree: some write Hadoop's framing, others a raw
// block, which is LZ4_RAW.

// decompressLZ4 decodes src to dst, which has the expected length: as Hadoop's frames if they have exactly that length,
// else as a raw block.
func decompressLZ4(dst, src []byte) (int, error) {
	if decompressHadoop(dst, src) {
		return len(dst), nil
	}
	return lz4.UncompressBlock(src, dst)
}

// decompressHadoop decodes frames: the length of the content and the length of the block, 4 bytes each, big-endian, and
// a raw block. It returns false if src is anything else.
func decompressHadoop(dst, src []byte) bool {
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
			got, err := lz4.UncompressBlock(src[:size], dst[:n:n])
			if err != nil || int64(got) != n {
				return false
			}
		}
		dst, src = dst[n:], src[size:]
	}
	return len(dst) == 0
}
