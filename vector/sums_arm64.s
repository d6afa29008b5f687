// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Sums of rows and a query by NEON. R1 is the element of the row, R2 the element of the query, V31 ones, by which an
// addition or subtraction is a fused multiplication. Eight accumulators, V0 to V7, hide its latency. V8 is the scale of
// Int8, V9 zero. WORDs are instructions that the assembler lacks.

#define NONE

#define QUERY4 VLD1.P 64(R2), [V24.S4, V25.S4, V26.S4, V27.S4]
#define QUERY1 VLD1.P 16(R2), [V24.S4]
#define QUERY FMOVS.P 4(R2), F24

#define SCALE FMOVS.P 4(R11), F8; VDUP V8.S[0], V8.S4

// Loads of 16 elements to V16 to V19, of 4 elements to V16, and of one element to V16 whose other lanes are 0.
#define NATIVE16 VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
#define NATIVE4 VLD1.P 16(R1), [V16.S4]
#define NATIVE1 FMOVS.P 4(R1), F16

#define BIG16 \
	NATIVE16;              \
	VREV32 V16.B16, V16.B16; \
	VREV32 V17.B16, V17.B16; \
	VREV32 V18.B16, V18.B16; \
	VREV32 V19.B16, V19.B16
#define BIG4 NATIVE4; VREV32 V16.B16, V16.B16
#define BIG1 NATIVE1; VREV32 V16.B16, V16.B16

#define HALF16 \
	VLD1.P 32(R1), [V28.H8, V29.H8]; \
	WORD $0x0e217b90;                /* FCVTL V16.4S, V28.4H */ \
	WORD $0x4e217b91;                /* FCVTL2 V17.4S, V28.8H */ \
	WORD $0x0e217bb2;                /* FCVTL V18.4S, V29.4H */ \
	WORD $0x4e217bb3                 /* FCVTL2 V19.4S, V29.8H */

#define HALF4 \
	FMOVD.P 8(R1), F28; \
	WORD $0x0e217b90    /* FCVTL V16.4S, V28.4H */

#define HALF1 MOVHU.P 2(R1), R10; FMOVS R10, F16; FCVTHS F16, F16

#define BRAIN16 \
	VLD1.P 32(R1), [V28.H8, V29.H8]; \
	VZIP1 V28.H8, V9.H8, V16.H8;     \
	VZIP2 V28.H8, V9.H8, V17.H8;     \
	VZIP1 V29.H8, V9.H8, V18.H8;     \
	VZIP2 V29.H8, V9.H8, V19.H8
#define BRAIN4 FMOVD.P 8(R1), F28; VZIP1 V28.H8, V9.H8, V16.H8
#define BRAIN1 MOVHU.P 2(R1), R10; LSL $16, R10, R10; FMOVS R10, F16

#define INT816 \
	VLD1.P 16(R1), [V28.B16]; \
	WORD $0x0f08a79d;         /* SSHLL V29.8H, V28.8B, #0 */ \
	WORD $0x4f08a79e;         /* SSHLL2 V30.8H, V28.16B, #0 */ \
	WORD $0x0f10a7b0;         /* SSHLL V16.4S, V29.4H, #0 */ \
	WORD $0x4f10a7b1;         /* SSHLL2 V17.4S, V29.8H, #0 */ \
	WORD $0x0f10a7d2;         /* SSHLL V18.4S, V30.4H, #0 */ \
	WORD $0x4f10a7d3;         /* SSHLL2 V19.4S, V30.8H, #0 */ \
	WORD $0x4e21da10;         /* SCVTF V16.4S, V16.4S */ \
	WORD $0x4e21da31;         /* SCVTF V17.4S, V17.4S */ \
	WORD $0x4e21da52;         /* SCVTF V18.4S, V18.4S */ \
	WORD $0x4e21da73;         /* SCVTF V19.4S, V19.4S */ \
	WORD $0x6e28de10;         /* FMUL V16.4S, V16.4S, V8.4S */ \
	WORD $0x6e28de31;         /* FMUL V17.4S, V17.4S, V8.4S */ \
	WORD $0x6e28de52;         /* FMUL V18.4S, V18.4S, V8.4S */ \
	WORD $0x6e28de73          /* FMUL V19.4S, V19.4S, V8.4S */

