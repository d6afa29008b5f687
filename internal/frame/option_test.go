// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of [option]: accepted and refused input, and bounded time and memory.

func native(t cql.Type) cql.NativeType { return cql.NativeType(t) }

func hexBytes(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(tb, err)
	return b
}

func TestParseOption(t *testing.T) {
	text := func(s string) string {
		return hex.EncodeToString([]byte{byte(len(s) >> 8), byte(len(s))}) + hex.EncodeToString([]byte(s))
	}
	for _, row := range []struct {
		name, hex string
		want      cql.TypeInfo
	}{
		{"int", "0009", native(cql.TypeInt)},
		{"text of protocol v2", "000a", native(cql.TypeVarchar)},
		{"list", "0020000d", cql.NewListType(native(cql.TypeVarchar))},
		{"map of sets", "00210009" + "00220014", cql.NewMapType(native(cql.TypeInt), cql.NewSetType(native(cql.TypeTinyInt)))},
		{"tuple", "003100020009000d", cql.TupleTypeInfo{Elems: []cql.TypeInfo{native(cql.TypeInt), native(cql.TypeVarchar)}}},
		{
			"UDT", "0030" + text("ks") + text("pair") + "0002" + text("a") + "0009" + text("b") + "0020000b",
			cql.UDTTypeInfo{Keyspace: "ks", Name: "pair", Elements: []cql.UDTField{{Name: "a", Type: native(cql.TypeInt)}, {Name: "b", Type: cql.NewListType(native(cql.TypeTimestamp))}}},
		},
		{"vector", "0000" + text("org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)"), cql.VectorType{SubType: native(cql.TypeFloat), Dimensions: 3}},
		{"list of vectors", "00200000" + text("VectorType(FloatType, 3)"), cql.NewListType(cql.VectorType{SubType: native(cql.TypeFloat), Dimensions: 3})},
		{"unknown class", "0000" + text("com.example.Money"), cql.CustomType{Class: "com.example.Money"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := hexBytes(t, row.hex)
			r := wire.NewReader(b)
			require.Equal(t, row.want, parseOption(&r))
			require.NoError(t, r.Err())
			require.Zero(t, r.Len())
			for i := range b {
				r := wire.NewReader(b[:i])
				parseOption(&r)
				require.Error(t, r.Err(), "%d of %d bytes", i, len(b))
			}
		})
	}
	for _, row := range []struct{ name, hex string }{
		{"unknown id", "0099"},
		{"malformed class", "0000" + text("ListType(")},
		{"tuple of more types than bytes", "0031ffff0009"},
		{"UDT of more fields than bytes", "0030" + text("ks") + text("u") + "ffff" + text("a") + "0009"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := wire.NewReader(hexBytes(t, row.hex))
			parseOption(&r)
			require.Error(t, r.Err())
		})
	}
}

// TestParseOptionLyingCounts parses 64 nested tuples that all declare as many elements as there are bytes.
func TestParseOptionLyingCounts(t *testing.T) {
	body := make([]byte, 128<<10)
	for i := 0; i < 60*4; i += 4 {
		copy(body[i:], "\x00\x31\xfb\xff")
	}
	got := testing.AllocsPerRun(1, func() {
		r := wire.NewReader(body)
		parseOption(&r)
		require.Error(t, r.Err())
	})
	require.Less(t, got, 1000.)
}

// TestParseOptionDepth parses 64 levels and refuses a million without a million stack frames.
func TestParseOptionDepth(t *testing.T) {
	for _, n := range []int{maxOptionDepth, maxOptionDepth + 1, 1e6} {
		r := wire.NewReader(append([]byte(strings.Repeat("\x00\x20", n)), 0, 9))
		parseOption(&r)
		if n <= maxOptionDepth {
			require.NoError(t, r.Err())
			continue
		}
		var fault *cql.TypeError
		require.ErrorAs(t, r.Err(), &fault)
	}
}

// partsOf counts the parts of a type.
func partsOf(t cql.TypeInfo) int {
	n := 1
	switch t := t.(type) {
	case cql.CustomType:
		n += len(t.Class)
	case cql.CollectionType:
		if t.Key != nil {
			n += partsOf(t.Key)
		}
		n += partsOf(t.Elem)
	case cql.TupleTypeInfo:
		for _, e := range t.Elems {
			n += partsOf(e)
		}
	case cql.UDTTypeInfo:
		n += len(t.Keyspace) + len(t.Name)
		for _, f := range t.Elements {
			n += len(f.Name) + partsOf(f.Type)
		}
	case cql.VectorType:
		n += partsOf(t.SubType)
		if t.Dimensions < 0 || t.Dimensions > math.MaxInt32 {
			panic("invalid dimensions of a vector: " + strconv.Itoa(t.Dimensions))
		}
	}
	return n
}

func FuzzParseOption(f *testing.F) {
	f.Add([]byte("\x00\x21\x00\x0d\x00\x31\x00\x02\x00\x09\x00\x22\x00\x0b"))
	f.Add([]byte("\x00\x30\x00\x02ks\x00\x01u\x00\x01\x00\x01a\x00\x00\x00\x16VectorType(FloatType,3)"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b)
		got := parseOption(&r)
		if r.Err() != nil {
			return
		}
		if n := partsOf(got); n > 2*len(b)+2 {
			t.Fatalf("%d parts of %d bytes", n, len(b))
		}
		if n := len(got.String()); n > 16*len(b)+32 {
			t.Fatalf("%d characters of CQL from %d bytes", n, len(b))
		}
	})
}
