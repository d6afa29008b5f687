// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Files with checkpoints.

// writePart writes a file with a checkpoint.
func writePart(path string, part []*column.Batch, c cdc.Checkpoint) error {
	all, err := column.Concat(part...)
	if err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	options := parquetscan.WriterOptions{Metadata: map[string]string{"checkpoint": string(text)}}
	file, err := parquetscan.Create(path, all.Schema(), options)
	if err != nil {
		return err
	}
	return errors.Join(file.Write(all), file.Close())
}

// checkpointOf returns the checkpoint in a file.
func checkpointOf(ctx context.Context, name string) (*cdc.Checkpoint, error) {
	files, err := parquetscan.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	c := new(cdc.Checkpoint)
	return c, json.Unmarshal([]byte(files.Metadata(0)["checkpoint"]), c)
}
