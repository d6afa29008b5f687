// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestNullInAMapIsTheTypedZeroValue: a type assertion on a NULL does not panic.
func TestNullInAMapIsTheTypedZeroValue(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	want := map[string]any{
		"id": 1, "name": "", "price": int64(0), "tags": []string{}, "added": time.Time{}, "node": nullInet,
		"pair[0]": 0, "pair[1]": "", "home": map[string]any(nil), "counts": map[string]int(nil), "u": gocql.UUID{}, "data": []byte{},
	}
	check := func(how string, got map[string]any) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s: %d keys, want %d: %v", how, len(got), len(want), got)
		}
		for name, value := range want {
			if reflect.TypeOf(got[name]) != reflect.TypeOf(value) || reflect.ValueOf(got[name]).IsZero() != reflect.ValueOf(value).IsZero() && name != "tags" && name != "data" {
				t.Errorf("%s: %s is %T %v, want %T", how, name, got[name], got[name], value)
			}
		}
	}
	check("Query.MapScan", mapRow(t, s, map[string]any{}, 1))
	rows, err := s.Query("SELECT * FROM items").Iter().SliceMap()
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	check("SliceMap", rows[0])
	data, err := s.Query("SELECT * FROM items").Iter().RowData()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range data.Columns {
		if reflect.TypeOf(data.Values[i]) != reflect.PointerTo(reflect.TypeOf(want[name])) {
			t.Errorf("RowData: %s is %T", name, data.Values[i])
		}
	}
}

// TestZeroTimeIsWrittenAndReadBack: a zero time.Time is a cell of no bytes.
func TestZeroTimeIsWrittenAndReadBack(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, added) VALUES (?, ?)", 1, time.Time{})
	added := time.Now()
	if err := s.Query("SELECT added FROM items WHERE id = ?", 1).Scan(&added); err != nil || !added.IsZero() {
		t.Fatal(added, err)
	}
	data, err := gocql.Marshal(native(gocql.TypeTimestamp), time.Time{})
	if err != nil || data == nil || len(data) != 0 {
		t.Fatal(data, err)
	}
	n := 5
	if err := gocql.Unmarshal(native(gocql.TypeInt), data, &n); err != nil || n != 0 {
		t.Error("a cell without bytes:", n, err)
	}
}

// TestUnsignedValuesWrapAround: a uint64 hash in a bigint is read back.
func TestUnsignedValuesWrapAround(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, price) VALUES (?, ?)", 1, uint64(math.MaxUint64))
	var unsigned uint64
	var signed int64
	q := s.Query("SELECT price, price FROM items WHERE id = ?", 1)
	if err := q.Scan(&unsigned, &signed); err != nil || unsigned != math.MaxUint64 || signed != -1 {
		t.Fatal(unsigned, signed, err)
	}
}

// TestTupleTakesOneDestinationForEachElement, in Scan, MapScan and a Scanner.
func TestTupleTakesOneDestinationForEachElement(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, pair) VALUES (?, (?, ?))", 1, 7, "seven")
	run(t, s, "INSERT INTO items (id, pair) VALUES (?, ?)", 2, []any{8, "eight"})
	var id, n int
	var text string
	if err := s.Query("SELECT id, pair FROM items WHERE id = 1").Scan(&id, &n, &text); err != nil || n != 7 || text != "seven" {
		t.Fatal(id, n, text, err)
	}
	scanner := s.Query("SELECT id, pair FROM items WHERE id = 2").Iter().Scanner()
	for scanner.Next() {
		if err := scanner.Scan(nil, &n, &text); err != nil || n != 8 || text != "eight" {
			t.Fatal(n, text, err)
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	m := mapRow(t, s, map[string]any{}, 1)
	if m[gocql.TupleColumnName("pair", 0)] != 7 || m["pair[1]"] != "seven" {
		t.Error(m)
	}
	if err := s.Query("SELECT id, pair FROM items WHERE id = 1").Scan(&id, &n); err == nil {
		t.Error("two destinations for three")
	}
}

// TestTupleDecodesIntoASliceOfAny: Unmarshal takes the destinations of the elements in a []any.
func TestTupleDecodesIntoASliceOfAny(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	info := s.Query("SELECT pair FROM items").Iter().Columns()[0].TypeInfo
	data, err := gocql.Marshal(info, []any{3, "three"})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var text string
	if err := gocql.Unmarshal(info, data, []any{&n, &text}); err != nil || n != 3 || text != "three" {
		t.Fatal(n, text, err)
	}
}

// TestPointersInAMapAreDestinations: MapScan fills them and stores the values.
func TestPointersInAMapAreDestinations(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, name) VALUES (?, ?)", 1, "lamp")
	var name string
	m := mapRow(t, s, map[string]any{"name": &name}, 1)
	if name != "lamp" || m["name"] != "lamp" {
		t.Error(name, m["name"])
	}
}

