// SPDX-License-Identifier: Apache-2.0

package footer

import "github.com/vecql/vecql/parquetscan/internal/thrift"

// Logical types in a footer.

// knownTypes are the logical types that arrow-go supports, by field number in LogicalType.
var knownTypes = [...]bool{
	1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 10: true, 11: true, 12: true, 13: true,
	14: true, 15: true, 16: true, 17: true, 18: true,
}

// HideUnknownTypes hides logical types that arrow-go does not support, because it would reject the file. Readers fall
// back to the physical type (parquet-format, LogicalTypes.md). b has passed Check.
func HideUnknownTypes(b []byte) {
	r := thrift.Reader{B: b}
	for id, typ := range r.Fields() {
		if id != 2 || typ != thrift.List { // FileMetaData.schema
			r.Skip(typ, 1)
			continue
		}
		for range r.Structs() {
			hideUnknownType(&r)
		}
		return
	}
}

// hideUnknownType walks over a SchemaElement. A logical type that arrow-go does not support becomes field 11, which the
// format does not define. No field follows it.
func hideUnknownType(r *thrift.Reader) {
	const logicalType = 10
	for id := int16(0); ; {
		head := r.Pos
		next, typ, ok := r.Field(id)
		if !ok {
			return
		}
		if next == logicalType && typ == thrift.Struct {
			union := thrift.Reader{B: r.B, Pos: r.Pos}
			t, _, ok := union.Field(0)
			if known := ok && t > 0 && int(t) < len(knownTypes) && knownTypes[t]; !known {
				switch delta := r.B[head] >> 4; {
				case delta > 0 && delta < 15:
					r.B[head] = (delta+1)<<4 | typ
				case delta == 0 && r.Pos == head+2:
					r.B[head+1] = (logicalType + 1) << 1
				}
			}
		}
		id = next
		r.Skip(typ, 2)
	}
}
