// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// logKeys are the keys of log attributes. The value of node is host:port.
var logKeys = []string{
	"address", "attempts", "cause", "compression", "dc", "err", "from", "host_id", "keyspace", "limit", "node", "of", "connections", "open", "orphans",
	"panic", "rack", "server", "shard", "stack", "to", "version", "want", "while",
}

// TestLogTable holds the table of log records in production.md to the records of the driver.
func TestLogTable(t *testing.T) {
	files, err := filepath.Glob(root + "/*.go")
	require.NoError(t, err)
	connections, err := filepath.Glob(root + "/internal/conn/*.go")
	require.NoError(t, err)
	var records []string
	for _, file := range append(files, connections...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				level, arguments := logCall(call)
				if level == "" {
					return true
				}
				records = append(records, level+" "+literals(arguments[0]))
				for i := 1; i < len(arguments); i += 2 {
					require.Contains(t, logKeys, literals(arguments[i]), file)
				}
			}
			return true
		})
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "production.md"))
	require.NoError(t, err)
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]+) \| (.+?) \| .+ \|$`).FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, row[1]+" "+row[2])
	}
	// one record for each kind of the program's code
	dynamic := slices.Index(records, "ERROR panic in the program's ")
	require.GreaterOrEqual(t, dynamic, 0)
	records[dynamic] += "observer, tracer"
	slices.Sort(records)
	slices.Sort(rows)
	require.Equal(t, slices.Compact(records), rows)
}

// logCall returns the level of a log record and the arguments from its message on, or "" for any other call.
func logCall(call *ast.CallExpr) (level string, arguments []ast.Expr) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return "", nil
	}
	receiver := ""
	switch x := method.X.(type) {
	case *ast.Ident:
		receiver = x.Name
	case *ast.SelectorExpr:
		receiver = x.Sel.Name
	}
	switch name := method.Sel.Name; {
	case name == "note" && receiver == "p":
		l, _ := call.Args[0].(*ast.SelectorExpr)
		return strings.ToUpper(strings.TrimPrefix(l.Sel.Name, "Level")), call.Args[1:]
	case (receiver == "log" || strings.EqualFold(receiver, "logger")) && slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, name):
		return strings.ToUpper(name), call.Args
	}
	return "", nil
}

// literals returns the string literal of an expression, or the first one of a sum.
func literals(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(x.Value)
		return text
	case *ast.BinaryExpr:
		return literals(x.X)
	}
	return ""
}
