// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Conversion of a number and a text to words. The keys are the same as makeRecords makes, but records that fit the
// words are not written to memory first.

// isPrefixed reports whether the keys are a column of 1, 2, 4 or 8 bytes, then one of text.
func (p *keyPlan) isPrefixed() bool {
	return p.form == keyRecords && len(p.types) == 2 && p.widths[0] > 0 && p.widths[0] <= 8 && p.types[1].Kind.IsText()
}

// canPrefix reports whether makePrefixed can make the keys of columns: the text has offsets, and no row is NULL.
func (m *keyMaker) canPrefix(cols []column.Column) bool {
	return m.isPrefixed() && len(m.w0) > 0 && m.mask == nil && (cols[1].Offsets != nil || cols[1].Dict != nil)
}

// makePrefixed is makeRecords for columns that canPrefix accepts.
func (m *keyMaker) makePrefixed(cols []column.Column, i int) {
	n, width := len(m.w0), m.widths[0]
	w0, w1 := m.w0, m.w1[:n]
	clear(w0)
	m.orWord(w0, &cols[0], i, 0, 0)
	m.records = m.records[:0]
	if cols[1].Dict != nil {
		m.prefixCodes(&cols[1], i)
		return
	}
	offsets := cols[1].Offsets[i : i+n+1]
	text := cols[1].Values[:offsets[n]]
	data := unsafe.Pointer(unsafe.SliceData(text))
	fast := readable(offsets, len(text), 16)
	last := uint(max(0, len(text)-16)) // as in packTexts
	most := uint64(14 - width)         // bytes of text that fit; one byte is its length
	shift := uint(8 * width)
	a := int(offsets[0])
	for k, word := range w0[:fast] {
		b := int(offsets[k+1])
		size := uint64(b - a)
		s := (*[16]byte)(unsafe.Add(data, min(uint(a), last)))
		lo := binary.LittleEndian.Uint64(s[:8]) & below[size&15]
		hi := binary.LittleEndian.Uint64(s[8:]) & above[size&15]
		lo, hi = lo<<8|size, hi<<8|lo>>56 // the length, then the text
		v1 := hi<<shift | lo>>(64-shift) | (size+uint64(width)+2)<<tagShift
		if size > most {
			v1 = 0
		}
		w1[k] = v1
		if v1 != 0 {
			w0[k] = word | lo<<shift
		}
		a = b
	}
	for k := range w1 {
		if k < fast && w1[k] != 0 {
			continue
		}
		m.addRecord(k, w0[k], text[offsets[k]:offsets[k+1]])
	}
}

// prefixCodes adds the texts of codes to the numbers, which are in w0.
func (m *keyMaker) prefixCodes(text *column.Column, i int) {
	width := uint64(m.widths[0])
	shift := uint(8 * width)
	p := m.packedOf(text.Dict)
	for k, code := range codesOf(text)[i : i+len(m.w0)] {
		lo, hi := p.w0[code], p.w1[code]
		size := hi >> tagShift // of the length and the text, plus 1
		if size == 0 || size+width > 16 {
			m.addRecord(k, m.w0[k], text.Dict.Bytes(code))
			continue
		}
		m.w0[k] |= lo << shift
		m.w1[k] = hi<<8>>8<<shift | lo>>(64-shift) | (size+width)<<tagShift
	}
}

// addRecord sets the words of row k to the words of the record of a word and a text.
func (m *keyMaker) addRecord(k int, word uint64, text []byte) {
	// If records is reallocated, earlier rows keep the old memory.
	start, width := len(m.records), m.widths[0]
	m.records = binary.LittleEndian.AppendUint64(m.records, word)[:start+width]
	m.records = appendText(m.records, stringOf(text))
	rec := stringOf(m.records[start:])
	if len(rec) > 15 {
		m.fingerprint(k, rec)
	} else {
		m.w0[k], m.w1[k] = pack15(rec)
	}
}
