// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Mispredicted branches take most of the time of a decoder that branches on the kind of an element. Here a literal and
// the three kinds of copies take one path: what differs is looked up by the tag, or selected by a conditional move. The
// next tag is loaded as early as its position is known, because each step waits for it. 32 bytes are copied
// whatever the length is; what is too much is overwritten by the next element.

// func kernel(dst, dstLimit, dstAt, src, srcLimit *byte, tags *[256]tagEntry, patterns *[16]pattern.Pattern) (d, s *byte)
// Requires BMI2 and SSSE3.
TEXT ·kernel(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), R8
	MOVQ dstLimit+8(FP), R9
	MOVQ dstAt+16(FP), DI
	MOVQ src+24(FP), SI
	MOVQ srcLimit+32(FP), R10
	MOVQ tags+40(FP), R14
	MOVQ $0x0402010004020100, R11 // bytes of the offset by the low bits of a tag

	MOVBLZX (SI), BX
	INCQ    SI

loop:
	// SI is after the tag, which is in BX. R12 is the number of bytes between it and the next tag, R15.
	RORXQ   $61, BX, CX
	SHRXQ   CX, R11, R12
	MOVBLZX R12B, R12
	MOVL    BX, DX
	SHRL    $2, DX
	INCL    DX
	TESTB   $3, BX
	CMOVQEQ DX, R12
	MOVBLZX (SI)(R12*1), R15

	// DX is the length, R13 the offset, 0 for a literal, and CX the source.
	MOVL    (SI), AX
	ANDL    4(R14)(BX*8), AX
	MOVWLZX 2(R14)(BX*8), R13
	MOVBLZX (R14)(BX*8), DX
	ADDQ    AX, R13
	MOVQ    DI, CX
	SUBQ    R13, CX
	TESTB   $3, BX
	CMOVQEQ SI, CX

	MOVQ DI, AX
	SUBQ R8, AX
	CMPQ R13, AX
	JHI  end
	CMPQ DX, $32
	JHI  long
	MOVQ DI, AX
	SUBQ CX, AX
	CMPQ AX, DX
	JCS  overlap

	MOVOU (CX), X0
	MOVOU 16(CX), X1
	MOVOU X0, (DI)
	MOVOU X1, 16(DI)

next:
	ADDQ DX, DI
	LEAQ 1(SI)(R12*1), SI
	MOVL R15, BX
	CMPQ SI, R10
	JHI  end
	CMPQ DI, R9
	JLS  loop

end:
	DECQ SI
	MOVQ DI, d+56(FP)
	MOVQ SI, s+64(FP)
	RET

long:
	CMPQ  DX, $64
	JHI   end
	MOVQ  DI, AX
	SUBQ  CX, AX
	CMPQ  AX, DX
	JCS   overlap
	MOVOU (CX), X0
	MOVOU 16(CX), X1
	MOVOU 32(CX), X2
	MOVOU 48(CX), X3
	MOVOU X0, (DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	JMP   next

overlap:
	// The source of DX bytes begins AX bytes before DI, fewer than the length.
	TESTQ AX, AX
	JEQ   end
	MOVQ  DI, R13
	LEAQ  (DI)(DX*1), BX
	CMPQ  AX, $16
	JCC   blocks

	// Patterns of less than 16 bytes are repeated in a register.
	MOVQ    patterns+48(FP), CX
	SHLQ    $5, AX
	MOVOU   (CX)(AX*1), X1
	MOVQ    16(CX)(AX*1), CX
	SHRQ    $5, AX
	SUBQ    AX, R13
	MOVOU   (R13), X0
	ADDQ    AX, R13
	PSHUFB  X1, X0

repeat:
	MOVOU X0, (R13)
	ADDQ  CX, R13
	CMPQ  R13, BX
	JCS   repeat
	JMP   next

blocks:
	MOVOU (CX), X0
	MOVOU X0, (R13)
	ADDQ  $16, CX
	ADDQ  $16, R13
	CMPQ  R13, BX
	JCS   blocks
	JMP   next
