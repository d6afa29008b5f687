// SPDX-License-Identifier: Apache-2.0

package stall_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/vecql/vecql/bench/stall"
)

// TestMeasure has a run of ten seconds with a pause of two: a request each 10 ms of 1 ms. In the first second of the
// pause every third request fails after its timeout, later every tenth is slow, and one is slow after the pause. Two
// that were due just before the pause take long.
func TestMeasure(t *testing.T) {
	const rate, start = 100, 1_000_000_000
	r := stall.Run{Driver: "x", Rate: rate, Start: start, Timeout: 1_000_000, Peak: 7, PeakOf: "tasks"}
	for i := range 10 * rate {
		latency := int64(1000)
		switch {
		case i >= 400 && i < 500 && i%3 == 0:
			latency = -1_000_000
		case i >= 500 && i < 600 && i%10 == 0, i == 650:
			latency = 200_000
		}
		r.Latencies = append(r.Latencies, latency)
	}
	r.Latencies[450] = -1 // a request that fails at once counts like one that times out
	r.Latencies[300] = 90_000
	r.Latencies[398], r.Latencies[399] = 1_500_000, 1_500_000 // they are under way at the pause
	at := func(seconds int64) time.Time { return time.UnixMicro(start + seconds*1_000_000) }
	got := stall.Measure(r, at(4), at(6))
	want := stall.Sample{
		Driver: "x", Rate: rate, Requests: 1000, Failed: 33, P50Before: 1000, P99Before: 1000,
		P99First: 1_500_000, P99Rest: 200_000, P99After: 1000, Recovery: 700_000, InFlight: 36, Peak: 7, PeakOf: "tasks",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestMeasureWithoutEffect has a run in which no request is slow: the recovery takes no time.
func TestMeasureWithoutEffect(t *testing.T) {
	r := stall.Run{Rate: 1, Latencies: []int64{5, 5, 5}}
	if got := stall.Measure(r, time.UnixMicro(1_000_000), time.UnixMicro(2_000_000)); got.Recovery != 0 || got.InFlight != 1 {
		t.Errorf("%+v", got)
	}
}
