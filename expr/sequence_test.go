// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// clickbench is the pattern of ClickBench's query 29.
const clickbench = `^https?://(?:www\.)?([^/]+)/.*$`

var sequenceTexts = []string{
	"", "a", "http://www.example.com/a/b", "https://example.com/", "http://www.", "http://www./", "http:///x", "ftp://a/b",
	"https://www.é日本.de/\xff\xfe", "http://a/\nb", "http://a\n/b", "aaab", "aab", "ab", "b", "wwww.x", "www.www.", "\xff", "\xffa",
	"é", "éa", "日本", "abab", "a.b.c", "\n", "a\n", "0123", "x0y", "abcdefghijk", "a\xe2cdefghijk", "\xe1bcdefghijk", "ab\xe3defghijk", "abcd\xe5fghijk", "bcdefghijkl", "\uFFFD", "KkK",
}

// TestSequence requires that patterns are sequences, and that others are not.
func TestSequence(t *testing.T) {
	soak.NoRace(t)
	for pattern, want := range map[string]bool{
		clickbench: true, `^`: true, `^a?b?c?d?`: true, `^(a)(b)?`: false, `^[a-c]*x`: true, `^(.)(.*)$`: true, `^a*(b)c*$`: true,
		`^(?s)(.)b`: true, `^é?.$`: true, `^[^\n]*\n`: true, `^.*`: true, `^[0-9]+[a-z]*\.`: true, `^(a(b)c)`: true, `^$`: true,
		`a`: false, ``: false, `^a?b?c?d?e?`: false, `^.*a`: false, `^a*ab`: false, `^a*?b`: false, `(?i)^k`: false, `^(a|b)`: true,
		`^(ab|c)`: false, `^[à-ü]`: false, `^(?m)a$`: false, `^\x{FFFD}`: false, `^a{2,3}`: false, `^[a-z]*[a-f]`: false,
		`^[a-z]*a?$`: false, `^\d+\D`: true, `(?m)^a`: false, `^[^a]`: true, `^\pL`: false,
	} {
		require.Equal(t, want, newSequence(pattern) != nil, pattern)
		for _, with := range []string{"", "$1", "${2}x$1", "-$0-", "$9", "<$1x>", "$$", "${name}", "$1_", "$1é", "$", "${1", "$1$1", "$1a", "$1z", "$1A", "$1Z", "$1@", "$1[", "$1`", "$1{", "$1/", "$1:", "$0", "$00", "${01}", "$10"} {
			for _, text := range sequenceTexts {
				require.NoError(t, equalSequence(pattern, with, text))
			}
		}
	}
}

func FuzzSequence(f *testing.F) {
	for _, text := range sequenceTexts {
		f.Add(clickbench, "$1", text)
		f.Add(`^(a?)[^b]*(b)?c?.(.*)$`, "$2-${1}", text)
	}
	f.Fuzz(func(t *testing.T, pattern, with, text string) {
		if _, err := regexp.Compile(pattern); err != nil || len(pattern) > 200 {
			return
		}
		require.NoError(t, equalSequence(pattern, with, text))
	})
}

// equalSequence compares matches and replacements with package regexp.
func equalSequence(pattern, with, text string) error {
	re := regexp.MustCompile(pattern)
	if got, want := matcher(pattern)(text), re.MatchString(text); got != want {
		return fmt.Errorf("%q matches %q: %v, want %v", pattern, text, got, want)
	}
	if got, want := replacer(pattern, with)(text), re.ReplaceAllString(text, with); got != want {
		return fmt.Errorf("%q by %q in %q: %q, want %q", pattern, with, text, got, want)
	}
	return nil
}
