// SPDX-License-Identifier: Apache-2.0

//go:build fork

package gocql_test

import (
	"errors"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

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

// TestVectorType is the type of a vector, with the id and the class of its encoding.
func TestVectorType(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	if err := c.Exec("CREATE TABLE shop.vectors (id int PRIMARY KEY, v vector<float, 2>)"); err != nil {
		t.Fatal(err)
	}
	info := newSession(t, c).Query("SELECT v FROM vectors").Iter().Columns()[0].TypeInfo
	if v, ok := info.(gocql.VectorType); !ok || v.Dimensions != 2 || v.SubType.Type() != gocql.TypeFloat {
		t.Errorf("%T", info)
	}
}
