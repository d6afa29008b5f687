// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Conversion of text keys to words.

// pack7 returns the bytes of s, at most 7, the first lowest, with its length plus 1 above them.
func pack7(s string) uint64 {
	var w uint64
	switch n := len(s); {
	case n >= 4:
		lo := uint64(le32(s, 0))
		hi := uint64(le32(s, n-4))
		w = lo | hi<<(8*(n-4))
	case n >= 2:
		w = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[n-1])<<(8*(n-1))
	case n == 1:
		w = uint64(s[0])
	}
	return w | uint64(len(s)+1)<<tagShift
}

// pack15 returns the bytes of s, at most 15, in two words, with its length plus 1 on top of the second.
func pack15(s string) (w0, w1 uint64) {
	if len(s) < 8 {
		w := pack7(s)
		return w &^ (0xff << tagShift), w & (0xff << tagShift)
	}
	w0 = le64(s, 0)
	if n := len(s); n > 8 {
		w1 = le64(s, n-8) >> (8 * (16 - n))
	}
	return w0, w1 | uint64(len(s)+1)<<tagShift
}

func le32(s string, i int) uint32 {
	return binary.LittleEndian.Uint32(unsafe.Slice(unsafe.StringData(s), len(s))[i:])
}

func le64(s string, i int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), len(s))[i:])
}

// fingerprint sets the words of row k to the fingerprint of a long key.
func (m *keyMaker) fingerprint(k int, s string) {
	if m.texts == nil {
		m.texts = m.buf.texts[:len(m.w0)]
		m.used = max(m.used, len(m.texts))
	}
	m.texts[k] = s
	m.longs = append(m.longs, uint32(k))
	m.w0[k] = maphash.String(m.hash, s)
	m.w1[k] = uint64(len(s))&(1<<tagShift-1) | tagLong<<tagShift
}

// A packed is the strings of a dictionary as words, in keyRecords after their lengths. Strings too long for the words,
// 8 bytes in pack7 or 16 in pack15, are 0.
type packed struct{ w0, w1 []uint64 }

// packedOf returns the cached words of a dictionary.
func (m *keyMaker) packedOf(d *column.Dictionary) *packed {
	if p := m.dicts[d]; p != nil {
		return p
	}
	if m.dicts == nil || len(m.dicts) >= 64 { // bounds the cache: dictionaries change
		m.dicts = map[*column.Dictionary]*packed{}
	}
	p := &packed{w0: make([]uint64, d.Len())}
	if m.form != keyTexts {
		p.w1 = make([]uint64, d.Len())
	}
	for i := range p.w0 {
		s := stringOf(d.Bytes(uint32(i)))
		switch {
		case m.form == keyText && len(s) <= 15:
			p.w0[i], p.w1[i] = pack15(s)
		case m.form == keyTexts && len(s) <= 7:
			p.w0[i] = pack7(s)
		case m.form == keyRecords && len(s) <= 14:
			p.w0[i], p.w1[i] = pack15(string(byte(len(s))) + s)
		}
	}
	m.dicts[d] = p
	return p
}

// nullsEmpty sets the words of rows whose column c is NULL, which are unspecified so far, to the words of an empty
// string.
func (m *keyMaker) nullsEmpty(c int, w0, w1 []uint64) {
	e0, e1 := pack15("")
	if w1 == nil {
		e0 = pack7("")
	}
	for k, mask := range m.mask {
		if mask>>c&1 != 0 {
			w0[k] = e0
			if w1 != nil {
				w1[k] = e1
			}
		}
	}
}

// makeText makes the keys of rows from i of one column of text. Texts of at most 15 bytes fit the words; w1 of a longer
// one is 0 until it has a fingerprint.
func (m *keyMaker) makeText(col *column.Column, i int) {
	n := len(m.w0)
	w0, w1 := m.w0, m.w1[:n]
	switch {
	case n == 0:
	case col.Dict != nil:
		p := m.packedOf(col.Dict)
		for k, code := range codesOf(col)[i : i+n] {
			if uint64(code) < uint64(len(p.w0)) { // codes of NULL rows may be out of range
				w0[k], w1[k] = p.w0[code], p.w1[code]
			}
		}
	case col.Offsets != nil:
		m.packTexts(col, i)
	default: // a fixed-width kind
		for k := range w0 {
			if s := textAt(col, i+k); len(s) > 15 {
				w1[k] = 0
			} else {
				w0[k], w1[k] = pack15(s)
			}
		}
	}
	if m.mask != nil {
		m.nullsEmpty(0, w0, w1)
	}
	for k, w := range w1 {
		if w == 0 {
			m.fingerprint(k, textAt(col, i+k))
		}
	}
}

// below[n] is the mask of the n lowest bytes of a word, all ones for n >= 8. above[n] is the mask of the n-8 lowest
// bytes.
var (
	below = [16]uint64{
		0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1,
		1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1,
	}
	above = [16]uint64{
		0, 0, 0, 0, 0, 0, 0, 0,
		0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1,
	}
)

