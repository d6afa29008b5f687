// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// The source positions of 16 bytes of big-endian floats.
DATA swapMask<>+0(SB)/8, $0x0405060700010203
DATA swapMask<>+8(SB)/8, $0x0c0d0e0f08090a0b
GLOBL swapMask<>(SB), RODATA|NOPTR, $16

// Sums of rows and a query by AVX2 and FMA. SI is the element of the row, DI the element of the query, R12 the scale.
// LOAD widens 8 elements, LOAD1 one element whose other lanes are 0. Four accumulators hide the latency of additions.
// The processor prefetches rows better than instructions did: with PREFETCHT0 2 KiB ahead one query took 1.7 times as long.

#define LOADNATIVE(i, x) VMOVUPS (32*i)(SI), x
#define LOADNATIVE1(x) VMOVSS (SI), x

#define LOADBIG(i, x) VMOVDQU (32*i)(SI), x; VPSHUFB Y15, x, x
#define LOADBIG1(x) VMOVSS (SI), x; VPSHUFB X15, x, x

#define LOADHALF(i, x) VCVTPH2PS (16*i)(SI), x
#define LOADHALF1(x) MOVWLZX (SI), BX; VMOVD BX, x; VCVTPH2PS x, x

#define LOADBRAIN(i, x) VPMOVZXWD (16*i)(SI), x; VPSLLD $16, x, x
#define LOADBRAIN1(x) MOVWLZX (SI), BX; SHLL $16, BX; VMOVD BX, x

#define LOADINT8(i, x) VPMOVSXBD (8*i)(SI), x; VCVTDQ2PS x, x; VMULPS Y15, x, x
#define LOADINT81(x) MOVBLSX (SI), BX; VMOVD BX, x; VCVTDQ2PS x, x; VMULPS X15, x, x

#define DOT(i, x, sum) VFMADD231PS (32*i)(DI), x, sum
#define DOT1(x, y, sum) VMOVSS (DI), X5; VFMADD231PS Y5, y, sum

#define L2(i, x, sum) VSUBPS (32*i)(DI), x, x; VFMADD231PS x, x, sum
#define L21(x, y, sum) VMOVSS (DI), X5; VSUBPS X5, x, x; VFMADD231PS y, y, sum

#define SQUARES(i, x, sum) VFMADD231PS x, x, sum
#define SQUARES1(x, y, sum) VFMADD231PS y, y, sum

// ONCE runs before the first row, EACH before each row.
#define NONE
#define SWAPMASK VBROADCASTI128 swapMask<>(SB), Y15
#define SCALE VBROADCASTSS (R12), Y15; ADDQ $4, R12

#define SUMS(LOAD, LOAD1, SIZE, OP, OP1, ONCE, EACH) \
	MOVQ s+0(FP), AX;        \
	MOVQ 0(AX), DX;          \
	MOVQ 8(AX), R13;         \
	MOVQ 16(AX), R8;         \
	MOVQ 24(AX), R9;         \
	MOVQ 32(AX), R10;        \
	MOVQ 40(AX), R11;        \
	MOVQ 48(AX), R12;        \
	ONCE;                    \
row:                         \
	MOVQ R13, SI;            \
	MOVQ R10, DI;            \
	MOVQ R11, CX;            \
	EACH;                    \
	VXORPS Y0, Y0, Y0;       \
	VXORPS Y1, Y1, Y1;       \
	VXORPS Y2, Y2, Y2;       \
	VXORPS Y3, Y3, Y3;       \
	SUBQ $32, CX;            \
	JB   eights;             \
four:                        \
	LOAD(0, Y4);             \
	LOAD(1, Y5);             \
	LOAD(2, Y6);             \
	LOAD(3, Y7);             \
	OP(0, Y4, Y0);           \
	OP(1, Y5, Y1);           \
	OP(2, Y6, Y2);           \
	OP(3, Y7, Y3);           \
	ADDQ $(32*SIZE), SI;     \
	ADDQ $128, DI;           \
	SUBQ $32, CX;            \
	JAE  four;               \
