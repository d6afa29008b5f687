// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/page"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Encrypted files, which arrow-go writes.

// encryptedFields are the columns of encrypted files.
var encryptedFields = []arrow.Field{
	{Name: "a", Type: arrow.PrimitiveTypes.Int64},
	{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "c", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
}

// encryptedBytes returns a file of random rows in short pages.
func encryptedBytes(t testing.TB, fields []arrow.Field, key string, encryption []parquet.EncryptOption, props ...parquet.WriterProperty) []byte {
	props = append([]parquet.WriterProperty{
		parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(80), parquet.WithBatchSize(10),
		parquet.WithEncryptionProperties(parquet.NewFileEncryptionProperties(key, encryption...)),
	}, props...)
	return writeArrow(t, rand.New(rand.NewPCG(1, 2)), fields, 200, 0.2, 0, 100, props...)
}

// encryptedFile opens an encrypted file of random rows in short pages.
func encryptedFile(t *testing.T, fields []arrow.Field, version parquet.DataPageVersion) *Dataset {
	t.Helper()
	key := strings.Repeat("f", 16)
	b := encryptedBytes(t, fields, key, nil, parquet.WithDataPageVersion(version))
	return openSources(t, Config{Decryption: &Decryption{FooterKey: []byte(key)}}, b)
}

// TestEncryption reads files of both algorithms and all sizes of keys, of both kinds of footers, of columns with the
// footer's key, a key of their own, and none, with and without an AAD prefix.
func TestEncryption(t *testing.T) {
	for i, algorithm := range []parquet.Cipher{parquet.AesGcm, parquet.AesCtr} {
		for k, signed := range [][]parquet.EncryptOption{nil, {parquet.WithPlaintextFooter()}} {
			for size, prefix := range map[int][]parquet.EncryptOption{
				16: nil, 24: {parquet.WithAadPrefix("table")}, 32: {parquet.WithAadPrefix("table"), parquet.DisableAadPrefixStorage()},
			} {
				t.Run(fmt.Sprintf("%d/%d/%d", i, k, size), func(t *testing.T) {
					key, own := strings.Repeat("f", size), strings.Repeat("o", size)
					columns := parquet.ColumnPathToEncryptionPropsMap{
						"a":              parquet.NewColumnEncryptionProperties("a", parquet.WithKey(own), parquet.WithKeyID("own")),
						"c.list.element": parquet.NewColumnEncryptionProperties("c.list.element"),
					}
					options := append(append([]parquet.EncryptOption{parquet.WithAlg(algorithm), parquet.WithFooterKeyID("footer")}, signed...), prefix...)
					version, dictionary := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[(i+k)%2], size == 24
					codec := map[int]compress.Compression{16: compress.Codecs.Uncompressed, 24: compress.Codecs.Snappy, 32: compress.Codecs.Zstd}[size]
					b := encryptedBytes(t, encryptedFields, key, append(options, parquet.WithEncryptedColumns(columns)),
						parquet.WithDataPageVersion(version), parquet.WithDictionaryDefault(dictionary), parquet.WithCompression(codec))
					explicit := Decryption{FooterKey: []byte(key), ColumnKeys: map[string][]byte{"a": []byte(own)}}
					named := *keyRing{"footer": key, "own": own}.keys()
					mislabeled := algorithm == parquet.AesCtr && signed != nil
					if mislabeled {
						setCTR(t, b)
					}
					for _, d := range []Decryption{explicit, named} {
						d.IgnoreSignature = mislabeled
						if size == 32 {
							d.AADPrefix = []byte("table")
						}
						checkDecryption(t, b, d)
					}
				})
			}
		}
	}
}

// setCTR sets the algorithm in a plaintext footer to AES_GCM_CTR_V1: arrow-go v18.8 states AES_GCM_V1 for either.
func setCTR(t *testing.T, b []byte) {
	t.Helper()
	r := thrift.Reader{B: footerOf(b)}
	for id, typ := range r.Fields() {
		if id == 8 {
			require.Equal(t, byte(1<<4|thrift.Struct), r.B[r.Pos])
			r.B[r.Pos] = 2<<4 | thrift.Struct
		}
		r.Skip(typ, 1)
	}
}

// checkDecryption reads an encrypted file with keys and with another prefix.
func checkDecryption(t *testing.T, b []byte, keys Decryption) {
	t.Helper()
	d := openSources(t, Config{Decryption: &keys}, b)
	requireEqual(t, d, Options{})
	requireEqual(t, d, Options{BatchRows: 7})
	checkSelections(t, rand.New(rand.NewPCG(3, 4)), d, Options{})
	wrong := keys
	wrong.AADPrefix = []byte("another")
	other, err := Config{Decryption: &wrong}.OpenSources(t.Context(), memorySource("x", b))
	if err == nil {
		err = lastError(t, other, Options{})
		require.NoError(t, other.Close())
	}
	require.Error(t, err)
	requireTyped(t, err)
	if len(keys.AADPrefix) > 0 {
		wrong.AADPrefix = nil
		_, err := Config{Decryption: &wrong}.OpenSources(t.Context(), memorySource("x", b))
		require.ErrorContains(t, err, "Decryption.AADPrefix is needed")
	}
}

// TestEncryptedPages reads encrypted pages of both versions, with NULLs and lists, and skips some of them.
func TestEncryptedPages(t *testing.T) {
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		d := encryptedFile(t, encryptedFields, version)
		f := d.files[0]
		for leaf := range encryptedFields {
			open := func() *page.Walker {
				meta, err := f.Chunk(0, leaf)
				require.NoError(t, err)
				p, err := page.Open(&f.File, 0, leaf, &meta, page.Options{Limit: 1 << 20, Verify: true}, nil)
				require.NoError(t, err)
				return p
			}
			all, second, pages, values := open(), open(), 0, int32(0)
			for ; ; pages++ {
				h, peeked := all.Peek()
				p, err := all.Next()
				require.Equal(t, peeked, err)
				if err == nil {
					require.Equal(t, h.NumValues, p.NumValues)
					values += p.NumValues
				}
				if pages%2 == 0 {
					require.Equal(t, err, second.Skip())
				} else if other, err := second.Next(); err == nil {
					require.True(t, bytes.Equal(p.Data, other.Data))
				}
				if err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
			}
			require.Greater(t, pages, 3)
			require.GreaterOrEqual(t, values, int32(100))
		}
	}
}

