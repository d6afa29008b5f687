// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"strings"

	"github.com/vecql/vecql/internal/textform"
)

// Numbers in text that is cast.

// parseFloat parses a number as CQL and SQL write it: SQL has a plus sign, a point without digits before it, and inf.
// Underscores and hexadecimal digits are an error. The result is rounded once, to the bits of a float.
func parseFloat(s string, bits int) (float64, error) {
	text := withoutPlus(s)
	number, negative := strings.CutPrefix(text, "-")
	switch {
	case strings.HasPrefix(number, "."):
		number = "0" + number
		if number == "0." || number[2] < '0' || number[2] > '9' {
			return 0, textform.ErrSyntax
		}
	case strings.EqualFold(number, "inf"):
		number = "Infinity"
	}
	if negative {
		number = "-" + number
	}
	return textform.ParseFloat(number, bits)
}

// withoutPlus returns a number without its plus sign.
func withoutPlus(s string) string {
	if len(s) > 1 && s[0] == '+' && s[1] != '-' && s[1] != '+' {
		return s[1:]
	}
	return s
}