eights:                      \
	ADDQ $24, CX;            \
	JNC  ones;               \
eight:                       \
	LOAD(0, Y4);             \
	OP(0, Y4, Y0);           \
	ADDQ $(8*SIZE), SI;      \
	ADDQ $32, DI;            \
	SUBQ $8, CX;             \
	JAE  eight;              \
ones:                        \
	ADDQ $8, CX;             \
	JZ   done;               \
one:                         \
	LOAD1(X4);               \
	OP1(X4, Y4, Y0);         \
	ADDQ $SIZE, SI;          \
	ADDQ $4, DI;             \
	DECQ CX;                 \
	JNZ  one;                \
done:                        \
	VADDPS Y1, Y0, Y0;       \
	VADDPS Y3, Y2, Y2;       \
	VADDPS Y2, Y0, Y0;       \
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

// Sums of rows and two queries at a time, each as SUMS computes it. Every row is multiplied with all queries before the
// next one, so that the processor fetches the next row during the arithmetic. AX is the distance of the second query.

#define DOTS(i, x, a, b) VFMADD231PS (32*i)(DI), x, a; VFMADD231PS (32*i)(DI)(AX*1), x, b
#define DOTS1 \
	VMOVSS (DI), X5;         \
	VFMADD231PS Y5, Y4, Y0;  \
	VMOVSS (DI)(AX*1), X5;   \
	VFMADD231PS Y5, Y4, Y8

#define L2S(i, x, a, b) \
	VSUBPS (32*i)(DI), x, Y12;         \
	VFMADD231PS Y12, Y12, a;           \
	VSUBPS (32*i)(DI)(AX*1), x, Y13;   \
	VFMADD231PS Y13, Y13, b
#define L2S1 \
	VMOVSS (DI), X5;         \
	VSUBPS X5, X4, X6;       \
	VFMADD231PS Y6, Y6, Y0;  \
	VMOVSS (DI)(AX*1), X5;   \
	VSUBPS X5, X4, X6;       \
	VFMADD231PS Y6, Y6, Y8

// The second sum is the one of squares.
#define DOTSQUARES(i, x, a, b) VFMADD231PS (32*i)(DI), x, a; VFMADD231PS x, x, b
#define DOTSQUARES1 \
	VMOVSS (DI), X5;         \
	VFMADD231PS Y5, Y4, Y0;  \
	VFMADD231PS Y4, Y4, Y8

// TWO leaves the sums in X0 and X8, and DI at the end of the first query. The labels are its own.
#define TWO(LOAD, LOAD1, SIZE, OP, OP1, four, eights, eight, ones, one, done) \
	MOVQ R13, SI;            \
	MOVQ R11, CX;            \
	VXORPS Y0, Y0, Y0;       \
	VXORPS Y1, Y1, Y1;       \
	VXORPS Y2, Y2, Y2;       \
	VXORPS Y3, Y3, Y3;       \
	VXORPS Y8, Y8, Y8;       \
	VXORPS Y9, Y9, Y9;       \
	VXORPS Y10, Y10, Y10;    \
	VXORPS Y11, Y11, Y11;    \
	SUBQ $32, CX;            \
	JB   eights;             \
four:                        \
	LOAD(0, Y4);             \
	LOAD(1, Y5);             \
	LOAD(2, Y6);             \
	LOAD(3, Y7);             \
	OP(0, Y4, Y0, Y8);       \
	OP(1, Y5, Y1, Y9);       \
	OP(2, Y6, Y2, Y10);      \
	OP(3, Y7, Y3, Y11);      \
	ADDQ $(32*SIZE), SI;     \
	ADDQ $128, DI;           \
	SUBQ $32, CX;            \
	JAE  four;               \
eights:                      \
	ADDQ $24, CX;            \
	JNC  ones;               \
