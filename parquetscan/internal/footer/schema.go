// SPDX-License-Identifier: Apache-2.0

package footer

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

// A Node is a field of a file, with its levels.
type Node struct {
	Field column.Field
	// def is the least definition level at which the field is present: neither NULL nor part of an absent field.
	Def int
	// rep is the repetition level of the enclosing field: 0 unless the field is an element, or part of one. Elements of
	// a List or Map have rep+1, and are present from definition level def+1 on.
	Rep int
	// above is the least definition level at which the field has a slot: the enclosing element, or the row, is present.
	Above    int
	Children []*Node
	Leaf     *Leaf  // nil if the field is nested
	empty    string // the path of a group without fields in the column, "" if there is none
	// fixed means, for a List, that by Arrow's schema in the file all rows have dim elements, none of them NULL.
	Fixed bool
	Dim   int
	List  bool // by Arrow's schema, rows may differ in length
}

// A Leaf is a column of a file in the sense of the format: a field with column chunks.
type Leaf struct {
	Index          int // among the file's leaves
	Path           string
	Desc           *schema.Column
	Type           column.Type
	Physical       parquet.Type
	Stored, Width  int // bytes of a value in a page and in a Column, 0 for strings
	MaxDef, MaxRep int
}

// First returns the leaf whose levels decide where the node's lists begin and end.
func (n *Node) First() *Leaf {
	for n.Leaf == nil {
		n = n.Children[0]
	}
	return n.Leaf
}

// Leaves appends the leaves under the node.
func (n *Node) Leaves(to []*Leaf) []*Leaf {
	if n.Leaf != nil {
		return append(to, n.Leaf)
	}
	for _, child := range n.Children {
		to = child.Leaves(to)
	}
	return to
}

// CanBeVector reports whether the node is a list whose elements a vector supports.
func (n *Node) CanBeVector() bool {
	return n.Field.Type.Kind == column.List && n.Children[0].Leaf != nil && n.Children[0].Leaf.Type.Kind.IsVectorElement()
}

// HasFixed reports whether the node is, or contains, a list whose rows have one length.
func (n *Node) HasFixed() bool { return n.Fixed || slices.ContainsFunc(n.Children, (*Node).HasFixed) }

// HasText reports whether the node is, or contains, a field that is stored as the text of another kind.
func (n *Node) HasText() bool {
	return n.Leaf != nil && n.Leaf.Type.Kind != n.Field.Type.Kind || slices.ContainsFunc(n.Children, (*Node).HasText)
}

// SameFixed reports whether the lists in two nodes of the same fields have the same fixed lengths.
func (n *Node) SameFixed(other *Node) bool {
	if n.Fixed != other.Fixed || n.Dim != other.Dim || len(n.Children) != len(other.Children) {
		return false
	}
	for i, child := range n.Children {
		if !child.SameFixed(other.Children[i]) {
			return false
		}
	}
	return true
}

// AsRead returns the field with vectors in place of lists whose rows have one length.
func (n *Node) AsRead() column.Field {
	f := n.Field
	if n.Fixed {
		f.Type, f.Fields = column.VectorOf(n.Children[0].Field.Type.Kind, n.Dim), nil
		return f
	}
	f.Fields = slices.Clone(f.Fields)
	for i, child := range n.Children {
		f.Fields[i] = child.AsRead()
	}
	return f
}

