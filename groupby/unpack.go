// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// Conversion of words to columns of keys: the inverse of keys.go.

// unpack appends the keys of rows [i, j) to columns.
func (p *keyPlan) unpack(r *keyRows, i, j int, to []builder) {
	n := j - i
	if n == 0 {
		return
	}
	for c := range to {
		if r.mask != nil {
			to[c].unpackValidity(r.mask[i:j], c)
		} else if to[c].validity != nil {
			to[c].startValidity(n)
			for k := range n {
				at := to[c].n + k
				to[c].validity[at>>3] |= 1 << (at & 7)
			}
		}
	}
	switch p.form {
	case keyWord, keyWords:
		places := p.places()
		for c := range to {
			to[c].unpackWords(r, i, j, places[c])
			to[c].n += n
		}
	default:
		switch {
		case p.form == keyText && to[0].isText():
			to[0].unpackText(r, i, j)
		case p.isPrefixed() && to[1].isText():
			p.unpackPrefixed(r, i, j, to)
		default:
			p.unpackTexts(r, i, j, to)
		}
	}
}

// unpackValidity appends the validity of key column c: bit c of a mask is set if the column is NULL.
func (b *builder) unpackValidity(mask []uint32, c int) {
	if b.validity == nil {
		some := uint32(0)
		for _, m := range mask {
			some |= m
		}
		if some>>c&1 == 0 {
			return
		}
	}
	b.startValidity(len(mask))
	for i, m := range mask {
		if m>>c&1 == 0 {
			at := b.n + i
			b.validity[at>>3] |= 1 << (at & 7)
		}
	}
}

// unpackWords appends the values of a fixed-width column; the caller advances the number of rows.
func (b *builder) unpackWords(r *keyRows, from, end int, at keyPlace) {
	w := r.w0[from:end]
	if at.word == 1 {
		w = r.w1[from:end]
	}
	to := b.extend(len(w))
	shift := at.shift & 63
	switch b.width {
	case 1:
		for i, x := range w {
			unsafe.Slice((*uint8)(to), len(w))[i] = uint8(x >> shift)
		}
	case 2:
		for i, x := range w {
			unsafe.Slice((*uint16)(to), len(w))[i] = uint16(x >> shift)
		}
	case 4:
		for i, x := range w {
			unsafe.Slice((*uint32)(to), len(w))[i] = uint32(x >> shift)
		}
	case 8:
		copy(unsafe.Slice((*uint64)(to), len(w)), w)
	case 16:
		out := unsafe.Slice((*[16]byte)(to), len(w))
		for i := range out {
			binary.LittleEndian.PutUint64(out[i][:8], r.w0[from+i])
			binary.LittleEndian.PutUint64(out[i][8:], r.w1[from+i])
		}
	}
}

// reserveTexts makes room for keys with text: at the end of the text, where short keys are written as whole words, and
// in the offsets. It returns the text with this room, and the offsets of the keys, which the caller sets.
func (b *builder) reserveTexts(r *keyRows, from, end int) (text []byte, offsets []int32) {
	b.startOffsets()
	n, first := end-from, len(b.offsets)
	b.text = slices.Grow(b.text, r.textBytes(from, end)+15*n+1)
	b.offsets = slices.Grow(b.offsets, n)[:first+n]
	return b.text[:cap(b.text)], b.offsets[first:]
}

// unpackText appends keys of one column of text.
func (b *builder) unpackText(r *keyRows, from, end int) {
	at := len(b.text)
	text, offsets := b.reserveTexts(r, from, end)
	w0, w1 := r.w0[from:end], r.w1[from:end]
	for i, w := range w1 {
		if w>>tagShift == tagLong {
			at += copy(text[at:], r.long(uint32(from+i)))
		} else {
			to := text[at : at+16]
			binary.LittleEndian.PutUint64(to[:8], w0[i])
			binary.LittleEndian.PutUint64(to[8:], w)
			at += int(w>>tagShift) - 1
		}
		offsets[i] = int32(at)
	}
	b.text = text[:at]
	b.n += end - from
}

// unpackPrefixed appends keys of makePrefixed.
func (p *keyPlan) unpackPrefixed(r *keyRows, from, end int, to []builder) {
	width := p.widths[0]
	fixed := to[0].extend(end - from)
	at := len(to[1].text)
	text, offsets := to[1].reserveTexts(r, from, end)
	shift := 8 * uint(width+1) // of the text, in the 128 bits of both words
	w0, w1 := r.w0[from:end], r.w1[from:end]
	for i, w := range w1 {
		word := w0[i]
		if w>>tagShift == tagLong {
			rec := r.long(uint32(from + i))
			word = binary.LittleEndian.Uint64(rec)
			n, size := binary.Uvarint(rec[width:])
			at += copy(text[at:], rec[width+size:][:n])
		} else {
			lo := w & (1<<tagShift - 1)
			to := text[at : at+16]
			binary.LittleEndian.PutUint64(to[:8], word>>shift|lo<<(64-shift)|lo>>(shift-64))
			binary.LittleEndian.PutUint64(to[8:], lo>>shift)
			at += int(w>>tagShift) - 2 - width
		}
		storeWord(unsafe.Add(fixed, i*width), width, word)
		offsets[i] = int32(at)
	}
	to[1].text = text[:at]
	to[0].n += end - from
	to[1].n += end - from
}

