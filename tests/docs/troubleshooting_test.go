// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"crypto/x509"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The texts of errors in troubleshooting.md.

// symptom is a row of troubleshooting.md that begins with texts of errors.
var symptom = regexp.MustCompile("(?m)^\\| (`.+?`(?:, `.+?`)*) \\| ([^|]+) \\| ([^|]+) \\|$")

// TestTroubleshooting fails when troubleshooting.md has a text that no error has: neither a recorded error, nor a
// string in the sources, nor an error of Go's standard library.
func TestTroubleshooting(t *testing.T) {
	known := errorTexts(t)
	rows := symptom.FindAllStringSubmatch(readDocument(t, "troubleshooting.md"), -1)
	require.Greater(t, len(rows), 100)
	for _, row := range rows {
		for _, text := range spans(row[1]) {
			if !hasText(known, text) {
				t.Errorf("no error has the text %q", text)
			}
		}
	}
}

// TestErrorTexts holds hasText to finding what is not a text of an error.
func TestErrorTexts(t *testing.T) {
	known := []string{"the record has %d fields, %s %d", "no such file"}
	require.True(t, hasText(known, "the record has ... fields"))
	require.False(t, hasText(known, "the record has ... rows"))
	require.False(t, hasText(known, "fields ... the record has"), "in another order")
	require.False(t, hasText(known, "the record has ... no such file"), "of two errors")
	require.False(t, hasText(known, "... has ..."), "too short to search for")
}

// hasText reports whether one of the known texts contains the parts of text between "..." in their order.
func hasText(known []string, text string) bool {
	parts, length := strings.Split(text, "..."), 0
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
		length += len(parts[i])
	}
	if length < 12 {
		return false
	}
	for _, k := range known {
		found := true
		for _, part := range parts {
			if _, k, found = strings.Cut(k, part); !found {
				break
			}
		}
		if found {
			return true
		}
	}
	return false
}

// errorTexts returns the lines of errors.golden, the constant strings of the sources, and texts of Go's standard
// library.
func errorTexts(t *testing.T) []string {
	t.Helper()
	golden, err := os.ReadFile(filepath.Join("testdata", "errors.golden"))
	require.NoError(t, err)
	known := append(strings.Split(string(golden), "\n"),
		x509.UnknownAuthorityError{}.Error(),
		x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"node1"}}, Host: "node2"}.Error(),
		x509.HostnameError{Certificate: &x509.Certificate{}, Host: "10.0.0.1"}.Error(),
		(&net.DNSError{Err: "no such host", Name: "node1"}).Error(),
		context.DeadlineExceeded.Error(),
	)
	composed := filepath.Join(root, "cmd/vecql/internal/sql/parse_test.go") // its errors are composed of two strings
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "target") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) == ".go" && (!strings.HasSuffix(name, "_test.go") || name == composed) {
			known = append(known, constantStrings(t, name)...)
		}
		return nil
	}))
	return known
}

// constantStrings returns the strings of a Go file. Strings that are joined by + are one.
func constantStrings(t *testing.T, name string) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := constantString(e)
		if ok {
			all = append(all, text)
		}
		return !ok
	})
	return all
}

// constantString returns the string of a literal, or of literals that are joined by +.
func constantString(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0)), true
		}
	case *ast.BinaryExpr:
		left, ok1 := constantString(e.X)
		right, ok2 := constantString(e.Y)
		return left + right, ok1 && ok2 && e.Op == token.ADD
	}
	return "", false
}
