// SPDX-License-Identifier: Apache-2.0

// Package examples tests that the table of examples is complete.
package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTable fails unless README.md lists each program, and each program has a test and a comment that shows how to run
// it.
func TestTable(t *testing.T) {
	table, err := os.ReadFile("README.md")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, link := range regexp.MustCompile(`\(([^()]+/main\.go)\)`).FindAllStringSubmatch(string(table), -1) {
		listed[link[1]] = true
	}
	programs, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	programs = append(programs, "../otelvecql/example/main.go", "../sqlvecql/example/main.go",
		"../beamvecql/examples/nightly-centroids/main.go")
	for _, program := range programs {
		require.True(t, listed[program], "README.md does not list %s", program)
		delete(listed, program)
		source, err := os.ReadFile(program)
		require.NoError(t, err)
		folder := filepath.Dir(program)
		require.Contains(t, string(source), "go run ./", program)
		tests, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, tests, "%s has no test", folder)
		if strings.HasPrefix(folder, "parquet-") {
			continue // larger programs
		}
		require.LessOrEqual(t, strings.Count(string(source), "\n"), 150, "%s is no longer one screen", program)
	}
	require.Empty(t, listed, "README.md lists programs that do not exist")
}
