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
