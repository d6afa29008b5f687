// SPDX-License-Identifier: Apache-2.0

// Package docs tests the Markdown files of the repository: their Go blocks compile, the tests that they name exist, and
// their links lead to files.
//
// A block is Go if its fence is ```go. A complete program or test file, with a package clause, compiles as it is
// printed. A block of declarations, or of statements, is a fragment: it may use ctx, session and err, the packages that
// importsFor adds, and what an HTML comment above it declares, such as <!-- given: id int64, embedding []float32 -->;
// unused variables are allowed. <!-- from: file --> above a block means that the file has it word for word: a file of
// another module, whose tests compile it. <!-- run --> above a complete program or test file means that it also runs
// here; a comment "// Output:" is compared with what the program printed.
package docs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// root is the folder of the module, as seen from here.
const root = "../.."

// TestGoBlocks type-checks every Go block of every Markdown file, and runs the programs and tests that need no server.
func TestGoBlocks(t *testing.T) {
	fset := token.NewFileSet()
	var blocks, programs []*block
	files := markdownFiles(t)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		found, err := blocksOf(file, files[file])
		require.NoError(t, err)
		for _, b := range found {
			if b.from != "" {
				source, err := os.ReadFile(filepath.Join(root, b.from))
				require.NoError(t, err, "%v", b)
				require.Contains(t, string(source), b.text, "%v: %s does not have the block", b, b.from)
				continue
			}
			if err := b.parse(fset); err != nil {
				t.Error(err)
				continue
			}
			blocks = append(blocks, b)
			if b.run {
				programs = append(programs, b)
			}
		}
	}
	require.NotEmpty(t, programs)
	imports := importerOf(t, fset, blocks)
	for _, b := range blocks {
		for _, err := range check(fset, b, imports) {
			t.Error(err)
		}
	}
	if !t.Failed() {
		runAll(t, programs)
	}
}

// exportData returns the file with the export data of each package that the blocks need.
func exportData(t *testing.T, blocks []*block) map[string]string {
	t.Helper()
	needed := map[string]bool{}
	for _, b := range blocks {
		for _, p := range b.importPaths() {
			needed[p] = true
		}
	}
	arguments := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Sorted(maps.Keys(needed))...)
	export := map[string]string{}
	for line := range strings.Lines(goCommand(t, arguments...)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		export[name] = file
	}
	return export
}

// importerOf returns an importer of the packages that the blocks need. It reads each package once.
func importerOf(t *testing.T, fset *token.FileSet, blocks []*block) types.Importer {
	t.Helper()
	export := exportData(t, blocks)
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, errors.New("no such package")
		}
		return os.Open(export[path])
	})
}

// check type-checks a block. Unused variables and imports are errors in complete files alone.
func check(fset *token.FileSet, b *block, imports types.Importer) (errs []error) {
	config := types.Config{
		Importer: imports,
		Error: func(err error) {
			var typeError types.Error
			if errors.As(err, &typeError) && typeError.Soft && !b.complete {
				return
			}
			errs = append(errs, err)
		},
	}
	_, _ = config.Check("fragment", fset, []*ast.File{b.parsed}, nil) // Error has received all errors
	return errs
}

// runAll builds the programs with one command and runs them one after the other, each in a folder of its own. An
// overlay places the sources in the module without writing to it.
func runAll(t *testing.T, programs []*block) {
	folder := t.TempDir()
	overlay := map[string]string{}
	build := []string{"build", "-ldflags=-s -w", "-overlay", filepath.Join(folder, "overlay.json"), "-o", folder + string(filepath.Separator)}
	absolute, err := filepath.Abs(root)
	require.NoError(t, err)
	for i, b := range programs {
		name := fmt.Sprintf("program%d", i)
		file := "main.go"
		if b.isTest() {
			file = "main_test.go"
		} else {
			build = append(build, "./tests/docs/"+name)
		}
		source := filepath.Join(folder, name+".go")
		require.NoError(t, os.WriteFile(source, []byte(b.source), 0o600))
		overlay[filepath.Join(absolute, "tests", "docs", name, file)] = source
	}
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "overlay.json"), replace, 0o600))
	goCommand(t, build...)
	for i, b := range programs {
		binary := filepath.Join(folder, fmt.Sprintf("program%d", i))
		if b.isTest() {
			goCommand(t, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", filepath.Join(folder, "overlay.json"), "-o", binary, fmt.Sprintf("./tests/docs/program%d", i))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		command := exec.CommandContext(ctx, binary)
		command.Dir = t.TempDir()
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		err := command.Run()
		cancel()
		if err != nil {
			t.Errorf("%v: %v\n%s%s", b, err, stdout.String(), stderr.String())
		} else if want, ok := b.output(); ok && trimLines(stdout.String()) != want {
			t.Errorf("%v printed\n%s\nwant\n%s", b, trimLines(stdout.String()), want)
		}
	}
}

// isTest reports whether the block is a test file.
func (b *block) isTest() bool { return slices.Contains(b.importPaths(), "testing") }

// output returns what the comment "// Output:" says that the program prints.
func (b *block) output() (want string, ok bool) {
	m := regexp.MustCompile(`// Output:(.*(?:\n\s*//.*)*)`).FindStringSubmatch(b.text)
	if m == nil {
		return "", false
	}
	return trimLines(regexp.MustCompile(`(?m)^\s*// ?`).ReplaceAllString(m[1], "")), true
}

// trimLines removes spaces at the end of each line, and empty lines at both ends.
func trimLines(text string) string {
	return strings.TrimSpace(regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, ""))
}

