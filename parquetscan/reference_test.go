// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// The reference for reading column chunks: slow and simple, with arrow-go where possible. Tests and fuzz targets
// compare both.

// A refValue is one entry of a column chunk: its levels, and its value if the definition level is the maximum.
type refValue struct {
	rep, def int
	value    any // of the Go type of the leaf's Kind; []byte for strings and Fixed
}

// arrow returns arrow-go's reader of the file. It has the keys if the file is encrypted.
func (f *dataFile) arrow(t testing.TB, keys *Decryption) *file.Reader {
	t.Helper()
	source := io.NewSectionReader(f.src.Reader, 0, f.src.Size)
	if f.Secrets != nil {
		props := parquet.NewReaderProperties(nil)
		props.FileDecryptProps = arrowKeys(keys)
		r, err := file.NewParquetReader(source, file.WithReadProps(props))
		require.NoError(t, err)
		return r
	}
	raw := make([]byte, f.Length)
	require.NoError(t, f.ReadAt(raw, f.Size-8-f.Length))
	requireFooter(t, raw, true)
	meta, err := arrowFooter(raw)
	require.NoError(t, err)
	meta.SetSourceFileSize(f.src.Size)
	r, err := file.NewParquetReader(source, file.WithMetadata(meta))
	require.NoError(t, err)
	return r
}

// arrowKeys returns keys in arrow-go's form.
func arrowKeys(keys *Decryption) *parquet.FileDecryptionProperties {
	o := []parquet.FileDecryptionOption{parquet.WithFooterKey(string(keys.FooterKey)), parquet.WithDecryptAadPrefix(string(keys.AADPrefix))}
	if keys.KeyOf != nil {
		o = append(o, parquet.WithKeyRetriever(keyRetriever(keys.KeyOf)))
	}
	if keys.IgnoreSignature {
		o = append(o, parquet.DisableFooterSignatureVerification())
	}
	columns := parquet.ColumnPathToDecryptionPropsMap{}
	for path, key := range keys.ColumnKeys {
		columns[path] = parquet.NewColumnDecryptionProperties(path, parquet.WithDecryptKey(string(key)))
	}
	return parquet.NewFileDecryptionProperties(append(o, parquet.WithColumnKeys(columns))...)
}

// A keyRetriever is a parquet.DecryptionKeyRetriever.
type keyRetriever func(metadata []byte) ([]byte, error)

func (f keyRetriever) GetKey(metadata []byte) string {
	key, err := f(metadata)
	if err != nil {
		panic(err)
	}
	return string(key)
}

// reference returns the entries of a column chunk.
func reference(f *file.Reader, group int, l *footer.Leaf) (out []refValue, err error) {
	defer guard(&err)
	column, err := f.RowGroup(group).Column(l.Index)
	if err != nil {
		return nil, err
	}
	switch r := column.(type) {
	case *file.BooleanColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.Int32ColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.Int64ColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.Int96ColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.Float32ColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.Float64ColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.ByteArrayColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	case *file.FixedLenByteArrayColumnChunkReader:
		return refRead(r.ReadBatch, column, l)
	default:
		return nil, fmt.Errorf("%w: %T", ErrUnsupported, r)
	}
}

// refRead reads entries until there are no more. A batch is larger than any page: without assembly, arrow-go's decoder
// of BYTE_STREAM_SPLIT panics on a part of a page without values.
func refRead[T any](read func(int64, []T, []int16, []int16) (int64, int, error), column file.ColumnChunkReader, l *footer.Leaf) ([]refValue, error) {
	var out []refValue
	const size = 10_000
	values, defs, reps := make([]T, size), make([]int16, size), make([]int16, size)
	for column.HasNext() {
		n, m, err := read(size, values, defs, reps)
		if err != nil {
			return out, err
		}
		next := values[:m]
		for i := range int(n) {
			e := refValue{}
			if l.MaxRep > 0 {
				e.rep = int(reps[i])
			}
			if l.MaxDef > 0 {
				e.def = int(defs[i])
			}
			if e.def == l.MaxDef {
				if e.value, err = refConvert(any(next[0]), l.Type); err != nil {
					return out, err
				}
				next = next[1:]
			}
			out = append(out, e)
		}
	}
	return out, column.Err()
}

