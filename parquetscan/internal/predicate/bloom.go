// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Split-block bloom filters of column chunks (parquet-format, BloomFilter.md). Only the blocks that may contain the
// wanted values are read.

// bloomBlock is the length of a block in bytes.
const bloomBlock = 4 * format.BloomWords

// bloomLacks reports whether the bloom filter of a column contains none of a leaf's points.
func (r *Pruner) bloomLacks(l *leafTerm, leaf int) bool {
	m, err := r.File.PlainChunk(r.rowGroup, leaf)
	if err != nil || m.Encrypted || !m.Known || m.Bloom.Length != 0 && !r.File.Has(m.Bloom) {
		return false
	}
	points, ok := bloomPoints(l, r.File.Leaves[leaf])
	blocks, ok2 := bloomBlocks(r.File, m.Bloom.Offset)
	if !ok || !ok2 || len(points) == 0 {
		return false
	}
	hashes := make([]uint64, len(points))
	first, last := int64(math.MaxInt64), int64(0) // the blocks to read
	place := func(hash uint64) int64 { return int64(hash >> 32 * uint64(blocks.Length/bloomBlock) >> 32) }
	for i, point := range points {
		hashes[i] = xxhash.Sum64(point)
		first, last = min(first, place(hashes[i])), max(last, place(hashes[i]))
	}
	bits := make([]byte, (last-first+1)*bloomBlock)
	if r.File.ReadAt(bits, blocks.Offset+first*bloomBlock) != nil {
		return false
	}
	for _, hash := range hashes {
		if bloomContains(bits[(place(hash)-first)*bloomBlock:], uint32(hash)) {
			return false
		}
	}
	return true
}

// bloomContains reports whether a block contains a value, by the low half of the hash of the value.
func bloomContains(block []byte, hash uint32) bool {
	for i, salt := range format.BloomSalts {
		if binary.LittleEndian.Uint32(block[4*i:])>>(hash*salt>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// bloomBlocks reads the header of a bloom filter (parquet.thrift, BloomFilterHeader), and returns the place of its
// blocks. It returns false if the filter is of another kind or lies beyond the file.
func bloomBlocks(f *footer.File, offset int64) (blocks footer.Section, ok bool) {
	const mostHeader = 64 // usual ones have about 20 bytes
	if offset <= 0 || offset >= f.Size {
		return footer.Section{}, false
	}
	head := make([]byte, min(mostHeader, f.Size-offset))
	if f.ReadAt(head, offset) != nil {
		return footer.Section{}, false
	}
	r, kinds := thrift.Reader{B: head}, 0
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.I32:
			blocks.Length = int64(r.I32())
		case id >= 2 && id <= 4 && typ == thrift.Struct: // unions of algorithm, hash and compression: 1 is the known one
			for kind, typ := range r.Fields() {
				if kind == 1 && typ == thrift.Struct {
					kinds |= 1 << id
				}
				r.Skip(typ, 2)
			}
		default:
			r.Skip(typ, 1)
		}
	}
	blocks.Offset = offset + int64(r.Pos)
	return blocks, !r.Failed() && kinds == 1<<2|1<<3|1<<4 && blocks.Length%bloomBlock == 0 && f.Has(blocks)
}

// bloomPoints returns all stored forms of the points of a leaf, as bloom filters hash them. It returns false if a span
// is not a point, or if a value has more than a few stored forms.
func bloomPoints(l *leafTerm, stored *footer.Leaf) (points [][]byte, ok bool) {
	physical := stored.Physical
	for _, s := range l.spans.texts {
		if s.lo != s.hi || physical != format.ByteArray && physical != format.FixedLenByteArray {
			return nil, false
		}
		points = append(points, []byte(s.lo))
	}
	for _, s := range l.spans.ints {
		if s.lo != s.hi || l.typ.Kind == column.Bool {
			return nil, false
		}
		switch physical {
		case format.Int32:
			points = append(points, binary.LittleEndian.AppendUint32(nil, uint32(s.lo[0])))
		case format.Int64:
			points = append(points, binary.LittleEndian.AppendUint64(nil, s.lo[0]))
		case format.FixedLenByteArray:
			if b, fits := s.lo.bytes(stored.Stored); fits {
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
			case format.Float:
				points = append(points, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))))
			case format.Double:
				points = append(points, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
			case format.FixedLenByteArray:
				bits, _ := float16Bits(f)
				points = append(points, binary.LittleEndian.AppendUint16(nil, bits))
			default:
				return nil, false
			}
		}
	}
	return points, true
}
