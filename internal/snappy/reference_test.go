// SPDX-License-Identifier: Apache-2.0

package snappy

import "errors"

var errReference = errors.New("not a block")

// reference decodes a block byte by byte, as format_description.txt describes it.
func reference(block []byte) (out []byte, err error) {
	defer func() {
		if recover() != nil { // the block ends too early
			out, err = nil, errReference
		}
	}()
	block = block[:len(block):len(block)]
	want, at := uint64(0), 0
	for shift := 0; ; shift += 7 {
		b := block[at]
		at++
		want |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	if want>>32 != 0 || at > 10 {
		return nil, errReference
	}
	next := func(n int) (v int) {
		for i := range n {
			v |= int(block[at]) << (8 * i)
			at++
		}
		return v
	}
	for at < len(block) {
		tag := next(1)
		length, offset := tag>>2+1, 0
		switch tag & 3 {
		case 0:
			if length > 60 {
				length = next(length-60) + 1
			}
			if uint64(len(out)+length) > want {
				return nil, errReference
			}
			out = append(out, block[at:at+length]...)
			at += length
			continue
		case 1:
			length, offset = tag>>2&7+4, tag>>5<<8+next(1)
		case 2:
			offset = next(2)
		case 3:
			offset = next(4)
		}
		if offset == 0 || uint64(len(out)+length) > want {
			return nil, errReference
		}
		for range length {
			out = append(out, out[len(out)-offset])
		}
	}
	if uint64(len(out)) != want {
		return nil, errReference
	}
	return out, nil
}
