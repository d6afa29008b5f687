// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// This file turns a file's schema into nodes: fields, with the levels that say what of them is there (parquet-format, README.md, "Nested
// Encoding"; LogicalTypes.md, "Lists" and "Maps", backward compatibility included).

// A node is a field of a file, with its place among the levels.
type node struct {
	field Field
	// def is the level of definition from which on the field is there, rather than NULL or part of something that is not there.
	def int
	// rep is the level of repetition of what it lies in: 0 unless it is an element, or part of one. For List and Map, elements have rep+1,
	// and are there from level def+1 on.
	rep int
	// above is the level of definition from which on there is a place for it: an element it is part of, or the row.
	above    int
	children []*node
	leaf     *leaf // of fields that are not nested
}

// A leaf is a column of a file in the sense of the format: one that has column chunks.
type leaf struct {
	index          int // among the file's leaves
	path           string
	desc           *schema.Column
	typ            Type
	physical       parquet.Type
	stored, width  int // bytes of a value in a page and in a Column, 0 for strings
	convert        conversion
	maxDef, maxRep int
}

// first returns the leaf that tells where the node's lists begin and end.
func (n *node) first() *leaf {
	for n.leaf == nil {
		n = n.children[0]
	}
	return n.leaf
}

// leaves appends the leaves under the node.
func (n *node) leaves(to []*leaf) []*leaf {
	if n.leaf != nil {
		return append(to, n.leaf)
	}
	for _, child := range n.children {
		to = child.leaves(to)
	}
	return to
}

// vector tells whether the node is a list that can be read as vectors.
func (n *node) vector() bool {
	if n.field.Type.Kind != List || n.rep != 0 || n.children[0].leaf == nil {
		return false
	}
	k := n.children[0].field.Type.Kind
	return k == Float32 || k == Float64
}

// nodesOf returns the fields of a schema.
func nodesOf(s *schema.Schema) ([]*node, error) {
	b := schemaBuilder{schema: s}
	var nodes []*node
	for i := range s.Root().NumFields() {
		n, err := b.node(s.Root().Field(i), 0, 0, 0, "")
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	if b.next != s.NumColumns() {
		return nil, corrupt("schema of %d columns, of which %d are in fields", s.NumColumns(), b.next)
	}
	return nodes, nil
}

type schemaBuilder struct {
	schema *schema.Schema
	next   int // leaf
}

// node returns the node of n, which lies in something that is there from level def of definition on; above and rep are those of the element it
// is part of.
func (b *schemaBuilder) node(n schema.Node, def, above, rep int, path string) (*node, error) {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		// A repeated field that nothing annotates is a list that is never NULL, of elements that are never NULL.
		list := &node{field: Field{Name: n.Name(), Type: Type{Kind: List}}, def: def, rep: rep, above: above}
		element, err := b.content(n, "element", def+1, def+1, rep+1, path+n.Name(), false)
		if err != nil {
			return nil, err
		}
		return list.with(element), nil
	}
	nullable := n.RepetitionType() == parquet.Repetitions.Optional
	if nullable {
		def++
	}
	return b.content(n, n.Name(), def, above, rep, path+n.Name(), nullable)
}

func (n *node) with(children ...*node) *node {
	n.children = children
	for _, child := range children {
		n.field.Fields = append(n.field.Fields, child.field)
	}
	return n
}

// content returns the node of n without its own repetition.
func (b *schemaBuilder) content(n schema.Node, name string, def, above, rep int, path string, nullable bool) (*node, error) {
	group, ok := n.(*schema.GroupNode)
	if !ok {
		return b.primitive(name, def, above, rep, path, nullable)
	}
	out := &node{field: Field{Name: name, Nullable: nullable}, def: def, rep: rep, above: above}
	switch {
	case group.NumFields() == 0:
		return nil, fmt.Errorf("%w: group %s without fields", ErrUnsupported, path)
	case isList(group) || isSet(group):
		out.field.Type.Kind = List
		repeated := group.Field(0)
		inner, ok := repeated.(*schema.GroupNode)
		if ok && inner.NumFields() == 1 && inner.Name() != "array" && inner.Name() != n.Name()+"_tuple" &&
			inner.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			// The standard: LIST group, repeated group, element.
			element, err := b.node(inner.Field(0), def+1, def+1, rep+1, path+"."+inner.Name()+".")
			if err != nil {
				return nil, err
			}
			element.field.Name = "element"
			return out.with(element), nil
		}
		element, err := b.content(repeated, "element", def+1, def+1, rep+1, path+"."+repeated.Name(), false)
		if err != nil {
			return nil, err
		}
		return out.with(element), nil
	case isMap(group):
		out.field.Type.Kind = Map
		entry := group.Field(0).(*schema.GroupNode)
		in := path + "." + entry.Name() + "."
		key, err := b.node(entry.Field(0), def+1, def+1, rep+1, in)
		if err != nil {
			return nil, err
		}
		value, err := b.node(entry.Field(1), def+1, def+1, rep+1, in)
		if err != nil {
			return nil, err
		}
		key.field.Name, value.field.Name = "key", "value"
		return out.with(key, value), nil
	default:
		out.field.Type.Kind = Struct
		var children []*node
		for i := range group.NumFields() {
			child, err := b.node(group.Field(i), def, above, rep, path+".")
			if err != nil {
				return nil, err
			}
			children = append(children, child)
		}
		return out.with(children...), nil
	}
}

