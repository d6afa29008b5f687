// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// The row groups in a footer, and their column chunks (parquet.thrift: RowGroup, ColumnChunk, ColumnMetaData,
// Statistics, SizeStatistics). Opening a file finds the places of column chunks, and a scan parses those that it needs:
// a table of many columns has thousands. arrow-go parses the rest of the footer.

// A footer is the parsed footer of a file. It is immutable and shared.
type footer struct {
	meta   *metadata.FileMetaData // without row groups
	nodes  []*node
	groups []rowGroup
	rows   int64
	size   int64  // of the footer in the file
	raw    []byte // the list of row groups, as in the file
	// decrypting is arrow-go's reader with the keys of an encrypted file; nil means that the file is not encrypted.
	decrypting *file.Reader
}

// A rowGroup is a row group's place in its file.
type rowGroup struct {
	first, rows int64
	chunks      []uint32 // the places of its ColumnChunks in footer.raw, by leaf
}

// A chunkMeta is the metadata of a column chunk (ColumnChunk). Offset 0 means that the file has no such part.
type chunkMeta struct {
	columnMeta
	path                     string // of the file that contains the chunk, "" for this one
	columnIndex, offsetIndex section
	encrypted                bool // the pages are encrypted
}

// A columnMeta is the part of a chunkMeta that may be encrypted (ColumnMetaData).
type columnMeta struct {
	known                    bool // the footer has this part as plain text
	codec                    compress.Compression
	values                   int64 // NULLs included
	uncompressed, compressed int64 // bytes of all pages
	data, dictionary         int64 // offsets of the first pages
	bloom                    section
	statistics, sizes        int // places of a Statistics and a SizeStatistics in footer.raw, 0 if there are none
}

// A section is a range of bytes of a file.
type section struct{ offset, length int64 }

// statistics are the Statistics of a column chunk, as they are encoded.
type statistics struct {
	min, max           []byte // in the deprecated fields; nil means none
	minValue, maxValue []byte // nil means none
	nulls, nans        int64  // -1 if unknown
	minExact, maxExact byte   // of minValue and maxValue: thriftTrue, thriftFalse, or 0 if the file does not state it
}

// newFooter parses a FileMetaData and checks it. The footer keeps b.
func newFooter(b []byte) (_ *footer, err error) {
	defer failure.Guard(&err)
	out := &footer{size: int64(len(b))}
	rest, err := out.index(b)
	if err != nil {
		return nil, err
	}
	rest, empty := withoutEmptyGroups(rest)
	hideUnknownTypes(rest)
	if out.meta, err = metadata.NewFileMetaData(rest, nil); err != nil {
		return nil, failure.Corrupt("footer: %w", err)
	}
	if out.nodes, err = nodesOf(out.meta.Schema); err != nil {
		return nil, err
	}
	out.nodes = markEmptyGroups(out.nodes, empty)
	if arrow := out.meta.KeyValueMetadata().FindValue(arrowSchemaKey); arrow != nil {
		applyArrowSchema(out.nodes, *arrow)
	}
	columns := out.meta.Schema.NumColumns()
	for i := range out.groups {
		g := &out.groups[i]
		if g.rows < 0 || out.rows+g.rows < out.rows || len(g.chunks) != columns {
			return nil, failure.Corrupt("row group %d has %d rows and %d of %d columns", i, g.rows, len(g.chunks), columns)
		}
		g.first = out.rows
		out.rows += g.rows
	}
	if out.rows != out.meta.NumRows && out.meta.NumRows != 0 { // some old writers leave it 0
		return nil, failure.Corrupt("footer with %d rows, but row groups with %d", out.meta.NumRows, out.rows)
	}
	return out, nil
}

// leastPage is less than the bytes of a page with its header, in which the number of values is an i32.
const leastPage = 16

// checkRows returns an error for a row group whose column chunks cannot have its rows. size is that of the file. One
// column chunk that can have them is enough: the others are checked when they are read.
func (f *footer) checkRows(size int64) error {
	var leaves []*leaf
	for _, n := range f.nodes {
		leaves = n.leaves(leaves)
	}
	for i := range f.groups {
		if f.groups[i].rows == 0 {
			continue
		}
		if len(leaves) == 0 {
			return failure.Corrupt("row group %d has %d rows, but no column chunks", i, f.groups[i].rows)
		}
		var first error
		for _, l := range leaves {
			m, err := f.chunkMeta(i, l.index)
			if err == nil {
				err = m.holds(l, f.groups[i].rows, size)
			}
			if err == nil {
				first = nil
				break
			}
			if first == nil {
				first = fmt.Errorf("row group %d: column %s: %w", i, l.path, err)
			}
		}
		if first != nil {
			return first
		}
	}
	return nil
}

