// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Compressors.

// A BlockCompressor is the Compressor of gocql v1.7 and of the fork: whole bodies of protocol v4, with their length.
type BlockCompressor interface {
	Name() string
	Encode(data []byte) ([]byte, error)
	Decode(data []byte) ([]byte, error)
}

// An AppendCompressor is the Compressor of gocql v2.
type AppendCompressor interface {
	Name() string
	AppendCompressedWithLength(dst, src []byte) ([]byte, error)
	AppendDecompressedWithLength(dst, src []byte) ([]byte, error)
	AppendCompressed(dst, src []byte) ([]byte, error)
	AppendDecompressed(dst, src []byte, decompressedLength uint32) ([]byte, error)
}

// AdaptBlockCompressor returns the driver's compressor for c. lz4 and snappy are the driver's own, with the formats
// of the protocol; another compressor is called, and serves protocol v4 only.
func AdaptBlockCompressor(c BlockCompressor) cql.Compressor {
	if own := ownCompressor(c.Name()); own != nil {
		return own
	}
	return blockCompressor{c}
}

// AdaptAppendCompressor returns the driver's compressor for c, as AdaptBlockCompressor does.
func AdaptAppendCompressor(c AppendCompressor) cql.Compressor {
	if own := ownCompressor(c.Name()); own != nil {
		return own
	}
	return appendCompressor{c}
}

func ownCompressor(name string) cql.Compressor {
	switch name {
	case "lz4":
		return vecql.LZ4Compressor{}
	case "snappy":
		return vecql.SnappyCompressor{}
	}
	return nil
}

type blockCompressor struct{ BlockCompressor }

func (c blockCompressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	out, err := c.Encode(src)
	return append(dst, out...), err
}

func (c blockCompressor) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	out, err := c.Decode(src)
	if err == nil && len(out) > limit {
		err = fmt.Errorf("gocql: a decompressed body of %d bytes, at most %d", len(out), limit)
	}
	return append(dst, out...), err
}

func (c blockCompressor) AppendCompressed(dst, _ []byte) ([]byte, error) { return dst, c.noSegments() }

func (c blockCompressor) AppendDecompressed(dst, _ []byte, _ int) ([]byte, error) {
	return dst, c.noSegments()
}

func (c blockCompressor) noSegments() error {
	return fmt.Errorf("gocql: the compressor %q does not serve protocol v5", c.Name())
}

type appendCompressor struct{ c AppendCompressor }

func (c appendCompressor) Name() string { return c.c.Name() }

func (c appendCompressor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) {
	return c.c.AppendCompressedWithLength(dst, src)
}

func (c appendCompressor) AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error) {
	out, err := c.c.AppendDecompressedWithLength(dst, src)
	if err == nil && len(out)-len(dst) > limit {
		err = fmt.Errorf("gocql: a decompressed body of %d bytes, at most %d", len(out)-len(dst), limit)
	}
	return out, err
}

func (c appendCompressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	return c.c.AppendCompressed(dst, src)
}

func (c appendCompressor) AppendDecompressed(dst, src []byte, size int) ([]byte, error) {
	return c.c.AppendDecompressed(dst, src, uint32(size))
}
