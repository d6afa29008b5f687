// SPDX-License-Identifier: Apache-2.0

package cql

// What a program may implement for its connections.

// An Authenticator answers the SASL challenges of a server. Several connections may use one value at once.
type Authenticator interface {
	// Challenge returns the response to req and the Authenticator for the next challenge, nil if no further challenge
	// is expected. The first req is the class name of the server's authenticator.
	Challenge(req []byte) (resp []byte, auth Authenticator, err error)
	// Success receives the data of AUTH_SUCCESS. It is called on the Authenticator that Challenge returned last, or on
	// the receiver of Challenge if that was nil.
	Success(data []byte) error
}

// A Compressor compresses what a connection sends and decompresses what the server sends. Every method appends to dst
// and returns the result; on an error it returns dst unchanged. Methods do not retain src. Several goroutines may call
// them at once.
type Compressor interface {
	// Name returns the COMPRESSION option of STARTUP: "lz4" or "snappy".
	Name() string
	// AppendCompressedWithLength appends a compressed v4 body, which includes its uncompressed length.
	AppendCompressedWithLength(dst, src []byte) ([]byte, error)
	// AppendDecompressedWithLength is the inverse of AppendCompressedWithLength. For a body of more than limit bytes it
	// returns an error and allocates nothing.
	AppendDecompressedWithLength(dst, src []byte, limit int) ([]byte, error)
	// AppendCompressed appends the compressed payload of a v5 segment. The segment header has the uncompressed length.
	AppendCompressed(dst, src []byte) ([]byte, error)
	// AppendDecompressed is the inverse of AppendCompressed, for an uncompressed payload of exactly size bytes.
	AppendDecompressed(dst, src []byte, size int) ([]byte, error)
}
