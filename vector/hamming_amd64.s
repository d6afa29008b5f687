// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

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
