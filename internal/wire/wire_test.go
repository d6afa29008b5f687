// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppend(t *testing.T) {
	must := func(b []byte, err error) []byte {
		require.NoError(t, err)
		return b
	}
	for _, row := range []struct {
		name, hex string
		got       []byte
	}{
		{"short", "fffe", AppendShort(nil, 0xFFFE)},
		{"int negative", "fffffffe", AppendInt(nil, -2)},
		{"long", "0102030405060708", AppendLong(nil, 0x0102030405060708)},
		{"string", "0003616263", must(AppendString(nil, "abc"))},
		{"string empty", "0000", must(AppendString(nil, ""))},
		{"string of two bytes per letter", "0002c3a9", must(AppendString(nil, "é"))},
		{"long string", "00000003616263", must(AppendLongString(nil, "abc"))},
		{"bytes", "00000002beef", must(AppendBytes(nil, []byte{0xBE, 0xEF}))},
		{"bytes empty", "00000000", must(AppendBytes(nil, []byte{}))},
		{"bytes null", "ffffffff", must(AppendBytes(nil, nil))},
		{"short bytes", "0002beef", must(AppendShortBytes(nil, []byte{0xBE, 0xEF}))},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.Equal(t, row.hex, hex.EncodeToString(row.got))
		})
	}
}

// TestAppendTooLong requires that the limit itself is allowed, and that one byte more returns dst unchanged.
func TestAppendTooLong(t *testing.T) {
	fits := strings.Repeat("x", MaxString)
	long := fits + "x"
	for _, row := range []struct {
		name   string
		append func(s string) ([]byte, error)
	}{
		{"string", func(s string) ([]byte, error) { return AppendString([]byte("head"), s) }},
		{"short bytes", func(s string) ([]byte, error) { return AppendShortBytes([]byte("head"), []byte(s)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := row.append(fits)
			require.NoError(t, err)
			require.Greater(t, len(got), MaxString)
			got, err = row.append(long)
			require.ErrorIs(t, err, ErrTooLong)
			require.Equal(t, "head", string(got))
		})
	}
}

func TestUvint(t *testing.T) {
	for _, row := range []struct {
		v   uint64
		hex string
	}{
		{0, "00"},
		{1, "01"},
		{127, "7f"},
		{128, "8080"},
		{256000, "c3e800"}, // the example of section 3
		{1<<14 - 1, "bfff"},
		{1 << 14, "c04000"},
		{1<<49 - 1, "fdffffffffffff"},
		{1 << 49, "fe02000000000000"},
		{1<<56 - 1, "feffffffffffffff"},
		{1 << 56, "ff0100000000000000"},
		{math.MaxUint64, "ffffffffffffffffff"},
	} {
		t.Run(row.hex, func(t *testing.T) {
			b := AppendUvint(nil, row.v)
			require.Equal(t, row.hex, hex.EncodeToString(b))
			got, n := Uvint(append(b, 0xEE))
			require.Equal(t, row.v, got)
			require.Equal(t, len(b), n)
			for i := range b {
				_, n := Uvint(b[:i])
				require.Zero(t, n, "%d bytes", i)
			}
		})
	}
}

// TestUvintNotMinimal requires that a value in more bytes than necessary is accepted.
func TestUvintNotMinimal(t *testing.T) {
	for _, h := range []string{
		"05", "8005", "c00005", "e0000005", "f000000005", "f80000000005", "fc000000000005", "fe00000000000005",
		"ff0000000000000005",
	} {
		b, err := hex.DecodeString(h)
		require.NoError(t, err)
		v, n := Uvint(b)
		require.Equal(t, uint64(5), v, h)
		require.Equal(t, len(b), n, h)
	}
}

func TestVint(t *testing.T) {
	for _, row := range []struct {
		v   int64
		hex string
	}{
		{0, "00"},
		{-1, "01"},
		{1, "02"},
		{-2, "03"},
		{2, "04"},
		{-3, "05"},
		{3, "06"}, // the examples of section 3
		{63, "7e"},
		{-64, "7f"},
		{64, "8080"},
		{-65, "8081"},
		{math.MaxInt64, "fffffffffffffffffe"},
		{math.MinInt64, "ffffffffffffffffff"},
	} {
		t.Run(row.hex, func(t *testing.T) {
			b := AppendVint(nil, row.v)
			require.Equal(t, row.hex, hex.EncodeToString(b))
			got, n := Vint(b)
			require.Equal(t, row.v, got)
			require.Equal(t, len(b), n)
		})
	}
}

// referenceUvint encodes v as in section 3: it tries 0 to 8 extra bytes and takes the first number that suffices.
func referenceUvint(v uint64) []byte {
	for extra := range 9 {
		if bits := 7 + 7*extra; extra < 8 && v>>bits != 0 {
			continue
		}
		b := make([]byte, 1+extra)
		for i := extra; i >= 0; i-- {
			if i == 0 && extra == 8 {
				break
			}
			b[i] = byte(v)
			v >>= 8
		}
		for i := range extra {
			b[0] |= 1 << (7 - i)
		}
		return b
	}
	panic("unreachable")
}

func FuzzVint(f *testing.F) {
	for i := range 64 {
		f.Add(uint64(1) << i)
		f.Add(uint64(1)<<i - 1)
	}
	f.Fuzz(func(t *testing.T, v uint64) {
		b := AppendUvint([]byte{0xAA}, v)
		if want := referenceUvint(v); !bytes.Equal(want, b[1:]) {
			t.Fatalf("got %x, want %x", b[1:], want)
		}
		if got, n := Uvint(b[1:]); got != v || n != len(b)-1 {
			t.Fatalf("got %d in %d bytes, want %d in %d", got, n, v, len(b)-1)
		}
		b = AppendVint(nil, int64(v))
		if got, n := Vint(b); got != int64(v) || n != len(b) {
			t.Fatalf("got %d in %d bytes, want %d in %d", got, n, int64(v), len(b))
		}
	})
}

// FuzzUvint parses arbitrary bytes. The length must be within the input, and the value must equal its minimal form.
func FuzzUvint(f *testing.F) {
	f.Add([]byte{0xFF, 0, 0, 0, 0, 0, 0, 0, 5})
	f.Add([]byte{0xC3, 0xE8, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n := Uvint(b)
		if n < 0 || n > len(b) || n > 9 {
			t.Fatalf("%d bytes of %d", n, len(b))
		}
		if minimal := AppendUvint(nil, v); n > 0 && len(minimal) > n {
			t.Fatalf("%d needs %d bytes, was read from %d", v, len(minimal), n)
		}
	})
}
