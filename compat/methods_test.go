// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// Values with methods of their own, pointers to them, and interfaces that hold them.

// The types below have a method of their pointer, which gocql does not call for a value.
type (
	codedInt    int64
	codedUint   uint8
	codedBool   bool
	codedFloat  float32
	codedDouble float64
	codedBytes  []byte
)

func called() ([]byte, error) { return nil, fmt.Errorf("called") }

func (*codedInt) MarshalCQL(cql.TypeInfo) ([]byte, error)    { return called() }
func (*codedUint) MarshalCQL(cql.TypeInfo) ([]byte, error)   { return called() }
func (*codedBool) MarshalCQL(cql.TypeInfo) ([]byte, error)   { return called() }
func (*codedFloat) MarshalCQL(cql.TypeInfo) ([]byte, error)  { return called() }
func (*codedDouble) MarshalCQL(cql.TypeInfo) ([]byte, error) { return called() }
func (*codedBytes) MarshalCQL(cql.TypeInfo) ([]byte, error)  { return called() }

func TestMethodsOfThePointerAreNotCalledForAValue(t *testing.T) {
	for _, row := range []struct {
		cql   string
		value any
		want  string
	}{
		{"bigint", codedInt(5), "0000000000000005"},
		{"varint", codedInt(5), "05"},
		{"int", codedUint(5), "00000005"},
		{"varint", codedUint(5), "05"},
		{"boolean", codedBool(true), "01"},
		{"float", codedFloat(1), "3f800000"},
		{"double", codedDouble(1), "3ff0000000000000"},
		{"blob", codedBytes("ab"), "6162"},
		{"list<bigint>", []codedInt{5}, "00000001" + "000000080000000000000005"},
		{"vector<float, 1>", []codedFloat{1}, "3f800000"},
		{"vector<bigint, 1>", []codedInt{5}, "0000000000000005"},
	} {
		check(t, typeOf(t, row.cql), row.value, row.want)
	}
}

// codedUDT has a method of its pointer for fields.
type codedUDT struct{ Name string }

func (*codedUDT) MarshalUDT(string, cql.TypeInfo) ([]byte, error) { return called() }

func TestMethodsOfThePointerAreNotCalledForFields(t *testing.T) {
	udt := cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "Name", Type: cql.NativeType(cql.TypeVarchar)}}}
	check(t, udt, codedUDT{"a"}, "0000000161")
	check(t, udt, &codedUDT{"a"}, "0000000161")
}

// The types below decode themselves, NULL too. They hold what they received.
type (
	ownNumber int
	ownText   string
	ownList   []string
)

func received(data []byte) string { return fmt.Sprintf("%x %v", data, data == nil) }

func (n *ownNumber) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*n = ownNumber(len(data) + 7)
	return nil
}

func (s *ownText) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*s = ownText(received(data))
	return nil
}

func (l *ownList) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*l = ownList{received(data)}
	return nil
}

func TestDestinationsThatDecodeThemselvesGetTheirCells(t *testing.T) {
	udt := cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "L", Type: typeOf(t, "list<int>")}}}
	for _, d := range scanDialects {
		unmarshals(t, d, typeOf(t, "int"), "NULL", ownNumber(1), ownNumber(7))
		unmarshals(t, d, typeOf(t, "int"), "00000001", ownNumber(1), ownNumber(11))
		unmarshals(t, d, typeOf(t, "int"), "NULL", ownText(""), ownText(" true"))
		unmarshals(t, d, typeOf(t, "list<int>"), "00000000", ownList(nil), ownList{"00000000 false"})
		unmarshals(t, d, typeOf(t, "list<text>"), "00000002"+"ffffffff"+"0000000161", []ownText(nil), []ownText{" true", "61 false"})
		unmarshals(t, d, typeOf(t, "list<int>"), "00000002"+"ffffffff"+"0000000400000001", []ownNumber(nil), []ownNumber{7, 11})
		unmarshals(t, d, typeOf(t, "map<text, int>"), "00000001"+"000000016b"+"ffffffff", map[string]ownNumber(nil), map[string]ownNumber{"k": 7})
		unmarshals(t, d, typeOf(t, "vector<int, 1>"), "00000001", []ownNumber(nil), []ownNumber{11})
		unmarshals(t, d, typeOf(t, "tuple<int>"), "ffffffff", struct{ N ownNumber }{}, struct{ N ownNumber }{7})
		unmarshals(t, d, typeOf(t, "list<frozen<list<int>>>"), "00000001"+"0000000400000000", []ownList(nil), []ownList{{"00000000 false"}})
		unmarshals(t, d, typeOf(t, "vector<frozen<list<int>>, 1>"), "0400000000", []ownList(nil), []ownList{{"00000000 false"}})
		unmarshals(t, d, udt, "0000000400000000", struct{ L ownList }{}, struct{ L ownList }{ownList{"00000000 false"}})
	}
}

// TestChainsOfPointersAreBounded: a pointer may point to itself.
func TestChainsOfPointersAreBounded(t *testing.T) {
	number, cell := cql.NativeType(cql.TypeInt), []byte{0, 0, 0, 5}
	v := reflect.ValueOf(5)
	for n := range maxPointers + 1 {
		data, err := V1.Marshal(number, v.Interface())
		require.NoError(t, err, n)
		require.Equal(t, cell, data)
		p := reflect.New(v.Type())
		require.NoError(t, V1.Unmarshal(number, cell, p.Interface()), n)
		for to := p.Elem(); ; to = to.Elem() {
			if to.Kind() == reflect.Int {
				require.EqualValues(t, 5, to.Int())
				break
			}
		}
		p.Elem().Set(v)
		v = p
	}
	_, err := V1.Marshal(number, v.Interface())
	require.ErrorContains(t, err, "a chain of more than 16 pointers")
	require.ErrorContains(t, V1.Unmarshal(number, cell, reflect.New(v.Type()).Interface()), "a chain of more than 16 pointers")
}

