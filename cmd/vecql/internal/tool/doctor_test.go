// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/doctor"
	"github.com/vecql/vecql/cqltest"
)

func TestDoctor(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 1}, strings.ReplaceAll(events, "'replication_factor': 2", "'replication_factor': 1"))
	x.out = 80
	text := x.requireRun("doctor", "--probes", "3")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
	}
	want := `Cluster cqltest: 1 node, protocol v5.

node data center version p50 p99 latencies clock
 HOST datacenter1 5.0.9 +0ms

keyspace replication tables tablets
 shop SimpleStrategy 1 1 0

Nothing is wrong.
`
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "HOST")
	text = regexp.MustCompile(`[+-]\d+ms`).ReplaceAllString(text, "+0ms")
	text = regexp.MustCompile(`[▁-█][ ▁-█]*|  +[0-9.]+[mµ]?s|-+`).ReplaceAllString(text, " ")
	require.Equal(t, squeezed(want), squeezed(text))
}

// squeezed returns the words of a text.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestDoctorFindsProblems(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 2}, events)
	x.StepClock(time.Minute)
	x.Node(1).SetSchemaVersion(&[16]byte{1})
	code, out, errOut := x.run("doctor", "--probes", "2")
	require.Equal(t, exitFailed, code)
	require.Equal(t, "vecql doctor: 3 problems\n", errOut)
	require.Contains(t, out, "problem: the nodes disagree on the schema")
	require.Regexp(t, `problem: the clock of 127.0.0.1:\d+ is 1m0s ahead of this machine's
  synchronize the clocks`, out)
	code, out, _ = x.run("doctor", "--probes", "2", "--output", "json")
	require.Equal(t, exitFailed, code)
	var report doctor.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, 3, report.Problems())
	require.Equal(t, "shop", report.Keyspaces[0].Name)
}

func TestDoctorScylla(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{}}, shop)
	require.Contains(t, x.requireRun("doctor", "--probes", "1"), "shards")
}

func TestDoctorRefused(t *testing.T) {
	x := newTester(t)
	require.Equal(t, "vecql doctor: --probes is 0, want at least 1; see vecql doctor --help",
		x.requireFailure(exitUsage, "doctor", "--probes", "0"))
	require.Equal(t, `vecql doctor: --output is "csv", want table or json; see vecql doctor --help`,
		x.requireFailure(exitUsage, "doctor", "-o", "csv"))
	require.Contains(t, x.requireFailure(exitFailed, "doctor", "--hosts", "127.0.0.1:1"), "connection refused")
}

// TestDoctorRacks counts the racks of a list.
func TestDoctorRacks(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{
		DataCenters: []cqltest.DataCenter{{Name: "a", Nodes: 2, Racks: []string{"r1", "r2"}}}, Scylla: &cqltest.Scylla{Tablets: 4},
	}, "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'a': ['r1', 'r2']}")
	require.Contains(t, x.requireRun("doctor", "--probes", "1"), "NetworkTopologyStrategy a:2")
}
