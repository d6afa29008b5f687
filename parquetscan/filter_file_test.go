// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// Parquet files of random tables, written column chunk by column chunk.

// A testFile is a table as a Parquet file in memory: first a list that is not a column of the table, then the struct s
// with all paths "s.…", then all other columns.
type testFile struct {
	*testTable
	leaves   map[string]int
	physical map[string]parquet.Type
	groups   []int // rows of row groups
	bytes    []byte
	reader   *file.Reader
}

// data returns the file as it is read, with the footer of f.reader, which tests change.
func (f *testFile) data(t testing.TB) *footer.File {
	t.Helper()
	f.reader.MetaData().NumRows = 0 // changed with the row groups
	raw, err := f.reader.MetaData().Serialize(context.Background())
	require.NoError(t, err)
	parsed, err := footer.New(raw)
	require.NoError(t, err)
	return &footer.File{Footer: parsed, File: input.File{Reader: bytes.NewReader(f.bytes), Size: int64(len(f.bytes))}}
}

// leafOf is the leafOf of the file.
func (f *testFile) leafOf(path string) (int, column.Type, bool) {
	typ, ok := f.types[path]
	return f.leaves[path], typ, ok
}

// physicalOf returns a physical type for a column, and the length of its values.
func (g generator) physicalOf(typ column.Type, cells []cell) (physical parquet.Type, logical schema.LogicalType, length int) {
	fits := !slices.ContainsFunc(cells, func(c cell) bool {
		i, ok := c.(*big.Int)
		return ok && (!i.IsInt64() || i.Int64() != int64(int32(i.Int64())))
	})
	unit := map[column.Unit]schema.TimeUnitType{column.Millis: schema.TimeUnitMillis, column.Micros: schema.TimeUnitMicros, column.Nanos: schema.TimeUnitNanos}[typ.Unit]
	logical, length = schema.NoLogicalType{}, -1
	switch typ.Kind {
	case column.Bool:
		physical = parquet.Types.Boolean
	case column.Int8, column.Int16, column.Int32, column.Uint8, column.Uint16, column.Uint32:
		physical = parquet.Types.Int32
		logical = schema.NewIntLogicalType(int8(typ.ValueWidth()*8), typ.Kind < column.Uint8)
	case column.Int64, column.Uint64:
		physical = parquet.Types.Int64
		logical = schema.NewIntLogicalType(64, typ.Kind == column.Int64)
	case column.Float16:
		physical, logical, length = parquet.Types.FixedLenByteArray, schema.Float16LogicalType{}, 2
	case column.Float32:
		physical = parquet.Types.Float
	case column.Float64:
		physical = parquet.Types.Double
	case column.Date:
		physical, logical = parquet.Types.Int32, schema.DateLogicalType{}
	case column.Time:
		physical, logical = parquet.Types.Int64, schema.NewTimeLogicalType(typ.UTC, unit)
		if typ.Unit == column.Millis {
			physical = parquet.Types.Int32
		}
	case column.Timestamp:
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(typ.UTC, unit)
		if typ.Unit == column.Nanos && !slices.ContainsFunc(cells, func(c cell) bool { return c != nil && c.(*big.Int).Sign() < 0 }) && g.intn(2) == 0 {
			physical, logical = parquet.Types.Int96, schema.NoLogicalType{}
		}
	case column.Decimal64, column.Decimal128, column.Decimal256:
		physical = pick(g, parquet.Types.FixedLenByteArray, parquet.Types.ByteArray)
		if typ.Kind == column.Decimal64 && g.intn(2) == 0 {
			physical = parquet.Types.Int64
		}
		precision := typ.Precision
		if typ.Kind == column.Decimal64 && fits && typ.Scale < 9 && g.intn(2) == 0 {
			physical, precision = parquet.Types.Int32, 9
		}
		if physical == parquet.Types.FixedLenByteArray {
			length = typ.ValueWidth() + g.intn(3)
		}
		logical = schema.NewDecimalLogicalType(int32(precision), int32(typ.Scale))
	case column.String:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case column.Binary:
		physical = parquet.Types.ByteArray
	case column.UUID:
		physical, length = parquet.Types.FixedLenByteArray, 16
		logical = pick[schema.LogicalType](g, schema.UUIDLogicalType{}, schema.NoLogicalType{})
	case column.Fixed:
		physical, length = parquet.Types.FixedLenByteArray, typ.Width
	}
	return physical, logical, length
}

