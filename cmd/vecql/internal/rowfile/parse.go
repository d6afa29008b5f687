// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/textform"
)

// Scalars from text.

var (
	errSyntax = textform.ErrSyntax
	errRange  = textform.ErrRange
)

// A ValueError means that a text is not a value of the type of its column.
type ValueError struct {
	Text string
	Type column.Type
	Err  error
}

// Error returns the text, the type and the reason.
func (e *ValueError) Error() string {
	text := e.Text
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	var h hint
	switch {
	case errors.As(e.Err, &h):
		return fmt.Sprintf("%q is not a value of type %v: %s", text, e.Type, string(h))
	case errors.Is(e.Err, errSyntax):
		return fmt.Sprintf("%q is not a value of type %v", text, e.Type)
	}
	return fmt.Sprintf("%q does not fit type %v: %v", text, e.Type, e.Err)
}

// Unwrap returns the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// A hint is errSyntax with the notation that is expected.
type hint string

func (h hint) Error() string { return string(h) }
func (hint) Unwrap() error   { return errSyntax }

// A parser appends values in text to builders.
type parser struct {
	Values
}

// forJSON returns the parser for JSON, whose numbers have one notation.
func (p *parser) forJSON() *parser {
	if p.DecimalPoint == 0 && p.Thousands == 0 {
		return p
	}
	q := *p
	q.DecimalPoint, q.Thousands = 0, 0
	return &q
}

// appendText appends a value in text: a scalar; JSON or a literal of CQL for vectors and nested types.
func (p *parser) appendText(b *builder, text []byte) error {
	var err error
	switch kind := b.field.Type.Kind; {
	case kind == column.Vector || kind.IsNested():
		return p.appendNested(b, text)
	case kind == column.String && p.CopyTo:
		b.values, err = appendUnescaped(b.values, text)
	case kind == column.String:
		b.values = append(b.values, text...)
	case kind == column.Binary || kind == column.Fixed:
		err = p.appendBytes(b, text)
	case kind.HasText():
		err = p.appendCanonical(b, text)
	default:
		err = p.appendFixed(b, view(text))
	}
	if err != nil {
		return &ValueError{string(text), b.field.Type, err}
	}
	return b.end()
}