// isList tells whether a group is annotated as a list and looks like one.
func isList(g *schema.GroupNode) bool {
	_, logical := g.LogicalType().(schema.ListLogicalType)
	return (logical || g.ConvertedType() == schema.ConvertedTypes.List) && g.NumFields() == 1 &&
		g.Field(0).RepetitionType() == parquet.Repetitions.Repeated
}

// isMap tells whether a group is annotated as a map and looks like one.
func isMap(g *schema.GroupNode) bool { return entryFields(g) == 2 }

// isSet tells whether a group is a map without values, which is read as the list of its keys.
func isSet(g *schema.GroupNode) bool { return entryFields(g) == 1 }

// entryFields returns the number of fields of the entries of a group that is annotated as a map, 0 if it does not look like one.
func entryFields(g *schema.GroupNode) int {
	_, logical := g.LogicalType().(schema.MapLogicalType)
	if !logical && g.ConvertedType() != schema.ConvertedTypes.Map && g.ConvertedType() != schema.ConvertedTypes.MapKeyValue {
		return 0
	}
	if g.NumFields() != 1 || g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		return 0
	}
	if entry, ok := g.Field(0).(*schema.GroupNode); ok {
		return entry.NumFields()
	}
	return 0
}

// primitive returns the node of the next leaf.
func (b *schemaBuilder) primitive(name string, def, above, rep int, path string, nullable bool) (*node, error) {
	if b.next >= b.schema.NumColumns() {
		return nil, corrupt("schema of %d columns has more", b.schema.NumColumns())
	}
	desc := b.schema.Column(b.next)
	l := &leaf{
		index: b.next, path: path, desc: desc, physical: desc.PhysicalType(),
		maxDef: int(desc.MaxDefinitionLevel()), maxRep: int(desc.MaxRepetitionLevel()),
	}
	b.next++
	if l.maxDef != def || l.maxRep != rep {
		return nil, corrupt("column %s has levels %d and %d instead of %d and %d", path, l.maxRep, l.maxDef, rep, def)
	}
	if err := l.setType(); err != nil {
		return nil, err
	}
	return &node{field: Field{Name: name, Type: l.typ, Nullable: nullable}, def: def, rep: rep, above: above, leaf: l}, nil
}

// setType says what the leaf is stored as and read as. A logical type that does not go with the physical one is left out of account, as the
// format asks of readers that do not know a logical type.
func (l *leaf) setType() error {
	switch l.physical {
	case parquet.Types.Boolean:
		l.typ, l.stored = Type{Kind: Bool}, 1
	case parquet.Types.Int32:
		l.typ, l.stored = Type{Kind: Int32}, 4
	case parquet.Types.Int64:
		l.typ, l.stored = Type{Kind: Int64}, 8
	case parquet.Types.Int96:
		l.typ, l.stored, l.convert = Type{Kind: Timestamp, Unit: Nanos}, 12, int96
	case parquet.Types.Float:
		l.typ, l.stored = Type{Kind: Float32}, 4
	case parquet.Types.Double:
		l.typ, l.stored = Type{Kind: Float64}, 8
	case parquet.Types.ByteArray:
		l.typ = Type{Kind: Binary}
	case parquet.Types.FixedLenByteArray:
		l.stored = l.desc.TypeLength()
		if l.stored <= 0 {
			return corrupt("column %s has values of %d bytes", l.path, l.stored)
		}
		l.typ = Type{Kind: Fixed, Width: l.stored}
		if l.stored == 16 {
			l.typ = Type{Kind: ID}
		}
	default:
		return fmt.Errorf("%w: physical type %v of column %s", ErrUnsupported, l.physical, l.path)
	}
	logical := l.desc.LogicalType()
	if !valid(logical) {
		logical = l.desc.ConvertedType().ToLogicalType(l.desc.SchemaNode().(*schema.PrimitiveNode).DecimalMetadata())
	}
	l.setLogical(logical)
	l.width = l.typ.width()
	return nil
}

