// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Values that arrow-go decodes: the reference of the decoders.

// readPage decodes n values of a page without levels with arrow-go, and appends them to out as PLAIN.
func readPage(out []byte, column *schema.Column, encoding format.Encoding, data []byte, n, limit int) (_ []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // arrow-go's decoders panic on some input
			err = fmt.Errorf("%v", r)
		}
		if err != nil && !errors.Is(err, failure.ErrTooLarge) {
			err = failure.Corrupt("values of encoding %v: %w", parquet.Encoding(encoding), err)
		}
	}()
	buf := memory.NewBufferBytes(data)
	one := &onePage{page: file.NewDataPageV1(buf, int32(n), parquet.Encoding(encoding), parquet.Encodings.RLE,
		parquet.Encodings.RLE, int32(len(data)))}
	// NewColumnReader is deprecated because its pages may be invalid. It is the only way to the decoders, and this page
	// is valid.
	r := file.NewColumnReader(column, one, memory.DefaultAllocator, nil) //nolint:staticcheck // see above
	switch r := r.(type) {
	case *file.BooleanColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendBoolBits)
	case *file.Int32ColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendRaw[int32])
	case *file.Int64ColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendRaw[int64])
	case *file.Int96ColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendRaw[parquet.Int96])
	case *file.Float32ColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendRaw[float32])
	case *file.Float64ColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendRaw[float64])
	case *file.ByteArrayColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, appendByteArrays)
	case *file.FixedLenByteArrayColumnChunkReader:
		return readOther(out, n, limit, r.ReadBatchInPage, func(dst []byte, v []parquet.FixedLenByteArray, _ int) []byte {
			for _, b := range v {
				dst = append(dst, b...)
			}
			return dst
		})
	}
	return out, errors.New("unknown type")
}

// readOther reads n values and appends them as PLAIN.
func readOther[T any](dst []byte, n, limit int, read func(int64, []T, []int16, []int16) (int64, int, error),
	plain func(dst []byte, v []T, done int) []byte,
) ([]byte, error) {
	values := make([]T, min(n, 1024))
	for done := 0; done < n; {
		_, m, err := read(int64(min(n-done, len(values))), values, nil, nil)
		if err != nil {
			return dst, err
		}
		if m == 0 {
			return dst, fmt.Errorf("page ends after %d of %d values", done, n)
		}
		dst = plain(dst, values[:m], done)
		if len(dst) > limit {
			return dst, fmt.Errorf("%w: page of more than %d bytes", failure.ErrTooLarge, limit)
		}
		done += m
	}
	return dst, nil
}

// appendRaw appends the memory of numbers, which is little-endian (open.go checks that).
func appendRaw[T any](dst []byte, v []T, _ int) []byte {
	if len(v) == 0 {
		return dst
	}
	return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))...)
}

// appendBoolBits appends booleans as bits after done others.
func appendBoolBits(dst []byte, v []bool, done int) []byte {
	for i, b := range v {
		if (done+i)&7 == 0 {
			dst = append(dst, 0)
		}
		if b {
			dst[len(dst)-1] |= 1 << ((done + i) & 7)
		}
	}
	return dst
}

func appendByteArrays(dst []byte, v []parquet.ByteArray, _ int) []byte {
	for _, b := range v {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)))
		dst = append(dst, b...)
	}
	return dst
}

// onePage is a file.PageReader that returns one page.
type onePage struct {
	page file.Page
	done bool
}

func (p *onePage) SetMaxPageHeaderSize(int) {}

func (p *onePage) Page() file.Page { return p.page }

func (p *onePage) Next() bool {
	next := !p.done
	p.done = true
	return next
}

func (p *onePage) Err() error { return nil }

func (p *onePage) Reset(parquet.BufferedReader, int64, compress.Compression, *file.CryptoContext) {}

func (p *onePage) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }

func (p *onePage) SeekToPageWithRow(int64) error {
	return fmt.Errorf("%w: seeking", failure.ErrUnsupported)
}

func (p *onePage) Close() error { return nil }
