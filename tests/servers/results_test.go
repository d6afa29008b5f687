// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const events = `{"Action":"output","Package":"p","Test":"TestSuite/nodes=three/x","Output":"    a_test.go:7: missing: no vectors\n"}
{"Action":"skip","Package":"p","Test":"TestSuite/nodes=three/x"}
{"Action":"pass","Package":"p","Test":"TestSuite/nodes=three/y"}
{"Action":"pass","Package":"p","Test":"TestSuite","Elapsed":2.5}
{"Action":"fail","Package":"p","Test":"TestTokenAware/a"}
{"Action":"fail","Package":"p","Test":"TestTokenAware","Elapsed":1}
{"Action":"pass","Package":"p","Test":"TestRollingRestart/a"}
{"Action":"fail","Package":"p","Test":"TestRollingRestart","Elapsed":3}
{"Action":"output","Package":"p","Test":"TestKilledNode","Output":"    takes long\n"}
{"Action":"skip","Package":"p","Test":"TestKilledNode"}
{"Action":"pass","Package":"p","Test":"TestFault37OtherCassandra"}
{"Action":"fail","Package":"p"}
not JSON
{"Action":"fail","Package":"q"}
{"Action":"pass","Package":"r"}`

// TestTable counts the events of a run: tests without subtests, and as failures skips for other reasons, packages that
// do not build, and tests that failed beside their subtests.
func TestTable(t *testing.T) {
	var log strings.Builder
	all, err := readEvents(strings.NewReader(events), &log)
	require.NoError(t, err)
	require.Contains(t, log.String(), "not JSON\n")
	jobs := jobsOf("6.0-alpha2", regexp.MustCompile("three|kills"))
	require.Len(t, jobs, 1)
	found := []result{
		{Version: "5.0.9", Protocol: 5, Part: "three nodes", Missing: map[string]int{}, Date: "2026-11-29"},
		{Version: "5.0.9", Protocol: 5, Part: "kills", Missing: map[string]int{}, Date: "2026-11-28"},
	}
	all.count(jobs[0].parts, found)
	require.Equal(t, []result{
		{"5.0.9", 5, "three nodes", 1, map[string]int{"no vectors": 1}, []string{"p TestTokenAware/a", "q"}, "2026-11-29", "", 4},
		{"5.0.9", 5, "kills", 2, map[string]int{}, []string{"p TestKilledNode", "p TestRollingRestart"}, "2026-11-28", "", 3},
	}, found)
	results := merge(nil, found)
	results = merge(results, found)
	results = merge(results, []result{{Version: "4.0.19", Protocol: 4, Part: "tool", Passed: 2, Date: "2026-11-27"}})
	require.Equal(t, []string{
		"| 4.0.19 | v4 |" + strings.Repeat(" not run |", 3) + " 2 |" + strings.Repeat(" not run |", 6) + " – | 2026-11-27 |",
		"| 5.0.9 | v5 |" + strings.Repeat(" not run |", 7) + " – | 1, 1 a, **2 failed** | 2, **2 failed** | – | 2026-11-28 |",
		"",
		"Missing: a: no vectors.",
		"",
		"Failed:",
		"",
		"- 5.0.9, v5, kills: `p TestKilledNode`",
		"- 5.0.9, v5, kills: `p TestRollingRestart`",
		"- 5.0.9, v5, three nodes: `p TestTokenAware/a`",
		"- 5.0.9, v5, three nodes: `q`",
		"",
	}, strings.Split(table(results), "\n")[2:])
}

// TestJobs has the parts of each version.
func TestJobs(t *testing.T) {
	seen := map[string]bool{}
	for _, release := range []string{"5.0.9", "6.0-alpha2"} {
		for _, j := range jobsOf(release, regexp.MustCompile("")) {
			require.NotEmpty(t, j.commands())
			for _, p := range j.parts {
				seen[release[:3]+" "+p.name] = true
			}
		}
	}
	require.Len(t, seen, 2*len(parts)-1)
	require.False(t, seen["5.0 6.0 only"])
}

// TestDocument requires that the document has the table of the stored results.
func TestDocument(t *testing.T) {
	t.Chdir("../..")
	all, err := readResults()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), firstMark)
	got, _, closed := strings.Cut(rest, lastMark)
	require.True(t, closed)
	require.Equal(t, table(all), got)
}

// TestCommandKilled requires that the tests of a go command which was killed do not count.
func TestCommandKilled(t *testing.T) {
	log, err := os.Create(t.TempDir() + "/log")
	require.NoError(t, err)
	defer log.Close()
	event := func(action string) string { return `echo '{"Action":"` + action + `","Package":"p","Test":"A"}'; ` }
	_, err = (&runner{}).command([]string{"sh", "-c", event("pass") + "kill -9 $$"}, nil, log)
	require.ErrorContains(t, err, "signal: killed")
	all, err := (&runner{}).command([]string{"sh", "-c", event("fail") + "exit 1"}, nil, log)
	require.NoError(t, err)
	require.True(t, all.failed())
}