// file writes the table, in row groups of up to groupRows rows.
func (g generator) file(t testing.TB, table *testTable, groupRows int, options ...parquet.WriterProperty) *testFile {
	f := &testFile{testTable: table, leaves: map[string]int{}, physical: map[string]parquet.Type{}}
	element := schema.MustPrimitive(schema.NewPrimitiveNode("element", parquet.Repetitions.Repeated, parquet.Types.Int32, -1, -1))
	fields := schema.FieldList{element}
	var nested schema.FieldList
	order := []string{}
	nodes := map[string]schema.Node{}
	for _, path := range table.paths {
		physical, logical, length := g.physicalOf(table.types[path], table.cells[path])
		name := strings.TrimPrefix(path, "s.")
		repetition := parquet.Repetitions.Optional
		if !slices.Contains(table.cells[path], nil) && g.intn(2) == 0 && name == path {
			repetition = parquet.Repetitions.Required
		}
		node, err := schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, length, -1)
		require.NoError(t, err)
		nodes[path], f.physical[path] = node, physical
		if name != path {
			nested, order = append(nested, node), append(order, path)
		}
	}
	if len(nested) > 0 {
		fields = append(fields, schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Optional, nested, -1)))
	}
	for _, path := range table.paths {
		if !strings.HasPrefix(path, "s.") {
			fields, order = append(fields, nodes[path]), append(order, path)
		}
	}
	for i, path := range order {
		f.leaves[path] = 1 + i
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	for from := 0; from < table.rows; from += groupRows {
		rows := min(groupRows, table.rows-from)
		f.groups = append(f.groups, rows)
		rg, err := w.AppendRowGroupChecked()
		require.NoError(t, err)
		list, err := rg.NextColumn()
		require.NoError(t, err)
		levels := make([]int16, 2*rows) // two elements in each row
		for i := range levels {
			levels[i] = int16(i % 2)
		}
		_, err = list.(*file.Int32ColumnChunkWriter).WriteBatch(make([]int32, 2*rows), slices.Repeat([]int16{1}, 2*rows), levels)
		require.NoError(t, err)
		require.NoError(t, list.Close())
		for _, path := range order {
			cw, err := rg.NextColumn()
			require.NoError(t, err)
			writeCells(t, cw, table.cells[path][from:from+rows], table.types[path])
			require.NoError(t, cw.Close())
		}
		require.NoError(t, rg.Close())
	}
	require.NoError(t, w.Close())
	f.bytes = buf.Bytes()
	f.open(t)
	return f
}

func (f *testFile) open(t testing.TB) {
	var err error
	f.reader, err = file.NewParquetReader(bytes.NewReader(f.bytes))
	require.NoError(t, err)
}

// writeCells writes cells as a column chunk.
func writeCells(t testing.TB, cw file.ColumnChunkWriter, cells []cell, typ column.Type) {
	maxLevel := cw.Descr().MaxDefinitionLevel()
	levels := make([]int16, len(cells))
	var plain []cell
	for i, c := range cells {
		if c != nil {
			levels[i] = maxLevel
			plain = append(plain, c)
		} else if maxLevel == 2 {
			levels[i] = 1 // the struct is not NULL
		}
	}
	var err error
	switch cw := cw.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) bool { return c.(*big.Int).Sign() != 0 }), levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) int32 { return int32(lowBits(c)) }), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) int64 { return int64(lowBits(c)) }), levels, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) (v parquet.Int96) {
			const day = 86400e9
			binary.LittleEndian.PutUint64(v[:], lowBits(c)%day)
			binary.LittleEndian.PutUint32(v[8:], uint32(lowBits(c)/day)+2440588)
			return v
		}), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) float32 { return float32(c.(float64)) }), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) float64 { return c.(float64) }), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) parquet.ByteArray { return storedBytes(c, typ, -1) }), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		n := cw.Descr().TypeLength()
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) parquet.FixedLenByteArray { return storedBytes(c, typ, n) }), levels, nil)
	default:
		t.Fatalf("%T", cw)
	}
	require.NoError(t, err)
}

func mapCells[T any](cells []cell, f func(cell) T) []T {
	out := make([]T, len(cells))
	for i, c := range cells {
		out[i] = f(c)
	}
	return out
}

func lowBits(c cell) uint64 {
	i := c.(*big.Int)
	if i.Sign() < 0 {
		return uint64(i.Int64())
	}
	return i.Uint64()
}

// storedBytes returns the stored bytes of a cell; decimals have n bytes, or for n < 0 any sufficient number.
func storedBytes(c cell, typ column.Type, n int) []byte {
	switch v := c.(type) {
	case string:
		return []byte(v)
	case *big.Int:
		out := slices.Clone(plainOf(v, typ))
		slices.Reverse(out)
		sign := byte(0)
		if v.Sign() < 0 {
			sign = 0xff
		}
		for n > len(out) {
			out = append([]byte{sign}, out...)
		}
		// odd numbers keep leading bytes
		for n < 0 && len(out) > 1 && out[0] == sign && (out[1]^sign)>>7 == 0 && v.Bit(0) == 0 {
			out = out[1:]
		}
		return out
	}
	return plainOf(c, typ)
}
