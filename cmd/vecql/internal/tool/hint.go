// SPDX-License-Identifier: Apache-2.0

package tool

import "strings"

// Hints: the names that misspelled ones most likely mean.

// didYouMean returns err with the name that was meant, or as it is without one.
func didYouMean(err error, name string) error {
	if name == "" {
		return err
	}
	return advise(err, "did you mean %s?", name)
}

// nearest returns the candidate that differs least from a name in any case and without quotes, "" if all differ in more
// than a third of its characters.
func nearest(name string, candidates []string) string {
	best, least := "", min(max(1, len(name)/3)+1, len(name))
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.Trim(strings.ToLower(c), `"`))
		if d < least && c != name {
			best, least = c, d
		}
	}
	return best
}

// distance returns the optimal string alignment distance of two words: the number of bytes to insert, remove, replace
// or swap with their neighbor.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
