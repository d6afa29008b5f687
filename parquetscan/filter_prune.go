// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/vecql/vecql/column"
)

// Pruning: skipping rows of a row group that cannot match, according to the file's footer, its bloom filters or its
// page index. These are hints: data that cannot be read, or contradicts itself, prunes nothing and is not reported.

// A leafOf returns the type of a column of a file, and its index among the leaves of the file's schema. It returns
// false if the column has no leaf of its own.
type leafOf func(path string) (leaf int, typ column.Type, ok bool)

// prune returns the ranges of rows of a row group that may match; nil means none. It checks the footer, then bloom
// filters, then the page index, which it reads through f; only the page index yields ranges smaller than the row group.
// Indexes are not used if f's metadata lacks the size of the file, which file.NewParquetReader sets, nor for encrypted
// columns. The only errors are a row group that does not exist and a negative number of rows. prune is safe for
// concurrent use, also with the same f.
func (p *predicate) prune(f *file.Reader, rowGroup int, leaf leafOf) ([]rowRange, error) {
	md := f.MetaData()
	if rowGroup < 0 || rowGroup >= len(md.RowGroups) {
		return nil, fmt.Errorf("parquetscan: row group %d of %d", rowGroup, len(md.RowGroups))
	}
	rows := md.RowGroups[rowGroup].NumRows
	if rows < 0 {
		return nil, corrupt("row group %d has %d rows", rowGroup, rows)
	}
	r := p.newPruner(md, rowGroup, leaf)
	r.file = f
	if rows == 0 || !r.mayMatch(&p.root) {
		return nil, nil
	}
	r.readBlooms()
	if !r.mayMatch(&p.root) {
		return nil, nil
	}
	return r.ranges(&p.root), nil
}

// newPruner returns a pruner of a row group with the statistics of the footer.
func (p *predicate) newPruner(md *metadata.FileMetaData, rowGroup int, leaf leafOf) *pruner {
	rows := md.RowGroups[rowGroup].NumRows
	r := &pruner{
		p: p, md: md, rowGroup: rowGroup, rows: rows, columns: make([]prunedColumn, len(p.paths)),
		absent: make([]bool, len(p.leaves)),
	}
	for i, path := range p.paths {
		r.columns[i].leaf, r.columns[i].bounds = -1, bounds{rows: rows, nulls: -1}
		if n, typ, ok := leaf(path); ok && typ == p.types[i] && orderOf(typ.Kind) != orderNone {
			guarded(func() {
				r.columns[i].bounds = chunkBounds(md, rowGroup, n, typ)
				if md.Schema.Column(n).MaxRepetitionLevel() == 0 {
					r.columns[i].leaf = n
				}
			})
		}
	}
	return r
}

