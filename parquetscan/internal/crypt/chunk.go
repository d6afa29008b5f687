// SPDX-License-Identifier: Apache-2.0

package crypt

import (
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Encrypted column chunks: their metadata and their pages.

// maxOrdinal bounds the numbers of row groups and columns (Encryption.md, 4.4.2).
const maxOrdinal = 1<<15 - 1

// A Chunk decrypts the modules of a column chunk.
type Chunk struct {
	file          *File
	key           *key
	group, column int
}

// Chunk returns a Chunk. crypto is the ColumnCryptoMetaData of the chunk, and column is its number in the row group.
// own reports whether the column has its own key.
func (f *File) Chunk(crypto thrift.Reader, group, column int) (c *Chunk, own bool, err error) {
	m := readColumnCrypto(&crypto)
	if crypto.Failed() || !m.known {
		return nil, false, failure.Corrupt("invalid ColumnCryptoMetaData")
	}
	if group > maxOrdinal || column > maxOrdinal {
		return nil, false, failure.Corrupt("encrypted column %d of row group %d, want at most %d", column, group, maxOrdinal)
	}
	k, err := f.column(&m)
	return &Chunk{f, k, group, column}, m.own, err
}

// Meta returns the content of the module of the chunk's metadata.
func (c *Chunk) Meta(b []byte) ([]byte, error) {
	return c.key.open(nil, b, c.file.aadOf(columnMetaModule, c.group, c.column), false)
}

// A Page is the place of a page in its chunk.
type Page struct {
	Dictionary bool
	Ordinal    int // of a data page
}

// Header appends the header of a page to dst.
func (c *Chunk) Header(dst, b []byte, p Page) ([]byte, error) {
	return c.key.open(dst, b, c.aadOf(p, dictionaryHeaderModule, dataHeaderModule), false)
}

// Page appends a page to dst.
func (c *Chunk) Page(dst, b []byte, p Page) ([]byte, error) {
	return c.key.open(dst, b, c.aadOf(p, dictionaryPageModule, dataPageModule), c.file.ctr)
}

func (c *Chunk) aadOf(p Page, dictionary, data byte) []byte {
	if p.Dictionary {
		return c.file.aadOf(dictionary, c.group, c.column)
	}
	return c.file.aadOf(data, c.group, c.column, p.Ordinal)
}
