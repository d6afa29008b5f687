// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// This file holds how spilled data is compressed.

// A Codec compresses what is spilled. Its methods are called by several goroutines at once.
//
// An LZ4 or Zstandard library makes a better one than the default, in two short methods: for klauspost/compress, EncodeAll and DecodeAll.
type Codec interface {
	// Compress appends src, compressed, to dst.
	Compress(dst, src []byte) ([]byte, error)
	// Decompress appends what src was before to dst.
	Decompress(dst, src []byte) ([]byte, error)
}

// flateCodec is compress/flate. Its writers take half a megabyte each, so that they are kept.
type flateCodec struct{}

var flateWriters, flateReaders sync.Pool

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
