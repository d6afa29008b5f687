// SPDX-License-Identifier: Apache-2.0

// Package gen writes Go code for the tables of a keyspace: a struct for each table and each user-defined type, and the
// statements of each table on the typed verbs of the driver.
//
//   - ReadFiles reads the schema of files of CQL. It executes them on a cluster of package cqltest in this process, so
//     that the schema of files and the schema of a server take one path from there: cql.KeyspaceMetadata. That
//     cluster has no materialized views: files_view.go reads their statements.
//   - Options are the settings of a run: of the file vecql.gen.toml and of flags.
//   - Generate makes the files. model.go, statement.go, lookup.go, index.go, types.go and names.go turn metadata into
//     the fields of the templates package.go.tmpl and package_test.go.tmpl; schema.go and sample.go make the statements
//     and values of the tests.
//   - Write and Check put the files into a folder, or compare them with it.
//
// Non-obvious:
//
//   - Static columns are a struct of their own. A partition may have static values without a row, which a SELECT of
//     all columns returns as a row whose clustering columns are NULL.
//   - Fields of types that are keys of maps are cql.Null instead of pointers: Go compares pointers by address.
//   - Names are assigned to rows of all tables first, then to types, then to what is named after a row, so that a new
//     table changes few names.
package gen
