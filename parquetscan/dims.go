// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The decision which lists are read as vectors, by the footers of all files of a scan: see Options.Lists.

// setVectors decides whether column i, or lists within it, are read as vectors.
func (s *Scan) setVectors(i int) error {
	c := &s.columns[i]
	c.Parsed = i < s.outputs && c.node.HasText()
	named := slices.Contains(s.o.Vectors, c.Name)
	if slices.Contains(s.o.Lists, c.Name) {
		if named {
			return fmt.Errorf("parquetscan: column %s is in both Lists and Vectors", c.Name)
		}
		return nil
	}
	list := c.node.CanBeVector() && c.node.Rep == 0
	if named && !list && !c.node.HasFixed() {
		return fmt.Errorf("parquetscan: Vectors: column %s is %v, not lists of numbers or UUIDs", c.Name, c.node.Field.Type)
	}
	c.Must = named
	same, lists := true, false // by Arrow's schema in all files; in one of them
	for _, nodes := range s.nodes {
		same, lists = same && nodes[i].SameFixed(c.node), lists || nodes[i].List
	}
	dim, ok := c.node.Dim, same && c.node.HasFixed()
	if list && !ok && !named && !lists {
		if k := c.node.Children[0].Leaf.Type.Kind; k == column.Float32 || k == column.Float64 {
			dim, ok = s.footerDim(i)
		}
	}
	if list {
		c.Vector = ok || named
	} else {
		c.Inner = ok || named
	}
	if c.Vector && ok && int64(dim)*int64(c.node.Children[0].Leaf.Width) <= int64(s.o.MaxBatchBytes) {
		c.Shared.Dim.Store(int64(dim))
	}
	return nil
}

// footerDim returns the average length of lists in the row groups, 0 if no footer has it. It returns false if row
// groups differ, or if the average is not an integer.
func (s *Scan) footerDim(i int) (dim int, ok bool) {
	for at, f := range s.ds.files {
		n := s.nodes[at][i]
		for group := range f.Groups {
			rows, elements, known := countElements(f.Footer, group, n)
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
func countElements(f *footer.Footer, group int, list *footer.Node) (rows, elements int64, known bool) {
	leaf := list.Children[0].Leaf
	m, err := f.PlainChunk(group, leaf.Index)
	if err != nil || !m.Known {
		return 0, 0, false
	}
	rows = f.Groups[group].Rows
	if levels := f.DefinitionLevels(&m, leaf.MaxDef+1); levels != nil {
		for _, n := range levels[:list.Def] {
			rows -= n
		}
		return rows, levels[leaf.MaxDef], true
	}
	if list.Def == 0 && leaf.MaxDef == 1 { // neither lists nor elements can be NULL
		return rows, m.Values, true
	}
	s, ok := f.Statistics(&m)
	if !ok || s.Nulls < 0 || !countsNullLists(f.CreatedBy) {
		return 0, 0, false
	}
	return rows - s.Nulls, m.Values - s.Nulls, true
}

// countsNullLists reports whether a writer counts NULL and empty lists as NULLs of the elements' column. The format
// does not require it, and some writers count only NULLs among the elements.
func countsNullLists(createdBy string) bool {
	for _, writer := range []string{"parquet-cpp-arrow ", "parquet-mr ", "parquet-rs ", "parquet-go ", "vecql "} {
		if strings.HasPrefix(createdBy, writer) {
			return true
		}
	}
	return false
}
