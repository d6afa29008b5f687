// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// One element of 6 rows and 16 queries: 12 accumulators of 8 queries, Y0 to Y11. SI and R9 are rows 0 and 3, DX the
// panel.
#define ROW(x, sum0, sum1) \
	VBROADCASTSS x, Y14;       \
	VFMADD231PS Y12, Y14, sum0; \
	VFMADD231PS Y13, Y14, sum1

#define ELEMENT(i) \
	VMOVUPS (64*i)(DX), Y12;          \
	VMOVUPS (64*i+32)(DX), Y13;       \
	ROW((4*i)(SI), Y0, Y1);           \
	ROW((4*i)(SI)(R8*1), Y2, Y3);     \
	ROW((4*i)(SI)(R8*2), Y4, Y5);     \
	ROW((4*i)(R9), Y6, Y7);           \
	ROW((4*i)(R9)(R8*1), Y8, Y9);     \
	ROW((4*i)(R9)(R8*2), Y10, Y11)

// func tileAVX2(t *tile)
TEXT ·tileAVX2(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	MOVQ 0(AX), SI
	MOVQ 8(AX), R8
	MOVQ 16(AX), DX
	MOVQ 24(AX), CX
	MOVQ 32(AX), R10
	LEAQ (SI)(R8*2), R9
	ADDQ R8, R9
	MOVQ 56(AX), DI // from
	VMOVUPS 0(DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	VMOVUPS 128(DI), Y4
	VMOVUPS 160(DI), Y5
	VMOVUPS 192(DI), Y6
	VMOVUPS 224(DI), Y7
	VMOVUPS 256(DI), Y8
	VMOVUPS 288(DI), Y9
	VMOVUPS 320(DI), Y10
	VMOVUPS 352(DI), Y11
	SUBQ $8, CX
	JB   ones

eight: // 6 rows * 8 elements are 3 cache lines
	PREFETCHT1 (R10)
	PREFETCHT1 64(R10)
	PREFETCHT1 128(R10)
	ADDQ $192, R10
	ELEMENT(0)
	ELEMENT(1)
	ELEMENT(2)
	ELEMENT(3)
	ELEMENT(4)
	ELEMENT(5)
	ELEMENT(6)
	ELEMENT(7)
	ADDQ $512, DX
	ADDQ $32, SI
	ADDQ $32, R9
	SUBQ $8, CX
	JAE  eight

ones:
	ADDQ $8, CX
	JZ   done

one:
	ELEMENT(0)
	ADDQ $64, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ CX
	JNZ  one

done:
	MOVQ 64(AX), DI // to
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	VMOVUPS Y8, 256(DI)
	VMOVUPS Y9, 288(DI)
	VMOVUPS Y10, 320(DI)
	VMOVUPS Y11, 352(DI)

	MOVQ 40(AX), BX
	TESTQ BX, BX
	JZ   return
	VMOVUPS 0(BX), Y0  // above
	VMOVUPS 32(BX), Y1
	VMOVUPS 64(BX), Y2 // slope
	VMOVUPS 96(BX), Y3
	MOVQ 48(AX), BX
	LEAQ 80(AX), R8 // masks
	XORL R11, R11
	MOVL $6, CX

compare: // the predicate is "not less than", or unordered
	VBROADCASTSS 0(BX), Y4
	VBROADCASTSS 4(BX), Y5
	VBROADCASTSS 8(BX), Y6
	VMOVAPS Y6, Y7
	VFMADD231PS Y2, Y5, Y6
	VFMADD231PS Y3, Y5, Y7
	VFMADD231PS Y0, Y4, Y6
	VFMADD231PS Y1, Y4, Y7
	VMOVUPS 0(DI), Y8
	VMOVUPS 32(DI), Y9
	VCMPPS $5, Y6, Y8, Y8
	VCMPPS $5, Y7, Y9, Y9
	VMOVMSKPS Y8, R9
	VMOVMSKPS Y9, R10
	SHLL $8, R10
	ORL  R10, R9
	ORL  R9, R11
	MOVW R9, (R8)
	ADDQ $2, R8
	ADDQ $64, DI
	ADDQ $16, BX
	DECL CX
	JNZ  compare
	MOVQ R11, 72(AX)

return:
	VZEROUPPER
	RET
