// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// The tree of a schema in a footer: a list of elements, each group followed by its fields.

// An element is a field of a schema, or its root.
type element struct {
	format.SchemaElement
	meaning format.LogicalType // of a column
	fields  []*element         // of a group
	// empty is the path, from this element on, of the first group without fields in it; "" means none. Some writers make
	// such groups of structs without fields. They have no column chunks, so that a file has neither their number of
	// elements nor which of them are NULL. fields lacks them, except for the root's.
	empty string
}

// maxTreeDepth bounds the nesting of groups: a list takes two, and so does a map.
const maxTreeDepth = 256

// A treeReader reads the elements of a schema.
type treeReader struct {
	*thrift.Reader
	left  int   // elements
	paths int   // bytes of the paths of all elements so far: the footer keeps the paths of columns
	err   error // of an element that is valid Thrift
}

// readTree reads the list of the elements of a schema, nil if it is not a tree. The number of elements, and the bytes
// of their paths, are bounded by the length of the footer.
func readTree(r *thrift.Reader) (root *element, err error) {
	t := treeReader{Reader: r, left: r.Structs()}
	if t.left == 0 {
		return nil, nil
	}
	root = t.element(0, -1)
	r.Bad = r.Bad || t.left != 0
	return root, t.err
}

// element reads an element and its fields. above is the length of the path of its group, -1 for the root.
func (t *treeReader) element(depth, above int) *element {
	e := &element{SchemaElement: format.ReadSchemaElement(t.Reader)}
	t.left--
	path := 0
	if depth > 0 {
		path = above + 1 + len(e.Name)
	}
	t.paths += path
	n := int(e.NumChildren)
	if n < 0 || n > t.left || depth == maxTreeDepth && n > 0 || t.paths > 16*len(t.B)+1<<20 {
		t.Bad = true
	}
	if t.Failed() {
		return e
	}
	for range n {
		if t.left == 0 {
			t.Bad = true
		}
		if t.Failed() {
			return e
		}
		e.add(t.element(depth+1, path), depth == 0)
	}
	if t.err == nil {
		t.err = e.check(depth == 0)
	}
	return e
}

// add adds a field to a group.
func (e *element) add(field *element, root bool) {
	if e.empty == "" && field.empty != "" && !root {
		e.empty = e.Name + "." + field.empty
	}
	if root || !field.gone() {
		e.fields = append(e.fields, field)
	}
}

// gone reports whether the element is a group without fields.
func (e *element) gone() bool { return e.empty != "" && len(e.fields) == 0 }

// check sets the meaning of a column, and returns an error for an element whose types contradict each other.
func (e *element) check(root bool) error {
	switch {
	case e.NumChildren == 0 && e.Type == format.NoType && !root:
		e.empty = e.Name
		return nil
	case len(e.fields) > 0 || root:
		return e.checkGroup()
	case e.gone():
		return nil
	}
	var ok bool
	if e.meaning, ok = e.Meaning(); !ok {
		return failure.Corrupt("footer: column %s of %v cannot have the logical type %v (converted type %v)", e.Name, e.Type,
			e.Logical.Kind, e.Converted)
	}
	return nil
}

// checkGroup returns an error for a group with the type of a column.
func (e *element) checkGroup() error {
	logical, converted := e.Logical.Kind, e.Converted
	switch logical {
	case format.LogicalMap, format.LogicalList, format.LogicalVariant:
		return nil
	case format.NoLogical:
		if converted >= format.NoConverted && converted <= format.ConvertedList && converted != format.ConvertedUTF8 {
			return nil
		}
	}
	return failure.Corrupt("footer: group %s cannot have the logical type %v (converted type %v)", e.Name, logical, converted)
}

// annotated reports whether a group has a logical type, or the converted type of old writers.
func (e *element) annotated(t format.LogicalKind, converted ...format.ConvertedType) bool {
	if e.Logical.Kind != format.NoLogical {
		return e.Logical.Kind == t
	}
	for _, c := range converted {
		if e.Converted == c {
			return true
		}
	}
	return false
}
