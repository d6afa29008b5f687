// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
)

// Results of commands: --output.

// outputs are the values of --output.
var outputs = []string{"table", "json", "csv", "parquet", "arrow"}

// addOutputFlag defines a verb's flag --output.
func (e *env) addOutputFlag(c *cobra.Command) { e.addFormatFlag(c, outputs) }

// addFormatFlag defines a verb's flag --output with these values.
func (e *env) addFormatFlag(c *cobra.Command, formats []string) {
	c.Flags().StringVarP(&e.output, "output", "o", outputs[0], "`format` of the result: "+alternatives(formats))
	must(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
}

// alternatives returns words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// newSink returns a Writer to standard output in the format of --output.
func (e *env) newSink() (rowfile.Writer, error) {
	formats := outputs
	if e.draws {
		formats = drawnOutputs
	}
	if e.output != "" && !slices.Contains(formats, e.output) {
		return nil, usagef("--output is %q, want %s", e.output, alternatives(formats))
	}
	if err := e.checkChart(); err != nil {
		return nil, err
	}
	switch {
	case e.chart != "" || e.output == svgOutput:
		return e.newChartSink(), nil
	case e.output == "table" || e.output == "":
		return &tableSink{w: e.out, width: e.width, long: e.expand, null: e.null}, nil
	}
	format, err := rowfile.ParseFormat(e.output)
	if err != nil {
		return nil, err
	}
	if e.isTerminal && (format == rowfile.Parquet || format == rowfile.Arrow) {
		return nil, usagef("--output %s does not go to a terminal: redirect standard output to a file", e.output)
	}
	o := rowfile.WriterOptions{Format: format, Stream: true}
	if e.null != nil {
		o.Values.Nulls = []string{*e.null}
	}
	return &fileSink{w: e.out, o: o}, nil
}

// A fileSink is a rowfile.Writer with the schema of its first batch. A result without batches writes nothing.
type fileSink struct {
	w   io.Writer
	o   rowfile.WriterOptions
	out rowfile.Writer
}

// Write implements rowfile.Writer.
func (s *fileSink) Write(b *column.Batch) (err error) {
	if s.out == nil {
		if s.out, err = rowfile.NewWriter(s.w, b.Schema(), s.o); err != nil {
			return err
		}
	}
	return s.out.Write(b)
}

// Close implements rowfile.Writer.
func (s *fileSink) Close() error {
	if s.out == nil {
		return nil
	}
	return s.out.Close()
}

// writeResult writes batches as one result. The error of a batch ends the result after the rows before it.
func (e *env) writeResult(batches iter.Seq2[*column.Batch, error]) (err error) {
	out, err := e.newSink()
	if err != nil {
		return err
	}
	defer func() { err = closeResult(out, err) }()
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
