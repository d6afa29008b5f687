// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkVectorReference is check of a vector, element by element.
func checkVectorReference(t *Type, b []byte) error {
	parts, err := splitVector(t, b)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if t.Elems[0].Kind == KindVector {
			err = checkVectorReference(t.Elems[0], p)
		} else {
			err = t.Elems[0].check(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vectorOf returns a type of vectors: the kind of the elements, vectors of 2 of them if nested is set, and a dimension.
func vectorOf(native byte, nested bool, dimension byte) *Type {
	elem := &Type{Kind: natives[int(native)%len(natives)].kind}
	if nested {
		elem = &Type{Kind: KindVector, Elems: []*Type{elem}, Dim: 2}
	}
	return &Type{Kind: KindVector, Elems: []*Type{elem}, Dim: 1 + int(dimension%4)}
}

func FuzzVectorCheck(f *testing.F) {
	for native := range natives {
		for _, nested := range []bool{false, true} {
			size := vectorOf(byte(native), nested, 2).fixedSize()
			for _, n := range []int{0, 3, size - 1, size, size + 1} {
				f.Add(byte(native), nested, byte(2), make([]byte, max(n, 0)))
				f.Add(byte(native), nested, byte(2), bytes.Repeat([]byte{0x13}, max(n, 0))) // as in a UUID of version 1
			}
		}
	}
	f.Fuzz(func(t *testing.T, native byte, nested bool, dimension byte, b []byte) {
		typ := vectorOf(native, nested, dimension)
		require.Equal(t, checkVectorReference(typ, b), typ.check(b), "%s %x", typ, b)
	})
}