// valid tells whether there is a logical type.
func valid(t schema.LogicalType) bool { return t != nil && t.IsValid() && !t.IsNone() }

// setLogical changes what a logical type changes.
func (l *leaf) setLogical(logical schema.LogicalType) {
	i32, i64, fixed := l.physical == parquet.Types.Int32, l.physical == parquet.Types.Int64, l.physical == parquet.Types.FixedLenByteArray
	switch t := logical.(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		if l.physical == parquet.Types.ByteArray {
			l.typ.Kind = String
		}
	case schema.IntLogicalType:
		l.setInteger(int(t.BitWidth()), t.IsSigned())
	case schema.DateLogicalType:
		if i32 {
			l.typ.Kind = Date
		}
	case schema.TimeLogicalType:
		unit := unitOf(t.TimeUnit())
		if i32 && unit == Millis {
			l.typ, l.convert = Type{Kind: Time, Unit: unit, UTC: t.IsAdjustedToUTC()}, widen
		}
		if i64 && (unit == Micros || unit == Nanos) {
			l.typ = Type{Kind: Time, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
	case schema.TimestampLogicalType:
		if unit := unitOf(t.TimeUnit()); i64 && unit != 0 {
			l.typ = Type{Kind: Timestamp, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
	case schema.Float16LogicalType:
		if fixed && l.stored == 2 {
			l.typ = Type{Kind: Float16}
		}
	case schema.DecimalLogicalType:
		l.setDecimal(int(t.Precision()), int(t.Scale()))
	}
}

// setInteger makes the leaf one of integers of some bits.
func (l *leaf) setInteger(width int, signed bool) {
	k := map[int]Kind{8: Int8, 16: Int16, 32: Int32, 64: Int64}[width]
	if k == 0 || (width == 64) != (l.physical == parquet.Types.Int64) || (width < 64) != (l.physical == parquet.Types.Int32) {
		return
	}
	if !signed {
		k += Uint8 - Int8
	}
	l.typ.Kind = k
	switch k {
	case Int8:
		l.convert = narrow[int8]
	case Int16:
		l.convert = narrow[int16]
	case Uint8:
		l.convert = narrow[uint8]
	case Uint16:
		l.convert = narrow[uint16]
	}
}

// setDecimal makes the leaf one of decimals.
func (l *leaf) setDecimal(precision, scale int) {
	t := Type{Precision: precision, Scale: scale}
	switch {
	case precision <= 0 || precision > 76:
		return
	case precision <= 18:
		t.Kind = Decimal64
	case precision <= 38:
		t.Kind = Decimal128
	default:
		t.Kind = Decimal256
	}
	switch l.physical {
	case parquet.Types.Int32, parquet.Types.Int64:
		switch {
		case t.Kind != Decimal64:
			l.convert = widenInt(t.width(), l.stored)
		case l.stored == 4:
			l.convert = widen
		}
	case parquet.Types.FixedLenByteArray:
		l.convert = decimals(t.width(), l.stored)
	case parquet.Types.ByteArray: // chunk.appendVariable
	default:
		return
	}
	l.typ = t
}

func unitOf(u schema.TimeUnitType) Unit {
	switch u {
	case schema.TimeUnitMillis:
		return Millis
	case schema.TimeUnitMicros:
		return Micros
	case schema.TimeUnitNanos:
		return Nanos
	default:
		return 0
	}
}

// lookup returns the node with a dotted path: a field, or one in a Struct.
func lookup(nodes []*node, path string) *node {
	for _, n := range nodes {
		if n.field.Name == path {
			return n
		}
	}
	for _, n := range nodes {
		if rest, ok := strings.CutPrefix(path, n.field.Name+"."); ok && n.field.Type.Kind == Struct {
			if found := lookup(n.children, rest); found != nil {
				return found
			}
		}
	}
	return nil
}
