// SPDX-License-Identifier: Apache-2.0

// Package soak selects the tests that take long, and the full size of tests that are smaller by default. They run by
// `make soak` and a part of them in .ci/run, both with VECQL_SOAK=1. Only tests import it.
package soak

import (
	"os"
	"testing"
	"time"
)

// On reports whether tests have their full size.
func On() bool { return os.Getenv("VECQL_SOAK") == "1" }

// Only skips the test unless tests have their full size.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("takes long: make soak runs it")
	}
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
