// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"fmt"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestColumnsOfAResult have the types of this API.
func TestColumnsOfAResult(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	if err := c.Exec("CREATE TABLE shop.vectors (id int PRIMARY KEY, v vector<float, 2>)"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c)
	it := s.Query("SELECT id, name, tags, counts, pair, home FROM items").Iter()
	want := []string{"int", "varchar", "list(varchar)", "map(varchar, int)", "tuple(int, varchar)", "shop.address{street=varchar,number=int}"}
	for i, column := range it.Columns() {
		if text := fmt.Sprint(column.TypeInfo); text != want[i] || column.Keyspace != "shop" || column.Table != "items" || column.TypeInfo.Version() != 4 {
			t.Error(column, text)
		}
	}
	if first := &it.Columns()[0]; first != &it.Columns()[0] {
		t.Error("the columns are converted again")
	}
	run(t, s, "INSERT INTO vectors (id, v) VALUES (?, ?)", 1, []float32{1, 2})
	it = s.Query("SELECT v FROM vectors").Iter()
	info := it.Columns()[0].TypeInfo
	if info.Type() != gocql.TypeCustom || info.Custom() != "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType, 2)" {
		t.Error(info)
	}
	var v []float32
	if !it.Scan(&v) || len(v) != 2 || v[1] != 2 {
		t.Error(v, it.Close())
	}
	data, err := gocql.Marshal(info, []float32{1, 2})
	if err != nil || gocql.Unmarshal(info, data, &v) != nil || v[0] != 1 {
		t.Error(data, v, err)
	}
}

// TestConsistencyIsParsed by name: the serial levels are a type of their own.
func TestConsistencyIsParsed(t *testing.T) {
	if c := gocql.ParseConsistency("local_quorum"); c != gocql.LocalQuorum || c.String() != "LOCAL_QUORUM" {
		t.Error(c)
	}
	if c, err := gocql.ParseConsistencyWrapper("nope"); err == nil {
		t.Error(c)
	}
	if c, err := gocql.ParseConsistencyWrapper("serial"); err == nil {
		t.Error(c)
	}
	if c, err := gocql.MustParseConsistency("one"); c != gocql.One || err != nil {
		t.Error(c, err)
	}
	var c gocql.Consistency
	if err := c.UnmarshalText([]byte("all")); err == nil {
		t.Error("lower case is refused, as in gocql")
	}
	var s gocql.SerialConsistency
	if err := s.UnmarshalText([]byte("LOCAL_SERIAL")); err != nil || s != gocql.LocalSerial {
		t.Error(s, err)
	}
	if text, err := gocql.Consistency(0x33).MarshalText(); err != nil || string(text) != "UNKNOWN_CONS_0x33" {
		t.Error(text, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("ParseConsistency does not panic")
		}
	}()
	gocql.ParseConsistency("nope")
}

// TestUUIDIsParsed with dashes between any two bytes.
func TestUUIDIsParsed(t *testing.T) {
	want := gocql.UUID{0xb4, 0xf0, 0, 0x40, 0x9c, 0xe5, 0x11, 0xe0, 0xb5, 0x44, 0, 0x16, 0xce, 0xd2, 0xb0, 0x46}
	for _, text := range []string{"b4f000409ce511e0b5440016ced2b046", "b4f00040-9ce5-11e0-b544-0016ced2b046", "B4F00040-9CE511E0B5440016CE-D2B046"} {
		if u, err := gocql.ParseUUID(text); err != nil || u != want {
			t.Error(u, err)
		}
	}
	for _, text := range []string{"", "b4f00040-9ce5-11e0-b544-0016ced2b04", "b4f000409-ce5-11e0-b544-0016ced2b046", "x4f000409ce511e0b5440016ced2b046"} {
		if u, err := gocql.ParseUUID(text); err == nil {
			t.Error(text, u)
		}
	}
}

// TestNewOfATypeInfo returns a pointer to the Go type of MapScan.
func TestNewOfATypeInfo(t *testing.T) {
	text, number := gocql.NewNativeType(4, gocql.TypeText, ""), gocql.NewNativeType(4, gocql.TypeInt, "")
	native := func(typ gocql.Type) gocql.NativeType { return gocql.NewNativeType(4, typ, "") }
	for _, test := range []struct {
		info gocql.TypeInfo
		want any
	}{
		{text, new(string)},
		{number, new(int)},
		{native(gocql.TypeInet), new(string)},
		{native(gocql.TypeUUID), new(gocql.UUID)},
		{native(gocql.TypeDuration), new(gocql.Duration)},
		{gocql.CollectionType{NativeType: native(gocql.TypeList), Elem: text}, new([]string)},
		{gocql.CollectionType{NativeType: native(gocql.TypeMap), Key: text, Elem: number}, new(map[string]int)},
		{gocql.TupleTypeInfo{NativeType: native(gocql.TypeTuple), Elems: []gocql.TypeInfo{text}}, new([]any)},
		{gocql.UDTTypeInfo{NativeType: native(gocql.TypeUDT)}, new(map[string]any)},
	} {
		if v, err := test.info.NewWithError(); err != nil || fmt.Sprintf("%T", v) != fmt.Sprintf("%T", test.want) {
			t.Errorf("%v: %T, %v, want %T", test.info, v, err, test.want)
		}
	}
}
