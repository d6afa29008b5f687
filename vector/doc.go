// SPDX-License-Identifier: Apache-2.0

// Package vector finds the nearest rows of a matrix of vectors, exactly, and computes distances, scores and quantized
// vectors. It needs no cluster, no index and no other program.
//
//	m := vector.MatrixOf(embeddings, 768)                                     // []float32, row after row
//	r, err := vector.Nearest(ctx, m, query, 10, vector.Cosine, vector.Options{})   // one query, or many
//	positions, distances := r.Query(0)
//
// The rows are in memory of the caller: floats, bytes of a CQL result or of a Parquet page, float16, bfloat16, int8
// with a scale for each row, or bits. [MatrixOfColumn] makes a matrix of a column of a batch, [MatrixOfBlobs] one of
// quantized vectors. An [Accumulator] searches rows that arrive in parts:
//
//	a, err := vector.New(queries, 768, 10, vector.Dot)
//	err = a.Add(ctx, part, first, vector.Options{})   // for each part, also from several goroutines
//	r := a.Result()
//
// # Shapes and units
//
// Queries are []float32, one after the other. Elements are counted in elements, memory in bytes. A distance is smaller
// for a nearer row; [Metric] defines it for each metric. [Metric.Score] converts it to the similarity of CQL servers,
// which is greater for a nearer row.
//
// # Defined results
//
//   - The result is the one of computing each distance alone and sorting all rows by distance, then by position. It
//     does not depend on the number of workers, on parts, or on the number of queries.
//   - Distances are computed in float32. [Distance] states the difference from [Reference], which computes in float64.
//     If a sum overflows, the distance is the one of Reference.
//   - A distance is NaN if arithmetic makes it NaN, and for [Cosine] if the row is zero or has an infinite element; NaN
//     is farther than all other distances. ScyllaDB does the same; Cassandra refuses such rows.
//   - Queries must be finite, and not zero for Cosine.
//   - Rows outside of [Matrix].Validity and [Options].Selection are never found.
//
// # Quantized rows
//
// [Quantize] rounds vectors to a half, a quarter or a thirty-second of their memory. Rows of Float16, BFloat16 and Int8
// are multiplied with the queries as they are. With [Options].QuantizeQueries the queries of rows of Int8 are rounded,
// too, and multiplied in integers. The distance d' is then exact for both rounded vectors, apart from one rounding to
// float32. For a query q and a row x of n elements, whose scales are s and t, and the rounded row x', it differs from
// the distance d of the floats by at most
//
//	L2          e = 0.51 √n (s+t)
//	SquaredL2   e (2√d + e)
//	Dot         0.51 (s Σ|x'| + t Σ|q|)
//	Cosine      1.02 √n (s/|q| + t/|x|)
//
// Such a search finds candidates, several times as many as needed. A second one, whose [Options].Selection has the
// candidates of a query, computes the distances of their floats: see the example of [Options].
//
// # Speed
//
// A few queries are multiplied with each row alone, at the speed of memory. More than that are multiplied in tiles of
// several rows and 16 queries in registers. A tile compares its sums with the k-th best distance found so far, less the
// bound of their rounding errors; the few rows that remain are then computed alone. Rows of more than 2,048 elements
// are multiplied in segments, so that tiles stay in the processor's cache. Kernels for AVX2, AVX-512 and NEON are
// selected at the start ([KernelName]); the build tag purego leaves them out.
//
// # Ownership and errors
//
// Matrices are only read, and must not change during a call. Results are the caller's. Functions that append return
// their destination as it was if they fail. Errors of dimensions are *[DimensionError], errors of elements
// *[ElementError]; the others wrap [ErrK], [ErrMetric], [ErrShape], [ErrZero] and [ErrBlob].
package vector
