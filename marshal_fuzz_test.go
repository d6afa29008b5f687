// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

// This file fuzzes the fast paths against the reference.

// randomType returns a type no deeper than depth.
func randomType(r *rand.Rand, depth int) TypeInfo {
	n := 8
	if depth <= 0 {
		n = 1
	}
	switch r.IntN(n) {
	case 1:
		return NewListType(randomType(r, depth-1))
	case 2:
		return NewSetType(randomType(r, depth-1))
	case 3:
		return NewMapType(randomType(r, 0), randomType(r, depth-1))
	case 4:
		t := TupleTypeInfo{}
		for range 1 + r.IntN(3) {
			t.Elems = append(t.Elems, randomType(r, depth-1))
		}
		return t
	case 5:
		return [...]TypeInfo{addressType, nestedType, pairType}[r.IntN(3)]
	case 6, 7:
		return VectorType{randomType(r, depth-1), 1 + r.IntN(3)}
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
		want, wantErr := reflectEncode(nil, info, v)
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
		for _, typ := range []reflect.Type{types[int(which)%len(types)], reflect.TypeFor[any](), defaultGoType(info)} {
			if typ == nil {
				continue
			}
			want := reflect.New(typ)
			wantErr := reflectDecode(info, cell, want.Interface())
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
