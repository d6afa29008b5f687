// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// program writes the program of testdata to a folder, as a user of the API's path. The API is the stub, in a folder of
// this name.
func program(t *testing.T, module, stub string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(strings.ReplaceAll(text, "GOCQL", module)), 0o600))
	}
	tree := os.DirFS("testdata")
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		to, isStub := strings.CutPrefix(name, "stub/")
		if isStub {
			to = filepath.Join(stub, to)
		} else {
			to = strings.TrimPrefix(name, "program/")
		}
		write(to, string(text))
		return err
	}))
	version := "v1.7.0"
	if strings.HasSuffix(module, "/v2") {
		version = "v2.1.2"
	}
	write("go.mod", fmt.Sprintf("module program\n\ngo 1.25\n\nrequire GOCQL %s\n\nreplace GOCQL => ./%s\n", version, stub))
	write(filepath.Join(stub, "go.mod"), "module GOCQL\n\ngo 1.25\n")
	return dir
}

// wanted returns the findings that comments of the program name.
func wanted(t *testing.T, dir string) []string {
	t.Helper()
	var want []string
	for _, name := range []string{"main.go", "main_test.go"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if _, names, ok := strings.Cut(line, "// want "); ok {
				for _, found := range strings.Fields(names) {
					want = append(want, fmt.Sprintf("%s:%d: %s", name, i+1, found))
				}
			}
		}
	}
	require.Greater(t, len(want), 10)
	return want
}

func TestFindings(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	for _, test := range []struct {
		a    *table.API
		stub string
	}{{table.V1, "stub"}, {table.V2, "stub"}, {table.Fork, "github.com/scylladb/gocql"}} {
		t.Run(test.a.Name, func(t *testing.T) {
			dir := program(t, test.a.Module, test.stub)
			want := wanted(t, dir)
			if test.a == table.V2 {
				want = slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, ".RetryPolicy") })
			}
			var out, problems bytes.Buffer
			require.Equal(t, 1, run(dir, []string{"."}, &out, &problems), problems.String())
			require.Empty(t, problems.String())
			findings, summary, _ := strings.Cut(out.String(), "\n\n")
			var got []string
			for line := range strings.Lines(findings) {
				got = append(got, regexp.MustCompile(`^[^:]+:\d+: [^ ]+[^: ]`).FindString(line))
			}
			require.ElementsMatch(t, want, got)
			root, err := filepath.Abs("../../..")
			require.NoError(t, err)
			require.Contains(t, summary, fmt.Sprintf("\treplace %s => %s/compat/%s\n", test.a.Module, root, test.a.Name))
			require.Contains(t, summary, fmt.Sprintf("\treplace github.com/vecql/vecql => %s\n", root))
			require.NotContains(t, summary, "VERSION")
			require.NotContains(t, summary, "Move it to v1.7.0 first")
			require.Contains(t, summary, fmt.Sprintf("findings: %d, packages that use gocql: 1", len(want)))

			out.Reset()
			require.Equal(t, 0, run(dir, []string{"./sub"}, &out, &problems))
			require.Contains(t, out.String(), "findings: 0, packages that use gocql: 1")
		})
	}
}

// A finding of two names of a line has one line, if what differs is the same.
func TestNamesOfALineAreOneFinding(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	dir := program(t, table.V1.Module, "stub")
	text := "package quiet\n\nimport \"" + table.V1.Module + "\"\n\n" +
		"var c gocql.ConvictionPolicy = &gocql.SimpleConvictionPolicy{}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "quiet.go"), []byte(text), 0o600))
	var out, problems bytes.Buffer
	require.Equal(t, 1, run(dir, []string{"./sub"}, &out, &problems), problems.String())
	first, rest, _ := strings.Cut(out.String(), "\n")
	require.Contains(t, first, ":5: gocql.ConvictionPolicy, gocql.SimpleConvictionPolicy: no effect")
	require.NotContains(t, rest, "quiet.go")
	require.Contains(t, rest, "findings: 1, packages")
}

// A program of an older gocql moves to v1.7 first.
func TestOlderProgramsMoveFirst(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	for version, older := range map[string]bool{
		"v1.7.0": false, "v1.6.0": true, "v1.2.1": true, "v0.0.0-20200131111108-92af2e088537": true, "v1.10.0": false,
	} {
		dir := program(t, table.V1.Module, "stub")
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		require.NoError(t, err)
		mod = bytes.Replace(mod, []byte("v1.7.0"), []byte(version), 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600))
		var out, problems bytes.Buffer
		require.Equal(t, 0, run(dir, []string{"./sub"}, &out, &problems), problems.String())
		require.Equal(t, older, strings.Contains(out.String(), "requires gocql "+version+". Move it to v1.7.0 first"), out.String())
		require.Equal(t, older, strings.Contains(out.String(), "go get github.com/gocql/gocql@v1.7.0"))
	}
}

func TestExitCodes(t *testing.T) {
	dir := program(t, table.V1.Module, "stub")
	var out, problems bytes.Buffer
	require.Equal(t, 2, run(dir, []string{"./missing"}, &out, &problems))
	require.Contains(t, problems.String(), "missing")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "quiet.go"), []byte("package quiet\n"), 0o600))
	problems.Reset()
	require.Equal(t, 0, run(dir, []string{"./sub"}, &out, &problems))
	require.Equal(t, "No package uses gocql.\n", out.String())
	require.Empty(t, problems.String())
}

// Every name of the table exists in an API that its rule is for, and the table has what the compat modules lack.
func TestRulesNameTheAPIs(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range table.All {
		dir, err := a.Fetch()
		require.NoError(t, err)
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedExportFile, Dir: dir,
			Env: append(os.Environ(), "GOWORK=off"),
		}, a.Module)
		require.NoError(t, err)
		require.Len(t, loaded, 1)
		require.Empty(t, loaded[0].Errors)
		for name, rule := range table.Rules {
			if rule.AppliesTo(a) && table.Has(loaded[0].Types, name) {
				seen[name] = true
			}
		}
		lists, err := os.ReadFile(filepath.Join("../../apis", a.Name, "differences.txt"))
		if err != nil {
			continue // no list yet
		}
		for _, missing := range regexp.MustCompile(`(?m)^missing gocql\.([A-Za-z0-9.]+)`).FindAllSubmatch(lists, -1) {
			require.Contains(t, table.Rules, string(missing[1]), "compat/%s lacks it", a.Name)
		}
	}
	for name := range table.Rules {
		require.True(t, seen[name], name)
	}
	for name := range conditions {
		require.Contains(t, table.Rules, name)
	}
}
