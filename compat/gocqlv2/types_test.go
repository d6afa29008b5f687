// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Types, and values that encode and decode themselves.

// money encodes itself as its cents.
type money struct{ cents int64 }

func (m money) MarshalCQL(info gocql.TypeInfo) ([]byte, error) {
	if info.Type() != gocql.TypeBigInt {
		return nil, fmt.Errorf("money in a %v", info)
	}
	return binary.BigEndian.AppendUint64(nil, uint64(m.cents)), nil
}

func (m *money) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	if len(data) == 8 {
		m.cents = int64(binary.BigEndian.Uint64(data))
	}
	return nil
}

// into decodes into the value that it points to: a destination with a value receiver.
type into struct{ text *string }

func (d into) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	*d.text = fmt.Sprintf("%v:%s", info, data)
	return nil
}

// address encodes itself field by field.
type address struct {
	street string
	number int
}

func (a address) MarshalUDT(name string, info gocql.TypeInfo) ([]byte, error) {
	switch name {
	case "street":
		return gocql.Marshal(info, a.street)
	case "number":
		return gocql.Marshal(info, a.number)
	}
	return nil, errors.New("no field " + name)
}

func (a *address) UnmarshalUDT(name string, info gocql.TypeInfo, data []byte) error {
	switch name {
	case "street":
		return gocql.Unmarshal(info, data, &a.street)
	case "number":
		return gocql.Unmarshal(info, data, &a.number)
	}
	return nil
}

func TestMarshalersOfPrograms(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id, name, big, home) VALUES (?, ?, ?, ?)", 1, "lamp", money{250},
		address{"Main", 7}).Exec())
	var m money
	var text string
	var home address
	require.NoError(t, s.Query("SELECT big, name, home FROM items WHERE id = 1").Scan(&m, into{&text}, &home))
	require.Equal(t, money{250}, m)
	require.Contains(t, text, ":lamp")
	require.Equal(t, address{"Main", 7}, home)

	// Also inside collections, where vecql calls them itself.
	list := gocql.NewNativeType(4, gocql.TypeCustom, "list<bigint>")
	data, err := gocql.Marshal(list, []money{{1}, {2}})
	require.NoError(t, err)
	var back []money
	require.NoError(t, gocql.Unmarshal(list, data, &back))
	require.Equal(t, []money{{1}, {2}}, back)
}

func TestUserDefinedTypes(t *testing.T) {
	_, s := open(t)
	type tagged struct {
		Street string `cql:"street"`
		Number int    `cql:"number"`
	}
	require.NoError(t, s.Query("INSERT INTO items (id, home) VALUES (?, ?)", 1, tagged{"Main", 7}).Exec())
	require.NoError(t, s.Query("INSERT INTO items (id, home) VALUES (?, ?)", 2, map[string]any{"street": "Side", "number": 8}).Exec())
	var a tagged
	require.NoError(t, s.Query("SELECT home FROM items WHERE id = 2").Scan(&a))
	require.Equal(t, tagged{"Side", 8}, a)
	m := map[string]any{}
	require.NoError(t, s.Query("SELECT home FROM items WHERE id = 1").MapScan(m))
	require.Equal(t, map[string]any{"street": "Main", "number": 7}, m["home"])
}

func TestZeroValuesOfTypes(t *testing.T) {
	for text, zero := range map[string]any{
		"int": 0, "text": "", "bigint": int64(0), "inet": net.IP(nil), "list<int>": []int(nil), "blob": []byte(nil),
		"map<text, double>": map[string]float64(nil), "vector<float, 3>": []float32(nil), "uuid": gocql.UUID{}, "boolean": false,
		"tuple<int, text>": []any{0, ""}, "duration": gocql.Duration{},
	} {
		info := gocql.NewNativeType(4, gocql.TypeCustom, text)
		require.Equal(t, zero, info.Zero(), text)
		data, err := info.Marshal(nil)
		require.NoError(t, err, text)
		require.Nil(t, data)
	}
	require.Equal(t, "map(text, int)", fmt.Sprint(gocql.NewNativeType(4, gocql.TypeMap, "text, int")))
	require.Equal(t, "vector(float, 3)", fmt.Sprint(gocql.NewNativeType(4, gocql.TypeCustom, "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)")))
	require.Panics(t, func() { gocql.NewNativeType(4, gocql.TypeCustom, "org.example.Unknown") })
}

