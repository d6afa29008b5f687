// SPDX-License-Identifier: Apache-2.0

package thrift

// The tree of a schema as a list of its elements (parquet.thrift, SchemaElement).

// MaxTreeDepth bounds the nesting of groups: a list takes two, and so does a map.
const MaxTreeDepth = 256

// tree walks over a schema of n elements, each group followed by its fields. The total length of all paths must not be
// much longer than the footer, because arrow-go keeps each path as a string.
func (r *Reader) tree(n uint64, depth int) {
	type group struct {
		fields uint64 // not yet read
		path   uint64 // bytes
	}
	var open [MaxTreeDepth]group
	level, paths := 0, uint64(0)
	for i := range n {
		fields, name := r.treeElement(depth + 1)
		if r.Failed() {
			return
		}
		path := uint64(0)
		if i > 0 {
			if level == 0 { // more fields than the root has
				r.Bad = true
				return
			}
			g := &open[level-1]
			g.fields--
			path = g.path + 1 + name
		}
		paths += path
		if fields < 0 || uint64(fields) > n-1-i || paths > 16*uint64(len(r.B))+1<<20 {
			r.Bad = true
			return
		}
		if fields > 0 {
			if level == MaxTreeDepth {
				r.Bad = true
				return
			}
			open[level] = group{uint64(fields), path}
			level++
		}
		for level > 0 && open[level-1].fields == 0 {
			level--
		}
	}
	if level > 0 {
		r.Bad = true
	}
}

// treeElement walks over a SchemaElement, and returns its number of fields and the length of its name.
func (r *Reader) treeElement(depth int) (fields int32, name uint64) {
	for id := int16(0); ; {
		next, typ, ok := r.Field(id)
		if !ok {
			return fields, name
		}
		id = next
		switch {
		case id == 4 && typ == Binary:
			name = r.Uvarint()
			r.Advance(name)
		case id == 5 && typ == I32:
			fields = r.I32()
		default:
			r.Skip(typ, depth+1)
		}
	}
}
