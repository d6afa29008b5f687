// SPDX-License-Identifier: Apache-2.0

// Package rowfile reads and writes files of rows: Parquet, Arrow IPC, CSV and JSON lines, each plain, in gzip or in
// zstd, in files or in streams. Rows are batches of package column.
//
//	in, err := rowfile.Open(rowfile.Options{Fields: fields}, "items-*.csv.gz", "more/", "-")
//	for batch, err := range in.Batches(ctx) {
//
//	f, err := rowfile.Create("items.parquet", schema, rowfile.WriterOptions{})
//	err = f.Write(batch)
//	err = f.Close()
//
// # Types
//
// Parquet and Arrow files have types. The fields of CSV and JSON have the types of Options.Fields, and so has text of
// a Parquet or Arrow file where a field of another type is wanted. Text has the form of literals of CQL;
// docs/whole-tables.md lists the differences. A value that does not fit its type makes its record an error: no number
// is cut, no unknown word becomes false.
//
// # NULL and empty text
//
// In CSV a field without quotes that is one of Values.Nulls, by default the empty one, is NULL. A field in quotes is
// never NULL. In JSON null is NULL.
//
// # Nested values
//
// Lists, sets, vectors, tuples, maps and user-defined types are JSON, also in a CSV field: [1, 2], {"key": "value"}. A
// map whose keys are not scalars is a list of pairs.
//
// # Positions
//
// A batch has the file and the number of its first record in that file, from 0 (column.Source). A record that is not a
// row has a number, too.
//
// # Inside
//
// Text is split into records, whose fields are appended to builders of columns. Each writer of text has an Encoder,
// whose blocks a file takes one after the other. Row groups of Parquet are encoded by goroutines of the file's writer.
// Files with types are read without a conversion where the types are those that are wanted.
package rowfile
