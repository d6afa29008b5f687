// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReader(t *testing.T) {
	for _, row := range []struct {
		name string
		body string
		read func(r *Reader) any
		want any
	}{
		{"byte", "\xFF", func(r *Reader) any { return r.Byte() }, byte(0xFF)},
		{"short", "\xFF\xFE", func(r *Reader) any { return r.Short() }, uint16(0xFFFE)},
		{"int", "\xFF\xFF\xFF\xFE", func(r *Reader) any { return r.Int() }, int32(-2)},
		{"long", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE", func(r *Reader) any { return r.Long() }, int64(-2)},
		{"string", "\x00\x02ab", func(r *Reader) any { return r.String() }, "ab"},
		{"string empty", "\x00\x00", func(r *Reader) any { return r.String() }, ""},
		{"long string", "\x00\x00\x00\x02ab", func(r *Reader) any { return r.LongString() }, "ab"},
		{"short bytes", "\x00\x02ab", func(r *Reader) any { return r.ShortBytes() }, []byte("ab")},
		{"bytes", "\x00\x00\x00\x02ab", func(r *Reader) any { return r.Bytes() }, []byte("ab")},
		{"bytes empty", "\x00\x00\x00\x00", func(r *Reader) any { return r.Bytes() }, []byte{}},
		{"bytes null", "\xFF\xFF\xFF\xFF", func(r *Reader) any { return r.Bytes() }, []byte(nil)},
		{"bytes negative", "\x80\x00\x00\x00", func(r *Reader) any { return r.Bytes() }, []byte(nil)},
		{"uuid", "0123456789abcdef", func(r *Reader) any { return r.UUID() }, [16]byte([]byte("0123456789abcdef"))},
		{"string list", "\x00\x02\x00\x01a\x00\x00", func(r *Reader) any { return r.StringList() }, []string{"a", ""}},
		{"string list empty", "\x00\x00", func(r *Reader) any { return r.StringList() }, []string{}},
		{
			"string multimap", "\x00\x02\x00\x01a\x00\x01\x00\x01b\x00\x01c\x00\x00", func(r *Reader) any { return r.StringMultimap() },
			map[string][]string{"a": {"b"}, "c": {}},
		},
		{
			"bytes map", "\x00\x02\x00\x01a\x00\x00\x00\x01b\x00\x01c\xFF\xFF\xFF\xFF", func(r *Reader) any { return r.BytesMap() },
			map[string][]byte{"a": []byte("b"), "c": nil},
		},
		{"inetaddr v4", "\x04\xC0\x00\x02\x01", func(r *Reader) any { return r.InetAddr() }, netip.MustParseAddr("192.0.2.1")},
		{
			"inet v6", "\x10\x20\x01\x0D\xB8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x23\x52",
			func(r *Reader) any { return r.Inet() }, netip.MustParseAddrPort("[2001:db8::1]:9042"),
		},
		{"count", "\x00\x00\x00\x01\xEE", func(r *Reader) any { n := r.Count(1); r.Byte(); return n }, 1},
		{"short count", "\x00\x01\xEE\xEE", func(r *Reader) any { n := r.ShortCount(2); r.Short(); return n }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := NewReader([]byte(row.body + "tail"))
			require.Equal(t, row.want, row.read(&r))
			require.NoError(t, r.Err())
			require.Equal(t, len(row.body), r.Offset())
			require.Equal(t, 4, r.Len())
			require.Equal(t, "tail", string(r.Rest()))
			require.Zero(t, r.Len())

			for n := range row.body {
				r := NewReader([]byte(row.body[:n]))
				row.read(&r)
				require.Error(t, r.Err(), "%d bytes", n)
				require.True(t, errors.Is(r.Err(), ErrShort) || errors.Is(r.Err(), ErrLength), "%v", r.Err())
				require.Zero(t, r.Len())
			}
		})
	}
}

func TestReaderValue(t *testing.T) {
	for _, row := range []struct {
		name, body string
		want       []byte
		null       bool
	}{
		{"some", "\x00\x00\x00\x01a", []byte("a"), false},
		{"empty", "\x00\x00\x00\x00", []byte{}, false},
		{"null", "\xFF\xFF\xFF\xFF", nil, true},
		{"not set", "\xFF\xFF\xFF\xFE", nil, true},
	} {
		r := NewReader([]byte(row.body))
		got, null := r.Value()
		require.NoError(t, r.Err(), row.name)
		require.Equal(t, row.want, got, row.name)
		require.Equal(t, row.null, null, row.name)
	}
	r := NewReader([]byte{0, 0, 0, 2, 'a'})
	got, _ := r.Value()
	require.ErrorIs(t, r.Err(), ErrShort)
	require.Nil(t, got)
}

