// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Page tokens: the position of a page in a result, as text that a program may hand to its clients.

// ErrPageToken means that a text is not a page token, or was modified. The sender of the text is at fault, not the
// server.
var ErrPageToken = errors.New("not a page token")

// A PageToken is the position of a page in a result: the [paging state] of native_protocol_v5.spec, section 8. The
// empty token is the first page; as the token of the next page it means that no page follows. The bytes have a meaning
// for servers only. They are not secret, and are valid only for the statement that returned them.
//
// String and MarshalText return the token as text for URLs and JSON, with a checksum. ParsePageToken and UnmarshalText
// reject a text whose checksum is wrong. The checksum does not protect against forgery.
type PageToken []byte

// String returns the token as text in URL-safe base64 without padding, "" for the empty token.
func (t PageToken) String() string {
	if len(t) == 0 {
		return ""
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(t, castagnoli))
	return base64.RawURLEncoding.EncodeToString(append(sum, t...))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ParsePageToken returns the token of a text made by PageToken.String. The error wraps ErrPageToken.
func ParsePageToken(text string) (PageToken, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("vecql: parse page token %.40q: %w: %w", text, ErrPageToken, err)
	case len(b) <= 4 || binary.BigEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli):
		return nil, fmt.Errorf("vecql: parse page token %.40q: %w: wrong checksum", text, ErrPageToken)
	}
	return b[4:], nil
}

// MarshalText implements encoding.TextMarshaler: the text of String.
func (t PageToken) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler by ParsePageToken.
func (t *PageToken) UnmarshalText(text []byte) error {
	v, err := ParsePageToken(string(text))
	if err != nil {
		return err
	}
	*t = v
	return nil
}
