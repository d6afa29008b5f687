// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// What load and unload print: progress while they run, and a summary.

// A summary is what load and unload have done.
type summary struct {
	Rows          uint64  `json:"rows"`
	Rejected      int     `json:"rejected"`
	Skipped       uint64  `json:"skipped"` // written by an earlier run; rows that it rejected are in Rejected
	Retries       uint64  `json:"retries"`
	Bytes         uint64  `json:"bytes"`
	Files         int     `json:"files"`
	EmptyCells    int     `json:"empty_cells,omitempty"` // of an unload: cells of 0 bytes that files have as NULL
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rows_per_second"`
	P50           float64 `json:"p50_ms"`
	P99           float64 `json:"p99_ms"`

	text string
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// result returns the summary of a load.
func (l *load) result(s bulk.Stats, files int) summary {
	r := summary{
		Rows: s.Rows, Rejected: l.rejects.total(s), Skipped: s.Skipped - s.SkippedRejected, Retries: s.Retries,
		Bytes: s.Bytes, Files: files,
		Seconds: s.Elapsed.Seconds(), RowsPerSecond: s.RowsPerSecond, P50: milliseconds(s.P50), P99: milliseconds(s.P99),
	}
	done := "loaded"
	if l.dryRun {
		done = "checked"
	}
	rows, from := counted(r.Rows, "row"), counted(files, "file")
	r.text = fmt.Sprintf("%s %s from %s, %d rejected", done, rows, from, r.Rejected)
	if r.Skipped > 0 {
		r.text += fmt.Sprintf(", %d loaded before", r.Skipped)
	}
	return r
}

// counted returns a number with its noun: "1 row", "2 rows".
func counted[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// writeSummary prints the summary as text or json.
func (e *env) writeSummary(form string, s summary) error {
	text := []byte(s.text)
	if form == "json" {
		var err error
		if text, err = json.Marshal(s); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(e.text, "%s\n", text)
	return err
}

// state returns the progress of a load.
func (l *load) state(in *rowfile.Input, s bulk.Stats) state {
	text := fmt.Sprintf("%s, %d failed, %.0f rows/s", counted(s.Rows, "row"), l.rejects.count(), s.RowsPerSecond)
	if s.Elapsed > 0 && s.Bytes > 0 {
		rate := float64(s.Bytes) / 1e6 / s.Elapsed.Seconds()
		text += fmt.Sprintf(", %.1f MB/s, p50 %v, p99 %v", rate, rounded(s.P50), rounded(s.P99))
	}
	c := countsOf(s)
	c.rejected = uint64(l.rejects.count())
	return state{fractionOf(in.Progress()), text, c}
}

// countsOf returns the counts of a writer.
func countsOf(s bulk.Stats) counts {
	return counts{
		rows: s.Rows, bytes: s.Bytes, skipped: s.Skipped, rejected: s.Rejected, retries: s.Retries,
		inFlight: s.InFlight, pending: s.Pending,
	}
}

// fractionOf returns done as a part of total, -1 if total is 0: unknown.
func fractionOf(done, total int64) float64 {
	if total == 0 {
		return -1
	}
	return float64(done) / float64(total)
}

// rounded returns a latency with about three digits.
func rounded(d time.Duration) time.Duration {
	for unit := time.Microsecond; unit < time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Second)
}
