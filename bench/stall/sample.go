// SPDX-License-Identifier: Apache-2.0

// Package stall measures drivers while one of three nodes does not run for some seconds: the results of the load
// programs, the figures of a run, and the report.
package stall

import (
	"cmp"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Slow is the latency from which a request counts as slow.
const Slow = 100 * time.Millisecond

// A Run is what a load program prints: the latency of each request of an open loop. Request i is due at
// Start + i/Rate seconds, and its latency counts from then.
type Run struct {
	Driver    string         `json:"driver"`
	Version   string         `json:"version"`
	Start     int64          `json:"start_us"` // microseconds since 1970
	Rate      int            `json:"rate"`     // requests per second
	Timeout   int64          `json:"timeout_us"`
	Latencies []int64        `json:"latencies_us"` // by request; negative means that the request failed after that time
	Errors    map[string]int `json:"errors"`       // failed requests by error text
	Peak      int            `json:"peak"`         // most goroutines, tasks or threads
	PeakOf    string         `json:"peak_of"`      // "goroutines", "tasks" or "threads"
}

// A Sample has the figures of one run. Durations are in microseconds.
type Sample struct {
	Servers   string         `json:"servers"` // "cassandra" or "cqltest"
	Case      string         `json:"case"`    // "read" or "insert"
	Rate      int            `json:"rate"`
	Turn      int            `json:"turn"`
	Driver    string         `json:"driver"`
	Version   string         `json:"version"`
	Requests  int            `json:"requests"`
	Failed    int            `json:"failed"`
	P50Before int64          `json:"p50_before_us"`
	P99Before int64          `json:"p99_before_us"`
	P99First  int64          `json:"p99_first_us"` // in the first second of the pause
	P99Rest   int64          `json:"p99_rest_us"`  // in the rest of the pause
	P99After  int64          `json:"p99_after_us"`
	Recovery  int64          `json:"recovery_us"` // from the end of the pause to the last failed or slow request
	InFlight  int            `json:"in_flight"`   // most requests that waited at one time
	Peak      int            `json:"peak"`
	PeakOf    string         `json:"peak_of"`
	Errors    map[string]int `json:"errors,omitempty"`
}

// Measure returns the figures of a run during which a node did not run from pause to resume. Requests that are
// under way at the pause count as requests of its first second. In percentiles a failed request has at least the
// latency of the timeout.
func Measure(r Run, pause, resume time.Time) Sample {
	s := Sample{
		Driver: r.Driver, Version: r.Version, Rate: r.Rate, Requests: len(r.Latencies),
		Peak: r.Peak, PeakOf: r.PeakOf, Errors: r.Errors,
	}
	from, to := pause.UnixMicro(), resume.UnixMicro()
	first := min(from+time.Second.Microseconds(), to)
	var before, within, rest, after []int64
	type change struct {
		at int64
		by int
	}
	var changes []change
	for i, latency := range r.Latencies {
		due := r.Start + int64(i)*time.Second.Microseconds()/int64(r.Rate)
		took, failed := latency, latency < 0
		if failed {
			took = -latency
			s.Failed++
		}
		end := due + took
		changes = append(changes, change{due, 1}, change{end, -1})
		if end > from && (failed || took > Slow.Microseconds()) {
			s.Recovery = max(s.Recovery, end-to)
		}
		if failed {
			took = max(took, r.Timeout)
		}
		switch {
		case end <= from:
			before = append(before, took)
		case due < first:
			within = append(within, took)
		case due < to:
			rest = append(rest, took)
		default:
			after = append(after, took)
		}
	}
	s.P50Before, s.P99Before = percentile(before, 50), percentile(before, 99)
	s.P99First, s.P99Rest, s.P99After = percentile(within, 99), percentile(rest, 99), percentile(after, 99)
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.by-b.by) })
	waiting := 0
	for _, c := range changes {
		waiting += c.by
		s.InFlight = max(s.InFlight, waiting)
	}
	return s
}

// percentile returns the least value that p percent of the values do not exceed, 0 for no values.
func percentile(v []int64, p float64) int64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[max(0, int(math.Ceil(p/100*float64(len(v))))-1)]
}

// Processor returns the name of the machine's processor.
func Processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimLeft(strings.TrimSpace(name), ": \t")
		}
	}
	return runtime.GOARCH
}
