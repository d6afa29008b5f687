// SPDX-License-Identifier: Apache-2.0

package cql

// Destinations that are decoded in place.

// A Destination is the result of vecql.Into, vecql.AppendTo and vecql.Borrow: an argument of Scan that is decoded in
// place, into memory of the program, without an allocation. It is opaque and may be used for any number of rows, by one
// goroutine at a time.
//
// Other implementations of the interface are plain Unmarshalers, which receive a copy of the cell.
type Destination interface{ Unmarshaler }

// VectorElement is the constraint of vector elements whose memory in Go differs from the protocol in byte order only:
// float32 for the CQL type float, float64 for double, int32 for int, int64 for bigint, and UUID for uuid and timeuuid.
// A vector of them can be decoded in place, or as a row of a matrix.
type VectorElement interface {
	float32 | float64 | int32 | int64 | UUID
}
