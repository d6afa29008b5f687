// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unsafe"
)

// This file makes words of keys with strings.

// pack7 returns the at most 7 bytes of s, the first lowest, and its length + 1 above them.
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

// pack15 returns the at most 15 bytes of s in two words, the length + 1 on top of the second.
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

// fingerprint sets the words of row k to those of a long key.
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

// A packed is the strings of a dictionary as words, those of length 8 and more for pack7, 16 and more for pack15, being 0.
type packed struct{ w0, w1 []uint64 }

// packedOf returns the words of a dictionary, which are made once.
func (m *keyMaker) packedOf(d *Dictionary) *packed {
	if p := m.dicts[d]; p != nil {
		return p
	}
	if m.dicts == nil || len(m.dicts) >= 64 { // dictionaries come and go
		m.dicts = map[*Dictionary]*packed{}
	}
	p := &packed{w0: make([]uint64, d.Len())}
	if m.form == keyText {
		p.w1 = make([]uint64, d.Len())
	}
	for i := range p.w0 {
		s := d.entries.text(i)
		switch {
		case m.form == keyText && len(s) <= 15:
			p.w0[i], p.w1[i] = pack15(s)
		case m.form == keyTexts && len(s) <= 7:
			p.w0[i] = pack7(s)
		}
	}
	m.dicts[d] = p
	return p
}

// nullsEmpty sets the words of rows whose column c is NULL, and which may have been anything, to those of an empty string.
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

func (m *keyMaker) makeText(col *Column, i int) {
	n := len(m.w0)
	w0, w1 := m.w0, m.w1[:n]
	switch col.form {
	case formText:
		m.packTexts(col, i)
	case formCodes:
		p := m.packedOf(col.dict)
		for k, code := range col.codes()[i : i+n] {
			if int(code) < len(p.w0) { // or the row is NULL
				w0[k], w1[k] = p.w0[code], p.w1[code]
			}
		}
	default:
		for k, s := range view[string](col)[i : i+n] {
			if len(s) > 15 {
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
			m.fingerprint(k, col.text(i+k))
		}
	}
}

// below has the masks of the lowest bytes of a word: below[n] of n, below[8] and on of all; above of the lowest n-8.
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

// readable returns how many strings there are, from the first on, behind whose beginnings lie n bytes of text at least.
func readable(offsets []int32, text, n int) int {
	k := len(offsets) - 1
	for k > 0 && int(offsets[k-1])+n > text {
		k--
	}
	return k
}

// packTexts is pack15 for strings in one piece of memory: where 16 bytes can be read, without a branch on their lengths.
func (m *keyMaker) packTexts(col *Column, i int) {
	n := len(m.w0)
	w0, w1 := m.w0, m.w1[:n]
	offsets := col.offsets[i : i+n+1]
	text := unsafe.Slice((*byte)(col.data), offsets[n])
	fast := readable(offsets, len(text), 16)
	a := int(offsets[0])
	for k := range w0[:fast] {
		b := int(offsets[k+1])
		size := uint64(b - a)
		s := (*[16]byte)(unsafe.Add(col.data, a))
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
			w0[k], w1[k] = pack15(unsafe.String(unsafe.SliceData(s), len(s)))
		}
	}
}

// packColumn is pack7 for a column of strings, 0 for those that are longer; it tells whether there are some.
func (m *keyMaker) packColumn(col *Column, c, i int, w []uint64) (long bool) {
	n := len(w)
	switch col.form {
	case formText:
		offsets := col.offsets[i : i+n+1]
		text := unsafe.Slice((*byte)(col.data), offsets[n])
		fast := readable(offsets, len(text), 8)
		a := int(offsets[0])
		for k := range w[:fast] {
			b := int(offsets[k+1])
			size := uint64(b - a)
			v := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(col.data, a))[:])&below[size&7] | (size+1)<<tagShift
			if size > 7 {
				v = 0
			}
			w[k] = v
			a = b
		}
		for k := fast; k < n; k++ {
			w[k] = 0
			if s := text[offsets[k]:offsets[k+1]]; len(s) <= 7 {
				w[k] = pack7(unsafe.String(unsafe.SliceData(s), len(s)))
			}
		}
	case formCodes:
		p := m.packedOf(col.dict).w0
		for k, code := range col.codes()[i : i+n] {
			if int(code) < len(p) {
				w[k] = p[code]
			}
		}
	default:
		for k, s := range view[string](col)[i : i+n] {
			if len(s) > 7 {
				w[k] = 0
			} else {
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

func (m *keyMaker) makeTexts(cols []Column, i int) {
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
		// Should the records have to move, earlier rows keep what they point at.
		start := len(m.records)
		for c := range cols {
			s := ""
			if m.maskOf(uint32(k))>>c&1 == 0 {
				s = cols[c].text(i + k)
			}
			m.records = appendText(m.records, s)
		}
		rec := m.records[start:]
		m.fingerprint(k, unsafe.String(unsafe.SliceData(rec), len(rec)))
	}
}

// appendText appends a string to a record: its length as a varint, and its bytes.
func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// makeRecords makes a record of each row: fixed columns little-endian in their width, strings as by appendText, NULLs as zero or empty. All
// records are in one piece of memory, written column by column.
func (m *keyMaker) makeRecords(cols []Column, i int) {
	n := len(m.w0)
	at := grown(m.at, n+1)[:n+1]
	m.at = at
	fixed := 0
	for _, t := range m.types {
		fixed += t.width()
	}
	for k := range at {
		at[k] = fixed
	}
	for c := range cols {
		switch col := &cols[c]; {
		case col.typ != String:
		case col.form == formText && m.mask == nil:
			offsets := col.offsets[i : i+n+1]
			for k := range n {
				size := int(offsets[k+1] - offsets[k])
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
	m.records = grown(m.records[:0], end+16) // so that 16 bytes can be read wherever a record begins
	rec := m.records
	for c := range cols {
		m.writeColumn(rec, at[:n], &cols[c], c, i)
	}
	// Now at[k] is the end of row k.
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

// textOf returns the string of column c in row i+k, "" if it is NULL.
func (m *keyMaker) textOf(col *Column, c, i, k int) string {
	if m.mask != nil && m.mask[k]>>c&1 != 0 {
		return ""
	}
	return col.text(i + k)
}

// writeColumn writes column c of each row to rec, at at[k], and moves that on.
func (m *keyMaker) writeColumn(rec []byte, at []int, col *Column, c, i int) {
	switch w := col.typ.width(); w {
	case 0:
		if col.form == formText && m.mask == nil {
			offsets := col.offsets[i : i+len(at)+1]
			text := unsafe.Slice((*byte)(col.data), offsets[len(at)])
			for k, p := range at {
				at[k] = writeText(rec, p, text[offsets[k]:offsets[k+1]])
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

// writeText writes a string to rec as appendText does, and returns where it ends.
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

// at64 returns the values of a fixed column of at most 64 bits as words, in the memory of w1, which is not made yet.
func (m *keyMaker) at64(col *Column, c, i, n int) []uint64 {
	words := m.w1[:n]
	clear(words)
	m.orWord(words, col, i, 0, c)
	return words
}
