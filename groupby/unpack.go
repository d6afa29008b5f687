// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
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
		p.unpackTexts(r, i, j, to)
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
