// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadCountsTests(t *testing.T) {
	r := result{Failed: map[string]string{}}
	require.NoError(t, r.read(strings.NewReader(`
		{"Action":"run","Package":"p","Test":"A"}
		{"Action":"output","Package":"p","Test":"A","Output":"why\n"}
		{"Action":"fail","Package":"p","Test":"A"}
		{"Action":"pass","Package":"p","Test":"B"}
		{"Action":"skip","Package":"p","Test":"C"}
		{"Action":"fail","Package":"p"}
		{"Action":"pass","Package":"q","Test":"A"}
		{"Action":"pass","Package":"q"}
		{"Action":"output","Package":"r","Output":"panic\n"}
		{"Action":"fail","Package":"r"}
	`)))
	require.Equal(t, result{Passed: 2, Skipped: 1, Failed: map[string]string{"p A": "why\n", "r": "panic\n"}}, r)
	require.ErrorContains(t, r.read(strings.NewReader("FAIL")), "output of go test -json")
}

// The table has both results where they differ, and the failures by driver.
func TestReport(t *testing.T) {
	work := t.TempDir()
	p := programs[0]
	own := result{Program: p.name, Side: "gocql", Passed: 5, Failed: map[string]string{"p A": "", "p B": ""}}
	vecql := result{Program: p.name, Side: "vecql", Vet: "faults", Passed: 6, Failed: map[string]string{"p B": "", "p C": ""}}
	require.NoError(t, own.store(work))
	require.NoError(t, vecql.store(work))
	path := filepath.Join(work, "out.md")
	require.NoError(t, (&ecosystem{work: work}).report(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), "| gocqlx v2 | v2.8.0 | gocql | yes | yes, no | 5/2, 6/2 |")
	for _, line := range []string{"`p A` fails with gocql only", "`p B` fails with both", "`p C` fails with vecql only", "faults"} {
		require.Contains(t, string(data), line)
	}
	require.Contains(t, string(data), "| temporal | v1.32.0 | gocql | not run | not run | not run |")
}

// TestPartsOfATestAreCounted folds the parts that fail as the whole does, and no others.
func TestPartsOfATestAreCounted(t *testing.T) {
	p := program{why: map[string]string{"TestA": "reason", "TestB": "other"}}
	failed := func(names ...string) *result {
		r := result{Failed: map[string]string{}}
		for _, name := range names {
			r.Failed["p "+name] = ""
		}
		return &r
	}
	require.Equal(t, []string{
		"`p TestA`, with 2 of its parts, fails with vecql only: reason",
		"`p TestB` fails with both: other", "`p TestB/x` fails with vecql only: other",
		"`p TestC` fails with vecql only", "`p TestC/x` fails with vecql only",
	}, p.failures(failed("TestB"), failed("TestA", "TestA/x", "TestA/x/y", "TestB", "TestB/x", "TestC", "TestC/x")))
}

// TestRenamedPartsAreNoDifference has parts whose names have values that the drivers write in their own way.
func TestRenamedPartsAreNoDifference(t *testing.T) {
	own := &result{Outcomes: map[string]string{"p TestA/{1 2}": "pass", "p TestB/x": "pass", "p TestC": "skip", "p TestD": "fail"}}
	vecql := &result{Outcomes: map[string]string{"p TestA/1mo2d": "pass", "p TestC": "pass", "p TestD": "pass"}}
	require.Equal(t, []string{
		"`p TestB/x`: pass with gocql, absent with vecql", "`p TestC`: skip with gocql, pass with vecql",
	}, otherOutcomes(own, vecql))
}
