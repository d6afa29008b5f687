// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/valuetest"
	"github.com/vecql/vecql/internal/wire"
)

// Damaged cells: every decoder refuses the same ones.

// damages returns changed forms of a cell: cut, extended, with other lengths, counts and bytes.
func damages(r *rand.Rand, cell []byte) [][]byte {
	var out [][]byte
	for n := range min(len(cell), 6) {
		out = append(out, cell[:len(cell)-1-n])
	}
	for _, more := range [][]byte{{0}, {0xff}, {0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 1, 7}} {
		out = append(out, append(bytes.Clone(cell), more...))
	}
	for i := range min(len(cell), 12) {
		for _, b := range []byte{cell[i] + 1, 0, 0x7f, 0xff} {
			changed := bytes.Clone(cell)
			changed[i] = b
			out = append(out, changed)
		}
	}
	for range 3 {
		out = append(out, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(20)))
	}
	return out
}

// within returns the types that hold a type, with the cell that holds a cell.
func within(info cql.TypeInfo) map[string]struct {
	info cql.TypeInfo
	cell func(cell []byte) []byte
} {
	bytesOf := func(cell []byte) []byte { return append(wire.AppendInt(nil, int32(len(cell))), cell...) }
	one := wire.AppendInt(nil, 1)
	type holder = struct {
		info cql.TypeInfo
		cell func(cell []byte) []byte
	}
	all := map[string]holder{
		"alone": {info, func(cell []byte) []byte { return cell }},
		"list":  {cql.NewListType(info), func(cell []byte) []byte { return append(bytes.Clone(one), bytesOf(cell)...) }},
		"tuple": {cql.TupleTypeInfo{Elems: []cql.TypeInfo{info}}, bytesOf},
		"udt":   {cql.UDTTypeInfo{Keyspace: "ks", Name: "u", Elements: []cql.UDTField{{Name: "a", Type: info}}}, bytesOf},
		"map": {cql.NewMapType(cql.NativeType(cql.TypeInt), info), func(cell []byte) []byte {
			return append(append(bytes.Clone(one), bytesOf(one)...), bytesOf(cell)...)
		}},
	}
	if fixedSize(info) < 0 {
		all["vector"] = holder{cql.VectorType{SubType: info, Dimensions: 1}, func(cell []byte) []byte {
			return append(wire.AppendUvint(nil, uint64(len(cell))), cell...)
		}}
	}
	return all
}

// refusals returns the errors of the decoders of a cell: the reference, a plan, the function for any pair, and columns.
func refusals(info cql.TypeInfo, cell []byte) map[string]error {
	typ := DefaultGoType(info)
	dst := func() any { return reflect.New(typ).Interface() }
	page := append(wire.AppendInt(nil, int32(len(cell))), cell...)
	b := new(column.Batch)
	return map[string]error{
		"reference": ReferenceDecode(info, cell, dst()),
		"plan":      DecoderOf(info, reflect.PointerTo(typ))(info, cell, dst()),
		"Unmarshal": Unmarshal(info, cell, dst()),
		"columns":   NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}).Decode(page, 1, b),
	}
}

// requireSameRefusal requires that all decoders accept a cell, or none. Only a NULL key is refused by columns alone, as
// the package documentation says.
func requireSameRefusal(t testing.TB, info cql.TypeInfo, cell []byte, name string) {
	errs := refusals(info, cell)
	want := errs["reference"]
	for decoder, err := range errs {
		if (err == nil) != (want == nil) && !(decoder == "columns" && errors.Is(err, cql.ErrNull)) {
			require.Failf(t, "decoders differ", "%s: 0x%x: %s: %v, reference: %v", name, cell, decoder, err, want)
		}
	}
}

// TestDamagedCellsAreRefusedAlike damages the cells of the table of values, alone and within other values.
func TestDamagedCellsAreRefusedAlike(t *testing.T) {
	soak.NoRace(t)
	r := rand.New(rand.NewPCG(9, 9))
	seen, refused := map[string]int{}, 0
	for _, v := range valuetest.Stored() {
		info := v.Info()
		if seen[v.Type]++; seen[v.Type] > 1 || v.Recorded().Cell == nil || DefaultGoType(info) == nil {
			continue
		}
		for holder, h := range within(info) {
			if DefaultGoType(h.info) == nil {
				continue
			}
			for _, cell := range damages(r, v.Recorded().Cell) {
				requireSameRefusal(t, h.info, h.cell(cell), v.Type+" in a "+holder)
				if ReferenceDecode(h.info, h.cell(cell), new(any)) != nil {
					refused++
				}
			}
			for _, cell := range damages(r, h.cell(v.Recorded().Cell)) {
				requireSameRefusal(t, h.info, cell, v.Type+" in a damaged "+holder)
			}
		}
	}
	require.Greater(t, refused, 1000)
}

// TestBoundsOfNestedCells decodes cells that are wrong by one byte or one unit, within a tuple and a list.
func TestBoundsOfNestedCells(t *testing.T) {
	for _, c := range []struct {
		name, typ string
		cell      string
	}{
		{"bytes after the last field", "tuple<int>", "00000004000000010000000400000002"},
		{"a byte after the last field", "tuple<int>", "000000040000000100"},
		{"a time at the end of the day", "time", "00004e94914f0000"},
		{"a time before midnight", "time", "ffffffffffffffff"},
		{"an address of five bytes", "inet", "c000020701"},
		{"an address of three bytes", "inet", "c00002"},
		{"an address of 17 bytes", "inet", "0000000000000000000000000000000001"},
		{"a decimal without digits", "decimal", "00000002"},
		{"a decimal of three bytes", "decimal", "000000"},
		{"a duration with two signs", "duration", "020100"},
		{"a duration with a byte more", "duration", "02020200"},
		{"a duration beyond int32", "duration", "f1000000000000"},
		{"a date of five bytes", "date", "8000000000"},
		{"a boolean of two bytes", "boolean", "0101"},
		{"a uuid of 15 bytes", "uuid", "000000000000000000000000000000"},
	} {
		info := columnType(t, c.typ)
		for holder, h := range within(info) {
			for decoder, err := range refusals(h.info, h.cell(hexBytes(t, c.cell))) {
				require.Error(t, err, "%s in a %s by %s", c.name, holder, decoder)
			}
		}
	}
}

// FuzzDamagedCells repeats TestDamagedCellsAreRefusedAlike for random cells of the types of the table.
func FuzzDamagedCells(f *testing.F) {
	var infos []cql.TypeInfo
	types := map[string]bool{}
	for _, v := range valuetest.Stored() {
		if info := v.Info(); !types[v.Type] && DefaultGoType(info) != nil && v.Recorded().Cell != nil {
			types[v.Type] = true
			f.Add(uint(len(infos)), v.Recorded().Cell)
			infos = append(infos, info)
		}
	}
	f.Fuzz(func(t *testing.T, n uint, cell []byte) {
		info := infos[n%uint(len(infos))]
		requireSameRefusal(t, info, cell, info.String())
	})
}