// TestReaderErrorSticks requires that after the first error every method returns the zero value and the error does not
// change.
func TestReaderErrorSticks(t *testing.T) {
	r := NewReader([]byte("\x00\x09abcdefghijklmnopqrstuvwxyz"))
	r.Short()
	r.take(100, "too much")
	first := r.Err()
	require.ErrorIs(t, first, ErrShort)
	require.Zero(t, r.Byte())
	require.Zero(t, r.Short())
	require.Zero(t, r.Int())
	require.Zero(t, r.Long())
	require.Zero(t, r.String())
	require.Zero(t, r.LongString())
	require.Nil(t, r.ShortBytes())
	require.Nil(t, r.Bytes())
	require.Zero(t, r.UUID())
	require.Empty(t, r.StringList())
	require.Empty(t, r.StringMultimap())
	require.Empty(t, r.BytesMap())
	require.Zero(t, r.InetAddr())
	require.Zero(t, r.Inet())
	require.Zero(t, r.Count(1))
	require.Zero(t, r.ShortCount(1))
	require.Nil(t, r.Rest())
	v, null := r.Value()
	require.Nil(t, v)
	require.True(t, null)
	r.Fail(errors.New("later"))
	require.Equal(t, first, r.Err())
	require.Equal(t, 2, r.Offset())
}

func TestReaderRefuses(t *testing.T) {
	for _, row := range []struct {
		name, body string
		read       func(r *Reader)
	}{
		{"count negative", "\xFF\xFF\xFF\xFF", func(r *Reader) { r.Count(0) }},
		{"count above the rest", "\x00\x00\x00\x03abcd", func(r *Reader) { r.Count(2) }},
		{"long string negative", "\xFF\xFF\xFF\xFF", func(r *Reader) { _ = r.LongString() }},
		{"inetaddr of 5 bytes", "\x05abcde", func(r *Reader) { r.InetAddr() }},
		{"inetaddr of 0 bytes", "\x00", func(r *Reader) { r.InetAddr() }},
		{"port negative", "\x04abcd\xFF\xFF\xFF\xFF", func(r *Reader) { r.Inet() }},
		{"port 65536", "\x04abcd\x00\x01\x00\x00", func(r *Reader) { r.Inet() }},
		{"string list of 65535", "\xFF\xFF\x00\x00", func(r *Reader) { r.StringList() }},
		{"string multimap of 65535", "\xFF\xFF\x00\x00", func(r *Reader) { r.StringMultimap() }},
		{"bytes map of 65535", "\xFF\xFF\x00\x00", func(r *Reader) { r.BytesMap() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := NewReader([]byte(row.body))
			row.read(&r)
			require.ErrorIs(t, r.Err(), ErrLength)
		})
	}
}

// TestReaderSlicesAreCapped requires that appending to a slice of the body does not overwrite the field after it.
func TestReaderSlicesAreCapped(t *testing.T) {
	body := []byte("\x00\x01ab")
	r := NewReader(body)
	_ = append(r.ShortBytes(), 'X')
	require.Equal(t, "\x00\x01ab", string(body))
}

func TestHeader(t *testing.T) {
	for _, row := range []struct {
		name string
		h    Header
		want string
	}{
		{"request", Header{Version: 4, Stream: 0x0102, Opcode: 7, Length: 0x01020304}, "\x04\x00\x01\x02\x07\x01\x02\x03\x04"},
		{"event", Header{Version: 5, Response: true, Flags: FlagWarning, Stream: -1, Opcode: 0x0C}, "\x85\x08\xFF\xFF\x0C\x00\x00\x00\x00"},
		{"largest", Header{Version: 0x7F, Flags: 0xFF, Stream: 0x7FFF, Opcode: 0xFF, Length: MaxBody}, "\x7F\xFF\x7F\xFF\xFF\x10\x00\x00\x00"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := make([]byte, HeaderSize)
			PutHeader(b, row.h)
			require.Equal(t, row.want, string(b))
			got, err := ParseHeader(b)
			require.NoError(t, err)
			require.Equal(t, row.h, got)
		})
	}
	for _, length := range []string{"\x10\x00\x00\x01", "\x80\x00\x00\x00", "\xFF\xFF\xFF\xFF"} {
		_, err := ParseHeader([]byte("\x84\x00\x00\x00\x08" + length))
		require.ErrorIs(t, err, ErrLength, "%x", length)
	}
}
