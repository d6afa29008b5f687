// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"slices"
	"testing"

	"github.com/vecql/vecql/column"
)

// Fuzzing: searches for cases in which the Grouper and the reference differ, and for keys that the table confuses.

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
var tableKeys = [][]column.Type{
	{typeInt64},
	{typeInt8, typeUint16},
	{typeFloat64, typeInt32},
	{typeUUID},
	{typeString},
	{typeString, typeString},
	{typeInt16, typeString, typeString},
	{typeFloat32, typeUUID},
	{typeFloat16, {Kind: column.Fixed, Width: 3}},
	{{Kind: column.Fixed, Width: 5}},
}

// FuzzTable drives tables as a worker does, and compares groups with the groups of a map. Strings and integers
// consist of the fuzzer's bytes, so that it can find keys that the table confuses.
func FuzzTable(f *testing.F) {
	for i := range tableKeys {
		f.Add(uint8(i), false, false, []byte("\x00\x01\x02abcdefgh\x0fabcdefghijklmno\x10abcdefghijklmnop\x00\x07abcdefg\x08abcdefgh\x7f\xff\xff\xff\xff\xff\xff\xf8"))
		f.Add(uint8(i), true, true, bytes.Repeat([]byte{0, 1, 0xff, 2, 0, 0, 0, 0x80}, 200))
	}
	f.Fuzz(func(t *testing.T, which uint8, drop, direct bool, data []byte) {
		types := tableKeys[int(which)%len(tableKeys)]
		cols, rows := tableColumns(types, data)
		p := newKeyPlan(types)
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
					ids[k] = 12345 // must not be read
				}
				var listed []uint32
				if pass == 1 {
					before := table.groups()
					var err error
					if listed, err = table.insert(&m.keys, ids, room[:0], drop); err != nil {
						t.Fatal(err)
					}
					for n, k := range listed {
						if row := rows[i+int(k)]; groups[row.key] != 0 || row.null && drop {
							t.Fatalf("row %d, %q, is reported to make a group", i+int(k), row.key)
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
						t.Fatalf("pass %d, row %d: group %d, misses %v", pass, i+k, id, listed)
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

// FuzzChanges lists the rows whose key differs from the key of the row before, with fingerprints that are all equal,
// and compares the list with the keys of the reference.
func FuzzChanges(f *testing.F) {
	for i := range tableKeys {
		f.Add(uint8(i), []byte("\x00\x00\x01a\x01a\xff\xff\x0fabcdefghijklmno\x10abcdefghijklmnop\x10abcdefghijklmnop\x10abcdefghijklmnoq"))
		f.Add(uint8(i), bytes.Repeat([]byte{0, 0xff}, 50))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		types := tableKeys[int(which)%len(tableKeys)]
		cols, rows := tableColumns(types, data)
		m := newKeyMaker(newKeyPlan(types))
		m.make(cols, 0, len(rows))
		for _, i := range m.longs {
			m.w0[i], m.w1[i] = 42, tagLong<<tagShift
		}
		var want []uint32
		for i, row := range rows {
			if i == 0 || row.key != rows[i-1].key {
				want = append(want, uint32(i))
			}
		}
		if got := m.changes(make([]uint32, scatterRows)); !slices.Equal(got, want) {
			t.Fatalf("got rows %v, want %v", got, want)
		}
	})
}

// A tableRow is a row of FuzzTable in the map.
type tableRow struct {
	key  string
	null bool
}

// tableColumns makes columns from bytes. Each value has a length byte and as many bytes: the text of a string, or the
// low bytes of other kinds. Length 0xff means NULL.
func tableColumns(types []column.Type, data []byte) ([]column.Column, []tableRow) {
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
			if t.ValueWidth() == 0 {
				values[c] = append(values[c], string(next(int(size%40))))
				continue
			}
			var b [16]byte
			w := t.ValueWidth()
			copy(b[:], next(int(size)%(w+1)))
			values[c] = append(values[c], referenceScalar(t.Kind, b[:w]))
		}
	}
	cols := make([]column.Column, len(types))
	rows := make([]tableRow, n)
	for c, t := range types {
		col, err := referenceColumn(fieldOf(t), values[c])
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
