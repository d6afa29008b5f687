// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Sums of rows and a query by AVX-512. SI is the element of the row, DI the element of the query, R12 the scale. LOAD
// widens 16 elements, LOADM those of the mask K1. Four accumulators hide the latency of additions.

#define LOADNATIVE(i, x) VMOVUPS (64*i)(SI), x
#define LOADNATIVEM(x) VMOVUPS.Z (SI), K1, x

#define LOADBIG(i, x) VMOVDQU32 (64*i)(SI), x; VPSHUFB Z15, x, x
#define LOADBIGM(x) VMOVDQU32.Z (SI), K1, x; VPSHUFB Z15, x, x

#define LOADHALF(i, x) VCVTPH2PS (32*i)(SI), x
#define LOADHALFM(x) VMOVDQU16.Z (SI), K1, Y6; VCVTPH2PS Y6, x

#define LOADBRAIN(i, x) VPMOVZXWD (32*i)(SI), x; VPSLLD $16, x, x
#define LOADBRAINM(x) VMOVDQU16.Z (SI), K1, Y6; VPMOVZXWD Y6, x; VPSLLD $16, x, x

#define LOADINT8(i, x) VPMOVSXBD (16*i)(SI), x; VCVTDQ2PS x, x; VMULPS Z15, x, x
#define LOADINT8M(x) VMOVDQU8.Z (SI), K1, X6; VPMOVSXBD X6, x; VCVTDQ2PS x, x; VMULPS Z15, x, x

#define DOT(i, x, sum) VFMADD231PS (64*i)(DI), x, sum
#define DOTM(x, sum) VMOVUPS.Z (DI), K1, Z5; VFMADD231PS Z5, x, sum

#define L2(i, x, sum) VSUBPS (64*i)(DI), x, x; VFMADD231PS x, x, sum
#define L2M(x, sum) VMOVUPS.Z (DI), K1, Z5; VSUBPS Z5, x, x; VFMADD231PS x, x, sum

#define SQUARES(i, x, sum) VFMADD231PS x, x, sum
#define SQUARESM(x, sum) VFMADD231PS x, x, sum

// ONCE runs before the first row, EACH before each row.
#define NONE
#define SWAPMASK VBROADCASTI32X4 ·swap32(SB), Z15
#define SCALE VBROADCASTSS (R12), Z15; ADDQ $4, R12

#define SUMS(LOAD, LOADM, SIZE, OP, OPM, ONCE, EACH) \
	MOVQ s+0(FP), AX;        \
	MOVQ 0(AX), DX;          \
	MOVQ 8(AX), R13;         \
	MOVQ 16(AX), R8;         \
	MOVQ 24(AX), R9;         \
	MOVQ 32(AX), R10;        \
	MOVQ 40(AX), R11;        \
	MOVQ 48(AX), R12;        \
	MOVQ R11, CX;            \
	ANDQ $15, CX;            \
	MOVL $1, BX;             \
	SHLL CX, BX;             \
	DECL BX;                 \
	KMOVW BX, K1;            \
	ONCE;                    \
row:                         \
	MOVQ R13, SI;            \
	MOVQ R10, DI;            \
	MOVQ R11, CX;            \
	EACH;                    \
	VPXORQ Z0, Z0, Z0;       \
	VPXORQ Z1, Z1, Z1;       \
	VPXORQ Z2, Z2, Z2;       \
	VPXORQ Z3, Z3, Z3;       \
	SUBQ $64, CX;            \
	JB   sixteens;           \
four:                        \
	PREFETCHT0 2048(SI);     \
	PREFETCHT0 (2048+16*SIZE)(SI); \
	PREFETCHT0 (2048+32*SIZE)(SI); \
	PREFETCHT0 (2048+48*SIZE)(SI); \
	LOAD(0, Z4);             \
	LOAD(1, Z5);             \
	LOAD(2, Z6);             \
	LOAD(3, Z7);             \
	OP(0, Z4, Z0);           \
	OP(1, Z5, Z1);           \
	OP(2, Z6, Z2);           \
	OP(3, Z7, Z3);           \
	ADDQ $(64*SIZE), SI;     \
	ADDQ $256, DI;           \
	SUBQ $64, CX;            \
	JAE  four;               \
