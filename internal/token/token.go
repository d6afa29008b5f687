// SPDX-License-Identifier: Apache-2.0

// Package token computes the position of a partition: the Murmur3Partitioner's token of its key, composite keys, and
// the search on the ring of tokens.
package token

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// Min is the token below all others. No non-empty key has it, because such a hash counts as Max.
const (
	Min = math.MinInt64
	Max = math.MaxInt64
)

const (
	c1 = 0x87c37b91114253d5
	c2 = 0x4cf5ad432745937f
)

// Murmur3 returns the token of a partition key, as Cassandra's Murmur3Partitioner.getToken does: the first half of
// murmur3 x64 128 with seed 0, in Cassandra's own variant, whose bytes after the last whole block are sign-extended
// before they are shifted into place. The empty key has the token Min.
func Murmur3(key []byte) int64 {
	if len(key) == 0 {
		return Min
	}
	n := len(key)
	var h1, h2 uint64
	for len(key) >= 16 {
		h1 = (bits.RotateLeft64(h1^mix1(binary.LittleEndian.Uint64(key)), 27)+h2)*5 + 0x52dce729
		h2 = (bits.RotateLeft64(h2^mix2(binary.LittleEndian.Uint64(key[8:])), 31)+h1)*5 + 0x38495ab5
		key = key[16:]
	}
	var k1, k2 uint64
	for i := len(key) - 1; i >= 0; i-- {
		b := uint64(int64(int8(key[i]))) // Java's bytes are signed
		if i >= 8 {
			k2 ^= b << (8 * (i - 8))
		} else {
			k1 ^= b << (8 * i)
		}
	}
	h2 ^= mix2(k2)
	h1 ^= mix1(k1)
	h1 ^= uint64(n)
	h2 ^= uint64(n)
	h1 += h2
	h2 += h1
	h1 = finish(h1)
	h2 = finish(h2)
	if t := int64(h1 + h2); t != Min {
		return t
	}
	return Max
}

func mix1(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
func mix2(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

func finish(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// ErrPartTooLong means that a column of a composite key exceeds 65535 bytes, the limit of its [short] length.
var ErrPartTooLong = errors.New("token: partition key column is longer than 65535 bytes")

// AppendComposite appends one column of a composite partition key: [short] length, bytes, a zero byte. A key of a
// single column is only the bytes of that column.
func AppendComposite(dst, part []byte) ([]byte, error) {
	if len(part) > math.MaxUint16 {
		return dst, fmt.Errorf("%w: %d", ErrPartTooLong, len(part))
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(part)))
	return append(append(dst, part...), 0), nil
}

// Search returns the index of the range that contains t on a ring of sorted tokens. Range i ends at tokens[i],
// inclusive; a t above the last token belongs to range 0. tokens must not be empty.
func Search(tokens []int64, t int64) int {
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i] >= t })
	if i == len(tokens) {
		return 0
	}
	return i
}

// CDC returns the token of a key of a ScyllaDB CDC log table: its first eight bytes, big-endian (ScyllaDB's
// cdc::cdc_partitioner). A shorter key, which the server never writes, has the token Min.
func CDC(key []byte) int64 {
	if len(key) < 8 {
		return Min
	}
	return int64(binary.BigEndian.Uint64(key))
}
