// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/column"
)

// Results of commands: --output.

// outputs are the values of --output.
var outputs = []string{"table", "json", "csv", "parquet", "arrow"}

// A sink writes the batches of a result in one format. The columns of all batches are those of the first one.
type sink interface {
	// Write writes the rows of a batch, and keeps nothing of it.
	Write(b *column.Batch) error
	// Close writes what is left. The stream below stays open.
	Close() error
}

// addOutputFlag gives a verb the flag --output.
func (e *env) addOutputFlag(c *cobra.Command) {
	c.Flags().StringVarP(&e.output, "output", "o", outputs[0], "`format` of the result: table, json, csv, parquet or arrow")
	must(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp)))
}

// newSink returns a sink that writes to standard output in the format of --output.
func (e *env) newSink() (sink, error) {
	switch e.output {
	case "table", "":
		return &tableSink{w: e.out, width: e.width}, nil
	case "parquet", "arrow":
		if e.isTerminal {
			return nil, usagef("--output %s does not go to a terminal: redirect standard output to a file", e.output)
		}
	case "json", "csv":
	default:
		return nil, usagef("--output is %q, want table, json, csv, parquet or arrow", e.output)
	}
	return newFileSink(e.out, e.output)
}

// writeResult writes batches as one result. The error of a batch ends the result after the rows before it.
func (e *env) writeResult(batches iter.Seq2[*column.Batch, error]) (err error) {
	out, err := e.newSink()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for b, err := range batches {
		if err == nil {
			err = out.Write(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newFileSink returns a sink that writes to w in a format of files.
func newFileSink(w io.Writer, format string) (sink, error) {
	return nil, fmt.Errorf("--output %s: not in this version", format)
}