// NodesOf returns the fields of a schema.
func NodesOf(s *schema.Schema) ([]*Node, error) {
	b := schemaBuilder{schema: s}
	var nodes []*Node
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
func (b *schemaBuilder) node(n schema.Node, def, above, rep int, path string) (*Node, error) {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		// A repeated field without annotation is a list that is never NULL, of elements that are never NULL.
		list := &Node{
			Field: column.Field{Name: n.Name(), Type: column.Type{Kind: column.List}}, Def: def, Rep: rep,
			Above: above,
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

func (n *Node) with(children ...*Node) *Node {
	n.Children = children
	for _, child := range children {
		n.Field.Fields = append(n.Field.Fields, child.Field)
	}
	return n
}

// content returns the node of n, ignoring its own repetition.
func (b *schemaBuilder) content(n schema.Node, name string, def, above, rep int, path string,
	nullable bool,
) (*Node, error) {
	group, ok := n.(*schema.GroupNode)
	if !ok {
		return b.primitive(name, def, above, rep, path, nullable)
	}
	out := &Node{Field: column.Field{Name: name, Nullable: nullable}, Def: def, Rep: rep, Above: above}
	switch {
	case group.NumFields() == 0:
		return nil, fmt.Errorf("%w: group %s without fields", failure.ErrUnsupported, path) // withoutEmptyGroups removes them
	case isList(group) || isSet(group):
		out.Field.Type.Kind = column.List
		repeated := group.Field(0)
		inner, ok := repeated.(*schema.GroupNode)
		if ok && inner.NumFields() == 1 && inner.Name() != "array" && inner.Name() != n.Name()+"_tuple" &&
			inner.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			// The standard: LIST group, repeated group, element.
			element, err := b.node(inner.Field(0), def+1, def+1, rep+1, path+"."+inner.Name()+".")
			if err != nil {
				return nil, err
			}
			element.Field.Name = "element"
			return out.with(element), nil
		}
		element, err := b.content(repeated, "element", def+1, def+1, rep+1, path+"."+repeated.Name(), false)
		if err != nil {
			return nil, err
		}
		return out.with(element), nil
	case isMap(group):
		out.Field.Type.Kind = column.Map
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
		key.Field.Name, value.Field.Name = "key", "value"
		return out.with(key, value), nil
	default:
		out.Field.Type.Kind = column.Struct
		var children []*Node
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
func (b *schemaBuilder) primitive(name string, def, above, rep int, path string, nullable bool) (*Node, error) {
	if b.next >= b.schema.NumColumns() {
		return nil, failure.Corrupt("schema of %d columns has more fields", b.schema.NumColumns())
	}
	desc := b.schema.Column(b.next)
	l := &Leaf{
		Index: b.next, Path: path, Desc: desc, Physical: desc.PhysicalType(),
		MaxDef: int(desc.MaxDefinitionLevel()), MaxRep: int(desc.MaxRepetitionLevel()),
	}
	b.next++
	if l.MaxDef != def || l.MaxRep != rep {
		return nil, failure.Corrupt("column %s has levels %d and %d, want %d and %d", path, l.MaxRep, l.MaxDef, rep, def)
	}
	if err := l.setType(); err != nil {
		return nil, err
	}
	return &Node{
		Field: column.Field{Name: name, Type: l.Type, Nullable: nullable}, Def: def, Rep: rep, Above: above,
		Leaf: l,
	}, nil
}

// setType sets the stored type and the type of the leaf. It ignores a logical type that does not fit the physical one,
// as the format requires of readers for unknown logical types.
func (l *Leaf) setType() error {
	switch l.Physical {
	case parquet.Types.Boolean:
		l.Type, l.Stored = column.Type{Kind: column.Bool}, 1
	case parquet.Types.Int32:
		l.Type, l.Stored = column.Type{Kind: column.Int32}, 4
	case parquet.Types.Int64:
		l.Type, l.Stored = column.Type{Kind: column.Int64}, 8
	case parquet.Types.Int96:
		l.Type, l.Stored = column.Type{Kind: column.Timestamp, Unit: column.Nanos}, 12
	case parquet.Types.Float:
		l.Type, l.Stored = column.Type{Kind: column.Float32}, 4
	case parquet.Types.Double:
		l.Type, l.Stored = column.Type{Kind: column.Float64}, 8
	case parquet.Types.ByteArray:
		l.Type = column.Type{Kind: column.Binary}
	case parquet.Types.FixedLenByteArray:
		l.Stored = l.Desc.TypeLength()
		if l.Stored <= 0 {
			return failure.Corrupt("column %s has values of %d bytes", l.Path, l.Stored)
		}
		l.Type = column.Type{Kind: column.Fixed, Width: l.Stored}
	default:
		return fmt.Errorf("%w: physical type %v of column %s", failure.ErrUnsupported, l.Physical, l.Path)
	}
	logical := l.Desc.LogicalType()
	if !valid(logical) {
		logical = l.Desc.ConvertedType().ToLogicalType(l.Desc.SchemaNode().(*schema.PrimitiveNode).DecimalMetadata())
	}
	l.setLogical(logical)
	l.Width = l.Type.ValueWidth()
	return nil
}

// valid reports whether t is a logical type.
func valid(t schema.LogicalType) bool { return t != nil && t.IsValid() && !t.IsNone() }

// setLogical applies a logical type.
func (l *Leaf) setLogical(logical schema.LogicalType) {
	i32, i64, fixed := l.Physical == parquet.Types.Int32, l.Physical == parquet.Types.Int64,
		l.Physical == parquet.Types.FixedLenByteArray
	switch t := logical.(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		if l.Physical == parquet.Types.ByteArray {
			l.Type.Kind = column.String
		}
	case schema.IntLogicalType:
		l.setInteger(int(t.BitWidth()), t.IsSigned())
	case schema.DateLogicalType:
		if i32 {
			l.Type.Kind = column.Date
		}
	case schema.TimeLogicalType:
		unit := unitOf(t.TimeUnit())
		if i32 && unit == column.Millis {
			l.Type = column.Type{Kind: column.Time, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
		if i64 && (unit == column.Micros || unit == column.Nanos) {
			l.Type = column.Type{Kind: column.Time, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
	case schema.TimestampLogicalType:
		if unit := unitOf(t.TimeUnit()); i64 && unit != 0 {
			l.Type = column.Type{Kind: column.Timestamp, Unit: unit, UTC: t.IsAdjustedToUTC()}
		}
	case schema.Float16LogicalType:
		if fixed && l.Stored == 2 {
			l.Type = column.Type{Kind: column.Float16}
		}
	case schema.UUIDLogicalType:
		if fixed && l.Stored == 16 {
			l.Type = column.Type{Kind: column.UUID}
		}
	case schema.DecimalLogicalType:
		l.setDecimal(int(t.Precision()), int(t.Scale()))
	}
}

// setInteger makes the leaf one of integers of some bits.
func (l *Leaf) setInteger(width int, signed bool) {
	k := map[int]column.Kind{8: column.Int8, 16: column.Int16, 32: column.Int32, 64: column.Int64}[width]
	if k == 0 || (width == 64) != (l.Physical == parquet.Types.Int64) ||
		(width < 64) != (l.Physical == parquet.Types.Int32) {
		return
	}
	if !signed {
		k += column.Uint8 - column.Int8
	}
	l.Type.Kind = k
}

// setDecimal makes the leaf one of decimals.
func (l *Leaf) setDecimal(precision, scale int) {
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
	switch l.Physical {
	case parquet.Types.Int32, parquet.Types.Int64, parquet.Types.FixedLenByteArray, parquet.Types.ByteArray:
		l.Type = t
	}
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

// Lookup returns the first node with a dotted path: a field, or a field in a Struct.
func Lookup(nodes []*Node, path string) *Node { return LookupNth(nodes, path, 0) }

// LookupNth returns field number nth of the fields with a name, or, as lookup, a field with a numbered name or in a
// Struct.
func LookupNth(nodes []*Node, path string, nth int) *Node {
	for _, n := range nodes {
		if n.Field.Name == path {
			if nth == 0 {
				return n
			}
			nth--
		}
	}
	if i := strings.LastIndexByte(path, '_'); i >= 0 && CountNamed(nodes, path[:i]) > 1 {
		if at := slices.Index(NumberedNames(nodes), path); at >= 0 {
			return nodes[at]
		}
	}
	for _, n := range nodes {
		if rest, ok := strings.CutPrefix(path, n.Field.Name+"."); ok &&
			(n.Field.Type.Kind == column.Struct || n.Field.Type.Kind == column.Tuple) {
			if found := LookupNth(n.Children, rest, 0); found != nil {
				return found
			}
		}
	}
	return nil
}

// NumberedNames returns the names of fields, with a number for each that has the name of an earlier one: n, n_1, n_2. A
// name of a field is no numbered name.
func NumberedNames(nodes []*Node) []string {
	names, taken := make([]string, len(nodes)), map[string]bool{}
	for _, n := range nodes {
		taken[n.Field.Name] = true
	}
	for i, n := range nodes {
		name := n.Field.Name
		if CountNamed(nodes[:i], name) > 0 {
			for k := 1; taken[name]; k++ {
				name = fmt.Sprintf("%s_%d", n.Field.Name, k)
			}
		}
		names[i], taken[name] = name, true
	}
	return names
}

// CountNamed returns how many of the fields have a name.
func CountNamed(nodes []*Node, name string) int {
	count := 0
	for _, n := range nodes {
		if n.Field.Name == name {
			count++
		}
	}
	return count
}
