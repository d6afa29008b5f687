// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Pruning: skipping rows of a row group that cannot match, according to the file's footer, its bloom filters or its
// page index. These are hints: data that cannot be read, or contradicts itself, prunes nothing and is not reported.

// A LeafOf returns the type of a column of a file, and its index among the leaves of the file's schema. It returns
// false if the column has no leaf of its own.
type LeafOf func(path string) (leaf int, typ column.Type, ok bool)

// Prune returns the ranges of rows of a row group that may match; nil means none. It checks the footer, then bloom
// filters, then the page index; only the page index yields ranges smaller than the row group. Indexes of encrypted
// columns are not used. prune is safe for concurrent use, also with the same file.
func (p *Predicate) Prune(f *footer.File, rowGroup int, leaf LeafOf) []Range {
	r := p.newPruner(f, rowGroup, leaf)
	if r.Rows == 0 || !r.mayMatch(&p.root) {
		return nil
	}
	r.readBlooms()
	if !r.mayMatch(&p.root) {
		return nil
	}
	return r.ranges(&p.root)
}

// MayMatch reports whether rows of a row group may match, by the footer alone.
func (p *Predicate) MayMatch(f *footer.File, rowGroup int, leaf LeafOf) bool {
	return p.newPruner(f, rowGroup, leaf).mayMatch(&p.root)
}

// newPruner returns a pruner of a row group with the statistics of the footer.
func (p *Predicate) newPruner(f *footer.File, rowGroup int, leaf LeafOf) *Pruner {
	rows := f.Groups[rowGroup].Rows
	r := &Pruner{
		p: p, File: f, rowGroup: rowGroup, Rows: rows, columns: make([]prunedColumn, len(p.Paths)),
		absent: make([]bool, len(p.leaves)),
	}
	for i, path := range p.Paths {
		r.columns[i].leaf, r.columns[i].bounds = -1, bounds{Rows: rows, Nulls: -1}
		if n, typ, ok := leaf(path); ok && typ == p.types[i] && OrderOf(typ.Kind) != OrderNone {
			r.columns[i].bounds = ChunkBounds(f.Footer, rowGroup, n, typ)
			if f.Leaves[n].MaxRep == 0 {
				r.columns[i].leaf = n
			}
		}
	}
	return r
}

// A Pruner prunes one row group.
type Pruner struct {
	p        *Predicate
	File     *footer.File
	rowGroup int
	Rows     int64
	columns  []prunedColumn // of Predicate.Paths
	absent   []bool         // by leaf: the bloom filter contains none of its values
}

// A prunedColumn holds the statistics of a column in the row group.
type prunedColumn struct {
	leaf   int // -1 if there are no statistics
	bounds bounds
	// The first row and the bounds of each page; nil if unknown.
	read   bool
	starts []int64
	pages  []bounds
}

// mayMatch reports whether a row of the row group may pass a node, according to footer and bloom filters.
func (r *Pruner) mayMatch(node *term) bool {
	if l := node.leaf; l != nil {
		return !r.absent[l.number] && r.columns[l.column].bounds.mayMatch(l)
	}
	for i := range node.args {
		if r.mayMatch(&node.args[i]) != (node.op == And) {
			return node.op == Or
		}
	}
	return node.op == And
}

// ranges returns the rows that may pass a node.
func (r *Pruner) ranges(node *term) []Range {
	all := []Range{{0, r.Rows}}
	if !r.mayMatch(node) {
		return nil
	}
	switch node.op {
	case And:
		out := all
		for i := range node.args {
			if len(out) > 0 {
				out = IntersectRanges(out, r.ranges(&node.args[i]))
			}
		}
		return out
	case Or:
		var out []Range
		for i := range node.args {
			out = uniteRanges(out, r.ranges(&node.args[i]))
		}
		return out
	}
	l := node.leaf
	column := &r.columns[l.column]
	if !column.read {
		column.read = true
		r.readPages(column, l.typ)
	}
	if column.pages == nil {
		return all
	}
	var out []Range
	for i := range column.pages {
		if page := &column.pages[i]; page.mayMatch(l) {
			out = AddRange(out, Range{column.starts[i], column.starts[i] + page.Rows})
		}
	}
	return out
}

