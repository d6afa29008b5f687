// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	parquetfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Reading of row groups with arrow-go's pqarrow: files are mapped into memory, strings are read as dictionaries.

type arrowFile struct {
	in      *parquetfile.Reader
	reader  *pqarrow.FileReader
	columns []string
	leaves  []int
}

func openArrow(path string, columns []string) (file, error) {
	in, err := parquetfile.OpenParquetFile(path, true,
		parquetfile.WithReadProps(parquet.NewReaderProperties(memory.DefaultAllocator)))
	if err != nil {
		return nil, err
	}
	f := &arrowFile{in: in, columns: columns}
	properties, schema := pqarrow.ArrowReadProperties{}, in.MetaData().Schema
	for _, name := range columns {
		for i := range schema.NumColumns() {
			// A leaf of a list is named list.list.element.
			if path := schema.Column(i).Path(); path == name || strings.HasPrefix(path, name+".") {
				f.leaves = append(f.leaves, i)
				properties.SetReadDict(i, schema.Column(i).PhysicalType() == parquet.Types.ByteArray)
			}
		}
	}
	if len(f.leaves) != len(columns) {
		return nil, errors.Join(fmt.Errorf("%s: some of the columns %q do not exist", path, columns), in.Close())
	}
	if f.reader, err = pqarrow.NewFileReader(in, properties, memory.DefaultAllocator); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return f, nil
}

func (f *arrowFile) Close() error { return f.in.Close() }

func (f *arrowFile) rows() []int64 {
	rows := make([]int64, f.in.NumRowGroups())
	for i := range rows {
		rows[i] = f.in.MetaData().RowGroups[i].GetNumRows()
	}
	return rows
}

func (f *arrowFile) read(ctx context.Context, group int, into *rowGroup) error {
	table, err := f.reader.ReadRowGroups(ctx, f.leaves, []int{group})
	if err != nil {
		return err
	}
	into.columns = make([]values, len(f.columns))
	for i, name := range f.columns {
		at := table.Schema().FieldIndices(name)
		if len(at) != 1 {
			return fmt.Errorf("%d columns %s", len(at), name)
		}
		for _, chunk := range table.Column(at[0]).Data().Chunks() {
			if chunk.NullN() > 0 {
				return errNulls
			}
			if err := into.columns[i].addArrow(chunk); err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
		}
	}
	return nil
}

// join appends piece to to; it does not copy the first piece.
func join[T any](to, piece []T) []T {
	if len(to) == 0 {
		return piece
	}
	return append(to[:len(to):len(to)], piece...)
}

func (v *values) addArrow(a arrow.Array) error {
	switch a := a.(type) {
	case *array.Int64:
		v.ints = join(v.ints, a.Int64Values())
	case *array.Float64:
		v.floats = join(v.floats, a.Float64Values())
	case *array.List:
		elements, ok := a.ListValues().(*array.Float32)
		if !ok {
			return fmt.Errorf("list of %s", a.ListValues().DataType())
		}
		if elements.NullN() > 0 {
			return errNulls
		}
		start, _ := a.ValueOffsets(0)
		_, end := a.ValueOffsets(a.Len() - 1)
		v.vectors = join(v.vectors, elements.Float32Values()[start:end])
	case *array.Dictionary:
		names, ok := a.Dictionary().(*array.String)
		indices, ok2 := a.Indices().(*array.Int32)
		if !ok || !ok2 {
			return fmt.Errorf("%s", a.DataType())
		}
		codes := indices.Int32Values()
		if base := int32(len(v.names)); base > 0 {
			moved := make([]int32, len(codes))
			for i, code := range codes {
				moved[i] = base + code
			}
			codes = moved
		}
		v.codes = join(v.codes, codes)
		for i := range names.Len() {
			v.names = append(v.names, names.Value(i))
		}
	default:
		return fmt.Errorf("type %s", a.DataType())
	}
	return nil
}
