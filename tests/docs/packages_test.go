// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of packages.md.

// packageRow is a row with a task, packages and the names to begin with.
var packageRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)

// TestPackages fails when a row of packages.md names a package or an exported name that does not exist.
func TestPackages(t *testing.T) {
	exported := exportedNames(t)
	rows := packageRow.FindAllStringSubmatch(readDocument(t, "packages.md"), -1)
	require.Greater(t, len(rows), 25)
	for _, row := range rows {
		for _, span := range spans(row[2]) {
			folder := strings.TrimPrefix(strings.TrimPrefix(span, "github.com/vecql/vecql"), "...")
			files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
			require.NoError(t, err)
			require.NotEmpty(t, files, "%s: no package %s", row[1], span)
		}
		for _, span := range spans(row[3]) {
			if regexp.MustCompile(`^[A-Za-z]\w*\.[A-Z]\w*$`).MatchString(span) {
				require.Contains(t, exported, span, row[1])
			}
		}
	}
}

// exportedNames returns the functions and types of the packages, such as "vecql.Rows", and the methods by their
// receivers, such as "Session.Query", as the files of folder api list them.
func exportedNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^(?:func|type|var|const) (\w+)`)
	method := regexp.MustCompile(`(?m)^method \(\*?(\w+)\) (\w+)\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pkg := strings.TrimSuffix(filepath.Base(file), ".txt")
		pkg = pkg[strings.LastIndex(pkg, "-")+1:]
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names[pkg+"."+string(m[1])] = true
		}
		for _, m := range method.FindAllSubmatch(text, -1) {
			names[string(m[1])+"."+string(m[2])] = true
		}
	}
	require.Contains(t, names, "vecql.NewSession")
	require.Contains(t, names, "Session.Query")
	return names
}

// readDocument returns the text of a file in folder docs.
func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	require.NoError(t, err)
	return string(text)
}

// spans returns the texts in backquotes.
func spans(text string) (all []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}