// TestInterfacesTakeNumbersOfTheirOwn: a *big.Int or an *inf.Dec that an interface holds is a value, which the program
// may have kept, and no destination.
func TestInterfacesTakeNumbersOfTheirOwn(t *testing.T) {
	for _, d := range scanDialects {
		n, dec := big.NewInt(7), inf.NewDec(7, 0)
		heldInt, heldDec := any(n), any(dec)
		require.NoError(t, d.Unmarshal(cql.NativeType(cql.TypeVarint), []byte{5}, &heldInt))
		require.NoError(t, d.Unmarshal(cql.NativeType(cql.TypeDecimal), []byte{0, 0, 0, 0, 5}, &heldDec))
		require.Equal(t, "5", fmt.Sprint(heldInt))
		require.Equal(t, "5", fmt.Sprint(heldDec))
		require.Equal(t, "7", fmt.Sprint(n))
		require.Equal(t, "7", fmt.Sprint(dec))
		var stringer fmt.Stringer
		require.ErrorIs(t, d.Unmarshal(cql.NativeType(cql.TypeVarint), []byte{5}, &stringer), cql.ErrConversion)
	}
}

// TestInterfacesOfTheForkAreReplaced, whatever they hold, for texts, bytes and types with parameters.
func TestInterfacesOfTheForkAreReplaced(t *testing.T) {
	udt := cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "n", Type: cql.NativeType(cql.TypeInt)}}}
	for _, row := range []struct {
		info cql.TypeInfo
		cell string
		want any
		null any // NULL in an interface that holds a value
	}{
		{cql.NativeType(cql.TypeVarchar), "61", []byte("a"), []byte(nil)},
		{cql.NativeType(cql.TypeBlob), "61", []byte("a"), []byte(nil)},
		{typeOf(t, "list<int>"), "00000001" + "0000000400000005", []int{5}, []int(nil)},
		{typeOf(t, "set<int>"), "00000001" + "0000000400000005", []int{5}, []int(nil)},
		{typeOf(t, "map<text, int>"), "00000000", map[string]int{}, map[string]int(nil)},
		{typeOf(t, "vector<int, 1>"), "00000005", []int{5}, []int(nil)},
		{udt, "0000000400000005", map[string]any{"n": 5}, nil},
	} {
		data, err := hex.DecodeString(row.cell)
		require.NoError(t, err)
		held := "old"
		v := any(&held)
		require.NoError(t, Fork.Unmarshal(row.info, data, &v))
		require.Equal(t, row.want, v, "%v", row.info)
		require.Equal(t, "old", held)
		require.NoError(t, Fork.Unmarshal(row.info, nil, &v))
		require.Equal(t, row.null, v, "NULL of %v", row.info)

		var none any
		require.NoError(t, Fork.Unmarshal(row.info, nil, &none))
		switch row.info.Type() {
		case cql.TypeMap, cql.TypeVarchar, cql.TypeBlob:
			require.Equal(t, row.null, none, "NULL of %v in an interface without a value", row.info)
		default:
			require.True(t, none == nil, "%v: %T", row.info, none)
		}
	}
	n := 7
	v := any(&n)
	require.NoError(t, Fork.Unmarshal(cql.NativeType(cql.TypeInt), []byte{0, 0, 0, 5}, &v), "an int is stored where the pointer points to")
	require.Equal(t, 5, n)
	v = 7
	err := Fork.Unmarshal(typeOf(t, "list<frozen<map<frozen<list<int>>, int>>>"), nil, &v)
	require.ErrorContains(t, err, "no default Go type")
}

// codedByModule has a method that only a registered codec calls.
type codedByModule struct{ text string }

func (c codedByModule) MarshalForTest() string        { return c.text }
func (c *codedByModule) UnmarshalForTest(data []byte) { c.text = string(data) }

func TestRegisteredCodecEncodesAndDecodesAtEachDepth(t *testing.T) {
	type marshaler interface{ MarshalForTest() string }
	type unmarshaler interface{ UnmarshalForTest(data []byte) }
	RegisterCodec(Codec{
		Marshaler: reflect.TypeFor[marshaler](), Unmarshaler: reflect.TypeFor[unmarshaler](),
		Marshal:   func(v any, _ cql.TypeInfo) ([]byte, error) { return []byte(v.(marshaler).MarshalForTest()), nil },
		Unmarshal: func(v any, _ cql.TypeInfo, data []byte) error { v.(unmarshaler).UnmarshalForTest(data); return nil },
	})
	text, list := cql.NativeType(cql.TypeVarchar), typeOf(t, "list<text>")
	check(t, text, codedByModule{"a"}, "61")
	check(t, list, []codedByModule{{"a"}}, "00000001"+"0000000161")
	unmarshals(t, V1, text, "61", codedByModule{}, codedByModule{"a"})
	unmarshals(t, V1, list, "00000001"+"0000000161", []codedByModule(nil), []codedByModule{{"a"}})
}
