// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a user of the modules inherits: docs/releasing.md.

// requirements are the modules that the module of the driver requires, for packages and for tests.
var requirements = []string{
	"github.com/cespare/xxhash/v2", "github.com/google/uuid", "github.com/klauspost/compress", "github.com/pierrec/lz4/v4",
	"github.com/stretchr/testify", "golang.org/x/sys", "gopkg.in/inf.v0",
}

// neverReleased are the folders of modules that no user requires.
var neverReleased = map[string]bool{
	"bench": true, "bench/peers": true, "compat/tests": true, "examples": true, "tests": true,
}

// TestModules checks that the module of the driver has no further requirements, and that no released module has a
// replace directive: go install refuses it.
func TestModules(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	var direct []string
	for _, found := range regexp.MustCompile(`(?m)^\t(\S+) \S+$`).FindAllStringSubmatch(string(text), -1) {
		direct = append(direct, found[1])
	}
	require.Equal(t, requirements, direct)
	checked := 0
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			if text, err := os.ReadFile(path); !neverReleased[filepath.ToSlash(filepath.Dir(path))] {
				require.NoError(t, err)
				require.NotContains(t, string(text), "=>", "%s has a replace directive", path)
				checked++
			}
		}
	}
	require.Equal(t, 14, checked, "the released modules: docs/releasing.md and .ci/release list them")
}
