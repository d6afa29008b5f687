// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// boundKeys are tableKeys, and key columns with other orders.
var boundKeys = append([][]column.Type{
	{{Kind: column.Bool}, typeFloat16},
	{{Kind: column.Decimal128, Precision: 38}},
	{{Kind: column.Duration}, typeInt8},
	{typeString, typeFloat64, typeInt16, typeUint16, {Kind: column.Fixed, Width: 4}},
	{typeUint8, {Kind: column.Varint}},
	{{Kind: column.Fixed, Width: 8}},
	{{Kind: column.Binary}},
}, tableKeys...)

// checkBound compares each group of a table with each other one as the bound, by keys in the table and by columns.
func checkBound(t *testing.T, types []column.Type, order Order, orderBy int, data []byte) {
	cols, rows := tableColumns(types, data)
	p := newKeyPlan(types)
	table, m := newTable(p), newKeyMaker(p)
	ids, miss := make([]uint32, 64), make([]uint32, 64)
	for i := 0; i < len(rows); i += 64 {
		j := min(i+64, len(rows))
		m.make(cols, i, j)
		_, err := table.insert(&m.keys, ids[:j-i], miss[:0], false)
		require.NoError(t, err)
	}
	groups := min(table.groups()-1, 16)
	e := &emitter{plan: &plan{Config: Config{Keys: make([]string, len(types)), Order: order}, keys: p, orderBy: orderBy}}
	all := e.newPiece(groups)
	p.unpack(&table.keyRows, 1, groups+1, all.keys)
	keys := columnsOf(all.keys)
	var by []sortKey
	if order.by == byColumn {
		by = append(by, sortKey{&keys[orderBy], order.desc})
	}
	for c := range keys {
		by = append(by, sortKey{col: &keys[c]})
	}
	compare := comparing(by)
	for last := range groups {
		all.rows = last + 1
		b := e.newBound(all)
		first := b.firstWords(&table.keyRows)
		for k := range groups {
			want, got := compare(uint32(k), uint32(last)), b.compareKey(&table.keyRows, uint32(k+1))
			if cmp.Compare(want, 0) != cmp.Compare(got, 0) {
				t.Fatalf("%v, order %v by column %d: group %d compared with %d is %d, want %d", types, order, orderBy, k, last,
					got, want)
			}
			if within := b.within(first, &table.keyRows, uint32(k+1)); within != (want <= 0) {
				t.Fatalf("%v, order %v by column %d: group %d within %d: %v, want %v", types, order, orderBy, k, last, within,
					want <= 0)
			}
		}
	}
}

func FuzzBound(f *testing.F) {
	for i := range boundKeys {
		f.Add(uint8(i), uint8(i), []byte("\x00\x01\x02abcdefgh\x0fabcdefghijklmno\x10abcdefghijklmnop\x00\x07abcdefg\x08abcdefgh\x7f"))
		f.Add(uint8(i), uint8(1+i%2), bytes.Repeat([]byte{0, 1, 0xff, 2, 0, 0, 0, 0x80, 7, 0xfe, 0x80, 3, 15}, 100))
		f.Add(uint8(i), uint8(3+i), bytes.Repeat([]byte("\x08\x80\xff12345678\x02\xf8\xff\xff\x28 a long text that has no room in words\x02\x00\xfc"), 30))
	}
	f.Fuzz(func(t *testing.T, which, by uint8, data []byte) {
		types := boundKeys[int(which)%len(boundKeys)]
		order, at := ByKeys, int(by>>2)%len(types)
		switch by & 3 {
		case 1:
			order = Ascending("")
		case 2:
			order = Descending("")
		}
		checkBound(t, types, order, at, data)
	})
}

// TestBoundOfRecords compares keys of 16 bytes that are followed by a text or a number in the record of a key.
func TestBoundOfRecords(t *testing.T) {
	var data []byte
	for _, first := range []string{"abcdefghijklmnop", "abcdefghijklmnoq", "abcdefghijklmnop", "abcdefghijklmnor"} {
		for _, second := range []string{"\x00", "\x01a", "\x01b", "\x14a text that is longer"} {
			data = append(append(append(data, 16), first...), second...)
		}
	}
	for _, types := range [][]column.Type{
		{typeUUID, typeString}, {{Kind: column.Decimal128, Precision: 38}, typeString}, {{Kind: column.Duration}, typeString},
	} {
		for at := range types {
			checkBound(t, types, ByKeys, at, data)
			checkBound(t, types, Ascending(""), at, data)
			checkBound(t, types, Descending(""), at, data)
		}
	}
}
