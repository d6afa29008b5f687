// SPDX-License-Identifier: Apache-2.0

//go:build race

package tests

// underRace reports whether the race detector is on. It slows tests down tenfold, so tests of many requests run with
// fewer.
const underRace = true