eight:                       \
	LOAD(0, Y4);             \
	OP(0, Y4, Y0, Y8);       \
	ADDQ $(8*SIZE), SI;      \
	ADDQ $32, DI;            \
	SUBQ $8, CX;             \
	JAE  eight;              \
ones:                        \
	ADDQ $8, CX;             \
	JZ   done;               \
one:                         \
	LOAD1(X4);               \
	OP1;                     \
	ADDQ $SIZE, SI;          \
	ADDQ $4, DI;             \
	DECQ CX;                 \
	JNZ  one;                \
done:                        \
	VADDPS Y1, Y0, Y0;       \
	VADDPS Y3, Y2, Y2;       \
	VADDPS Y2, Y0, Y0;       \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0;       \
	VMOVHLPS X0, X0, X1;     \
	VADDPS X1, X0, X0;       \
	VMOVSHDUP X0, X1;        \
	VADDSS X1, X0, X0;       \
	VADDPS Y9, Y8, Y8;       \
	VADDPS Y11, Y10, Y10;    \
	VADDPS Y10, Y8, Y8;      \
	VEXTRACTF128 $1, Y8, X9; \
	VADDPS X9, X8, X8;       \
	VMOVHLPS X8, X8, X9;     \
	VADDPS X9, X8, X8;       \
	VMOVSHDUP X8, X9;        \
	VADDSS X9, X8, X8

#define BEGIN(ONCE) \
	MOVQ s+0(FP), BX;        \
	MOVQ 0(BX), DX;          \
	MOVQ 8(BX), R13;         \
	MOVQ 16(BX), R8;         \
	MOVQ 24(BX), R9;         \
	MOVQ 32(BX), R10;        \
	MOVQ 40(BX), R11;        \
	MOVQ 48(BX), R12;        \
	MOVQ 64(BX), R15;        \
	MOVQ R11, AX;            \
	SHLQ $2, AX;             \
	ONCE

// FIRST runs before the pairs of each row. R14 counts the pairs.
#define PAIRS(LOAD, LOAD1, SIZE, OP, OP1, ONCE, EACH, FIRST) \
	BEGIN(ONCE);             \
row:                         \
	EACH;                    \
	MOVQ s+0(FP), BX;        \
	MOVQ 56(BX), R14;        \
	MOVQ R10, DI;            \
	FIRST;                   \
	TESTQ R14, R14;          \
	JZ   next;               \
pair:                        \
	TWO(LOAD, LOAD1, SIZE, OP, OP1, four, eights, eight, ones, one, done); \
	VMOVSS X0, (DX);         \
	VMOVSS X8, 4(DX);        \
	ADDQ $8, DX;             \
	ADDQ AX, DI;             \
	DECQ R14;                \
	JNZ  pair;               \
next:                        \
	ADDQ R8, R13;            \
	DECQ R9;                 \
	JNZ  row;                \
	VZEROUPPER;              \
	RET

// The product with the first query, and the squares.
#define SQUARED(LOAD, LOAD1, SIZE) \
	TWO(LOAD, LOAD1, SIZE, DOTSQUARES, DOTSQUARES1, fours, eightss, eights1, oness, ones1, dones); \
	VMOVSS X0, (DX);         \
	VMOVSS X8, (R15);        \
	ADDQ $4, DX;             \
	ADDQ $4, R15

// Conversion of a row.
#define WIDEN(LOAD, LOAD1, SIZE, ONCE) \
	MOVQ dst+0(FP), DI;        \
	MOVQ src+8(FP), SI;        \
	MOVQ n+16(FP), CX;         \
	LEAQ scale+24(FP), R12;    \
	ONCE;                      \
	SUBQ $32, CX;              \
	JB   eights;               \
