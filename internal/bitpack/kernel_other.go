// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || purego

package bitpack

// unpackMany unpacks no integers.
func unpackMany([]uint32, []byte, uint) int { return 0 }

// betweenMany compares no integers.
func betweenMany([]byte, int, []byte, uint, uint32, uint32) (int, uint32) { return 0, 0 }
