// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
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
	Type           column.Type
	Physical       format.PhysicalType
	Logical        format.LogicalType
	Ordered        bool // the file states that statistics have the order of the type
	Stored, Width  int  // bytes of a value in a page and in a Column, 0 for strings
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

// nodesOf returns the fields of a schema, and its columns.
func nodesOf(root *element) (nodes []*Node, leaves []*Leaf, err error) {
	b := schemaBuilder{}
	for _, e := range root.fields {
		if e.gone() {
			field := column.Field{Name: e.Name, Type: column.Type{Kind: column.Struct}, Nullable: true}
			nodes = append(nodes, &Node{Field: field, empty: e.empty})
			continue
		}
		n, err := b.node(e, 0, 0, 0, "")
		if err != nil {
			return nil, nil, err
		}
		n.empty = e.empty
		nodes = append(nodes, n)
	}
	return nodes, b.leaves, nil
}

// CheckReadable returns an error if the column contains a group without fields.
func (n *Node) CheckReadable() error {
	if n.empty == "" {
		return nil
	}
	return fmt.Errorf("%w: group %s has no fields; read the other columns", failure.ErrUnsupported, n.empty)
}

// schemaBuilder converts the elements of a schema to nodes and numbers its leaves.
type schemaBuilder struct{ leaves []*Leaf }

// node returns the node of e. Its parent is present from definition level def on; above and rep are the levels of the
// enclosing element.
func (b *schemaBuilder) node(e *element, def, above, rep int, path string) (*Node, error) {
	if e.Repetition == format.Repeated {
		// A repeated field without annotation is a list that is never NULL, of elements that are never NULL.
		list := &Node{
			Field: column.Field{Name: e.Name, Type: column.Type{Kind: column.List}}, Def: def, Rep: rep,
			Above: above,
		}
		item, err := b.content(e, "element", def+1, def+1, rep+1, path+e.Name, false)
		if err != nil {
			return nil, err
		}
		return list.with(item), nil
	}
	nullable := e.Repetition == format.Optional
	if nullable {
		def++
	}
	return b.content(e, e.Name, def, above, rep, path+e.Name, nullable)
}

func (n *Node) with(children ...*Node) *Node {
	n.Children = children
	for _, child := range children {
		n.Field.Fields = append(n.Field.Fields, child.Field)
	}
	return n
}

// content returns the node of e, ignoring its own repetition.
func (b *schemaBuilder) content(e *element, name string, def, above, rep int, path string,
	nullable bool,
) (*Node, error) {
	if len(e.fields) == 0 {
		return b.primitive(e, name, def, above, rep, path, nullable)
	}
	out := &Node{Field: column.Field{Name: name, Nullable: nullable}, Def: def, Rep: rep, Above: above}
	switch {
	case isList(e) || isSet(e):
		out.Field.Type.Kind = column.List
		repeated := e.fields[0]
		if len(repeated.fields) == 1 && repeated.Name != "array" && repeated.Name != e.Name+"_tuple" &&
			repeated.fields[0].Repetition != format.Repeated {
			// The standard: LIST group, repeated group, element.
			item, err := b.node(repeated.fields[0], def+1, def+1, rep+1, path+"."+repeated.Name+".")
			if err != nil {
				return nil, err
			}
			item.Field.Name = "element"
			return out.with(item), nil
		}
		item, err := b.content(repeated, "element", def+1, def+1, rep+1, path+"."+repeated.Name, false)
		if err != nil {
			return nil, err
		}
		return out.with(item), nil
	case isMap(e):
		out.Field.Type.Kind = column.Map
		entry := e.fields[0]
		in := path + "." + entry.Name + "."
		key, err := b.node(entry.fields[0], def+1, def+1, rep+1, in)
		if err != nil {
			return nil, err
		}
		value, err := b.node(entry.fields[1], def+1, def+1, rep+1, in)
		if err != nil {
			return nil, err
		}
		key.Field.Name, value.Field.Name = "key", "value"
		return out.with(key, value), nil
	default:
		out.Field.Type.Kind = column.Struct
		children := make([]*Node, len(e.fields))
		for i, field := range e.fields {
			var err error
			if children[i], err = b.node(field, def, above, rep, path+"."); err != nil {
				return nil, err
			}
		}
		return out.with(children...), nil
	}
}

// isList reports whether a group is annotated as a list and looks like one.
func isList(e *element) bool {
	return e.annotated(format.LogicalList, format.ConvertedList) && len(e.fields) == 1 &&
		e.fields[0].Repetition == format.Repeated
}

// isMap reports whether a group is annotated as a map and looks like one.
func isMap(e *element) bool { return entryFields(e) == 2 }

