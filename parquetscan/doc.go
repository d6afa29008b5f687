// SPDX-License-Identifier: Apache-2.0

// Package parquetscan reads Parquet files into columns in memory, and writes them: one file or many, in parallel by row
// groups. It reads and writes batches of package column.
//
//	ds, err := parquetscan.Open(ctx, "items-*.parquet")
//	for batch, err := range ds.Batches(ctx, "id", "name", "embedding") {
//		ids, err := column.Slice[int64](batch.Column("id"))              // []int64
//		m, err := column.MatrixOf[float32](batch.Column("embedding"))    // m.Row(i) is a []float32
//	}
//	err = parquetscan.WriteFile(ctx, "copy.parquet", batches...)
//
// # Reading
//
// A [Dataset] is a set of open files. A [Scan] selects columns and rows of a Dataset. A [Bucket] is a range of row
// groups of a Scan. Buckets can be stored and sent, so that several machines share the work or a program resumes after
// a crash.
//
// The four ways to read differ in the owner of the memory:
//
//   - [Dataset.Batches] and [Scan.All]: all row groups in parallel; batches are fresh and may be kept;
//   - [Scan.Batches]: one bucket, in fresh batches;
//   - [Scan.Borrow]: all row groups in parallel, a callback per batch, which is valid until the callback returns: the
//     fastest way to aggregate;
//   - [Reader.ReadInto]: one bucket, into a batch whose memory is used again.
//
// Strings that a file stores with a dictionary are read as codes and a dictionary (column.Column.Codes; column.TextView
// reads both forms), unless Options.Text is set. Lists of equal length are read as vectors: Options.Lists states the
// rule, and Options.Vectors is for programs that need vectors. Values of 16 bytes are UUIDs only if the file declares
// them as UUIDs, and Fixed otherwise. Columns may share a name; Options.Positions selects them by position, and
// Options.NumberNames numbers them. A column that contains a group without fields cannot be read; the others can.
//
// A [Filter] and a [Selector] select rows. Their columns are read first, and pages of the other columns without a
// selected row are not decompressed. [Dataset.Rows] reads rows by their numbers.
//
// # Writing
//
// [WriteFile] writes batches to a file, [Create] writes a file batch by batch. In both cases the file appears under its
// name only when it is complete and on disk. [NewWriter] writes to any io.Writer. Files of a Writer read back as the
// same columns, including kinds that Parquet does not have; other readers read those kinds as text, structs and lists.
//
// # Damaged files
//
// This package decodes PLAIN, RLE_DICTIONARY, levels in runs, BYTE_STREAM_SPLIT and the delta encodings.
// Packages of the module decompress Snappy and, on amd64, Zstandard. klauspost/compress decompresses Zstandard on other
// processors, and Gzip. [Config].Decryption contains the keys of encrypted files.
// Bytes that break the format cause an [*Error] with their location, never a panic. Options.MaxBatchBytes bounds the
// memory.
package parquetscan
