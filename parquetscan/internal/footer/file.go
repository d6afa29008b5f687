// SPDX-License-Identifier: Apache-2.0

// Package footer reads the footers of files: the schema, the row groups, and the metadata of column chunks.
package footer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// Open files: the footer, and the bytes that it names.

// The ends of files: magic numbers, and the size of the first read, which usually contains the whole footer.
const (
	Magic          = "PAR1"
	MagicEncrypted = "PARE"
	FirstRead      = 64 << 10
)

// A File is an open file and its footer.
type File struct {
	*Footer
	input.File

	Keys sync.Mutex // held while arrow-go decrypts: the decryptors of a file are stateful
}

// ParseFooter reads and parses the footer. Of a file that is not mapped, it reads FirstRead bytes first, and a second
// time if the footer is longer. All lengths are checked against the size of the file before any allocation.
func (f *File) ParseFooter(decryption *parquet.FileDecryptionProperties) (*Footer, error) {
	size := f.Size
	if size < 12 {
		return nil, failure.Corrupt("not a Parquet file: %d bytes", size)
	}
	first := min(size, FirstRead)
	if f.Mapped != nil {
		f.Need(size-first, first)
		first = 8
	}
	tail := make([]byte, first)
	if err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	end := tail[len(tail)-8:]
	length := int64(binary.LittleEndian.Uint32(end))
	encrypted := string(end[4:]) == MagicEncrypted
	if string(end[4:]) != Magic && !encrypted {
		return nil, failure.Corrupt("not a Parquet file: footer magic is %q, want %q", end[4:], Magic)
	}
	if length == 0 || length > size-12 {
		return nil, failure.Corrupt("footer of %d bytes in a file of %d", length, size)
	}
	if encrypted {
		return f.parseEncrypted(decryption, length)
	}
	if length+8 <= int64(len(tail)) {
		tail = bytes.Clone(tail[int64(len(tail))-8-length : len(tail)-8]) // the footer keeps it
	} else {
		tail = make([]byte, length)
		if err := f.ReadAt(tail, size-8-length); err != nil {
			return nil, err
		}
	}
	if decryption != nil { // columns may be encrypted
		if err := Check(tail); err != nil {
			return nil, err
		}
		return f.parseEncrypted(decryption, length)
	}
	return New(tail)
}

// parseEncrypted parses the footer of an encrypted file, or of a file with encrypted columns. arrow-go decrypts it.
func (f *File) parseEncrypted(decryption *parquet.FileDecryptionProperties, length int64) (_ *Footer, err error) {
	if decryption == nil {
		return nil, failure.ErrEncrypted
	}
	defer failure.Guard(&err)
	props := parquet.NewReaderProperties(nil)
	props.FileDecryptProps = decryption.Clone("")
	r, err := file.NewParquetReader(io.NewSectionReader(f.Reader, 0, f.Size), file.WithReadProps(props))
	if err != nil {
		return nil, fmt.Errorf("encrypted footer: %w", err)
	}
	plain, err := r.MetaData().Serialize(context.Background())
	if err != nil {
		return nil, fmt.Errorf("%w: encrypted footer: %w", failure.ErrUnsupported, err)
	}
	out, err := New(plain)
	if err == nil {
		out.Decrypting, out.Length = r, length
	}
	return out, err
}

// Chunk returns the metadata of a column chunk, decrypted if need be.
func (f *File) Chunk(group, leaf int) (m ChunkMeta, err error) {
	m, err = f.PlainChunk(group, leaf)
	switch {
	case err != nil:
		return m, err
	case m.Encrypted && f.Decrypting == nil: // the footer is not encrypted
		return m, failure.ErrEncrypted
	case m.Encrypted:
		return f.decryptChunk(group, leaf)
	case !m.Known:
		return m, failure.Corrupt("column chunk metadata is missing, or lacks a required field")
	}
	return m, nil
}

// decryptChunk returns the metadata of an encrypted column chunk.
func (f *File) decryptChunk(group, leaf int) (m ChunkMeta, err error) {
	defer failure.Guard(&err)
	f.Keys.Lock()
	defer f.Keys.Unlock()
	c, err := f.Decrypting.MetaData().RowGroup(group).ColumnChunk(leaf)
	if err != nil {
		return m, failure.Corrupt("%w", err)
	}
	m.Path, m.Encrypted = c.FilePath(), true
	m.ColumnMeta = ColumnMeta{
		Known: true, Codec: c.Compression(), Values: c.NumValues(), Uncompressed: c.TotalUncompressedSize(),
		Compressed: c.TotalCompressedSize(), Data: c.DataPageOffset(), Dictionary: c.DictionaryPageOffset(),
	}
	return m, nil
}

// LeafOf returns the index of the leaf of a column of the file, and its type. It returns false if the column has no
// leaf of its own.
func (f *File) LeafOf(path string) (int, column.Type, bool) {
	n := Lookup(f.Nodes, path)
	if n == nil || n.Leaf == nil {
		return 0, column.Type{}, false
	}
	return n.Leaf.Index, n.Leaf.Type, true
}

// Range returns the offset and length of a column chunk in the file.
func (f *File) Range(meta *ChunkMeta) (start, length int64, err error) {
	start = meta.Data
	// Some old writers store 0 as the offset of a dictionary, whether it exists or not.
	if meta.Dictionary > 0 && meta.Dictionary < start {
		start = meta.Dictionary
	}
	length = meta.Compressed
	size := f.Size
	if start < 0 || length < 0 || start > size || length > size-start {
		return 0, 0, failure.Corrupt("column chunk of %d bytes at %d in a file of %d", length, start, size)
	}
	if f.Meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		// Their length omits the dictionary page's header (PARQUET-816).
		length += min(size-start-length, 100)
	}
	return start, length, nil
}

// Has reports whether a section lies in the file.
func (f *File) Has(s Section) bool {
	return s.Offset > 0 && s.Length > 0 && s.Length <= f.Size-s.Offset
}

// Read returns the bytes of a section of the file, nil if the file lacks them.
func (f *File) Read(s Section) []byte {
	if !f.Has(s) {
		return nil
	}
	b := make([]byte, s.Length)
	if f.ReadAt(b, s.Offset) != nil {
		return nil
	}
	return b
}
