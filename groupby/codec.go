// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// Compression of spilled data.

// A Codec compresses spilled data. Its methods may be called by several goroutines at once.
//
// A Codec for LZ4 or Zstandard is a better choice than the default and takes two short methods: for klauspost/compress,
// EncodeAll and DecodeAll.
type Codec interface {
	// Compress appends the compressed form of src to dst.
	Compress(dst, src []byte) ([]byte, error)
	// Decompress appends the decompressed form of src to dst.
	Decompress(dst, src []byte) ([]byte, error)
}

// flateCodec is compress/flate. Its writers take half a megabyte each, so they are pooled.
type flateCodec struct{}

var flateWriters, flateReaders sync.Pool

// Compress appends the compressed src to dst. Writers are pooled, because each has large tables.
func (flateCodec) Compress(dst, src []byte) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	w, ok := flateWriters.Get().(*flate.Writer)
	if ok {
		w.Reset(buf)
	} else {
		var err error
		if w, err = flate.NewWriter(buf, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer flateWriters.Put(w)
	if _, err := w.Write(src); err != nil {
		return nil, err
	}
	err := w.Close()
	return buf.Bytes(), err
}

// Decompress appends the decompressed src to dst.
func (flateCodec) Decompress(dst, src []byte) ([]byte, error) {
	from := bytes.NewReader(src)
	r, ok := flateReaders.Get().(io.ReadCloser)
	if !ok {
		r = flate.NewReader(from)
	} else if err := r.(flate.Resetter).Reset(from, nil); err != nil {
		return nil, err
	}
	defer flateReaders.Put(r)
	buf := bytes.NewBuffer(dst)
	_, err := buf.ReadFrom(r)
	return buf.Bytes(), err
}