// holds returns an error if a column chunk cannot have the rows of its row group. Nothing is known of chunks that are
// encrypted or in another file.
func (m *chunkMeta) holds(l *leaf, rows, size int64) error {
	pages := (min(m.compressed, size) + leastPage - 1) / leastPage
	switch {
	case m.encrypted || m.path != "":
		return nil
	case !m.known:
		return failure.Corrupt("column chunk metadata is missing, or lacks a required field")
	case l.maxRep == 0 && m.values != rows, m.values < rows:
		return failure.Corrupt("column chunk has %d values for %d rows", m.values, rows)
	case (rows-1)/math.MaxInt32 >= pages:
		return failure.Corrupt("column chunk of %d bytes in a file of %d cannot have %d rows", m.compressed, size, rows)
	}
	return nil
}

// index finds the row groups and column chunks in a FileMetaData. It returns a copy of b with an empty list of row
// groups, which arrow-go can parse in memory proportional to its length: see checkFooter.
func (f *footer) index(b []byte) (rest []byte, err error) {
	r := thrift.Reader{B: b}
	from := 0
	for id, typ := range r.Fields() {
		if id != 4 || typ != thrift.List {
			r.SkipAs(typ, 1, fileMetaData.Field(id, typ))
			continue
		}
		const emptyList = thrift.Struct // the number of structs is in the upper bits
		rest = append(append(rest, b[from:r.Pos]...), emptyList)
		list := thrift.Reader{B: b[r.Pos:]}
		f.groups = readGroups(&list)
		f.raw = list.B[:list.Pos]
		r.Pos, r.Bad, r.Short = r.Pos+list.Pos, list.Bad, list.Short
		from = r.Pos
	}
	if r.Failed() {
		return nil, failure.Corrupt("footer is not a valid FileMetaData (at byte %d of %d)", r.Pos, len(b))
	}
	return append(rest, b[from:r.Pos]...), nil
}

// readGroups reads a list of RowGroups. -1 rows mean that a RowGroup lacks its number of rows.
func readGroups(r *thrift.Reader) []rowGroup {
	groups := make([]rowGroup, r.Structs())
	for i := range groups {
		g := &groups[i]
		g.rows = -1
		for id, typ := range r.Fields() {
			switch {
			case id == 1 && typ == thrift.List:
				g.chunks = make([]uint32, r.Structs())
				for k := range g.chunks {
					g.chunks[k] = uint32(r.Pos) // a footer has less than 4 GiB
					r.Skip(thrift.Struct, 4)
				}
			case id == 3 && typ == thrift.I64:
				g.rows = r.I64()
			default:
				r.Skip(typ, 3)
			}
		}
	}
	return groups
}

// chunkMeta parses the metadata of a column chunk.
func (f *footer) chunkMeta(group, leaf int) (m chunkMeta, err error) {
	r := thrift.Reader{B: f.raw, Pos: int(f.groups[group].chunks[leaf])}
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.Binary:
			m.path = string(r.Binary())
		case id == 3 && typ == thrift.Struct:
			m.columnMeta = readColumnMeta(&r)
		case id == 4 && typ == thrift.I64:
			m.offsetIndex.offset = r.I64()
		case id == 5 && typ == thrift.I32:
			m.offsetIndex.length = int64(r.I32())
		case id == 6 && typ == thrift.I64:
			m.columnIndex.offset = r.I64()
		case id == 7 && typ == thrift.I32:
			m.columnIndex.length = int64(r.I32())
		default:
			m.encrypted = m.encrypted || id == 8 && typ == thrift.Struct
			r.Skip(typ, 5)
		}
	}
	if r.Failed() {
		return m, failure.Corrupt("invalid metadata of the column chunk")
	}
	return m, nil
}

