// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests the readers of types: what they take, what they refuse, and that no text makes them slow or large.

func native(t Type) NativeType { return NativeType(t) }

func vectorOf(sub TypeInfo, n int) VectorType { return VectorType{SubType: sub, Dimensions: n} }

func TestParseClassName(t *testing.T) {
	const m = "org.apache.cassandra.db.marshal."
	address := UDTTypeInfo{Keyspace: "shop", Name: "address", Elements: []UDTField{
		{"street", native(TypeVarchar)}, {"zip codes", NewSetType(native(TypeInt))}, {"at", vectorOf(native(TypeDouble), 2)},
	}}
	for _, row := range []struct {
		name, class string
		want        TypeInfo
	}{
		{"with its package", m + "Int32Type", native(TypeInt)},
		{"without its package", "UTF8Type", native(TypeVarchar)},
		{"another name of timestamp", "DateType", native(TypeTimestamp)},
		{"date", "SimpleDateType", native(TypeDate)},
		{"another name of uuid", "LexicalUUIDType", native(TypeUUID)},
		{"counter", "CounterColumnType", native(TypeCounter)},
		{"list", "ListType(AsciiType)", NewListType(native(TypeAscii))},
		{"frozen in a map", "MapType(UTF8Type,FrozenType(SetType(LongType)))", NewMapType(native(TypeVarchar), NewSetType(native(TypeBigInt)))},
		{"reversed", m + "ReversedType(" + m + "TimeUUIDType)", native(TypeTimeUUID)},
		{"tuple", "TupleType(ByteType,ShortType,DurationType)", TupleTypeInfo{[]TypeInfo{native(TypeTinyInt), native(TypeSmallInt), native(TypeDuration)}}},
		{"vector as Cassandra prints it", m + "VectorType(" + m + "FloatType , 384)", vectorOf(native(TypeFloat), 384)},
		{"vector as ScyllaDB prints it", m + "VectorType(" + m + "FloatType, 3)", vectorOf(native(TypeFloat), 3)},
		{"vector without spaces", "VectorType(FloatType,3)", vectorOf(native(TypeFloat), 3)},
		{"vector with spaces everywhere", " VectorType ( FloatType \t,  3 ) ", vectorOf(native(TypeFloat), 3)},
		{"vector of no elements", "VectorType(FloatType,0)", vectorOf(native(TypeFloat), 0)},
		{"vector of the largest dimension", "VectorType(UTF8Type,2147483647)", vectorOf(native(TypeVarchar), math.MaxInt32)},
		{
			"vector with commas in its element", "VectorType(MapType(Int32Type,VectorType(FloatType,2)),3)",
			vectorOf(NewMapType(native(TypeInt), vectorOf(native(TypeFloat), 2)), 3),
		},
		{"UDT", "UserType(shop,61646472657373,737472656574:UTF8Type,7a697020636f646573:SetType(Int32Type),6174:VectorType(DoubleType , 2))", address},
		{"UDT in a list", "ListType(FrozenType(UserType(shop,61646472657373,737472656574:UTF8Type,7a697020636f646573:SetType(Int32Type),6174:VectorType(DoubleType, 2))))", NewListType(address)},
		{"unknown class", "com.example.Money", CustomType{"com.example.Money"}},
		{"known name in another package", "com.example.Int32Type", CustomType{"com.example.Int32Type"}},
		{"unknown class with parameters", m + "CompositeType(a=>Foo(x,y),b=>" + m + "Int32Type)", CustomType{m + "CompositeType(a=>Foo(x,y),b=>" + m + "Int32Type)"}},
		{"unknown class inside", "ListType(Foo(Bar(a,b)))", NewListType(CustomType{"Foo(Bar(a,b))"})},
		{"vector of an unknown class", "VectorType(Foo(1,2),3)", vectorOf(CustomType{"Foo(1,2)"}, 3)},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := ParseClassName(row.class)
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
}

func TestParseClassNameRefuses(t *testing.T) {
	for _, row := range []struct {
		name, class string
		offset      int
	}{
		{"nothing", "", 0},
		{"spaces only", "  ", 2},
		{"list of nothing", "ListType", 8},
		{"list of an empty list", "ListType()", 9},
		{"list of two", "ListType(Int32Type,Int32Type)", 28},
		{"map of one", "MapType(Int32Type)", 18},
		{"not closed", "ListType(Int32Type", 18},
		{"closed twice", "ListType(Int32Type))", 19},
		{"unknown class that is not closed", "Foo((a)", 7},
		{"text after the type", "Int32Type x", 10},
		{"vector without dimension", "VectorType(FloatType)", 20},
		{"negative dimension", "VectorType(FloatType,-1)", 21},
		{"dimension with a sign", "VectorType(FloatType,+1)", 21},
		{"dimension that is no number", "VectorType(FloatType,1e3)", 21},
		{"dimension above 2^31-1", "VectorType(UTF8Type,2147483648)", 20},
		{"dimension above 2^64", "VectorType(UTF8Type,99999999999999999999)", 20},
		{"size above 2^31-1", "VectorType(FloatType,536870912)", 21},
		{"size above 2^31-1 in two levels", "VectorType(VectorType(DoubleType,16384),16384)", 40},
		{"UDT of an odd digit", "UserType(ks,6,61:Int32Type)", 12},
		{"UDT without a colon", "UserType(ks,61,61 Int32Type)", 18},
		{"UDT without a name", "UserType(ks)", 11},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := ParseClassName(row.class)
			var fault *TypeError
			require.ErrorAs(t, err, &fault)
			require.Nil(t, got)
			require.Equal(t, row.class, fault.Text)
			require.Equal(t, row.offset, fault.Offset, fault.Reason)
		})
	}
}

