// SPDX-License-Identifier: Apache-2.0

// Package tablescan reads whole tables by ranges of tokens, several ranges at a time:
//
//	scan, err := tablescan.New(ctx, session, "SELECT id, embedding FROM shop.items", tablescan.Config{})
//	...
//	err = scan.Run(ctx, func(worker int, b *column.Batch) error {
//		return groups.Add(ctx, b)
//	})
//
// Each request asks for a page of one range, and goes to a node that stores the range. Pages are bounded in bytes
// (Config.PageBytes), since 5,000 rows of vectors are 30 MB. Every row of a table that does not change is passed to the
// program exactly once, also while nodes fail, tablets move or the cluster is resized: ranges are about tokens, which
// any node can serve. A range that fails is read again from its last complete page, on other nodes, and is then cut
// into smaller ones. Rows written or deleted during the scan may or may not be in it.
//
// While the program has a page, its worker requests the next one, within half of the session's memory budget. Run
// passes batches to a function on several goroutines, Batches yields them in a loop, and [Rows] yields the rows as
// values of a Go type. [Tokens] reads the tokens only, for counts by range, node and partition. A [Source] is a table
// at the start of a chain of package pipe.
//
// # Resume
//
// A page is acknowledged when the function has returned nil for it, or when the loop of Batches or Rows goes on to the
// next batch or row. Scan.Checkpoint returns what is not acknowledged, as a value for JSON. A scan made with it
// (Config.Checkpoint), perhaps by another process, passes the remaining rows only: no acknowledged row again, and no
// row lost. A program that stores checkpoints beside its results is therefore exact after a crash if it stores both at
// once; if it stores the checkpoint last, the pages since then come again.
//
// A position is a token and the number of rows of that token, not the server's paging state, which depends on the
// version and may expire. To resume within a partition the scan therefore reads the partition from its start, and
// drops the acknowledged rows. Rows in a partition have the order of the clustering columns. When acknowledged rows
// of this partition are deleted before the scan resumes, as many of its other rows are missed.
//
// # Statements
//
// The statement is a SELECT of columns, or *, with or without a WHERE clause; a filter may need ALLOW FILTERING,
// whose cost is the program's decision. The scan adds the range of tokens, and the token of each row as a column that
// it removes again. GROUP BY, ORDER BY, LIMIT and aggregates are a *StatementError: their result for a table cannot
// be made of the results of its parts. Use package groupby.
package tablescan
