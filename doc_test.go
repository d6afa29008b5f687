// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file holds what is promised to the tests that show it.

// TestPromises looks for every test that README.md names, and for a test of each fault case by its number.
func TestPromises(t *testing.T) {
	var sources strings.Builder
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		sources.Write(b)
		return err
	}))
	tests := map[string]bool{}
	faults := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^func (Test(Fault\d\d)?\w*)\(`).FindAllStringSubmatch(sources.String(), -1) {
		tests[m[1]], faults[m[2]] = true, true
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(readme), -1)
	require.Greater(t, len(named), 30)
	for _, m := range named {
		if !tests[m[1]] {
			t.Errorf("README.md names %s, which does not exist", m[1])
		}
	}
	require.Len(t, faults, 1+36, "a test for each fault case, and tests of none")
}
