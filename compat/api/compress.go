// SPDX-License-Identifier: Apache-2.0

package gocql

import "github.com/vecql/vecql"

// SnappyCompressor is the Snappy block format, the Compressor of v1.7 and the fork.
type SnappyCompressor struct{}

// Name implements Compressor.
func (s SnappyCompressor) Name() string { return "snappy" }

// Encode implements Compressor.
func (s SnappyCompressor) Encode(data []byte) ([]byte, error) {
	return vecql.SnappyCompressor{}.AppendCompressedWithLength(nil, data)
}

// maxBody is the limit of a decompressed body: of a frame.
const maxBody = 256 << 20

// Decode implements Compressor.
func (s SnappyCompressor) Decode(data []byte) ([]byte, error) {
	return vecql.SnappyCompressor{}.AppendDecompressedWithLength(nil, data, maxBody)
}
