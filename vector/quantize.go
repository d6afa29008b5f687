// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Quantized vectors as blobs: a header and the elements.

// HeaderSize is the length of the header of a blob, in bytes:
//
//	0     version 1 in the upper 4 bits, the Format in the lower 4
//	1-3   the dimension, the least significant byte first
//	4-7   a binary32, the least significant byte first: the scale of Int8, 1 for all other formats
//
// The elements follow, [Format.Size] bytes. All blobs of one format and dimension have the same length, so that a
// column of them is a Matrix ([MatrixOfBlobs]).
const HeaderSize = 8

const blobVersion = 1

// A Header describes the elements of a blob.
type Header struct {
	Format Format
	Dim    int
	Scale  float32
}

// ParseHeader returns the header of a blob. The error wraps [ErrBlob]: the version or format is unknown, the length is
// not the one of the header, or the scale is negative or not finite.
func ParseHeader(blob []byte) (Header, error) {
	h, err := parseHeader(blob)
	if err != nil {
		err = fmt.Errorf("vector: %w", err)
	}
	return h, err
}

// parseHeader returns errors without the name of the package.
func parseHeader(blob []byte) (Header, error) {
	fail := func(format string, args ...any) (Header, error) {
		return Header{}, fmt.Errorf("blob of %d bytes: %s: %w", len(blob), fmt.Sprintf(format, args...), ErrBlob)
	}
	if len(blob) < HeaderSize {
		return fail("a header has %d bytes", HeaderSize)
	}
	first := binary.LittleEndian.Uint32(blob)
	h := Header{
		Format: Format(first & 15), Dim: int(first >> 8),
		Scale: math.Float32frombits(binary.LittleEndian.Uint32(blob[4:])),
	}
	switch version := first >> 4 & 15; {
	case version != blobVersion:
		return fail("version %d", version)
	case h.Format < Float16 || !h.Format.valid():
		return fail("format %d", h.Format)
	case len(blob) != HeaderSize+h.Format.Size(h.Dim):
		return fail("%d elements of %v have %d bytes", h.Dim, h.Format, HeaderSize+h.Format.Size(h.Dim))
	case !(h.Scale >= 0) || h.Scale > math.MaxFloat32:
		return fail("scale %v", h.Scale)
	}
	return h, nil
}

// Quantize appends v to dst as a blob of Float16, BFloat16, Int8 or Bits. An element x becomes x':
//
//	Float16    |x-x'| ≤ 2^-11 |x|, or 2^-25 if |x| < 2^-14
//	BFloat16   |x-x'| ≤ 2^-8 |x|, or 2^-134 if |x| < 2^-126
//	Int8       |x-x'| ≤ 0.51 scale; the scale is the greatest |x| divided by 127, but at least 2^-149
//	Bits       x' is 1 if x > 0, otherwise -1
//
// The errors are an *[ElementError] for an element that is NaN, infinite, or too large for the format, [ErrMetric] for
// another format, and [ErrShape] for more than 16,777,215 elements; dst is returned as it was.
func Quantize(dst []byte, format Format, v []float32) ([]byte, error) {
	if format < Float16 || !format.valid() {
		return dst, fmt.Errorf("vector: quantize to %v: want float16, bfloat16, int8 or bits: %w", format, ErrShape)
	}
	if len(v) > maxDim {
		return dst, fmt.Errorf("vector: quantize %d elements, more than %d: %w", len(v), maxDim, ErrShape)
	}
	for i, f := range v {
		if f-f != 0 || format == Float16 && toHalf(f)&0x7fff == 0x7c00 || format == BFloat16 && toBrain(f)&0x7fff == 0x7f80 {
			return dst, &ElementError{What: "quantize", Element: i, Value: f, Format: format}
		}
	}
	scale := float32(1)
	if format == Int8 {
		scale = scaleOf(v)
	}
	dst = binary.LittleEndian.AppendUint32(dst, blobVersion<<4|uint32(format)|uint32(len(v))<<8)
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(scale))
	return appendElements(dst, format, v, scale), nil
}

