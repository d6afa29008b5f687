// SPDX-License-Identifier: Apache-2.0

// Package lz4 has the LZ4 compressor of the native protocol.
package lz4

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/vecql/vecql"
)

// LZ4Compressor is the LZ4 block format. A session calls vecql's codec in its place.
type LZ4Compressor struct{}

// Name returns "lz4".
func (s LZ4Compressor) Name() string { return "lz4" }

// AppendCompressedWithLength appends the compressed src after its length.
func (s LZ4Compressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	return vecql.LZ4Compressor{}.AppendCompressedWithLength(dst, src)
}

// AppendDecompressedWithLength is the inverse of AppendCompressedWithLength. An empty value is nil.
func (s LZ4Compressor) AppendDecompressedWithLength(dst, src []byte) ([]byte, error) {
	if len(src) >= 4 && binary.BigEndian.Uint32(src) == 0 {
		return nil, nil
	}
	return vecql.LZ4Compressor{}.AppendDecompressedWithLength(dst, src, math.MaxInt32)
}

// AppendCompressed appends the compressed src.
func (s LZ4Compressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	return vecql.LZ4Compressor{}.AppendCompressed(dst, src)
}

// AppendDecompressed is the inverse of AppendCompressed for a value of uncompressedLength bytes. An empty value is nil.
func (s LZ4Compressor) AppendDecompressed(dst, src []byte, uncompressedLength uint32) ([]byte, error) {
	switch {
	case uncompressedLength == 0:
		return nil, nil
	case uncompressedLength > math.MaxInt32:
		return nil, errors.New("lz4: the uncompressed length is too large")
	}
	return vecql.LZ4Compressor{}.AppendDecompressed(dst, src, int(uncompressedLength))
}
