// SPDX-License-Identifier: Apache-2.0

//go:build race

package soak

// Race reports whether the program has the race detector, with which it allocates more and takes several times as long.
const Race = true
