// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests values of the user's own: user-defined types, and values that code themselves.

type person struct {
	FullName string `cql:"name"`
	Name     string // taken by the tag of another field
	AGE      *int
	Vec      []float32
	Skipped  string `cql:"-"`
	hidden   int
}

func TestUDT(t *testing.T) {
	cell := hexBytes(t, "00000002"+"4162"+"00000004"+"00000007"+"00000008"+"3f80000040000000")
	want := person{FullName: "Ab", AGE: pointerTo(7), Vec: []float32{1, 2}}
	type named map[myString]any
	asMap := map[string]any{"name": "Ab", "age": 7, "vec": []float32{1, 2}}
	for _, v := range []any{want, &want, asMap, named{"name": "Ab", "age": 7, "vec": []float32{1, 2}}, fieldCoded{values: map[string][]byte{"name": []byte("Ab"), "age": {0, 0, 0, 7}, "vec": cell[18:]}}} {
		for _, got := range encodings(t, personType, v) {
			require.Equal(t, cell, got, "%T", v)
		}
	}
	for _, v := range []any{want, asMap, named{"name": "Ab", "age": 7, "vec": []float32{1, 2}}} {
		decodings(personType, cell, reflect.TypeOf(v), func(got any, err error) {
			require.NoError(t, err)
			require.Equal(t, v, got)
		})
	}

	t.Run("fields missing at the end are NULL", func(t *testing.T) {
		for _, n := range []int{0, 6} {
			got := person{FullName: "old", AGE: pointerTo(1), Vec: []float32{9}}
			require.NoError(t, Unmarshal(personType, cell[:n], &got))
			require.Equal(t, person{FullName: string(cell[min(n, 4):n])}, got)
			m := map[string]any{}
			require.NoError(t, Unmarshal(personType, cell[:n], &m))
			require.Len(t, m, 3)
			require.Nil(t, m["vec"])
			u := fieldCoded{}
			require.NoError(t, Unmarshal(personType, cell[:n], &u))
			require.Equal(t, []string{"name", "age", "vec"}, u.names)
			require.Nil(t, u.values["vec"])
		}
	})
	t.Run("fields that the value lacks are NULL", func(t *testing.T) {
		for _, v := range []any{struct{ Age int }{7}, map[string]int{"age": 7}} {
			for _, got := range encodings(t, personType, v) {
				require.Equal(t, "ffffffff"+"0000000400000007"+"ffffffff", hex.EncodeToString(got))
			}
		}
	})
	t.Run("fields of an embedded struct", func(t *testing.T) {
		type Base struct{ Name string }
		type outer struct {
			Base
			Age int
		}
		for _, got := range encodings(t, personType, outer{Base{"Ab"}, 7}) {
			require.Equal(t, cell[:14], got[:14])
		}
		var o outer
		require.NoError(t, Unmarshal(personType, cell, &o))
		require.Equal(t, outer{Base{"Ab"}, 7}, o)
	})
	t.Run("the exact name wins", func(t *testing.T) {
		type both struct{ NAME, Name, Age string }
		info := UDTTypeInfo{Elements: []UDTField{{"Name", cqlText}}}
		for _, got := range encodings(t, info, both{NAME: "no", Name: "yes"}) {
			require.Equal(t, "\x00\x00\x00\x03yes", string(got))
		}
	})
}

// selfCoded codes itself.
type selfCoded struct {
	content []byte
	null    bool
	err     error
	panics  any
}

func (s selfCoded) MarshalCQL(TypeInfo) ([]byte, error) {
	if s.panics != nil {
		panic(s.panics)
	}
	if s.null {
		return nil, nil
	}
	return append([]byte{}, s.content...), s.err
}

func (s *selfCoded) UnmarshalCQL(_ TypeInfo, data []byte) error {
	if s.panics != nil {
		panic(s.panics)
	}
	s.content, s.null = data, data == nil
	return s.err
}

// pointerCoded codes itself through a pointer only.
type pointerCoded string

func (p *pointerCoded) MarshalCQL(TypeInfo) ([]byte, error) {
	return []byte("<" + string(*p) + ">"), nil
}

// fieldCoded codes itself field by field.
type fieldCoded struct {
	values map[string][]byte
	names  []string
	panics any
}

func (f fieldCoded) MarshalUDT(name string, _ TypeInfo) ([]byte, error) {
	if f.panics != nil {
		panic(f.panics)
	}
	return f.values[name], nil
}

func (f *fieldCoded) UnmarshalUDT(name string, _ TypeInfo, data []byte) error {
	if f.panics != nil {
		panic(f.panics)
	}
	if f.values == nil {
		f.values = map[string][]byte{}
	}
	f.names, f.values[name] = append(f.names, name), data
	return nil
}

func TestMarshaler(t *testing.T) {
	v := selfCoded{content: []byte("xyz")}
	for _, v := range []any{v, &v, pointerTo(&v), NullOf(v)} {
		for _, got := range encodings(t, cqlInt, v) {
			require.Equal(t, "xyz", string(got))
		}
	}
	for _, v := range []any{selfCoded{}, &selfCoded{}} {
		for _, got := range encodings(t, cqlInt, v) {
			require.Equal(t, []byte{}, got, "empty is not NULL")
		}
	}
	p := pointerCoded("a")
	for _, v := range []any{p, &p} {
		require.Equal(t, "<a>", string(encodings(t, cqlText, v)[0]))
	}
	require.Equal(t, "000000010000000378797a", hex.EncodeToString(encodings(t, intList, []selfCoded{v})[0]))
	require.Equal(t, "0378797a", hex.EncodeToString(encodings(t, vectorOf(cqlText, 1), []selfCoded{v})[0]))
	_, err := Marshal(intList, []selfCoded{{null: true}})
	require.ErrorIs(t, err, ErrNull)

	mine := errors.New("mine")
	_, err = Marshal(cqlInt, selfCoded{err: mine})
	require.ErrorIs(t, err, mine)
	for _, v := range []any{selfCoded{panics: "boom"}, []selfCoded{{panics: mine}}} {
		_, err = Marshal(intList, v)
		var e *MarshalError
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, "panic")
	}
	_, err = Marshal(personType, fieldCoded{panics: "boom"})
	require.ErrorContains(t, err, "boom")
}

func TestUnmarshaler(t *testing.T) {
	cell := []byte("xyz")
	var v selfCoded
	require.NoError(t, Unmarshal(cqlInt, cell, &v))
	var p *selfCoded
	require.NoError(t, Unmarshal(cqlInt, cell, &p))
	cell[0] = 'X'
	require.Equal(t, "xyz", string(v.content), "it may keep what it gets")
	require.Equal(t, "xyz", string(p.content))
	require.NoError(t, Unmarshal(cqlInt, []byte{}, &v))
	require.NotNil(t, v.content)
	require.NoError(t, Unmarshal(cqlInt, nil, &v))
	require.True(t, v.null)
	require.NoError(t, Unmarshal(cqlInt, nil, &p))
	require.Nil(t, p)
	var list []selfCoded
	require.NoError(t, Unmarshal(intList, hexBytes(t, "00000002"+"0000000161"+"ffffffff"), &list))
	require.Equal(t, []selfCoded{{content: []byte("a")}, {null: true}}, list)

	mine := errors.New("mine")
	require.ErrorIs(t, Unmarshal(cqlInt, cell, &selfCoded{err: mine}), mine)
	for _, dst := range []any{&selfCoded{panics: "boom"}, &fieldCoded{panics: "boom"}} {
		err := Unmarshal(personType, []byte{}, dst)
		var e *UnmarshalError
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, "boom")
	}
}
