// SPDX-License-Identifier: Apache-2.0

package crypt

import (
	"bytes"
	"errors"
	"strings"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Metadata of encryption (parquet.thrift: EncryptionAlgorithm, FileCryptoMetaData, ColumnCryptoMetaData).

// An Algorithm is the algorithm of a file, and its part of the AAD.
type Algorithm struct {
	known          bool
	ctr            bool // AES_GCM_CTR_V1, else AES_GCM_V1
	prefix, unique []byte
	supplied       bool // the prefix is not in the file
}

// ReadAlgorithm reads an EncryptionAlgorithm.
func ReadAlgorithm(r *thrift.Reader) *Algorithm {
	a := &Algorithm{}
	for id, typ := range r.Fields() {
		if id != 1 && id != 2 || typ != thrift.Struct {
			r.Skip(typ, 2)
			continue
		}
		*a = Algorithm{known: true, ctr: id == 2}
		for id, typ := range r.Fields() {
			switch {
			case id == 1 && typ == thrift.Binary:
				a.prefix = r.Binary()
			case id == 2 && typ == thrift.Binary:
				a.unique = r.Binary()
			case id == 3 && typ == thrift.True:
				a.supplied = true
			default:
				r.Skip(typ, 3)
			}
		}
	}
	return a
}

// prefixOf returns the prefix of the AAD. given is the caller's.
func (a *Algorithm) prefixOf(given []byte) ([]byte, error) {
	switch {
	case a.supplied && len(given) == 0:
		return nil, errors.New("the file was encrypted with an AAD prefix that it does not contain: Decryption.AADPrefix is needed")
	case len(a.prefix) > 0 && len(given) > 0 && !bytes.Equal(a.prefix, given):
		return nil, errors.New("the file was encrypted with another AAD prefix than Decryption.AADPrefix")
	case len(a.prefix) > 0:
		return a.prefix, nil
	case !a.supplied && len(given) > 0:
		return nil, errors.New("the file was encrypted without an AAD prefix, but Decryption.AADPrefix is set")
	}
	return given, nil
}

// Split returns the algorithm, the metadata of the footer's key, and the module of the footer, which follow each other
// at the end of a file with an encrypted footer.
func Split(b []byte) (a *Algorithm, metadata, module []byte, err error) {
	r := thrift.Reader{B: b}
	for id, typ := range r.Fields() {
		switch {
		case id == 1 && typ == thrift.Struct:
			a = ReadAlgorithm(&r)
		case id == 2 && typ == thrift.Binary:
			metadata = r.Binary()
		default:
			r.Skip(typ, 1)
		}
	}
	if r.Failed() || a == nil {
		return nil, nil, nil, failure.Corrupt("invalid FileCryptoMetaData")
	}
	return a, metadata, b[r.Pos:], nil
}

// A columnCrypto is a ColumnCryptoMetaData.
type columnCrypto struct {
	known, own bool
	path       string
	metadata   []byte // of the column's key
}

// readColumnCrypto reads a ColumnCryptoMetaData.
func readColumnCrypto(r *thrift.Reader) (c columnCrypto) {
	for id, typ := range r.Fields() {
		if id != 1 && id != 2 || typ != thrift.Struct {
			r.Skip(typ, 6)
			continue
		}
		c = columnCrypto{known: true, own: id == 2}
		for id, typ := range r.Fields() {
			switch {
			case c.own && id == 1 && typ == thrift.List:
				c.path = readPath(r)
			case c.own && id == 2 && typ == thrift.Binary:
				c.metadata = r.Binary()
			default:
				r.Skip(typ, 7)
			}
		}
	}
	return c
}

// readPath reads a path of names as a dotted one.
func readPath(r *thrift.Reader) string {
	typ, n := r.List()
	if n > 0 && typ != thrift.Binary || !r.Fits(n) {
		r.Bad = true
		return ""
	}
	names := make([]string, n)
	for i := range names {
		names[i] = string(r.Binary())
	}
	return strings.Join(names, ".")
}
