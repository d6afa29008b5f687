// SPDX-License-Identifier: Apache-2.0

// Package soak selects the tests that take long, and the full size of tests that are smaller by default. They run by
// `make soak` and a part of them in .ci/run, both with VECQL_SOAK=1. With the race detector and on 32-bit processors
// tests are smaller still: they compare the same with the same. Only tests import the package.
package soak

import (
	"math/bits"
	"os"
	"testing"
	"time"
)

// Reduced reports whether tests take a sample of their cases: with the race detector, and on 32-bit processors.
const Reduced = Race || bits.UintSize == 32

// On reports whether tests have their full size.
func On() bool { return os.Getenv("VECQL_SOAK") == "1" }

// Only skips the test unless tests have their full size.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("takes long: make soak runs it")
	}
}

// NoRace skips a test with the race detector, which makes it ten times slower and finds nothing there that it does not
// find in other tests: most compare results with a reference.
func NoRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("other tests have these goroutines")
	}
}

// Rounds returns n, or a fifth of n where tests are reduced: the rounds of a comparison with a reference.
func Rounds(n int) int {
	if Reduced {
		return (n + 4) / 5
	}
	return n
}

// Size returns full if tests have their full size, otherwise small.
func Size(small, full int) int {
	if On() {
		return full
	}
	return small
}

// Time returns the length of a test that repeats something, as Size returns a number. VECQL_SOAK_TIME is another full
// length, which make soak sets to 5 minutes.
func Time(small, full time.Duration) time.Duration {
	if !On() {
		return small
	}
	if d, err := time.ParseDuration(os.Getenv("VECQL_SOAK_TIME")); err == nil {
		return d
	}
	return full
}
