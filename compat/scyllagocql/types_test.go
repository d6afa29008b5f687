// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"errors"
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
	if v, ok := info.(gocql.VectorType); !ok || v.Dimensions != 2 || v.SubType.Type() != gocql.TypeFloat {
		t.Errorf("%T", info)
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

// TestValuesThatAreCells are written and read as they are.
func TestValuesThatAreCells(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, price) VALUES (?, ?)", 1, gocql.DirectMarshal{0, 0, 0, 0, 0, 0, 1, 2})
	var cell gocql.DirectUnmarshal
	var price int64
	if err := s.Query("SELECT price, price FROM items WHERE id = ?", 1).Scan(&price, &cell); err != nil || price != 258 || len(cell) != 8 {
		t.Error(price, cell, err)
	}
	if err := s.Query("SELECT name FROM items WHERE id = ?", 1).Scan(&cell); err != nil || cell != nil {
		t.Error("NULL:", cell, err)
	}
	_, err := gocql.Marshal(gocql.NewNativeType(4, gocql.TypeInt), "x")
	var failed gocql.MarshalError
	if !errors.As(err, &failed) || failed.Error() == "" {
		t.Errorf("%T %v", err, err)
	}
}

// TestTypesOfAProgram are made without a connection.
func TestTypesOfAProgram(t *testing.T) {
	text := gocql.NewNativeType(4, gocql.TypeText)
	list := gocql.NewCollectionType(gocql.NewNativeType(4, gocql.TypeList), nil, text)
	udt := gocql.NewUDTType(4, "address", "shop", gocql.UDTField{Name: "street", Type: text})
	tuple := gocql.NewTupleType(gocql.NewNativeType(4, gocql.TypeTuple), text, list)
	for _, info := range []gocql.TypeInfo{text, list, udt, tuple} {
		if v, err := info.NewWithError(); err != nil || v == nil {
			t.Error(info, v, err)
		}
	}
	data, err := gocql.Marshal(list, []string{"a"})
	var back []string
	if err != nil || gocql.Unmarshal(list, data, &back) != nil || len(back) != 1 || back[0] != "a" {
		t.Error(data, back, err)
	}
}
