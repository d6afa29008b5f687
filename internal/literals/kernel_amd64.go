// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package literals

import "golang.org/x/sys/cpu"

// hasKernel reports whether the processor has the instructions of kernel.
var hasKernel = cpu.X86.HasBMI1

// kernel decodes steps of stepSymbols symbols of 4 or 8 streams, whose contents are part bytes apart in dst. The first
// four have the first table. All streams must have room for the steps: in may become less by stepBytes in each. kernel
// does not change out.
func kernel(dst, src []byte, streams []stream, part int, t *[2]table, steps int) {
	out := &dst[streams[0].out]
	if len(streams) == 8 {
		kernel8(out, part, &src[0], t, (*[8]stream)(streams), steps)
	} else {
		kernel4(out, part, &src[0], &t[0], (*[4]stream)(streams), steps)
	}
}

// kernel4 decodes at least one step of 4 streams.
//
//go:noescape
func kernel4(out *byte, part int, src *byte, t *table, streams *[4]stream, steps int)

// kernel8 decodes at least one step of 8 streams.
//
//go:noescape
func kernel8(out *byte, part int, src *byte, t *[2]table, streams *[8]stream, steps int)
