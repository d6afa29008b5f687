// SPDX-License-Identifier: Apache-2.0

// Package cdc reads the change log of a ScyllaDB table (change data capture) into batches of columns:
//
//	reader, err := cdc.Open(ctx, session, "shop.items", cdc.Config{})
//	...
//	err = reader.Run(ctx, func(worker int, b *column.Batch) error {
//		return store(b)
//	})
//
// A batch is rows of the table's log, shop.items_scylla_cdc_log, with the columns of the log: cdc$stream_id, cdc$time,
// cdc$batch_seq_no, cdc$operation (see [Operation]) and the others that docs/cdc.md describes. The columns of the table
// have their types in the log, where a list is a map by time UUIDs. When the table is altered, later batches have other
// columns. [Rows] yields the rows of the log as values of a struct.
//
// # Streams and windows
//
// The log is divided into streams, which are its partitions. A generation is the streams of a span of time: a new one
// begins when a node joins, or when tablets are split or merged. The reader reads a window of time of all streams, then
// the next window. A window ends where a generation ends, so that a closed generation is read to its end before the
// next one begins. Streams of one range of tokens are read by one request, which goes to a node that stores them.
//
// Keyspaces with vnodes (system_distributed.cdc_generation_timestamps, cdc_streams_descriptions_v2) and with tablets
// (system.cdc_timestamps, cdc_streams) are read alike. ScyllaDB's docs/dev/cdc.md describes both.
//
// # Promises
//
// Each change is passed to the program once, and the changes of a stream in their order. A change is the rows with one
// cdc$stream_id and one cdc$time; it is in one batch, unless the table is altered meanwhile. The promise holds for
// changes that are in the log Config.Confidence after their time: clocks of clients and nodes differ, writes take time,
// and retries and hints come late. A change that is written later with an old timestamp is missed.
//
// A batch is acknowledged when the function has returned nil for it, or when the loop of Batches goes on to the next
// one, a change when the loop of Rows goes on after it. Reader.Checkpoint returns what is acknowledged, as a value for
// JSON. A reader opened with it (Config.Checkpoint), perhaps by another process, passes the other changes only. Within
// the loop of Batches the checkpoint has exactly the batches of earlier iterations. A program that stores it together
// with their output, in one transaction, has each change exactly once after a crash; a program that stores the
// checkpoint last gets the changes since then again.
//
// The rows of a log expire (the option ttl of cdc, by default one day). A reader that is so late that rows may have
// expired unread ends with an [*ExpiredError].
package cdc
