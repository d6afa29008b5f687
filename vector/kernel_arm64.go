// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Kernels of arm64. Every arm64 processor supports them, but the sums of bytes of dotprod.

//go:noescape
func dotNativeNEON(s *sums)

//go:noescape
func l2NativeNEON(s *sums)

//go:noescape
func squaresNativeNEON(s *sums)

//go:noescape
func dotBigNEON(s *sums)

//go:noescape
func l2BigNEON(s *sums)

//go:noescape
func squaresBigNEON(s *sums)

//go:noescape
func dotHalfNEON(s *sums)

//go:noescape
func l2HalfNEON(s *sums)

//go:noescape
func squaresHalfNEON(s *sums)

//go:noescape
func dotBrainNEON(s *sums)

//go:noescape
func l2BrainNEON(s *sums)

//go:noescape
func squaresBrainNEON(s *sums)

//go:noescape
func dotInt8NEON(s *sums)

//go:noescape
func l2Int8NEON(s *sums)

//go:noescape
func squaresInt8NEON(s *sums)

//go:noescape
func widenBigNEON(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func widenHalfNEON(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func widenBrainNEON(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func widenInt8NEON(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func dotBytesNEON(s *sums)

//go:noescape
func dotBytesDOTPROD(s *sums)

//go:noescape
func squaresBytesNEON(s *sums)

//go:noescape
func hammingNEON(s *sums)

// scoresNEON computes the scores of 6 rows.
//
//go:noescape
func scoresNEON(t *tile)

var kernelNEON = kernel{
	name: "neon", rows: 6, tile: tileNEON,
	hamming: hammingNEON, integers: dotBytesNEON, integerSquares: squaresBytesNEON,
	sums: [formats][ops]func(*sums){
		Float32:       {dotNativeNEON, l2NativeNEON, squaresNativeNEON},
		Float32Big:    {dotBigNEON, l2BigNEON, squaresBigNEON},
		Float32Little: {dotNativeNEON, l2NativeNEON, squaresNativeNEON},
		Float16:       {dotHalfNEON, l2HalfNEON, squaresHalfNEON},
		BFloat16:      {dotBrainNEON, l2BrainNEON, squaresBrainNEON},
		Int8:          {dotInt8NEON, l2Int8NEON, squaresInt8NEON},
	},
	widen: [formats]func(*float32, *byte, uintptr, float32){
		widenNative, widenBigNEON, widenNative, widenHalfNEON, widenBrainNEON, widenInt8NEON, nil,
	},
}

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel {
	all := []kernel{goKernel, kernelNEON}
	if cpu.ARM64.HasASIMDDP {
		k := kernelNEON
		k.name, k.integers = "dotprod", dotBytesDOTPROD
		all = append(all, k)
	}
	return all
}

// direct computes sums of native floats.
func direct(o op, s *sums) {
	switch o {
	case opDot:
		dotNativeNEON(s)
	case opL2:
		l2NativeNEON(s)
	default:
		squaresNativeNEON(s)
	}
}

// tileNEON compares the scores without assembly, which has no instruction for it.
func tileNEON(t *tile) {
	scoresNEON(t)
	if t.limits == nil {
		return
	}
	scores := unsafe.Slice(t.to, 6*lanes)
	t.any = 0
	for r := range 6 {
		p := (*params)(unsafe.Add(unsafe.Pointer(t.params), r*int(unsafe.Sizeof(params{}))))
		var mask uint16
		for lane, score := range scores[r*lanes : (r+1)*lanes] {
			if limit := t.limits.above[lane]*p.scale + (t.limits.slope[lane]*p.length + p.bias); !(score < limit) {
				mask |= 1 << lane
			}
		}
		t.masks[r] = mask
		t.any |= uint64(mask)
	}
}
