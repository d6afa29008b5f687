// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/wire"
)

// Compression of frame bodies in v4 (native_protocol_v4.spec, section 5) and of segments in v5
// (native_protocol_v5.spec, section 2.2).

// Maximum compression ratios of the formats. A declared length above the maximum is an error, found before allocation.
const (
	lz4MaxRatio    = 255 // one length byte of a match
	snappyMaxRatio = 32  // rounded up: a copy of 3 bytes yields at most 64
)

// LZ4 is the LZ4 block format. The zero value is ready to use.
type LZ4 struct{}

// Name implements Compressor.
func (LZ4) Name() string { return "lz4" }

// AppendCompressedWithLength implements Compressor: an [int] with the length of src, then a block.
func (c LZ4) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	if len(src) > wire.MaxBody {
		return dst, ErrTooBig
	}
	out, err := c.AppendCompressed(wire.AppendInt(dst, int32(len(src))), src)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// AppendDecompressedWithLength implements Compressor.
func (LZ4) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < 4 {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("LZ4 body of %d bytes has no length", len(src))}
	}
	n, block := binary.BigEndian.Uint32(src), src[4:]
	if n == 0 && (len(block) == 0 || len(block) == 1 && block[0] == 0) {
		return dst, nil // an empty body, as in READY: servers send no block or an empty one
	}
	if n > math.MaxInt32 || int(n) > limit {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("LZ4 body of %d bytes, the limit is %d", n, limit)}
	}
	return decompressLZ4(dst, block, int(n))
}

// AppendCompressed implements Compressor.
func (LZ4) AppendCompressed(dst, src []byte) ([]byte, error) {
	bound := lz4.CompressBlockBound(len(src))
	out := slices.Grow(dst, bound)
	n, err := lz4.CompressBlock(src, out[len(dst):len(dst)+bound], nil)
	if err != nil {
		return dst, errtext.Errorf("LZ4: %w", err)
	}
	return out[:len(dst)+n], nil
}

// AppendDecompressed implements Compressor.
func (LZ4) AppendDecompressed(dst, src []byte, size int) ([]byte, error) {
	return decompressLZ4(dst, src, size)
}

// decompressLZ4 appends the size bytes that an LZ4 block contains to dst. It checks size against the largest ratio that
// LZ4 can reach before it allocates.
func decompressLZ4(dst, block []byte, size int) ([]byte, error) {
	if size <= 0 || size/lz4MaxRatio > len(block) {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("LZ4 block of %d bytes cannot hold %d", len(block), size)}
	}
	out := slices.Grow(dst, size)[:len(dst)+size]
	n, err := lz4.UncompressBlock(block, out[len(dst):])
	if err != nil {
		return dst, &cql.ProtocolError{Message: "LZ4 block", Err: err}
	}
	if n != size {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("LZ4 block has %d bytes instead of %d", n, size)}
	}
	return out, nil
}

// Snappy is the Snappy block format, for v4 only: v5 does not support Snappy. The zero value is ready to use.
type Snappy struct{}

// Name implements Compressor.
func (Snappy) Name() string { return "snappy" }

// AppendCompressedWithLength implements Compressor.
func (Snappy) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	if len(src) > wire.MaxBody {
		return dst, ErrTooBig
	}
	bound := snappy.MaxEncodedLen(len(src))
	out := slices.Grow(dst, bound)
	block := snappy.Encode(out[len(dst):len(dst)+bound], src)
	return out[:len(dst)+len(block)], nil
}

// AppendDecompressedWithLength implements Compressor.
func (Snappy) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return dst, &cql.ProtocolError{Message: "Snappy body", Err: err}
	}
	if n > limit {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("Snappy body of %d bytes, the limit is %d", n, limit)}
	}
	if n/snappyMaxRatio > len(src) {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("Snappy body of %d bytes cannot hold %d", len(src), n)}
	}
	out := slices.Grow(dst, n)[:len(dst)+n]
	body, err := snappy.Decode(out[len(dst):], src)
	if err != nil {
		return dst, &cql.ProtocolError{Message: "Snappy body", Err: err}
	}
	if len(body) != n {
		return dst, &cql.ProtocolError{Message: fmt.Sprintf("Snappy body has %d bytes instead of %d", len(body), n)}
	}
	return out, nil
}

// AppendCompressed implements Compressor. It returns ErrUnsupported.
func (Snappy) AppendCompressed(dst, _ []byte) ([]byte, error) {
	return dst, errtext.Errorf("Snappy segments: %w", ErrUnsupported)
}

// AppendDecompressed implements Compressor. It returns ErrUnsupported.
func (Snappy) AppendDecompressed(dst, _ []byte, _ int) ([]byte, error) {
	return dst, errtext.Errorf("Snappy segments: %w", ErrUnsupported)
}
