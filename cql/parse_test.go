// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests of the parsers of types: accepted and rejected texts, and the bounds on their time and memory.

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
		{"the old name of timestamp", "DateType", native(TypeTimestamp)},
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
		{"vector of zero elements", "VectorType(FloatType,0)", vectorOf(native(TypeFloat), 0)},
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
		{"list without parameters", "ListType", 8},
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
		{"dimension that is not a number", "VectorType(FloatType,1e3)", 21},
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

// TestParseTypeDepth requires that 64 levels are parsed and a million are rejected without a million stack frames.
func TestParseTypeDepth(t *testing.T) {
	nest := func(open, inner, closed string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closed, n)
	}
	for _, n := range []int{maxTypeDepth, maxTypeDepth + 1, 1e6} {
		_, cqlErr := ParseType(nest("list<", "int", ">", n), nil)
		_, classErr := ParseClassName(nest("ListType(", "Int32Type", ")", n))
		if n <= maxTypeDepth {
			require.NoError(t, cqlErr)
			require.NoError(t, classErr)
			continue
		}
		var fault *TypeError
		require.ErrorAs(t, cqlErr, &fault)
		require.ErrorAs(t, classErr, &fault)
	}
}

// lengthOfType returns the number of components of a type.
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
			panic("an impossible vector: " + strconv.Itoa(t.Dimensions))
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
		got, err := ParseType(cql, nil) // no UDTs
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
			return // a class is not CQL, and may contain a UDT
		}
		again, err := ParseType(got.String(), nil)
		if err != nil || again.String() != got.String() {
			t.Fatalf("%q became %v, then %v, %v", cql, got, again, err)
		}
	})
}
