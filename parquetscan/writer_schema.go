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
)

// This file holds what a Writer knows of its columns: the tree of fields with their levels (parquet-format, README.md, "Nested Encoding"),
// and the Parquet schema made of it (LogicalTypes.md).

// A writeNode is a field of the schema.
type writeNode struct {
	field    Field
	path     string // of names as the program knows them, for errors
	def, rep int16  // the levels of a value that is there
	children []*writeNode

	// Of scalars and vectors:
	leaf     int    // the number of the column chunk in its row group
	leafPath string // as the file's schema has it
	width    int    // bytes of a decimal of fixed length
	limit    [4]uint64
	dim      int     // of a Vector: -1 as long as all rows were NULL
	nulls    bool    // some row was NULL
	pattern  []int16 // of a Vector: repetition levels of rows, dim each
}

// A writeSchema is all fields of a file.
type writeSchema struct {
	fields []*writeNode
	leaves []*writeNode
	root   *schema.GroupNode
}

func newWriteSchema(fields []Field) (*writeSchema, error) {
	s := &writeSchema{}
	if err := checkNames("the file", fields); err != nil {
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
	seen := map[string]bool{} // arrow-go knows leaves by their paths
	for _, leaf := range s.leaves {
		if seen[leaf.leafPath] {
			return nil, fmt.Errorf("column %s: two fields have the path %s", leaf.path, leaf.leafPath)
		}
		seen[leaf.leafPath] = true
	}
	var err error
	s.root, err = schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	return s, err
}

// checkNames returns an error if fields have no names of their own.
func checkNames(of string, fields []Field) error {
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
		case seen[f.Name]:
			return fmt.Errorf("two fields of %s have the name %s", of, f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// add makes the nodes of a field and of all in it: ours and the schema's. path is what errors call the field, at is where the file's schema
// has it, def and rep are the levels of what it lies in.
func (s *writeSchema) add(f Field, path, at string, def, rep int16) (*writeNode, schema.Node, error) {
	fail := func(err error) (*writeNode, schema.Node, error) { return nil, nil, fmt.Errorf("%s: %w", path, err) }
	if err := f.Type.check(); err != nil {
		return fail(err)
	}
	n := &writeNode{field: f, path: path, rep: rep, def: def, leaf: -1, dim: -1}
	repetition := parquet.Repetitions.Required
	if f.Nullable {
		repetition = parquet.Repetitions.Optional
		n.def++
	}
	if want := map[Kind]int{List: 1, Map: 2}[f.Type.Kind]; f.Type.Kind != Struct && len(f.Fields) != want {
		return fail(fmt.Errorf("%v has %d fields, not %d", f.Type, len(f.Fields), want))
	}
	var kids schema.FieldList
	inner := func(at string, def, rep int16, fields ...Field) error {
		for _, f := range fields {
			kid, node, err := s.add(f, path+"."+f.Name, at+"."+f.Name, def, rep)
			if err != nil {
				return err
			}
			n.children = append(n.children, kid)
			kids = append(kids, node)
		}
		return nil
	}
	repeated := func(name string, logical schema.LogicalType) (*writeNode, schema.Node, error) {
		group, err := schema.NewGroupNode(name, parquet.Repetitions.Repeated, kids, -1)
		if err != nil {
			return fail(err)
		}
		node, err := schema.NewGroupNodeLogical(f.Name, repetition, schema.FieldList{group}, logical, -1)
		return n, node, err
	}
	switch f.Type.Kind {
	case Struct:
		if err := checkNames("the struct", f.Fields); err != nil {
			return fail(err)
		}
		if err := inner(at, n.def, rep, f.Fields...); err != nil {
			return nil, nil, err
		}
		node, err := schema.NewGroupNode(f.Name, repetition, kids, -1)
		return n, node, err
	case List:
		element := f.Fields[0]
		element.Name = elementName
		if err := inner(at+".list", n.def+1, rep+1, element); err != nil {
			return nil, nil, err
		}
		return repeated("list", schema.NewListLogicalType())
	case Map:
		key, value := f.Fields[0], f.Fields[1]
		if key.Nullable {
			return fail(errors.New("the key of a map can not be NULL"))
		}
		key.Name, value.Name = keyName, valueName
		if err := inner(at+".key_value", n.def+1, rep+1, key, value); err != nil {
			return nil, nil, err
		}
		return repeated("key_value", schema.MapLogicalType{})
	case Vector:
		element, err := primitiveNode(elementName, parquet.Repetitions.Required, Type{Kind: f.Type.Elem})
		if err != nil {
			return fail(err)
		}
		kids = schema.FieldList{element}
		s.addLeaf(n, at+".list."+elementName)
		return repeated("list", schema.NewListLogicalType())
	}
	s.addLeaf(n, at)
	node, err := primitiveNode(f.Name, repetition, f.Type)
	if err != nil {
		return fail(err)
	}
	return n, node, nil
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

// primitiveNode returns what the file's schema says of a scalar.
func primitiveNode(name string, repetition parquet.Repetition, t Type) (schema.Node, error) {
	unit := [...]schema.TimeUnitType{Millis: schema.TimeUnitMillis, Micros: schema.TimeUnitMicros, Nanos: schema.TimeUnitNanos}[t.Unit]
	var logical schema.LogicalType
	switch t.Kind {
	case Int8, Int16:
		logical = schema.NewIntLogicalType(int8(8*t.width()), true)
	case Uint8, Uint16, Uint32, Uint64:
		logical = schema.NewIntLogicalType(int8(8*t.width()), false)
	case Float16:
		logical = schema.Float16LogicalType{}
	case Date:
		logical = schema.DateLogicalType{}
	case Time:
		logical = schema.NewTimeLogicalType(t.UTC, unit)
	case Timestamp:
		logical = schema.NewTimestampLogicalType(t.UTC, unit)
	case Decimal64, Decimal128, Decimal256:
		logical = schema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
	case String:
		logical = schema.StringLogicalType{}
	case ID:
		logical = schema.UUIDLogicalType{}
	}
	physical, length := physicalOf(t)
	return schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, length, -1)
}

// physicalOf returns how values of a type are stored, and their length in bytes if it is fixed.
func physicalOf(t Type) (parquet.Type, int) {
	switch t.Kind {
	case Bool:
		return parquet.Types.Boolean, -1
	case Int8, Int16, Int32, Uint8, Uint16, Uint32, Date:
		return parquet.Types.Int32, -1
	case Time:
		if t.Unit == Millis {
			return parquet.Types.Int32, -1
		}
	case Float32:
		return parquet.Types.Float, -1
	case Float64:
		return parquet.Types.Double, -1
	case Decimal64:
		if t.Precision <= 9 {
			return parquet.Types.Int32, -1
		}
	case Decimal128, Decimal256:
		return parquet.Types.FixedLenByteArray, decimalWidth(t.Precision)
	case String, Binary:
		return parquet.Types.ByteArray, -1
	case Float16, ID, Fixed:
		return parquet.Types.FixedLenByteArray, t.width()
	}
	return parquet.Types.Int64, -1
}

// decimalWidth returns the bytes that a number of so many digits takes, with its sign.
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

// leavesOf returns the leaves that names stand for: a column's name means all that lies in it, as does a path of the file's schema.
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

// check returns an error if a column is not what the schema says, and notes the dimensions of vectors.
func (n *writeNode) check(c *Column) error {
	if c.Type != n.field.Type {
		return fmt.Errorf("%w: column %s is %v, the file's is %v", ErrNoColumn, n.path, c.Type, n.field.Type)
	}
	if len(c.children) != len(n.children) {
		return fmt.Errorf("%w: column %s has %d fields, the file's %d", ErrNoColumn, n.path, len(c.children), len(n.children))
	}
	for i, kid := range n.children {
		child := &c.children[i]
		if c.Type.Kind == Struct && child.Name != kid.field.Name {
			return fmt.Errorf("%w: field %d of column %s is %s, the file's is %s", ErrNoColumn, i, n.path, child.Name, kid.field.Name)
		}
		if err := kid.check(child); err != nil {
			return err
		}
	}
	if c.Type.Kind == Vector && c.nulls < c.n {
		if n.dim >= 0 && n.dim != c.dim {
			return fmt.Errorf("column %s: %w: %d elements, %d before", n.path, ErrRagged, c.dim, n.dim)
		}
		n.dim = c.dim
	}
	n.nulls = n.nulls || c.nulls > 0
	return nil
}

// checkMetadata returns an error if the footer can not have these keys and values.
func checkMetadata(m map[string]string) error {
	for k, v := range m {
		if k == arrowSchemaKey {
			return fmt.Errorf("metadata: the key %s is taken", k)
		}
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return fmt.Errorf("metadata: key %q or its value is not UTF-8", k)
		}
	}
	return nil
}
