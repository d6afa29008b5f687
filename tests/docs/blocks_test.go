// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Go blocks of the Markdown files, as source files.

// A block is the text between "```go" and "```" in a Markdown file.
type block struct {
	file  string // of Markdown, relative to the module
	line  int    // of the block's first line, from 1
	text  string
	given string // parameters that the fragment relies on, as in "id int64, embedding []float32"
	run   bool   // the block is a program or a test that needs no server
	from  string // file of another module that has the block; empty means that the block compiles here

	complete bool // the text has a package clause
	source   string
	parsed   *ast.File
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

var (
	givenComment = regexp.MustCompile(`^<!-- given: (.+) -->$`)
	fromComment  = regexp.MustCompile(`^<!-- from: (.+) -->$`)
	fence        = regexp.MustCompile("^\\s*```")
)

// blocksOf returns the Go blocks of a Markdown file. Comments apply to the block that follows them.
func blocksOf(file, text string) ([]*block, error) {
	var blocks []*block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if !fence.MatchString(lines[i]) {
			continue
		}
		b := &block{file: file, line: i + 2}
		opening := strings.TrimSpace(lines[i])
		for j := i - 1; j >= 0 && (lines[j] == "" || strings.HasPrefix(lines[j], "<!--")); j-- {
			m, from := givenComment.FindStringSubmatch(lines[j]), fromComment.FindStringSubmatch(lines[j])
			switch {
			case m != nil:
				b.given = m[1]
			case from != nil:
				b.from = from[1]
			case lines[j] == "<!-- run -->":
				b.run = true
			case lines[j] != "" && opening == "```go":
				return nil, fmt.Errorf("%v: the comment above is neither given:, from: nor run", b)
			}
		}
		start := i + 1
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
		}
		if i == len(lines) {
			return nil, fmt.Errorf("%v: the block has no end", b)
		}
		b.text = strings.Join(lines[start:i], "\n") + "\n"
		switch {
		case opening == "```go":
			blocks = append(blocks, b)
		case strings.HasPrefix(strings.ToLower(opening), "```go"):
			return nil, fmt.Errorf("%v: write ```go, not %s", b, opening)
		}
	}
	return blocks, nil
}

// parse makes a source file of the block and parses it. A block with a package clause is a file as it is. A block of
// declarations gets a package clause and imports. Any other block, and each with a comment, is the body of a function
// with the parameters ctx, session, err and the parameters of the comment.
func (b *block) parse(fset *token.FileSet) (err error) {
	first := fmt.Sprintf("//line %s:%d:1\n", b.file, b.line)
	b.complete = regexp.MustCompile(`(?m)^package \w+$`).MatchString(b.text)
	if b.complete {
		b.source = first + b.text
		b.parsed, err = parser.ParseFile(fset, "", b.source, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			err = b.requireFormatted(b.text)
		}
		return err
	}
	if b.run {
		return fmt.Errorf("%v: only complete programs can be run", b)
	}
	const clause, function = "package fragment\n", "func _(ctx context.Context, session *vecql.Session, err error%s) error {\n{\n%s%s\n}\nreturn nil\n}\n"
	body := first + b.text
	if _, err := parser.ParseFile(token.NewFileSet(), "", clause+body, 0); err != nil || b.given != "" { // statements
		given := ""
		if b.given != "" {
			given = ", " + b.given
		}
		body = fmt.Sprintf(function, given, first, b.text)
	}
	probe, err := parser.ParseFile(token.NewFileSet(), "", clause+body, 0)
	if err != nil {
		return err
	}
	b.source = clause + importsFor(probe) + body
	b.parsed, err = parser.ParseFile(fset, "", b.source, parser.SkipObjectResolution)
	if err == nil {
		err = b.requireFormatted(b.text)
	}
	return err
}

// requireFormatted returns an error unless the block is formatted by gofmt. Fragments are formatted by themselves.
func (b *block) requireFormatted(text string) error {
	formatted, err := format.Source([]byte(text))
	if err == nil && string(formatted) != text {
		err = fmt.Errorf("%v: the block is not formatted; gofmt writes:\n%s", b, formatted)
	}
	return err
}

// packages are the packages that fragments may use without an import, besides the ones of the standard library in
// standard.
var packages = []string{
	"github.com/vecql/vecql", "github.com/vecql/vecql/bulk", "github.com/vecql/vecql/cdc", "github.com/vecql/vecql/column", "github.com/vecql/vecql/parquetscan/arrowcolumn", "github.com/vecql/vecql/cql",
	"github.com/vecql/vecql/cqltest", "github.com/vecql/vecql/groupby", "github.com/vecql/vecql/parquetscan", "github.com/vecql/vecql/pipe", "github.com/vecql/vecql/search", "github.com/vecql/vecql/stats",
	"github.com/vecql/vecql/tablescan",
}

var standard = []string{
	"context", "crypto/tls", "crypto/x509", "encoding/json", "errors", "fmt", "io", "log", "log/slog", "math", "net/http", "os", "testing", "time",
}

// importsFor returns the imports of a fragment: each package in packages and standard whose name is qualified by a dot
// and is not declared.
func importsFor(f *ast.File) string {
	var names []string
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil {
				names = append(names, x.Name)
			}
		}
		return true
	})
	var imports strings.Builder
	for _, p := range slices.Concat(packages, standard) {
		if slices.Contains(names, path.Base(p)) {
			fmt.Fprintf(&imports, "import %q\n", p)
		}
	}
	return imports.String()
}

// importPaths returns what the block imports.
func (b *block) importPaths() []string {
	var paths []string
	for _, i := range b.parsed.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// markdownFiles returns the paths of all Markdown files of the repository, relative to its root, by name.
func markdownFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		relative, _ := filepath.Rel(root, name)
		files[filepath.ToSlash(relative)] = string(text)
		return err
	}))
	require.Contains(t, files, "README.md")
	return files
}