// TestChangedModules changes bytes of an encrypted file: each is an error, at the latest when the rows are read, unless
// no module has the byte.
func TestChangedModules(t *testing.T) {
	key := strings.Repeat("f", 16)
	for _, signed := range [][]parquet.EncryptOption{nil, {parquet.WithPlaintextFooter()}} {
		b := encryptedBytes(t, encryptedFields, key, signed)
		config := Config{Decryption: &Decryption{FooterKey: []byte(key)}}
		rng, footerAt := rand.New(rand.NewPCG(5, 6)), len(b)-8-len(footerOf(b))
		for at := 4; at < len(b)-8; at += 1 + rng.IntN(40) {
			changed := bytes.Clone(b)
			changed[at] ^= 1 << rng.IntN(8)
			d, err := config.OpenSources(t.Context(), memorySource("x", changed))
			if err == nil {
				_, err = readTexts(d, Options{})
				require.NoError(t, d.Close())
			}
			require.Error(t, err, "byte %d of %d, footer at %d", at, len(b), footerAt)
			requireTyped(t, err)
			require.True(t, errors.Is(err, ErrCorrupt) || at >= footerAt, "byte %d: %v", at, err)
		}
	}
}

// TestKeysOfWrongFiles opens files with keys that do not fit.
func TestKeysOfWrongFiles(t *testing.T) {
	key := strings.Repeat("f", 16)
	plain := numbers(0, 3)
	open := func(b []byte, keys Decryption) error {
		d, err := Config{Decryption: &keys}.OpenSources(t.Context(), memorySource("x", b))
		if err == nil {
			require.NoError(t, d.Close())
		} else {
			requireTyped(t, err)
		}
		return err
	}
	require.ErrorContains(t, open(plain, Decryption{FooterKey: []byte(key)}), "Decryption.AllowPlaintext")
	require.NoError(t, open(plain, Decryption{FooterKey: []byte(key), AllowPlaintext: true}))
	failing := errors.New("the service is down")
	for _, options := range [][]parquet.EncryptOption{nil, {parquet.WithPlaintextFooter()}} {
		b := encryptedBytes(t, encryptedFields, key, append(options, parquet.WithFooterKeyID("footer")))
		require.NoError(t, open(b, Decryption{FooterKey: []byte(key), AllowPlaintext: true}))
		require.ErrorIs(t, open(b, Decryption{}), ErrEncrypted)
		require.ErrorIs(t, open(b, *keyRing{}.keys()), ErrEncrypted)
		require.ErrorIs(t, open(b, Decryption{FooterKey: []byte("another key 1234")}), ErrCorrupt)
		require.ErrorContains(t, open(b, Decryption{FooterKey: []byte("short")}), "invalid key size 5")
		require.ErrorIs(t, open(b, Decryption{KeyOf: func([]byte) ([]byte, error) { return nil, failing }}), failing)
	}
	b := encryptedBytes(t, encryptedFields, key, []parquet.EncryptOption{parquet.WithPlaintextFooter()})
	require.NoError(t, open(b, Decryption{FooterKey: []byte("another key 1234"), IgnoreSignature: true}))
	require.NoError(t, open(b, Decryption{IgnoreSignature: true}))
}

