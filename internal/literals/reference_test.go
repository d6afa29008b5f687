// SPDX-License-Identifier: Apache-2.0

package literals

import "errors"

// The reference: content of frames without sequences bit by bit, as RFC 8878 describes it. It takes a valid tree from
// the function under test as weights only, and makes the codes itself.

var errReference = errors.New("not a frame without sequences")

// decodeReference returns the content of a frame whose headers are valid, without its checksum.
func decodeReference(src []byte) (out []byte, err error) {
	f, ok := parseFrame(src)
	if !ok {
		return nil, errReference
	}
	var codes map[string]byte
	for at := f.at; ; {
		b, next, ok := f.block(at)
		if !ok {
			return nil, errReference
		}
		at = next
		data := b.data
		switch b.kind {
		case stored:
			out = append(out, data...)
		case repeated:
			for range b.size {
				out = append(out, data[0])
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
			if out, err = streamsReference(out, data, codes, b.streams, b.size); err != nil {
				return nil, err
			}
		}
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
	n, _ := new(treeReader).readWeights(data[1 : 1+data[0]])
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

// streamReference appends the n symbols of a stream. Its bits are read from the highest of the last byte; the first 1
// is not part of the codes.
func streamReference(out, data []byte, codes map[string]byte, n int) ([]byte, error) {
	digits, began := []byte{}, false
	for i := len(data) - 1; i >= 0; i-- {
		for bit := 7; bit >= 0; bit-- {
			one := data[i]>>bit&1 == 1
			switch {
			case !began:
				began = one
				continue
			case one:
				digits = append(digits, '1')
			default:
				digits = append(digits, '0')
			}
			if s, ok := codes[string(digits)]; ok {
				out = append(out, s)
				n--
				digits = digits[:0]
			}
		}
	}
	if n != 0 || len(digits) > 0 {
		return nil, errReference
	}
	return out, nil
}
