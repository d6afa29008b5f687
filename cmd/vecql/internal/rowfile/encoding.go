// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encodings of text: UTF-8, UTF-16 and the others of golang.org/x/text.

// An Encoding is the encoding of text. The zero value is UTF-8, and UTF-16 in files that begin with its byte order
// mark.
type Encoding struct {
	name    string
	charset encoding.Encoding // nil for UTF-8, and for UTF-16 until a byte order mark decides
	order   binary.ByteOrder  // of UTF-16, nil for other encodings
}

var (
	utf16Little = Encoding{"UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), binary.LittleEndian}
	utf16Big    = Encoding{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), binary.BigEndian}
)

// ParseEncoding returns the encoding of a name of the registry of IANA or of the web, such as utf-8, utf-16le, latin1,
// windows-1252 and shift_jis. utf-16 needs a byte order mark. Empty means the zero Encoding.
func ParseEncoding(name string) (Encoding, error) {
	switch strings.ToLower(name) {
	case "":
		return Encoding{}, nil
	case "utf-8", "utf8":
		return Encoding{name: "UTF-8"}, nil
	case "utf-16", "utf16":
		return Encoding{name: "UTF-16"}, nil
	case "utf-16le", "utf16le":
		return utf16Little, nil
	case "utf-16be", "utf16be":
		return utf16Big, nil
	}
	charset, err := ianaindex.IANA.Encoding(name)
	if err != nil || charset == nil {
		charset, err = htmlindex.Get(name)
	}
	if err != nil || charset == encoding.Replacement {
		return Encoding{}, fmt.Errorf("unknown encoding %q, want a name such as utf-8, utf-16, latin1 or windows-1252", name)
	}
	return Encoding{name: name, charset: charset}, nil
}

// The byte order marks of other encodings than UTF-8.
var (
	markLittle   = []byte{0xff, 0xfe}
	markBig      = []byte{0xfe, 0xff}
	markLittle32 = []byte{0xff, 0xfe, 0, 0}
	markBig32    = []byte{0, 0, 0xfe, 0xff}
)

// of returns the encoding of a file that begins with head: byte order marks decide between the forms of UTF-16, and
// between UTF-8 and UTF-16 if no encoding is set.
func (e Encoding) of(head []byte) (Encoding, error) {
	if e.charset != nil || e.name == "UTF-8" {
		return e, nil
	}
	switch {
	case bytes.HasPrefix(head, markLittle32), bytes.HasPrefix(head, markBig32):
		return e, errors.New("the text is UTF-32; convert it to UTF-8, as iconv -t UTF-8 does")
	case bytes.HasPrefix(head, markLittle):
		return utf16Little, nil
	case bytes.HasPrefix(head, markBig):
		return utf16Big, nil
	case e.name != "":
		return e, errors.New("the text has no byte order mark: --encoding is utf-16le or utf-16be")
	}
	return e, nil
}

// head returns the start of a file as UTF-8, as far as it is whole characters.
func (e Encoding) head(raw []byte) []byte {
	e, err := e.of(raw)
	if err != nil || e.charset == nil {
		return raw
	}
	text, _, _ := transform.Bytes(e.charset.NewDecoder(), raw) // the last character may be cut
	return bytes.TrimPrefix(text, byteOrderMark)
}

// reader returns a reader of UTF-8, after the byte order mark. Bytes that are not a character are 0xff in its text, so
// that their record is an error.
func (e Encoding) reader(r *bufio.Reader) io.Reader {
	var mark []byte
	switch {
	case e.charset == nil:
		mark = byteOrderMark
	case e.order == binary.LittleEndian:
		mark = markLittle
	case e.order == binary.BigEndian:
		mark = markBig
	}
	if head, _ := r.Peek(len(mark)); bytes.Equal(head, mark) {
		_, _ = r.Discard(len(mark))
	}
	if e.charset == nil {
		return r
	}
	return transform.NewReader(r, strictDecoder{e.charset.NewDecoder(), e.order})
}

// A strictDecoder writes 0xff in place of the character that golang.org/x/text writes for bytes which are not one.
type strictDecoder struct {
	*encoding.Decoder
	order binary.ByteOrder // of UTF-16, the only encoding whose text may have utf8.RuneError itself; otherwise nil
}

var (
	replacement = []byte(string(utf8.RuneError))
	notText     = bytes.Repeat([]byte{0xff}, len(replacement))
)

// Transform implements transform.Transformer.
func (d strictDecoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = d.Decoder.Transform(dst, src, atEOF)
	if text := dst[:nDst]; bytes.Contains(text, replacement) {
		d.mark(text, src[:nSrc])
	}
	return nDst, nSrc, err
}

// mark replaces the characters of a text that its source does not have.
func (d strictDecoder) mark(text, src []byte) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && (d.order == nil || len(src) < 2 || d.order.Uint16(src) != utf8.RuneError) {
			copy(text[i:], notText)
		}
		i += n
		width := 2
		if n == utf8.UTFMax { // a surrogate pair
			width = 4
		}
		src = src[min(width, len(src)):]
	}
}
