// SPDX-License-Identifier: Apache-2.0

// Package parquetscan reads Parquet files into columns of Go slices: one file or many, in parallel by row groups, with the footer of each
// file read once.
//
//	d, err := parquetscan.Open(ctx, parquetscan.Config{}, "data/*.parquet")
//	s, err := d.Scan(parquetscan.Options{
//		Columns: []string{"id", "embedding"},
//		Filter:  parquetscan.Ge("day", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
//	})
//	for b, err := range s.All(ctx) {
//		ids := parquetscan.Values[int64](b.Column("id"))
//		vectors := b.Column("embedding") // one matrix: Dim() float32 per row
//		matrix := parquetscan.Values[float32](vectors)
//	}
//
// A [Dataset] is open files, a [Scan] is what of them is to be read, a [Bucket] is some of its row groups. Buckets are values that can be saved
// and sent: work is shared between machines, or resumed after a crash, by who reads which.
//
// There are four ways to read, by who owns the memory:
//
//   - [Scan.All]: all buckets in parallel, each [Batch] is the caller's for ever;
//   - [Scan.Batches]: one bucket, likewise;
//   - [Scan.Borrow]: all buckets in parallel, a callback per batch, whose memory is used again: the fastest way to aggregate;
//   - [Reader.ReadInto]: one bucket, into a Batch that is used again.
//
// Pages are walked, and the encodings that nearly all pages are in decoded, by this package: PLAIN, RLE_DICTIONARY, levels by runs,
// BYTE_STREAM_SPLIT. Footers, indexes, bloom filters, decompression, decryption and all other encodings are arrow-go's, which is the reference for
// the rest, too. Bytes that do not follow the format give an [*Error] that says where, never a panic, in memory that [Options].MaxBatchBytes
// bounds.
package parquetscan
