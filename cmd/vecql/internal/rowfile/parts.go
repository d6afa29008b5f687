// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql/column"
)

// A folder of files: part-000000.parquet, part-000001.parquet and so on.

// Parts writes rows to numbered files in a folder. It is not safe for concurrent use.
type Parts struct {
	folder string
	schema column.Schema
	o      PartsOptions
	file   *File // nil between files
	rows   int   // of file
	bytes  int
	next   int // number of the next file
}

// PartsOptions configure Parts.
type PartsOptions struct {
	WriterOptions
	// Rows and Bytes are the most rows and bytes of a file: bytes of values, before encoding and compression. A file has
	// at least one row. 0 means no limit.
	Rows, Bytes int
	// First is the number of the first file. Files with this number or a higher one are removed.
	First int
}

// NewParts returns Parts in a folder, which it makes if there is none.
func NewParts(folder string, schema column.Schema, o PartsOptions) (*Parts, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	p := &Parts{folder: folder, schema: schema, o: o, next: o.First}
	names, err := p.existing()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// existing returns the names of files that later parts would replace, and of temporary files.
func (p *Parts) existing() ([]string, error) {
	entries, err := os.ReadDir(p.folder)
	var names []string
	for _, e := range entries {
		name := e.Name()
		var number int
		_, scanErr := fmt.Sscanf(name, "part-%d.", &number)
		if scanErr == nil && number >= p.o.First || strings.HasPrefix(name, ".part-") && strings.HasSuffix(name, ".tmp") {
			names = append(names, name)
		}
	}
	return names, err
}

// name returns the path of a part.
func (p *Parts) name(number int) string {
	return filepath.Join(p.folder, fmt.Sprintf("part-%06d%s", number, Extension(p.o.Format, p.o.Compression)))
}

// Write adds rows. A file ends before it exceeds the limits; rows of one batch may be in several files.
func (p *Parts) Write(b *column.Batch) error { return p.WriteBlock(Block{Batch: b}) }

// WriteBlock writes the block of an Encoder.
func (p *Parts) WriteBlock(b Block) error {
	for first := 0; first < b.Batch.Rows; {
		n := p.fit(b.Batch, first)
		if n == 0 {
			if err := p.Cut(); err != nil {
				return err
			}
			continue
		}
		if err := p.writeRows(b.slice(first, first+n)); err != nil {
			return err
		}
		first += n
	}
	return nil
}

// fit returns how many rows of a batch, from one on, the file can take. It returns 0 only for a file with rows.
func (p *Parts) fit(b *column.Batch, first int) int {
	n := b.Rows - first
	if p.o.Rows > 0 {
		n = min(n, p.o.Rows-p.rows)
	}
	if perRow := float64(Size(b)) / float64(b.Rows); p.o.Bytes > 0 && perRow*float64(n) > float64(p.o.Bytes-p.bytes) {
		n = int(float64(p.o.Bytes-p.bytes) / perRow)
	}
	if p.rows == 0 {
		n = max(n, 1)
	}
	return max(n, 0)
}

func (p *Parts) writeRows(b Block) error {
	if p.file == nil {
		var err error
		if p.file, err = Create(p.name(p.next), p.schema, p.o.WriterOptions); err != nil {
			return err
		}
		p.next++
	}
	p.rows += b.Batch.Rows
	p.bytes += Size(b.Batch)
	return p.file.WriteBlock(b)
}

// Fits reports whether the current file can take all rows of a batch.
func (p *Parts) Fits(b *column.Batch) bool { return p.fit(b, 0) == b.Rows }

// Cut completes the current file. All rows so far are then on disk.
func (p *Parts) Cut() error {
	if p.file == nil {
		return nil
	}
	f := p.file
	p.file, p.rows, p.bytes = nil, 0, 0
	return f.Close()
}

// Close completes the last file. Without any row it writes a file without rows, which has the columns.
func (p *Parts) Close() error {
	if p.next == 0 {
		if err := p.writeRows(Block{Batch: newBatch(p.schema)}); err != nil {
			return err
		}
	}
	return p.Cut()
}

// newBatch returns a batch of a schema without rows.
func newBatch(schema column.Schema) *column.Batch {
	b := &column.Batch{}
	for _, f := range schema {
		b.Columns = append(b.Columns, newBuilder(f).take())
	}
	return b
}

// Files returns the number of complete files, those before PartsOptions.First included.
func (p *Parts) Files() int {
	if p.file != nil {
		return p.next - 1
	}
	return p.next
}

// Abort removes the current file.
func (p *Parts) Abort() error {
	if p.file == nil {
		return nil
	}
	return p.file.Abort()
}

// Size returns the bytes of values of a batch.
func Size(b *column.Batch) int {
	size := 0
	for i := range b.Columns {
		size += columnSize(&b.Columns[i], 0, b.Rows)
	}
	return size
}

// columnSize returns the bytes of rows from first up to but not including end.
func columnSize(c *column.Column, first, end int) int {
	switch {
	case first == end:
		return 0
	case c.Dict != nil:
		return 4 * (end - first)
	case c.Type.Kind.IsText():
		return int(c.Offsets[end]-c.Offsets[first]) + 4*(end-first)
	case c.Type.Kind.IsList():
		first, end = int(c.Offsets[first]), int(c.Offsets[end])
	}
	size := (end - first) * c.Type.ValueWidth()
	for i := range c.Children {
		size += columnSize(&c.Children[i], first, end)
	}
	return size
}
