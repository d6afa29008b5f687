// SPDX-License-Identifier: Apache-2.0

// Package cql contains the types of CQL and its protocol: CQL types and their parsers, Go values for CQL values,
// consistency levels, error codes, schema metadata, nodes, and the interfaces and errors of the codec.
//
// Packages share these types with the driver without depending on sessions. Package cql imports the standard library
// only.
package cql
