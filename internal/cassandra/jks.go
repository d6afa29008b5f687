// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the format demands SHA-1
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"time"
	"unicode/utf16"
)

// Key stores in Java's format JKS, for Cassandra 4.0, which does not read PEM files. OpenJDK's
// sun.security.provider.JavaKeyStore and KeyProtector define the format.

// storePassword protects the key stores of tests, which are as secret as the keys beside them.
const storePassword = "vecql-test"

const (
	jksMagic, jksVersion   = 0xFEEDFEED, 2
	jksKey, jksCertificate = 1, 2
)

// passwordBytes is storePassword in UTF-16, big endian.
func passwordBytes() []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(storePassword)) {
		b = binary.BigEndian.AppendUint16(b, unit)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func appendBytes(b, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

func appendEntry(b []byte, tag uint32, alias string) []byte {
	b = appendText(binary.BigEndian.AppendUint32(b, tag), alias)
	return binary.BigEndian.AppendUint64(b, uint64(time.Now().UnixMilli()))
}

// sealStore appends the checksum of a store.
func sealStore(b []byte) []byte {
	sealed := bytes.Join([][]byte{passwordBytes(), []byte("Mighty Aphrodite"), b}, nil)
	sum := sha1.Sum(sealed) //nolint:gosec // see the import
	return append(b, sum[:]...)
}

// newStore returns the head of a store with one entry.
func newStore() []byte {
	b := binary.BigEndian.AppendUint32(nil, jksMagic)
	b = binary.BigEndian.AppendUint32(b, jksVersion)
	return binary.BigEndian.AppendUint32(b, 1)
}

// trustStore returns a store with the certificate of an authority.
func trustStore(authority *identity) []byte {
	b := appendText(appendEntry(newStore(), jksCertificate, "authority"), "X.509")
	return sealStore(appendBytes(b, authority.cert.Raw))
}

// keyStore returns a store with a key and its chain.
func keyStore(id, authority *identity) ([]byte, error) {
	plain, err := x509.MarshalPKCS8PrivateKey(id.key)
	if err != nil {
		return nil, err
	}
	protected, err := protectKey(plain)
	if err != nil {
		return nil, err
	}
	b := appendBytes(appendEntry(newStore(), jksKey, "node"), protected)
	b = binary.BigEndian.AppendUint32(b, 2)
	for _, cert := range []*x509.Certificate{id.cert, authority.cert} {
		b = appendBytes(appendText(b, "X.509"), cert.Raw)
	}
	return sealStore(b), nil
}

// protectKey encrypts a PKCS #8 key as KeyProtector does: XOR with a chain of SHA-1 sums of the password.
func protectKey(plain []byte) ([]byte, error) {
	password := passwordBytes()
	salt := make([]byte, sha1.Size)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	sealed, link := bytes.Clone(salt), salt
	for i, b := range plain {
		at := i % sha1.Size
		if at == 0 {
			sum := sha1.Sum(append(bytes.Clone(password), link...)) //nolint:gosec // see the import
			link = sum[:]
		}
		sealed = append(sealed, b^link[at])
	}
	check := sha1.Sum(append(bytes.Clone(password), plain...)) //nolint:gosec // see the import
	protector := asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 42, 2, 17, 1, 1}
	return asn1.Marshal(struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}{
		pkix.AlgorithmIdentifier{Algorithm: protector, Parameters: asn1.NullRawValue},
		append(sealed, check[:]...),
	})
}
