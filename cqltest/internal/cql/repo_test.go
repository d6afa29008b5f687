// SPDX-License-Identifier: Apache-2.0

package cql_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Parsing of all CQL that the project itself sends to servers.

// verb matches the start of CQL statements.
var verb = regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE|CREATE|ALTER|DROP|TRUNCATE|USE|BEGIN) +\S+`)

// holes replace the verbs of fmt by CQL.
var holes = strings.NewReplacer("%t", "true", "= %s", "= 1", "= x1 WHERE", "= 1 WHERE", "': x1", "': 3", "VALUES (%s)", "VALUES (1)", "%s", "x1", "%q", "x1", "%v", "x1", "%d", "3")

// notCQL are texts in the files below that start like a statement: a message, and fragments.
var notCQL = map[string]bool{
	"CREATE CUSTOM INDEX: %w":            true,
	"CREATE TABLE %s (k int PRIMARY KEY": true,

	"CREATE TABLE %s.many (%s, PRIMARY KEY ((%s)))": true,
	"INSERT INTO %s.many (%s) VALUES (?%s)":         true,

	"CREATE TABLE ks.storm (k int PRIMARY KEY, x1)": true,
	"INSERT INTO \"examples\"":                      true,
	"INSERT INTO \"shop\".\"items\"":                true,
	"INSERT INTO examples":                          true,
	"INSERT INTO other":                             true,
	"UPDATE %s SET %s WHERE %s":                     true,
	"UPDATE %s%s SET %s = %s WHERE %s":              true,
	"CREATE TYPE IF NOT EXISTS %s (\n%s\n)":         true,
	"CREATE TABLE IF NOT EXISTS %s (\n":             true,

	"ALTER BEGIN CREATE DELETE DROP GRANT INSERT LIST REVOKE SELECT TRUNCATE UPDATE USE": true,

	// topics of the help
	"CREATE KEYSPACE": true, "CREATE TABLE": true, "CREATE TYPE": true, "CREATE INDEX": true, "CREATE CUSTOM INDEX": true,
	"CREATE ROLE": true, "ALTER TABLE": true,

	"CREATE CUSTOM INDEX ON %s.t (%s) USING 'StorageAttachedIndex' WITH OPTIONS = {%s}": true,

	"SELECT id FROM x1 ORDER BY v ANN OF ? LIMIT 5x1":              true,
	"SELECT a FROM x1.t WHERE x1 ORDER BY v ANN OF [1, 2] LIMIT 1": true,
}

// scriptEnd separates the statements of a script.
var scriptEnd = regexp.MustCompile(`;\s+`)

func TestParseRepository(t *testing.T) {
	found := 0
	for _, pattern := range []string{"tests/*.go", "cmd/vecql/internal/tool/*.go", "examples/*.go", "examples/*/*.go"} {
		files, err := filepath.Glob(filepath.Join("../../..", pattern))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") && (strings.Contains(file, "cmd/vecql/internal/tool") || strings.HasSuffix(file, "textforms_test.go")) {
				continue // these tests send broken CQL, too
			}
			if strings.HasSuffix(file, "cassandra6_test.go") {
				continue // transactions and constraints, which are not emulated
			}
			for _, text := range textsOf(t, file) {
				if !verb.MatchString(text) || notCQL[text] {
					continue
				}
				found++
				for _, text := range scriptEnd.Split(holes.Replace(text), -1) {
					st, err := cql.Parse(text)
					require.NoError(t, err, "%s: %s", file, text)
					again, err := cql.Parse(fmt.Sprint(st))
					require.NoError(t, err, "%s: %s", file, st)
					require.Equal(t, st, again)
				}
			}
		}
	}
	require.Greater(t, found, 80)
}

// textsOf returns the string constants of a Go file. Sums are joined, with "x1" for operands that are not constant.
func textsOf(t *testing.T, file string) []string {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
	require.NoError(t, err)
	var texts []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if s, ok := textOf(n); ok {
				texts = append(texts, s)
				return false
			}
		case *ast.BasicLit:
			if s, ok := textOf(n); ok {
				texts = append(texts, s)
			}
		}
		return true
	})
	return texts
}

// textOf returns the text of an expression, and whether it contains a string.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return s, true
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			left, okLeft := textOf(e.X)
			right, okRight := textOf(e.Y)
			return fmt.Sprint(left, right), okLeft || okRight
		}
	}
	return "x1", false
}
