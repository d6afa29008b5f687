// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/encoder"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// The columns of a Writer: the tree of fields with their levels (parquet-format, README.md, "Nested Encoding"), and the
// Parquet schema made of it (LogicalTypes.md).

// A writeNode is a field of the file.
type writeNode struct {
	field    column.Field // as it is stored: String for Inet, Struct for Tuple
	typ      column.Type  // in batches
	path     string       // of names in batches, for errors
	def, rep int16        // the levels of a value that is not NULL
	children []*writeNode

	// Of scalars and vectors:
	leaf   int // the number of the column chunk in its row group, -1 means none
	column encoder.Column
	limit  [4]uint64 // of a decimal
	dim    int       // of a Vector: -1 while all rows were NULL
	nulls  bool      // some row was NULL
}

// A writeSchema is all fields of a file.
type writeSchema struct {
	fields   []*writeNode
	leaves   []*writeNode
	elements []format.SchemaElement
}

// newWriteSchema maps the fields to a Parquet schema.
func newWriteSchema(fields []column.Field) (*writeSchema, error) {
	s := &writeSchema{}
	if err := checkNames("the file", fields, true); err != nil {
		return nil, err
	}
	s.addGroup("schema", format.Required, len(fields), format.NoLogical)
	for _, f := range fields {
		n, err := s.add(f, f.Name, nil, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("column %w", err)
		}
		s.fields = append(s.fields, n)
	}
	return s, nil
}

