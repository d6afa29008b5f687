// SPDX-License-Identifier: Apache-2.0

// Package snappy has the Snappy compressor of the native protocol, version 4.
package snappy

import (
	"math"

	"github.com/vecql/vecql"
)

// SnappyCompressor is the Snappy block format. A session calls vecql's codec in its place.
type SnappyCompressor struct{}

// Name returns "snappy".
func (s SnappyCompressor) Name() string { return "snappy" }

// AppendCompressedWithLength appends the compressed src to dst.
func (s SnappyCompressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	return vecql.SnappyCompressor{}.AppendCompressedWithLength(dst, src)
}

// AppendDecompressedWithLength is the inverse of AppendCompressedWithLength.
func (s SnappyCompressor) AppendDecompressedWithLength(dst, src []byte) ([]byte, error) {
	return vecql.SnappyCompressor{}.AppendDecompressedWithLength(dst, src, math.MaxInt32)
}

// AppendCompressed panics: protocol v5 has no Snappy.
func (s SnappyCompressor) AppendCompressed([]byte, []byte) ([]byte, error) {
	panic("snappy: protocol v5 has no Snappy")
}

// AppendDecompressed panics: protocol v5 has no Snappy.
func (s SnappyCompressor) AppendDecompressed([]byte, []byte, uint32) ([]byte, error) {
	panic("snappy: protocol v5 has no Snappy")
}