// shout is a type that a program registers.
type shout struct{}

func (shout) Type() gocql.Type              { return gocql.TypeCustom }
func (shout) Zero() any                     { return "" }
func (shout) Marshal(v any) ([]byte, error) { return []byte(fmt.Sprint(v, "!")), nil }
func (shout) Unmarshal(data []byte, v any) error {
	p, ok := v.(*string)
	if !ok {
		return errors.New("not a text")
	}
	*p = string(data) + "?"
	return nil
}

func TestRegisteredTypes(t *testing.T) {
	r := gocql.GlobalTypes.Copy()
	require.NoError(t, r.RegisterCustom("org.example.Shout", gocql.SimpleCQLType{TypeInfo: shout{}}))
	require.Error(t, r.RegisterCustom("org.example.Shout", gocql.SimpleCQLType{TypeInfo: shout{}}))
	require.NoError(t, r.AddAlias("shout", "org.example.Shout"))
	require.Error(t, r.AddAlias("x", "absent"))
	require.Error(t, r.AddAlias("text", "ascii"))
	require.Error(t, gocql.GlobalTypes.RegisterType(gocql.TypeInt, "whole", gocql.SimpleCQLType{TypeInfo: shout{}}))
	require.Error(t, r.RegisterType(gocql.TypeCustom, "c", gocql.SimpleCQLType{TypeInfo: shout{}}))

	// Values and columns of other types are as without registered types.
	_, cfg := start(t, 1)
	cfg.RegisteredTypes = r
	s := connect(t, cfg)
	require.NoError(t, s.Query("INSERT INTO items (id, name, pos) VALUES (?, :name, ?)", 1, "lamp", []any{1, "a"}).Exec())
	var name, text string
	var n int
	require.NoError(t, s.Query("SELECT name, pos FROM items WHERE id = ?", 1).Scan(&name, &n, &text))
	require.Equal(t, "lamp1a", fmt.Sprint(name, n, text))
	m := map[string]any{}
	require.NoError(t, s.Query("SELECT name, pos FROM items WHERE id = ?", 1).MapScan(m))
	require.Equal(t, map[string]any{"name": "lamp", "pos[0]": 1, "pos[1]": "a"}, m)
	row, err := s.Query("SELECT name, pos FROM items").Iter().RowData()
	require.NoError(t, err)
	require.Equal(t, []any{new(string), new(int), new(string)}, row.Values)

	data, err := gocql.Marshal(shout{}, "hey")
	require.NoError(t, err)
	require.Equal(t, "hey!", string(data))
	var p *string
	require.NoError(t, gocql.Unmarshal(shout{}, []byte("hey"), &p))
	require.Equal(t, "hey?", *p)
	require.NoError(t, gocql.Unmarshal(shout{}, nil, &p))
	require.Nil(t, p)
}

func TestConsistencies(t *testing.T) {
	require.Equal(t, gocql.LocalQuorum, gocql.ParseConsistency("local_quorum"))
	require.Panics(t, func() { gocql.ParseConsistency("most") })
	_, err := gocql.ParseConsistencyWrapper("most")
	require.Error(t, err)
	_, err = gocql.ParseUUID("x")
	require.ErrorContains(t, err, "invalid UUID")
}

func TestChecksums(t *testing.T) {
	require.EqualValues(t, 0x875060, gocql.Crc24(nil))
	require.Equal(t, uint32(0xD94C27), gocql.Crc24([]byte("segment")))
	require.Equal(t, uint32(0xEC0673B9), gocql.Crc32([]byte("segment")))
}
