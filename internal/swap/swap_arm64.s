// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// func swap32NEON(dst, src *byte, n int)
TEXT ·swap32NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2

loop:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VREV32 V0.B16, V0.B16
	VREV32 V1.B16, V1.B16
	VREV32 V2.B16, V2.B16
	VREV32 V3.B16, V3.B16
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	SUBS   $64, R2, R2
	BNE    loop
	RET

// func swap64NEON(dst, src *byte, n int)
TEXT ·swap64NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2

loop:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VREV64 V0.B16, V0.B16
	VREV64 V1.B16, V1.B16
	VREV64 V2.B16, V2.B16
	VREV64 V3.B16, V3.B16
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	SUBS   $64, R2, R2
	BNE    loop
	RET
