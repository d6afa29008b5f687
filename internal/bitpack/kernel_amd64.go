// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bitpack

import "golang.org/x/sys/cpu"

// hasKernel reports whether the processor has the instructions of kernel.
var hasKernel = cpu.X86.HasAVX2

// kernel unpacks groups of 8 integers of width bits. It reads 16 bytes from the start of each group and from its half.
//
//go:noescape
func kernel(dst *uint32, src *byte, groups, width int, l *layout)

// between sets a byte of out for each group of 8 integers, and returns the greatest integer. It reads what kernel does.
//
//go:noescape
func between(out, src *byte, groups, width int, l *layout, lo, span uint32) (greatest uint32)

// maxKernelWidth is the greatest width for which an integer lies within 4 bytes, whatever its first bit is.
const maxKernelWidth = 25

// A layout is the place of each integer of a group: its 4 bytes in the 16 bytes of its half, the shift of the 4 bytes,
// and the mask of its bits. The second half of an odd width begins in the middle of a byte.
type layout struct {
	bytes [32]uint8
	shift [8]uint32
	mask  uint32
}

var layouts = func() *[maxKernelWidth + 1]layout {
	var all [maxKernelWidth + 1]layout
	for width := range all {
		l := &all[width]
		l.mask = 1<<width - 1
		for i := range l.shift {
			bit := i * width
			if i >= 4 {
				bit -= 8 * (width >> 1)
			}
			l.shift[i] = uint32(bit & 7)
			for b := range 4 {
				l.bytes[4*i+b] = uint8(bit>>3 + b)
			}
		}
	}
	return &all
}()

// unpackMany unpacks integers from the start of src on by the kernel, as many as it can, and returns their number.
func unpackMany(dst []uint32, src []byte, width uint) int {
	groups := groupsOf(len(dst), src, width)
	if groups > 0 {
		kernel(&dst[0], &src[0], groups, int(width), &layouts[width])
	}
	return groups * 8
}

// betweenMany is Between by the kernel for integers from the start of src on, as many as it can, and returns their
// number.
func betweenMany(out []byte, n int, src []byte, width uint, lo, span uint32) (done int, greatest uint32) {
	groups := groupsOf(n, src, width)
	if groups > 0 {
		out = out[:groups]
		greatest = between(&out[0], &src[0], groups, int(width), &layouts[width], lo, span)
	}
	return groups * 8, greatest
}

// groupsOf returns the number of groups at the start of src, of n integers at most, that a kernel may read.
func groupsOf(n int, src []byte, width uint) int {
	room := len(src) - int(width>>1) - 16 // bytes before the last group that a kernel may read
	if !hasKernel || width == 0 || width > maxKernelWidth || room < 0 {
		return 0
	}
	return min(n/8, room/int(width)+1)
}
