// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"testing"
)

// bytesGenerator returns a generator that chooses by bytes, and chooses 0 after the last one.
func bytesGenerator(b []byte) generator {
	return generator{func(n int) int {
		v := 0
		for m := n - 1; m > 0; m >>= 8 {
			if len(b) > 0 {
				v, b = v<<8|int(b[0]), b[1:]
			}
		}
		return v % n
	}}
}

// FuzzFilterEqualsReference makes columns and a filter from bytes.
func FuzzFilterEqualsReference(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x02\x09\x03\x01\x0b\x00\x05\x07\x04\x06\x02\x01\x03\x05\x08\x0a\x0c\x0e\x10\x12\x14"))
	f.Add(bytes.Repeat([]byte{0x13, 0x57, 0x9b, 0xdf, 0x02, 0x46}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := bytesGenerator(b)
		table := g.table(1+g.intn(3), g.intn(20))
		table.checkEval(t, g.filter(table.types, table.paths, g.intn(4)))
	})
}

// FuzzPruneEqualsReference writes the columns into a file as well.
func FuzzPruneEqualsReference(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0x13, 0x57, 0x9b, 0xdf, 0x02, 0x46}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := bytesGenerator(b)
		table := g.table(1+g.intn(3), 1+g.intn(40))
		table.storable()
		file := g.file(t, table, 1+g.intn(40), testProperties(g)...)
		for range 3 {
			file.checkPrune(t, g.filter(table.types, table.paths, g.intn(3)))
		}
	})
}

// FuzzPruneIndex overwrites indexes of a file: pruning must not panic, and must return ranges of the row group.
func FuzzPruneIndex(f *testing.F) {
	whole := indexedFile(f)
	places := whole.indexes()
	for i, p := range places {
		f.Add(byte(i), uint16(0), bytes.Clone(whole.bytes[p[0]:p[0]+p[1]]))
	}
	f.Fuzz(func(t *testing.T, which byte, at uint16, patch []byte) {
		file := *whole
		place := places[int(which)%len(places)]
		file.bytes = bytes.Clone(whole.bytes)
		copy(file.bytes[place[0]+int(at)%place[1]:place[0]+place[1]], patch)
		file.open(t)
		for _, filter := range []Filter{In("c", 7, 8), Gt("c", 150), IsNull("c")} {
			last := int64(-1)
			for _, r := range file.pruned(t, filter)[0] {
				if r.from <= last || r.to <= r.from || r.to > 100 {
					t.Fatalf("%v", r)
				}
				last = r.to
			}
		}
	})
}
