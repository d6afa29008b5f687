// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

// This file lets the fuzzer look for cases in which the Grouper and Reference differ, and for keys that the table mixes up.

func FuzzGrouperEqualsReference(f *testing.F) {
	for i := range 20 {
		f.Add(bytes.Repeat([]byte{byte(i), byte(17 * i), byte(i ^ 0x55)}, 20))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		gc := makeCase(newByteChooser(data), 3000)
		if err := gc.check(nil); err != nil {
			t.Fatalf("%v\n%v", err, gc)
		}
	})
}

// tableKeys are key columns for FuzzTable: each keyForm, and several layouts of words.
var tableKeys = [][]Type{{Int64}, {Int8, Uint16}, {Float64, Int32}, {ID}, {String}, {String, String}, {Int16, String, String}, {Float32, ID}}

// FuzzTable drives tables as a Worker does, and compares groups with those of a map. Strings and integers are made of the bytes themselves: the fuzzer is to find
// keys that are alike in what the table looks at.
func FuzzTable(f *testing.F) {
	for i := range tableKeys {
		f.Add(uint8(i), false, false, []byte("\x00\x01\x02abcdefgh\x0fabcdefghijklmno\x10abcdefghijklmnop\x00\x07abcdefg\x08abcdefgh\x7f\xff\xff\xff\xff\xff\xff\xf8"))
		f.Add(uint8(i), true, true, bytes.Repeat([]byte{0, 1, 0xff, 2, 0, 0, 0, 0x80}, 200))
	}
	f.Fuzz(func(t *testing.T, which uint8, drop, direct bool, data []byte) {
		types := tableKeys[int(which)%len(tableKeys)]
		cols, rows := tableColumns(types, data)
		p, err := newKeyPlan(types)
		if err != nil {
			t.Fatal(err)
		}
		table, m := newTable(p), newKeyMaker(p)
		if direct {
			table.expect(10, 0, 100)
		}
		groups := map[string]uint32{}
		ids, room := make([]uint32, scatterRows), make([]uint32, scatterRows)
		for i := 0; i < len(rows); i += 64 {
			j := min(i+64, len(rows))
			m.make(cols, i, j)
			for pass := range 3 { // find, insert, find again
				ids := ids[:j-i]
				for k := range ids {
					ids[k] = 12345 // nobody reads what is there
				}
				var listed []uint32
				if pass == 1 {
					before := table.groups()
					if listed, err = table.insert(&m.keys, ids, room[:0], drop); err != nil {
						t.Fatal(err)
					}
					for n, k := range listed {
						if row := rows[i+int(k)]; groups[row.key] != 0 || row.null && drop {
							t.Fatalf("row %d, %q, is said to make a group", i+int(k), row.key)
						} else {
							groups[row.key] = uint32(before + n)
						}
					}
				} else {
					listed = slices.Clone(table.find(&m.keys, ids, room[:0]))
				}
				for k, id := range ids {
					row := rows[i+k]
					if id != groups[row.key] {
						t.Fatalf("pass %d, row %d, %q, %x: got group %d, want %d", pass, i+k, row.key, m.w0[k], id, groups[row.key])
					}
					if pass != 1 && (id == 0) != slices.Contains(listed, uint32(k)) {
						t.Fatalf("pass %d, row %d: group %d, strangers %v", pass, i+k, id, listed)
					}
					if pass == 1 && id == 0 && !(row.null && drop) {
						t.Fatalf("row %d, %q, has no group", i+k, row.key)
					}
				}
			}
		}
		if table.groups() != len(groups)+1 {
			t.Fatalf("got %d groups, want %d", table.groups()-1, len(groups))
		}
	})
}

// A tableRow is what a row of FuzzTable is to the map.
type tableRow struct {
	key  string
	null bool
}

// tableColumns makes columns of bytes: for each value one byte, and as many bytes as that says: of a string its length, of others how many of the low bytes are given. 0xff is NULL.
func tableColumns(types []Type, data []byte) ([]Column, []tableRow) {
	values := make([][]any, len(types))
	next := func(n int) []byte {
		b := data[:min(n, len(data))]
		data = data[len(b):]
		return b
	}
	n := 0
	for ; len(data) > 0 && n < 4096; n++ {
		for c, t := range types {
			var size byte
			if b := next(1); len(b) > 0 {
				size = b[0]
			}
			if size == 0xff {
				values[c] = append(values[c], nil)
				continue
			}
			if t == String {
				values[c] = append(values[c], string(next(int(size%40))))
				continue
			}
			var b [16]byte
			copy(b[:], next(int(size)%(t.width()+1)))
			values[c] = append(values[c], tableValue(t, b))
		}
	}
	cols := make([]Column, len(types))
	rows := make([]tableRow, n)
	for c, t := range types {
		col, err := referenceColumn(t, values[c])
		if err != nil {
			panic(err)
		}
		cols[c] = col
		for i, v := range values[c] {
			rows[i].key += string(appendReferenceKey(nil, v))
			rows[i].null = rows[i].null || v == nil
		}
	}
	return cols, rows
}

func tableValue(t Type, b [16]byte) any {
	values := map[Type]any{Int8: new(int8), Int16: new(int16), Uint16: new(uint16), Int32: new(int32), Int64: new(int64), Float32: new(float32), Float64: new(float64)}
	if t == ID {
		return b
	}
	p, ok := values[t]
	if !ok {
		panic(fmt.Sprintf("no %s here", t))
	}
	if _, err := binary.Decode(b[:], binary.LittleEndian, p); err != nil {
		panic(err)
	}
	switch p := p.(type) {
	case *int8:
		return *p
	case *int16:
		return *p
	case *uint16:
		return *p
	case *int32:
		return *p
	case *int64:
		return *p
	case *float32:
		return *p
	case *float64:
		return *p
	}
	panic("not reached")
}
