// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

var update = flag.Bool("update", false, "write the pages of docs/gocql")

// The pages under docs/gocql have every name of the APIs, and the table of vecql's names has an entry for each name
// that vecql lacks, and no other.
func TestPages(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	used := map[string]bool{}
	for _, a := range table.All {
		p, err := newPage(a, root)
		require.NoError(t, err)
		text := p.text()
		assert.Empty(t, p.unexplained, "%s: names without an entry in compat/cmd/internal/table/own.go", a.Name)
		assert.Empty(t, p.contrary, "%s: vecql has the names, perhaps with another type", a.Name)
		maps.Copy(used, p.used)
		path := filepath.Join(root, "docs/gocql", a.Page)
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), text, "go test ./apidiff -update in compat/cmd writes the page")
	}
	for key := range table.Own {
		assert.True(t, used[key], "no API has %s", key)
	}
}

// Names of vecql in the table exist.
func TestOwnNames(t *testing.T) {
	driver, nouns, err := loadOwn("../../..")
	require.NoError(t, err)
	for key, text := range table.Own {
		for _, name := range regexp.MustCompile("`(cql\\.)?([A-Z][A-Za-z0-9]*(?:\\.[A-Z][A-Za-z0-9]*)?)[`(\\[]").FindAllStringSubmatch(text, -1) {
			own := driver
			if name[1] != "" {
				own = nouns
			}
			assert.True(t, table.Has(own, name[2]), "%s: vecql has no %s%s", key, name[1], name[2])
		}
	}
}
