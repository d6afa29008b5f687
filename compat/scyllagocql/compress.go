// SPDX-License-Identifier: Apache-2.0

package gocql

// A SegmentCompressor is a Compressor of version 5 of the protocol.
type SegmentCompressor interface {
	AppendCompressed(dst, src []byte) ([]byte, error)
	AppendDecompressed(dst, src []byte, decompressedLength uint32) ([]byte, error)
}
