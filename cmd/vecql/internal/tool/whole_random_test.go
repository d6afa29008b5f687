// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/wire"
)

// Random tables for TestRandomTablesComeBack: schemas and values that are hard to carry.

// A randomTable makes the schema and the values of one seed.
type randomTable struct {
	*rand.Rand

	// portable values are those that all formats of files can hold. Others are values that only a copy of bytes keeps.
	portable bool
	depth    int      // of the value that is made
	udts     []string // names of the user-defined types
	columns  []randomColumn
	order    string // clause of the clustering order
}

// A randomColumn is a column of a random table.
type randomColumn struct{ name, typ, kind string } // kind: partition, clustering, static, regular

var columnNames = []string{
	"a", "Select", "from", "UPPER", "with space", `quo"te`, "ünï", "writetime", "ttl", "token", "x.y", "key", "1st", "comma,comma",
	"value", "id", "NULL", "'single'", "tab\tname", "json", "writetime(a)", "_", "lower", "Ω", "a-b", "order", "primary", "in", "set", "list",
}

var scalarTypes = []string{
	"ascii", "bigint", "blob", "boolean", "date", "decimal", "double", "float", "inet", "int", "smallint", "text", "time", "timestamp",
	"timeuuid", "tinyint", "uuid", "varint",
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomUDTs are the user-defined types of the keyspace, the first one without others.
var randomUDTs = []string{
	`"Pair" (a int, "B" text)`, `deep ("from" frozen<list<text>>, m frozen<map<text, double>>, p frozen<"Pair">, last blob)`,
	`nums (x varint, y decimal, d duration, i inet, f float)`,
}

// newRandomTable returns the schema of a seed.
func newRandomTable(seed uint64, portable bool) *randomTable {
	t := &randomTable{Rand: rand.New(rand.NewPCG(seed, 7)), portable: portable, udts: []string{`"Pair"`, "deep", "nums"}}
	names := slices.Clone(columnNames)
	t.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	add := func(kind string, n int, typ func() string) {
		for range n {
			t.columns = append(t.columns, randomColumn{names[0], typ(), kind})
			names = names[1:]
		}
	}
	key := func() string { return t.typeOf(2, true, false) }
	add("partition", 1+t.IntN(3), key)
	clustering := t.IntN(4)
	add("clustering", clustering, key)
	if clustering > 0 {
		add("static", t.IntN(3), t.column)
		if t.IntN(2) == 0 {
			var terms []string
			for _, c := range t.columns[len(t.of("partition")):] {
				if c.kind == "clustering" {
					terms = append(terms, cqltext.QuoteIdentifier(c.name)+pick(t.Rand, []string{" ASC", " DESC"}))
				}
			}
			t.order = " WITH CLUSTERING ORDER BY (" + strings.Join(terms, ", ") + ")"
		}
	}
	add("regular", 1+t.IntN(6), t.column)
	return t
}

// of returns the columns of a kind.
func (t *randomTable) of(kinds ...string) (columns []randomColumn) {
	for _, c := range t.columns {
		if slices.Contains(kinds, c.kind) {
			columns = append(columns, c)
		}
	}
	return columns
}

// column returns the type of a column that is no key.
func (t *randomTable) column() string {
	switch t.IntN(6) {
	case 0:
		return "list<" + t.typeOf(1, false, true) + ">"
	case 1:
		return "set<" + t.typeOf(1, true, true) + ">"
	case 2:
		return "map<" + t.typeOf(1, true, true) + ", " + t.typeOf(1, false, true) + ">"
	case 3:
		return pick(t.Rand, t.udts)
	}
	return t.typeOf(2, false, false)
}

// typeOf returns a type of one cell. Keys, and elements of sets, have no durations.
func (t *randomTable) typeOf(depth int, key, nested bool) string {
	if depth == 0 || t.IntN(3) > 0 {
		if !key && t.IntN(12) == 0 {
			return "duration"
		}
		return pick(t.Rand, scalarTypes)
	}
	switch t.IntN(6) {
	case 0:
		return "frozen<list<" + t.typeOf(depth-1, key, true) + ">>"
	case 1:
		return "frozen<set<" + t.typeOf(depth-1, true, true) + ">>"
	case 2:
		return "frozen<map<" + t.typeOf(depth-1, true, true) + ", " + t.typeOf(depth-1, key, true) + ">>"
	case 3:
		return "frozen<tuple<" + t.typeOf(depth-1, key, true) + ", " + t.typeOf(depth-1, key, true) + ">>"
	case 4:
		if key {
			return `frozen<"Pair">`
		}
		return "frozen<" + pick(t.Rand, t.udts) + ">"
	}
	if nested {
		return pick(t.Rand, scalarTypes)
	}
	return pick(t.Rand, []string{"vector<float, 3>", "vector<int, 2>", "vector<text, 2>", "vector<double, 1>", "vector<smallint, 2>"})
}

// create returns the CREATE TABLE.
func (t *randomTable) create(name string) string {
	var columns, partition, clustering []string
	for _, c := range t.columns {
		text := cqltext.QuoteIdentifier(c.name) + " " + c.typ
		switch c.kind {
		case "partition":
			partition = append(partition, cqltext.QuoteIdentifier(c.name))
		case "clustering":
			clustering = append(clustering, cqltext.QuoteIdentifier(c.name))
		case "static":
			text += " STATIC"
		}
		columns = append(columns, text)
	}
	key := "(" + strings.Join(partition, ", ") + ")"
	if len(clustering) > 0 {
		key += ", " + strings.Join(clustering, ", ")
	}
	return fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s))%s", name, strings.Join(columns, ", "), key, t.order)
}

