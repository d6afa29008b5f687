// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the compressions of the protocol: of frame bodies in v4 (native_protocol_v4.spec, section 5), of segments in v5
// (native_protocol_v5.spec, section 2.2).

// Compressor compresses what a connection sends and undoes what the server did. Every method appends to dst and returns it as it was
// on an error; src is not retained. Methods are called by several goroutines at once.
type Compressor interface {
	// Name is the COMPRESSION option of STARTUP: "lz4" or "snappy".
	Name() string
	// AppendCompressedWithLength appends a compressed v4 body, which says its uncompressed length by itself.
	AppendCompressedWithLength(dst, src []byte) ([]byte, error)
	// AppendDecompressedWithLength undoes AppendCompressedWithLength. It allocates nothing for a body of more than limit bytes.
	AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error)
	// AppendCompressed appends the compressed payload of a v5 segment, whose header says the uncompressed length.
	AppendCompressed(dst, src []byte) ([]byte, error)
	// AppendDecompressed undoes AppendCompressed for a payload of exactly size bytes.
	AppendDecompressed(dst, src []byte, size int) ([]byte, error)
}

// Each format has a most that a byte can stand for. A length above is a lie that can be refused before it costs memory.
const (
	lz4MaxRatio    = 255 // a length byte of a match
	snappyMaxRatio = 32  // rounded up: a copy of 3 bytes makes at most 64
)

// LZ4Compressor is the LZ4 block format. The zero value is ready.
type LZ4Compressor struct{}

// Name implements Compressor.
func (LZ4Compressor) Name() string { return "lz4" }

// AppendCompressedWithLength implements Compressor: an [int] with the length of src, then a block.
func (c LZ4Compressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	if len(src) > wire.MaxBody {
		return dst, ErrFrameTooBig
	}
	out, err := c.AppendCompressed(wire.AppendInt(dst, int32(len(src))), src)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// AppendDecompressedWithLength implements Compressor.
func (LZ4Compressor) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < 4 {
		return dst, &ProtocolError{Message: fmt.Sprintf("LZ4 body of %d bytes has no length", len(src))}
	}
	n, block := binary.BigEndian.Uint32(src), src[4:]
	if n == 0 && (len(block) == 0 || len(block) == 1 && block[0] == 0) {
		return dst, nil // an empty body, such as READY's: servers compress it to no block or to the empty one
	}
	if n > math.MaxInt32 || int(n) > limit {
		return dst, &ProtocolError{Message: fmt.Sprintf("LZ4 body of %d bytes, the limit is %d", n, limit)}
	}
	return decompressLZ4(dst, block, int(n))
}

// AppendCompressed implements Compressor.
func (LZ4Compressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	bound := lz4.CompressBlockBound(len(src))
	out := slices.Grow(dst, bound)
	n, err := lz4.CompressBlock(src, out[len(dst):len(dst)+bound], nil)
	if err != nil {
		return dst, fmt.Errorf("vecql: LZ4: %w", err)
	}
	return out[:len(dst)+n], nil
}

// AppendDecompressed implements Compressor.
func (LZ4Compressor) AppendDecompressed(dst, src []byte, size int) ([]byte, error) {
	return decompressLZ4(dst, src, size)
}

func decompressLZ4(dst, block []byte, size int) ([]byte, error) {
	if size <= 0 || size/lz4MaxRatio > len(block) {
		return dst, &ProtocolError{Message: fmt.Sprintf("LZ4 block of %d bytes can't hold %d", len(block), size)}
	}
	out := slices.Grow(dst, size)[:len(dst)+size]
	n, err := lz4.UncompressBlock(block, out[len(dst):])
	if err != nil {
		return dst, &ProtocolError{Message: "LZ4 block", Err: err}
	}
	if n != size {
		return dst, &ProtocolError{Message: fmt.Sprintf("LZ4 block holds %d bytes instead of %d", n, size)}
	}
	return out, nil
}

// SnappyCompressor is the Snappy block format, for v4 only: v5 has no Snappy. The zero value is ready.
type SnappyCompressor struct{}

// Name implements Compressor.
func (SnappyCompressor) Name() string { return "snappy" }

// AppendCompressedWithLength implements Compressor.
func (SnappyCompressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	if len(src) > wire.MaxBody {
		return dst, ErrFrameTooBig
	}
	bound := snappy.MaxEncodedLen(len(src))
	out := slices.Grow(dst, bound)
	block := snappy.Encode(out[len(dst):len(dst)+bound], src)
	return out[:len(dst)+len(block)], nil
}

// AppendDecompressedWithLength implements Compressor.
func (SnappyCompressor) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return dst, &ProtocolError{Message: "Snappy body", Err: err}
	}
	if n > limit {
		return dst, &ProtocolError{Message: fmt.Sprintf("Snappy body of %d bytes, the limit is %d", n, limit)}
	}
	if n/snappyMaxRatio > len(src) {
		return dst, &ProtocolError{Message: fmt.Sprintf("Snappy body of %d bytes can't hold %d", len(src), n)}
	}
	out := slices.Grow(dst, n)[:len(dst)+n]
	body, err := snappy.Decode(out[len(dst):], src)
	if err != nil {
		return dst, &ProtocolError{Message: "Snappy body", Err: err}
	}
	if len(body) != n {
		return dst, &ProtocolError{Message: fmt.Sprintf("Snappy body holds %d bytes instead of %d", len(body), n)}
	}
	return out, nil
}

// AppendCompressed implements Compressor; it returns ErrUnsupported.
func (SnappyCompressor) AppendCompressed(dst, _ []byte) ([]byte, error) {
	return dst, fmt.Errorf("vecql: Snappy segments: %w", ErrUnsupported)
}

// AppendDecompressed implements Compressor; it returns ErrUnsupported.
func (SnappyCompressor) AppendDecompressed(dst, _ []byte, _ int) ([]byte, error) {
	return dst, fmt.Errorf("vecql: Snappy segments: %w", ErrUnsupported)
}
