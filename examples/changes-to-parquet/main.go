// SPDX-License-Identifier: Apache-2.0

// Command changes-to-parquet writes the changes of a ScyllaDB table to Parquet files, each change exactly once.
//
//	go run ./examples/changes-to-parquet [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	part-000000000.parquet: 2 rows
//	part-000000001.parquet: 2 rows
//
// The checkpoint is in the metadata of each file, and a file appears under its name at once: a program that was killed
// resumes after the last file. In production, leave Config.Until out, and raise partRows to a million.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/column"
)

const partRows = 2 // of a file, and the rest of its last batch

func main() {
	if err := demo(context.Background(), os.Args[1:], "changes", os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// capture writes the changes that the files of the folder do not have.
func capture(ctx context.Context, session *vecql.Session, cfg cdc.Config, folder string, out io.Writer) error {
	parts, err := filepath.Glob(filepath.Join(folder, "part-*.parquet"))
	if err == nil && len(parts) > 0 {
		cfg.Checkpoint, err = checkpointOf(ctx, parts[len(parts)-1])
	}
	if err != nil {
		return fmt.Errorf("read the checkpoint: %w", err)
	}
	reader, err := cdc.Open(ctx, session, "examples.orders", cfg)
	if err != nil {
		return err
	}
	part, rows := []*column.Batch(nil), 0
	write := func() error {
		if len(part) == 0 {
			return nil
		}
		path := filepath.Join(folder, fmt.Sprintf("part-%09d.parquet", len(parts)))
		fmt.Fprintf(out, "%s: %d rows\n", filepath.Base(path), rows)
		err := writePart(path, part, reader.Checkpoint())
		parts, part, rows = append(parts, path), nil, 0
		return err
	}
	for b, err := range reader.Batches(ctx) {
		// The checkpoint has the batches of part, and not b. A table that was altered begins a file.
		if err == nil && (rows >= partRows || len(part) > 0 && len(b.Columns) != len(part[0].Columns)) {
			err = write()
		}
		if err != nil {
			return err
		}
		part, rows = append(part, b), rows+b.Rows
	}
	return write()
}
