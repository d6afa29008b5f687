// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text for people without control characters: what a server or a file says must not move the cursor of a terminal,
// change its title, or begin another line of a log.

// printable returns a text with escapes in place of control characters, of characters that change the direction of
// text, and of bytes that are not UTF-8. Line breaks and tabs stay.
func printable(s string) string {
	if !hasControl(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case isControl(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// printableLine is printable for one line: line breaks and tabs are escaped, too.
func printableLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(s))
}

func hasControl(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, isControl)
}

// isControl reports whether a character is a control character other than line break and tab, or one of the characters
// of category Cf that change the order of what follows, or a line or paragraph separator.
func isControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f:
		return true
	}
	return r == 0x2028 || r == 0x2029
}

// A plainWriter writes printable text. It keeps an incomplete character at the end of a write for the next one. Any
// number of goroutines may write.
type plainWriter struct {
	w    io.Writer
	isOn func() bool // whether text is changed; nil means always

	mu   sync.Mutex // held while text is changed and written
	rest []byte
}

// Write implements io.Writer.
func (p *plainWriter) Write(b []byte) (int, error) {
	if p.isOn != nil && !p.isOn() {
		return p.w.Write(b)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := append(p.rest, b...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if utf8.RuneStart(text[len(text)-i]) {
			if !utf8.FullRune(text[len(text)-i:]) {
				end = len(text) - i
			}
			break
		}
	}
	p.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(p.w, printable(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}