// readPages reads the page index of a column into col. It leaves col unchanged if there is no index, if the index does
// not describe the row group, or if it is encrypted.
func (r *Pruner) readPages(col *prunedColumn, typ column.Type) {
	if col.leaf < 0 {
		return
	}
	m, err := r.File.PlainChunk(r.rowGroup, col.leaf)
	if err != nil || m.Encrypted || !r.File.Has(m.ColumnIndex) || !r.File.Has(m.OffsetIndex) {
		return
	}
	values, places := r.File.Read(m.ColumnIndex), r.File.Read(m.OffsetIndex)
	if values == nil || places == nil {
		return
	}
	locations, ok := format.ReadOffsetIndex(places)
	starts, increase := pageStarts(locations, r.Rows)
	index, valid := format.ReadColumnIndex(values)
	if !ok || !increase || !valid {
		return
	}
	pages := r.PageBounds(&index, starts, col.leaf, typ)
	if pages == nil {
		return
	}
	for i := range pages {
		pages[i].noNaN = col.bounds.noNaN
	}
	col.starts, col.pages = starts, pages
}

// pageStarts returns the first row of each page, and false unless the rows begin with 0 and increase.
func pageStarts(locations []format.PageLocation, rows int64) ([]int64, bool) {
	starts := make([]int64, len(locations))
	for i, loc := range locations {
		starts[i] = loc.FirstRow
		if i == 0 && starts[i] != 0 || i > 0 && starts[i] <= starts[i-1] || starts[i] >= rows {
			return nil, false
		}
	}
	return starts, len(starts) > 0
}

// PageBounds returns the bounds of pages in a column index, nil if the index does not match the pages or the type.
func (r *Pruner) PageBounds(index *format.ColumnIndex, starts []int64, leaf int, typ column.Type) []bounds {
	col := r.File.Leaves[leaf]
	if len(index.NullPages) != len(starts) || !holdsValues(index, col) {
		return nil
	}
	ordered, _ := ordersOf(r.File.Footer, col, typ)
	pages := make([]bounds, len(starts))
	for i := range pages {
		end := r.Rows
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		page := &pages[i]
		*page = bounds{Rows: end - starts[i], Nulls: -1}
		if index.NullCounts != nil {
			if n := index.NullCounts[i]; n >= 0 && n <= page.Rows {
				page.Nulls = n
			}
		}
		switch {
		case index.NullPages[i] && (page.Nulls < 0 || page.Nulls == page.Rows):
			page.Nulls = page.Rows
		case index.NullPages[i] || page.Nulls == page.Rows: // the index contradicts itself
			page.Nulls = -1
		case ordered:
			page.setRange(index.Min[i], index.Max[i], typ, col)
		}
	}
	return pages
}

// holdsValues reports whether all minima and maxima of a column index have the bytes of a value, or more.
func holdsValues(index *format.ColumnIndex, col *footer.Leaf) bool {
	least := col.Stored
	if col.Physical == format.FixedLenByteArray {
		least = 0
	}
	for i, null := range index.NullPages {
		if !null && min(len(index.Min[i]), len(index.Max[i])) < least {
			return false
		}
	}
	return true
}

// readBlooms checks the bloom filters of all columns that leaves compare for equality.
func (r *Pruner) readBlooms() {
	for i, l := range r.p.leaves {
		column := &r.columns[l.column]
		if column.leaf < 0 || l.isNull || l.invert || l.part != nil || !column.bounds.mayMatch(l) {
			continue
		}
		r.absent[i] = r.bloomLacks(l, column.leaf)
	}
}