// TestInetInAMap is text, with v2 an address.
func TestInetInAMap(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, node) VALUES (?, ?)", 1, "10.1.2.3")
	if m := mapRow(t, s, map[string]any{}, 1); fmt.Sprint(m["node"]) != "10.1.2.3" || reflect.TypeOf(m["node"]) != reflect.TypeOf(nullInet) {
		t.Errorf("%T %v", m["node"], m["node"])
	}
}

// TestTimeIsATimeUUID: a time.Time is stored in a timeuuid.
func TestTimeIsATimeUUID(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond).UTC()
	info := native(gocql.TypeTimeUUID)
	data, err := gocql.Marshal(info, now)
	if err != nil {
		t.Fatal(err)
	}
	var back time.Time
	if err := gocql.Unmarshal(info, data, &back); err != nil || !back.Equal(now) {
		t.Fatal(back, now, err)
	}
}

// position is a Marshaler and Unmarshaler of the API.
type position struct{ x, y byte }

func (p position) MarshalCQL(info gocql.TypeInfo) ([]byte, error) {
	if info.Type() != gocql.TypeBlob {
		return nil, errors.New("want a blob")
	}
	return []byte{p.x, p.y}, nil
}

func (p *position) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	if len(data) == 2 {
		p.x, p.y = data[0], data[1]
	}
	return nil
}

// target is an Unmarshaler with a value receiver, as gocqlx has them.
type target struct{ into *position }

func (t target) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	return t.into.UnmarshalCQL(info, data)
}

// TestValuesThatEncodeThemselves, with receivers of both kinds.
func TestValuesThatEncodeThemselves(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	if err := c.Exec("CREATE TABLE shop.lists (id int PRIMARY KEY, l list<blob>)"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c)
	run(t, s, "INSERT INTO items (id, data) VALUES (?, ?)", 1, position{3, 4})
	var p position
	if err := s.Query("SELECT data FROM items WHERE id = ?", 1).Scan(&p); err != nil || p != (position{3, 4}) {
		t.Fatal(p, err)
	}
	p = position{}
	if err := s.Query("SELECT data FROM items WHERE id = ?", 1).Scan(target{&p}); err != nil || p != (position{3, 4}) {
		t.Fatal(p, err)
	}
	run(t, s, "INSERT INTO lists (id, l) VALUES (?, ?)", 1, []position{{1, 2}, {5, 6}})
	var ps []position
	if err := s.Query("SELECT l FROM lists WHERE id = ?", 1).Scan(&ps); err != nil || !reflect.DeepEqual(ps, []position{{1, 2}, {5, 6}}) {
		t.Fatal(ps, err)
	}
}

// address is a user-defined type that encodes its fields.
type address struct {
	street string
	number int
}

func (a address) MarshalUDT(name string, info gocql.TypeInfo) ([]byte, error) {
	if name == "street" {
		return gocql.Marshal(info, a.street)
	}
	return gocql.Marshal(info, a.number)
}

func (a *address) UnmarshalUDT(name string, info gocql.TypeInfo, data []byte) error {
	if name == "street" {
		return gocql.Unmarshal(info, data, &a.street)
	}
	return gocql.Unmarshal(info, data, &a.number)
}

// TestUserDefinedTypes as values that encode themselves, structs and maps.
func TestUserDefinedTypes(t *testing.T) {
	type tagged struct {
		Street string `cql:"street"`
		Number int    `cql:"number"`
	}
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, home) VALUES (?, ?)", 1, address{"Elm", 5})
	run(t, s, "INSERT INTO items (id, home) VALUES (?, ?)", 2, tagged{"Oak", 6})
	run(t, s, "INSERT INTO items (id, home) VALUES (?, ?)", 3, map[string]any{"street": "Ash", "number": 7})
	for id, want := range map[int]tagged{1: {"Elm", 5}, 2: {"Oak", 6}, 3: {"Ash", 7}} {
		var self address
		var fields tagged
		var m map[string]any
		q := s.Query("SELECT home, home, home FROM items WHERE id = ?", id)
		if err := q.Scan(&self, &fields, &m); err != nil || self.street != want.Street || fields != want || m["number"] != want.Number {
			t.Error(self, fields, m, err)
		}
	}
}
