// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// Conversion of float16 and bfloat16. Narrowing rounds to the nearest value, ties to the even one.

// fromHalf returns the value of a binary16.
func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&0x3ff
	switch exp {
	case 0: // zero and denormals: frac * 2^-24 is exact
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toHalf returns the nearest binary16, which is infinite from 65520 on.
func toHalf(f float32) uint16 {
	bits := math.Float32bits(f)
	sign, abs := uint16(bits>>16)&0x8000, bits&^(1<<31)
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00
	case abs >= 0x477ff000: // 65520
		return sign | 0x7c00
	case abs < 0x38800000: // 2^-14: adding 2^-1 rounds to multiples of 2^-24
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-math.Float32bits(0.5))
	}
	abs += 0xfff + abs>>13&1
	return sign | uint16((abs-112<<23)>>13)
}

// fromBrain returns the value of a bfloat16.
func fromBrain(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// toBrain returns the nearest bfloat16, which is infinite if f is too large.
func toBrain(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&^(1<<31) > 0x7f800000 {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
