// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"unsafe"
)

// Matrix: rows of vectors in the caller's memory.

// A Matrix is rows of Dim elements in memory of the caller, which is only read. It must not change during a call. Rows
// may be apart from each other: a page of CQL rows, or of blobs with headers, is a Matrix if all its rows have the same
// length.
type Matrix struct {
	Format Format
	Dim    int    // elements in a row, at most 16,777,215
	Data   []byte // the first row and those that follow; aligned to 4 bytes if Format is Float32
	// Stride is the number of bytes from the start of a row to the start of the next one. 0 means rows without gaps.
	Stride int
	// Scales has the factor of each row of Int8.
	Scales []float32
	// Validity has one bit for each row, counted from the lowest of each byte. Rows whose bit is 0 are left out. nil means
	// that all rows are valid. It is the validity of package column.
	Validity []byte
}

// MatrixOf returns a matrix of floats, row after row, that shares their memory.
func MatrixOf(data []float32, dim int) Matrix {
	return Matrix{Dim: dim, Data: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), 4*len(data))}
}

// maxDim is the greatest dimension of a vector.
const maxDim = 1<<24 - 1

// Rows returns the number of rows, or 0 if Dim is not positive.
func (m *Matrix) Rows() int {
	if m.Dim < 1 || m.Dim > maxDim || len(m.Data) < m.Format.Size(m.Dim) {
		return 0
	}
	return (len(m.Data)-m.Format.Size(m.Dim))/m.stride() + 1
}

func (m *Matrix) stride() int {
	if m.Stride == 0 {
		return m.Format.Size(m.Dim)
	}
	return m.Stride
}

// check returns an error, which wraps ErrShape, unless the fields of the matrix agree.
func (m *Matrix) check() error {
	shape := func(format string, args ...any) error {
		return fmt.Errorf("vector: matrix: "+format+": %w", append(args, ErrShape)...)
	}
	size, stride := m.Format.Size(min(m.Dim, maxDim)), m.stride()
	switch {
	case !m.Format.valid():
		return shape("format %d", m.Format)
	case m.Dim < 1 || m.Dim > maxDim:
		return shape("dimension %d, want 1 to %d", m.Dim, maxDim)
	case stride < size:
		return shape("stride of %d bytes for rows of %d bytes", stride, size)
	}
	rows := m.Rows()
	switch rest := len(m.Data) - rows*stride; {
	case rest > 0:
		return shape("%d bytes are not rows of %d bytes: %d bytes are left", len(m.Data), stride, rest)
	case m.Format == Int8 && len(m.Scales) < rows:
		return shape("%d scales for %d rows", len(m.Scales), rows)
	case m.Validity != nil && len(m.Validity) < (rows+7)/8:
		return shape("validity of %d bytes for %d rows", len(m.Validity), rows)
	}
	return nil
}

// row returns the address of row i.
func (m *Matrix) row(i int) *byte { return &m.Data[i*m.stride()] }

// scale returns the address of the factor of row i, which only Int8 uses.
func (m *Matrix) scale(i int) *float32 {
	if m.Format != Int8 {
		return &unscaled
	}
	return &m.Scales[i]
}

// unscaled is the factor of formats without scales.
var unscaled float32 = 1

// Row appends the elements of row i to dst. An element of Bits is 1 or -1. It panics if i is out of range.
func (m *Matrix) Row(dst []float32, i int) []float32 {
	n := len(dst)
	dst = append(dst, make([]float32, m.Dim)...)
	if m.Format == Bits {
		widenBits(dst[n:], unsafe.Slice(m.row(i), m.Format.Size(m.Dim)))
	} else {
		best.widen[m.Format](&dst[n:][0], m.row(i), uintptr(m.Dim), *m.scale(i))
	}
	return dst
}

// Distance returns the distance of row i from a query, as [Distance] does. It panics if i is out of range.
func (m *Matrix) Distance(metric Metric, query []float32, i int) (float32, error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if len(query) != m.Dim {
		return 0, &DimensionError{What: "query", Got: len(query), Want: m.Dim}
	}
	if err := m.allows(metric); err != nil {
		return 0, err
	}
	return Distance(metric, query, m.Row(make([]float32, 0, m.Dim), i))
}

// allows returns an error unless rows of the format have the metric.
func (m *Matrix) allows(metric Metric) error {
	if (metric == Hamming) != (m.Format == Bits) {
		return fmt.Errorf("vector: %v of rows of %v: %w", metric, m.Format, ErrMetric)
	}
	return nil
}
