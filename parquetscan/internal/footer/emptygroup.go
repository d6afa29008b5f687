// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Groups without fields, which some writers make of structs without fields. They have no column chunks, so that a file
// has neither their number of elements nor which of them are NULL. arrow-go takes them for columns: they are removed
// from a schema before it is parsed, and columns that contain one are marked in the tree of nodes.

// An emptyGroup is a column that contains a group without fields.
type emptyGroup struct {
	at    int // of the column among the fields of the file
	name  string
	path  string // of the group
	whole bool   // the column has no other fields
}

// A schemaElement is the place of a SchemaElement in a footer.
type schemaElement struct {
	from, to           int
	name               string
	physical           bool // it is a column
	children           int
	childFrom, childTo int // the place of the number of children, 0 if it is absent
}

// A schemaPruner removes groups without fields from a list of elements, each group followed by its fields.
type schemaPruner struct {
	elements []schemaElement
	removed  []bool
	found    []emptyGroup
}

// WithoutEmptyGroups returns a FileMetaData without groups that have no fields, and the columns that contained them. b
// has passed Check.
func WithoutEmptyGroups(b []byte) ([]byte, []emptyGroup) {
	r := thrift.Reader{B: b}
	for id, typ := range r.Fields() {
		if id != 2 || typ != thrift.List { // FileMetaData.schema
			r.Skip(typ, 1)
			continue
		}
		from := r.Pos
		p := schemaPruner{elements: make([]schemaElement, r.Structs())}
		empty := false
		for i := range p.elements {
			p.elements[i] = schemaPlace(&r)
			empty = empty || i > 0 && !p.elements[i].physical && p.elements[i].children == 0
		}
		if !empty || r.Failed() {
			return b, nil
		}
		p.removed = make([]bool, len(p.elements))
		p.columns()
		return slices.Concat(b[:from], p.list(b), b[r.Pos:]), p.found
	}
	return b, nil
}

// schemaPlace reads the place of a SchemaElement.
func schemaPlace(r *thrift.Reader) schemaElement {
	e := schemaElement{from: r.Pos}
	for id, typ := range r.Fields() {
		at := r.Pos
		switch {
		case id == 1 && typ == thrift.I32:
			e.physical = true
			r.Skip(typ, 2)
		case id == 4 && typ == thrift.Binary:
			e.name = string(r.Binary())
		case id == 5 && typ == thrift.I32:
			e.children, e.childFrom, e.childTo = int(r.I32()), at, r.Pos
		default:
			r.Skip(typ, 2)
		}
	}
	e.to = r.Pos
	return e
}

// columns removes groups from the fields of the file.
func (p *schemaPruner) columns() {
	at := 1
	for i := range p.elements[0].children {
		column := emptyGroup{at: i, name: p.elements[at].name}
		at, column.path, column.whole = p.prune(at, "")
		if column.path != "" {
			p.found = append(p.found, column)
		}
	}
	for _, f := range p.found {
		if f.whole {
			p.elements[0].children--
		}
	}
}

// prune removes the groups without fields from an element. It returns the place of the next one, the path of a removed
// group, and whether the element itself is removed.
func (p *schemaPruner) prune(at int, above string) (next int, path string, removed bool) {
	e := &p.elements[at]
	own := above + e.name
	if e.physical || e.children == 0 {
		if p.removed[at] = !e.physical; p.removed[at] {
			path = own
		}
		return at + 1, path, p.removed[at]
	}
	next = at + 1
	for range e.children {
		found, gone := "", false
		if next, found, gone = p.prune(next, own+"."); path == "" {
			path = found
		}
		if gone {
			p.elements[at].children--
		}
	}
	p.removed[at] = p.elements[at].children == 0
	return next, path, p.removed[at]
}

// list returns the list of the elements that are left.
func (p *schemaPruner) list(b []byte) []byte {
	kept := 0
	for _, removed := range p.removed {
		if !removed {
			kept++
		}
	}
	out := binary.AppendUvarint([]byte{15<<4 | thrift.Struct}, uint64(kept))
	for i, e := range p.elements {
		if p.removed[i] {
			continue
		}
		if e.childTo == 0 {
			out = append(out, b[e.from:e.to]...)
			continue
		}
		out = append(out, b[e.from:e.childFrom]...)
		out = binary.AppendVarint(out, int64(e.children))
		out = append(out, b[e.childTo:e.to]...)
	}
	return out
}

// markEmptyGroups adds the columns without other fields to the fields of a file, and marks the others.
func markEmptyGroups(nodes []*Node, groups []emptyGroup) []*Node {
	for _, g := range groups {
		if g.whole {
			field := column.Field{Name: g.name, Type: column.Type{Kind: column.Struct}, Nullable: true}
			nodes = slices.Insert(nodes, g.at, &Node{Field: field})
		}
		nodes[g.at].empty = g.path
	}
	return nodes
}

// CheckReadable returns an error if the column contains a group without fields.
func (n *Node) CheckReadable() error {
	if n.empty == "" {
		return nil
	}
	return fmt.Errorf("%w: group %s has no fields; read the other columns", failure.ErrUnsupported, n.empty)
}