func TestParseType(t *testing.T) {
	address := UDTTypeInfo{Keyspace: "shop", Name: "address", Elements: []UDTField{{"street", native(TypeVarchar)}}}
	udts := map[[2]string]UDTTypeInfo{
		{"", "address"}: address, {"shop", "address"}: address, {"", `Odd "Name"`}: {Name: "quoted"}, {"", "text"}: {Name: "quoted text"},
	}
	find := func(keyspace, name string) (UDTTypeInfo, bool) {
		u, ok := udts[[2]string{keyspace, name}]
		return u, ok
	}
	for _, row := range []struct {
		name, cql string
		want      TypeInfo
	}{
		{"native", "int", native(TypeInt)},
		{"two names of text", "text", native(TypeVarchar)},
		{"varchar", "varchar", native(TypeVarchar)},
		{"upper case", "Map<TEXT, BigInt>", NewMapType(native(TypeVarchar), native(TypeBigInt))},
		{"vector", "vector<float, 384>", vectorOf(native(TypeFloat), 384)},
		{"vector without spaces", "vector<float,384>", vectorOf(native(TypeFloat), 384)},
		{"frozen", "frozen<list<frozen<set<timeuuid>>>>", NewListType(NewSetType(native(TypeTimeUUID)))},
		{"tuple", "tuple<int, text, vector<double, 2>>", TupleTypeInfo{[]TypeInfo{native(TypeInt), native(TypeVarchar), vectorOf(native(TypeDouble), 2)}}},
		{"UDT", "frozen<address>", address},
		{"UDT in upper case", "Address", address},
		{"UDT with its keyspace", "shop.address", address},
		{"UDT in quotes", `"Odd ""Name"""`, UDTTypeInfo{Name: "quoted"}},
		{"UDT with the name of a type", `"text"`, UDTTypeInfo{Name: "quoted text"}},
		{"class", "'org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)'", vectorOf(native(TypeFloat), 3)},
		{"unknown class", "list<'com.example.Money'>", NewListType(CustomType{"com.example.Money"})},
		{"empty", "empty", CustomType{"org.apache.cassandra.db.marshal.EmptyType"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := ParseType(row.cql, find)
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
}

func TestParseTypeRefuses(t *testing.T) {
	for _, cql := range []string{
		"", "list", "list<>", "list<int", "list<int>>", "list<int, int>", "map<int>", "set<int,>", "vector<float>",
		"vector<float, -1>", "vector<float, x>", "vector<float, 2147483648>", "vector<double, 268435456>", "int<text>", "tuple<>", "address",
		`"open`, "'open", "''", "'ListType('", `"list"<int>`, "ks.list<int>", "a.b.c", "int int", "frozen<int, int>", "<int>", "é",
	} {
		t.Run(cql, func(t *testing.T) {
			got, err := ParseType(cql, nil)
			var fault *TypeError
			require.ErrorAs(t, err, &fault)
			require.Nil(t, got)
			require.Equal(t, cql, fault.Text)
			require.LessOrEqual(t, fault.Offset, len(cql))
		})
	}
}

// TestParseTypeDepth: 64 levels are read, a million are refused without a million of stack frames.
func TestParseTypeDepth(t *testing.T) {
	nest := func(open, inner, closed string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closed, n)
	}
	for _, n := range []int{maxTypeDepth, maxTypeDepth + 1, 1e6} {
		_, cqlErr := ParseType(nest("list<", "int", ">", n), nil)
		_, classErr := ParseClassName(nest("ListType(", "Int32Type", ")", n))
		option := append([]byte(strings.Repeat("\x00\x20", n)), 0, 9)
		r := wire.NewReader(option)
		parseOption(&r)
		if n <= maxTypeDepth {
			require.NoError(t, cqlErr)
			require.NoError(t, classErr)
			require.NoError(t, r.Err())
			continue
		}
		var fault *TypeError
		require.ErrorAs(t, cqlErr, &fault)
		require.ErrorAs(t, classErr, &fault)
		require.ErrorAs(t, r.Err(), &fault)
	}
}

func TestParseOption(t *testing.T) {
	text := func(s string) string {
		return hex.EncodeToString([]byte{byte(len(s) >> 8), byte(len(s))}) + hex.EncodeToString([]byte(s))
	}
	for _, row := range []struct {
		name, hex string
		want      TypeInfo
	}{
		{"int", "0009", native(TypeInt)},
		{"text of protocol v2", "000a", native(TypeVarchar)},
		{"list", "0020000d", NewListType(native(TypeVarchar))},
		{"map of sets", "00210009" + "00220014", NewMapType(native(TypeInt), NewSetType(native(TypeTinyInt)))},
		{"tuple", "003100020009000d", TupleTypeInfo{[]TypeInfo{native(TypeInt), native(TypeVarchar)}}},
		{
			"UDT", "0030" + text("ks") + text("pair") + "0002" + text("a") + "0009" + text("b") + "0020000b",
			UDTTypeInfo{"ks", "pair", []UDTField{{"a", native(TypeInt)}, {"b", NewListType(native(TypeTimestamp))}}},
		},
		{"vector", "0000" + text("org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)"), vectorOf(native(TypeFloat), 3)},
		{"list of vectors", "00200000" + text("VectorType(FloatType, 3)"), NewListType(vectorOf(native(TypeFloat), 3))},
		{"unknown class", "0000" + text("com.example.Money"), CustomType{"com.example.Money"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := hexBytes(t, row.hex)
			r := wire.NewReader(b)
			require.Equal(t, row.want, parseOption(&r))
			require.NoError(t, r.Err())
			require.Zero(t, r.Len())
			for i := range b {
				r := wire.NewReader(b[:i])
				parseOption(&r)
				require.Error(t, r.Err(), "%d of %d bytes", i, len(b))
			}
		})
	}
	for _, row := range []struct{ name, hex string }{
		{"unknown id", "0099"},
		{"malformed class", "0000" + text("ListType(")},
		{"tuple of more types than bytes", "0031ffff0009"},
		{"UDT of more fields than bytes", "0030" + text("ks") + text("u") + "ffff" + text("a") + "0009"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := wire.NewReader(hexBytes(t, row.hex))
			parseOption(&r)
			require.Error(t, r.Err())
		})
	}
}

// TestParseOptionLyingCounts: 64 tuples in each other that all claim as many elements as there are bytes.
func TestParseOptionLyingCounts(t *testing.T) {
	body := make([]byte, 128<<10)
	for i := 0; i < 60*4; i += 4 {
		copy(body[i:], "\x00\x31\xfb\xff")
	}
	got := testing.AllocsPerRun(1, func() {
		r := wire.NewReader(body)
		parseOption(&r)
		require.Error(t, r.Err())
	})
	require.Less(t, got, 1000.)
}

// lengthOfType counts what a type is made of.
func lengthOfType(t TypeInfo) int {
	n := 1
	switch t := t.(type) {
	case CustomType:
		n += len(t.Class)
	case CollectionType:
		if t.typ == TypeMap {
			n += lengthOfType(t.Key)
		}
		n += lengthOfType(t.Elem)
	case TupleTypeInfo:
		for _, e := range t.Elems {
			n += lengthOfType(e)
		}
	case UDTTypeInfo:
		n += len(t.Keyspace) + len(t.Name)
		for _, f := range t.Elements {
			n += len(f.Name) + lengthOfType(f.Type)
		}
	case VectorType:
		n += lengthOfType(t.SubType)
		if t.Dimensions < 0 || t.Dimensions > math.MaxInt32 || fixedSize(t) > math.MaxInt32 {
			panic("a vector that can't be: " + strconv.Itoa(t.Dimensions))
		}
	}
	return n
}

func FuzzParseClassName(f *testing.F) {
	f.Add("org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 384)")
	f.Add("UserType(ks,61,62:MapType(Int32Type,FrozenType(Foo(a=>b))))")
	f.Add("VectorType(VectorType(VectorType(FloatType,0),65536),65536)")
	f.Fuzz(func(t *testing.T, class string) {
		got, err := ParseClassName(class)
		if err != nil {
			if e, ok := err.(*TypeError); !ok || e.Offset < 0 || e.Offset > len(class) || got != nil {
				t.Fatalf("got %v, %#v", got, err)
			}
			return
		}
		if n := lengthOfType(got); n > 2*len(class)+2 {
			t.Fatalf("%d parts of %d characters", n, len(class))
		}
		if n := len(got.String()); n > 4*len(class)+32 {
			t.Fatalf("%d characters of CQL from %d", n, len(class))
		}
	})
}

func FuzzParseType(f *testing.F) {
	f.Add("map<text, frozen<list<vector<float, 384>>>>")
	f.Add(`tuple<"A b", ks.udt, 'Foo(x)'>`)
	f.Fuzz(func(t *testing.T, cql string) {
		got, err := ParseType(cql, nil) // no UDT is known
		if err != nil {
			if e, ok := err.(*TypeError); !ok || e.Offset < 0 || e.Offset > len(cql) || got != nil {
				t.Fatalf("got %v, %#v", got, err)
			}
			return
		}
		if n := lengthOfType(got); n > 2*len(cql)+64 {
			t.Fatalf("%d parts of %d characters", n, len(cql))
		}
		if strings.ContainsAny(cql, "'") || strings.Contains(strings.ToLower(cql), "empty") {
			return // a class's text is not CQL, and may name a UDT
		}
		again, err := ParseType(got.String(), nil)
		if err != nil || again.String() != got.String() {
			t.Fatalf("%q became %v, then %v, %v", cql, got, again, err)
		}
	})
}

func FuzzParseOption(f *testing.F) {
	f.Add([]byte("\x00\x21\x00\x0d\x00\x31\x00\x02\x00\x09\x00\x22\x00\x0b"))
	f.Add([]byte("\x00\x30\x00\x02ks\x00\x01u\x00\x01\x00\x01a\x00\x00\x00\x16VectorType(FloatType,3)"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b)
		got := parseOption(&r)
		if r.Err() != nil {
			return
		}
		if n := lengthOfType(got); n > 2*len(b)+2 {
			t.Fatalf("%d parts of %d bytes", n, len(b))
		}
		if n := len(got.String()); n > 16*len(b)+32 {
			t.Fatalf("%d characters of CQL from %d bytes", n, len(b))
		}
	})
}