// readColumnMeta reads a ColumnMetaData.
func readColumnMeta(r *thrift.Reader) (m columnMeta) {
	const required = 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9
	seen := 0
	for id, typ := range r.Fields() {
		switch {
		case id == 4 && typ == thrift.I32:
			m.codec = compress.Compression(r.I32())
		case id == 5 && typ == thrift.I64:
			m.values = r.I64()
		case id == 6 && typ == thrift.I64:
			m.uncompressed = r.I64()
		case id == 7 && typ == thrift.I64:
			m.compressed = r.I64()
		case id == 9 && typ == thrift.I64:
			m.data = r.I64()
		case id == 11 && typ == thrift.I64:
			m.dictionary = r.I64()
		case id == 12 && typ == thrift.Struct:
			m.statistics = r.Pos
			r.Skip(typ, 6)
		case id == 14 && typ == thrift.I64:
			m.bloom.offset = r.I64()
		case id == 15 && typ == thrift.I32:
			m.bloom.length = int64(r.I32())
		case id == 16 && typ == thrift.Struct:
			m.sizes = r.Pos
			r.Skip(typ, 6)
		default:
			r.Skip(typ, 6)
			continue
		}
		seen |= 1 << id
	}
	m.known = seen&required == required
	return m
}

// statistics parses the Statistics of a column chunk. It returns false if there are none.
func (f *footer) statistics(m *chunkMeta) (s statistics, ok bool) {
	if !m.known || m.statistics == 0 {
		return s, false
	}
	s.nulls, s.nans = -1, -1
	r := thrift.Reader{B: f.raw, Pos: m.statistics}
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.Binary:
			s.max = r.Binary()
		case id == 2 && typ == thrift.Binary:
			s.min = r.Binary()
		case id == 3 && typ == thrift.I64:
			s.nulls = r.I64()
		case id == 5 && typ == thrift.Binary:
			s.maxValue = r.Binary()
		case id == 6 && typ == thrift.Binary:
			s.minValue = r.Binary()
		case id == 7 && (typ == thrift.True || typ == thrift.False):
			s.maxExact = typ
		case id == 8 && (typ == thrift.True || typ == thrift.False):
			s.minExact = typ
		case id == 9 && typ == thrift.I64:
			s.nans = r.I64()
		default:
			r.Skip(typ, 7)
		}
	}
	return s, !r.Failed()
}

// definitionLevels returns how many values of a column chunk have each definition level, from its SizeStatistics, nil
// if the footer lacks them or has not n numbers.
func (f *footer) definitionLevels(m *chunkMeta, n int) (levels []int64) {
	if !m.known || m.sizes == 0 {
		return nil
	}
	r := thrift.Reader{B: f.raw, Pos: m.sizes}
	for id, typ := range r.Fields() {
		if id != 3 || typ != thrift.List {
			r.Skip(typ, 7)
			continue
		}
		element, count := r.List()
		if element != thrift.I64 || count != uint64(n) || !r.Fits(count) {
			return nil
		}
		levels = make([]int64, n)
		for i := range levels {
			levels[i] = r.I64()
		}
	}
	if r.Failed() {
		return nil
	}
	return levels
}

// chunkMetadata returns the metadata of a column chunk, decrypted if need be.
func chunkMetadata(f *dataFile, group, leaf int) (m chunkMeta, err error) {
	m, err = f.chunkMeta(group, leaf)
	switch {
	case err != nil:
		return m, err
	case m.encrypted && f.decrypting == nil: // the footer is not encrypted
		return m, failure.ErrEncrypted
	case m.encrypted:
		return f.decryptChunk(group, leaf)
	case !m.known:
		return m, failure.Corrupt("column chunk metadata is missing, or lacks a required field")
	}
	return m, nil
}

// decryptChunk returns the metadata of an encrypted column chunk.
func (f *dataFile) decryptChunk(group, leaf int) (m chunkMeta, err error) {
	defer failure.Guard(&err)
	f.keys.Lock()
	defer f.keys.Unlock()
	c, err := f.decrypting.MetaData().RowGroup(group).ColumnChunk(leaf)
	if err != nil {
		return m, failure.Corrupt("%w", err)
	}
	m.path, m.encrypted = c.FilePath(), true
	m.columnMeta = columnMeta{
		known: true, codec: c.Compression(), values: c.NumValues(), uncompressed: c.TotalUncompressedSize(),
		compressed: c.TotalCompressedSize(), data: c.DataPageOffset(), dictionary: c.DictionaryPageOffset(),
	}
	return m, nil
}
