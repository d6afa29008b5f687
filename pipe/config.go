// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Options and numbers of a run.

// A Config has the options of a run. The zero value of each field is valid.
type Config struct {
	// Workers is the number of goroutines. Default: GOMAXPROCS, and for a source of From the source's own number.
	Workers int
	// MemoryLimit, SpillDir and SpillCodec bound the memory of each Aggregate and Distinct, as in groupby.Config.
	MemoryLimit int64
	SpillDir    string
	SpillCodec  groupby.Codec
	// Stats is set when a run ends; nil means none. It must not be shared by runs at the same time.
	Stats *Stats

	lists []string // columns of files that are read as lists, after a run that read them as vectors at first
}

// Stats are the numbers of a run.
type Stats struct {
	Elapsed time.Duration
	// Bytes are the compressed bytes of the columns of Parquet files that were read, before row groups and pages were
	// skipped. Columns that are read late, for the rows of a result alone, count in the row groups of these rows.
	Bytes int64
	Steps []StepStats
}

// StepStats are the numbers of a step.
type StepStats struct {
	Step string        // as in Explain
	Rows int64         // that the step passed on
	Time time.Duration // of all goroutines
}

// String returns the numbers, one line a step.
func (s *Stats) String() string {
	b := &column.Batch{Rows: len(s.Steps)}
	var steps []string
	var rows, micros []int64
	for _, step := range s.Steps {
		steps, rows = append(steps, step.Step), append(rows, step.Rows)
		micros = append(micros, step.Time.Microseconds())
	}
	b.Columns = []column.Column{
		column.Of("rows", rows), column.Of("microseconds", micros), column.Strings("step", steps),
	}
	return b.Table(200, len(steps))
}