// readable returns the number of leading strings from whose beginning at least n bytes of text can be read.
func readable(offsets []int32, text, n int) int {
	k := len(offsets) - 1
	for k > 0 && int(offsets[k-1])+n > text {
		k--
	}
	return k
}

// packTexts is pack15 for a column of text. Where 16 bytes can be read, it has no branch on lengths.
func (m *keyMaker) packTexts(col *column.Column, i int) {
	n := len(m.w0)
	w0, w1 := m.w0, m.w1[:n]
	offsets := col.Offsets[i : i+n+1]
	text := col.Values[:offsets[n]]
	data := unsafe.Pointer(unsafe.SliceData(text))
	fast := readable(offsets, len(text), 16)
	last := uint(max(0, len(text)-16)) // keeps reads within the text if offsets do not ascend
	a := int(offsets[0])
	for k := range w0[:fast] {
		b := int(offsets[k+1])
		size := uint64(b - a)
		s := (*[16]byte)(unsafe.Add(data, min(uint(a), last)))
		v0 := binary.LittleEndian.Uint64(s[:8]) & below[size&15]
		v1 := binary.LittleEndian.Uint64(s[8:])&above[size&15] | (size+1)<<tagShift
		if size > 15 {
			v1 = 0
		}
		w0[k], w1[k] = v0, v1
		a = b
	}
	for k := fast; k < n; k++ {
		if s := text[offsets[k]:offsets[k+1]]; len(s) > 15 {
			w1[k] = 0
		} else {
			w0[k], w1[k] = pack15(stringOf(s))
		}
	}
}

// packColumn is pack7 for a column of text, 0 for longer rows. It reports whether there are longer rows.
func (m *keyMaker) packColumn(col *column.Column, c, i int, w []uint64) (long bool) {
	n := len(w)
	switch {
	case n == 0:
		return false
	case col.Dict != nil:
		p := m.packedOf(col.Dict).w0
		for k, code := range codesOf(col)[i : i+n] {
			if uint64(code) < uint64(len(p)) {
				w[k] = p[code]
			}
		}
	case col.Offsets != nil:
		offsets := col.Offsets[i : i+n+1]
		text := col.Values[:offsets[n]]
		data := unsafe.Pointer(unsafe.SliceData(text))
		fast := readable(offsets, len(text), 8)
		last := uint(max(0, len(text)-8)) // as in packTexts
		a := int(offsets[0])
		for k := range w[:fast] {
			b := int(offsets[k+1])
			size := uint64(b - a)
			v := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(data, min(uint(a), last)))[:])&below[size&7] | (size+
				1)<<tagShift
			if size > 7 {
				v = 0
			}
			w[k] = v
			a = b
		}
		for k := fast; k < n; k++ {
			w[k] = 0
			if s := text[offsets[k]:offsets[k+1]]; len(s) <= 7 {
				w[k] = pack7(stringOf(s))
			}
		}
	default: // a fixed-width kind
		for k := range w {
			w[k] = 0
			if s := textAt(col, i+k); len(s) <= 7 {
				w[k] = pack7(s)
			}
		}
	}
	if m.mask != nil {
		m.nullsEmpty(c, w, nil)
	}
	least := ^uint64(0)
	for _, x := range w {
		least = min(least, x)
	}
	return least == 0
}

// makeTexts makes the keys of rows from i of two columns of text. If both have at most 7 bytes, each fills one word.
// Otherwise the key is a record: both texts after their lengths.
func (m *keyMaker) makeTexts(cols []column.Column, i int) {
	long0 := m.packColumn(&cols[0], 0, i, m.w0)
	long1 := m.packColumn(&cols[1], 1, i, m.w1)
	if !long0 && !long1 {
		return
	}
	m.records = m.records[:0]
	for k := range m.w0 {
		if m.w0[k] != 0 && m.w1[k] != 0 {
			continue
		}
		// If records is reallocated, earlier rows keep the old memory.
		start := len(m.records)
		for c := range cols {
			s := ""
			if m.maskOf(uint32(k))>>c&1 == 0 {
				s = textAt(&cols[c], i+k)
			}
			m.records = appendText(m.records, s)
		}
		rec := m.records[start:]
		m.fingerprint(k, stringOf(rec))
	}
}

