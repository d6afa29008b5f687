// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Pruning: skipping rows of a row group that cannot match, according to the file's footer, its bloom filters or its
// page index. These are hints: data that cannot be read, or contradicts itself, prunes nothing and is not reported.

// A leafOf returns the type of a column of a file, and its index among the leaves of the file's schema. It returns
// false if the column has no leaf of its own.
type leafOf func(path string) (leaf int, typ column.Type, ok bool)

// prune returns the ranges of rows of a row group that may match; nil means none. It checks the footer, then bloom
// filters, then the page index; only the page index yields ranges smaller than the row group. Indexes of encrypted
// columns are not used. prune is safe for concurrent use, also with the same file.
func (p *predicate) prune(f *footer.File, rowGroup int, leaf leafOf) []rowRange {
	r := p.newPruner(f, rowGroup, leaf)
	if r.rows == 0 || !r.mayMatch(&p.root) {
		return nil
	}
	r.readBlooms()
	if !r.mayMatch(&p.root) {
		return nil
	}
	return r.ranges(&p.root)
}

// newPruner returns a pruner of a row group with the statistics of the footer.
func (p *predicate) newPruner(f *footer.File, rowGroup int, leaf leafOf) *pruner {
	rows := f.Groups[rowGroup].Rows
	r := &pruner{
		p: p, file: f, rowGroup: rowGroup, rows: rows, columns: make([]prunedColumn, len(p.paths)),
		absent: make([]bool, len(p.leaves)),
	}
	for i, path := range p.paths {
		r.columns[i].leaf, r.columns[i].bounds = -1, bounds{rows: rows, nulls: -1}
		if n, typ, ok := leaf(path); ok && typ == p.types[i] && orderOf(typ.Kind) != orderNone {
			r.columns[i].bounds = chunkBounds(f.Footer, rowGroup, n, typ)
			if f.Meta.Schema.Column(n).MaxRepetitionLevel() == 0 {
				r.columns[i].leaf = n
			}
		}
	}
	return r
}

// A pruner prunes one row group.
type pruner struct {
	p        *predicate
	file     *footer.File
	rowGroup int
	rows     int64
	columns  []prunedColumn // of predicate.paths
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
func (r *pruner) mayMatch(node *predicateNode) bool {
	if l := node.leaf; l != nil {
		return !r.absent[l.number] && r.columns[l.column].bounds.mayMatch(l)
	}
	for i := range node.args {
		if r.mayMatch(&node.args[i]) != (node.op == opAnd) {
			return node.op == opOr
		}
	}
	return node.op == opAnd
}

// ranges returns the rows that may pass a node.
func (r *pruner) ranges(node *predicateNode) []rowRange {
	all := []rowRange{{0, r.rows}}
	if !r.mayMatch(node) {
		return nil
	}
	switch node.op {
	case opAnd:
		out := all
		for i := range node.args {
			if len(out) > 0 {
				out = intersectRanges(out, r.ranges(&node.args[i]))
			}
		}
		return out
	case opOr:
		var out []rowRange
		for i := range node.args {
			out = uniteRanges(out, r.ranges(&node.args[i]))
		}
		return out
	}
	l := node.leaf
	column := &r.columns[l.column]
	if !column.read {
		column.read = true
		if !failure.Guarded(func() { r.readPages(column, l.typ) }) {
			column.starts, column.pages = nil, nil
		}
	}
	if column.pages == nil {
		return all
	}
	var out []rowRange
	for i := range column.pages {
		if page := &column.pages[i]; page.mayMatch(l) {
			out = addRange(out, rowRange{column.starts[i], column.starts[i] + page.rows})
		}
	}
	return out
}

// readPages reads the page index of a column into col. It leaves col unchanged if there is no index, if the index does
// not describe the row group, or if it is encrypted. It panics if the index is invalid.
func (r *pruner) readPages(col *prunedColumn, typ column.Type) {
	if col.leaf < 0 {
		return
	}
	m, err := r.file.PlainChunk(r.rowGroup, col.leaf)
	if err != nil || m.Encrypted || !r.file.Has(m.ColumnIndex) || !r.file.Has(m.OffsetIndex) {
		return
	}
	values, places := r.file.Read(m.ColumnIndex), r.file.Read(m.OffsetIndex)
	if values == nil || places == nil {
		return
	}
	starts, ok := pageStarts(metadata.NewOffsetIndex(places, nil, nil), r.rows)
	if !ok {
		return
	}
	index := metadata.NewColumnIndex(r.file.Meta.Schema.Column(col.leaf), values, nil, nil)
	pages := r.pageBounds(index, starts, col.leaf, typ)
	if pages == nil {
		return
	}
	for i := range pages {
		pages[i].noNaN = col.bounds.noNaN
	}
	col.starts, col.pages = starts, pages
}

// pageStarts returns the first row of each page, and false unless the rows begin with 0 and increase.
func pageStarts(index metadata.OffsetIndex, rows int64) ([]int64, bool) {
	locations := index.GetPageLocations()
	starts := make([]int64, len(locations))
	for i, loc := range locations {
		starts[i] = loc.FirstRowIndex
		if i == 0 && starts[i] != 0 || i > 0 && starts[i] <= starts[i-1] || starts[i] >= rows {
			return nil, false
		}
	}
	return starts, len(starts) > 0
}

// pageBounds returns the bounds of pages in a column index, nil if the index does not match the pages.
func (r *pruner) pageBounds(index metadata.ColumnIndex, starts []int64, leaf int, typ column.Type) []bounds {
	nullPages, lows, highs := index.GetNullPages(), index.GetMinValues(), index.GetMaxValues()
	if len(nullPages) != len(starts) || len(lows) != len(starts) || len(highs) != len(starts) {
		return nil
	}
	var nullCounts []int64
	if index.IsSetNullCounts() {
		if nullCounts = index.GetNullCounts(); len(nullCounts) != len(starts) {
			return nil
		}
	}
	ordered, _ := ordersOf(r.file.Meta, leaf, typ)
	col := r.file.Meta.Schema.Column(leaf)
	pages := make([]bounds, len(starts))
	for i := range pages {
		end := r.rows
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		page := &pages[i]
		*page = bounds{rows: end - starts[i], nulls: -1}
		if nullCounts != nil {
			if n := nullCounts[i]; n >= 0 && n <= page.rows {
				page.nulls = n
			}
		}
		switch {
		case nullPages[i] && (page.nulls < 0 || page.nulls == page.rows):
			page.nulls = page.rows
		case nullPages[i] || page.nulls == page.rows: // the index contradicts itself
			page.nulls = -1
		case ordered:
			page.setRange(lows[i], highs[i], typ, col)
		}
	}
	return pages
}

// readBlooms checks the bloom filters of all columns that leaves compare for equality.
func (r *pruner) readBlooms() {
	for i, l := range r.p.leaves {
		column := &r.columns[l.column]
		if column.leaf < 0 || l.isNull || l.invert || l.part != nil || !column.bounds.mayMatch(l) {
			continue
		}
		r.absent[i] = r.bloomLacks(l, column.leaf)
	}
}
