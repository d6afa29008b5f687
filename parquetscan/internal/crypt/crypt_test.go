// SPDX-License-Identifier: Apache-2.0

package crypt

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Modules of files. Package parquetscan tests those that other programs write.

const testKey = "0123456789abcdef"

// fileOf returns a File with testKey for the footer, and counts the calls of KeyOf.
func fileOf(t *testing.T, a *Algorithm, calls *int) *File {
	t.Helper()
	f, err := NewFile(Keys{FooterKey: []byte(testKey), KeyOf: func(metadata []byte) ([]byte, error) {
		*calls++
		return bytes.Repeat(metadata, 16), nil
	}}, a, nil)
	require.NoError(t, err)
	return f
}

// seal returns a module.
func (k *key) seal(content, aad []byte) []byte {
	nonce := []byte("twelve bytes")
	sealed := k.gcm.Seal(nil, nonce, content, aad)
	b := binary.LittleEndian.AppendUint32(nil, uint32(nonceBytes+len(sealed)))
	return append(append(b, nonce...), sealed...)
}

// ownKey is a ColumnCryptoMetaData of the column a.b, whose key has the metadata "m".
const ownKey = "\x2c\x19\x28\x01a\x01b\x18\x01m\x00\x00"

// TestModules opens the modules of a column chunk, and no others.
func TestModules(t *testing.T) {
	calls := 0
	f := fileOf(t, &Algorithm{known: true, unique: []byte("unique")}, &calls)
	c, own, err := f.Chunk(thrift.Reader{B: []byte(ownKey)}, 2, 3)
	require.NoError(t, err)
	require.True(t, own)
	for _, p := range []Page{{true, 0}, {false, 0}, {false, 1}, {false, 40_000}} {
		aad := binary.LittleEndian.AppendUint16([]byte("unique\x02\x02\x00\x03\x00"), uint16(p.Ordinal))
		if p.Dictionary {
			aad = []byte("unique\x03\x02\x00\x03\x00")
		}
		module := c.key.seal([]byte("content"), aad)
		require.EqualValues(t, len(module), ModuleLength(module))
		got, err := c.Page([]byte("before "), module, p)
		require.NoError(t, err)
		require.Equal(t, "before content", string(got))
		_, err = c.Page(nil, module, Page{Ordinal: p.Ordinal + 1})
		require.ErrorIs(t, err, failure.ErrCorrupt, "another page")
		_, err = c.Header(nil, module, p)
		require.ErrorIs(t, err, failure.ErrCorrupt, "a header")
		other, _, err := f.Chunk(thrift.Reader{B: []byte(ownKey)}, 2, 4)
		require.NoError(t, err)
		_, err = other.Page(nil, module, p)
		require.ErrorIs(t, err, failure.ErrCorrupt, "another column")
		for n := range module {
			_, err = c.Page(nil, module[:n], p)
			require.ErrorIs(t, err, failure.ErrCorrupt, n)
		}
	}
	require.Equal(t, 1, calls, "the key of a column is kept")
	require.Zero(t, ModuleLength([]byte{1, 2, 3}))
}

// TestCTR opens pages without authentication, but metadata with it.
func TestCTR(t *testing.T) {
	calls := 0
	f := fileOf(t, &Algorithm{known: true, ctr: true}, &calls)
	c, own, err := f.Chunk(thrift.Reader{B: []byte("\x1c\x00\x00")}, 0, 0)
	require.NoError(t, err)
	require.False(t, own)
	module := append([]byte{19, 0, 0, 0}, "twelve bytes\x00\x00\x00\x00\x00\x00\x00"...)
	stream, err := c.Page(nil, module, Page{})
	require.NoError(t, err)
	require.Len(t, stream, 7)
	for i, b := range []byte("content") {
		module[lengthBytes+nonceBytes+i] = b ^ stream[i]
	}
	content, err := c.Page(nil, module, Page{})
	require.NoError(t, err)
	require.Equal(t, "content", string(content))
	_, err = c.Header(nil, module, Page{})
	require.ErrorIs(t, err, failure.ErrCorrupt)
	_, err = c.Meta(module)
	require.ErrorIs(t, err, failure.ErrCorrupt)
}

// TestOddMetadata reads metadata of encryption that contradicts the format.
func TestOddMetadata(t *testing.T) {
	calls := 0
	f := fileOf(t, &Algorithm{known: true}, &calls)
	for n := range len(ownKey) {
		_, _, err := f.Chunk(thrift.Reader{B: []byte(ownKey[:n])}, 0, 0)
		require.ErrorIs(t, err, failure.ErrCorrupt, n)
	}
	for _, text := range []string{"\x00", "\x3c\x00\x00", "\x2c\x19\x25\x02\x02\x00\x00", "\x2c\x19\xf8\xff\xff\x03\x00\x00"} {
		_, _, err := f.Chunk(thrift.Reader{B: []byte(text)}, 0, 0)
		require.ErrorIs(t, err, failure.ErrCorrupt, "%q", text)
	}
	for _, ordinals := range [][2]int{{1 << 15, 0}, {0, 1 << 15}} {
		_, _, err := f.Chunk(thrift.Reader{B: []byte(ownKey)}, ordinals[0], ordinals[1])
		require.ErrorIs(t, err, failure.ErrCorrupt)
	}
	_, err := NewFile(Keys{}, ReadAlgorithm(&thrift.Reader{B: []byte("\x3c\x00\x00")}), nil)
	require.ErrorIs(t, err, failure.ErrUnsupported)
	const file = "\x1c\x2c\x28\x01u\x00\x00\x18\x01m\x00rest"
	a, metadata, module, err := Split([]byte(file))
	require.NoError(t, err)
	require.Equal(t, &Algorithm{known: true, ctr: true, unique: []byte("u")}, a)
	require.Equal(t, "m rest", string(metadata)+" "+string(module))
	for n := range len(file) - len("rest") {
		_, _, _, err := Split([]byte(file[:n]))
		require.ErrorIs(t, err, failure.ErrCorrupt, n)
	}
}
