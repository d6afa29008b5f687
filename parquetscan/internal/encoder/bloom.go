// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Split-block Bloom filters (parquet-format, BloomFilter.md). A filter is collected with the greatest size, and then
// folded to the size that suits the number of its distinct values.

// The sizes of filters in bytes.
const (
	leastFilter = 8 << 10
	mostFilter  = 4 << 20
)

// bitsOfValue is the size of a filter in bits per distinct value at which 1 % of other values are found: -8 /
// ln(1-0.01^(1/8)).
var bitsOfValue = -8 / math.Log(1-math.Pow(0.01, 1.0/8))

// A bloomFilter is a filter of mostFilter bytes.
type bloomFilter struct {
	words    []uint32
	distinct int // values, without those that the filter contained already
}

// insert adds a value, as PLAIN without a length.
func (f *bloomFilter) insert(v []byte) {
	hash := xxhash.Sum64(v)
	const blocks = mostFilter / 4 / format.BloomWords
	block := f.words[hash>>32*blocks>>32*format.BloomWords:][:format.BloomWords]
	fresh := uint32(0)
	for i, salt := range format.BloomSalts {
		bit := uint32(1) << (uint32(hash) * salt >> 27)
		fresh |= bit &^ block[i]
		block[i] |= bit
	}
	if fresh != 0 {
		f.distinct++
	}
}

// fold returns the words of a filter that suits the values. A filter of half as many blocks contains in a block what
// two adjacent blocks contain, because the upper bits of a hash select the block.
func (f *bloomFilter) fold() []uint32 {
	want := 2 * int(math.Ceil(float64(f.distinct)*bitsOfValue/8)) // twice the least size: fewer values are found wrongly
	size := max(leastFilter, min(mostFilter, 1<<bits.Len(uint(max(1, want)-1))))
	words := f.words
	for ; 4*len(words) > size; words = words[:len(words)/2] {
		for i := 0; i < len(words)/2; i += format.BloomWords {
			for k := range format.BloomWords {
				words[i+k] = words[2*i+k] | words[2*i+format.BloomWords+k]
			}
		}
	}
	return words
}

// finish returns the header and the bits of the filter, and empties it.
func (f *bloomFilter) finish() []byte {
	words := f.fold()
	var w thrift.Writer
	w.Open(0)
	w.I32(1, int32(4*len(words)))
	for id := int16(2); id <= 4; id++ { // unions of algorithm, hash and compression: member 1 of each
		w.Open(id)
		w.Open(1)
		w.Close()
		w.Close()
	}
	w.Close()
	out := w.B
	for _, word := range words {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	clear(f.words)
	f.distinct = 0
	return out
}
