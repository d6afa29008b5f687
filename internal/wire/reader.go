// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// The reader of the notations of section 3.

// ErrShort means that a field extends beyond the end of the body.
var ErrShort = errors.New("body ends inside a field")

// ErrLength means that a length or count is impossible.
var ErrLength = errors.New("impossible length")

// A Reader reads fields from a body one after the other. The first field that is incomplete or malformed sets the
// error. From then on every method returns the zero value, so that a parser is a list of fields with one check at its
// end. Returned slices are parts of the body and live as long as it does; strings are copies.
type Reader struct {
	b   []byte
	off int
	err error
}

// NewReader returns a Reader at the start of body.
func NewReader(body []byte) Reader { return Reader{b: body} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Offset returns the number of bytes read.
func (r *Reader) Offset() int { return r.off }

// Len returns the number of bytes left, 0 after an error.
func (r *Reader) Len() int {
	if r.err != nil {
		return 0
	}
	return len(r.b) - r.off
}

// Ahead returns the unread bytes without reading them.
func (r *Reader) Ahead() []byte { return r.b[r.off:] }

// Skip skips n bytes.
func (r *Reader) Skip(n int) { r.take(n, "skipped bytes") }

// Rest returns all unread bytes and moves to the end.
func (r *Reader) Rest() []byte { return r.take(r.Len(), "rest") }

// Fail sets the error, unless an error is already set.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// take returns the next n bytes, which share the Reader's memory and have no spare capacity. It returns nil after an
// error, which names the field.
func (r *Reader) take(n int, field string) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.b)-r.off {
		r.err = fmt.Errorf("%w: %s of %d bytes at offset %d, %d left", ErrShort, field, n, r.off, len(r.b)-r.off)
		return nil
	}
	b := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return b
}

// Byte reads a [byte].
func (r *Reader) Byte() byte {
	if b := r.take(1, "[byte]"); b != nil {
		return b[0]
	}
	return 0
}

// Short reads a [short].
func (r *Reader) Short() uint16 {
	if b := r.take(2, "[short]"); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// Int reads an [int].
func (r *Reader) Int() int32 {
	if b := r.take(4, "[int]"); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Long reads a [long].
func (r *Reader) Long() int64 {
	if b := r.take(8, "[long]"); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Count reads an [int] that counts items of at least minSize bytes each. It fails if the rest of the body cannot hold
// that many, which limits the allocations of a parser to the size of its input.
func (r *Reader) Count(minSize int) int { return r.count(int(r.Int()), minSize) }

// ShortCount reads a count, as Count does, from a [short].
func (r *Reader) ShortCount(minSize int) int { return r.count(int(r.Short()), minSize) }

func (r *Reader) count(n, minSize int) int {
	if r.err != nil {
		return 0
	}
	if n < 0 || (minSize > 0 && n > (len(r.b)-r.off)/minSize) {
		r.err = fmt.Errorf("%w: %d items in %d bytes at offset %d", ErrLength, n, len(r.b)-r.off, r.off)
		return 0
	}
	return n
}

// String reads a [string].
func (r *Reader) String() string { return string(r.take(int(r.Short()), "[string]")) }

// LongString reads a [long string].
func (r *Reader) LongString() string { return string(r.take(r.Count(1), "[long string]")) }

// ShortBytes reads a [short bytes].
func (r *Reader) ShortBytes() []byte { return r.take(int(r.Short()), "[short bytes]") }

// Bytes reads a [bytes]. Any negative length means null, for which it returns nil.
func (r *Reader) Bytes() []byte {
	n := int(r.Int())
	if n < 0 {
		return nil
	}
	return r.take(n, "[bytes]")
}

// Value reads a [value] of a result, like Bytes, and reports whether it is null, as opposed to empty.
func (r *Reader) Value() (b []byte, null bool) {
	n := int(r.Int())
	if n < 0 || r.err != nil {
		return nil, true
	}
	return r.take(n, "[value]"), false
}

// UUID reads a [uuid].
func (r *Reader) UUID() (u [16]byte) {
	copy(u[:], r.take(16, "[uuid]"))
	return u
}

// StringList reads a [string list].
func (r *Reader) StringList() []string {
	n := r.ShortCount(2)
	list := make([]string, 0, n)
	for range n {
		list = append(list, r.String())
	}
	return list
}

// StringMultimap reads a [string multimap].
func (r *Reader) StringMultimap() map[string][]string {
	n := r.ShortCount(4)
	m := make(map[string][]string, n)
	for range n {
		k := r.String()
		m[k] = r.StringList()
	}
	return m
}

// BytesMap reads a [bytes map]. Its values are parts of the body.
func (r *Reader) BytesMap() map[string][]byte {
	n := r.ShortCount(6)
	m := make(map[string][]byte, n)
	for range n {
		k := r.String()
		m[k] = r.Bytes()
	}
	return m
}

// InetAddr reads an [inetaddr]: a length byte, 4 or 16, and the address.
func (r *Reader) InetAddr() netip.Addr {
	n := int(r.Byte())
	if r.err == nil && n != 4 && n != 16 {
		r.err = fmt.Errorf("%w: [inetaddr] of %d bytes at offset %d", ErrLength, n, r.off)
	}
	a, _ := netip.AddrFromSlice(r.take(n, "[inetaddr]"))
	return a
}

// Inet reads an [inet]: an [inetaddr] and a port as [int].
func (r *Reader) Inet() netip.AddrPort {
	a := r.InetAddr()
	port := r.Int()
	if r.err == nil && (port < 0 || port > 0xFFFF) {
		r.err = fmt.Errorf("%w: port %d at offset %d", ErrLength, port, r.off)
	}
	if r.err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, uint16(port))
}
