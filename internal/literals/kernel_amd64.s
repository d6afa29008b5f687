// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// The streams take turns, five symbols each. A stream waits for its entries, about seven cycles a symbol, in which the
// processor decodes symbols of the other streams.
//
// Registers: DI is the position of stream 0 in the destination; those of the next three are SI, 2*SI and DX bytes
// further. BX is the table. R8 to R15 are the states of the streams: the position of the next 11 bits among 64 bits, in
// the low byte, and 11 above it, as BEXTR needs them. The addresses of the 64 bits are on the stack. CX and AX are
// scratch.

// symbol decodes one symbol: the next 11 bits of AX select the entry, whose low byte is the number of bits to remove,
// and whose high byte is the symbol.
#define symbol(state, table, to) \
	BEXTRQ  state, AX, CX        \
	MOVWLZX table(BX)(CX*2), CX  \
	SUBB    CX, state            \
	MOVB    CH, to

// turn decodes five symbols of a stream. Then it moves the address by the bytes of which all bits are used.
#define turn(state, in, table, to0, to1, to2, to3, to4) \
	MOVQ in, AX                \
	MOVQ (AX), AX              \
	symbol(state, table, to0)  \
	symbol(state, table, to1)  \
	symbol(state, table, to2)  \
	symbol(state, table, to3)  \
	symbol(state, table, to4)  \
	MOVL $53, CX               \
	SUBB state, CX             \
	ANDL $~7, CX               \
	ADDB CX, state             \
	SHRL $3, CX                \
	SUBQ CX, in

#define turn0(state, in, table) turn(state, in, table, 0(DI), 1(DI), 2(DI), 3(DI), 4(DI))
#define turn1(state, in, table) turn(state, in, table, 0(DI)(SI*1), 1(DI)(SI*1), 2(DI)(SI*1), 3(DI)(SI*1), 4(DI)(SI*1))
#define turn2(state, in, table) turn(state, in, table, 0(DI)(SI*2), 1(DI)(SI*2), 2(DI)(SI*2), 3(DI)(SI*2), 4(DI)(SI*2))
#define turn3(state, in, table) turn(state, in, table, 0(DI)(DX*1), 1(DI)(DX*1), 2(DI)(DX*1), 3(DI)(DX*1), 4(DI)(DX*1))

// begin loads the state of stream i and the address of its bits. AX are the streams, CX is src.
#define begin(i, state, in) \
	MOVQ (48*i)(AX), BX      \
	MOVL $0xb35, state       \
	SUBL BX, state           \
	MOVQ (48*i+8)(AX), BX    \
	ADDQ CX, BX              \
	MOVQ BX, in

// end is the reverse of begin.
#define end(i, state, in) \
	MOVL $53, BX             \
	SUBB state, BX           \
	MOVQ BX, (48*i)(AX)      \
	MOVQ in, BX              \
	SUBQ CX, BX              \
	MOVQ BX, (48*i+8)(AX)

// func kernel4(out *byte, part int, src *byte, t *table, streams *[4]stream, steps int)
// Requires BMI1 and steps > 0.
TEXT ·kernel4(SB), NOSPLIT, $48-48
	MOVQ out+0(FP), DI
	MOVQ part+8(FP), SI
	MOVQ src+16(FP), CX
	MOVQ streams+32(FP), AX
	MOVQ steps+40(FP), DX
	LEAQ (DX)(DX*4), DX
	ADDQ DI, DX
	MOVQ DX, last-8(SP)  // after the content of stream 0
	begin(0, R8, in0-24(SP))
	begin(1, R9, in1-32(SP))
	begin(2, R10, in2-40(SP))
	begin(3, R11, in3-48(SP))
	LEAQ (SI)(SI*2), DX
	MOVQ t+24(FP), BX

	PCALIGN $64
step:
	turn0(R8, in0-24(SP), 0)
	turn1(R9, in1-32(SP), 0)
	turn2(R10, in2-40(SP), 0)
	turn3(R11, in3-48(SP), 0)
	ADDQ $5, DI
	CMPQ DI, last-8(SP)
	JB   step

	MOVQ src+16(FP), CX
	MOVQ streams+32(FP), AX
	end(0, R8, in0-24(SP))
	end(1, R9, in1-32(SP))
	end(2, R10, in2-40(SP))
	end(3, R11, in3-48(SP))
	RET

// func kernel8(out *byte, part int, src *byte, t *[2]table, streams *[8]stream, steps int)
// Requires BMI1 and steps > 0.
TEXT ·kernel8(SB), NOSPLIT, $80-48
	MOVQ out+0(FP), DI
	MOVQ part+8(FP), SI
	MOVQ src+16(FP), CX
	MOVQ streams+32(FP), AX
	MOVQ steps+40(FP), DX
	LEAQ (DX)(DX*4), DX
	ADDQ DI, DX
	MOVQ DX, last-8(SP)  // after the content of stream 0
	LEAQ -5(SI*4), DX
	MOVQ DX, back-16(SP) // from stream 4 to stream 0 in the next step
	begin(0, R8, in0-24(SP))
	begin(1, R9, in1-32(SP))
	begin(2, R10, in2-40(SP))
	begin(3, R11, in3-48(SP))
	begin(4, R12, in4-56(SP))
	begin(5, R13, in5-64(SP))
	begin(6, R14, in6-72(SP))
	begin(7, R15, in7-80(SP))
	LEAQ (SI)(SI*2), DX
	MOVQ t+24(FP), BX

	PCALIGN $64
step:
	turn0(R8, in0-24(SP), 0)
	turn1(R9, in1-32(SP), 0)
	turn2(R10, in2-40(SP), 0)
	turn3(R11, in3-48(SP), 0)
	LEAQ (DI)(SI*4), DI
	turn0(R12, in4-56(SP), 4096)
	turn1(R13, in5-64(SP), 4096)
	turn2(R14, in6-72(SP), 4096)
	turn3(R15, in7-80(SP), 4096)
	SUBQ back-16(SP), DI
	CMPQ DI, last-8(SP)
	JB   step

	MOVQ src+16(FP), CX
	MOVQ streams+32(FP), AX
	end(0, R8, in0-24(SP))
	end(1, R9, in1-32(SP))
	end(2, R10, in2-40(SP))
	end(3, R11, in3-48(SP))
	end(4, R12, in4-56(SP))
	end(5, R13, in5-64(SP))
	end(6, R14, in6-72(SP))
	end(7, R15, in7-80(SP))
	RET
