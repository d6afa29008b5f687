// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// The tree of a file's fields, with their definition and repetition levels (parquet-format, README.md, "Nested
// Encoding"; LogicalTypes.md, "Lists" and "Maps", backward compatibility included).

// A node is a field of a file, with its levels.
type node struct {
	field column.Field
	// def is the least definition level at which the field is present: neither NULL nor part of an absent field.
	def int
	// rep is the repetition level of the enclosing field: 0 unless the field is an element, or part of one. Elements of
	// a List or Map have rep+1, and are present from definition level def+1 on.
	rep int
	// above is the least definition level at which the field has a slot: the enclosing element, or the row, is present.
	above    int
	children []*node
	leaf     *leaf  // nil if the field is nested
	empty    string // the path of a group without fields in the column, "" if there is none
	// fixed means, for a List, that by Arrow's schema in the file all rows have dim elements, none of them NULL.
	fixed bool
	dim   int
	list  bool // by Arrow's schema, rows may differ in length
}

// A leaf is a column of a file in the sense of the format: a field with column chunks.
type leaf struct {
	index          int // among the file's leaves
	path           string
	desc           *schema.Column
	typ            column.Type
	physical       parquet.Type
	stored, width  int // bytes of a value in a page and in a Column, 0 for strings
	convert        conversion
	maxDef, maxRep int
}

// first returns the leaf whose levels decide where the node's lists begin and end.
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

// canBeVector reports whether the node is a list whose elements a vector supports.
func (n *node) canBeVector() bool {
	return n.field.Type.Kind == column.List && n.children[0].leaf != nil && n.children[0].leaf.typ.Kind.IsVectorElement()
}

// hasFixed reports whether the node is, or contains, a list whose rows have one length.
func (n *node) hasFixed() bool { return n.fixed || slices.ContainsFunc(n.children, (*node).hasFixed) }

// hasText reports whether the node is, or contains, a field that is stored as the text of another kind.
func (n *node) hasText() bool {
	return n.leaf != nil && n.leaf.typ.Kind != n.field.Type.Kind || slices.ContainsFunc(n.children, (*node).hasText)
}

// sameFixed reports whether the lists in two nodes of the same fields have the same fixed lengths.
func (n *node) sameFixed(other *node) bool {
	if n.fixed != other.fixed || n.dim != other.dim || len(n.children) != len(other.children) {
		return false
	}
	for i, child := range n.children {
		if !child.sameFixed(other.children[i]) {
			return false
		}
	}
	return true
}

// asRead returns the field with vectors in place of lists whose rows have one length.
func (n *node) asRead() column.Field {
	f := n.field
	if n.fixed {
		f.Type, f.Fields = column.VectorOf(n.children[0].field.Type.Kind, n.dim), nil
		return f
	}
	f.Fields = slices.Clone(f.Fields)
	for i, child := range n.children {
		f.Fields[i] = child.asRead()
	}
	return f
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
		return nil, failure.Corrupt("schema of %d columns, but its fields have %d", s.NumColumns(), b.next)
	}
	return nodes, nil
}

// schemaBuilder converts a Parquet schema to nodes and numbers its leaves.
type schemaBuilder struct {
	schema *schema.Schema
	next   int // index of the next leaf
}

