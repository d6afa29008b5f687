// SPDX-License-Identifier: Apache-2.0

//go:build purego || !amd64

package zstd

var hasKernel = false

func kernel(_, _ []byte, _ []stream, _ int, _ *[2]table, _ int) {}

func kernelSequences(_, _, _ []byte, _ *tables, _ *sequences) bool { return false }
