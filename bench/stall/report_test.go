// SPDX-License-Identifier: Apache-2.0

package stall_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/vecql/vecql/bench/stall"
)

// TestReport writes lines as command run does, reads them, and compares the tables.
func TestReport(t *testing.T) {
	var file bytes.Buffer
	lines := json.NewEncoder(&file)
	write := func(v any) {
		if err := lines.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	write(stall.Conditions{Commit: "abc", Duration: 10 * time.Second, Pause: 2 * time.Second, Timeout: time.Second, Turns: 3, Cores: 2})
	for turn, p99 := range []int64{9000, 3000, 1000} {
		ours := stall.Sample{
			Servers: "cassandra", Case: "read", Rate: 500, Turn: turn, Driver: "vecql", Requests: 5000,
			P50Before: 500, P99Before: 2000, P99First: p99, P99Rest: 2000, P99After: 2500, InFlight: 8, Peak: 30, PeakOf: "goroutines",
		}
		write(ours)
		theirs := ours
		theirs.Driver, theirs.Version, theirs.Failed, theirs.P99First, theirs.Recovery = "java", "4.0", 10, 1_000_000, 400_000
		theirs.Peak, theirs.PeakOf, theirs.Errors = 12, "threads", map[string]int{"late": 6 + turn, "other": 7 - turn}
		write(theirs)
	}
	c, samples, err := stall.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	var md strings.Builder
	stall.Report(&md, c, samples)
	for _, want := range []string{
		"# One of three nodes does not run for 2s\n",
		"vecql at abc",
		"Versions: java 4.0.",
		"## Cassandra, reads at 500 requests/s\n",
		"| vecql | **0 of 15000** | **0.50 ms** | **2.00 ms** | **3.00 ms** | **2.00 ms** | **2.50 ms** | **0.00 ms** | **8** | 30 |\n",
		"| java | 30 of 15000 | **0.50 ms** | **2.00 ms** | 1000 ms | **2.00 ms** | **2.50 ms** | 400 ms | **8** | 12 threads |\n",
		"- java: 21 times `late`\n",
	} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("%q is missing in\n%s", want, md.String())
		}
	}
}

// TestReadRefuses has a file that is damaged.
func TestReadRefuses(t *testing.T) {
	if _, _, err := stall.Read(strings.NewReader("{}\n{\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
}
