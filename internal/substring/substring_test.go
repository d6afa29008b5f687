// SPDX-License-Identifier: Apache-2.0

package substring

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIndex compares Index with bytes.Index at every position of a text, up to the end of the bytes.
func TestIndex(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5, 31, 63, 64, 65, 100} {
		text := []byte(strings.Repeat("ab", 50))[:n]
		for size := range 230 {
			s := bytes.Repeat([]byte("abbabaab"), 40)[:size]
			require.Equal(t, bytes.Index(s, text), Index(s, text))
			for at := 0; at+n <= size; at += 3 {
				with := bytes.Repeat([]byte{'a'}, size) // the first byte everywhere
				copy(with[at:], text)
				require.Equal(t, bytes.Index(with, text), Index(with, text), "%d bytes at %d of %d", n, at, size)
			}
		}
	}
}

// FuzzIndex compares Index with bytes.Index.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(strings.Repeat("http://google.example/", 9)), []byte("google"))
	f.Add([]byte(strings.Repeat("a", 200)+"ab"), []byte("aaab"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, s, text []byte) {
		require.Equal(t, bytes.Index(s, text), Index(s[:len(s):len(s)], text))
	})
}

// BenchmarkIndex searches addresses for a text that none has.
func BenchmarkIndex(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var s []byte
	for len(s) < 1<<20 {
		s = fmt.Appendf(s, "http://site%d.example/pages/catalog/%x?gid=%d", r.IntN(1000), r.Uint64(), r.IntN(50))
	}
	for _, text := range []string{"google", ".google.", "zz"} {
		for impl, index := range map[string]func(s, text []byte) int{"bytes": bytes.Index, "vecql": Index} {
			b.Run(fmt.Sprintf("text=%s/impl=%s", text, impl), func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					if index(s, []byte(text)) >= 0 {
						b.Fatal("found")
					}
				}
			})
		}
	}
}
