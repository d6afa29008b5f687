// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// Kernels without assembly.

// goKernel is the kernel of every machine.
var goKernel = kernel{
	name: "go", hamming: hammingGo, integers: integersGo, integerSquares: integerSquaresGo,
	sums: [formats][ops]func(*sums){Float32: {dotGo, l2Go, squaresGo}},
	widen: [formats]func(*float32, *byte, uintptr, float32){
		widenNative, widenBig, widenLittle, widenHalf, widenBrain, widenInt8, nil,
	},
}

// bytesOf returns the address of the bytes of a vector.
func bytesOf(v []float32) *byte { return (*byte)(unsafe.Pointer(&v[0])) }

// row returns row i as native floats.
func (s *sums) row(i uintptr) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(s.src), i*s.stride)), s.dim)
}

func (s *sums) results() []float32 { return unsafe.Slice(s.dst, s.rows) }

// dotGo adds in four accumulators, so that an addition need not wait for the one before it.
func dotGo(s *sums) {
	q := unsafe.Slice((*float32)(unsafe.Pointer(s.query)), s.dim)
	dst := s.results()
	for i := range dst {
		x := s.row(uintptr(i))
		var a, b, c, d float32
		n := len(q) &^ 3
		for j := 0; j < n; j += 4 {
			x, q := x[j:j+4:j+4], q[j:j+4:j+4]
			a += x[0] * q[0]
			b += x[1] * q[1]
			c += x[2] * q[2]
			d += x[3] * q[3]
		}
		for j := n; j < len(q); j++ {
			a += x[j] * q[j]
		}
		dst[i] = (a + b) + (c + d)
	}
}

// l2Go adds like dotGo.
func l2Go(s *sums) {
	q := unsafe.Slice((*float32)(unsafe.Pointer(s.query)), s.dim)
	dst := s.results()
	for i := range dst {
		x := s.row(uintptr(i))
		var a, b, c, d float32
		n := len(q) &^ 3
		for j := 0; j < n; j += 4 {
			x, q := x[j:j+4:j+4], q[j:j+4:j+4]
			e, f, g, h := x[0]-q[0], x[1]-q[1], x[2]-q[2], x[3]-q[3]
			a += e * e
			b += f * f
			c += g * g
			d += h * h
		}
		for j := n; j < len(q); j++ {
			e := x[j] - q[j]
			a += e * e
		}
		dst[i] = (a + b) + (c + d)
	}
}

func squaresGo(s *sums) {
	one := *s
	one.rows = 1
	for i := range s.results() {
		at := uintptr(i)
		one.dst = &s.results()[i]
		one.src = (*byte)(unsafe.Add(unsafe.Pointer(s.src), at*s.stride))
		one.query = one.src
		dotGo(&one)
	}
}

// hammingGo counts a word of 8 bytes at a time.
func hammingGo(s *sums) {
	q := unsafe.Slice(s.query, s.dim)
	dst := s.results()
	for i := range dst {
		x := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(s.src), uintptr(i)*s.stride)), s.dim)
		n, j := 0, 0
		for ; j+8 <= len(q); j += 8 {
			n += bits.OnesCount64(binary.LittleEndian.Uint64(x[j:]) ^ binary.LittleEndian.Uint64(q[j:]))
		}
		for ; j < len(q); j++ {
			n += bits.OnesCount8(x[j] ^ q[j])
		}
		dst[i] = float32(n)
	}
}

// integersGo adds the products of bytes.
func integersGo(s *sums) {
	q := unsafe.Slice((*int8)(unsafe.Pointer(s.query)), s.dim)
	dst := unsafe.Slice((*int32)(unsafe.Pointer(s.dst)), s.rows)
	for i := range dst {
		var sum int32
		for j, x := range s.integers(i) {
			sum += int32(x) * int32(q[j])
		}
		dst[i] = sum
	}
}

// integerSquaresGo adds the squares of bytes.
func integerSquaresGo(s *sums) {
	dst := unsafe.Slice((*int32)(unsafe.Pointer(s.dst)), s.rows)
	for i := range dst {
		var sum int32
		for _, x := range s.integers(i) {
			sum += int32(x) * int32(x)
		}
		dst[i] = sum
	}
}

// integers returns row i of signed bytes.
func (s *sums) integers(i int) []int8 {
	return unsafe.Slice((*int8)(unsafe.Add(unsafe.Pointer(s.src), uintptr(i)*s.stride)), s.dim)
}

func widenNative(dst *float32, src *byte, n uintptr, _ float32) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(dst)), 4*n), unsafe.Slice(src, 4*n))
}

func widenBig(dst *float32, src *byte, n uintptr, _ float32) {
	in := unsafe.Slice(src, 4*n)
	for i := range unsafe.Slice(dst, n) {
		unsafe.Slice(dst, n)[i] = math.Float32frombits(binary.BigEndian.Uint32(in[4*i:]))
	}
}

func widenLittle(dst *float32, src *byte, n uintptr, _ float32) {
	in := unsafe.Slice(src, 4*n)
	for i := range unsafe.Slice(dst, n) {
		unsafe.Slice(dst, n)[i] = math.Float32frombits(binary.LittleEndian.Uint32(in[4*i:]))
	}
}

func widenHalf(dst *float32, src *byte, n uintptr, _ float32) {
	in := unsafe.Slice(src, 2*n)
	for i := range unsafe.Slice(dst, n) {
		unsafe.Slice(dst, n)[i] = fromHalf(binary.LittleEndian.Uint16(in[2*i:]))
	}
}

func widenBrain(dst *float32, src *byte, n uintptr, _ float32) {
	in := unsafe.Slice(src, 2*n)
	for i := range unsafe.Slice(dst, n) {
		unsafe.Slice(dst, n)[i] = fromBrain(binary.LittleEndian.Uint16(in[2*i:]))
	}
}

func widenInt8(dst *float32, src *byte, n uintptr, scale float32) {
	in := unsafe.Slice(src, n)
	for i := range unsafe.Slice(dst, n) {
		unsafe.Slice(dst, n)[i] = scale * float32(int8(in[i]))
	}
}

// directGo computes sums of native floats.
func directGo(o op, s *sums) {
	switch o {
	case opDot:
		dotGo(s)
	case opL2:
		l2Go(s)
	default:
		squaresGo(s)
	}
}
