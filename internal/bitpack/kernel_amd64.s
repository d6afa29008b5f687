// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// func kernel(dst *uint32, src *byte, groups, width int, l *layout)
// Requires AVX2, groups >= 1.
TEXT ·kernel(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ width+24(FP), R8
	MOVQ l+32(FP), DX
	MOVQ R8, R9
	SHRQ $1, R9 // bytes of half a group
	VMOVDQU (DX), Y1
	VMOVDQU 32(DX), Y2
	VPBROADCASTD 64(DX), Y3

group:
	VMOVDQU (SI), X0
	VINSERTI128 $1, (SI)(R9*1), Y0, Y0
	VPSHUFB Y1, Y0, Y0
	VPSRLVD Y2, Y0, Y0
	VPAND   Y3, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ R8, SI
	ADDQ $32, DI
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET

// func between(out, src *byte, groups, width int, l *layout, lo, span uint32) (greatest uint32)
// Requires AVX2, groups >= 1.
TEXT ·between(SB), NOSPLIT, $0-52
	MOVQ out+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ width+24(FP), R8
	MOVQ l+32(FP), DX
	MOVQ R8, R9
	SHRQ $1, R9 // bytes of half a group
	VMOVDQU (DX), Y1
	VMOVDQU 32(DX), Y2
	VPBROADCASTD 64(DX), Y3
	MOVL lo+40(FP), AX
	VMOVD AX, X4
	VPBROADCASTD X4, Y4
	MOVL span+44(FP), AX
	VMOVD AX, X5
	VPBROADCASTD X5, Y5
	VPXOR Y6, Y6, Y6 // the greatest of each lane

group:
	VMOVDQU (SI), X0
	VINSERTI128 $1, (SI)(R9*1), Y0, Y0
	VPSHUFB Y1, Y0, Y0
	VPSRLVD Y2, Y0, Y0
	VPAND   Y3, Y0, Y0
	VPMAXUD Y0, Y6, Y6
	VPSUBD  Y4, Y0, Y0
	VPMINUD Y5, Y0, Y7 // unchanged means at most span
	VPCMPEQD Y0, Y7, Y7
	VMOVMSKPS Y7, AX
	MOVB AX, (DI)
	ADDQ R8, SI
	INCQ DI
	DECQ CX
	JNZ  group
	VEXTRACTI128 $1, Y6, X0
	VPMAXUD X0, X6, X0
	VPSHUFD $0x4e, X0, X1
	VPMAXUD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPMAXUD X1, X0, X0
	VMOVD X0, AX
	MOVL AX, greatest+48(FP)
	VZEROUPPER
	RET
