// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Sums of rows and a query by NEON. R1 is the element of the row, R2 the element of the query, V31 ones, by which an
// addition or subtraction is a fused multiplication. Eight accumulators, V0 to V7, hide its latency.

#define NONE

#define QUERY4 VLD1.P 64(R2), [V24.S4, V25.S4, V26.S4, V27.S4]
#define QUERY1 VLD1.P 16(R2), [V24.S4]
#define QUERY FMOVS.P 4(R2), F24

#define SWAP(x) VREV32 x.B16, x.B16

#define DOT(x, q, sum) VFMLA x.S4, q.S4, sum.S4
#define L2(x, q, sum) VFMLS V31.S4, q.S4, x.S4; VFMLA x.S4, x.S4, sum.S4
#define SQUARES(x, q, sum) VFMLA x.S4, x.S4, sum.S4

#define KEEP(x)

#define PLUS(x, sum) VFMLA V31.S4, x.S4, sum.S4

#define SUMS(ORDER, OP, LOAD4, LOAD1, LOAD) \
	MOVD s+0(FP), R0;          \
	MOVD 0(R0), R3;            \
	MOVD 8(R0), R4;            \
	MOVD 16(R0), R5;           \
	MOVD 24(R0), R6;           \
	MOVD 32(R0), R7;           \
	MOVD 40(R0), R8;           \
	FMOVS $1.0, F31;           \
	VDUP V31.S[0], V31.S4;     \
row:                           \
	MOVD R4, R1;               \
	MOVD R7, R2;               \
	MOVD R8, R9;               \
	VEOR V0.B16, V0.B16, V0.B16; \
	VEOR V1.B16, V1.B16, V1.B16; \
	VEOR V2.B16, V2.B16, V2.B16; \
	VEOR V3.B16, V3.B16, V3.B16; \
	VEOR V4.B16, V4.B16, V4.B16; \
	VEOR V5.B16, V5.B16, V5.B16; \
	VEOR V6.B16, V6.B16, V6.B16; \
	VEOR V7.B16, V7.B16, V7.B16; \
	SUBS $32, R9, R9;          \
	BLT  fours;                \
eight:                         \
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]; \
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]; \
	LOAD4;                     \
	ORDER(V16);                \
	ORDER(V17);                \
	ORDER(V18);                \
	ORDER(V19);                \
	OP(V16, V24, V0);          \
	OP(V17, V25, V1);          \
	OP(V18, V26, V2);          \
	OP(V19, V27, V3);          \
	LOAD4;                     \
	ORDER(V20);                \
	ORDER(V21);                \
	ORDER(V22);                \
	ORDER(V23);                \
	OP(V20, V24, V4);          \
	OP(V21, V25, V5);          \
	OP(V22, V26, V6);          \
	OP(V23, V27, V7);          \
	SUBS $32, R9, R9;          \
	BGE  eight;                \
fours:                         \
	ADDS $28, R9, R9;          \
	BLT  ones;                 \
four:                          \
	VLD1.P 16(R1), [V16.S4];   \
	LOAD1;                     \
	ORDER(V16);                \
	OP(V16, V24, V0);          \
	SUBS $4, R9, R9;           \
	BGE  four;                 \
ones:                          \
	ADDS $4, R9, R9;           \
	BEQ  done;                 \
one:                           \
	FMOVS.P 4(R1), F16;        \
	LOAD;                      \
	ORDER(V16);                \
	OP(V16, V24, V1);          \
	SUBS $1, R9, R9;           \
	BNE  one;                  \
done:                          \
	PLUS(V1, V0);               \
	PLUS(V3, V2);               \
	PLUS(V5, V4);               \
	PLUS(V7, V6);               \
	PLUS(V2, V0);               \
	PLUS(V6, V4);               \
	PLUS(V4, V0);               \
	VDUP V0.S[1], V1.S4;       \
	VDUP V0.S[2], V2.S4;       \
	VDUP V0.S[3], V3.S4;       \
	FADDS F1, F0, F0;          \
	FADDS F3, F2, F2;          \
	FADDS F2, F0, F0;          \
	FMOVS.P F0, 4(R3);         \
	ADD  R5, R4, R4;           \
	SUBS $1, R6, R6;           \
	BNE  row;                  \
	RET

// func dotNativeNEON(s *sums)
TEXT ·dotNativeNEON(SB), NOSPLIT, $0-8
	SUMS(KEEP, DOT, QUERY4, QUERY1, QUERY)

// func l2NativeNEON(s *sums)
TEXT ·l2NativeNEON(SB), NOSPLIT, $0-8
	SUMS(KEEP, L2, QUERY4, QUERY1, QUERY)

// func squaresNativeNEON(s *sums)
TEXT ·squaresNativeNEON(SB), NOSPLIT, $0-8
	SUMS(KEEP, SQUARES, NONE, NONE, NONE)

// func dotBigNEON(s *sums)
TEXT ·dotBigNEON(SB), NOSPLIT, $0-8
	SUMS(SWAP, DOT, QUERY4, QUERY1, QUERY)

// func l2BigNEON(s *sums)
TEXT ·l2BigNEON(SB), NOSPLIT, $0-8
	SUMS(SWAP, L2, QUERY4, QUERY1, QUERY)

// func squaresBigNEON(s *sums)
TEXT ·squaresBigNEON(SB), NOSPLIT, $0-8
	SUMS(SWAP, SQUARES, NONE, NONE, NONE)
