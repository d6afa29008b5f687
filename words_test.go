// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// The rules for words that a test can hold (CONTRIBUTING.md, sections Prose and Style): comments of Go files, and
// documents.

// badWords are patterns with what to write in their place.
var badWords = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|everybody|everyone|whoever|whomever)\b`), "a person-word: name the caller, the goroutine, the listener"},
	{regexp.MustCompile(`(?i)(^|[^a-z])who\b`), "a person-word: name the thing and use \"that\""},
	{regexp.MustCompile(`^This file holds`), "begin with the subject of the file"},
	{regexp.MustCompile(`(?i)\bcan not\b`), "cannot"},
	{regexp.MustCompile(`(?i)\b(can't|won't|don't|doesn't|isn't|aren't|didn't|wouldn't|couldn't|hasn't)\b`), "write both words"},
	//nolint:misspell // the patterns are misspellings
	{regexp.MustCompile(`(?i)\b(behaviour|colour|honour|favour|neighbour|centre|catalogue|learnt\b|dialled|dialling|cancelled|cancelling|` +
		`labelled|modelled|marshalled|marshalling|unmarshalled|unmarshalling|signalling|initialis|optimis|recognis|serialis|summaris|` +
		`normalis|synchronis|licence|artefact|whilst|amongst|towards)`), "American spelling"},
}

// softWords are patterns that only tables of measurements and the changelog may have.
var softWords = []struct {
	pattern *regexp.Regexp
	advice  string
}{
	{regexp.MustCompile(`(?i)\b(that|those) of\b`), "repeat the noun"},
	{regexp.MustCompile(`(?i)\bof which\b`), "begin a sentence with the noun, or write whose, with, without"},
	{
		regexp.MustCompile(`^[A-Za-z]\w* is \[?[A-Z][\w.]*\]? (with|without|into|of|for|on)\b`),
		"begin with a verb: what the function does",
	},
}

// people are the nouns after which "who" stands for people.
var people = regexp.MustCompile(`(?i)\b(user|users|people|person|engineer|engineers|programmer|programmers|contributor|contributors|maintainer|maintainers|operator|operators|newcomer|newcomers|those|anyone|one) who\b`)

// maxLine is the width of a line of a comment, and of code outside of tests, in characters; a tab counts as one.
// Preformatted tables in comments, and lines with a long string, may be wider.
const maxLine = 120

// minDocumented is the number of lines from which a function has a doc comment.
const minDocumented = 20

// minDescribed is the number of lines from which a file has a comment that names its subject.
const minDescribed = 30

// wordsLeft are folders whose prose is still to be rewritten. The list only shrinks.
var wordsLeft = []string{}

func TestWords(t *testing.T) {
	soak.NoRace(t)
	faults := map[string]int{}
	report := func(path string, line int, text, advice string) {
		dir := filepath.ToSlash(filepath.Dir(path))
		faults[dir]++
		for _, left := range wordsLeft {
			if dir == left || strings.HasPrefix(dir, left+"/") {
				return
			}
		}
		t.Errorf("%s:%d: %s: %.120q", path, line, advice, text)
	}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "target"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && path != "words_test.go":
			return checkComments(path, report)
		case strings.HasSuffix(path, ".md"):
			return checkDocument(path, report)
		}
		return nil
	}))
	for _, left := range wordsLeft {
		count := 0
		for dir, n := range faults {
			if dir == left || strings.HasPrefix(dir, left+"/") {
				count += n
			}
		}
		t.Logf("%s: %d left", left, count)
		if count == 0 {
			t.Errorf("%s has no fault left: remove it from wordsLeft", left)
		}
	}
}

// checkComments reports faults in the comments of a Go file.
func checkComments(path string, report func(path string, line int, text, advice string)) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, source, parser.ParseComments)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(path, "_test.go") {
		checkCode(fset, path, f, string(source), report)
		checkFunctions(fset, path, f, report)
		checkSubject(fset, path, f, report)
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			checkComment(fset, path, c, report)
		}
	}
	return nil
}

// checkCode reports lines of code that are too wide, but for those with a string of at least 30 characters:
// some are messages that must be found as they are.
func checkCode(fset *token.FileSet, path string, f *ast.File, source string,
	report func(path string, line int, text, advice string),
) {
	wide := map[int]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && len(s.Value) >= 30 {
			for line := fset.Position(s.Pos()).Line; line <= fset.Position(s.End()).Line; line++ {
				wide[line] = true
			}
		}
		return true
	})
	for i, line := range strings.Split(source, "\n") {
		if len([]rune(line)) > maxLine && !wide[i+1] && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			report(path, i+1, line, fmt.Sprintf("more than %d characters", maxLine))
		}
	}
}

// checkFunctions reports long functions without a doc comment, except in benchmarks and examples.
func checkFunctions(fset *token.FileSet, path string, f *ast.File, report func(path string, line int, text, advice string)) {
	if path := "/" + filepath.ToSlash(path); strings.HasPrefix(path, "/bench/") || strings.Contains(path, "/example") {
		return
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Doc != nil {
			continue
		}
		first, last := fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line
		if n := last - first + 1; n >= minDocumented {
			report(path, first, fn.Name.Name, fmt.Sprintf("a function of %d lines needs a doc comment", n))
		}
	}
}

// checkSubject reports a file of minDescribed lines whose subject no comment names: neither a comment at its beginning
// nor the doc comment of its first declaration.
func checkSubject(fset *token.FileSet, path string, f *ast.File, report func(path string, line int, text, advice string)) {
	if fset.Position(f.FileEnd).Line < minDescribed {
		return
	}
	first := f.FileEnd
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			first = d.Pos()
			break
		}
	}
	for _, group := range f.Comments {
		if group.Pos() < first && !strings.HasPrefix(group.Text(), "SPDX-License-Identifier") && group.Text() != "" {
			return
		}
	}
	report(path, 1, filepath.Base(path), "begin the file with a comment that names its subject")
}

func checkComment(fset *token.FileSet, path string, c *ast.Comment, report func(path string, line int, text, advice string)) {
	for i, line := range strings.Split(c.Text, "\n") {
		at := fset.Position(c.Pos()).Line + i
		if len([]rune(line)) > maxLine && !strings.HasPrefix(line, "//\t") {
			report(path, at, line, fmt.Sprintf("more than %d characters", maxLine))
		}
		checkLine(path, at, strings.TrimLeft(line, "/* \t"), report)
	}
}

// checkDocument reports faults in a Markdown file outside of blocks of code.
func checkDocument(path string, report func(path string, line int, text, advice string)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	code := false
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if !code {
			checkLine(path, i+1, line, report)
		}
	}
	return nil
}

func checkLine(path string, at int, line string, report func(path string, line int, text, advice string)) {
	if strings.Contains(line, "for people") { // the rule itself
		return
	}
	line = people.ReplaceAllString(line, "")
	for _, bad := range badWords {
		if bad.pattern.MatchString(line) {
			report(path, at, line, bad.advice)
		}
	}
	if filepath.ToSlash(filepath.Dir(path)) == "bench/results" || path == "CHANGELOG.md" {
		return
	}
	for _, bad := range softWords {
		if bad.pattern.MatchString(line) {
			report(path, at, line, bad.advice)
		}
	}
}
