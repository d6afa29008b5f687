// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
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
	leaf     int    // the number of the column chunk in its row group
	leafPath string // as the file's schema has it
	width    int    // bytes of a decimal of fixed length
	limit    [4]uint64
	dim      int     // of a Vector: -1 while all rows were NULL
	nulls    bool    // some row was NULL
	pattern  []int16 // of a Vector: repetition levels of rows, dim each
}

// A writeSchema is all fields of a file.
type writeSchema struct {
	fields []*writeNode
	leaves []*writeNode
	root   *schema.GroupNode
}

// newWriteSchema maps the fields to nodes of a Parquet schema. Names must be unique.
func newWriteSchema(fields []column.Field) (*writeSchema, error) {
	s := &writeSchema{}
	if err := checkNames("the file", fields, true); err != nil {
		return nil, err
	}
	nodes := make(schema.FieldList, len(fields))
	for i, f := range fields {
		n, node, err := s.add(f, f.Name, f.Name, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("column %w", err)
		}
		s.fields = append(s.fields, n)
		nodes[i] = node
	}
	var err error
	s.root, err = schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	return s, err
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

// add makes the writeNodes and the schema's nodes of a field and its children. path is the field's path in errors, at
// its path in the file's schema; def and rep are the levels of the enclosing field.
func (s *writeSchema) add(f column.Field, path, at string, def, rep int16) (*writeNode, schema.Node, error) {
	fail := func(err error) (*writeNode, schema.Node, error) { return nil, nil, fmt.Errorf("%s: %w", path, err) }
	if err := f.Type.Check(); err != nil {
		return fail(err)
	}
	n := &writeNode{field: f, typ: f.Type, path: path, rep: rep, def: def, leaf: -1, dim: -1}
	if f.Type.Dim > 0 {
		n.dim = f.Type.Dim
	}
	repetition := parquet.Repetitions.Required
	if f.Nullable {
		repetition = parquet.Repetitions.Optional
		n.def++
	}
	fields := f.Type.Kind == column.Struct || f.Type.Kind == column.Tuple
	if want := map[column.Kind]int{column.List: 1, column.Map: 2}[f.Type.Kind]; !fields && len(f.Fields) != want {
		return fail(fmt.Errorf("%v has %d fields, not %d", f.Type, len(f.Fields), want))
	}
	if f.Type.Kind.IsNested() || f.Type.Kind == column.Vector {
		node, err := s.addNested(n, at, repetition)
		return n, node, err
	}
	if f.Type.Kind.HasText() {
		n.field.Type = column.Type{Kind: column.String}
	}
	s.addLeaf(n, at)
	node, err := primitiveNode(f.Name, repetition, n.field.Type)
	if err != nil {
		return fail(err)
	}
	return n, node, nil
}

// addNested is add for a field with children or of vectors, of which n has the levels and the path.
func (s *writeSchema) addNested(n *writeNode, at string, repetition parquet.Repetition) (schema.Node, error) {
	f := n.field
	fail := func(err error) (schema.Node, error) { return nil, fmt.Errorf("%s: %w", n.path, err) }
	list := schema.NewListLogicalType()
	switch f.Type.Kind {
	case column.List:
		element := f.Fields[0]
		element.Name = column.ElementName
		kids, err := s.addChildren(n, at+".list", 1, element)
		if err != nil {
			return nil, err
		}
		return repeatedNode(n, "list", repetition, kids, list)
	case column.Map:
		key, value := f.Fields[0], f.Fields[1]
		if key.Nullable {
			return fail(errors.New("the key of a map must not be nullable"))
		}
		key.Name, value.Name = column.KeyName, column.ValueName
		kids, err := s.addChildren(n, at+".key_value", 1, key, value)
		if err != nil {
			return nil, err
		}
		return repeatedNode(n, "key_value", repetition, kids, schema.MapLogicalType{})
	case column.Vector:
		element, err := primitiveNode(column.ElementName, parquet.Repetitions.Required, column.Type{Kind: f.Type.Elem})
		if err != nil {
			return fail(err)
		}
		s.addLeaf(n, at+".list."+column.ElementName)
		return repeatedNode(n, "list", repetition, schema.FieldList{element}, list)
	}
	n.field.Type = column.Type{Kind: column.Struct} // also of a tuple
	if err := checkNames("the "+f.Type.Kind.String(), f.Fields, false); err != nil {
		return fail(err)
	}
	kids, err := s.addChildren(n, at, 0, f.Fields...)
	if err != nil {
		return nil, err
	}
	return schema.NewGroupNode(f.Name, repetition, kids, -1)
}

// addChildren adds the children of n, which are so many levels of repetition below it.
func (s *writeSchema) addChildren(n *writeNode, at string, repeats int16, fields ...column.Field,
) (schema.FieldList, error) {
	var nodes schema.FieldList
	for _, f := range fields {
		child, node, err := s.add(f, n.path+"."+f.Name, at+"."+f.Name, n.def+repeats, n.rep+repeats)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// repeatedNode returns the node of a list or a map, whose children are in a repeated group.
func repeatedNode(n *writeNode, name string, repetition parquet.Repetition, children schema.FieldList,
	logical schema.LogicalType,
) (schema.Node, error) {
	group, err := schema.NewGroupNode(name, parquet.Repetitions.Repeated, children, -1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.path, err)
	}
	return schema.NewGroupNodeLogical(n.field.Name, repetition, schema.FieldList{group}, logical, -1)
}

func (s *writeSchema) addLeaf(n *writeNode, at string) {
	n.leaf = len(s.leaves)
	n.leafPath = at
	if p := n.field.Type.Precision; p > 0 {
		n.width = decimalWidth(p)
		n.limit = decimalLimit(p)
	}
	s.leaves = append(s.leaves, n)
}

// primitiveNode returns the node of a scalar in the file's schema.
func primitiveNode(name string, repetition parquet.Repetition, t column.Type) (schema.Node, error) {
	unit := [...]schema.TimeUnitType{
		column.Millis: schema.TimeUnitMillis, column.Micros: schema.TimeUnitMicros,
		column.Nanos: schema.TimeUnitNanos,
	}[t.Unit]
	var logical schema.LogicalType
	switch t.Kind {
	case column.Int8, column.Int16:
		logical = schema.NewIntLogicalType(int8(8*t.ValueWidth()), true)
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		logical = schema.NewIntLogicalType(int8(8*t.ValueWidth()), false)
	case column.Float16:
		logical = schema.Float16LogicalType{}
	case column.Date:
		logical = schema.DateLogicalType{}
	case column.Time:
		logical = schema.NewTimeLogicalType(t.UTC, unit)
	case column.Timestamp:
		logical = schema.NewTimestampLogicalType(t.UTC, unit)
	case column.Decimal64, column.Decimal128, column.Decimal256:
		logical = schema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
	case column.String:
		logical = schema.StringLogicalType{}
	case column.UUID:
		logical = schema.UUIDLogicalType{}
	}
	physical, length := physicalOf(t)
	return schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, length, -1)
}

// physicalOf returns the physical type of a type, and its length in bytes if it is fixed.
func physicalOf(t column.Type) (parquet.Type, int) {
	switch t.Kind {
	case column.Bool:
		return parquet.Types.Boolean, -1
	case column.Int8, column.Int16, column.Int32, column.Uint8, column.Uint16, column.Uint32, column.Date:
		return parquet.Types.Int32, -1
	case column.Time:
		if t.Unit == column.Millis {
			return parquet.Types.Int32, -1
		}
	case column.Float32:
		return parquet.Types.Float, -1
	case column.Float64:
		return parquet.Types.Double, -1
	case column.Decimal64:
		if t.Precision <= 9 {
			return parquet.Types.Int32, -1
		}
	case column.Decimal128, column.Decimal256:
		return parquet.Types.FixedLenByteArray, decimalWidth(t.Precision)
	case column.String, column.Binary:
		return parquet.Types.ByteArray, -1
	case column.Float16, column.UUID, column.Fixed:
		return parquet.Types.FixedLenByteArray, t.ValueWidth()
	}
	return parquet.Types.Int64, -1
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
			if leaf.leafPath == name || strings.HasPrefix(leaf.leafPath, name+".") {
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
