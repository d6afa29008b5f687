// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Values for generated tests.

// samples are expressions of Go by type.
var samples = map[cql.Type]string{
	cql.TypeBoolean: "true", cql.TypeTinyInt: "7", cql.TypeSmallInt: "7", cql.TypeInt: "7", cql.TypeBigInt: "7",
	cql.TypeCounter: "7", cql.TypeVarint: "big.NewInt(7)", cql.TypeFloat: "1.5", cql.TypeDouble: "2.5",
	cql.TypeDecimal: "cql.Decimal{Unscaled: big.NewInt(1250), Scale: 2}", cql.TypeUUID: "cql.UUID{6: 0x40, 8: 0x80, 15: 7}",
	cql.TypeTimeUUID: "cql.UUID{6: 0x10, 8: 0x80, 15: 7}", cql.TypeInet: `netip.MustParseAddr("192.0.2.7")`,
	cql.TypeDate:      "time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)",
	cql.TypeTimestamp: "time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)", cql.TypeTime: "3*time.Hour",
	cql.TypeDuration: "cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}",
}

// sampleField returns the value of a field.
func (m *maker) sampleField(f field) string {
	value := m.sample(f.info, f.Column, f.isKey)
	function := ""
	switch {
	case f.Type == f.Plain:
		return value
	case strings.HasPrefix(f.Type, "cql.Null["):
		function = "cql.NullOf"
	default:
		function = "pointerTo"
	}
	if value[0] >= '0' && value[0] <= '9' { // the type of the constant is another one
		function += "[" + f.Plain + "]"
	}
	return function + "(" + value + ")"
}

// sample returns a value of a type of CQL that is not NULL. Texts have the name of their column.
func (m *maker) sample(t cql.TypeInfo, column string, isKey bool) string {
	plain, err := m.goType(t, isKey)
	if err != nil {
		return "" // there is no field of this type
	}
	switch t := t.(type) {
	case cql.CollectionType:
		elem := m.sample(t.Elem, column, isKey)
		if t.Type() == cql.TypeMap {
			return fmt.Sprintf("%s{%s: %s}", plain, m.sample(t.Key, column, true), elem)
		}
		return plain + "{" + elem + "}"
	case cql.VectorType:
		elem := fmt.Sprintf("%s{%s}", plain, m.sample(t.SubType, column, isKey))
		if t.Dimensions == 1 {
			return elem
		}
		return fmt.Sprintf("slices.Repeat(%s, %d)", elem, t.Dimensions)
	case cql.UDTTypeInfo, cql.TupleTypeInfo:
		element := func(f field) string { return f.Name + ": " + m.sampleField(f) }
		return plain + "{" + join(m.structs[t.String()].Fields, element) + "}"
	}
	switch text := samples[t.Type()]; {
	case plain == "string" && t.Type() == cql.TypeVarint:
		return `"7"`
	case text != "":
		return text
	case plain == "[]byte":
		return "[]byte(" + strconv.Quote(column) + ")"
	}
	return strconv.QuoteToASCII(column)
}
