// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/vecql/vecql/cql"
)

// Fuzz targets that compare the switch and the plans with the reference.

// randomType returns a type nested at most depth levels deep.
func randomType(r *rand.Rand, depth int) cql.TypeInfo {
	n := 8
	if depth <= 0 {
		n = 1
	}
	switch r.IntN(n) {
	case 1:
		return cql.NewListType(randomType(r, depth-1))
	case 2:
		return cql.NewSetType(randomType(r, depth-1))
	case 3:
		return cql.NewMapType(randomType(r, 0), randomType(r, depth-1))
	case 4:
		t := cql.TupleTypeInfo{}
		for range 1 + r.IntN(3) {
			t.Elems = append(t.Elems, randomType(r, depth-1))
		}
		return t
	case 5:
		return [...]cql.TypeInfo{addressType, nestedType, pairType}[r.IntN(3)]
	case 6, 7:
		return cql.VectorType{SubType: randomType(r, depth-1), Dimensions: 1 + r.IntN(3)}
	}
	list := natives()
	return list[r.IntN(len(list))]
}

func FuzzEncodeEqual(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint16(seed*97))
	}
	values := goValues()
	f.Fuzz(func(t *testing.T, seed uint64, which uint16) {
		info := randomType(rand.New(rand.NewPCG(seed, 0)), 3)
		v := values[int(which)%len(values)]
		want, wantErr := ReferenceEncode(nil, info, v)
		for name, encode := range encodeWays(info, v) {
			got, err := encode(nil)
			if class(err) != class(wantErr) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%s: %T %s: got %x, %v; reference %x, %v", name, v, info, got, err, want, wantErr)
			}
		}
	})
}

func FuzzDecodeEqual(f *testing.F) {
	for seed := range uint64(20) {
		info := randomType(rand.New(rand.NewPCG(seed, 0)), 3)
		for i, cell := range cellsOf(info, 2) {
			f.Add(seed, uint16(seed*31)+uint16(i), cell)
		}
	}
	types := goTypes()
	f.Fuzz(func(t *testing.T, seed uint64, which uint16, cell []byte) {
		r := rand.New(rand.NewPCG(seed, 0))
		info := randomType(r, 3)
		for _, typ := range []reflect.Type{types[int(which)%len(types)], reflect.TypeFor[any](), DefaultGoType(info)} {
			if typ == nil {
				continue
			}
			want := reflect.New(typ)
			wantErr := ReferenceDecode(info, cell, want.Interface())
			for name, decode := range decodeWays(info, typ) {
				got := reflect.New(typ)
				ok, err := decode(cell, got.Interface())
				if ok && (class(err) != class(wantErr) || err == nil && !same(got.Interface(), want.Interface())) {
					t.Fatalf("%s: %x %s into %s: got %#v, %v; reference %#v, %v", name, cell, info, want.Type(),
						got.Elem(), err, want.Elem(), wantErr)
				}
			}
		}
	})
}
