// SPDX-License-Identifier: Apache-2.0

package footer

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

// A Footer is the parsed footer of a file. It is immutable and shared.
type Footer struct {
	Meta   *metadata.FileMetaData // without row groups
	Nodes  []*Node
	Groups []rowGroup
	Rows   int64
	Length int64  // of the footer in the file
	raw    []byte // the list of row groups, as in the file
	// decrypting is arrow-go's reader with the keys of an encrypted file; nil means that the file is not encrypted.
	Decrypting *file.Reader
}

// A rowGroup is a row group's place in its file.
type rowGroup struct {
	First, Rows int64
	Chunks      []uint32 // the places of its ColumnChunks in footer.raw, by leaf
}

// A ChunkMeta is the metadata of a column chunk (ColumnChunk). Offset 0 means that the file has no such part.
type ChunkMeta struct {
	ColumnMeta
	Path                     string // of the file that contains the chunk, "" for this one
	ColumnIndex, OffsetIndex Section
	Encrypted                bool // the pages are encrypted
}

// A ColumnMeta is the part of a ChunkMeta that may be encrypted (ColumnMetaData).
type ColumnMeta struct {
	Known                    bool // the footer has this part as plain text
	Codec                    compress.Compression
	Values                   int64 // NULLs included
	Uncompressed, Compressed int64 // bytes of all pages
	Data, Dictionary         int64 // offsets of the first pages
	Bloom                    Section
	Statistics, Sizes        int // places of a Statistics and a SizeStatistics in footer.raw, 0 if there are none
}

// A Section is a range of bytes of a file.
type Section struct{ Offset, Length int64 }

// Statistics are the Statistics of a column chunk, as they are encoded.
type Statistics struct {
	Min, Max           []byte // in the deprecated fields; nil means none
	MinValue, MaxValue []byte // nil means none
	Nulls, Nans        int64  // -1 if unknown
	MinExact, MaxExact byte   // of MinValue and MaxValue: thrift.True, thrift.False, or 0 if the file does not state it
}

// New parses a FileMetaData and checks it. The footer keeps b.
func New(b []byte) (_ *Footer, err error) {
	defer failure.Guard(&err)
	out := &Footer{Length: int64(len(b))}
	rest, err := out.Index(b)
	if err != nil {
		return nil, err
	}
	rest, empty := WithoutEmptyGroups(rest)
	HideUnknownTypes(rest)
	if out.Meta, err = metadata.NewFileMetaData(rest, nil); err != nil {
		return nil, failure.Corrupt("footer: %w", err)
	}
	if out.Nodes, err = NodesOf(out.Meta.Schema); err != nil {
		return nil, err
	}
	out.Nodes = markEmptyGroups(out.Nodes, empty)
	if arrow := out.Meta.KeyValueMetadata().FindValue(ArrowSchemaKey); arrow != nil {
		ApplyArrowSchema(out.Nodes, *arrow)
	}
	columns := out.Meta.Schema.NumColumns()
	for i := range out.Groups {
		g := &out.Groups[i]
		if g.Rows < 0 || out.Rows+g.Rows < out.Rows || len(g.Chunks) != columns {
			return nil, failure.Corrupt("row group %d has %d rows and %d of %d columns", i, g.Rows, len(g.Chunks), columns)
		}
		g.First = out.Rows
		out.Rows += g.Rows
	}
	if out.Rows != out.Meta.NumRows && out.Meta.NumRows != 0 { // some old writers leave it 0
		return nil, failure.Corrupt("footer with %d rows, but row groups with %d", out.Meta.NumRows, out.Rows)
	}
	return out, nil
}

// leastPage is less than the bytes of a page with its header, in which the number of values is an i32.
const leastPage = 16

