// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// Each sequence waits for the states that the one before selects: about 16 cycles, in which the processor copies what
// the sequences before describe. Fields are read from one word of the stream, at positions that are known early.
//
// Registers: AX is the word of the stream at BX, DX the number of its bits that are not yet read. SI, DI and R8 are the
// entries of literals, matches and offsets, and R15 their tables. R9 is the position in the destination, R10 in the
// literals. X5 are the latest offsets. R11 is the length of the literals, R12 of the match, R13 the offset.

// field reads the number of an entry: its bits, which are in the low byte, and its base.
#define field(entry, number) \
	SUBB  entry, DX             \
	SHRXQ DX, AX, number        \
	BZHIQ entry, number, number \
	RORXQ $32, entry, CX        \
	ADDL  CX, number

// next replaces an entry by the one that its bits select.
#define next(entry, table) \
	MOVL  entry, CX                 \
	SHRL  $8, CX                    \
	SUBB  CX, DX                    \
	SHRXQ DX, AX, R14               \
	BZHIQ CX, R14, R14              \
	SHRL  $16, entry                \
	ADDL  R14, entry                \
	MOVQ  table(R15)(entry*8), entry

// push makes R13 the latest offset.
#define push \
	PSLLO $4, X5  \
	MOVL  R13, X6 \
	MOVSS X6, X5

// func sequencesKernel(dst, src, lits *byte, t *tables, s *sequences, patterns *[16]pattern.Pattern) (decoded bool)
// Requires BMI1, BMI2 and SSSE3, and more than one sequence.
TEXT ·sequencesKernel(SB), NOSPLIT, $40-49
	MOVQ  s+32(FP), R14
	MOVQ  src+8(FP), AX
	MOVQ  (R14), DX
	MOVQ  8(R14), BX
	ADDQ  AX, BX
	ADDQ  16(R14), AX
	MOVQ  AX, first-8(SP)
	MOVQ  dst+0(FP), AX
	MOVQ  24(R14), R9
	ADDQ  AX, R9
	ADDQ  32(R14), AX
	MOVQ  AX, limit-16(SP)
	MOVQ  lits+16(FP), AX
	MOVQ  40(R14), R10
	ADDQ  AX, R10
	ADDQ  48(R14), AX
	MOVQ  AX, end-24(SP)
	MOVQ  56(R14), AX
	DECQ  AX
	MOVQ  AX, left-32(SP)
	MOVQ  64(R14), AX
	MOVQ  AX, window-40(SP)
	MOVQ  72(R14), SI
	MOVQ  80(R14), DI
	MOVQ  88(R14), R8
	MOVOU 96(R14), X5
	MOVQ  t+24(FP), R15

	PCALIGN $64
loop:
	CMPQ BX, first-8(SP)
	JCS  done
	MOVQ (BX), AX
	LEAQ (SI)(DI*1), CX
	ADDQ R8, CX
	ADDB CH, CX
	CMPB CX, $56
	JHI  done

	field(R8, R13)
	field(DI, R12)
	field(SI, R11)
	next(SI, 0)
	next(DI, 4096)
	next(R8, 8192)

	// The next word has 56 to 63 bits that are not yet read.
	MOVL DX, CX
	SHRL $3, CX
	LEAQ -7(BX)(CX*1), BX
	ORL  $56, DX

	TESTL R13, R13
	JLE   repeat
	push

copy:
	// R14 is the position after the literals, AX after the match, CX in the literals.
	LEAQ (R9)(R11*1), R14
	MOVQ R14, CX
	SUBQ dst+0(FP), CX
	CMPQ R13, CX
	JHI  pending
	CMPQ R13, window-40(SP)
	JHI  pending
	LEAQ (R14)(R12*1), AX
	CMPQ AX, limit-16(SP)
	JHI  pending
	LEAQ (R10)(R11*1), CX
	CMPQ CX, end-24(SP)
	JHI  pending

	MOVOU (R10), X0
	MOVOU X0, (R9)
	ADDQ  $16, R10
	CMPQ  CX, R10
	JHI   literals

match:
	MOVQ  CX, R10
	MOVQ  R14, CX
	SUBQ  R13, CX
	CMPQ  R13, $16
	JCS   overlap
	MOVOU (CX), X0
	MOVOU X0, (R14)
	MOVOU 16(CX), X0
	MOVOU X0, 16(R14)
	CMPQ  R12, $32
	JHI   long

executed:
	MOVQ AX, R9
	DECQ left-32(SP)
	JNE  loop

done:
	MOVB $0, decoded+48(FP)

end:
	MOVQ  s+32(FP), CX
	MOVQ  DX, (CX)
	SUBQ  src+8(FP), BX
	MOVQ  BX, 8(CX)
	SUBQ  dst+0(FP), R9
	MOVQ  R9, 24(CX)
	SUBQ  lits+16(FP), R10
	MOVQ  R10, 40(CX)
	MOVQ  left-32(SP), AX
	INCQ  AX
	MOVQ  AX, 56(CX)
	MOVQ  SI, 72(CX)
	MOVQ  DI, 80(CX)
	MOVQ  R8, 88(CX)
	MOVOU X5, 96(CX)
	RET

literals:
	ADDQ  $16, R9
	MOVOU (R10), X0
	MOVOU X0, (R9)
	ADDQ  $16, R10
	CMPQ  CX, R10
	JHI   literals
	JMP   match

long:
	ADDQ  $32, CX
	ADDQ  $32, R14
	MOVOU (CX), X0
	MOVOU X0, (R14)
	MOVOU 16(CX), X0
	MOVOU X0, 16(R14)
	LEAQ  32(R14), R11
	CMPQ  AX, R11
	JHI   long
	JMP   executed

overlap:
	SHLQ   $5, R13
	ADDQ   patterns+40(FP), R13
	MOVOU  (CX), X0
	MOVOU  (R13), X1
	PSHUFB X1, X0
	MOVQ   16(R13), R13

overlapping:
	MOVOU X0, (R14)
	ADDQ  R13, R14
	CMPQ  AX, R14
	JHI   overlapping
	JMP   executed

	// R13 is -2, -1 or 0, which select an offset; without literals the next one.
repeat:
	ADDL $2, R13
	CMPQ R11, $1
	ADCL $0, R13
	JEQ  first
	CMPL R13, $2
	JCS  second
	JEQ  third
	MOVL X5, R13
	DECL R13
	JEQ  pending
	push
	JMP  copy

first:
	MOVL X5, R13
	JMP  copy

second:
	PSHUFD $0xe1, X5, X5
	MOVL   X5, R13
	JMP    copy

third:
	PSHUFD $0xd2, X5, X5
	MOVL   X5, R13
	JMP    copy

pending:
	MOVQ s+32(FP), CX
	MOVQ R11, 112(CX)
	MOVQ R12, 120(CX)
	MOVQ R13, 128(CX)
	DECQ left-32(SP)
	MOVB $1, decoded+48(FP)
	JMP  end