#define INT84 \
	FMOVS.P 4(R1), F28; \
	WORD $0x0f08a79d;   /* SSHLL V29.8H, V28.8B, #0 */ \
	WORD $0x0f10a7b0;   /* SSHLL V16.4S, V29.4H, #0 */ \
	WORD $0x4e21da10;   /* SCVTF V16.4S, V16.4S */ \
	WORD $0x6e28de10    /* FMUL V16.4S, V16.4S, V8.4S */

#define INT81 MOVB.P 1(R1), R10; SCVTFWS R10, F16; FMULS F8, F16, F16

#define DOT(x, q, sum) VFMLA x.S4, q.S4, sum.S4
#define L2(x, q, sum) VFMLS V31.S4, q.S4, x.S4; VFMLA x.S4, x.S4, sum.S4
#define SQUARES(x, q, sum) VFMLA x.S4, x.S4, sum.S4

#define PLUS(x, sum) VFMLA V31.S4, x.S4, sum.S4

// EACH runs before each row.
#define SUMS(LOAD16, LOAD4, LOAD1, EACH, OP, QUERY4, QUERY1, QUERY) \
	MOVD s+0(FP), R0;          \
	MOVD 0(R0), R3;            \
	MOVD 8(R0), R4;            \
	MOVD 16(R0), R5;           \
	MOVD 24(R0), R6;           \
	MOVD 32(R0), R7;           \
	MOVD 40(R0), R8;           \
	MOVD 48(R0), R11;          \
	FMOVS $1.0, F31;           \
	VDUP V31.S[0], V31.S4;     \
	VEOR V9.B16, V9.B16, V9.B16; \
row:                           \
	MOVD R4, R1;               \
	MOVD R7, R2;               \
	MOVD R8, R9;               \
	EACH;                      \
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
	LOAD16;                    \
	QUERY4;                    \
	OP(V16, V24, V0);          \
	OP(V17, V25, V1);          \
	OP(V18, V26, V2);          \
	OP(V19, V27, V3);          \
	LOAD16;                    \
	QUERY4;                    \
	OP(V16, V24, V4);          \
	OP(V17, V25, V5);          \
	OP(V18, V26, V6);          \
	OP(V19, V27, V7);          \
	SUBS $32, R9, R9;          \
	BGE  eight;                \
fours:                         \
	ADDS $28, R9, R9;          \
	BLT  ones;                 \
four:                          \
	LOAD4;                     \
	QUERY1;                    \
	OP(V16, V24, V0);          \
	SUBS $4, R9, R9;           \
	BGE  four;                 \
ones:                          \
	ADDS $4, R9, R9;           \
	BEQ  done;                 \
one:                           \
	LOAD1;                     \
	QUERY;                     \
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

// Conversion of a row.
#define WIDEN(LOAD16, LOAD4, LOAD1, EACH) \
	MOVD dst+0(FP), R3;        \
	MOVD src+8(FP), R1;        \
	MOVD n+16(FP), R9;         \
	MOVD $scale+24(FP), R11;   \
	VEOR V9.B16, V9.B16, V9.B16; \
	EACH;                      \
	SUBS $16, R9, R9;          \
	BLT  fours;                \
sixteen:                       \
	LOAD16;                    \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R3); \
	SUBS $16, R9, R9;          \
	BGE  sixteen;              \
fours:                         \
	ADDS $12, R9, R9;          \
	BLT  ones;                 \
four:                          \
	LOAD4;                     \
	VST1.P [V16.S4], 16(R3);   \
	SUBS $4, R9, R9;           \
	BGE  four;                 \
ones:                          \
	ADDS $4, R9, R9;           \
	BEQ  done;                 \
one:                           \
	LOAD1;                     \
	FMOVS.P F16, 4(R3);        \
	SUBS $1, R9, R9;           \
	BNE  one;                  \
done:                          \
	RET

// func dotNativeNEON(s *sums)
TEXT ·dotNativeNEON(SB), NOSPLIT, $0-8
	SUMS(NATIVE16, NATIVE4, NATIVE1, NONE, DOT, QUERY4, QUERY1, QUERY)

