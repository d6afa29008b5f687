// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Arrow's schema in a footer: the types of columns that the Parquet schema cannot express (Columnar Format, "Extension
// Types"; Message.fbs and Schema.fbs of Arrow). It is untrusted: only fields of the Parquet schema are visited, so that
// tables that point at each other cost nothing.

// ArrowSchemaKey is the metadata key of Arrow's schema, from which Arrow's implementations restore the types of
// columns.
const ArrowSchemaKey = "ARROW:schema"

// Extension types: the keys of a field's metadata in Arrow's schema (Columnar Format, "Extension Types"), and the types
// for kinds that Parquet and Arrow do not have. Readers that do not support them use the storage type: text, a struct,
// or a list. The metadata of a vector is its dimension in decimal digits. A list of floats has an extension type too,
// so that it is read as a list even if all rows have one length.
const (
	ExtensionName     = "ARROW:extension:name"
	ExtensionMetadata = "ARROW:extension:metadata"

	ExtensionVector = "vecql.vector"
	ExtensionList   = "vecql.list"
)

var Extensions = map[column.Kind]string{
	column.Inet: "vecql.inet", column.Varint: "vecql.varint", column.Decimal: "vecql.decimal",
	column.Duration: "vecql.duration",
	column.Tuple:    "vecql.tuple",
}

// A flatTable is a table of FlatBuffers: the buffer and the table's position in it. Its methods panic beyond the
// buffer.
type flatTable struct {
	b  []byte
	at int
}

// slot returns the position of a field, 0 if the table lacks it.
func (t flatTable) slot(i int) int {
	vtable := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if size := int(binary.LittleEndian.Uint16(t.b[vtable:])); 4+2*i+2 > size {
		return 0
	}
	off := int(binary.LittleEndian.Uint16(t.b[vtable+4+2*i:]))
	if off == 0 {
		return 0
	}
	return t.at + off
}

// follow returns the position that the offset at position at points to.
func (t flatTable) follow(at int) int { return at + int(binary.LittleEndian.Uint32(t.b[at:])) }

// byteAt returns a field of one byte.
func (t flatTable) byteAt(i int) byte {
	if at := t.slot(i); at != 0 {
		return t.b[at]
	}
	return 0
}

// table returns a field that is a table.
func (t flatTable) table(i int) (flatTable, bool) {
	at := t.slot(i)
	if at == 0 {
		return flatTable{}, false
	}
	return flatTable{t.b, t.follow(at)}, true
}

// vector returns the number of elements of a field that is a vector of tables, and a function that returns one.
func (t flatTable) vector(i int) (n int, element func(k int) flatTable) {
	at := t.slot(i)
	if at == 0 {
		return 0, nil
	}
	at = t.follow(at)
	n = int(binary.LittleEndian.Uint32(t.b[at:]))
	return n, func(k int) flatTable { return flatTable{t.b, t.follow(at + 4 + 4*k)} }
}

// text returns a field that is a string.
func (t flatTable) text(i int) string {
	at := t.slot(i)
	if at == 0 {
		return ""
	}
	at = t.follow(at)
	n := int(binary.LittleEndian.Uint32(t.b[at:]))
	return string(t.b[at+4 : at+4+n])
}

// The fields of the tables that are read and written, and the members of the union Type (Message.fbs, Schema.fbs).
const (
	messageHeaderType = 1
	messageHeader     = 2
	schemaFields      = 1
	fieldName         = 0
	fieldNullable     = 1
	fieldTypeType     = 2
	fieldType         = 3
	fieldChildren     = 5
	fieldMetadata     = 6
	keyValueKey       = 0
	keyValueValue     = 1
	listSize          = 0
	timestampZone     = 1

	headerSchema      = 1
	typeFixedSizeList = 16

	maxExtensionMetadata = 16 // entries of metadata of a field that are read
)

// ApplyArrowSchema sets the types of nodes by Arrow's schema in the footer. It ignores types that do not fit the
// Parquet schema.
func ApplyArrowSchema(nodes []*Node, encoded string) {
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(b) < 8 {
		return
	}
	if binary.LittleEndian.Uint32(b) == 0xffffffff { // a continuation marker, which old writers omit
		b = b[4:]
	}
	failure.Guarded(func() {
		b = b[4:] // the length
		message := flatTable{b, int(binary.LittleEndian.Uint32(b))}
		if message.byteAt(messageHeaderType) != headerSchema {
			return
		}
		header, ok := message.table(messageHeader)
		if !ok {
			return
		}
		applyArrowFields(nodes, header, schemaFields)
	})
	for _, n := range nodes {
		n.refresh()
	}
}

// refresh copies the fields of the children, whose types may have changed, to the node.
func (n *Node) refresh() {
	for i, child := range n.Children {
		child.refresh()
		n.Field.Fields[i] = child.Field
	}
}

// applyArrowFields applies a vector of fields to nodes of the same number and names.
func applyArrowFields(nodes []*Node, t flatTable, slot int) {
	n, field := t.vector(slot)
	if n != len(nodes) {
		return
	}
	for i, nd := range nodes {
		if f := field(i); f.text(fieldName) == nd.Field.Name {
			nd.applyArrow(f)
		}
	}
}

// applyArrow sets the types of the node and its children by a field of Arrow's schema.
func (n *Node) applyArrow(f flatTable) {
	name, data := f.extension()
	switch n.Field.Type.Kind {
	case column.String:
		for k, extension := range Extensions {
			if name == extension && k.HasText() {
				n.Field.Type = column.Type{Kind: k}
			}
		}
		return
	case column.List:
		n.applyArrowList(f, name, data)
		if count, child := f.vector(fieldChildren); count == 1 {
			n.Children[0].applyArrow(child(0))
		}
	case column.Map:
		if count, entry := f.vector(fieldChildren); count == 1 {
			if count, child := entry(0).vector(fieldChildren); count == 2 {
				n.Children[0].applyArrow(child(0))
				n.Children[1].applyArrow(child(1))
			}
		}
	case column.Struct:
		applyArrowFields(n.Children, f, fieldChildren)
		if name == Extensions[column.Tuple] && n.hasPositions() {
			n.Field.Type.Kind = column.Tuple
		}
	}
}

// applyArrowList sets whether all rows of a list have one length.
func (n *Node) applyArrowList(f flatTable, name, data string) {
	if !n.CanBeVector() {
		return
	}
	size := int64(0)
	switch t, ok := f.table(fieldType); {
	case f.byteAt(fieldTypeType) == typeFixedSizeList && ok && t.slot(listSize) != 0:
		size = int64(int32(binary.LittleEndian.Uint32(t.b[t.slot(listSize):])))
	case name == ExtensionList:
		n.List = true
		return
	case name == ExtensionVector:
		var err error
		if size, err = strconv.ParseInt(data, 10, 32); err != nil {
			return
		}
	default:
		return
	}
	if size >= 0 {
		n.Fixed, n.Dim = true, int(size)
	}
}

// extension returns the name and the metadata of a field's extension type, "" if it has none.
func (t flatTable) extension() (name, data string) {
	n, entry := t.vector(fieldMetadata)
	for k := range min(n, maxExtensionMetadata) {
		switch e := entry(k); e.text(keyValueKey) {
		case ExtensionName:
			name = e.text(keyValueValue)
		case ExtensionMetadata:
			data = e.text(keyValueValue)
		}
	}
	return name, data
}

// hasPositions reports whether the fields of a struct are named "0", "1" and so on.
func (n *Node) hasPositions() bool {
	for i, child := range n.Children {
		if child.Field.Name != strconv.Itoa(i) {
			return false
		}
	}
	return true
}
