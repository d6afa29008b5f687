// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"bytes"
	"errors"
)

// The reference: content of frames bit by bit, as RFC 8878 describes it. It takes a valid tree from the function under
// test as weights only, and makes the codes itself. It takes the tables of sequences from the function under test.

var errReference = errors.New("not a frame")

// decodeReference returns the content of a frame whose headers are valid, without its checksum.
func decodeReference(src []byte) (out []byte, err error) {
	f, ok := parseFrame(src)
	if !ok {
		return nil, errReference
	}
	var codes map[string]byte
	var tables tableReader
	tables.reset()
	repeat := []int{1, 4, 8}
	for at := f.at; ; {
		b, next, ok := f.block(at)
		if !ok {
			return nil, errReference
		}
		at = next
		data := b.data
		var lits []byte
		switch b.kind {
		case stored:
			lits = data
		case repeated:
			for range b.size {
				lits = append(lits, data[0])
			}
		case coded:
			var r treeReader
			n, ok := r.read(new(table), data)
			if !ok {
				return nil, errReference
			}
			codes = codesReference(r.weights[:numWeights(&r, data)])
			data = data[n:]
			fallthrough
		case treeless:
			if lits, err = streamsReference(nil, data, codes, b.streams, b.size); err != nil {
				return nil, err
			}
		}
		if b.number > 0 {
			if out, lits, err = sequencesReference(out, lits, &b, &tables, repeat); err != nil {
				return nil, err
			}
		}
		out = append(out, lits...)
		if b.last {
			return out, nil
		}
	}
}

// numWeights returns the number of weights of the tree that r has read, with the last one.
func numWeights(r *treeReader, data []byte) int {
	if data[0] >= directHeader {
		return int(data[0]) - (directHeader - 1) + 1
	}
	n, _ := new(treeReader).readWeights(data[1 : 1+int(data[0])])
	return n + 1
}

// codesReference returns the symbols of the codes, which are strings of the digits 0 and 1.
func codesReference(weights []byte) map[string]byte {
	longest := 0
	for total := 0; 1<<longest != total; {
		total = 0
		for _, w := range weights {
			total += 1 << w >> 1
		}
		for longest = 0; 1<<longest < total; longest++ {
		}
	}
	codes := map[string]byte{}
	value := 0
	for w := 1; w <= longest; w++ { // from the longest codes to the shortest
		for s, v := range weights {
			if int(v) != w {
				continue
			}
			length, digits := longest+1-w, ""
			for i := range length {
				digits += string(rune('0' + value>>(w-1)>>(length-1-i)&1))
			}
			codes[digits] = byte(s)
			value += 1 << (w - 1)
		}
	}
	return codes
}

// streamsReference appends the content of one or four streams.
func streamsReference(out, data []byte, codes map[string]byte, streams, size int) ([]byte, error) {
	if streams == 1 {
		return streamReference(out, data, codes, size)
	}
	if len(data) < 6 {
		return nil, errReference
	}
	head, data := data[:6], data[6:]
	part := (size + 3) / 4
	for i := range 4 {
		n, k := len(data), size-3*part
		if i < 3 {
			n, k = int(head[2*i])|int(head[2*i+1])<<8, part
		}
		if n > len(data) {
			return nil, errReference
		}
		var err error
		if out, err = streamReference(out, data[:n], codes, k); err != nil {
			return nil, err
		}
		data = data[n:]
	}
	return out, nil
}

// sequencesReference appends the content of the sequences of a block, and returns the rest of the literals.
func sequencesReference(out, lits []byte, b *block, tables *tableReader, repeat []int) (_, _ []byte, err error) {
	defer func() {
		if recover() != nil { // a position outside
			err = errReference
		}
	}()
	n, ok := tables.read(b.sequences)
	if !ok {
		return nil, nil, errReference
	}
	digits := digitsReference(b.sequences[n:])
	read := func(n int) (v int) {
		for _, d := range digits[:n] {
			v = 2*v + int(d-'0')
		}
		digits = digits[n:]
		return v
	}
	literals, offsets, matches := read(tables.logs[0]), read(tables.logs[1]), read(tables.logs[2])
	for left := b.number; left > 0; left-- {
		l, m, o := tables.literals[literals], tables.matches[matches], tables.offsets[offsets]
		value := o.number() + 3 + read(o.bits()) // Offset_Value
		match := m.number() + read(m.bits())
		length := l.number() + read(l.bits())
		if left > 1 {
			literals = l.next() + read(l.nextBits())
			matches = m.next() + read(m.nextBits())
			offsets = o.next() + read(o.nextBits())
		}
		switch {
		case value > 3:
			repeat[0], repeat[1], repeat[2] = value-3, repeat[0], repeat[1]
		case length == 0 && value == 3:
			repeat[0], repeat[1], repeat[2] = repeat[0]-1, repeat[0], repeat[1]
		case value == 3 || length == 0 && value == 2:
			repeat[0], repeat[1], repeat[2] = repeat[2], repeat[0], repeat[1]
		case value == 2 || length == 0:
			repeat[0], repeat[1] = repeat[1], repeat[0]
		}
		out = append(out, lits[:length]...)
		lits = lits[length:]
		for range match {
			out = append(out, out[len(out)-repeat[0]])
		}
	}
	if len(digits) > 0 {
		return nil, nil, errReference
	}
	return out, lits, nil
}

// digitsReference returns the bits of a stream from the highest of the last byte on, after the first 1.
func digitsReference(data []byte) string {
	var digits []byte
	for i := len(data) - 1; i >= 0; i-- {
		for bit := 7; bit >= 0; bit-- {
			digits = append(digits, '0'+data[i]>>bit&1)
		}
	}
	return string(digits[bytes.IndexByte(digits, '1')+1:])
}

// streamReference appends the n symbols of a stream.
func streamReference(out, data []byte, codes map[string]byte, n int) ([]byte, error) {
	digits, from := digitsReference(data), 0
	for i := range digits {
		if s, ok := codes[digits[from:i+1]]; ok {
			out = append(out, s)
			n--
			from = i + 1
		}
	}
	if n != 0 || from < len(digits) {
		return nil, errReference
	}
	return out, nil
}
