// SPDX-License-Identifier: Apache-2.0

//go:build purego || (!amd64 && !arm64)

package vector

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel { return []kernel{goKernel} }

// direct computes sums of native floats.
func direct(o op, s *sums) { directGo(o, s) }
