// SPDX-License-Identifier: Apache-2.0

//go:build fork

package scylla

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// lz4Compressor replaces the compressor of the module github.com/scylladb/gocql/lz4, which module proxies do not have.
// It calls LZ4 in the way of the compressor of Apache's gocql.
type lz4Compressor struct{}

func (lz4Compressor) Name() string { return "lz4" }

func (c lz4Compressor) Encode(data []byte) ([]byte, error) {
	return c.AppendCompressed(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data)
}

func (c lz4Compressor) Decode(data []byte) ([]byte, error) {
	return c.AppendDecompressed(nil, data[4:], binary.BigEndian.Uint32(data))
}

func (lz4Compressor) AppendCompressed(dst, src []byte) ([]byte, error) {
	at, bound := len(dst), lz4.CompressBlockBound(len(src))
	dst = slices.Grow(dst, bound)[:at+bound]
	var compressor lz4.Compressor
	n, err := compressor.CompressBlock(src, dst[at:])
	return dst[:at+n], err
}

func (lz4Compressor) AppendDecompressed(dst, src []byte, length uint32) ([]byte, error) {
	if length == 0 {
		return dst, nil
	}
	at := len(dst)
	dst = slices.Grow(dst, int(length))[:at+int(length)]
	n, err := lz4.UncompressBlock(src, dst[at:])
	return dst[:at+n], err
}
