// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// One element of a row and 16 queries, V24 to V27.
#define ROW(x, sum0, sum1, sum2, sum3) \
	VLD1R.P 4(x), [V28.S4];          \
	VFMLA V24.S4, V28.S4, sum0.S4;   \
	VFMLA V25.S4, V28.S4, sum1.S4;   \
	VFMLA V26.S4, V28.S4, sum2.S4;   \
	VFMLA V27.S4, V28.S4, sum3.S4

// func scoresNEON(t *tile)
// 6 rows, R10 to R15, and 16 queries: 24 accumulators, V0 to V23.
TEXT ·scoresNEON(SB), NOSPLIT, $0-8
	MOVD t+0(FP), R0
	MOVD 0(R0), R10
	MOVD 8(R0), R5
	MOVD 16(R0), R2
	MOVD 24(R0), R9
	MOVD 32(R0), R1
	ADD  R5, R10, R11
	ADD  R5, R11, R12
	ADD  R5, R12, R13
	ADD  R5, R13, R14
	ADD  R5, R14, R15
	MOVD 56(R0), R3 // from
	VLD1.P 64(R3), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R3), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1.P 64(R3), [V12.S4, V13.S4, V14.S4, V15.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R3), [V20.S4, V21.S4, V22.S4, V23.S4]

element:
	PRFM (R1), PLDL2KEEP
	ADD  $24, R1 // 6 rows
	VLD1.P 64(R2), [V24.S4, V25.S4, V26.S4, V27.S4]
	ROW(R10, V0, V1, V2, V3)
	ROW(R11, V4, V5, V6, V7)
	ROW(R12, V8, V9, V10, V11)
	ROW(R13, V12, V13, V14, V15)
	ROW(R14, V16, V17, V18, V19)
	ROW(R15, V20, V21, V22, V23)
	SUBS $1, R9, R9
	BNE  element

	MOVD 64(R0), R0 // to
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R0)
	VST1.P [V12.S4, V13.S4, V14.S4, V15.S4], 64(R0)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	RET