// scaleOf returns the scale of Int8: no element exceeds 127 times the scale, which is finite.
func scaleOf(v []float32) float32 {
	var most float32
	for _, f := range v {
		most = max(most, f, -f)
	}
	scale := float32(float64(most) / 127)
	if float64(scale)*127.5 < float64(most) { // a denormal scale
		scale = math.Nextafter32(scale, infinity)
	}
	if 127*scale > math.MaxFloat32 {
		scale = math.Nextafter32(scale, 0)
	}
	return scale
}

func appendElements(dst []byte, format Format, v []float32, scale float32) []byte {
	switch format {
	case Float16:
		for _, f := range v {
			dst = binary.LittleEndian.AppendUint16(dst, toHalf(f))
		}
	case BFloat16:
		for _, f := range v {
			dst = binary.LittleEndian.AppendUint16(dst, toBrain(f))
		}
	case Int8:
		for _, f := range v {
			dst = append(dst, byte(code(f, scale)))
		}
	default:
		dst = appendBits(dst, v)
	}
	return dst
}

// code returns the nearest multiple of scale, from -127 to 127.
func code(f, scale float32) int8 {
	if scale == 0 {
		return 0
	}
	return int8(min(max(math.RoundToEven(float64(f)/float64(scale)), -127), 127))
}

// appendBits appends a bit for each element, 1 if it is greater than 0. The last byte ends with zeros.
func appendBits(dst []byte, v []float32) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, (len(v)+7)/8)...)
	for i, f := range v {
		if f > 0 {
			dst[n+i>>3] |= 1 << (i & 7)
		}
	}
	return dst
}

// widenBits stores 1 for each bit that is set, otherwise -1.
func widenBits(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = float32(src[i>>3]>>(i&7)&1)*2 - 1
	}
}

// Dequantize appends the elements of a blob to dst. It returns the errors of [ParseHeader]; dst is returned as it was.
func Dequantize(dst []float32, blob []byte) ([]float32, error) {
	h, err := ParseHeader(blob)
	if err != nil || h.Dim == 0 {
		return dst, err
	}
	m := Matrix{Format: h.Format, Dim: h.Dim, Data: blob[HeaderSize:], Scales: []float32{h.Scale}}
	return m.Row(dst, 0), nil
}

// MatrixOfBlobs returns a matrix of blobs of width bytes, one after the other, that shares their memory, but not the
// scales. The validity has one bit for each blob, 0 for blobs to leave out, which may have any bytes; nil means that
// all are valid. All valid blobs must have the format and dimension of the first one. Without any the matrix has no
// rows and dimension 0. The error wraps [ErrBlob] or [ErrShape].
func MatrixOfBlobs(blobs []byte, width int, validity []byte) (Matrix, error) {
	m, err := matrixOfBlobs(blobs, width, validity)
	if err != nil {
		err = fmt.Errorf("vector: %w", err)
	}
	return m, err
}

// matrixOfBlobs returns errors without the name of the package.
func matrixOfBlobs(blobs []byte, width int, validity []byte) (Matrix, error) {
	if width < HeaderSize || len(blobs)%width != 0 {
		return Matrix{}, fmt.Errorf("%d bytes are not blobs of %d bytes: %w", len(blobs), width, ErrShape)
	}
	rows := len(blobs) / width
	if validity != nil && len(validity) < (rows+7)/8 {
		return Matrix{}, fmt.Errorf("validity of %d bytes for %d blobs: %w", len(validity), rows, ErrShape)
	}
	var m Matrix
	for i := range rows {
		if validity != nil && validity[i>>3]>>(i&7)&1 == 0 {
			continue
		}
		h, err := parseHeader(blobs[i*width : (i+1)*width])
		switch {
		case err != nil:
			return Matrix{}, fmt.Errorf("row %d: %w", i, err)
		case m.Data == nil:
			m = Matrix{Format: h.Format, Dim: h.Dim, Data: blobs[HeaderSize:], Stride: width, Validity: validity}
			m.Scales = make([]float32, rows)
		case h.Format != m.Format || h.Dim != m.Dim:
			return Matrix{}, fmt.Errorf("row %d has %d elements of %v, the rows before have %d of %v: %w", i, h.Dim, h.Format,
				m.Dim, m.Format, ErrShape)
		}
		m.Scales[i] = h.Scale
	}
	return m, nil
}
