// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"

	"github.com/vecql/vecql/internal/snappy"
	"github.com/vecql/vecql/internal/zstd"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Decompression (parquet-format, Compression.md).

// checkCodec returns an error for a codec that is not supported.
func checkCodec(codec format.Codec) error {
	if codec < format.Uncompressed || codec > format.LZ4Raw || codec == format.LZO {
		return fmt.Errorf("%w: codec %v", failure.ErrUnsupported, codec)
	}
	return nil
}

// plausible reports whether src may decompress to n bytes, before memory is allocated for them.
func plausible(codec format.Codec, src []byte, n int) bool {
	most := uint64(len(src)) + 1
	switch codec {
	case format.Snappy:
		most *= 22 // a copy of 64 bytes takes 3
	case format.LZ4, format.LZ4Raw:
		most *= 256 // a byte adds 255 to the length of a match
	case format.Gzip:
		most *= 1032 // two bits are a match of 258 bytes
	case format.Zstd:
		bound, err := zstdBound(src)
		return err == nil && uint64(n) <= bound
	default:
		return true
	}
	return uint64(n) <= most
}

// decompress decodes src to dst, which has the expected length, at least 1, and slack bytes of spare capacity.
func decompress(codec format.Codec, dst, src []byte) error {
	n := len(dst)
	var err error
	switch codec {
	case format.Snappy:
		err = snappy.Decode(dst, src)
	case format.Zstd:
		n, err = decompressZstd(dst, src)
	case format.Gzip:
		err = decompressGzip(dst, src)
	case format.LZ4:
		n, err = decompressLZ4(slices.Clip(dst), src)
	case format.LZ4Raw:
		n, err = lz4.UncompressBlock(src, slices.Clip(dst))
	}
	switch {
	case errors.Is(err, io.EOF): // the end of a stream, not of the pages
		return failure.Corrupt("%v: %w", codec, io.ErrUnexpectedEOF)
	case err != nil:
		return failure.Corrupt("%v: %w", codec, err)
	case n != len(dst):
		return failure.Corrupt("page decompresses to %d bytes, want %d", n, len(dst))
	}
	return nil
}

// decompressGzip decodes a stream, which may have several members.
func decompressGzip(dst, src []byte) error {
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
		return fmt.Errorf("more than %d bytes", len(dst))
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return r.Close()
}

// decompressZstd decodes frames. It returns the number of bytes, at most len(dst).
func decompressZstd(dst, src []byte) (int, error) {
	if zstd.Decode(dst, src) {
		return len(dst), nil
	}
	out, err := zstdDecoder().DecodeAll(src, dst[:0])
	return len(out), err
}

// decompressBrotli decodes a page of n bytes that begins with levels to buf. No length of a stream bounds its content,
// so the memory grows with the content that the stream has had so far.
func decompressBrotli(buf, src []byte, levels, n int) ([]byte, error) {
	stream := brotli.NewReader(bytes.NewReader(src[levels:]))
	buf = buffer.GrowBytes(buf[:0], levels)
	copy(buf, src[:levels])
	for have := levels; ; {
		if have == len(buf) {
			buf = buffer.GrowBytes(buf, min(n, max(2*have, 4*len(src), 4096)))
		}
		if have == n {
			break
		}
		k, err := stream.Read(buf[have:])
		have += k
		switch {
		case errors.Is(err, io.EOF) && have < n:
			return buf, failure.Corrupt("page decompresses to %d bytes, want %d", have-levels, n-levels)
		case err != nil && !errors.Is(err, io.EOF):
			return buf, failure.Corrupt("%v: %w", format.Brotli, err)
		}
	}
	if k, err := stream.Read(make([]byte, 1)); n > levels && (k != 0 || !errors.Is(err, io.EOF)) {
		return buf, failure.Corrupt("page decompresses to more than %d bytes", n-levels)
	}
	return buf, nil
}
