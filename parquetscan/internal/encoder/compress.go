// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Compression of pages, with the default level of each codec. The memory of compressors is used again.

var (
	zstdPool = sync.Pool{New: func() any {
		w, _ := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1),
			zstd.WithAllLitEntropyCompression(true)) // these options cannot fail
		return w
	}}
	gzipPool   = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	brotliPool = sync.Pool{New: func() any { return brotli.NewWriter(nil) }}
	lz4Pool    = sync.Pool{New: func() any { return new(lz4.Compressor) }}
)

// compress returns src compressed, in the memory of dst if it suffices. Without compression it returns src.
func compress(codec format.Codec, dst, src []byte) ([]byte, error) {
	switch codec {
	case format.Uncompressed:
		return src, nil
	case format.Snappy:
		return snappy.Encode(dst[:cap(dst)], src), nil
	case format.Zstd:
		w := zstdPool.Get().(*zstd.Encoder)
		defer zstdPool.Put(w)
		return w.EncodeAll(src, dst[:0]), nil
	case format.Gzip:
		return stream[*gzip.Writer](&gzipPool, dst, src)
	case format.Brotli:
		return stream[*brotli.Writer](&brotliPool, dst, src)
	case format.LZ4Raw:
		if bound := lz4.CompressBlockBound(len(src)); cap(dst) < bound {
			dst = make([]byte, bound)
		}
		w := lz4Pool.Get().(*lz4.Compressor)
		defer lz4Pool.Put(w)
		n, err := w.CompressBlock(src, dst[:cap(dst)])
		return dst[:n], err
	}
	return nil, fmt.Errorf("cannot compress with codec %v", codec)
}

// stream compresses with a compressor that writes a stream.
func stream[W interface {
	io.WriteCloser
	Reset(w io.Writer)
}](pool *sync.Pool, dst, src []byte) ([]byte, error) {
	w := pool.Get().(W)
	defer pool.Put(w)
	out := bytes.NewBuffer(dst[:0])
	w.Reset(out)
	if _, err := w.Write(src); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}
