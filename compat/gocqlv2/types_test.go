// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Types, and values that encode and decode themselves.

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
