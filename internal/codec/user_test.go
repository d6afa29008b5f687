// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Tests of user-defined types, and of values that encode themselves.

type person struct {
	_        struct{} `cql:"lenient"`
	FullName string   `cql:"name"`
	Name     string   // matched by the tag of another field
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
		type both struct {
			_               struct{} `cql:"lenient"`
			NAME, Name, Age string
		}
		info := cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "Name", Type: cqlText}}}
		for _, got := range encodings(t, info, both{NAME: "no", Name: "yes"}) {
			require.Equal(t, "\x00\x00\x00\x03yes", string(got))
		}
	})
}

// TestUDTMisspelledField requires that every implementation rejects structs with a field that is not a field of the
// UDT, wherever the struct is nested.
func TestUDTMisspelledField(t *testing.T) {
	type misspelled struct {
		Name string
		Age  int `cql:"agee"`
	}
	type onlyMisspelled struct {
		Age int `cql:"agee"`
	}
	type Base struct {
		Age int `cql:"agee"`
	}
	type embedding struct {
		Base
		Name string
	}
	type otherCase struct {
		Age int `cql:"AGE"`
	}
	type untagged struct{ Name, Nick string }
	type twice struct{ Name, NAME string }
	type embeddingUntagged struct {
		untagged
		Age int
	}
	cell := hexBytes(t, "00000002"+"4162"+"00000004"+"00000007"+"ffffffff")
	row := cql.TupleTypeInfo{Elems: []cql.TypeInfo{personType}}
	list := cql.NewListType(personType)
	for _, v := range []any{misspelled{}, onlyMisspelled{}, embedding{}, otherCase{}, untagged{}, twice{}, embeddingUntagged{}} {
		typ := reflect.TypeOf(v)
		lists := reflect.MakeSlice(reflect.SliceOf(typ), 1, 1).Interface()
		for _, bound := range []struct {
			info cql.TypeInfo
			v    any
		}{{personType, v}, {personType, cql.NullOf(v)}, {row, []any{v}}, {list, lists}} {
			_, err := Marshal(bound.info, bound.v)
			require.ErrorIs(t, err, cql.ErrConversion, "%v", typ)
			require.ErrorContains(t, err, tagOfAge(typ))
			require.ErrorContains(t, err, "holds no field of ks.person")
			_, err = EncoderOf(bound.info, reflect.TypeOf(bound.v))(nil, bound.info, bound.v)
			require.ErrorIs(t, err, cql.ErrConversion, "%v", typ)
		}
		decodings(personType, cell, typ, func(_ any, err error) {
			require.ErrorIs(t, err, cql.ErrConversion)
			require.ErrorContains(t, err, "holds no field of ks.person")
		})
		require.ErrorIs(t, DecoderOf(personType, reflect.PointerTo(typ))(personType, cell, reflect.New(typ).Interface()), cql.ErrConversion)
	}

	t.Run("no error", func(t *testing.T) {
		type nested struct {
			Street string `cql:"street"` // of another type
		}
		type tagless struct {
			Name    string
			hidden  int `cql:"agee"` // unexported, so it is not matched
			Skipped int `cql:"-"`
			nested  `cql:"-"`
		}
		want := tagless{Name: "Ab"}
		for _, got := range encodings(t, personType, want) {
			require.Equal(t, "00000002"+"4162"+"ffffffff"+"ffffffff", hex.EncodeToString(got))
		}
		decodings(personType, cell, reflect.TypeOf(want), func(got any, err error) {
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	})
	t.Run("a lenient struct", func(t *testing.T) {
		type lenient struct {
			_    struct{} `cql:"lenient"`
			Name string
			Nick string
			Age  int `cql:"agee"`
		}
		for _, got := range encodings(t, personType, lenient{Name: "Ab", Nick: "lost", Age: 9}) {
			require.Equal(t, "00000002"+"4162"+"ffffffff"+"ffffffff", hex.EncodeToString(got))
		}
		decodings(personType, cell, reflect.TypeFor[lenient](), func(got any, err error) {
			require.NoError(t, err)
			require.Equal(t, lenient{Name: "Ab"}, got)
		})
		require.NotNil(t, PlanEncode(personType, reflect.TypeFor[lenient]()))
		require.NotNil(t, PlanDecode(personType, reflect.TypeFor[lenient]()))
	})
	t.Run("a field added by ALTER TYPE", func(t *testing.T) {
		type before struct {
			Name string `cql:"name"`
			Age  int    `cql:"age"`
		}
		decodings(personType, cell, reflect.TypeFor[before](), func(got any, err error) {
			require.NoError(t, err)
			require.Equal(t, before{"Ab", 7}, got)
		})
		for _, got := range encodings(t, personType, before{"Ab", 7}) {
			require.Equal(t, cell, got)
		}
	})
}

func tagOfAge(t reflect.Type) string {
	if f, ok := t.FieldByName("Age"); ok && f.Tag != "" {
		return string(f.Tag)
	}
	return "the field " + t.String() + "."
}

// selfCoded encodes and decodes itself.
type selfCoded struct {
	content []byte
	null    bool
	err     error
	panics  any
}

func (s selfCoded) MarshalCQL(cql.TypeInfo) ([]byte, error) {
	if s.panics != nil {
		panic(s.panics)
	}
	if s.null {
		return nil, nil
	}
	return append([]byte{}, s.content...), s.err
}

func (s *selfCoded) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	if s.panics != nil {
		panic(s.panics)
	}
	s.content, s.null = data, data == nil
	return s.err
}

// pointerCoded encodes and decodes itself with pointer receivers only.
type pointerCoded string

func (p *pointerCoded) MarshalCQL(cql.TypeInfo) ([]byte, error) {
	return []byte("<" + string(*p) + ">"), nil
}

// fieldCoded encodes and decodes itself field by field.
type fieldCoded struct {
	values map[string][]byte
	names  []string
	panics any
}

func (f fieldCoded) MarshalUDT(name string, _ cql.TypeInfo) ([]byte, error) {
	if f.panics != nil {
		panic(f.panics)
	}
	return f.values[name], nil
}

func (f *fieldCoded) UnmarshalUDT(name string, _ cql.TypeInfo, data []byte) error {
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
	for _, v := range []any{v, &v, pointerTo(&v), cql.NullOf(v)} {
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
	require.ErrorIs(t, err, cql.ErrNull)

	mine := errors.New("mine")
	_, err = Marshal(cqlInt, selfCoded{err: mine})
	require.ErrorIs(t, err, mine)
	for _, v := range []any{selfCoded{panics: "boom"}, []selfCoded{{panics: mine}}} {
		_, err = Marshal(intList, v)
		var e *cql.MarshalError
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
	require.Equal(t, "xyz", string(v.content), "UnmarshalCQL may keep data")
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
		var e *cql.UnmarshalError
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, "boom")
	}
}

// TestNullOfAUDTCallsNoMethod decodes NULL into a value that decodes itself field by field: it becomes zero.
func TestNullOfAUDTCallsNoMethod(t *testing.T) {
	for name, decode := range map[string]Decoder{
		"Unmarshal": Unmarshal, "plan": DecoderOf(personType, reflect.TypeFor[*fieldCoded]()), "reference": ReferenceDecode,
	} {
		old := fieldCoded{names: []string{"old"}}
		require.NoError(t, decode(personType, nil, &old), name)
		require.Equal(t, fieldCoded{}, old, name)
		require.NoError(t, decode(personType, []byte{}, &old), name)
		require.Equal(t, []string{"name", "age", "vec"}, old.names, "%s: a value without fields is not NULL", name)
	}
	var list []fieldCoded
	require.NoError(t, Unmarshal(cql.NewListType(personType), hexBytes(t, "00000001"+"ffffffff"), &list))
	require.Equal(t, []fieldCoded{{}}, list)
}

// TestStructsWithAFieldValidAreNotNull has a struct of the form of sql.Null in another package: it holds the fields of
// a user-defined type, and Valid is one of them.
func TestStructsWithAFieldValidAreNotNull(t *testing.T) {
	type reading struct {
		Value int32
		Valid bool
	}
	info := cql.UDTTypeInfo{Name: "reading", Elements: []cql.UDTField{{Name: "value", Type: cqlInt}, {Name: "valid", Type: native(cql.TypeBoolean)}}}
	v := reading{Value: 7}
	const cell = "00000004" + "00000007" + "00000001" + "00"
	for _, got := range encodings(t, info, v) {
		require.Equal(t, cell, hex.EncodeToString(got))
	}
	decodings(info, hexBytes(t, cell), reflect.TypeOf(v), func(got any, err error) {
		require.NoError(t, err)
		require.Equal(t, v, got)
	})
	require.True(t, IsRowStruct(reflect.TypeOf(v)))
	require.False(t, IsNull(reflect.TypeOf(v)))
	_, err := Marshal(cqlInt, v)
	require.ErrorIs(t, err, cql.ErrConversion)
}

// A degree is a number with a method.
type degree int64

func (d degree) String() string { return fmt.Sprint(int64(d), " degrees") }

// TestInterfacesWithMethods encodes the values within interfaces that have methods, and decodes into none.
func TestInterfacesWithMethods(t *testing.T) {
	list := cql.NewListType(native(cql.TypeBigInt))
	for _, v := range []any{[]fmt.Stringer{degree(1), ptr(degree(2))}, [2]fmt.Stringer{degree(1), degree(2)}, []any{degree(1), degree(2)}} {
		for _, got := range encodings(t, list, v) {
			require.Equal(t, "00000002"+"000000080000000000000001"+"000000080000000000000002", hex.EncodeToString(got), "%T", v)
		}
	}
	_, err := Marshal(list, []fmt.Stringer{nil})
	require.ErrorIs(t, err, cql.ErrNull)
	decodings(list, hexBytes(t, "00000001"+"000000080000000000000001"), reflect.TypeFor[[]fmt.Stringer](), func(_ any, err error) {
		require.ErrorIs(t, err, cql.ErrConversion)
	})
}

// TestMapsOfEmptyTexts codes maps whose entries have no bytes beside their lengths.
func TestMapsOfEmptyTexts(t *testing.T) {
	for _, v := range []any{map[string]string{"": ""}, map[string][]byte{"": {}}, map[myString]string{"": ""}, map[string]any{"": ""}} {
		info := cql.NewMapType(cqlText, cqlText)
		const cell = "00000001" + "00000000" + "00000000"
		for _, got := range encodings(t, info, v) {
			require.Equal(t, cell, hex.EncodeToString(got), "%T", v)
		}
		decodings(info, hexBytes(t, cell), reflect.TypeOf(v), func(got any, err error) {
			require.NoError(t, err, "%T", v)
			require.Equal(t, v, got)
		})
	}
}
