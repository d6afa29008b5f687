// SPDX-License-Identifier: Apache-2.0

// Package bulk writes many rows to a table: from batches of columns or from structs, with as many requests in flight as
// the cluster handles well, with retries, rejected rows and a checkpoint.
//
//	files, err := parquetscan.Open(ctx, "items-*.parquet")
//	w, err := bulk.Insert(session, "shop.items", bulk.Options{})
//	for batch, err := range files.Batches(ctx) {
//		err = w.Write(ctx, batch)
//	}
//	err = w.Close(ctx)
//
// # Requests in flight
//
// Each row is encoded once and goes to a replica of its partition. A writer of [Insert] sends consecutive rows in one
// request, an unlogged batch of up to Options.BatchRows rows, if they are of one partition, or small and with a replica
// in common (Options.BatchPartitions). All other rows are requests of their own. A batch that fails for good is
// divided, so that one bad row fails alone.
//
// A limit for each node, and for each shard of ScyllaDB, adapts by additive increase and multiplicative decrease: it
// grows while latencies stay near their minimum, and shrinks on higher latencies, to 16 at least, and on OVERLOADED,
// timeouts and UNAVAILABLE. Of several replicas a row goes to the one with the shortest wait. Options.MaxInFlight and
// MaxBytes bound all requests, RowsPerSecond and BytesPerSecond their rate.
//
// # Order
//
// Rows are written in any order. Of two rows with one primary key, either may remain.
//
// # Failures
//
// A row whose failure may pass (OVERLOADED, a timeout, a lost node) is sent again, with exponential backoff, for
// Options.RetryFor. A write that is not idempotent is sent again only if it certainly was not executed. INSERTs of
// [Insert] are idempotent. The text of a statement of [New] decides: conditions, counters, additions to lists and calls
// of functions such as now() are not idempotent. A row that fails for good is rejected: see Options.MaxRejected.
//
// # Checkpoint
//
// A row has a position: the file of its batch, and its number in the whole input (column.Source). Rows of a batch
// without a source, and structs, are numbered in the order of Write, under the source "". With Options.Checkpoint the
// writer stores the positions of acknowledged rows in a file. After a crash a program opens the same input and the same
// checkpoint and writes the same rows: the writer skips those that the file lists. Rows acknowledged since the file was
// last written are written again. If the statement is not idempotent, the file also lists, before they are sent, the
// rows that may be sent, 64 at a time. After a crash the listed rows that were not acknowledged are rejected with
// [ErrInDoubt].
package bulk
