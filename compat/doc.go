// SPDX-License-Identifier: Apache-2.0

// Package compat holds what the compat modules for programs written for gocql share: gocql's meanings of values, rows,
// errors and policies on package vecql. Programs use the modules, compat/gocql, compat/gocqlv2 and compat/scyllagocql,
// instead.
//
// A Dialect converts values as one of the three APIs does, by internal/codec where that is the same. Rows makes
// Iter.Scan decode by plans of the dialect (codec.ScanPlan), and reads tuples and maps through Iter.NextRaw.
// internal/codec registers the codec interfaces of the modules.
//
// compat/api holds the parts of the APIs that the modules share, which they declare by aliases; what refers to a
// module's own types is generic in them. A module's Query embeds api.Query, whose setters return the module's type, its
// HostInfo embeds api.Host, its Iter api.Iter. Functions of the package, not methods, reach the state of these types,
// so that a module's type has no name that its API lacks. The options that most queries share with their session,
// api.Rare, are immutable: a setter stores a changed copy.
//
// What Go does not let a package take over, names and forwarding methods of a module's own types, stands in one module
// and is copied to the others by compat/cmd/generate, into files named _gen.go: most of it in compat/gocql/shared.go.
// compat/gocql/older.go and compat/gocqlv2/newer.go have what changed after v1.7.
//
// compat/tests is a module that compares the dialects, the rows and the behavior with the APIs themselves. compat/cmd
// compares the names of the modules with the APIs (apidiff), and lists what differs for a program (gocqlcheck).
// compat/ecosystem builds and tests public programs on the modules.
package compat