var randomTexts = []string{
	"", "a", "NULL", "null", `"`, `""`, "'", ",", ";", "\n", "\r\n", "a\nb", "\t", " ", " lead", "trail ", `\`, `\n`, "-", "ü", "日本語", "\ufeff", "\x00",
	"\x1b[31m", "{}", "[]", "1", "true", "NaN", "0x", "#", "e\u0301", "\u2028", strings.Repeat("long ", 80),
}

// cell returns the bytes of a value of a type.
func (t *randomTable) cell(info cql.TypeInfo) []byte {
	t.depth++
	defer func() { t.depth-- }()
	switch info := info.(type) {
	case cql.CollectionType:
		return t.collection(info)
	case cql.TupleTypeInfo:
		var out []byte
		for _, elem := range info.Elems {
			out = t.field(out, elem)
		}
		return out
	case cql.UDTTypeInfo:
		var out []byte
		for _, elem := range info.Elements {
			out = t.field(out, elem.Type)
		}
		return out
	case cql.VectorType:
		var out []byte
		for range info.Dimensions {
			elem := t.cell(info.SubType)
			for len(elem) == 0 { // a vector has no empty elements
				elem = t.cell(info.SubType)
			}
			if s := info.SubType.Type(); s == cql.TypeText || s == cql.TypeSmallInt || s == cql.TypeVarchar {
				out = wire.AppendUvint(out, uint64(len(elem)))
			}
			out = append(out, elem...)
		}
		return out
	}
	return t.scalar(info.Type())
}

// field appends a field of a tuple or of a user-defined type, which may be NULL.
func (t *randomTable) field(out []byte, info cql.TypeInfo) []byte {
	if t.IntN(5) == 0 {
		return wire.AppendInt(out, wire.Null)
	}
	cell := t.cell(info)
	return append(wire.AppendInt(out, int32(len(cell))), cell...)
}

// collection returns up to three elements. Elements of sets, and keys of maps, differ. Servers sort sets and maps
// that are whole values, and keep the order of those within other values, which a load of a file sorts.
func (t *randomTable) collection(info cql.CollectionType) []byte {
	seen := map[string]bool{}
	var out []byte
	n := 0
	most := 1 + t.IntN(3)
	if t.portable && t.depth > 1 && info.Type() != cql.TypeList {
		most = 1
	}
	for range most {
		add := func(info cql.TypeInfo) {
			cell := t.cell(info)
			out = append(wire.AppendInt(out, int32(len(cell))), cell...)
		}
		before := len(out)
		switch info.Type() {
		case cql.TypeMap:
			add(info.Key)
			if seen[string(out[before:])] {
				out = out[:before]
				continue
			}
			seen[string(out[before:])] = true
			add(info.Elem)
		case cql.TypeSet:
			add(info.Elem)
			if seen[string(out[before:])] {
				out = out[:before]
				continue
			}
			seen[string(out[before:])] = true
		default:
			add(info.Elem)
		}
		n++
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(n)), out...)
}

// scalar returns the bytes of a value of a native type.
func (t *randomTable) scalar(typ cql.Type) []byte {
	be := binary.BigEndian
	switch typ {
	case cql.TypeAscii:
		return []byte(pick(t.Rand, []string{"", "a", "NULL", `"x"`, "tab\t", " ", "~", "0"}))
	case cql.TypeText, cql.TypeVarchar:
		return []byte(pick(t.Rand, randomTexts))
	case cql.TypeBlob:
		return []byte(pick(t.Rand, []string{"", "\x00", "\xff\xfe", "0x", "text", "\x80\x81\x82"}))
	case cql.TypeBoolean:
		return []byte{byte(t.IntN(2))}
	case cql.TypeTinyInt:
		return []byte{byte(t.Uint32())}
	case cql.TypeSmallInt:
		return be.AppendUint16(nil, uint16(t.Uint32()))
	case cql.TypeInt:
		if !t.portable && t.IntN(6) == 0 {
			return []byte{}
		}
		return be.AppendUint32(nil, pick(t.Rand, []uint32{0, 1, math.MaxUint32, math.MaxInt32, 1 << 31, t.Uint32()}))
	case cql.TypeBigInt:
		return be.AppendUint64(nil, pick(t.Rand, []uint64{0, 1, math.MaxUint64, math.MaxInt64, 1 << 63, 1<<53 + 1, t.Uint64()}))
	case cql.TypeFloat:
		return be.AppendUint32(nil, pick(t.Rand, []uint32{0, 1 << 31, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x3dcccccd, t.bits32()}))
	case cql.TypeDouble:
		return be.AppendUint64(nil, pick(t.Rand, []uint64{
			0, 1 << 63, math.Float64bits(0.1), 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 1, math.Float64bits(t.NormFloat64()),
			t.nanBits(),
		}))
	case cql.TypeVarint:
		return t.varint()
	case cql.TypeDecimal:
		return append(be.AppendUint32(nil, uint32(pick(t.Rand, []int32{0, 1, 2, 18, 40, -3, 7}))), t.varint()...)
	case cql.TypeInet:
		return t.inet()
	}
	return t.moment(typ)
}

func (t *randomTable) bits32() uint32 { return math.Float32bits(float32(t.NormFloat64())) }

// nanBits returns a NaN with a payload if only bytes are compared.
func (t *randomTable) nanBits() uint64 {
	if t.portable {
		return math.Float64bits(math.Pi)
	}
	return 0x7ff8000000000123
}

// varint returns an integer of up to 30 bytes, not in its shortest form if only bytes are compared.
func (t *randomTable) varint() []byte {
	b := make([]byte, 1+t.IntN(30))
	for i := range b {
		b[i] = byte(t.Uint32())
	}
	for t.portable && len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	if !t.portable && t.IntN(3) == 0 {
		b = append([]byte{0, 0}, b...)
	}
	return b
}

func (t *randomTable) inet() []byte {
	list := []string{"\x7f\x00\x00\x01", "\xc0\x00\x02\x07", "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", strings.Repeat("\xff", 16)}
	if !t.portable {
		list = append(list, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x07")
	}
	return []byte(pick(t.Rand, list))
}

// moment returns the bytes of a time, a duration or a UUID.
func (t *randomTable) moment(typ cql.Type) []byte {
	be := binary.BigEndian
	switch typ {
	case cql.TypeDate:
		days := pick(t.Rand, []int64{0, 1, -1, 20000, -719162, 2932896})
		if !t.portable {
			days = pick(t.Rand, []int64{days, math.MaxInt32, math.MinInt32})
		}
		return be.AppendUint32(nil, uint32(days+1<<31))
	case cql.TypeTime:
		return be.AppendUint64(nil, pick(t.Rand, []uint64{0, 1, 86399999999999, 43200000000000, 123456789}))
	case cql.TypeTimestamp:
		ms := pick(t.Rand, []int64{0, 1, -1, 1700000000123, -62135596800000, 253402300799999})
		if !t.portable {
			ms = pick(t.Rand, []int64{ms, math.MaxInt64, math.MinInt64})
		}
		return be.AppendUint64(nil, uint64(ms))
	case cql.TypeDuration:
		sign := int64(1 - 2*t.IntN(2))
		out := wire.AppendVint(nil, sign*int64(t.IntN(14)))
		out = wire.AppendVint(out, sign*int64(t.IntN(40)))
		return wire.AppendVint(out, sign*pick(t.Rand, []int64{0, 1, 86400000000000, 3600000000001, math.MaxInt64}))
	case cql.TypeUUID:
		out := be.AppendUint64(nil, t.Uint64()&^0xf000|0x4000)
		return be.AppendUint64(out, t.Uint64()>>2|1<<63)
	case cql.TypeTimeUUID:
		out := be.AppendUint64(nil, t.Uint64()&^0xf000|0x1000)
		return be.AppendUint64(out, t.Uint64()>>2|1<<63)
	}
	panic(fmt.Sprint("no value of ", typ))
}
