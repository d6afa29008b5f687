// SPDX-License-Identifier: Apache-2.0

// Package latency reports the latencies of requests that are due at fixed times, over plain connections and over TLS.
package latency

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/plot"
	"github.com/vecql/vecql/bench/stall"
	"github.com/vecql/vecql/bench/tables"
)

// Conditions are the conditions of all runs of a report.
type Conditions struct {
	Commit    string        `json:"commit"`
	Date      string        `json:"date"`
	Processor string        `json:"processor"`
	Cores     int           `json:"cores"`
	Go        string        `json:"go"`
	Duration  time.Duration `json:"duration"`
	Turns     int           `json:"turns"`
}

// A Sample has the figures of one run. Durations are in microseconds.
type Sample struct {
	Net       string   `json:"net"`  // "plain" or "tls"
	Case      string   `json:"case"` // "insert" or "vector"
	Rate      int      `json:"rate"` // requests per second
	Turn      int      `json:"turn"`
	Driver    string   `json:"driver"`
	Version   string   `json:"version"`
	Requests  int      `json:"requests"`
	Failed    int      `json:"failed"`
	Latencies [3]int64 `json:"latencies_us"` // by Percentiles
}

// Percentiles are the percentiles of the report.
var Percentiles = [3]float64{50, 99, 99.9}

// Measure returns the figures of a run. A failed request has at least the latency of the timeout.
func Measure(r stall.Run) Sample {
	s := Sample{Driver: r.Driver, Version: r.Version, Rate: r.Rate, Requests: len(r.Latencies)}
	took := make([]int64, len(r.Latencies))
	for i, latency := range r.Latencies {
		if took[i] = latency; latency < 0 {
			s.Failed++
			took[i] = max(-latency, r.Timeout)
		}
	}
	slices.Sort(took)
	for i, p := range Percentiles {
		if len(took) > 0 {
			s.Latencies[i] = took[max(0, int(math.Ceil(p/100*float64(len(took))))-1)]
		}
	}
	return s
}

const preface = `# Latencies at a third of the peak rate

Each program sends requests in an open loop at a fixed rate for %v: a request starts when it is due, whether earlier ones have ended or
not, and its latency counts from the time when it is due. A schedule that is late is therefore part of the latency. The rate is a
third of the least peak of all drivers, measured before with 64 requests in flight, so that all drivers have the same rate. The
programs take turns, %d each. The server has canned responses. All drivers have their default settings, and verify the certificate of the
server. insert is an INSERT of two ints, vector a SELECT of one vector of 1536 floats. The figures are medians of the turns.

![Latencies](latency.svg)

Conditions: vecql at %s, %s, %s, %d cores, %s. To reproduce: ` + "`make bench-latency`" + `.
`

// Report returns the report in Markdown, and its plot as SVG.
func Report(c Conditions, samples []Sample) (md, svg string) {
	var w strings.Builder
	fmt.Fprintf(&w, preface, c.Duration, c.Turns, c.Commit, c.Go, c.Processor, c.Cores, c.Date)
	var names, drivers []string
	groups := map[string]map[string][]Sample{}
	for _, s := range samples {
		name := fmt.Sprintf("%s, %s, %d requests/s", s.Case, s.Net, s.Rate)
		if groups[name] == nil {
			groups[name] = map[string][]Sample{}
		}
		groups[name][s.Driver] = append(groups[name][s.Driver], s)
		names, drivers = tables.Once(names, name), tables.Once(drivers, s.Driver)
	}
	slices.SortStableFunc(drivers, func(a, b string) int { return rank(a) - rank(b) })
	var plots []plot.Group
	for _, name := range names {
		fmt.Fprintf(&w, "\n## %s\n\n", name)
		tables.Header(&w, "driver", "failed", "p50", "p99", "p99.9")
		var bars [len(Percentiles)][]plot.Bar
		for _, d := range drivers {
			runs := groups[name][d]
			if len(runs) == 0 {
				continue
			}
			failed, requests := 0, 0
			for _, s := range runs {
				failed, requests = failed+s.Failed, requests+s.Requests
			}
			fmt.Fprintf(&w, "| %s | %d of %d |", strings.TrimSpace(d+" "+runs[0].Version), failed, requests)
			for i := range Percentiles {
				var values []float64
				for _, s := range runs {
					values = append(values, float64(s.Latencies[i])*1000)
				}
				text := tables.MS(values) + " ms"
				fmt.Fprintf(&w, " %s |", text)
				bars[i] = append(bars[i], plot.Bar{
					Name: plot.DriverName(d) + ", " + ranks[i], Label: text, Value: tables.Median(values), Color: plot.Colors[rank(d)],
				})
			}
			fmt.Fprintln(&w)
		}
		plots = append(plots, plot.Group{Title: title(name), Bars: slices.Concat(bars[:]...)})
	}
	return w.String(), plot.SVG(plots)
}

// rank returns the color of a driver: vecql's, or a peer's.
func rank(driver string) int {
	if driver == "vecql" {
		return 0
	}
	return 2
}

// ranks are the percentiles in words.
var ranks = [len(Percentiles)]string{"median", "99th percentile", "99.9th percentile"}

// title returns the name of a group in words.
func title(name string) string {
	return strings.NewReplacer("insert", "INSERT of two integers", "vector", "SELECT of a vector of 1,536 floats", "tls", "TLS",
		"requests/s", "requests a second").Replace(name) + ": latency (shorter is better)"
}