// TestMetadataOfOwnKeys requires the encrypted metadata of a column chunk with a key of its own: the other is not
// authentic.
func TestMetadataOfOwnKeys(t *testing.T) {
	w := footerOfGroup(1, func(w *compactWriter) {
		w.list(1, thrift.Struct, 1)
		w.open()
		w.begin(3)
		w.i32(4, 0)
		for _, id := range []int16{5, 6, 7, 9} {
			w.i64(id, 8)
		}
		w.end()
		w.begin(8)
		w.begin(2)
		w.list(1, thrift.Binary, 1)
		w.bytes("n")
		w.end()
		w.end()
		w.end()
		w.i64(3, 1)
	})
	f, err := footer.New(w.b)
	require.NoError(t, err)
	keys := crypt.Keys{ColumnKeys: map[string][]byte{"n": []byte(strings.Repeat("o", 16))}}
	f.Secrets, err = crypt.NewFile(keys, crypt.ReadAlgorithm(&thrift.Reader{B: []byte("\x1c\x00\x00")}), nil)
	require.NoError(t, err)
	_, err = (&footer.File{Footer: f}).Chunk(0, 0)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "metadata of the column chunk")
}

// TestLimitOfEncryptedPages reads encrypted pages of as many bytes as a batch may have, and of one more.
func TestLimitOfEncryptedPages(t *testing.T) {
	d := encryptedFile(t, []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, parquet.DataPageV1)
	meta, err := d.files[0].Chunk(0, 0)
	require.NoError(t, err)
	p, err := page.Open(&d.files[0].File, 0, 0, &meta, page.Options{Limit: 1 << 20}, nil)
	require.NoError(t, err)
	most := 0
	for page, err := p.Next(); err == nil; page, err = p.Next() {
		most = max(most, len(page.Data))
	}
	require.NotZero(t, most)
	require.NoError(t, lastError(t, d, Options{MaxBatchBytes: most}))
	err = lastError(t, d, Options{MaxBatchBytes: most - 1})
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "page of ")
}

// lastError reads all rows, and returns the error that ended the read, nil after the last row.
func lastError(t *testing.T, d *Dataset, o Options) (last error) {
	t.Helper()
	s := scanOf(t, d, o)
	for _, last = range s.Batches(t.Context(), everything(s)) {
	}
	return last
}

// FuzzEncrypted reads changed files. Their pages are not authentic, and neither is a plaintext footer.
func FuzzEncrypted(f *testing.F) {
	key := strings.Repeat("f", 16)
	for _, signed := range [][]parquet.EncryptOption{nil, {parquet.WithPlaintextFooter()}} {
		f.Add(encryptedBytes(f, encryptedFields, key, append(signed, parquet.WithAlg(parquet.AesCtr))))
		f.Add(encryptedBytes(f, encryptedFields[:1], key, signed, parquet.WithDictionaryDefault(true), parquet.WithDataPageVersion(parquet.DataPageV2)))
	}
	cfg := Config{ReadBytes: 512, Decryption: &Decryption{FooterKey: []byte(key), AllowPlaintext: true, IgnoreSignature: true}}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readAllWith(cfg, b, Options{MaxBatchBytes: fuzzLimit}); err != nil {
			requireTyped(t, err)
		}
	})
}
