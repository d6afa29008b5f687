// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || purego

package substring

// indexMany tries no position.
func indexMany(_, _ []byte) (at int, ok bool) { return 0, false }