four:                          \
	LOAD(0, Y4);               \
	LOAD(1, Y5);               \
	LOAD(2, Y6);               \
	LOAD(3, Y7);               \
	VMOVUPS Y4, (DI);          \
	VMOVUPS Y5, 32(DI);        \
	VMOVUPS Y6, 64(DI);        \
	VMOVUPS Y7, 96(DI);        \
	ADDQ $(32*SIZE), SI;       \
	ADDQ $128, DI;             \
	SUBQ $32, CX;              \
	JAE  four;                 \
eights:                        \
	ADDQ $24, CX;              \
	JNC  ones;                 \
eight:                         \
	LOAD(0, Y4);               \
	VMOVUPS Y4, (DI);          \
	ADDQ $(8*SIZE), SI;        \
	ADDQ $32, DI;              \
	SUBQ $8, CX;               \
	JAE  eight;                \
ones:                          \
	ADDQ $8, CX;               \
	JZ   done;                 \
one:                           \
	LOAD1(X4);                 \
	VMOVSS X4, (DI);           \
	ADDQ $SIZE, SI;            \
	ADDQ $4, DI;               \
	DECQ CX;                   \
	JNZ  one;                  \
done:                          \
	VZEROUPPER;                \
	RET

// func dotNativeAVX2(s *sums)
TEXT ·dotNativeAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADNATIVE, LOADNATIVE1, 4, DOT, DOT1, NONE, NONE)

// func l2NativeAVX2(s *sums)
TEXT ·l2NativeAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADNATIVE, LOADNATIVE1, 4, L2, L21, NONE, NONE)

// func squaresNativeAVX2(s *sums)
TEXT ·squaresNativeAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADNATIVE, LOADNATIVE1, 4, SQUARES, SQUARES1, NONE, NONE)

// func dotBigAVX2(s *sums)
TEXT ·dotBigAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADBIG, LOADBIG1, 4, DOT, DOT1, SWAPMASK, NONE)

// func l2BigAVX2(s *sums)
TEXT ·l2BigAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADBIG, LOADBIG1, 4, L2, L21, SWAPMASK, NONE)

// func squaresBigAVX2(s *sums)
TEXT ·squaresBigAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADBIG, LOADBIG1, 4, SQUARES, SQUARES1, SWAPMASK, NONE)

// func dotHalfAVX2(s *sums)
TEXT ·dotHalfAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADHALF, LOADHALF1, 2, DOT, DOT1, NONE, NONE)

// func l2HalfAVX2(s *sums)
TEXT ·l2HalfAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADHALF, LOADHALF1, 2, L2, L21, NONE, NONE)

// func squaresHalfAVX2(s *sums)
TEXT ·squaresHalfAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADHALF, LOADHALF1, 2, SQUARES, SQUARES1, NONE, NONE)

// func dotBrainAVX2(s *sums)
TEXT ·dotBrainAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADBRAIN, LOADBRAIN1, 2, DOT, DOT1, NONE, NONE)

// func l2BrainAVX2(s *sums)
TEXT ·l2BrainAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADBRAIN, LOADBRAIN1, 2, L2, L21, NONE, NONE)

// func squaresBrainAVX2(s *sums)
TEXT ·squaresBrainAVX2(SB), NOSPLIT, $0-8
	SUMS(LOADBRAIN, LOADBRAIN1, 2, SQUARES, SQUARES1, NONE, NONE)

// func dotInt8AVX2(s *sums)
TEXT ·dotInt8AVX2(SB), NOSPLIT, $0-8
	SUMS(LOADINT8, LOADINT81, 1, DOT, DOT1, NONE, SCALE)

// func l2Int8AVX2(s *sums)
TEXT ·l2Int8AVX2(SB), NOSPLIT, $0-8
	SUMS(LOADINT8, LOADINT81, 1, L2, L21, NONE, SCALE)

// func squaresInt8AVX2(s *sums)
TEXT ·squaresInt8AVX2(SB), NOSPLIT, $0-8
	SUMS(LOADINT8, LOADINT81, 1, SQUARES, SQUARES1, NONE, SCALE)

