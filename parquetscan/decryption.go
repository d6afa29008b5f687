// SPDX-License-Identifier: Apache-2.0

package parquetscan

// A Decryption contains the keys of encrypted files (Parquet Modular Encryption: Encryption.md of parquet-format).
// Files may be encrypted with AES_GCM_V1 or AES_GCM_CTR_V1, with an encrypted footer or a signed plaintext footer. Keys
// have 16, 24 or 32 bytes. Several goroutines use a Decryption at once, so it must not change.
type Decryption struct {
	// FooterKey decrypts the footer, or verifies its signature, and decrypts columns without a key of their own.
	FooterKey []byte
	// ColumnKeys contains the keys of columns by their path in the file's schema: "id", "address.city",
	// "tags.list.element".
	ColumnKeys map[string][]byte
	// KeyOf returns the key for the key metadata in a file, if neither FooterKey nor ColumnKeys contains the key. Writers
	// choose the metadata, for example the name of a key, or a key that is encrypted by a key service. KeyOf is called by
	// several goroutines at once. nil means that all keys are in FooterKey and ColumnKeys.
	KeyOf func(metadata []byte) ([]byte, error)
	// AADPrefix is the identity of the file, which the writer chose. A file that does not contain its prefix cannot be
	// read without it; another prefix than the file's is an error.
	AADPrefix []byte
	// AllowPlaintext permits files that are not encrypted, which are an error otherwise.
	AllowPlaintext bool
	// IgnoreSignature leaves the signature of a plaintext footer unverified.
	IgnoreSignature bool
}
