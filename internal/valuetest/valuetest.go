// SPDX-License-Identifier: Apache-2.0

// Package valuetest holds the table of CQL values for tests: types, literals of CQL, the bytes that Cassandra 5 stores
// for them, and Go values. Tests compare each path of a value to the server with the stored bytes.
package valuetest

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/vecql/vecql/cql"
)

// A Value is a row of the table: one CQL value.
type Value struct {
	Type    string // a CQL type, in which user-defined types have the names of [UDTs]
	Literal string // a term of an INSERT statement; of an UPDATE for a counter
	// Go holds Go values that stand for this value, the most common one first. Sets and maps are in the order of the
	// server. It is empty if no Go value does.
	Go []any
	// Unsorted holds Go values of sets and maps whose elements have another order or are repeated. The server sorts
	// them.
	Unsorted []any
	// Raw means that the literal is a function of bytes: no other literal has these bytes.
	Raw bool
}

// Name returns the type and the literal, which are unique.
func (v Value) Name() string { return v.Type + " " + v.Literal }

// A Record is what a server does with a literal.
type Record struct {
	Refused bool   // the server returns an error
	Cell    []byte // the stored bytes, nil for NULL
}

// UDTs lists the user-defined types of the table, in the order in which they can be created.
var UDTs = []cql.UDTTypeInfo{
	{Name: "vt_pair", Elements: []cql.UDTField{
		{Name: "a", Type: cql.NativeType(cql.TypeInt)},
		{Name: "b", Type: cql.NativeType(cql.TypeText)},
	}},
	{Name: "vt_deep", Elements: []cql.UDTField{
		{Name: "s", Type: cql.NewSetType(cql.NativeType(cql.TypeInet))},
		{Name: "p", Type: cql.UDTTypeInfo{Name: "vt_pair", Elements: []cql.UDTField{
			{Name: "a", Type: cql.NativeType(cql.TypeInt)},
			{Name: "b", Type: cql.NativeType(cql.TypeText)},
		}}},
		{Name: "v", Type: cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 2}},
	}},
}

// CreateTypes returns the statements that create the user-defined types in a keyspace.
func CreateTypes(keyspace string) []string {
	return []string{
		"CREATE TYPE " + keyspace + ".vt_pair (a int, b text)",
		"CREATE TYPE " + keyspace + ".vt_deep (s frozen<set<inet>>, p frozen<vt_pair>, v vector<float, 2>)",
	}
}

// Info returns the type of the value. A user-defined type has no keyspace. It panics if the type is not one.
func (v Value) Info() cql.TypeInfo {
	info, err := cql.ParseType(v.Type, func(_, name string) (cql.UDTTypeInfo, bool) {
		for _, u := range UDTs {
			if u.Name == name {
				return u, true
			}
		}
		return cql.UDTTypeInfo{}, false
	})
	if err != nil {
		panic(fmt.Sprintf("valuetest: type %q: %v", v.Type, err))
	}
	return info
}

// An Unfit is a Go value that must not be written for a CQL type, because a part of it would be lost.
type Unfit struct {
	Type string
	Go   any
}

// Info returns the type, as [Value.Info] does.
func (u Unfit) Info() cql.TypeInfo { return Value{Type: u.Type}.Info() }

// All returns the table.
func All() []Value {
	var all []Value
	for _, part := range [][]Value{
		texts, integers, decimals, floats, addresses, times, vectors, lists, sets,
		maps, records,
	} {
		all = append(all, part...)
	}
	return all
}

// Stored returns the values that a server stores, without those that it refuses.
func Stored() []Value {
	var stored []Value
	for _, v := range All() {
		if !v.Recorded().Refused {
			stored = append(stored, v)
		}
	}
	return stored
}

//go:embed recorded.txt
var recorded string

// records of the table by name, from recorded.txt.
var recordsByName = sync.OnceValue(func() map[string]Record {
	byName := map[string]Record{}
	for line := range strings.Lines(recorded) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			panic(fmt.Sprintf("valuetest: line of recorded.txt: %q", line))
		}
		literal, err := strconv.Unquote(fields[1])
		if err != nil {
			panic(fmt.Sprintf("valuetest: literal of recorded.txt: %q", line))
		}
		byName[fields[0]+" "+literal] = parseRecord(fields[2])
	}
	return byName
})

func parseRecord(s string) Record {
	switch s {
	case "refused":
		return Record{Refused: true}
	case "null":
		return Record{}
	}
	cell, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		panic(fmt.Sprintf("valuetest: bytes of recorded.txt: %q", s))
	}
	return Record{Cell: append([]byte{}, cell...)}
}

// Recorded returns what Cassandra 5 does with the literal. It panics if the value is not recorded.
func (v Value) Recorded() Record {
	r, ok := recordsByName()[v.Name()]
	if !ok {
		panic("valuetest: no record of " + v.Name() + ": go test ./internal/valuetest -run TestOnServer -record")
	}
	return r
}

// Sent returns the bytes that a program sends for the value: those that the server stores, except that the server
// stores NULL for an empty collection that is not frozen.
func (v Value) Sent() []byte {
	if cell := v.Recorded().Cell; cell != nil {
		return cell
	}
	return []byte{0, 0, 0, 0}
}

// Line returns the line of recorded.txt for a record of the value.
func (v Value) Line(r Record) string {
	state := "0x" + hex.EncodeToString(r.Cell)
	switch {
	case r.Refused:
		state = "refused"
	case r.Cell == nil:
		state = "null"
	}
	return fmt.Sprintf("%s\t%q\t%s\n", v.Type, v.Literal, state)
}