// node returns the node of n. Its parent is present from definition level def on; above and rep are those of the
// enclosing element.
func (b *schemaBuilder) node(n schema.Node, def, above, rep int, path string) (*node, error) {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		// A repeated field without annotation is a list that is never NULL, of elements that are never NULL.
		list := &node{
			field: column.Field{Name: n.Name(), Type: column.Type{Kind: column.List}}, def: def, rep: rep,
			above: above,
		}
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

// content returns the node of n, ignoring its own repetition.
func (b *schemaBuilder) content(n schema.Node, name string, def, above, rep int, path string,
	nullable bool,
) (*node, error) {
	group, ok := n.(*schema.GroupNode)
	if !ok {
		return b.primitive(name, def, above, rep, path, nullable)
	}
	out := &node{field: column.Field{Name: name, Nullable: nullable}, def: def, rep: rep, above: above}
	switch {
	case group.NumFields() == 0:
		return nil, fmt.Errorf("%w: group %s without fields", failure.ErrUnsupported, path) // withoutEmptyGroups removes them
	case isList(group) || isSet(group):
		out.field.Type.Kind = column.List
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
		out.field.Type.Kind = column.Map
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
		out.field.Type.Kind = column.Struct
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

// isList reports whether a group is annotated as a list and looks like one.
func isList(g *schema.GroupNode) bool {
	_, logical := g.LogicalType().(schema.ListLogicalType)
	return (logical || g.ConvertedType() == schema.ConvertedTypes.List) && g.NumFields() == 1 &&
		g.Field(0).RepetitionType() == parquet.Repetitions.Repeated
}

// isMap reports whether a group is annotated as a map and looks like one.
func isMap(g *schema.GroupNode) bool { return entryFields(g) == 2 }

// isSet reports whether a group is a map without values, which is read as the list of its keys.
func isSet(g *schema.GroupNode) bool { return entryFields(g) == 1 }

// entryFields returns the number of fields of the entries of a group that is annotated as a map, 0 if it does not look
// like one.
func entryFields(g *schema.GroupNode) int {
	_, logical := g.LogicalType().(schema.MapLogicalType)
	if !logical && g.ConvertedType() != schema.ConvertedTypes.Map &&
		g.ConvertedType() != schema.ConvertedTypes.MapKeyValue {
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
		return nil, failure.Corrupt("schema of %d columns has more fields", b.schema.NumColumns())
	}
	desc := b.schema.Column(b.next)
	l := &leaf{
		index: b.next, path: path, desc: desc, physical: desc.PhysicalType(),
		maxDef: int(desc.MaxDefinitionLevel()), maxRep: int(desc.MaxRepetitionLevel()),
	}
	b.next++
	if l.maxDef != def || l.maxRep != rep {
		return nil, failure.Corrupt("column %s has levels %d and %d, want %d and %d", path, l.maxRep, l.maxDef, rep, def)
	}
	if err := l.setType(); err != nil {
		return nil, err
	}
	return &node{
		field: column.Field{Name: name, Type: l.typ, Nullable: nullable}, def: def, rep: rep, above: above,
		leaf: l,
	}, nil
}

// setType sets the stored type and the type of the leaf. It ignores a logical type that does not fit the physical one,
// as the format requires of readers for unknown logical types.
func (l *leaf) setType() error {
	switch l.physical {
	case parquet.Types.Boolean:
		l.typ, l.stored = column.Type{Kind: column.Bool}, 1
	case parquet.Types.Int32:
		l.typ, l.stored = column.Type{Kind: column.Int32}, 4
	case parquet.Types.Int64:
		l.typ, l.stored = column.Type{Kind: column.Int64}, 8
	case parquet.Types.Int96:
		l.typ, l.stored, l.convert = column.Type{Kind: column.Timestamp, Unit: column.Nanos}, 12, int96
	case parquet.Types.Float:
		l.typ, l.stored = column.Type{Kind: column.Float32}, 4
	case parquet.Types.Double:
		l.typ, l.stored = column.Type{Kind: column.Float64}, 8
	case parquet.Types.ByteArray:
		l.typ = column.Type{Kind: column.Binary}
	case parquet.Types.FixedLenByteArray:
		l.stored = l.desc.TypeLength()
		if l.stored <= 0 {
			return failure.Corrupt("column %s has values of %d bytes", l.path, l.stored)
		}
		l.typ = column.Type{Kind: column.Fixed, Width: l.stored}
	default:
		return fmt.Errorf("%w: physical type %v of column %s", failure.ErrUnsupported, l.physical, l.path)
	}
	logical := l.desc.LogicalType()
	if !valid(logical) {
		logical = l.desc.ConvertedType().ToLogicalType(l.desc.SchemaNode().(*schema.PrimitiveNode).DecimalMetadata())
	}
	l.setLogical(logical)
	l.width = l.typ.ValueWidth()
	return nil
}

// valid reports whether t is a logical type.
func valid(t schema.LogicalType) bool { return t != nil && t.IsValid() && !t.IsNone() }

// setLogical applies a logical type.
func (l *leaf) setLogical(logical schema.LogicalType) {
	i32, i64, fixed := l.physical == parquet.Types.Int32, l.physical == parquet.Types.Int64,
		l.physical == parquet.Types.FixedLenByteArray
	switch t := logical.(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		if l.physical == parquet.Types.ByteArray {
			l.typ.Kind = column.String
		}
	case schema.IntLogicalType:
		l.setInteger(int(t.BitWidth()), t.IsSigned())
	case schema.DateLogicalType:
		if i32 {
			l.typ.Kind = column.Date
		}
	case schema.TimeLogicalType:
		unit := unitOf(t.TimeUnit())
		if i32 && unit == column.Millis {
			l.typ, l.convert = column.Type{Kind: column.Time, Unit: unit, UTC: t.IsAdjustedToUTC()}, widen
		}
		if i64 && (unit == column.Micros || unit == column.Nanos) {
			l.typ = column.Type{Kind: column.Time, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
	case schema.TimestampLogicalType:
		if unit := unitOf(t.TimeUnit()); i64 && unit != 0 {
			l.typ = column.Type{Kind: column.Timestamp, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
	case schema.Float16LogicalType:
		if fixed && l.stored == 2 {
			l.typ = column.Type{Kind: column.Float16}
		}
	case schema.UUIDLogicalType:
		if fixed && l.stored == 16 {
			l.typ = column.Type{Kind: column.UUID}
		}
	case schema.DecimalLogicalType:
		l.setDecimal(int(t.Precision()), int(t.Scale()))
	}
}

// setInteger makes the leaf one of integers of some bits.
func (l *leaf) setInteger(width int, signed bool) {
	k := map[int]column.Kind{8: column.Int8, 16: column.Int16, 32: column.Int32, 64: column.Int64}[width]
	if k == 0 || (width == 64) != (l.physical == parquet.Types.Int64) ||
		(width < 64) != (l.physical == parquet.Types.Int32) {
		return
	}
	if !signed {
		k += column.Uint8 - column.Int8
	}
	l.typ.Kind = k
	switch k {
	case column.Int8:
		l.convert = narrow[int8]
	case column.Int16:
		l.convert = narrow[int16]
	case column.Uint8:
		l.convert = narrow[uint8]
	case column.Uint16:
		l.convert = narrow[uint16]
	}
}

// setDecimal makes the leaf one of decimals.
func (l *leaf) setDecimal(precision, scale int) {
	t := column.Type{Precision: precision, Scale: scale}
	switch {
	case precision <= 0 || precision > 76:
		return
	case precision <= 18:
		t.Kind = column.Decimal64
	case precision <= 38:
		t.Kind = column.Decimal128
	default:
		t.Kind = column.Decimal256
	}
	switch l.physical {
	case parquet.Types.Int32, parquet.Types.Int64:
		switch {
		case t.Kind != column.Decimal64:
			l.convert = widenInt(t.ValueWidth(), l.stored)
		case l.stored == 4:
			l.convert = widen
		}
	case parquet.Types.FixedLenByteArray:
		l.convert = decimals(t.ValueWidth(), l.stored)
	case parquet.Types.ByteArray: // chunk.appendVariable
	default:
		return
	}
	l.typ = t
}

// unitOf returns the unit of a Parquet time, 0 for a unit that this version does not have.
func unitOf(u schema.TimeUnitType) column.Unit {
	switch u {
	case schema.TimeUnitMillis:
		return column.Millis
	case schema.TimeUnitMicros:
		return column.Micros
	case schema.TimeUnitNanos:
		return column.Nanos
	default:
		return 0
	}
}

// lookup returns the first node with a dotted path: a field, or a field in a Struct.
func lookup(nodes []*node, path string) *node { return lookupNth(nodes, path, 0) }

// lookupNth returns field number nth of the fields with a name, or, as lookup, a field with a numbered name or in a
// Struct.
func lookupNth(nodes []*node, path string, nth int) *node {
	for _, n := range nodes {
		if n.field.Name == path {
			if nth == 0 {
				return n
			}
			nth--
		}
	}
	if i := strings.LastIndexByte(path, '_'); i >= 0 && countNamed(nodes, path[:i]) > 1 {
		if at := slices.Index(numberedNames(nodes), path); at >= 0 {
			return nodes[at]
		}
	}
	for _, n := range nodes {
		if rest, ok := strings.CutPrefix(path, n.field.Name+"."); ok &&
			(n.field.Type.Kind == column.Struct || n.field.Type.Kind == column.Tuple) {
			if found := lookupNth(n.children, rest, 0); found != nil {
				return found
			}
		}
	}
	return nil
}

// numberedNames returns the names of fields, with a number for each that has the name of an earlier one: n, n_1, n_2. A
// name of a field is no numbered name.
func numberedNames(nodes []*node) []string {
	names, taken := make([]string, len(nodes)), map[string]bool{}
	for _, n := range nodes {
		taken[n.field.Name] = true
	}
	for i, n := range nodes {
		name := n.field.Name
		if countNamed(nodes[:i], name) > 0 {
			for k := 1; taken[name]; k++ {
				name = fmt.Sprintf("%s_%d", n.field.Name, k)
			}
		}
		names[i], taken[name] = name, true
	}
	return names
}

// countNamed returns how many of the fields have a name.
func countNamed(nodes []*node, name string) int {
	count := 0
	for _, n := range nodes {
		if n.field.Name == name {
			count++
		}
	}
	return count
}
