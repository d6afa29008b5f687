// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Sums of bytes: integer sums of rows of Int8 and a query in the same format, and differing bits. Four rows, R10 to R13,
// are computed at a time, so that they share the loads of the query and the additions at the end. R9 is the number of
// bytes that are left, R2 the query, R3 the destination, R6 the number of rows that are left. If fewer than four are
// left, the last one is computed again. V16 is the query, V17 to V20 are the rows, V0 to V3 their sums. WORDs are
// instructions that the assembler lacks.

#define NONE

#define DOT \
	WORD $0x4e909620; /* SDOT V0.4S, V17.16B, V16.16B */ \
	WORD $0x4e909641; /* SDOT V1.4S, V18.16B, V16.16B */ \
	WORD $0x4e909662; /* SDOT V2.4S, V19.16B, V16.16B */ \
	WORD $0x4e909683  /* SDOT V3.4S, V20.16B, V16.16B */

#define MUL \
	WORD $0x0e30c235; /* SMULL V21.8H, V17.8B, V16.8B */ \
	WORD $0x0e30c256; /* SMULL V22.8H, V18.8B, V16.8B */ \
	WORD $0x0e30c277; /* SMULL V23.8H, V19.8B, V16.8B */ \
	WORD $0x0e30c298; /* SMULL V24.8H, V20.8B, V16.8B */ \
	WORD $0x4e606aa0; /* SADALP V0.4S, V21.8H */ \
	WORD $0x4e606ac1; /* SADALP V1.4S, V22.8H */ \
	WORD $0x4e606ae2; /* SADALP V2.4S, V23.8H */ \
	WORD $0x4e606b03; /* SADALP V3.4S, V24.8H */ \
	WORD $0x4e30c235; /* SMULL2 V21.8H, V17.16B, V16.16B */ \
	WORD $0x4e30c256; /* SMULL2 V22.8H, V18.16B, V16.16B */ \
	WORD $0x4e30c277; /* SMULL2 V23.8H, V19.16B, V16.16B */ \
	WORD $0x4e30c298; /* SMULL2 V24.8H, V20.16B, V16.16B */ \
	WORD $0x4e606aa0; /* SADALP V0.4S, V21.8H */ \
	WORD $0x4e606ac1; /* SADALP V1.4S, V22.8H */ \
	WORD $0x4e606ae2; /* SADALP V2.4S, V23.8H */ \
	WORD $0x4e606b03  /* SADALP V3.4S, V24.8H */

#define SQUARES \
	WORD $0x0e31c235; /* SMULL V21.8H, V17.8B, V17.8B */ \
	WORD $0x0e32c256; /* SMULL V22.8H, V18.8B, V18.8B */ \
	WORD $0x0e33c277; /* SMULL V23.8H, V19.8B, V19.8B */ \
	WORD $0x0e34c298; /* SMULL V24.8H, V20.8B, V20.8B */ \
	WORD $0x4e606aa0; /* SADALP V0.4S, V21.8H */ \
	WORD $0x4e606ac1; /* SADALP V1.4S, V22.8H */ \
	WORD $0x4e606ae2; /* SADALP V2.4S, V23.8H */ \
	WORD $0x4e606b03; /* SADALP V3.4S, V24.8H */ \
	WORD $0x4e31c235; /* SMULL2 V21.8H, V17.16B, V17.16B */ \
	WORD $0x4e32c256; /* SMULL2 V22.8H, V18.16B, V18.16B */ \
	WORD $0x4e33c277; /* SMULL2 V23.8H, V19.16B, V19.16B */ \
	WORD $0x4e34c298; /* SMULL2 V24.8H, V20.16B, V20.16B */ \
	WORD $0x4e606aa0; /* SADALP V0.4S, V21.8H */ \
	WORD $0x4e606ac1; /* SADALP V1.4S, V22.8H */ \
	WORD $0x4e606ae2; /* SADALP V2.4S, V23.8H */ \
	WORD $0x4e606b03  /* SADALP V3.4S, V24.8H */