// storeWord stores the low bytes of a word: 1, 2, 4 or 8.
func storeWord(at unsafe.Pointer, width int, word uint64) {
	switch width {
	case 1:
		*(*uint8)(at) = uint8(word)
	case 2:
		*(*uint16)(at) = uint16(word)
	case 4:
		*(*uint32)(at) = uint32(word)
	default:
		*(*uint64)(at) = word
	}
}

// sharedKeys is the number of keys whose columns textShares measures.
const sharedKeys = 64

// textShares estimates the parts that columns of text have of the bytes of keys [i, j), as keyBytes counts them, from
// some of the keys, and a little more. It returns nil if there is one such column, which has all.
func (p *keyPlan) textShares(r *keyRows, i, j int) []float64 {
	texts := 0
	for _, w := range p.widths {
		if w == 0 {
			texts++
		}
	}
	if texts < 2 || i == j {
		return nil
	}
	shares, total := make([]float64, len(p.widths)), 0
	for k := i; k < j; k += (j-i)/sharedKeys + 1 {
		total += 15
		rec := p.recordOf(r, k)
		if r.w1[k]>>tagShift == tagLong {
			total += len(rec)
		}
		for c, w := range p.widths {
			if w == 0 {
				n, size := binary.Uvarint(rec)
				shares[c] += float64(n)
				w = size + int(n)
			}
			rec = rec[w:]
		}
	}
	for c := range shares {
		shares[c] = shares[c]/float64(total) + 1.0/16
	}
	return shares
}

// recordOf returns key k as a record, as makeRecords and makeTexts write it.
func (p *keyPlan) recordOf(r *keyRows, k int) []byte {
	w0, w1 := r.w0[k], r.w1[k]
	if w1>>tagShift == tagLong {
		return r.long(uint32(k))
	}
	short := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, w0), w1)
	if p.form == keyTexts {
		first, second := short[:w0>>tagShift-1], short[8:8+w1>>tagShift-1]
		return appendText(appendText(nil, stringOf(first)), stringOf(second))
	}
	return short[:w1>>tagShift-1]
}

// unpackTexts appends keys with text.
func (p *keyPlan) unpackTexts(r *keyRows, from, end int, to []builder) {
	n := end - from
	fixed := make([]unsafe.Pointer, len(to)) // destination of fixed-width columns
	for c := range to {
		if !to[c].isText() {
			fixed[c] = to[c].extend(n)
		} else {
			to[c].startOffsets()
		}
	}
	addText := func(c, i int, s []byte) {
		b := &to[c]
		if w := b.width; w > 0 { // a fixed-width kind as text, empty if it is NULL
			row := unsafe.Slice((*byte)(unsafe.Add(fixed[c], (i-from)*w)), w)
			clear(row[copy(row, s):])
			return
		}
		b.text = append(b.text, s...)
		b.offsets = append(b.offsets, int32(len(b.text)))
	}
	var short [16]byte
	for i := from; i < end; i++ {
		w0, w1 := r.w0[i], r.w1[i]
		binary.LittleEndian.PutUint64(short[:8], w0)
		binary.LittleEndian.PutUint64(short[8:], w1)
		var rec []byte
		switch {
		case w1>>tagShift == tagLong:
			rec = r.long(uint32(i))
		case p.form == keyTexts:
			addText(0, i, short[:w0>>tagShift-1])
			addText(1, i, short[8:8+w1>>tagShift-1])
			continue
		default:
			rec = short[:w1>>tagShift-1]
		}
		if p.form == keyText {
			addText(0, i, rec)
			continue
		}
		for c := range to {
			if p.widths[c] == 0 {
				n, size := binary.Uvarint(rec)
				addText(c, i, rec[size:size+int(n)])
				rec = rec[size+int(n):]
				continue
			}
			w := p.widths[c]
			switch at := unsafe.Add(fixed[c], (i-from)*w); w {
			case 1:
				*(*uint8)(at) = rec[0]
			case 2:
				*(*uint16)(at) = binary.LittleEndian.Uint16(rec)
			case 4:
				*(*uint32)(at) = binary.LittleEndian.Uint32(rec)
			case 8:
				*(*uint64)(at) = binary.LittleEndian.Uint64(rec)
			default:
				copy(unsafe.Slice((*byte)(at), w), rec[:w])
			}
			rec = rec[w:]
		}
	}
	for c := range to {
		to[c].n += n
	}
}
