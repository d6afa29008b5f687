// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"fmt"
	"testing"

	"github.com/gocql/gocql"
)

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
