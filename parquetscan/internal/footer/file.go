// SPDX-License-Identifier: Apache-2.0

// Package footer reads the footers of files: the schema, the row groups, and the metadata of column chunks.
package footer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/input"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
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
}

// ParseFooter reads and parses the footer. Of a file that is not mapped, it reads FirstRead bytes first, and a second
// time if the footer is longer. All lengths are checked against the size of the file before any allocation. keys nil
// means that there are none.
func (f *File) ParseFooter(keys *crypt.Keys) (*Footer, error) {
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
	if encrypted && keys == nil {
		return nil, failure.ErrEncrypted
	}
	if length+8 <= int64(len(tail)) {
		tail = bytes.Clone(tail[int64(len(tail))-8-length : len(tail)-8]) // the footer keeps it
	} else {
		tail = make([]byte, length)
		if err := f.ReadAt(tail, size-8-length); err != nil {
			return nil, err
		}
	}
	switch {
	case encrypted:
		return newEncrypted(tail, keys)
	case keys != nil: // columns may be encrypted
		return newSigned(tail, keys)
	}
	return New(tail)
}

// newEncrypted parses an encrypted footer.
func newEncrypted(b []byte, keys *crypt.Keys) (out *Footer, err error) {
	a, metadata, module, err := crypt.Split(b)
	if err != nil {
		return nil, err
	}
	secrets, err := crypt.NewFile(*keys, a, metadata)
	if err != nil {
		return nil, err
	}
	plain, err := secrets.Footer(module)
	if err != nil {
		return nil, fmt.Errorf("encrypted footer: %w", err)
	}
	if out, err = New(plain); err != nil {
		return nil, err
	}
	out.Secrets, out.Length = secrets, int64(len(b))
	return out, nil
}

// newSigned parses a footer that is not encrypted, and verifies its signature if columns are.
func newSigned(b []byte, keys *crypt.Keys) (*Footer, error) {
	p, err := parse(b)
	if err != nil {
		return nil, err
	}
	switch {
	case p.algorithm != nil:
		if p.Secrets, err = crypt.NewFile(*keys, p.algorithm, p.signingKey); err != nil {
			return nil, err
		}
		if err = p.Secrets.Verify(b[:p.end], b[p.end:]); err != nil {
			return nil, err
		}
	case !keys.AllowPlaintext:
		return nil, errors.New("the file is not encrypted: Decryption.AllowPlaintext allows that")
	}
	return p.footer()
}

// Chunk returns the metadata of a column chunk, decrypted if need be.
func (f *File) Chunk(group, leaf int) (m ChunkMeta, err error) {
	m, err = f.PlainChunk(group, leaf)
	switch {
	case err != nil:
		return m, err
	case m.Encrypted:
		_, err = f.Secret(group, leaf, &m)
	case !m.Known:
		err = failure.Corrupt("column chunk metadata is missing, or lacks a required field")
	}
	return m, err
}

// Secret returns the decrypting reader of an encrypted column chunk. If the metadata is encrypted, it replaces m. The
// statistics of columns with a key of their own, and their filters, are not used.
func (f *File) Secret(group, leaf int, m *ChunkMeta) (*crypt.Chunk, error) {
	if f.Secrets == nil { // the footer is not encrypted
		return nil, failure.ErrEncrypted
	}
	ordinal := int(f.Groups[group].Ordinal)
	if ordinal < 0 {
		ordinal = group
	}
	secret, own, err := f.Secrets.Chunk(thrift.Reader{B: f.raw, Pos: m.crypto}, ordinal, leaf)
	if err != nil {
		return nil, err
	}
	if own && !m.opened {
		plain, err := secret.Meta(m.sealed)
		if err != nil {
			return nil, fmt.Errorf("metadata of the column chunk: %w", err)
		}
		r := thrift.Reader{B: plain}
		m.ColumnMeta = readColumnMeta(&r)
		m.Known, m.opened = m.Known && !r.Failed(), true
	}
	m.Statistics, m.Sizes, m.Bloom = 0, 0, Section{}
	if !m.Known {
		return nil, failure.Corrupt("metadata of the encrypted column chunk is missing, or lacks a required field")
	}
	return secret, nil
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
	if f.Writer.omitsDictionaryHeader() {
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