// func widenBigAVX2(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenBigAVX2(SB), NOSPLIT, $0-28
	WIDEN(LOADBIG, LOADBIG1, 4, SWAPMASK)

// func widenHalfAVX2(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenHalfAVX2(SB), NOSPLIT, $0-28
	WIDEN(LOADHALF, LOADHALF1, 2, NONE)

// func widenBrainAVX2(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenBrainAVX2(SB), NOSPLIT, $0-28
	WIDEN(LOADBRAIN, LOADBRAIN1, 2, NONE)

// func widenInt8AVX2(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenInt8AVX2(SB), NOSPLIT, $0-28
	WIDEN(LOADINT8, LOADINT81, 1, SCALE)

// func dotsNativeAVX2(s *sums)
TEXT ·dotsNativeAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADNATIVE, LOADNATIVE1, 4, DOTS, DOTS1, NONE, NONE, NONE)

// func l2sNativeAVX2(s *sums)
TEXT ·l2sNativeAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADNATIVE, LOADNATIVE1, 4, L2S, L2S1, NONE, NONE, NONE)

// func cosinesNativeAVX2(s *sums)
TEXT ·cosinesNativeAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADNATIVE, LOADNATIVE1, 4, DOTS, DOTS1, NONE, NONE, SQUARED(LOADNATIVE, LOADNATIVE1, 4))

// func dotsBigAVX2(s *sums)
TEXT ·dotsBigAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADBIG, LOADBIG1, 4, DOTS, DOTS1, SWAPMASK, NONE, NONE)

// func l2sBigAVX2(s *sums)
TEXT ·l2sBigAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADBIG, LOADBIG1, 4, L2S, L2S1, SWAPMASK, NONE, NONE)

// func cosinesBigAVX2(s *sums)
TEXT ·cosinesBigAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADBIG, LOADBIG1, 4, DOTS, DOTS1, SWAPMASK, NONE, SQUARED(LOADBIG, LOADBIG1, 4))

// func dotsHalfAVX2(s *sums)
TEXT ·dotsHalfAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADHALF, LOADHALF1, 2, DOTS, DOTS1, NONE, NONE, NONE)

// func l2sHalfAVX2(s *sums)
TEXT ·l2sHalfAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADHALF, LOADHALF1, 2, L2S, L2S1, NONE, NONE, NONE)

// func cosinesHalfAVX2(s *sums)
TEXT ·cosinesHalfAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADHALF, LOADHALF1, 2, DOTS, DOTS1, NONE, NONE, SQUARED(LOADHALF, LOADHALF1, 2))

// func dotsBrainAVX2(s *sums)
TEXT ·dotsBrainAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADBRAIN, LOADBRAIN1, 2, DOTS, DOTS1, NONE, NONE, NONE)

// func l2sBrainAVX2(s *sums)
TEXT ·l2sBrainAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADBRAIN, LOADBRAIN1, 2, L2S, L2S1, NONE, NONE, NONE)

// func cosinesBrainAVX2(s *sums)
TEXT ·cosinesBrainAVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADBRAIN, LOADBRAIN1, 2, DOTS, DOTS1, NONE, NONE, SQUARED(LOADBRAIN, LOADBRAIN1, 2))

// func dotsInt8AVX2(s *sums)
TEXT ·dotsInt8AVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADINT8, LOADINT81, 1, DOTS, DOTS1, NONE, SCALE, NONE)

// func l2sInt8AVX2(s *sums)
TEXT ·l2sInt8AVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADINT8, LOADINT81, 1, L2S, L2S1, NONE, SCALE, NONE)

// func cosinesInt8AVX2(s *sums)
TEXT ·cosinesInt8AVX2(SB), NOSPLIT, $0-8
	PAIRS(LOADINT8, LOADINT81, 1, DOTS, DOTS1, NONE, SCALE, SQUARED(LOADINT8, LOADINT81, 1))
