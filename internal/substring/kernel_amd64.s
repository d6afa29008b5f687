// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// func kernel(s *byte, blocks int, first, last byte, distance int) (before int, found uint32)
// Requires AVX2, blocks >= 1.
TEXT ·kernel(SB), NOSPLIT, $0-44
	MOVQ s+0(FP), SI
	MOVQ blocks+8(FP), CX
	MOVBLZX first+16(FP), AX
	VMOVD AX, X1
	VPBROADCASTB X1, Y1
	MOVBLZX last+17(FP), AX
	VMOVD AX, X2
	VPBROADCASTB X2, Y2
	MOVQ distance+24(FP), DX
	ADDQ SI, DX
	XORQ DI, DI

block:
	VPCMPEQB (SI)(DI*1), Y1, Y3
	VPCMPEQB (DX)(DI*1), Y2, Y4
	VPAND Y3, Y4, Y4
	VPMOVMSKB Y4, AX
	TESTL AX, AX
	JNZ done
	ADDQ $32, DI
	DECQ CX
	JNZ block

done:
	MOVQ DI, before+32(FP)
	MOVL AX, found+40(FP)
	VZEROUPPER
	RET
