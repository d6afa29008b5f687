// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"fmt"
	"math"

	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// A footer (parquet.thrift: FileMetaData, KeyValue, RowGroup, ColumnChunk, ColumnMetaData, Statistics, SizeStatistics).
// Opening a file parses the schema and finds the places of column chunks, and a scan parses those that it needs: a
// table of many columns has thousands.

// A Footer is the parsed footer of a file. It is immutable and shared.
type Footer struct {
	Nodes     []*Node
	Leaves    []*Leaf
	Groups    []rowGroup
	Rows      int64
	Length    int64 // of the footer in the file
	CreatedBy string
	KeyValues []KeyValue
	// Secrets decrypts the columns of an encrypted file; nil means that the file is not encrypted, or that the caller has
	// no keys.
	Secrets *crypt.File
	Writer  Version
	raw     []byte // the list of row groups, as in the file
}

// A KeyValue is an entry of the metadata. Value nil means none.
type KeyValue struct{ Key, Value []byte }

// A rowGroup is a row group's place in its file.
type rowGroup struct {
	First, Rows int64
	Ordinal     int16    // in the AAD of encrypted modules, -1 if the file lacks it
	Chunks      []uint32 // the places of its ColumnChunks in footer.raw, by leaf
}

// A ChunkMeta is the metadata of a column chunk (ColumnChunk). Offset 0 means that the file has no such part.
type ChunkMeta struct {
	ColumnMeta
	Path                     string // of the file that contains the chunk, "" for this one
	ColumnIndex, OffsetIndex Section
	Encrypted                bool   // the pages are encrypted
	crypto                   int    // the place of a ColumnCryptoMetaData in footer.raw
	sealed                   []byte // the encrypted ColumnMetaData, nil if there is none
	opened                   bool   // ColumnMeta is the decrypted one
}

// A ColumnMeta is the part of a ChunkMeta that may be encrypted (ColumnMetaData).
type ColumnMeta struct {
	Known                    bool // the footer has this part as plain text
	Codec                    format.Codec
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

// Find returns the first value of a key of the metadata, nil if there is none.
func (f *Footer) Find(key string) []byte {
	for _, kv := range f.KeyValues {
		if string(kv.Key) == key {
			return kv.Value
		}
	}
	return nil
}

// leastPage is less than the bytes of a page with its header, in which the number of values is an i32.
const leastPage = 16

// CheckRows returns an error for a row group whose column chunks cannot have its rows. size is the size of the file.
// One column chunk that can have them is enough: the others are checked when they are read.
func (f *Footer) CheckRows(size int64) error {
	for i := range f.Groups {
		if f.Groups[i].Rows == 0 {
			continue
		}
		if len(f.Leaves) == 0 {
			return failure.Corrupt("row group %d has %d rows, but no column chunks", i, f.Groups[i].Rows)
		}
		var first error
		for _, l := range f.Leaves {
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

// readGroups reads a list of RowGroups. -1 rows mean that a RowGroup lacks its number of rows.
func readGroups(r *thrift.Reader) []rowGroup {
	groups := make([]rowGroup, r.Structs())
	for i := range groups {
		g := &groups[i]
		g.Rows, g.Ordinal = -1, -1
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
			case id == 7 && typ == thrift.I16:
				g.Ordinal = int16(r.I64())
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
		case id == 8 && typ == thrift.Struct:
			m.Encrypted, m.crypto = true, r.Pos
			r.Skip(typ, 5)
		case id == 9 && typ == thrift.Binary:
			m.sealed = r.Binary()
		default:
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
			m.Codec = format.Codec(r.I32())
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
