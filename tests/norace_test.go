// SPDX-License-Identifier: Apache-2.0

//go:build !race

package tests

// underRace reports whether the race detector is on.
const underRace = false
