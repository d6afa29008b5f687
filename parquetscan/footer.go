// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "github.com/vecql/vecql/parquetscan/internal/failure"

// Checks of a footer (parquet.thrift, FileMetaData) before arrow-go parses it. arrow-go's Thrift parser trusts the
// lengths of lists and the types of their elements. Its schema builder recurses for each level, and allocates as many
// fields as a group claims. These checks reject footers that would exhaust memory or the stack.

// A thriftShape is the expected type of a struct or a list.
type thriftShape struct {
	element byte           // of lists: the type of elements; 0 for structs
	fields  []*thriftShape // by number
}

// field returns the shape of a field; nil if it is not checked, or if the parser skips it because of its wrong type.
func (s *thriftShape) field(id int16, typ byte) *thriftShape {
	if s == nil {
		return nil
	}
	if id < 0 || int(id) >= len(s.fields) {
		return nil
	}
	f := s.fields[id]
	if f == nil || (f.element != 0) != (typ == thriftList) || (f.element == 0) != (typ == thriftStruct) {
		return nil
	}
	return f
}

// The lists in a FileMetaData, and the structs that contain them.
var (
	plainStructs = thriftShape{element: thriftStruct}
	schemaList   = thriftShape{element: thriftStruct}
	texts        = thriftShape{element: thriftBinary}
	i32s         = thriftShape{element: thriftI32}
	i64s         = thriftShape{element: thriftI64}

	columnMetaData = thriftShape{fields: []*thriftShape{
		2: &i32s, 3: &texts, 8: &plainStructs, 13: &plainStructs,
		16: {fields: []*thriftShape{2: &i64s, 3: &i64s}}, // SizeStatistics
		17: {fields: []*thriftShape{2: &i32s}},           // GeospatialStatistics
	}}
	columnCrypto = thriftShape{fields: []*thriftShape{2: {fields: []*thriftShape{1: &texts}}}}
	columnChunks = thriftShape{element: thriftStruct, fields: []*thriftShape{3: &columnMetaData, 8: &columnCrypto}}
	rowGroups    = thriftShape{element: thriftStruct, fields: []*thriftShape{1: &columnChunks, 4: &plainStructs}}
	fileMetaData = thriftShape{fields: []*thriftShape{2: &schemaList, 4: &rowGroups, 5: &plainStructs, 7: &plainStructs}}
)

// maxSchemaDepth bounds the nesting of groups: a list takes two, and so does a map.
const maxSchemaDepth = 256

// schema walks over a schema of n elements, each group followed by its fields. The total length of all paths must not
// be much longer than the footer, because arrow-go keeps each path as a string.
func (r *thriftReader) schema(n uint64, depth int) {
	type group struct {
		fields uint64 // not yet read
		path   uint64 // bytes
	}
	var open [maxSchemaDepth]group
	level, paths := 0, uint64(0)
	for i := range n {
		fields, name := r.schemaElement(depth + 1)
		if r.failed() {
			return
		}
		path := uint64(0)
		if i > 0 {
			if level == 0 { // more fields than the root has
				r.bad = true
				return
			}
			g := &open[level-1]
			g.fields--
			path = g.path + 1 + name
		}
		paths += path
		if fields < 0 || uint64(fields) > n-1-i || paths > 16*uint64(len(r.b))+1<<20 {
			r.bad = true
			return
		}
		if fields > 0 {
			if level == maxSchemaDepth {
				r.bad = true
				return
			}
			open[level] = group{uint64(fields), path}
			level++
		}
		for level > 0 && open[level-1].fields == 0 {
			level--
		}
	}
	if level > 0 {
		r.bad = true
	}
}

// schemaElement walks over a SchemaElement, and returns its number of fields and the length of its name.
func (r *thriftReader) schemaElement(depth int) (fields int32, name uint64) {
	for id := int16(0); ; {
		next, typ, ok := r.field(id)
		if !ok {
			return fields, name
		}
		id = next
		switch {
		case id == 4 && typ == thriftBinary:
			name = r.uvarint()
			r.advance(name)
		case id == 5 && typ == thriftI32:
			fields = r.i32()
		default:
			r.skip(typ, depth+1)
		}
	}
}

// checkFooter returns an error unless b begins with a FileMetaData that can be parsed in memory proportional to its
// length.
func checkFooter(b []byte) error {
	r := thriftReader{b: b}
	r.skipAs(thriftStruct, 0, &fileMetaData)
	if r.failed() {
		return failure.Corrupt("footer is not a valid FileMetaData (at byte %d of %d)", r.pos, len(b))
	}
	return nil
}