// refConvert converts a stored value to a type.
func refConvert(v any, t column.Type) (any, error) {
	switch t.Kind {
	case column.Int8, column.Int16, column.Uint8, column.Uint16:
		n := v.(int32)
		low, high := map[column.Kind]int32{column.Int8: -1 << 7, column.Int16: -1 << 15}[t.Kind], map[column.Kind]int32{column.Int8: 1<<7 - 1, column.Int16: 1<<15 - 1, column.Uint8: 1<<8 - 1, column.Uint16: 1<<16 - 1}[t.Kind]
		if n < low || n > high {
			return nil, fmt.Errorf("%w: %d", ErrOutOfRange, n)
		}
		return map[column.Kind]any{column.Int8: int8(n), column.Int16: int16(n), column.Uint8: uint8(n), column.Uint16: uint16(n)}[t.Kind], nil
	case column.Uint32:
		return uint32(v.(int32)), nil
	case column.Uint64:
		return uint64(v.(int64)), nil
	case column.Time:
		if n, ok := v.(int32); ok {
			return int64(n), nil
		}
	case column.Timestamp:
		if n, ok := v.(parquet.Int96); ok {
			day := int64(int32(binary.LittleEndian.Uint32(n[8:]))) - 2440588
			nanos := new(big.Int).Mul(big.NewInt(day), big.NewInt(86400e9))
			nanos.Add(nanos, big.NewInt(int64(binary.LittleEndian.Uint64(n[:]))))
			if !nanos.IsInt64() {
				return nil, fmt.Errorf("%w: %v ns", ErrOutOfRange, nanos)
			}
			return nanos.Int64(), nil
		}
	case column.Decimal64, column.Decimal128, column.Decimal256:
		return refDecimal(v, t)
	}
	switch v := v.(type) {
	case parquet.ByteArray:
		return bytes.Clone(v), nil
	case parquet.FixedLenByteArray:
		switch t.Kind {
		case column.UUID:
			return [16]byte(v), nil
		case column.Float16:
			return binary.LittleEndian.Uint16(v), nil
		}
		return bytes.Clone(v), nil
	}
	return v, nil
}

// refDecimal returns a decimal's unscaled value.
func refDecimal(v any, t column.Type) (any, error) {
	n := new(big.Int)
	switch v := v.(type) {
	case int32:
		n.SetInt64(int64(v))
	case int64:
		n.SetInt64(v)
	case parquet.ByteArray:
		setBigEndian(n, v)
	case parquet.FixedLenByteArray:
		setBigEndian(n, v)
	}
	width := t.ValueWidth() * 8
	if n.BitLen() >= width && n.Cmp(new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(width-1)))) != 0 {
		return nil, fmt.Errorf("%w: %v", ErrOutOfRange, n)
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(width)))
	}
	b := n.FillBytes(make([]byte, t.ValueWidth()))
	slices.Reverse(b)
	switch t.Kind {
	case column.Decimal64:
		return int64(binary.LittleEndian.Uint64(b)), nil
	case column.Decimal128:
		return column.Int128{Lo: binary.LittleEndian.Uint64(b), Hi: int64(binary.LittleEndian.Uint64(b[8:]))}, nil
	default:
		var v column.Int256
		for i := range v {
			v[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		return v, nil
	}
}

// setBigEndian sets n from big-endian two's complement.
func setBigEndian(n *big.Int, b []byte) {
	n.SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
}

// guard converts a panic of arrow-go into an error: some malformed input makes it panic.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("arrow-go: %v", r)
	}
}
