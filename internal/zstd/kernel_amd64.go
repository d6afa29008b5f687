// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package zstd

import (
	"golang.org/x/sys/cpu"

	"github.com/vecql/vecql/internal/pattern"
)

// hasKernel reports whether the processor has the instructions of the kernels.
var hasKernel = cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasSSSE3

// kernel decodes steps of stepSymbols symbols of 4 or 8 streams. The contents of each four streams are part bytes apart
// in dst. Of 8 streams the first four have the first table. All streams must have room for the steps: in may become
// less by stepBytes in each. kernel does not change out.
func kernel(dst, src []byte, streams []stream, part int, t *[2]table, steps int) {
	out := &dst[streams[0].out]
	if len(streams) == 8 {
		kernel8(out, part, streams[4].out-streams[0].out, &src[0], t, (*[8]stream)(streams), steps)
	} else {
		kernel4(out, part, &src[0], streams[0].table, (*[4]stream)(streams), steps)
	}
}

// kernel4 decodes at least one step of 4 streams.
//
//go:noescape
func kernel4(out *byte, part int, src *byte, t *table, streams *[4]stream, steps int)

// kernel8 decodes at least one step of 8 streams. Stream 4 is distance bytes after stream 0.
//
//go:noescape
func kernel8(out *byte, part, distance int, src *byte, t *[2]table, streams *[8]stream, steps int)

// kernelSequences decodes and executes sequences until one is left, or the next one may be too close to the start of
// the stream, or has more than 56 bits. It returns true if it has decoded one more, which it has not executed: one that
// copies from outside of dst or of the literals, or to above limit. It writes up to Spare bytes above limit, and reads
// up to Spare bytes above the literals.
func kernelSequences(dst, src, lits []byte, t *tables, s *sequences) (decoded bool) {
	return sequencesKernel(&dst[0], &src[0], &lits[0], t, s, pattern.Patterns)
}

//go:noescape
func sequencesKernel(dst, src, lits *byte, t *tables, s *sequences, patterns *[16]pattern.Pattern) (decoded bool)
