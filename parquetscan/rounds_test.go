// SPDX-License-Identifier: Apache-2.0

package parquetscan

// Rounds returns n, or a fifth of n with the race detector. Comparisons with a reference run on one goroutine: the
// detector makes them ten times slower and can find nothing. Without it CI runs all rounds.
func Rounds(n int) int {
	if raceEnabled {
		return (n + 4) / 5
	}
	return n
}
