// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"database/sql"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// A fuzz target that decodes arbitrary bytes as arbitrary types into every kind of destination.

// typeFromBytes returns a type derived from bytes, small enough to be decoded often.
func typeFromBytes(b []byte, depth int) (cql.TypeInfo, []byte) {
	if len(b) == 0 || depth > 4 {
		return native(cql.TypeInt), b
	}
	id, b := b[0]%32, b[1:]
	var key, elem cql.TypeInfo
	switch {
	case id <= 20:
		return cql.NativeType(cql.TypeAscii + cql.Type(id)), b
	case id <= 22:
		elem, b = typeFromBytes(b, depth+1)
		return cql.NewListType(elem), b
	case id == 23:
		elem, b = typeFromBytes(b, depth+1)
		return cql.NewSetType(elem), b
	case id == 24:
		key, b = typeFromBytes(b, depth+1)
		elem, b = typeFromBytes(b, depth+1)
		return cql.NewMapType(key, elem), b
	case id == 25:
		key, b = typeFromBytes(b, depth+1)
		elem, b = typeFromBytes(b, depth+1)
		return cql.TupleTypeInfo{Elems: []cql.TypeInfo{key, elem}}, b
	case id == 26:
		key, b = typeFromBytes(b, depth+1)
		elem, b = typeFromBytes(b, depth+1)
		return cql.UDTTypeInfo{Keyspace: "ks", Name: "udt", Elements: []cql.UDTField{{Name: "name", Type: key}, {Name: "age", Type: elem}}}, b
	case id == 27:
		return cql.CustomType{Class: "X"}, b
	}
	n := 0
	if len(b) > 0 {
		n, b = int(b[0]), b[1:]
	}
	switch n {
	case 254:
		n = -1
	case 255:
		n = 1<<31 - 1
	}
	elem, b = typeFromBytes(b, depth+1)
	return vectorOf(elem, n), b
}

// fuzzDestinations are the destination types, besides any.
var fuzzDestinations = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint64](), reflect.TypeFor[*big.Int](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[*inf.Dec](),
	reflect.TypeFor[cql.UUID](), reflect.TypeFor[net.IP](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](),
	reflect.TypeFor[cql.Duration](), reflect.TypeFor[[]any](), reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[[]float32](),
	reflect.TypeFor[[][]float32](), reflect.TypeFor[[2]any](), reflect.TypeFor[[3]float32](), reflect.TypeFor[map[any]any](), reflect.TypeFor[map[string]any](),
	reflect.TypeFor[map[any]struct{}](), reflect.TypeFor[map[string]int](), reflect.TypeFor[person](), reflect.TypeFor[tuplePair](), reflect.TypeFor[**int](),
	reflect.TypeFor[cql.Null[[]any]](), reflect.TypeFor[sql.NullString](), reflect.TypeFor[sql.Null[any]](), reflect.TypeFor[[]cql.Null[string]](), reflect.TypeFor[selfCoded](),
}

// goldenSeed returns the bytes from which typeFromBytes derives a vector of n elements of the native type t.
func goldenSeed(t cql.Type, n byte) []byte { return []byte{28, n, byte(t - cql.TypeAscii)} }

// FuzzUnmarshal decodes any cell as any type; an error must be typed. A value decoded into an any can be encoded, and
// decodes to the same value again.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte{8}, []byte{0, 0, 0, 1})
	f.Add(goldenSeed(cql.TypeFloat, 2), make([]byte, 8))
	f.Add(goldenSeed(cql.TypeVarchar, 2), []byte{1, 'a', 0x80, 1, 'b'})
	f.Add([]byte{21, 12}, []byte{0, 0, 0, 2, 0, 0, 0, 1, 'a', 255, 255, 255, 255})
	f.Add([]byte{24, 2, 5}, []byte{0, 0, 0, 1, 0, 0, 0, 1, 'a', 0, 0, 0, 5, 0, 0, 0, 2, 7})
	f.Add([]byte{26, 12, 25, 8, 20}, []byte{0, 0, 0, 1, 'a', 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 9})
	f.Add([]byte{28, 8, 28, 8, 28, 0, 7}, []byte{})
	f.Add([]byte{28, 255, 12}, []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, typ, cell []byte) {
		info, _ := typeFromBytes(typ, 0)
		for _, dst := range fuzzDestinations {
			err := Unmarshal(info, cell, reflect.New(dst).Interface())
			var e *cql.UnmarshalError
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%v into %v: %#v", info, dst, err)
			}
		}
		var v any
		var err error
		// The type has up to four levels, where each cell of 4 bytes may be a tuple, UDT or vector without content that
		// takes some hundred bytes in Go.
		if got, limit := allocated(func() { err = Unmarshal(info, cell, &v) }), uint64(64<<10+16384*len(cell)); got > limit {
			t.Fatalf("%v: %d bytes for a cell of %d", info, got, len(cell))
		}
		if err != nil {
			return
		}
		content, err := Marshal(info, v)
		if err != nil {
			// NULL elements can be decoded but not encoded. They decode to the zero value of their Go type, which may
			// be out of range of the CQL type.
			if !errors.Is(err, cql.ErrNull) && !errors.Is(err, cql.ErrConversion) && !errors.Is(err, cql.ErrRange) {
				t.Fatalf("%v: %v", info, err)
			}
			return
		}
		var again any
		if err := Unmarshal(info, content, &again); err != nil {
			t.Fatalf("%v: %x became %v, then %x: %v", info, cell, v, content, err)
		}
		// The comparison uses Marshal again, because a NaN is not equal to itself and the order of map entries is
		// unspecified. Two inet keys of 4 and 16 bytes may be the same address, which is encoded as 4 bytes.
		sameKeys := strings.Contains(info.String(), "inet")
		if b, err := Marshal(info, again); err != nil || len(b) != len(content) && !sameKeys {
			t.Fatalf("%v: %x became %v, then %x, then %x: %v", info, cell, v, content, b, err)
		}
	})
}
