// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package vector

import "unsafe"

// Kernels of arm64. Every arm64 processor supports them. Rows of other formats than floats are widened first.

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

// scoresNEON computes the scores of 6 rows.
//
//go:noescape
func scoresNEON(t *tile)

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel {
	return []kernel{goKernel, {
		name: "neon", rows: 6, tile: tileNEON, widen: goKernel.widen,
		hamming: hammingGo, integers: integersGo, integerSquares: integerSquaresGo,
		sums: [formats][ops]func(*sums){
			Float32:       {dotNativeNEON, l2NativeNEON, squaresNativeNEON},
			Float32Big:    {dotBigNEON, l2BigNEON, squaresBigNEON},
			Float32Little: {dotNativeNEON, l2NativeNEON, squaresNativeNEON},
		},
	}}
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
