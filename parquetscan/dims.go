// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
)

// The decision which lists are read as vectors, by the footers of all files of a scan: see Options.Lists.

// setVectors decides whether column i, or lists within it, are read as vectors.
func (s *Scan) setVectors(i int) error {
	c := &s.columns[i]
	c.text = i < s.outputs && c.node.hasText()
	named := slices.Contains(s.o.Vectors, c.name)
	if slices.Contains(s.o.Lists, c.name) {
		if named {
			return fmt.Errorf("parquetscan: column %s is in both Lists and Vectors", c.name)
		}
		return nil
	}
	list := c.node.canBeVector() && c.node.rep == 0
	if named && !list && !c.node.hasFixed() {
		return fmt.Errorf("parquetscan: Vectors: column %s is %v, not lists of numbers or UUIDs", c.name, c.node.field.Type)
	}
	c.must = named
	same, lists := true, false // by Arrow's schema in all files; in one of them
	for _, nodes := range s.nodes {
		same, lists = same && nodes[i].sameFixed(c.node), lists || nodes[i].list
	}
	dim, ok := c.node.dim, same && c.node.hasFixed()
	if list && !ok && !named && !lists {
		if k := c.node.children[0].leaf.typ.Kind; k == column.Float32 || k == column.Float64 {
			dim, ok = s.footerDim(i)
		}
	}
	if list {
		c.vector = ok || named
	} else {
		c.inner = ok || named
	}
	if c.vector && ok && int64(dim)*int64(c.node.children[0].leaf.width) <= int64(s.o.MaxBatchBytes) {
		s.states[i].dim.Store(int64(dim))
	}
	return nil
}

// footerDim returns the average length of lists in the row groups, 0 if no footer has it. It returns false if row
// groups differ, or if the average is not an integer.
func (s *Scan) footerDim(i int) (dim int, ok bool) {
	for at, f := range s.ds.files {
		n := s.nodes[at][i]
		for group := range f.groups {
			rows, elements, known := countElements(f.footer, group, n)
			if !known || rows == 0 && elements == 0 {
				continue
			}
			if rows <= 0 || elements <= 0 || elements%rows != 0 || elements/rows > math.MaxInt32 ||
				dim > 0 && int64(dim) != elements/rows {
				return 0, false
			}
			dim = int(elements / rows)
		}
	}
	return dim, true
}

// countElements returns the number of rows of a list that are not NULL, and of their elements that are not. It returns
// false if the footer lacks them. If a row group has empty lists, or NULLs among the elements, the quotient is not the
// length of its rows.
func countElements(f *footer, group int, list *node) (rows, elements int64, known bool) {
	leaf := list.children[0].leaf
	m, err := f.chunkMeta(group, leaf.index)
	if err != nil || !m.known {
		return 0, 0, false
	}
	rows = f.groups[group].rows
	if levels := f.definitionLevels(&m, leaf.maxDef+1); levels != nil {
		for _, n := range levels[:list.def] {
			rows -= n
		}
		return rows, levels[leaf.maxDef], true
	}
	if list.def == 0 && leaf.maxDef == 1 { // neither lists nor elements can be NULL
		return rows, m.values, true
	}
	s, ok := f.statistics(&m)
	if !ok || s.nulls < 0 || !countsNullLists(f.meta.GetCreatedBy()) {
		return 0, 0, false
	}
	return rows - s.nulls, m.values - s.nulls, true
}

// countsNullLists reports whether a writer counts NULL and empty lists as NULLs of the elements' column. The format
// does not require it, and some writers count only NULLs among the elements.
func countsNullLists(createdBy string) bool {
	for _, writer := range []string{"parquet-cpp-arrow ", "parquet-mr ", "parquet-rs ", "parquet-go "} {
		if strings.HasPrefix(createdBy, writer) {
			return true
		}
	}
	return false
}