// checkNames returns an error if a field has no name, or, unless same is set, if two fields share a name.
func checkNames(of string, fields []column.Field, same bool) error {
	if len(fields) == 0 {
		return fmt.Errorf("%s has no fields", of)
	}
	seen := map[string]bool{}
	for i, f := range fields {
		switch {
		case f.Name == "":
			return fmt.Errorf("field %d of %s has no name", i, of)
		case !utf8.ValidString(f.Name):
			return fmt.Errorf("the name of field %d of %s is not UTF-8: %q", i, of, f.Name)
		case seen[f.Name] && !same:
			return fmt.Errorf("two fields of %s have the name %s", of, f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// add adds a field and its children. path is the field's path in errors, in is the path of the enclosing field in the
// file's schema; def and rep are the levels of the enclosing field.
func (s *writeSchema) add(f column.Field, path string, in []string, def, rep int16) (*writeNode, error) {
	fail := func(err error) (*writeNode, error) { return nil, fmt.Errorf("%s: %w", path, err) }
	if err := f.Type.Check(); err != nil {
		return fail(err)
	}
	n := &writeNode{field: f, typ: f.Type, path: path, rep: rep, def: def, leaf: -1, dim: -1}
	if f.Type.Dim > 0 {
		n.dim = f.Type.Dim
	}
	repetition := format.Required
	if f.Nullable {
		repetition = format.Optional
		n.def++
	}
	fields := f.Type.Kind == column.Struct || f.Type.Kind == column.Tuple
	if want := map[column.Kind]int{column.List: 1, column.Map: 2}[f.Type.Kind]; !fields && len(f.Fields) != want {
		return fail(fmt.Errorf("%v has %d fields, not %d", f.Type, len(f.Fields), want))
	}
	at := append(slices.Clip(in), f.Name)
	if f.Type.Kind.IsNested() || f.Type.Kind == column.Vector {
		return n, s.addNested(n, at, repetition)
	}
	if f.Type.Kind.HasText() {
		n.field.Type = column.Type{Kind: column.String}
	}
	s.addLeaf(n, at, n.field.Type, repetition, 0)
	return n, nil
}

// addNested adds a field of vectors, or a field with children. n has its levels and its path; at is its path in the
// file's schema.
func (s *writeSchema) addNested(n *writeNode, at []string, repetition format.Repetition) error {
	f := n.field
	switch f.Type.Kind {
	case column.List:
		element := f.Fields[0]
		element.Name = column.ElementName
		s.addRepeated(f.Name, repetition, format.LogicalList, "list", 1)
		return s.addChildren(n, append(at, "list"), 1, element)
	case column.Map:
		key, value := f.Fields[0], f.Fields[1]
		if key.Nullable {
			return fmt.Errorf("%s: the key of a map must not be nullable", n.path)
		}
		key.Name, value.Name = column.KeyName, column.ValueName
		s.addRepeated(f.Name, repetition, format.LogicalMap, "key_value", 2)
		return s.addChildren(n, append(at, "key_value"), 1, key, value)
	case column.Vector:
		s.addRepeated(f.Name, repetition, format.LogicalList, "list", 1)
		s.addLeaf(n, append(at, "list", column.ElementName), column.Type{Kind: f.Type.Elem}, format.Required, 1)
		return nil
	}
	n.field.Type = column.Type{Kind: column.Struct} // also of a tuple
	if err := checkNames("the "+f.Type.Kind.String(), f.Fields, false); err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	s.addGroup(f.Name, repetition, len(f.Fields), format.NoLogical)
	return s.addChildren(n, at, 0, f.Fields...)
}

// addChildren adds the children of n, which are so many levels of repetition below it.
func (s *writeSchema) addChildren(n *writeNode, at []string, repeats int16, fields ...column.Field) error {
	for _, f := range fields {
		child, err := s.add(f, n.path+"."+f.Name, at, n.def+repeats, n.rep+repeats)
		if err != nil {
			return err
		}
		n.children = append(n.children, child)
	}
	return nil
}

// addGroup adds the element of a group.
func (s *writeSchema) addGroup(name string, repetition format.Repetition, children int, kind format.LogicalKind) {
	logical := format.LogicalType{Kind: kind}
	s.elements = append(s.elements, format.SchemaElement{
		Type: format.NoType, Repetition: repetition, Name: name, NumChildren: int32(children),
		Converted: logical.AsConverted(), Logical: logical,
	})
}

// addRepeated adds the elements of a list or a map, whose children are in a repeated group.
func (s *writeSchema) addRepeated(name string, repetition format.Repetition, kind format.LogicalKind, group string,
	children int,
) {
	s.addGroup(name, repetition, 1, kind)
	s.addGroup(group, format.Repeated, children, format.NoLogical)
}

// addLeaf adds a leaf of a type, which is so many levels of repetition below n.
func (s *writeSchema) addLeaf(n *writeNode, at []string, t column.Type, repetition format.Repetition, repeats int16) {
	physical, width := physicalOf(t)
	n.leaf = len(s.leaves)
	n.column = encoder.Column{
		Path: at, Type: physical, Width: width, Order: orderOf(t, physical),
		MaxDef: n.def + repeats, MaxRep: n.rep + repeats,
	}
	if t.Precision > 0 {
		n.limit = decimalLimit(t.Precision)
	}
	s.leaves = append(s.leaves, n)
	logical := logicalOf(t)
	s.elements = append(s.elements, format.SchemaElement{
		Type: physical, Length: int32(width), Repetition: repetition, Name: at[len(at)-1], Converted: logical.AsConverted(),
		Scale: int32(t.Scale), Precision: int32(t.Precision), Logical: logical,
	})
}

// logicalOf returns the logical type of a type.
func logicalOf(t column.Type) format.LogicalType {
	unit := map[column.Unit]format.TimeUnit{
		column.Millis: format.Millis, column.Micros: format.Micros, column.Nanos: format.Nanos,
	}[t.Unit]
	switch t.Kind {
	case column.Int8, column.Int16:
		return format.LogicalType{Kind: format.LogicalInteger, Bits: int8(8 * t.ValueWidth()), Signed: true}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return format.LogicalType{Kind: format.LogicalInteger, Bits: int8(8 * t.ValueWidth())}
	case column.Float16:
		return format.LogicalType{Kind: format.LogicalFloat16}
	case column.Date:
		return format.LogicalType{Kind: format.LogicalDate}
	case column.Time:
		return format.LogicalType{Kind: format.LogicalTime, Unit: unit, UTC: t.UTC}
	case column.Timestamp:
		return format.LogicalType{Kind: format.LogicalTimestamp, Unit: unit, UTC: t.UTC}
	case column.Decimal64, column.Decimal128, column.Decimal256:
		return format.LogicalType{Kind: format.LogicalDecimal, Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case column.String:
		return format.LogicalType{Kind: format.LogicalString}
	case column.UUID:
		return format.LogicalType{Kind: format.LogicalUUID}
	}
	return format.LogicalType{}
}

// orderOf returns the order of a type in statistics.
func orderOf(t column.Type, physical format.PhysicalType) encoder.Order {
	switch t.Kind {
	case column.Bool:
		return encoder.Bools
	case column.Uint8, column.Uint16, column.Uint32:
		return encoder.Uints32
	case column.Uint64:
		return encoder.Uints64
	case column.Float16:
		return encoder.Floats16
	case column.Float32:
		return encoder.Floats32
	case column.Float64:
		return encoder.Floats64
	case column.Decimal128, column.Decimal256:
		return encoder.Decimals
	case column.String, column.Binary, column.UUID, column.Fixed:
		return encoder.Texts
	}
	if physical == format.Int32 {
		return encoder.Ints32
	}
	return encoder.Ints64
}

// physicalOf returns the physical type of a type, and the bytes of its values: 0 means that they differ, and a Boolean
// takes one byte until it is encoded.
func physicalOf(t column.Type) (format.PhysicalType, int) {
	switch t.Kind {
	case column.Bool:
		return format.Boolean, 1
	case column.Int8, column.Int16, column.Int32, column.Uint8, column.Uint16, column.Uint32, column.Date:
		return format.Int32, 4
	case column.Time:
		if t.Unit == column.Millis {
			return format.Int32, 4
		}
	case column.Float32:
		return format.Float, 4
	case column.Float64:
		return format.Double, 8
	case column.Decimal64:
		if t.Precision <= 9 {
			return format.Int32, 4
		}
	case column.Decimal128, column.Decimal256:
		return format.FixedLenByteArray, decimalWidth(t.Precision)
	case column.String, column.Binary:
		return format.ByteArray, 0
	case column.Float16, column.UUID, column.Fixed:
		return format.FixedLenByteArray, t.ValueWidth()
	}
	return format.Int64, 8
}

// decimalWidth returns the bytes of a signed number of precision digits.
func decimalWidth(precision int) int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	return ten.BitLen()/8 + 1 // 10^p is never a power of 2, so that 10^p-1 is as long
}

// decimalLimit returns 10^precision, the lowest word first.
func decimalLimit(precision int) (limit [4]uint64) {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	for i := range limit {
		limit[i] = new(big.Int).Rsh(ten, uint(64*i)).Uint64()
	}
	return limit
}

// leavesOf returns the leaves that names select: all leaves of a column, or of a path in the file's schema.
func (s *writeSchema) leavesOf(names []string) ([]*writeNode, error) {
	var leaves []*writeNode
	for _, name := range names {
		found := len(leaves)
		for _, leaf := range s.leaves {
			if at := strings.Join(leaf.column.Path, "."); at == name || strings.HasPrefix(at, name+".") {
				leaves = append(leaves, leaf)
			}
		}
		if len(leaves) == found {
			return nil, fmt.Errorf("%w: %s", ErrNoColumn, name)
		}
	}
	return leaves, nil
}

// check returns an error if a column does not match the schema, and records the dimensions of vectors.
func (n *writeNode) check(c *column.Column) error {
	have := c.Type
	if have.Kind == column.Vector {
		have.Dim = n.typ.Dim
	}
	if have != n.typ {
		return fmt.Errorf("%w: column %s is %v, the file's is %v", ErrNoColumn, n.path, c.Type, n.typ)
	}
	if len(c.Children) != len(n.children) {
		return fmt.Errorf("%w: column %s has %d fields, the file's %d", ErrNoColumn, n.path, len(c.Children), len(n.children))
	}
	for i, kid := range n.children {
		child := &c.Children[i]
		if (c.Type.Kind == column.Struct || c.Type.Kind == column.Tuple) && child.Name != kid.field.Name {
			return fmt.Errorf("%w: field %d of column %s is %s, the file's is %s", ErrNoColumn, i, n.path, child.Name,
				kid.field.Name)
		}
		if err := kid.check(child); err != nil {
			return err
		}
	}
	if c.Type.Kind == column.Vector && c.Nulls < c.Len {
		if n.dim >= 0 && n.dim != c.Type.Dim {
			return fmt.Errorf("column %s: %w: %d elements, %d before", n.path, ErrRagged, c.Type.Dim, n.dim)
		}
		n.dim = c.Type.Dim
	}
	n.nulls = n.nulls || c.Nulls > 0
	return nil
}

// checkMetadata returns an error if the footer cannot have these keys and values.
func checkMetadata(m map[string]string) error {
	for k, v := range m {
		if k == footer.ArrowSchemaKey {
			return fmt.Errorf("metadata: the key %s is reserved", k)
		}
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return fmt.Errorf("metadata: key %q or its value is not UTF-8", k)
		}
	}
	return nil
}