// isSet reports whether a group is a map without values, which is read as the list of its keys.
func isSet(e *element) bool { return entryFields(e) == 1 }

// entryFields returns the number of fields of the entries of a group that is annotated as a map, 0 if it does not look
// like one.
func entryFields(e *element) int {
	if !e.annotated(format.LogicalMap, format.ConvertedMap, format.ConvertedMapKeyValue) || len(e.fields) != 1 ||
		e.fields[0].Repetition != format.Repeated {
		return 0
	}
	return len(e.fields[0].fields)
}

// primitive returns the node of the next leaf.
func (b *schemaBuilder) primitive(e *element, name string, def, above, rep int, path string,
	nullable bool,
) (*Node, error) {
	l := &Leaf{Index: len(b.leaves), Path: path, Physical: e.Type, Logical: e.meaning, MaxDef: def, MaxRep: rep}
	b.leaves = append(b.leaves, l)
	if err := l.setType(int(e.Length)); err != nil {
		return nil, err
	}
	return &Node{
		Field: column.Field{Name: name, Type: l.Type, Nullable: nullable}, Def: def, Rep: rep, Above: above,
		Leaf: l,
	}, nil
}

// setType sets the stored type and the type of the leaf. It ignores a logical type that does not fit the physical one,
// as the format requires of readers for unknown logical types.
func (l *Leaf) setType(length int) error {
	switch l.Physical {
	case format.Boolean:
		l.Type, l.Stored = column.Type{Kind: column.Bool}, 1
	case format.Int32:
		l.Type, l.Stored = column.Type{Kind: column.Int32}, 4
	case format.Int64:
		l.Type, l.Stored = column.Type{Kind: column.Int64}, 8
	case format.Int96:
		l.Type, l.Stored = column.Type{Kind: column.Timestamp, Unit: column.Nanos}, 12
	case format.Float:
		l.Type, l.Stored = column.Type{Kind: column.Float32}, 4
	case format.Double:
		l.Type, l.Stored = column.Type{Kind: column.Float64}, 8
	case format.ByteArray:
		l.Type = column.Type{Kind: column.Binary}
	case format.FixedLenByteArray:
		if l.Stored = length; l.Stored <= 0 {
			return failure.Corrupt("column %s has values of %d bytes", l.Path, l.Stored)
		}
		l.Type = column.Type{Kind: column.Fixed, Width: l.Stored}
	default:
		return fmt.Errorf("%w: physical type %v of column %s", failure.ErrUnsupported, l.Physical, l.Path)
	}
	l.setLogical()
	l.Width = l.Type.ValueWidth()
	return nil
}

// setLogical applies the logical type.
func (l *Leaf) setLogical() {
	switch t := &l.Logical; t.Kind {
	case format.LogicalString, format.LogicalEnum, format.LogicalJSON:
		l.Type.Kind = column.String
	case format.LogicalInteger:
		l.setInteger()
	case format.LogicalDate:
		l.Type.Kind = column.Date
	case format.LogicalTime:
		l.Type = column.Type{Kind: column.Time, Unit: unitOf(t.Unit), UTC: t.UTC}
	case format.LogicalTimestamp:
		l.Type = column.Type{Kind: column.Timestamp, Unit: unitOf(t.Unit), UTC: t.UTC}
	case format.LogicalFloat16:
		l.Type = column.Type{Kind: column.Float16}
	case format.LogicalUUID:
		l.Type = column.Type{Kind: column.UUID}
	case format.LogicalDecimal:
		l.setDecimal()
	}
}

// setInteger makes the leaf one of integers of some bits.
func (l *Leaf) setInteger() {
	k := map[int8]column.Kind{8: column.Int8, 16: column.Int16, 32: column.Int32, 64: column.Int64}[l.Logical.Bits]
	if k == 0 {
		return
	}
	if !l.Logical.Signed {
		k += column.Uint8 - column.Int8
	}
	l.Type.Kind = k
}

// setDecimal makes the leaf one of decimals.
func (l *Leaf) setDecimal() {
	t := column.Type{Precision: int(l.Logical.Precision), Scale: int(l.Logical.Scale)}
	switch {
	case t.Precision <= 0 || t.Precision > 76:
		return
	case t.Precision <= 18:
		t.Kind = column.Decimal64
	case t.Precision <= 38:
		t.Kind = column.Decimal128
	default:
		t.Kind = column.Decimal256
	}
	l.Type = t
}

// unitOf returns the unit of a Parquet time.
func unitOf(u format.TimeUnit) column.Unit {
	switch u {
	case format.Millis:
		return column.Millis
	case format.Micros:
		return column.Micros
	}
	return column.Nanos
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
