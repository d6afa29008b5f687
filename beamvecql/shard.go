// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/vecql/vecql/column"
)

// Shards: the rows of batches divided by the hash of some columns.

// shardFn divides batches into parts with keys from 0 to Shards-1, so that rows of one group have one key.
type shardFn struct {
	Groups string
	Shards int
}

// ProcessElement emits the parts of a batch that have rows.
func (fn *shardFn) ProcessElement(b *column.Batch, emit func(int, *column.Batch)) error {
	config, err := Groups{fn.Groups}.config()
	if err != nil {
		return err
	}
	parts, err := divide(b, config.Keys, max(fn.Shards, 1))
	if err != nil {
		return fmt.Errorf("beamvecql: divide a batch by the keys of %q: %w", fn.Groups, err)
	}
	for shard, rows := range parts {
		if len(rows) == 0 {
			continue
		}
		part, err := b.Take(rows)
		if err != nil {
			return fmt.Errorf("beamvecql: divide a batch by the keys of %q: %w", fn.Groups, err)
		}
		emit(shard, part)
	}
	return nil
}

// divide returns the rows of each of n shards. Rows with equal keys, in the sense of groupby, are in one shard.
func divide(b *column.Batch, keys []string, n int) ([][]int32, error) {
	hashes := make([]uint32, b.Rows)
	for _, name := range keys {
		if err := hashColumn(hashes, b.Column(name)); err != nil {
			return nil, err
		}
	}
	parts := make([][]int32, n)
	for i, h := range hashes {
		// CRCs of short keys differ in few bits; the multiplication moves them to the high ones
		shard := uint64(h*0x9e3779b1) * uint64(n) >> 32
		parts[shard] = append(parts[shard], int32(i))
	}
	return parts, nil
}

// nullHash is hashed for a NULL.
var nullHash = []byte{0xff}

// hashColumn adds the values of a column to the hashes of rows.
func hashColumn(hashes []uint32, c *column.Column) error {
	if err := c.Err(); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	value, err := keyBytes(c)
	if err != nil {
		return err
	}
	for i := range hashes {
		v := nullHash
		if !c.Null(i) {
			v = value(i)
		}
		hashes[i] = crc32.Update(hashes[i], castagnoli, v)
	}
	return nil
}

// keyBytes returns a function that returns the bytes of row i, valid until its next call. Floats that groupby treats as
// equal have the same bytes.
func keyBytes(c *column.Column) (func(i int) []byte, error) {
	width := c.Type.ValueWidth()
	switch {
	case c.Type.Kind.IsText():
		text, err := c.Text()
		return text.Bytes, err
	case c.Type.Kind == column.Float64:
		values, err := column.Slice[float64](c)
		return func(i int) []byte { return floatBytes(values[i]) }, err
	case c.Type.Kind == column.Float32:
		values, err := column.Slice[float32](c)
		return func(i int) []byte { return floatBytes(float64(values[i])) }, err
	case c.Type.Kind == column.Float16:
		return func(i int) []byte { return halfBytes(binary.NativeEndian.Uint16(c.Values[2*i:])) }, nil
	case width == 0:
		return nil, fmt.Errorf("column %s of type %v cannot be a key", c.Name, c.Type)
	}
	return func(i int) []byte { return c.Values[i*width : (i+1)*width] }, nil
}

// floatBytes returns the bytes of a float: one for each NaN, and the bits of 0 for -0.
func floatBytes(f float64) []byte {
	bits := math.Float64bits(f)
	if math.IsNaN(f) {
		bits = math.Float64bits(math.NaN())
	}
	if f == 0 {
		bits = 0
	}
	return binary.LittleEndian.AppendUint64(nil, bits)
}

// halfBytes is floatBytes for the bits of a 16-bit float.
func halfBytes(bits uint16) []byte {
	switch {
	case bits&0x7fff == 0:
		bits = 0
	case bits&0x7fff > 0x7c00:
		bits = 0x7e00
	}
	return binary.LittleEndian.AppendUint16(nil, bits)
}
