// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package input

// willRead does nothing: pages are loaded when they are read.
func willRead([]byte, int64, int64) {}

// willNeed does nothing.
func willNeed([]byte, int64, int64) {}
