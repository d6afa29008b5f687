// SPDX-License-Identifier: Apache-2.0

// Package cql contains the types of CQL and its protocol: CQL types and their parsers, Go values for CQL values,
// consistency levels, error codes, schema metadata, and the interfaces and errors of the codec.
//
// Programs rarely import it: package vecql names everything in it under the same names, so that cql.UUID and cql.UUID
// are one type. Package cql is for packages that share these types with the driver without depending on sessions. It
// imports the standard library only.
package cql
