// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// A stream waits about seven cycles for each symbol, in which the processor decodes a symbol of each of the others: they
// take turns of one symbol, since a processor looks ahead less than a hundred instructions that wait.
//
// Registers: DI is the position of stream 0 in the destination; those of the next three are SI, 2*SI and DX bytes
// further. BX is the table. R8 to R15 are the next bits of the streams, from the highest on, and below them a 1, which
// was the lowest bit of the word: the zeros below it tell how many bits are used. The addresses of the words are on the
// stack. AX and CX are scratch.

// symbol decodes one symbol: the next 11 bits select the entry, whose low byte is the number of bits to remove, and
// whose high byte is the symbol.
#define symbol(bits, table, to) \
	MOVQ    bits, CX            \
	SHRQ    $53, CX             \
	MOVWLZX table(BX)(CX*2), CX \
	SHLXQ   CX, bits, bits      \
	MOVB    CH, to

#define row(b0, b1, b2, b3, table, i) \
	symbol(b0, table, i(DI))       \
	symbol(b1, table, i(DI)(SI*1)) \
	symbol(b2, table, i(DI)(SI*2)) \
	symbol(b3, table, i(DI)(DX*1))

// row8 decodes symbols of eight streams.
#define row8(i) \
	row(R8, R9, R10, R11, 0, i)      \
	ADDQ distance+16(FP), DI         \
	row(R12, R13, R14, R15, 4096, i) \
	SUBQ distance+16(FP), DI

// load loads the word at the address in bits, of which CX bits are used.
#define load(bits) \
	MOVQ  (bits), bits    \
	ORQ   $1, bits        \
	SHLXQ CX, bits, bits

// reload moves the address by the bytes of which all bits are used.
#define reload(bits, in) \
	TZCNTQ bits, CX    \
	MOVQ   CX, AX      \
	SHRQ   $3, AX      \
	MOVQ   in, bits    \
	SUBQ   AX, bits    \
	MOVQ   bits, in    \
	ANDL   $7, CX      \
	load(bits)

// begin loads the state of stream i. AX are the streams, BX is src.
#define begin(i, bits, in) \
	MOVQ (48*i)(AX), CX     \
	MOVQ (48*i+8)(AX), bits \
	ADDQ BX, bits           \
	MOVQ bits, in           \
	load(bits)

// end is the reverse of begin.
#define end(i, bits, in) \
	TZCNTQ bits, CX         \
	MOVQ   CX, (48*i)(AX)   \
	MOVQ   in, CX           \
	SUBQ   BX, CX           \
	MOVQ   CX, (48*i+8)(AX)

// func kernel4(out *byte, part int, src *byte, t *table, streams *[4]stream, steps int)
// Requires BMI1, BMI2 and steps > 0.
TEXT ·kernel4(SB), NOSPLIT, $40-48
	MOVQ out+0(FP), DI
	MOVQ part+8(FP), SI
	MOVQ src+16(FP), BX
	MOVQ streams+32(FP), AX
	MOVQ steps+40(FP), DX
	LEAQ (DX)(DX*4), DX
	ADDQ DI, DX
	MOVQ DX, last-8(SP)     // after the content of stream 0
	begin(0, R8, in0-16(SP))
	begin(1, R9, in1-24(SP))
	begin(2, R10, in2-32(SP))
	begin(3, R11, in3-40(SP))
	LEAQ (SI)(SI*2), DX
	MOVQ t+24(FP), BX

	PCALIGN $64
step:
	row(R8, R9, R10, R11, 0, 0)
	row(R8, R9, R10, R11, 0, 1)
	row(R8, R9, R10, R11, 0, 2)
	row(R8, R9, R10, R11, 0, 3)
	row(R8, R9, R10, R11, 0, 4)
	reload(R8, in0-16(SP))
	reload(R9, in1-24(SP))
	reload(R10, in2-32(SP))
	reload(R11, in3-40(SP))
	ADDQ $5, DI
	CMPQ DI, last-8(SP)
	JB   step

	MOVQ src+16(FP), BX
	MOVQ streams+32(FP), AX
	end(0, R8, in0-16(SP))
	end(1, R9, in1-24(SP))
	end(2, R10, in2-32(SP))
	end(3, R11, in3-40(SP))
	RET

// func kernel8(out *byte, part, distance int, src *byte, t *[2]table, streams *[8]stream, steps int)
// Requires BMI1, BMI2 and steps > 0.
TEXT ·kernel8(SB), NOSPLIT, $72-56
	MOVQ out+0(FP), DI
	MOVQ part+8(FP), SI
	MOVQ src+24(FP), BX
	MOVQ streams+40(FP), AX
	MOVQ steps+48(FP), DX
	LEAQ (DX)(DX*4), DX
	ADDQ DI, DX
	MOVQ DX, last-8(SP)     // after the content of stream 0
	begin(0, R8, in0-16(SP))
	begin(1, R9, in1-24(SP))
	begin(2, R10, in2-32(SP))
	begin(3, R11, in3-40(SP))
	begin(4, R12, in4-48(SP))
	begin(5, R13, in5-56(SP))
	begin(6, R14, in6-64(SP))
	begin(7, R15, in7-72(SP))
	LEAQ (SI)(SI*2), DX
	MOVQ t+32(FP), BX

	PCALIGN $64
step:
	row8(0)
	row8(1)
	row8(2)
	row8(3)
	row8(4)
	reload(R8, in0-16(SP))
	reload(R9, in1-24(SP))
	reload(R10, in2-32(SP))
	reload(R11, in3-40(SP))
	reload(R12, in4-48(SP))
	reload(R13, in5-56(SP))
	reload(R14, in6-64(SP))
	reload(R15, in7-72(SP))
	ADDQ $5, DI
	CMPQ DI, last-8(SP)
	JB   step

	MOVQ src+24(FP), BX
	MOVQ streams+40(FP), AX
	end(0, R8, in0-16(SP))
	end(1, R9, in1-24(SP))
	end(2, R10, in2-32(SP))
	end(3, R11, in3-40(SP))
	end(4, R12, in4-48(SP))
	end(5, R13, in5-56(SP))
	end(6, R14, in6-64(SP))
	end(7, R15, in7-72(SP))
	RET
