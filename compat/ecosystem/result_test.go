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
