// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Doc comments and what they link to. Package docs tests the Markdown files.

// TestDocLinks checks that every doc link of the package has a target. A link without one is printed in brackets.
func TestDocLinks(t *testing.T) {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/vecql/vecql")
	require.NoError(t, err)
	check := func(name, text string) {
		for _, m := range regexp.MustCompile(`\[[A-Z*]?\w+(\.\w+)*\]`).FindAllString(printedText(p.Parser().Parse(text).Content), -1) {
			if isLinkLike(m) {
				t.Errorf("%s: the doc link %s has no target", name, m)
			}
		}
	}
	check("package", p.Doc)
	for _, v := range slices.Concat(p.Consts, p.Vars) {
		check(v.Names[0], v.Doc)
	}
	for _, f := range p.Funcs {
		check(f.Name, f.Doc)
	}
	for _, typ := range p.Types {
		check(typ.Name, typ.Doc)
		for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
			check(typ.Name+"."+f.Name, f.Doc)
		}
	}
}

// isLinkLike reports whether text in brackets looks like a doc link, rather than protocol notation or a Go type.
func isLinkLike(text string) bool {
	return text[1] >= 'A' && text[1] <= 'Z' && text != "[T]" && text != "[P]" || strings.Contains(text, ".")
}

// printedText returns the text of paragraphs and lists, without code and links.
func printedText(blocks []comment.Block) string {
	var text strings.Builder
	add := func(words []comment.Text) {
		for _, w := range words {
			if plain, ok := w.(comment.Plain); ok {
				text.WriteString(string(plain))
			}
		}
		text.WriteString("\n")
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Paragraph:
			add(b.Text)
		case *comment.List:
			for _, item := range b.Items {
				text.WriteString(printedText(item.Content))
			}
		}
	}
	return text.String()
}