// CheckRows returns an error for a row group whose column chunks cannot have its rows. size is that of the file. One
// column chunk that can have them is enough: the others are checked when they are read.
func (f *Footer) CheckRows(size int64) error {
	var leaves []*Leaf
	for _, n := range f.Nodes {
		leaves = n.Leaves(leaves)
	}
	for i := range f.Groups {
		if f.Groups[i].Rows == 0 {
			continue
		}
		if len(leaves) == 0 {
			return failure.Corrupt("row group %d has %d rows, but no column chunks", i, f.Groups[i].Rows)
		}
		var first error
		for _, l := range leaves {
			m, err := f.PlainChunk(i, l.Index)
			if err == nil {
				err = m.holds(l, f.Groups[i].Rows, size)
			}
			if err == nil {
				first = nil
				break
			}
			if first == nil {
				first = fmt.Errorf("row group %d: column %s: %w", i, l.Path, err)
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
func (m *ChunkMeta) holds(l *Leaf, rows, size int64) error {
	pages := (min(m.Compressed, size) + leastPage - 1) / leastPage
	switch {
	case m.Encrypted || m.Path != "":
		return nil
	case !m.Known:
		return failure.Corrupt("column chunk metadata is missing, or lacks a required field")
	case l.MaxRep == 0 && m.Values != rows, m.Values < rows:
		return failure.Corrupt("column chunk has %d values for %d rows", m.Values, rows)
	case (rows-1)/math.MaxInt32 >= pages:
		return failure.Corrupt("column chunk of %d bytes in a file of %d cannot have %d rows", m.Compressed, size, rows)
	}
	return nil
}

// Index finds the row groups and column chunks in a FileMetaData. It returns a copy of b with an empty list of row
// groups, which arrow-go can parse in memory proportional to its length: see Check.
func (f *Footer) Index(b []byte) (rest []byte, err error) {
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
		f.Groups = readGroups(&list)
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
		g.Rows = -1
		for id, typ := range r.Fields() {
			switch {
			case id == 1 && typ == thrift.List:
				g.Chunks = make([]uint32, r.Structs())
				for k := range g.Chunks {
					g.Chunks[k] = uint32(r.Pos) // a footer has less than 4 GiB
					r.Skip(thrift.Struct, 4)
				}
			case id == 3 && typ == thrift.I64:
				g.Rows = r.I64()
			default:
				r.Skip(typ, 3)
			}
		}
	}
	return groups
}

// PlainChunk parses the metadata of a column chunk.
func (f *Footer) PlainChunk(group, leaf int) (m ChunkMeta, err error) {
	r := thrift.Reader{B: f.raw, Pos: int(f.Groups[group].Chunks[leaf])}
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.Binary:
			m.Path = string(r.Binary())
		case id == 3 && typ == thrift.Struct:
			m.ColumnMeta = readColumnMeta(&r)
		case id == 4 && typ == thrift.I64:
			m.OffsetIndex.Offset = r.I64()
		case id == 5 && typ == thrift.I32:
			m.OffsetIndex.Length = int64(r.I32())
		case id == 6 && typ == thrift.I64:
			m.ColumnIndex.Offset = r.I64()
		case id == 7 && typ == thrift.I32:
			m.ColumnIndex.Length = int64(r.I32())
		default:
			m.Encrypted = m.Encrypted || id == 8 && typ == thrift.Struct
			r.Skip(typ, 5)
		}
	}
	if r.Failed() {
		return m, failure.Corrupt("invalid metadata of the column chunk")
	}
	return m, nil
}

// readColumnMeta reads a ColumnMetaData.
func readColumnMeta(r *thrift.Reader) (m ColumnMeta) {
	const required = 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9
	seen := 0
	for id, typ := range r.Fields() {
		switch {
		case id == 4 && typ == thrift.I32:
			m.Codec = compress.Compression(r.I32())
		case id == 5 && typ == thrift.I64:
			m.Values = r.I64()
		case id == 6 && typ == thrift.I64:
			m.Uncompressed = r.I64()
		case id == 7 && typ == thrift.I64:
			m.Compressed = r.I64()
		case id == 9 && typ == thrift.I64:
			m.Data = r.I64()
		case id == 11 && typ == thrift.I64:
			m.Dictionary = r.I64()
		case id == 12 && typ == thrift.Struct:
			m.Statistics = r.Pos
			r.Skip(typ, 6)
		case id == 14 && typ == thrift.I64:
			m.Bloom.Offset = r.I64()
		case id == 15 && typ == thrift.I32:
			m.Bloom.Length = int64(r.I32())
		case id == 16 && typ == thrift.Struct:
			m.Sizes = r.Pos
			r.Skip(typ, 6)
		default:
			r.Skip(typ, 6)
			continue
		}
		seen |= 1 << id
	}
	m.Known = seen&required == required
	return m
}

// Statistics parses the Statistics of a column chunk. It returns false if there are none.
func (f *Footer) Statistics(m *ChunkMeta) (s Statistics, ok bool) {
	if !m.Known || m.Statistics == 0 {
		return s, false
	}
	s.Nulls, s.Nans = -1, -1
	r := thrift.Reader{B: f.raw, Pos: m.Statistics}
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.Binary:
			s.Max = r.Binary()
		case id == 2 && typ == thrift.Binary:
			s.Min = r.Binary()
		case id == 3 && typ == thrift.I64:
			s.Nulls = r.I64()
		case id == 5 && typ == thrift.Binary:
			s.MaxValue = r.Binary()
		case id == 6 && typ == thrift.Binary:
			s.MinValue = r.Binary()
		case id == 7 && (typ == thrift.True || typ == thrift.False):
			s.MaxExact = typ
		case id == 8 && (typ == thrift.True || typ == thrift.False):
			s.MinExact = typ
		case id == 9 && typ == thrift.I64:
			s.Nans = r.I64()
		default:
			r.Skip(typ, 7)
		}
	}
	return s, !r.Failed()
}

// DefinitionLevels returns how many values of a column chunk have each definition level, from its SizeStatistics, nil
// if the footer lacks them or has not n numbers.
func (f *Footer) DefinitionLevels(m *ChunkMeta, n int) (levels []int64) {
	if !m.Known || m.Sizes == 0 {
		return nil
	}
	r := thrift.Reader{B: f.raw, Pos: m.Sizes}
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

// parquetCPP2 is a version that no program had. The versions of parquet-cpp before Arrow 3.0 are less than it, and the
// later ones have another name.
var parquetCPP2 = metadata.NewAppVersionExplicit("parquet-cpp", 2, 0, 0)

// CompressesAll reports whether the writer of a file compresses the values of all pages V2: those of Arrow before 3.0
// are marked as uncompressed (ARROW-17100).
func (f *Footer) CompressesAll() bool { return f.Meta.WriterVersion().LessThan(parquetCPP2) }
