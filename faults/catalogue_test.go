// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Comparison of FAULTS.md with the tests.

// numbers is the number of faults in FAULTS.md.
const numbers = 63

var (
	faultTest = regexp.MustCompile(`(?m)^func (TestFault(\d\d)\w*)\(`)
	faultRow  = regexp.MustCompile(`(?m)^\| (\d\d) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	testName  = regexp.MustCompile("`(Test\\w+)`")
)

// TestCatalogue requires that FAULTS.md has a row for each number, in order, with exactly the tests of this module that
// have that number.
func TestCatalogue(t *testing.T) {
	tests := map[string][]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range faultTest.FindAllStringSubmatch(string(src), -1) {
			if !slices.Contains(tests[m[2]], m[1]) { // two packages may have a test of the same name
				tests[m[2]] = append(tests[m[2]], m[1])
			}
		}
		return err
	}))
	catalogue, err := os.ReadFile("FAULTS.md")
	require.NoError(t, err)
	rows := faultRow.FindAllStringSubmatch(string(catalogue), -1)
	require.Len(t, rows, numbers)
	for i, row := range rows {
		number, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		require.Equal(t, i+1, number)
		var named []string
		for _, m := range testName.FindAllStringSubmatch(row[4], -1) {
			named = append(named, m[1])
		}
		require.NotEmpty(t, named, "fault %s has no test", row[1])
		require.ElementsMatch(t, tests[row[1]], named, "tests of fault %s", row[1])
		delete(tests, row[1])
	}
	require.Empty(t, tests, "faults missing in FAULTS.md")
}
