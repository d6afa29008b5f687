// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestConditionalBatch: the first row is stored, the Iter has the others.
func TestConditionalBatch(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	if err := c.Exec("CREATE TABLE shop.parts (item int, part int, name text, PRIMARY KEY (item, part))"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c)
	insert := "INSERT INTO parts (item, part, name) VALUES (?, ?, ?) IF NOT EXISTS"
	b := s.NewBatch(gocql.LoggedBatch)
	b.Query(insert, 1, 1, "a")
	b.Query(insert, 1, 2, "b")
	applied, it, err := s.ExecuteBatchCAS(b)
	if err != nil || !applied || it.Close() != nil {
		t.Fatal(applied, err)
	}
	var item, part int
	var name string
	applied, it, err = s.ExecuteBatchCAS(b, &item, &part, &name)
	if err != nil || applied || name != "a" {
		t.Fatal(applied, name, err)
	}
	if !it.Scan(&applied, &item, &part, &name) || applied || name != "b" || it.Close() != nil {
		t.Error(applied, name)
	}
	m := map[string]any{}
	applied, it, err = s.MapExecuteBatchCAS(b, m)
	if err != nil || applied || m["name"] != "a" || len(m) != 3 {
		t.Fatal(applied, m, err)
	}
	next := map[string]any{}
	if !it.MapScan(next) || next["name"] != "b" || next["[applied]"] != false || it.Close() != nil {
		t.Error(next)
	}
}

// TestTimeOfAWrite takes the time from WithTimestamp, or from the server.
func TestTimeOfAWrite(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	b := s.NewBatch(gocql.LoggedBatch).WithTimestamp(1000)
	b.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, "lamp")
	if err := s.ExecuteBatch(b); err != nil {
		t.Fatal(err)
	}
	written := func() (at int64) {
		if err := s.Query("SELECT WRITETIME(name) FROM items WHERE id = ?", 1).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := written(); at != 1000 {
		t.Error("batch:", at)
	}
	if err := s.Query("UPDATE items SET name = ? WHERE id = ?", "desk", 1).WithTimestamp(2000).Exec(); err != nil || written() != 2000 {
		t.Error("query:", written(), err)
	}
	if err := s.Query("UPDATE items SET name = ? WHERE id = ?", "bed", 1).DefaultTimestamp(false).Exec(); err != nil || written() <= 2000 {
		t.Error("server:", written(), err)
	}
}

// TestMethodsOfABatch requires exactly the API's methods.
func TestMethodsOfABatch(t *testing.T) {
	var methods []string
	for i := range reflect.TypeFor[*gocql.Batch]().NumMethod() {
		methods = append(methods, reflect.TypeFor[*gocql.Batch]().Method(i).Name)
	}
	if !slices.Equal(methods, methodsOfABatch) {
		t.Error(methods)
	}
}
