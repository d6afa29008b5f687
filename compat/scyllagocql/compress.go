// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
)

// Compression.

// A Compressor compresses the bodies of frames.
type Compressor interface {
	// Name returns the COMPRESSION option: "lz4" or "snappy".
	Name() string
	Encode(data []byte) ([]byte, error)
	Decode(data []byte) ([]byte, error)
}

// A SegmentCompressor is a Compressor of version 5 of the protocol.
type SegmentCompressor interface {
	AppendCompressed(dst, src []byte) ([]byte, error)
	AppendDecompressed(dst, src []byte, decompressedLength uint32) ([]byte, error)
}

// SnappyCompressor is the Snappy block format.
type SnappyCompressor struct{}

// Name implements Compressor.
func (s SnappyCompressor) Name() string { return "snappy" }

// Encode implements Compressor.
func (s SnappyCompressor) Encode(data []byte) ([]byte, error) {
	return vecql.SnappyCompressor{}.AppendCompressedWithLength(nil, data)
}

// maxBody is the limit of a decompressed body: that of a frame.
const maxBody = 256 << 20

// Decode implements Compressor.
func (s SnappyCompressor) Decode(data []byte) ([]byte, error) {
	return vecql.SnappyCompressor{}.AppendDecompressedWithLength(nil, data, maxBody)
}
