// SPDX-License-Identifier: Apache-2.0

// Package lz4 has the LZ4 compressor of the native protocol.
package lz4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vecql/vecql"
)

// LZ4Compressor is the LZ4 block format. A session calls vecql's codec in its place.
type LZ4Compressor struct{}

// Name returns "lz4".
func (s LZ4Compressor) Name() string { return "lz4" }

// AppendCompressedWithLength appends the compressed src after its length.
func (s LZ4Compressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	return vecql.LZ4Compressor{}.AppendCompressedWithLength(withRoom(dst, lengthSize+bound(src)), src)
}

// AppendDecompressedWithLength is the inverse of AppendCompressedWithLength. An empty value is nil.
func (s LZ4Compressor) AppendDecompressedWithLength(dst, src []byte) ([]byte, error) {
	if len(src) < lengthSize {
		return nil, fmt.Errorf("cassandra lz4 block size should be >4, got=%d", len(src))
	}
	return s.AppendDecompressed(dst, src[lengthSize:], binary.BigEndian.Uint32(src))
}

// AppendCompressed appends the compressed src.
func (s LZ4Compressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	return vecql.LZ4Compressor{}.AppendCompressed(withRoom(dst, bound(src)), src)
}

// AppendDecompressed is the inverse of AppendCompressed for a value of uncompressedLength bytes. An empty value is nil.
func (s LZ4Compressor) AppendDecompressed(dst, src []byte, uncompressedLength uint32) ([]byte, error) {
	switch {
	case uncompressedLength == 0:
		return nil, nil
	case uncompressedLength > math.MaxInt32:
		return nil, errors.New("lz4: the uncompressed length is too large")
	}
	const ratio = 255 // at most, of an LZ4 block
	if int(uncompressedLength) <= ratio*len(src) {
		dst = withRoom(dst, int(uncompressedLength))
	}
	out, err := vecql.LZ4Compressor{}.AppendDecompressed(dst, src, int(uncompressedLength))
	if err != nil {
		err = errBlock
	}
	return out, err
}

// errBlock means that a block is damaged, or has another length than its uncompressed data.
var errBlock = errors.New("lz4: invalid source or destination buffer too short")

// lengthSize is the size of the length before a compressed block.
const lengthSize = 4

// bound returns the greatest size of compressed src.
func bound(src []byte) int { return len(src) + len(src)/255 + 16 }

// withRoom returns dst with a capacity for n more bytes, exactly if it has less.
func withRoom(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}
