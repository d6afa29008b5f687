// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Sums of bytes: integer sums of rows of Int8 and a query in the same format, and differing bits. Four rows, SI, R9, R10
// and R12, are computed at a time, so that they share the loads of the query and the additions at the end. BX is the
// index, DI the query, DX the destination, CX the number of rows that are left. If fewer than four are left, the last one
// is computed again.

#define ARGUMENTS \
	MOVQ s+0(FP), AX;  \
	MOVQ 0(AX), DX;    \
	MOVQ 8(AX), SI;    \
	MOVQ 16(AX), R8;   \
	MOVQ 24(AX), CX;   \
	MOVQ 32(AX), DI;   \
	MOVQ 40(AX), R11

#define ROWS \
	LEAQ (SI)(R8*1), R9;   \
	CMPQ CX, $2;           \
	CMOVQLT SI, R9;        \
	LEAQ (R9)(R8*1), R10;  \
	CMPQ CX, $3;           \
	CMOVQLT R9, R10;       \
	LEAQ (R10)(R8*1), R12; \
	CMPQ CX, $4;           \
	CMOVQLT R10, R12;      \
	XORL BX, BX

// STORE stores the four sums of X0, or fewer.
#define STORE(group, few, return) \
	CMPQ CX, $4;            \
	JB   few;               \
	VMOVDQU X0, (DX);       \
	ADDQ $16, DX;           \
	LEAQ (SI)(R8*4), SI;    \
	SUBQ $4, CX;            \
	JNZ  group;             \
	JMP  return;            \
few:                        \
	VMOVD X0, (DX);         \
	CMPQ CX, $2;            \
	JB   return;            \
	VPEXTRD $1, X0, 4(DX);  \
	JE   return;            \
	VPEXTRD $2, X0, 8(DX);  \
return:                     \
	VZEROUPPER;             \
	RET

// ADD adds the lanes of four registers of 32-bit integers: the sums of each group of 128 bits are in the first one.
#define ADD(x0, x1, x2, x3, x4, x5) \
	VPUNPCKLDQ x1, x0, x4;  \
	VPUNPCKHDQ x1, x0, x5;  \
	VPADDD x5, x4, x0;      \
	VPUNPCKLDQ x3, x2, x4;  \
	VPUNPCKHDQ x3, x2, x5;  \
	VPADDD x5, x4, x2;      \
	VPUNPCKLQDQ x2, x0, x4; \
	VPUNPCKHQDQ x2, x0, x5; \
	VPADDD x5, x4, x0

// ADD128 adds the groups of Y0, ADD256 those of Z0.
#define ADD128 \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0

#define ADD256 \
	VEXTRACTI64X4 $1, Z0, Y1; \
	VPADDD Y1, Y0, Y0;        \
	ADD128

#define DOT16(x, sum) VPMOVSXBW (x)(BX*1), Y5; VPMADDWD Y4, Y5, Y5; VPADDD Y5, sum, sum
#define DOT1(x, sum) MOVBLSX (x)(BX*1), AX; VMOVD AX, X5; VPMULLD X4, X5, X5; VPADDD Y5, sum, sum

#define SQUARES16(x, sum) VPMOVSXBW (x)(BX*1), Y5; VPMADDWD Y5, Y5, Y5; VPADDD Y5, sum, sum
#define SQUARES1(x, sum) MOVBLSX (x)(BX*1), AX; VMOVD AX, X5; VPMULLD X5, X5, X5; VPADDD Y5, sum, sum

#define NONE
#define QUERY16 VPMOVSXBW (DI)(BX*1), Y4
#define QUERY1 MOVBLSX (DI)(BX*1), AX; VMOVD AX, X4

#define SUMS(OP16, OP1, LOAD16, LOAD1) \
	ARGUMENTS;           \
group:                   \
	ROWS;                \
	VPXOR Y0, Y0, Y0;    \
	VPXOR Y1, Y1, Y1;    \
	VPXOR Y2, Y2, Y2;    \
	VPXOR Y3, Y3, Y3;    \
	MOVQ R11, R13;       \
	SUBQ $16, R13;       \
	JB   ones;           \
sixteen:                 \
	LOAD16;              \
	OP16(SI, Y0);        \
	OP16(R9, Y1);        \
	OP16(R10, Y2);       \
	OP16(R12, Y3);       \
	ADDQ $16, BX;        \
	SUBQ $16, R13;       \
	JAE  sixteen;        \
ones:                    \
	ADDQ $16, R13;       \
	JZ   add;            \
one:                     \
	LOAD1;               \
	OP1(SI, Y0);         \
	OP1(R9, Y1);         \
	OP1(R10, Y2);        \
	OP1(R12, Y3);        \
	INCQ BX;             \
	DECQ R13;            \
	JNZ  one;            \
add:                     \
	ADD(Y0, Y1, Y2, Y3, Y4, Y5); \
	ADD128;              \
	STORE(group, few, return)

// func dotBytesAVX2(s *sums)
TEXT ·dotBytesAVX2(SB), NOSPLIT, $0-8
	SUMS(DOT16, DOT1, QUERY16, QUERY1)

// func squaresBytesAVX2(s *sums)
TEXT ·squaresBytesAVX2(SB), NOSPLIT, $0-8
	SUMS(SQUARES16, SQUARES1, NONE, NONE)

// MASK sets K1 to the bytes after the last 64.
#define MASK \
	MOVQ R11, R13;      \
	ANDQ $63, R13;      \
	MOVQ $-1, BX;       \
	BZHIQ R13, BX, BX;  \
	KMOVQ BX, K1