#define BITS \
	VEOR V16.B16, V17.B16, V17.B16; \
	VEOR V16.B16, V18.B16, V18.B16; \
	VEOR V16.B16, V19.B16, V19.B16; \
	VEOR V16.B16, V20.B16, V20.B16; \
	VCNT V17.B16, V17.B16; \
	VCNT V18.B16, V18.B16; \
	VCNT V19.B16, V19.B16; \
	VCNT V20.B16, V20.B16; \
	WORD $0x6e202a31;               /* UADDLP V17.8H, V17.16B */ \
	WORD $0x6e202a52;               /* UADDLP V18.8H, V18.16B */ \
	WORD $0x6e202a73;               /* UADDLP V19.8H, V19.16B */ \
	WORD $0x6e202a94;               /* UADDLP V20.8H, V20.16B */ \
	WORD $0x6e606a20;               /* UADALP V0.4S, V17.8H */ \
	WORD $0x6e606a41;               /* UADALP V1.4S, V18.8H */ \
	WORD $0x6e606a62;               /* UADALP V2.4S, V19.8H */ \
	WORD $0x6e606a83                /* UADALP V3.4S, V20.8H */

#define FLOATS \
	WORD $0x6e21d800  /* UCVTF V0.4S, V0.4S */

#define QUERY16 VLD1.P 16(R2), [V16.B16]
#define QUERY1 MOVBU.P 1(R2), R14; FMOVS R14, F16

#define SUMS(LOAD16, LOAD1, OP, END) \
	MOVD s+0(FP), R0;          \
	MOVD 0(R0), R3;            \
	MOVD 8(R0), R4;            \
	MOVD 16(R0), R5;           \
	MOVD 24(R0), R6;           \
	MOVD 32(R0), R7;           \
	MOVD 40(R0), R8;           \
group:                         \
	MOVD R4, R10;              \
	ADD  R5, R10, R11;         \
	CMP  $2, R6;               \
	CSEL LT, R10, R11, R11;    \
	ADD  R5, R11, R12;         \
	CMP  $3, R6;               \
	CSEL LT, R11, R12, R12;    \
	ADD  R5, R12, R13;         \
	CMP  $4, R6;               \
	CSEL LT, R12, R13, R13;    \
	MOVD R7, R2;               \
	VEOR V0.B16, V0.B16, V0.B16; \
	VEOR V1.B16, V1.B16, V1.B16; \
	VEOR V2.B16, V2.B16, V2.B16; \
	VEOR V3.B16, V3.B16, V3.B16; \
	SUBS $16, R8, R9;          \
	BLT  ones;                 \
sixteen:                       \
	LOAD16;                    \
	VLD1.P 16(R10), [V17.B16]; \
	VLD1.P 16(R11), [V18.B16]; \
	VLD1.P 16(R12), [V19.B16]; \
	VLD1.P 16(R13), [V20.B16]; \
	OP;                        \
	SUBS $16, R9, R9;          \
	BGE  sixteen;              \
ones:                          \
	ADDS $16, R9, R9;          \
	BEQ  add;                  \
one:                           \
	LOAD1;                     \
	MOVBU.P 1(R10), R14;       \
	MOVBU.P 1(R11), R15;       \
	MOVBU.P 1(R12), R16;       \
	MOVBU.P 1(R13), R17;       \
	FMOVS R14, F17;            \
	FMOVS R15, F18;            \
	FMOVS R16, F19;            \
	FMOVS R17, F20;            \
	OP;                        \
	SUBS $1, R9, R9;           \
	BNE  one;                  \
add:                           \
	VADDP V1.S4, V0.S4, V0.S4; \
	VADDP V3.S4, V2.S4, V2.S4; \
	VADDP V2.S4, V0.S4, V0.S4; \
	END;                       \
	CMP  $4, R6;               \
	BLT  few;                  \
	VST1.P [V0.S4], 16(R3);    \
	ADD  R5<<2, R4, R4;        \
	SUBS $4, R6, R6;           \
	BNE  group;                \
	RET;                       \
few:                           \
	FMOVS.P F0, 4(R3);         \
	VEXT $4, V0.B16, V0.B16, V0.B16; \
	SUBS $1, R6, R6;           \
	BNE  few;                  \
	RET

// func dotBytesDOTPROD(s *sums)
TEXT ·dotBytesDOTPROD(SB), NOSPLIT, $0-8
	SUMS(QUERY16, QUERY1, DOT, NONE)

// func dotBytesNEON(s *sums)
TEXT ·dotBytesNEON(SB), NOSPLIT, $0-8
	SUMS(QUERY16, QUERY1, MUL, NONE)

// func squaresBytesNEON(s *sums)
TEXT ·squaresBytesNEON(SB), NOSPLIT, $0-8
	SUMS(NONE, NONE, SQUARES, NONE)

// func hammingNEON(s *sums)
// dim is in bytes.
TEXT ·hammingNEON(SB), NOSPLIT, $0-8
	SUMS(QUERY16, QUERY1, BITS, FLOATS)
