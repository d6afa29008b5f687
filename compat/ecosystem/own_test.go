// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tests of an API's package become tests of an external one, which can use exported names only.
func TestTestsOfAnAPIAreExternal(t *testing.T) {
	text, n := external([]byte("// Text.\n\npackage gocql\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { s.cfg.ProtoVersion }\n"), "example.org/gocql")
	require.Equal(t, 1, n)
	require.Contains(t, string(text), "package gocql_test\n\nimport . \"example.org/gocql\"\n")
	require.Contains(t, string(text), "protocolOfTheRun()")
	already := "package gocql_test\n\nfunc TestB() {}\n"
	text, n = external([]byte(already), "example.org/gocql")
	require.Equal(t, already, string(text))
	require.Equal(t, 1, n)
}

// Of a group only the parts at a line are dropped, of a group of constants all.
func TestDropDeclarations(t *testing.T) {
	text := "package a\n\nvar (\n\tone = 1\n\ttwo = 2\n)\n\nfunc f() {\n\tbroken()\n}\n\nconst (\n\tx = iota\n\ty\n)\n"
	kept, err := dropDeclarations([]byte(text), []int{5, 9})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "x", "y"}, declarations(kept))
	kept, err = dropDeclarations([]byte(text), []int{14})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "f"}, declarations(kept))
	_, err = dropDeclarations([]byte(text), []int{2})
	require.ErrorContains(t, err, "no declaration is at the lines [2]")
}

// A declaration that does not compile on one of the sides is dropped on both, and what uses it.
func TestDeclarationsCompileOnBothSides(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("api/go.mod", "module example.org/api\n\ngo 1.25\n")
	write("api/api.go", "package api\n\nfunc Both() {}\n\nfunc Own() {}\n\nfunc hidden() { hidden() }\n")
	write("compat/go.mod", "module example.org/api\n\ngo 1.25\n")
	write("compat/api.go", "package api\n\nfunc Both() {}\n\nfunc hidden() { hidden() }\n")
	tests := "package api\n\nimport \"testing\"\n\nfunc TestBoth(t *testing.T) { Both() }\n\nfunc TestOwn(t *testing.T) { help() }\n\n" +
		"func help() { Own() }\n\nfunc TestHidden(t *testing.T) { hidden() }\n"
	s := &suite{api: filepath.Join(root, "api"), compat: filepath.Join(root, "compat")}
	require.NoError(t, s.filter(t.Context(), "sub/..", map[string][]byte{"api_test.go": []byte(tests)}))
	require.Equal(t, 1, s.kept)
	require.Equal(t, 4, s.all)
	for _, side := range []string{"api", "compat"} {
		text, err := os.ReadFile(filepath.Join(root, side, "api_test.go"))
		require.NoError(t, err)
		require.Equal(t, []string{"TestBoth"}, declarations(text))
	}
}