#define VNNI(sum) VPXORD Z7, Z5, Z5; VPDPBUSD Z4, Z5, sum
#define VNNI64(x, sum) VMOVDQU64 (x)(BX*1), Z5; VNNI(sum)
#define VNNILAST(x, sum) VMOVDQU8.Z (x)(BX*1), K1, Z5; VNNI(sum)

// func dotBytesVNNI(s *sums)
// VPDPBUSD multiplies unsigned bytes with signed ones. Rows are made unsigned by adding 128 to each element, so that each
// sum is too great by 128 times the sum of the query. Z6 has the negative of it, Z7 the bytes 128.
TEXT ·dotBytesVNNI(SB), NOSPLIT, $0-8
	ARGUMENTS
	MASK
	MOVL $0x80808080, BX
	VPBROADCASTD BX, Z7
	VPXORQ Z6, Z6, Z6
	XORL BX, BX
	MOVQ R11, R13
	SUBQ $64, R13
	JB   lastOfQuery

query:
	VMOVDQU64 (DI)(BX*1), Z4
	VPDPBUSD Z4, Z7, Z6
	ADDQ $64, BX
	SUBQ $64, R13
	JAE  query

lastOfQuery:
	VMOVDQU8.Z (DI)(BX*1), K1, Z4
	VPDPBUSD Z4, Z7, Z6
	VPXORQ Z5, Z5, Z5
	VPSUBD Z6, Z5, Z6

group:
	ROWS
	VMOVDQA64 Z6, Z0
	VMOVDQA64 Z6, Z1
	VMOVDQA64 Z6, Z2
	VMOVDQA64 Z6, Z3
	MOVQ R11, R13
	SUBQ $64, R13
	JB   last

sixtyFour:
	VMOVDQU64 (DI)(BX*1), Z4
	VNNI64(SI, Z0)
	VNNI64(R9, Z1)
	VNNI64(R10, Z2)
	VNNI64(R12, Z3)
	ADDQ $64, BX
	SUBQ $64, R13
	JAE  sixtyFour

last:
	ADDQ $64, R13
	JZ   add
	VMOVDQU8.Z (DI)(BX*1), K1, Z4
	VNNILAST(SI, Z0)
	VNNILAST(R9, Z1)
	VNNILAST(R10, Z2)
	VNNILAST(R12, Z3)

add:
	ADD(Z0, Z1, Z2, Z3, Z4, Z5)
	ADD256
	STORE(group, few, return)

#define BITS(sum) VPXORQ Z4, Z5, Z5; VPOPCNTQ Z5, Z5; VPADDQ Z5, sum, sum
#define BITS64(x, sum) VMOVDQU64 (x)(BX*1), Z5; BITS(sum)
#define BITSLAST(x, sum) VMOVDQU8.Z (x)(BX*1), K1, Z5; BITS(sum)

// func hammingAVX512(s *sums)
// dim is in bytes. The counts of words are less than 2^32, so that their upper halves are zeros.
TEXT ·hammingAVX512(SB), NOSPLIT, $0-8
	ARGUMENTS
	MASK

group:
	ROWS
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	MOVQ R11, R13
	SUBQ $64, R13
	JB   last

sixtyFour:
	VMOVDQU64 (DI)(BX*1), Z4
	BITS64(SI, Z0)
	BITS64(R9, Z1)
	BITS64(R10, Z2)
	BITS64(R12, Z3)
	ADDQ $64, BX
	SUBQ $64, R13
	JAE  sixtyFour

last:
	ADDQ $64, R13
	JZ   add
	VMOVDQU8.Z (DI)(BX*1), K1, Z4
	BITSLAST(SI, Z0)
	BITSLAST(R9, Z1)
	BITSLAST(R10, Z2)
	BITSLAST(R12, Z3)

add:
	ADD(Z0, Z1, Z2, Z3, Z4, Z5)
	ADD256
	VCVTDQ2PS X0, X0
	STORE(group, few, return)

#define WORD(i, sum) \
	MOVQ (8*i)(SI), BX;   \
	XORQ (8*i)(DI), BX;   \
	POPCNTQ BX, BX;       \
	ADDQ BX, sum

// func hammingPOPCNT(s *sums)
// Requires AVX2, whose processors have POPCNT. dim is in bytes. A row of 768 bits has 12 words, too few for vectors.
TEXT ·hammingPOPCNT(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), AX
	MOVQ 0(AX), DX
	MOVQ 8(AX), R13
	MOVQ 16(AX), R8
	MOVQ 24(AX), R9
	MOVQ 32(AX), R10
	MOVQ 40(AX), R11

row:
	MOVQ R13, SI
	MOVQ R10, DI
	MOVQ R11, CX
	XORL R12, R12
	XORL AX, AX
	SUBQ $32, CX
	JB   words

four:
	WORD(0, R12)
	WORD(1, AX)
	WORD(2, R12)
	WORD(3, AX)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JAE  four

words:
	ADDQ $24, CX
	JNC  bytes

word:
	WORD(0, R12)
	ADDQ $8, SI
	ADDQ $8, DI
	SUBQ $8, CX
	JAE  word

bytes:
	ADDQ $8, CX
	JZ   done

byte:
	MOVBLZX (SI), BX
	XORB (DI), BX
	POPCNTL BX, BX
	ADDQ BX, AX
	INCQ SI
	INCQ DI
	DECQ CX
	JNZ  byte

done:
	ADDQ R12, AX
	VXORPS X0, X0, X0
	VCVTSI2SSQ AX, X0, X0
	VMOVSS X0, (DX)
	ADDQ $4, DX
	ADDQ R8, R13
	DECQ R9
	JNZ  row
	RET