// goCommand runs the go command in the module and returns what it printed.
func goCommand(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(arguments, " "), stderr.String())
	return string(out)
}

// TestBlockErrors holds the compilation of blocks to finding what is wrong with them, at the right line.
func TestBlockErrors(t *testing.T) {
	wants := map[string]string{
		"```go\nsession.Quary(\"\")\n```\n":                                             "x.md:2:9: session.Quary undefined",
		"<!-- given: id int -->\n\n```go\nvar text string = id\n```\n":                  "x.md:4:19: cannot use id",
		"```go\nid := 1\nreturn err\n```\n":                                             "",
		"```go\nfunc f() int { return \"\" }\n```\n":                                    `x.md:2:23: cannot use ""`,
		"```go\npackage main\n\nfunc main() {\n\tid := 1\n}\n```\n":                     "x.md:5:2: declared and not used",
		"```go\npackage main\n\nimport \"os\"\n\nfunc main() {}\n```\n":                 `x.md:4:8: "os" imported and not used`,
		"```go\nif  err != nil {\n\treturn err\n}\n```\n":                               "is not formatted",
		"```go\nfor {\n```\n":                                                           "x.md:",
		"```go\nerr = vecql.NoSuch\n```\n":                                              "x.md:2:13: undefined: vecql.NoSuch",
		"```Go\n```\n":                                                                  "write ```go",
		"<!-- Run -->\n```go\nid := 1\n```\n":                                           "neither given:, from: nor run",
		"```go\n":                                                                       "has no end",
		"<!-- run -->\n```go\nid := 1\n```\n":                                           "only complete programs",
		"```sh\ngo get\n```\n\n```go\nerr = errors.New(id)\n```\n":                      "x.md:6:18: undefined: id",
		"```go\nx := cql.RandomUUID\n_, err = x()\nfmt.Println(x, time.Second)\n```\n":  "",
		"```go\ntype T struct{ ID cql.UUID }\n\nfunc f(t T) cql.UUID { return t }\n```": "x.md:4:31: cannot use t",
	}
	fset := token.NewFileSet()
	failures := map[string]error{}
	parsed := map[string]*block{}
	for text := range wants {
		blocks, err := blocksOf("x.md", text)
		if err == nil {
			err = blocks[0].parse(fset)
		}
		if failures[text] = err; err == nil {
			parsed[text] = blocks[0]
		}
	}
	imports := importerOf(t, fset, slices.Collect(maps.Values(parsed))) // one go command, which takes longer than a check
	for text, b := range parsed {
		failures[text] = errors.Join(check(fset, b, imports)...)
	}
	for text, want := range wants {
		if want == "" {
			require.NoError(t, failures[text], text)
		} else {
			require.ErrorContains(t, failures[text], want, text)
		}
	}
}

var (
	testName  = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)`")
	promise   = regexp.MustCompile(`(?m)^## (\d+)\. `)
	described = regexp.MustCompile("(?m)^\\| `(Test\\w+)`[^|]*\\| .{20,} \\|$")
)

// TestPromises holds docs/promises.md to fourteen promises, in order, each with tests and what they do. Every test,
// fuzz target and benchmark that a Markdown file names must exist.
func TestPromises(t *testing.T) {
	exists := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`).FindAllSubmatch(source, -1) {
			exists[string(m[1])] = true
		}
		return err
	}))
	files := markdownFiles(t)
	for file, text := range files {
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			if !exists[m[1]] && m[1] != "TestFault" { // the prefix of a family
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
	}
	text := files["docs/promises.md"]
	headings := promise.FindAllStringSubmatchIndex(text, -1)
	require.Len(t, headings, 14)
	total := 0
	for i, h := range headings {
		require.Equal(t, fmt.Sprint(i+1), text[h[2]:h[3]])
		end := len(text)
		if next := strings.Index(text[h[1]:], "\n## "); next >= 0 {
			end = h[1] + next
		}
		section := text[h[1]:end]
		tests := described.FindAllStringSubmatch(section, -1)
		require.NotEmpty(t, tests, "promise %d has no test", i+1)
		require.Len(t, tests, strings.Count(section, "\n| ")-2, "promise %d: each row names one test and what it does", i+1)
		total += len(tests)
	}
	require.Greater(t, total, 30)
}

// TestLinks fails when a Markdown file links to a file, or to a heading, that does not exist.
func TestLinks(t *testing.T) {
	files := markdownFiles(t)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for file, text := range files {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			name, heading, _ := strings.Cut(m[1], "#")
			target := filepath.ToSlash(filepath.Join(filepath.Dir(file), name))
			if name == "" {
				target = file
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
			} else if heading != "" && !slices.Contains(anchors(files[target]), heading) {
				t.Errorf("%s links to %s: %s has no such heading", file, m[1], cmp.Or(name, file))
			}
		}
	}
}

// TestIndex fails when docs/README.md does not list a document of its folder.
func TestIndex(t *testing.T) {
	files := markdownFiles(t)
	for file := range files {
		if name, ok := strings.CutPrefix(file, "docs/"); ok && name != "README.md" {
			require.Contains(t, files["docs/README.md"], "]("+name+")", "docs/README.md does not list %s", file)
		}
	}
}

// anchors returns the names by which GitHub links to the headings of a text.
func anchors(text string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}