// appendText appends a string to a record: its length as a uvarint, then its bytes.
func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// makeRecords makes a record of each row: fixed-width columns little-endian in their width, strings as appendText
// writes them, NULLs as zero or empty. All records share one buffer and are written column by column.
func (m *keyMaker) makeRecords(cols []column.Column, i int) {
	n := len(m.w0)
	at := grown(m.at, n+1)[:n+1]
	m.at = at
	fixed := 0
	for _, w := range m.widths {
		fixed += w
	}
	for k := range at {
		at[k] = fixed
	}
	for c := range cols {
		switch col := &cols[c]; {
		case m.widths[c] > 0 || n == 0:
		case col.Dict != nil:
			_, offsets := col.Dict.Buffers()
			for k, code := range codesOf(col)[i : i+n] {
				size := 0
				if !m.isNull(c, k) {
					size = int(offsets[code+1] - offsets[code])
				}
				at[k] += size + varintLen(size)
			}
		case col.Offsets != nil:
			offsets := col.Offsets[i : i+n+1]
			for k := range n {
				size := 0
				if !m.isNull(c, k) {
					size = int(offsets[k+1] - offsets[k])
				}
				at[k] += size + varintLen(size)
			}
		default:
			for k := range n {
				size := len(m.textOf(col, c, i, k))
				at[k] += size + varintLen(size)
			}
		}
	}
	end := 0
	for k, size := range at {
		at[k] = end
		end += size
	}
	m.records = grown(m.records[:0], end+16) // 16 bytes can be read from the start of each record
	rec := m.records
	for c := range cols {
		m.writeColumn(rec, at[:n], &cols[c], c, i)
	}
	// at[k] is now the end of row k.
	start := 0
	for k := range n {
		size := at[k] - start
		if size <= 15 {
			s := rec[start : start+16]
			m.w0[k] = binary.LittleEndian.Uint64(s) & below[size]
			m.w1[k] = binary.LittleEndian.Uint64(s[8:])&above[size] | uint64(size+1)<<tagShift
		} else {
			m.fingerprint(k, unsafe.String(unsafe.SliceData(rec[start:]), size))
		}
		start = at[k]
	}
}

func varintLen(n int) int { return (bits.Len(uint(n)|1) + 6) / 7 }

// isNull reports whether column c is NULL in row k of the keys.
func (m *keyMaker) isNull(c, k int) bool { return m.mask != nil && m.mask[k]>>c&1 != 0 }

// textOf returns the string of column c in row i+k, "" if it is NULL.
func (m *keyMaker) textOf(col *column.Column, c, i, k int) string {
	if m.isNull(c, k) {
		return ""
	}
	return textAt(col, i+k)
}

// writeColumn writes column c of each row k to rec, at the offset at[k], and advances the offset.
func (m *keyMaker) writeColumn(rec []byte, at []int, col *column.Column, c, i int) {
	switch w := m.widths[c]; w {
	case 0:
		switch {
		case col.Dict != nil:
			text, offsets := col.Dict.Buffers()
			for k, code := range codesOf(col)[i : i+len(at)] {
				if m.isNull(c, k) {
					at[k] = writeText(rec, at[k], "")
				} else {
					at[k] = writeText(rec, at[k], text[offsets[code]:offsets[code+1]])
				}
			}
			return
		case col.Offsets != nil:
			offsets := col.Offsets[i : i+len(at)+1]
			text := col.Values[:offsets[len(at)]]
			for k, p := range at {
				if m.isNull(c, k) {
					at[k] = writeText(rec, p, "")
				} else {
					at[k] = writeText(rec, p, text[offsets[k]:offsets[k+1]])
				}
			}
			return
		}
		for k, p := range at {
			at[k] = writeText(rec, p, m.textOf(col, c, i, k))
		}
	case 16:
		ids := view[[16]byte](col)[i:]
		for k, p := range at {
			if m.maskOf(uint32(k))>>c&1 == 0 {
				copy(rec[p:], ids[k][:])
			} else {
				clear(rec[p : p+16])
			}
			at[k] = p + 16
		}
	default:
		words := m.at64(col, c, i, len(at))
		for k, p := range at {
			switch w {
			case 1:
				rec[p] = byte(words[k])
			case 2:
				binary.LittleEndian.PutUint16(rec[p:], uint16(words[k]))
			case 4:
				binary.LittleEndian.PutUint32(rec[p:], uint32(words[k]))
			default:
				binary.LittleEndian.PutUint64(rec[p:], words[k])
			}
			at[k] = p + w
		}
	}
}

// writeText writes a string to rec as appendText does, and returns the offset of its end.
func writeText[T string | []byte](rec []byte, p int, s T) int {
	if len(s) == 0 {
		rec[p] = 0
		return p + 1
	}
	if len(s) < 0x80 {
		rec[p] = byte(len(s))
		p++
	} else {
		p += binary.PutUvarint(rec[p:], uint64(len(s)))
	}
	return p + copy(rec[p:], s)
}

// at64 returns the values of a fixed-width column of at most 64 bits as words. It uses the memory of w1, which is not
// filled yet.
func (m *keyMaker) at64(col *column.Column, c, i, n int) []uint64 {
	words := m.w1[:n]
	clear(words)
	m.orWord(words, col, i, 0, c)
	return words
}
