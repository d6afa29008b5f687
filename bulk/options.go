// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"math"
	"time"

	"github.com/vecql/vecql"
)

// Options configure a Writer. The zero value suits most programs. Columns, RefuseExtra, AllowMissing, TTL, TTLColumn
// and TimestampColumn apply to Insert, which writes the statement; New refuses them with ErrOptions. An invalid value
// is ErrOptions, too.
type Options struct {
	// Columns names the column of the table for a column of the batch; an empty name leaves the column out. Other columns
	// go to the column of their name.
	Columns map[string]string
	// RefuseExtra makes a column that the table does not have an error. By default it is ignored.
	RefuseExtra bool
	// AllowMissing allows batches without some columns of the table; columns of the primary key are required.
	AllowMissing bool
	// TTL is the time to live of all rows, in whole seconds; 0 means the table's. TTLColumn names a column of the batch
	// with the time to live of each row: int, in seconds.
	TTL       time.Duration
	TTLColumn string
	// TimestampColumn names a column of the batch with the write time of each row: int64, in microseconds since the
	// epoch. Query.Timestamp sets one for all rows.
	TimestampColumn string

	// WriteNulls writes NULLs, which deletes older values and leaves tombstones. By default a NULL of a batch leaves its
	// column unset; protocol v3 has no such value, so that a row with a NULL is rejected there. NULLs of structs are
	// always written.
	WriteNulls bool
	// Query sets further options of each request: consistency, profile, timeout. nil means none. The writer sets retry
	// policy and idempotence itself.
	Query func(q *vecql.Query)
	// Counters allows statements that update counters. An update that times out may or may not have been executed: it is
	// rejected.
	Counters bool
	// AssumeIdempotent declares that executing the statement twice has the effect of executing it once. It is needed for
	// statements of New that contain functions, and for rows with a write time of their own (TimestampColumn, or USING
	// TIMESTAMP) and a list that is not frozen, whose elements a second write repeats.
	AssumeIdempotent bool

	MaxInFlight int // requests; default 1024
	// BatchRows is the largest number of rows of a batch: consecutive rows that a writer of Insert sends in one request,
	// because they are of one partition, or have 2 KiB of values at most and a replica in common. Default 64; 1 means that
	// each row is a request.
	BatchRows int
	// BatchPartitions is the largest number of partitions of a batch. Default 10, beyond which Cassandra logs a warning;
	// 20, as in cqlsh, load small rows with less work for the server. 1 means batches of one partition.
	BatchPartitions int
	// MaxBytes bounds the encoded rows that were accepted and are not finished. Default 64 MiB, at most half of
	// ClusterConfig.Limits.MemoryBudget. A larger row is written alone.
	MaxBytes int64
	// Rates over one second; 0 means no limit.
	RowsPerSecond, BytesPerSecond float64

	RetryFor time.Duration // from the first attempt of a row; default 5 min
	// MaxRejected and MaxRejectedPercent are how many rows may fail for good: the larger of the two counts. After one more
	// the writer stops with a *RejectedError. The default 0 stops at the first such row.
	MaxRejected int
	// The percentage counts all finished rows, at least 1,000 while rows are written. Close tests it once more.
	MaxRejectedPercent float64
	// Rejected is called with each row that fails for good within the bounds, one call at a time. Its error stops the
	// writer. nil means that such rows are only counted.
	Rejected func(r Rejection) error

	// Checkpoint is the path of the checkpoint; empty means none. Only one writer may use it at a time. See the package
	// documentation.
	Checkpoint      string
	CheckpointEvery time.Duration // default 5 s
	// Job identifies the input, such as the names and sizes of files. A checkpoint of another job is a *JobError.
	Job string
}

// withDefaults returns the options with defaults, or an error for an invalid one.
func (o Options) withDefaults() (Options, error) {
	var err error
	check := func(valid bool, format string, args ...any) {
		if err == nil && !valid {
			err = fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...)
		}
	}
	check(o.MaxInFlight >= 0, "MaxInFlight is %d, must not be negative", o.MaxInFlight)
	check(o.BatchRows >= 0 && o.BatchRows <= vecql.BatchSizeMaximum,
		"BatchRows is %d, must be 0 to %d", o.BatchRows, vecql.BatchSizeMaximum)
	check(o.BatchPartitions >= 0, "BatchPartitions is %d, must not be negative", o.BatchPartitions)
	check(o.MaxBytes >= 0, "MaxBytes is %d, must not be negative", o.MaxBytes)
	check(validRate(o.RowsPerSecond), "RowsPerSecond is %v, must be finite and not negative", o.RowsPerSecond)
	check(validRate(o.BytesPerSecond), "BytesPerSecond is %v, must be finite and not negative", o.BytesPerSecond)
	check(o.RetryFor >= 0, "RetryFor is %v, must not be negative", o.RetryFor)
	check(o.MaxRejected >= 0, "MaxRejected is %d, must not be negative", o.MaxRejected)
	check(o.MaxRejectedPercent >= 0 && o.MaxRejectedPercent <= 100, "MaxRejectedPercent is %v, must be 0 to 100",
		o.MaxRejectedPercent)
	check(o.TTL >= 0 && o.TTL%time.Second == 0 && o.TTL/time.Second <= math.MaxInt32,
		"TTL is %v, must be whole seconds, at most %d of them", o.TTL, math.MaxInt32)
	check(o.TTL == 0 || o.TTLColumn == "", "TTL and TTLColumn are both set")
	check(o.CheckpointEvery >= 0, "CheckpointEvery is %v, must not be negative", o.CheckpointEvery)
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 1024
	}
	if o.BatchRows == 0 {
		o.BatchRows = defaultBatchRows
	}
	if o.BatchPartitions == 0 {
		o.BatchPartitions = defaultBatchPartitions
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	if o.RetryFor == 0 {
		o.RetryFor = 5 * time.Minute
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = 5 * time.Second
	}
	return o, err
}

// ofInsert returns the names of the options that are set and apply to Insert only.
func (o Options) ofInsert() (names []string) {
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"Columns", o.Columns != nil},
		{"RefuseExtra", o.RefuseExtra},
		{"AllowMissing", o.AllowMissing},
		{"TTL", o.TTL != 0},
		{"TTLColumn", o.TTLColumn != ""},
		{"TimestampColumn", o.TimestampColumn != ""},
	} {
		if option.set {
			names = append(names, option.name)
		}
	}
	return names
}

func validRate(r float64) bool { return r >= 0 && !math.IsInf(r, 1) }
