// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package vector

import "golang.org/x/sys/cpu"

// Kernels of amd64.

// Every processor with AVX2 and FMA has F16C, which float16 needs.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F
	hasVNNI   = hasAVX512 && cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2
	hasPOPCNT = hasAVX512 && cpu.X86.HasAVX512VPOPCNTDQ && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2
)

// The sums of one query are bound by memory, and in cache sums with 512-bit registers were not faster on a Zen 4 (55
// GB/s). With one set of sums all processors that have AVX2 compute the same distances.

var (
	sumsAVX2 = [formats][ops]func(*sums){
		Float32:       {dotNativeAVX2, l2NativeAVX2, squaresNativeAVX2},
		Float32Big:    {dotBigAVX2, l2BigAVX2, squaresBigAVX2},
		Float32Little: {dotNativeAVX2, l2NativeAVX2, squaresNativeAVX2},
		Float16:       {dotHalfAVX2, l2HalfAVX2, squaresHalfAVX2},
		BFloat16:      {dotBrainAVX2, l2BrainAVX2, squaresBrainAVX2},
		Int8:          {dotInt8AVX2, l2Int8AVX2, squaresInt8AVX2},
	}
	togetherAVX2 = [formats][togethers]func(*sums){
		Float32:       {dotsNativeAVX2, l2sNativeAVX2, cosinesNativeAVX2},
		Float32Big:    {dotsBigAVX2, l2sBigAVX2, cosinesBigAVX2},
		Float32Little: {dotsNativeAVX2, l2sNativeAVX2, cosinesNativeAVX2},
		Float16:       {dotsHalfAVX2, l2sHalfAVX2, cosinesHalfAVX2},
		BFloat16:      {dotsBrainAVX2, l2sBrainAVX2, cosinesBrainAVX2},
		Int8:          {dotsInt8AVX2, l2sInt8AVX2, cosinesInt8AVX2},
	}
	widenAVX2 = [formats]func(*float32, *byte, uintptr, float32){
		widenNative, widenBigAVX2, widenNative, widenHalfAVX2, widenBrainAVX2, widenInt8AVX2, nil,
	}
)

// kernelAVX2 and kernelAVX512 differ in their tiles, and in sums of bytes.
var (
	kernelAVX2 = kernel{
		name: "avx2", sums: sumsAVX2, widen: widenAVX2, hamming: hammingPOPCNT, tile: tileAVX2, rows: 6,
		integers: dotBytesAVX2, integerSquares: squaresBytesAVX2, together: togetherAVX2,
	}
	kernelAVX512 = withBytes(kernel{
		name: "avx512", sums: sumsAVX2, widen: widenAVX2, hamming: hammingPOPCNT, tile: tileAVX512, rows: 12,
		integers: dotBytesAVX2, integerSquares: squaresBytesAVX2, together: togetherAVX2, aliased: &kernelAliased,
	})
	kernelAliased = withBytes(kernelAVX2)
)

// withBytes returns a kernel with the sums of bytes of AVX-512, if the machine has them. The squares of rows are
// computed once for all queries.
func withBytes(k kernel) kernel {
	if hasVNNI {
		k.integers = dotBytesVNNI
	}
	if hasPOPCNT {
		k.hamming = hammingAVX512
	}
	return k
}

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel {
	switch {
	case hasAVX512:
		return []kernel{goKernel, kernelAVX2, kernelAVX512}
	case hasAVX2:
		return []kernel{goKernel, kernelAVX2}
	}
	return []kernel{goKernel}
}

//go:noescape
func dotNativeAVX2(s *sums)

//go:noescape
func l2NativeAVX2(s *sums)

//go:noescape
func squaresNativeAVX2(s *sums)

//go:noescape
func dotBigAVX2(s *sums)

//go:noescape
func l2BigAVX2(s *sums)

//go:noescape
func squaresBigAVX2(s *sums)

//go:noescape
func dotHalfAVX2(s *sums)

//go:noescape
func l2HalfAVX2(s *sums)

//go:noescape
func squaresHalfAVX2(s *sums)

//go:noescape
func dotBrainAVX2(s *sums)

//go:noescape
func l2BrainAVX2(s *sums)

//go:noescape
func squaresBrainAVX2(s *sums)

//go:noescape
func dotInt8AVX2(s *sums)

//go:noescape
func l2Int8AVX2(s *sums)

//go:noescape
func squaresInt8AVX2(s *sums)

//go:noescape
func dotsNativeAVX2(s *sums)

//go:noescape
func l2sNativeAVX2(s *sums)

//go:noescape
func cosinesNativeAVX2(s *sums)

//go:noescape
func dotsBigAVX2(s *sums)

//go:noescape
func l2sBigAVX2(s *sums)

//go:noescape
func cosinesBigAVX2(s *sums)

//go:noescape
func dotsHalfAVX2(s *sums)

//go:noescape
func l2sHalfAVX2(s *sums)

//go:noescape
func cosinesHalfAVX2(s *sums)

//go:noescape
func dotsBrainAVX2(s *sums)

//go:noescape
func l2sBrainAVX2(s *sums)

//go:noescape
func cosinesBrainAVX2(s *sums)

//go:noescape
func dotsInt8AVX2(s *sums)

//go:noescape
func l2sInt8AVX2(s *sums)

//go:noescape
func cosinesInt8AVX2(s *sums)

//go:noescape
func widenBigAVX2(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func widenHalfAVX2(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func widenBrainAVX2(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func widenInt8AVX2(dst *float32, src *byte, n uintptr, scale float32)

//go:noescape
func hammingPOPCNT(s *sums)

//go:noescape
func hammingAVX512(s *sums)

//go:noescape
func dotBytesAVX2(s *sums)

//go:noescape
func squaresBytesAVX2(s *sums)

//go:noescape
func dotBytesVNNI(s *sums)

//go:noescape
func tileAVX2(t *tile)

//go:noescape
func tileAVX512(t *tile)

// direct computes sums of native floats.
func direct(o op, s *sums) {
	switch {
	case !hasAVX2:
		directGo(o, s)
	case o == opDot:
		dotNativeAVX2(s)
	case o == opL2:
		l2NativeAVX2(s)
	default:
		squaresNativeAVX2(s)
	}
}