// func l2NativeNEON(s *sums)
TEXT ·l2NativeNEON(SB), NOSPLIT, $0-8
	SUMS(NATIVE16, NATIVE4, NATIVE1, NONE, L2, QUERY4, QUERY1, QUERY)

// func squaresNativeNEON(s *sums)
TEXT ·squaresNativeNEON(SB), NOSPLIT, $0-8
	SUMS(NATIVE16, NATIVE4, NATIVE1, NONE, SQUARES, NONE, NONE, NONE)

// func dotBigNEON(s *sums)
TEXT ·dotBigNEON(SB), NOSPLIT, $0-8
	SUMS(BIG16, BIG4, BIG1, NONE, DOT, QUERY4, QUERY1, QUERY)

// func l2BigNEON(s *sums)
TEXT ·l2BigNEON(SB), NOSPLIT, $0-8
	SUMS(BIG16, BIG4, BIG1, NONE, L2, QUERY4, QUERY1, QUERY)

// func squaresBigNEON(s *sums)
TEXT ·squaresBigNEON(SB), NOSPLIT, $0-8
	SUMS(BIG16, BIG4, BIG1, NONE, SQUARES, NONE, NONE, NONE)

// func dotHalfNEON(s *sums)
TEXT ·dotHalfNEON(SB), NOSPLIT, $0-8
	SUMS(HALF16, HALF4, HALF1, NONE, DOT, QUERY4, QUERY1, QUERY)

// func l2HalfNEON(s *sums)
TEXT ·l2HalfNEON(SB), NOSPLIT, $0-8
	SUMS(HALF16, HALF4, HALF1, NONE, L2, QUERY4, QUERY1, QUERY)

// func squaresHalfNEON(s *sums)
TEXT ·squaresHalfNEON(SB), NOSPLIT, $0-8
	SUMS(HALF16, HALF4, HALF1, NONE, SQUARES, NONE, NONE, NONE)

// func dotBrainNEON(s *sums)
TEXT ·dotBrainNEON(SB), NOSPLIT, $0-8
	SUMS(BRAIN16, BRAIN4, BRAIN1, NONE, DOT, QUERY4, QUERY1, QUERY)

// func l2BrainNEON(s *sums)
TEXT ·l2BrainNEON(SB), NOSPLIT, $0-8
	SUMS(BRAIN16, BRAIN4, BRAIN1, NONE, L2, QUERY4, QUERY1, QUERY)

// func squaresBrainNEON(s *sums)
TEXT ·squaresBrainNEON(SB), NOSPLIT, $0-8
	SUMS(BRAIN16, BRAIN4, BRAIN1, NONE, SQUARES, NONE, NONE, NONE)

// func dotInt8NEON(s *sums)
TEXT ·dotInt8NEON(SB), NOSPLIT, $0-8
	SUMS(INT816, INT84, INT81, SCALE, DOT, QUERY4, QUERY1, QUERY)

// func l2Int8NEON(s *sums)
TEXT ·l2Int8NEON(SB), NOSPLIT, $0-8
	SUMS(INT816, INT84, INT81, SCALE, L2, QUERY4, QUERY1, QUERY)

// func squaresInt8NEON(s *sums)
TEXT ·squaresInt8NEON(SB), NOSPLIT, $0-8
	SUMS(INT816, INT84, INT81, SCALE, SQUARES, NONE, NONE, NONE)

// func widenBigNEON(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenBigNEON(SB), NOSPLIT, $0-28
	WIDEN(BIG16, BIG4, BIG1, NONE)

// func widenHalfNEON(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenHalfNEON(SB), NOSPLIT, $0-28
	WIDEN(HALF16, HALF4, HALF1, NONE)

// func widenBrainNEON(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenBrainNEON(SB), NOSPLIT, $0-28
	WIDEN(BRAIN16, BRAIN4, BRAIN1, NONE)

// func widenInt8NEON(dst *float32, src *byte, n uintptr, scale float32)
TEXT ·widenInt8NEON(SB), NOSPLIT, $0-28
	WIDEN(INT816, INT84, INT81, SCALE)