sixteens:                    \
	ADDQ $48, CX;            \
	JNC  rest;               \
sixteen:                     \
	LOAD(0, Z4);             \
	OP(0, Z4, Z0);           \
	ADDQ $(16*SIZE), SI;     \
	ADDQ $64, DI;            \
	SUBQ $16, CX;            \
	JAE  sixteen;            \
rest:                        \
	ADDQ $16, CX;            \
	JZ   done;               \
	LOADM(Z4);               \
	OPM(Z4, Z1);             \
done:                        \
	VADDPS Z1, Z0, Z0;       \
	VADDPS Z3, Z2, Z2;       \
	VADDPS Z2, Z0, Z0;       \
	VEXTRACTF64X4 $1, Z0, Y1; \
	VADDPS Y1, Y0, Y0;       \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0;       \
	VMOVHLPS X0, X0, X1;     \
	VADDPS X1, X0, X0;       \
	VMOVSHDUP X0, X1;        \
	VADDSS X1, X0, X0;       \
	VMOVSS X0, (DX);         \
	ADDQ $4, DX;             \
	ADDQ R8, R13;            \
	DECQ R9;                 \
	JNZ  row;                \
	VZEROUPPER;              \
	RET

// func dotNativeAVX512(s *sums)
TEXT ·dotNativeAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADNATIVE, LOADNATIVEM, 4, DOT, DOTM, NONE, NONE)

// func l2NativeAVX512(s *sums)
TEXT ·l2NativeAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADNATIVE, LOADNATIVEM, 4, L2, L2M, NONE, NONE)

// func squaresNativeAVX512(s *sums)
TEXT ·squaresNativeAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADNATIVE, LOADNATIVEM, 4, SQUARES, SQUARESM, NONE, NONE)

// func dotBigAVX512(s *sums)
TEXT ·dotBigAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADBIG, LOADBIGM, 4, DOT, DOTM, SWAPMASK, NONE)

// func l2BigAVX512(s *sums)
TEXT ·l2BigAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADBIG, LOADBIGM, 4, L2, L2M, SWAPMASK, NONE)

// func squaresBigAVX512(s *sums)
TEXT ·squaresBigAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADBIG, LOADBIGM, 4, SQUARES, SQUARESM, SWAPMASK, NONE)

// func dotHalfAVX512(s *sums)
TEXT ·dotHalfAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADHALF, LOADHALFM, 2, DOT, DOTM, NONE, NONE)

// func l2HalfAVX512(s *sums)
TEXT ·l2HalfAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADHALF, LOADHALFM, 2, L2, L2M, NONE, NONE)

// func squaresHalfAVX512(s *sums)
TEXT ·squaresHalfAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADHALF, LOADHALFM, 2, SQUARES, SQUARESM, NONE, NONE)

// func dotBrainAVX512(s *sums)
TEXT ·dotBrainAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADBRAIN, LOADBRAINM, 2, DOT, DOTM, NONE, NONE)

// func l2BrainAVX512(s *sums)
TEXT ·l2BrainAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADBRAIN, LOADBRAINM, 2, L2, L2M, NONE, NONE)

// func squaresBrainAVX512(s *sums)
TEXT ·squaresBrainAVX512(SB), NOSPLIT, $0-8
	SUMS(LOADBRAIN, LOADBRAINM, 2, SQUARES, SQUARESM, NONE, NONE)

// func dotInt8AVX512(s *sums)
TEXT ·dotInt8AVX512(SB), NOSPLIT, $0-8
	SUMS(LOADINT8, LOADINT8M, 1, DOT, DOTM, NONE, SCALE)

// func l2Int8AVX512(s *sums)
TEXT ·l2Int8AVX512(SB), NOSPLIT, $0-8
	SUMS(LOADINT8, LOADINT8M, 1, L2, L2M, NONE, SCALE)

// func squaresInt8AVX512(s *sums)
TEXT ·squaresInt8AVX512(SB), NOSPLIT, $0-8
	SUMS(LOADINT8, LOADINT8M, 1, SQUARES, SQUARESM, NONE, SCALE)
