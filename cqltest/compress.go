// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
)

// Compression of frame bodies (v4) and of segments (v5, LZ4 blocks only).

// errDecompress means that a compressed body is invalid.
var errDecompress = errors.New("cannot decompress")

// compressBlock returns b as an LZ4 block; nil means that the block would not be smaller.
func compressBlock(b []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil || n == 0 || n >= len(b) {
		return nil
	}
	return out[:n]
}

// decompressBlock decompresses an LZ4 block of size plain bytes.
func decompressBlock(block []byte, size int) ([]byte, error) {
	if size/255 > len(block) { // a byte of a block expands to at most 255
		return nil, fmt.Errorf("%w: LZ4 block of %d bytes cannot hold %d", errDecompress, len(block), size)
	}
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(block, out)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDecompress, err)
	}
	if n != size {
		return nil, fmt.Errorf("%w: LZ4 block holds %d bytes, want %d", errDecompress, n, size)
	}
	return out, nil
}

// compressBody compresses the body of a v4 frame.
func compressBody(algorithm string, body []byte) []byte {
	if algorithm == "snappy" {
		return snappy.Encode(nil, body)
	}
	out := make([]byte, 4+lz4.CompressBlockBound(len(body)))
	binary.BigEndian.PutUint32(out, uint32(len(body)))
	n, err := lz4.CompressBlock(body, out[4:], nil)
	if err != nil { // only if the destination is too small
		panic(err)
	}
	if n == 0 { // an empty body: one token without literals
		return append(out[:4], 0)
	}
	return out[:4+n]
}

// decompressBody decompresses the body of a v4 frame, of at most limit bytes.
func decompressBody(algorithm string, body []byte, limit int) ([]byte, error) {
	switch algorithm {
	case "snappy":
		n, err := snappy.DecodedLen(body)
		if err != nil || n > limit || n/32 > len(body) {
			return nil, fmt.Errorf("%w: Snappy body of %d bytes", errDecompress, len(body))
		}
		out, err := snappy.Decode(nil, body)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDecompress, err)
		}
		return out, nil
	case "lz4":
		if len(body) < 4 {
			return nil, fmt.Errorf("%w: LZ4 body of %d bytes", errDecompress, len(body))
		}
		n := binary.BigEndian.Uint32(body)
		if n == 0 {
			return nil, nil
		}
		if uint64(n) > uint64(limit) {
			return nil, fmt.Errorf("%w: LZ4 body of %d bytes, the limit is %d", errDecompress, n, limit)
		}
		return decompressBlock(body[4:], int(n))
	}
	return nil, fmt.Errorf("%w: the connection has no compression", errDecompress)
}