// A pruner prunes one row group.
type pruner struct {
	p        *predicate
	file     *file.Reader
	md       *metadata.FileMetaData
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
		if !guarded(func() { r.readPages(column, l.typ) }) {
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

// inFile reports whether n bytes at offset lie in the file.
func (r *pruner) inFile(offset, n int64) bool {
	return offset > 0 && n > 0 && n <= r.md.GetSourceFileSize()-offset
}

// encrypted reports whether the indexes of a column are encrypted. They are not used, because arrow-go's decryptors are
// not safe for concurrent use.
func (r *pruner) encrypted(leaf int) bool {
	return r.md.RowGroups[r.rowGroup].Columns[leaf].CryptoMetadata != nil
}

// readPages reads the page index of a column into col. It leaves col unchanged if there is no index, if the index does
// not describe the row group, or if it is encrypted.
func (r *pruner) readPages(col *prunedColumn, typ column.Type) {
	if col.leaf < 0 || r.encrypted(col.leaf) {
		return
	}
	rg := r.md.RowGroup(r.rowGroup)
	locations := [2]metadata.IndexLocation{}
	var ok [2]bool
	locations[0], ok[0] = rg.ColumnIndexLocation(col.leaf)
	locations[1], ok[1] = rg.OffsetIndexLocation(col.leaf)
	for i, loc := range locations {
		if !ok[i] || !r.inFile(loc.Offset, int64(loc.Length)) {
			return
		}
	}
	// This needs a page index reader of its own: the file's reader is not safe for concurrent use.
	shared := r.file.GetPageIndexReader()
	reader := &metadata.PageIndexReader{Input: shared.Input, FileMetadata: shared.FileMetadata, Props: shared.Props}
	both := metadata.PageIndexSelection{ColumnIndex: true, OffsetIndex: true}
	if err := reader.WillNeed([]int32{int32(r.rowGroup)}, []int32{int32(col.leaf)}, both); err != nil {
		return
	}
	index, err := reader.RowGroup(r.rowGroup)
	if err != nil || index == nil {
		return
	}
	values, err := index.GetColumnIndex(col.leaf)
	if err != nil || values == nil {
		return
	}
	places, err := index.GetOffsetIndex(col.leaf)
	if err != nil || places == nil {
		return
	}
	starts, ok2 := pageStarts(places, r.rows)
	if !ok2 {
		return
	}
	pages := r.pageBounds(values, starts, col.leaf, typ)
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
	ordered, _ := ordersOf(r.md, leaf, typ)
	col := r.md.Schema.Column(leaf)
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
		if column.leaf < 0 || l.isNull || l.invert || !column.bounds.mayMatch(l) {
			continue
		}
		guarded(func() { r.absent[i] = r.bloomLacks(l, column.leaf) })
	}
}

// bloomLacks reports whether the bloom filter of a column contains none of a leaf's points.
func (r *pruner) bloomLacks(l *predicateLeaf, leaf int) bool {
	chunk := r.md.RowGroups[r.rowGroup].Columns[leaf]
	if r.encrypted(leaf) || chunk.MetaData == nil || chunk.MetaData.BloomFilterOffset == nil {
		return false
	}
	column := r.md.Schema.Column(leaf)
	points, ok := bloomPoints(l, column.PhysicalType(), column.TypeLength())
	if !ok {
		return false
	}
	shared := r.file.GetPageIndexReader() // the source of GetBloomFilterReader, which is not safe for concurrent use
	// arrow-go allocates as many bytes as the header claims. The header is {1: i32 NumBytes, ...} in Thrift's compact
	// protocol.
	offset := *chunk.MetaData.BloomFilterOffset
	if n := chunk.MetaData.BloomFilterLength; n != nil && *n != 0 && !r.inFile(offset, int64(*n)) {
		return false
	}
	var head [1 + binary.MaxVarintLen32]byte
	if !r.inFile(offset, int64(len(head))) {
		return false
	}
	if _, err := shared.Input.ReadAt(head[:], offset); err != nil || head[0] != 1<<4|5 {
		return false
	}
	size, used := binary.Varint(head[1:])
	if used <= 0 || size <= 0 || size > math.MaxInt32 || !r.inFile(offset, size) {
		return false
	}
	reader := &metadata.BloomFilterReader{
		Input: shared.Input, FileMetadata: shared.FileMetadata, Props: shared.Props, BufferPool: r.file.BufferPool(),
	}
	filters, err := reader.RowGroup(r.rowGroup)
	if err != nil {
		return false
	}
	lacks := false
	err = filters.VisitColumnBloomFilter(leaf, func(bloom metadata.BloomFilter) error {
		for _, point := range points {
			if bloom.CheckHash(bloom.Hasher().Sum64(point)) {
				return nil
			}
		}
		lacks = true
		return nil
	})
	return err == nil && lacks
}

// bloomPoints returns all stored forms of the points of a leaf, as bloom filters hash them. It returns false if a span
// is not a point, or if a value has more than a few stored forms.
func bloomPoints(l *predicateLeaf, physical parquet.Type, width int) (points [][]byte, ok bool) {
	for _, s := range l.spans.texts {
		if s.lo != s.hi || physical != parquet.Types.ByteArray && physical != parquet.Types.FixedLenByteArray {
			return nil, false
		}
		points = append(points, []byte(s.lo))
	}
	for _, s := range l.spans.ints {
		if s.lo != s.hi || l.typ.Kind == column.Bool {
			return nil, false
		}
		switch physical {
		case parquet.Types.Int32:
			points = append(points, binary.LittleEndian.AppendUint32(nil, uint32(s.lo[0])))
		case parquet.Types.Int64:
			points = append(points, binary.LittleEndian.AppendUint64(nil, s.lo[0]))
		case parquet.Types.FixedLenByteArray:
			if b, fits := s.lo.bytes(width); fits {
				points = append(points, b)
			}
		default: // decimals of variable length may have leading zeros, INT96 may be out of range
			return nil, false
		}
	}
	for _, s := range l.spans.floats {
		if s.lo != s.hi { // NaN has many forms, too
			return nil, false
		}
		forms := []float64{s.lo}
		if s.lo == 0 {
			forms = []float64{0, math.Copysign(0, -1)}
		}
		for _, f := range forms {
			switch physical {
			case parquet.Types.Float:
				points = append(points, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))))
			case parquet.Types.Double:
				points = append(points, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
			case parquet.Types.FixedLenByteArray:
				bits, _ := float16Bits(f)
				points = append(points, binary.LittleEndian.AppendUint16(nil, bits))
			default:
				return nil, false
			}
		}
	}
	return points, true
}