// view returns the text as a string without a copy. No function that it is passed to keeps it.
func view(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// appendFixed appends a value of a kind with one size.
func (p *parser) appendFixed(b *builder, s string) error {
	switch t := &b.field.Type; t.Kind {
	case column.Bool:
		v, ok := p.parseBool(s)
		if !ok {
			return errSyntax
		}
		b.values = append(b.values, 0)
		if v {
			b.values[len(b.values)-1] = 1
		}
	case column.Date:
		v, err := p.parseDate(s)
		b.values = binary.NativeEndian.AppendUint32(b.values, uint32(v))
		return err
	case column.Time:
		v, err := p.parseTime(s, t.Unit)
		b.values = binary.NativeEndian.AppendUint64(b.values, uint64(v))
		return err
	case column.Timestamp:
		v, err := p.parseTimestamp(s, t.Unit)
		b.values = binary.NativeEndian.AppendUint64(b.values, uint64(v))
		return err
	case column.UUID:
		v, err := cql.ParseUUID(s)
		b.values = append(b.values, v[:]...)
		if err != nil {
			return errSyntax
		}
	default:
		return p.appendNumber(b, t.Kind, s)
	}
	return nil
}

// appendNumber appends an integer or a float of a kind.
func (p *parser) appendNumber(b *builder, kind column.Kind, s string) error {
	var err error
	if p.Thousands != 0 || p.DecimalPoint != 0 {
		if s, err = p.number(s); err != nil {
			return err
		}
	}
	switch kind {
	case column.Float32:
		f, err := textform.ParseFloat(s, 32)
		b.values = binary.NativeEndian.AppendUint32(b.values, math.Float32bits(float32(f)))
		return err
	case column.Float64:
		f, err := textform.ParseFloat(s, 64)
		b.values = binary.NativeEndian.AppendUint64(b.values, math.Float64bits(f))
		return err
	}
	return appendInteger(b, kind, s)
}

// appendInteger appends an integer of a kind.
func appendInteger(b *builder, kind column.Kind, s string) error {
	bits := 8 * column.Type{Kind: kind}.ValueWidth()
	var v uint64
	var err error
	switch kind {
	case column.Int8, column.Int16, column.Int32, column.Int64:
		var n int64
		n, err = textform.ParseInt(s, bits)
		v = uint64(n)
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		v, err = textform.ParseUint(s, bits)
	default:
		return fmt.Errorf("%w: text has no %v", errSyntax, kind)
	}
	switch bits {
	case 8:
		b.values = append(b.values, byte(v))
	case 16:
		b.values = binary.NativeEndian.AppendUint16(b.values, uint16(v))
	case 32:
		b.values = binary.NativeEndian.AppendUint32(b.values, uint32(v))
	default:
		b.values = binary.NativeEndian.AppendUint64(b.values, v)
	}
	return err
}

// appendBytes appends a blob.
func (p *parser) appendBytes(b *builder, text []byte) error {
	before := len(b.values)
	var err error
	switch {
	case p.Base64:
		b.values, err = base64.StdEncoding.Strict().AppendDecode(b.values, text)
	case len(text) < 2 || text[0] != '0' || text[1]|0x20 != 'x':
		return fmt.Errorf("%w: a blob begins with 0x", errRange)
	default:
		b.values, err = hex.AppendDecode(b.values, text[2:])
	}
	if err != nil {
		return errSyntax
	}
	if n := len(b.values) - before; b.field.Type.Kind == column.Fixed && n != b.field.Type.Width {
		return fmt.Errorf("%w: %d bytes, want %d", errRange, n, b.field.Type.Width)
	}
	return nil
}

// appendUnescaped appends a text of COPY TO of cqlsh, which writes a backslash twice, and control characters as \n, \r,
// \t or \x07.
func appendUnescaped(dst, text []byte) ([]byte, error) {
	for {
		before, after, found := bytes.Cut(text, []byte{'\\'})
		dst = append(dst, before...)
		if !found {
			return dst, nil
		}
		r, n := controlOf(after)
		if n == 0 {
			return dst, hint(`COPY TO writes no such backslash; --dialect copy-from reads what is written for COPY FROM`)
		}
		dst, text = utf8.AppendRune(dst, r), after[n:]
	}
}

// controlOf returns the character that an escape without its backslash stands for, and the length of the escape: 0 if
// there is none.
func controlOf(escape []byte) (r rune, n int) {
	if len(escape) == 0 {
		return 0, 0
	}
	switch escape[0] {
	case '\\':
		return '\\', 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'x':
		if v, err := strconv.ParseUint(string(escape[1:min(3, len(escape))]), 16, 8); err == nil && len(escape) >= 3 {
			return rune(v), 3
		}
	}
	return 0, 0
}

// appendCanonical appends a value of a kind that package column parses.
func (p *parser) appendCanonical(b *builder, text []byte) error {
	s, err := p.canonical(b.field.Type.Kind, string(text))
	if err != nil {
		return err
	}
	c := column.StringBuffers(b.field.Name, []byte(s), []int32{0, int32(len(s))})
	v, err := column.ParseText(&c, b.field.Type)
	switch {
	case errors.Is(err, cql.ErrRange):
		return errRange
	case err != nil:
		return errSyntax
	}
	b.values = append(b.values, v.Values...)
	return nil
}

// canonical returns the text of a value that package column parses. Numbers have the notation of CQL. An IPv4 address
// as an IPv6 address is the IPv4 address, as in CQL.
func (p *parser) canonical(kind column.Kind, s string) (string, error) {
	is := textform.IsInteger
	switch kind {
	case column.Inet:
		if a, err := netip.ParseAddr(s); err == nil {
			return a.Unmap().String(), nil
		}
		return s, nil
	case column.Varint:
	case column.Decimal:
		is = textform.IsNumber
	default:
		return s, nil
	}
	var err error
	if p.Thousands != 0 || p.DecimalPoint != 0 {
		s, err = p.number(s)
	}
	if err == nil && !is(s) {
		err = errSyntax
	}
	return s, err
}

// parseWhole returns the integer that s spells with digits only.
func parseWhole(s string) (int64, bool) {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-') {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
