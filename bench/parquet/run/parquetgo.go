// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// Reading of row groups with parquet-go, page by page as slices, which is far faster than its reader of structs.

type parquetGoFile struct {
	in     *os.File
	file   *parquet.File
	leaves []int
}

func openParquetGo(path string, columns []string) (file, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &parquetGoFile{in: in}
	if err := f.open(columns); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), in.Close())
	}
	return f, nil
}

func (f *parquetGoFile) open(columns []string) error {
	info, err := f.in.Stat()
	if err != nil {
		return err
	}
	options := []parquet.FileOption{
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(1 << 20),
	}
	if f.file, err = parquet.OpenFile(f.in, info.Size(), options...); err != nil {
		return err
	}
	for _, name := range columns {
		n := len(f.leaves)
		for i, path := range f.file.Schema().Columns() {
			if path[0] == name {
				f.leaves = append(f.leaves, i)
			}
		}
		if len(f.leaves) != n+1 {
			return fmt.Errorf("%d columns %s", len(f.leaves)-n, name)
		}
	}
	return nil
}

func (f *parquetGoFile) Close() error { return f.in.Close() }

func (f *parquetGoFile) rows() []int64 {
	var rows []int64
	for _, g := range f.file.RowGroups() {
		rows = append(rows, g.NumRows())
	}
	return rows
}

func (f *parquetGoFile) read(ctx context.Context, group int, into *rowGroup) error {
	if into.columns == nil {
		into.columns = make([]values, len(f.leaves))
	}
	chunks := f.file.RowGroups()[group].ColumnChunks()
	for i, leaf := range f.leaves {
		v := &into.columns[i]
		*v = values{ints: v.ints[:0], floats: v.floats[:0], vectors: v.vectors[:0], codes: v.codes[:0]}
		if err := v.addChunk(ctx, chunks[leaf]); err != nil {
			return fmt.Errorf("row group %d, column %d: %w", group, leaf, err)
		}
	}
	return nil
}

func (v *values) addChunk(ctx context.Context, chunk parquet.ColumnChunk) (err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	for ctx.Err() == nil {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = v.addPage(page)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// addPage appends the values of a page. With a dictionary they are indexes.
func (v *values) addPage(page parquet.Page) error {
	if page.NumNulls() > 0 {
		return errNulls
	}
	values, dictionary := page.Data(), page.Dictionary()
	kind := page.Type().Kind()
	if dictionary != nil {
		kind = dictionary.Type().Kind()
	}
	switch kind {
	case parquet.Int64:
		if dictionary == nil {
			v.ints = append(v.ints, values.Int64()...)
			return nil
		}
		known := dictionary.Page().Data()
		v.ints = look(v.ints, values.Int32(), known.Int64())
	case parquet.Double:
		if dictionary == nil {
			v.floats = append(v.floats, values.Double()...)
			return nil
		}
		known := dictionary.Page().Data()
		v.floats = look(v.floats, values.Int32(), known.Double())
	case parquet.Float:
		if dictionary == nil {
			v.vectors = append(v.vectors, values.Float()...)
			return nil
		}
		known := dictionary.Page().Data()
		v.vectors = look(v.vectors, values.Int32(), known.Float())
	case parquet.ByteArray:
		v.addNames(page)
	default:
		return fmt.Errorf("type %s", page.Type())
	}
	return nil
}

func look[T any](to []T, indexes []int32, known []T) []T {
	for _, i := range indexes {
		to = append(to, known[i])
	}
	return to
}

// addNames appends strings: all strings of the column chunk's only dictionary, or of a page without dictionary, each
// as a separate name.
func (v *values) addNames(page parquet.Page) {
	data := page.Data()
	if dictionary := page.Dictionary(); dictionary != nil {
		v.codes = append(v.codes, data.Int32()...)
		if len(v.names) > 0 {
			return
		}
		data = dictionary.Page().Data()
		text, offsets := data.ByteArray()
		for i := range dictionary.Len() {
			v.names = append(v.names, string(text[offsets[i]:offsets[i+1]]))
		}
		return
	}
	text, offsets := data.ByteArray()
	for i := 0; i+1 < len(offsets); i++ {
		v.codes = append(v.codes, int32(len(v.names)))
		v.names = append(v.names, string(text[offsets[i]:offsets[i+1]]))
	}
}
