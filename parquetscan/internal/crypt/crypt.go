// SPDX-License-Identifier: Apache-2.0

// Package crypt decrypts the modules of encrypted files (parquet-format, Encryption.md).
package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// The keys of a file.

// Keys are the keys of encrypted files. Package parquetscan documents the fields.
type Keys struct {
	FooterKey       []byte
	ColumnKeys      map[string][]byte
	KeyOf           func(metadata []byte) ([]byte, error)
	AADPrefix       []byte
	AllowPlaintext  bool
	IgnoreSignature bool
}

// A File decrypts the modules of one file. It is safe for concurrent use.
type File struct {
	keys   Keys
	ctr    bool   // pages are encrypted by AES-CTR
	aad    []byte // the prefix and the unique part, which begin the AAD of each module
	footer func() (*key, error)

	columns sync.Map // the key of each column that has its own, by path
}

// A key is a key of the ciphers.
type key struct {
	block cipher.Block
	gcm   cipher.AEAD
}

// NewFile returns a File for an algorithm and the metadata of the footer's key.
func NewFile(keys Keys, a *Algorithm, metadata []byte) (*File, error) {
	if !a.known {
		return nil, fmt.Errorf("%w: encryption algorithm", failure.ErrUnsupported)
	}
	prefix, err := a.prefixOf(keys.AADPrefix)
	if err != nil {
		return nil, err
	}
	f := &File{keys: keys, ctr: a.ctr, aad: slices.Concat(prefix, a.unique)}
	f.footer = sync.OnceValues(func() (*key, error) { return f.keyOf("footer", keys.FooterKey, metadata) })
	return f, nil
}

// keyOf returns the key of the footer or a column: the explicit one, or the one of its metadata.
func (f *File) keyOf(what string, explicit, metadata []byte) (*key, error) {
	b := explicit
	if len(b) == 0 && f.keys.KeyOf != nil && len(metadata) > 0 {
		var err error
		if b, err = f.keys.KeyOf(metadata); err != nil {
			return nil, fmt.Errorf("key of the %s: %w", what, err)
		}
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: no key of the %s (key metadata %q)", failure.ErrEncrypted, what, metadata)
	}
	block, err := aes.NewCipher(b)
	if err != nil {
		return nil, fmt.Errorf("key of the %s: %w", what, err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("key of the %s: %w", what, err)
	}
	return &key{block, gcm}, nil
}

// column returns the key of a column.
func (f *File) column(c *columnCrypto) (*key, error) {
	if !c.own {
		return f.footer()
	}
	if k, ok := f.columns.Load(c.path); ok {
		return k.(*key), nil
	}
	k, err := f.keyOf("column "+c.path, f.keys.ColumnKeys[c.path], c.metadata)
	if err == nil {
		f.columns.Store(c.path, k)
	}
	return k, err
}

// The lengths of the parts of a module (Encryption.md, 5.1).
const (
	lengthBytes = 4
	nonceBytes  = 12
	tagBytes    = 16
)

// The types of modules (Encryption.md, 4.4.2).
const (
	footerModule           = 0
	columnMetaModule       = 1
	dataPageModule         = 2
	dictionaryPageModule   = 3
	dataHeaderModule       = 4
	dictionaryHeaderModule = 5
)

// ModuleLength returns the length of the module that b begins with, 0 if b is too short for its length.
func ModuleLength(b []byte) int64 {
	if len(b) < lengthBytes {
		return 0
	}
	return lengthBytes + int64(binary.LittleEndian.Uint32(b))
}

var errModule = errors.New("the key is wrong, or the bytes were changed")

// open appends the content of a module, which is all of b, to dst. Without ctr, the content is authentic.
func (k *key) open(dst, b, aad []byte, ctr bool) ([]byte, error) {
	least := lengthBytes + nonceBytes + tagBytes
	if ctr {
		least -= tagBytes
	}
	if len(b) < least || ModuleLength(b) != int64(len(b)) {
		return nil, failure.Corrupt("encrypted module of %d bytes states another length", len(b))
	}
	nonce, content := b[lengthBytes:lengthBytes+nonceBytes], b[lengthBytes+nonceBytes:]
	if ctr {
		iv := [aes.BlockSize]byte{aes.BlockSize - 1: 1} // the counter begins with 1
		copy(iv[:], nonce)
		at := len(dst)
		dst = append(dst, content...)
		cipher.NewCTR(k.block, iv[:]).XORKeyStream(dst[at:], content)
		return dst, nil
	}
	out, err := k.gcm.Open(dst, nonce, content, aad)
	if err != nil {
		return nil, failure.Corrupt("encrypted module: %w", errModule)
	}
	return out, nil
}

// aadOf returns the AAD of a module: its type, and its numbers of 16 bits.
func (f *File) aadOf(module byte, numbers ...int) []byte {
	aad := append(slices.Clip(f.aad), module)
	for _, n := range numbers {
		aad = binary.LittleEndian.AppendUint16(aad, uint16(n))
	}
	return aad
}

// Footer returns the content of the module of an encrypted footer.
func (f *File) Footer(b []byte) ([]byte, error) {
	k, err := f.footer()
	if err != nil {
		return nil, err
	}
	return k.open(nil, b, f.aadOf(footerModule), false)
}

// Verify checks the signature of a footer that is not encrypted: the nonce and the tag of its encryption.
func (f *File) Verify(footer, signature []byte) error {
	if f.keys.IgnoreSignature {
		return nil
	}
	if len(signature) != nonceBytes+tagBytes {
		return failure.Corrupt("signature of the footer has %d bytes, want %d", len(signature), nonceBytes+tagBytes)
	}
	k, err := f.footer()
	if err != nil {
		return err
	}
	sealed := k.gcm.Seal(nil, signature[:nonceBytes], footer, f.aadOf(footerModule))
	if !bytes.Equal(sealed[len(footer):], signature[nonceBytes:]) {
		return failure.Corrupt("signature of the footer: %w", errModule)
	}
	return nil
}
