// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The tests of an API itself: all its test files, as far as their declarations compile against the exported names of
// the API and of the compat module. The tests of a package move to an external package, gocql_test, which imports the
// API as it was. The filtered files are the same on both sides.

// A suite is an API and its compat module, each in a folder of its own with the filtered tests.
type suite struct {
	program
	api, compat string   // the folders of the modules
	folders     []string // of packages with tests, below the modules
	kept        int      // top-level declarations of tests that compile on both sides
	all         int      // all of them
}

// suite returns the filtered tests of the API in dir. compat is the folder of the compat module.
func (p program) suite(ctx context.Context, dir, compat string) (*suite, error) {
	s := &suite{program: p, api: dir, compat: dir + "-on-compat"}
	if err := os.RemoveAll(s.compat); err != nil {
		return nil, err
	}
	if err := os.CopyFS(s.compat, os.DirFS(compat)); err != nil {
		return nil, err
	}
	if err := s.require(ctx, filepath.Dir(filepath.Dir(compat))); err != nil {
		return nil, err
	}
	if _, err := takeTests(s.compat); err != nil {
		return nil, err
	}
	files, err := takeTests(s.api)
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"testdata", "internal/tests"} { // what the tests read, and import
		err := os.CopyFS(filepath.Join(s.compat, folder), os.DirFS(filepath.Join(s.api, folder)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, module := range []string{s.api, s.compat} {
		if err := goCommand(ctx, module, "mod", "download"); err != nil {
			return nil, err
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(files)) {
		if err := s.filter(ctx, folder, files[folder]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// require makes the compat module require what the tests of the API need, and the driver in a folder.
func (s *suite) require(ctx context.Context, driver string) error {
	out, err := goOutput(ctx, s.api, "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(s.compat, "go.mod"))
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-replace=github.com/vecql/vecql=" + driver}
	for _, r := range file.Require {
		if !bytes.Contains(own, []byte(r.Path+" v")) {
			edit = append(edit, "-require="+r.Path+"@"+r.Version)
		}
	}
	if err := goCommand(ctx, s.compat, edit...); err != nil {
		return err
	}
	return s.align(ctx)
}

// assertions is the module of the assertions of tests: both sides have the version of the driver.
const assertions = "github.com/stretchr/testify"

func (s *suite) align(ctx context.Context) error {
	version, err := goOutput(ctx, s.compat, "list", "-m", "-f", "{{.Version}}", assertions)
	if err != nil {
		return nil //nolint:nilerr // the tests have no assertions
	}
	return goCommand(ctx, s.api, "mod", "edit", "-require="+assertions+"@"+strings.TrimSpace(string(version)))
}

// takeTests removes the test files below a folder, and returns their texts by the folder of their package.
func takeTests(root string) (map[string]map[string][]byte, error) {
	files := map[string]map[string][]byte{}
	return files, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if files[folder] == nil {
			files[folder] = map[string][]byte{}
		}
		files[folder][filepath.Base(path)] = text
		return os.Remove(path)
	})
}

// filter writes the test files of a package into both modules, without the declarations that do not compile.
func (s *suite) filter(ctx context.Context, folder string, files map[string][]byte) error {
	inAPI, inCompat := filepath.Join(s.api, folder), filepath.Join(s.compat, folder)
	if strings.HasPrefix(folder, "internal"+string(filepath.Separator)) {
		return nil // packages that no program imports
	}
	if hasPackage(inAPI) && !hasPackage(inCompat) {
		fmt.Printf("%s: the compat module has no package %s\n", s.name, folder)
		return nil
	}
	path, err := goOutput(ctx, s.api, "list", "-m")
	if err != nil {
		return err
	}
	importPath := filepath.ToSlash(filepath.Join(strings.TrimSpace(string(path)), folder))
	before := 0
	for name, text := range files {
		text, n := external(text, importPath)
		before += n
		files[name] = text
	}
	if folder == "." {
		files["helpers_test.go"] = []byte(helpers)
	}
	if err := s.dropUncompiled(ctx, files, inAPI, inCompat); err != nil {
		fmt.Printf("%s: %s: %v\n", s.name, folder, firstLines(err)) // a package that the compat module does not have
		_, err := takeTests(inCompat)
		return err
	}
	delete(files, "helpers_test.go")
	after := 0
	for _, text := range files {
		after += len(declarations(text))
	}
	s.all, s.kept, s.folders = s.all+before, s.kept+after, append(s.folders, "./"+filepath.ToSlash(folder))
	fmt.Printf("%s: %d of %d declarations of %s compile on both\n", s.name, after, before, folder)
	return nil
}

// hasPackage reports whether a folder has files of Go that are not tests.
func hasPackage(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	return err == nil && slices.ContainsFunc(files, func(f string) bool { return !strings.HasSuffix(f, "_test.go") })
}

// rewritten are the unexported names that helpers of all tests use, and what takes their place.
var rewritten = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\.control\.awaitSchemaAgreement\(\)`), ".AwaitSchemaAgreement(context.Background())"},
	{regexp.MustCompile(`\b\w+\.cfg\.ProtoVersion\b`), "protocolOfTheRun()"},
}

// helpers stand for unexported declarations of the API that many tests use: the versions of the server and of the
// protocol.
const helpers = `package gocql_test

type cassVersion struct{ Major, Minor, Patch int }

func (*cassVersion) Set(string) error { return nil }

func (cassVersion) String() string { return "5.0.9" }

func (cassVersion) Before(major, minor, patch int) bool { return major > 5 || major == 5 && minor > 0 }

func (v cassVersion) AtLeast(major, minor, patch int) bool { return !v.Before(major, minor, patch) }

const (
	protoVersion1 = iota + 1
	protoVersion2
	protoVersion3
	protoVersion4
	protoVersion5
)

func protocolOfTheRun() int {
	if *flagProto == 0 {
		return protoVersion4
	}
	return *flagProto
}
`

// external returns a test file as one of an external package, and its number of declarations.
func external(text []byte, importPath string) ([]byte, int) {
	total := len(declarations(text))
	clause := regexp.MustCompile(`(?m)^package (\w+)$`)
	name := string(clause.FindSubmatch(text)[1])
	if strings.HasSuffix(name, "_test") {
		return text, total
	}
	for _, r := range rewritten {
		text = r.from.ReplaceAll(text, []byte(r.to))
	}
	imports := fmt.Sprintf("import . %q\n", importPath)
	if bytes.Contains(text, []byte("context.")) && !bytes.Contains(text, []byte(`"context"`)) {
		imports += "import \"context\"\n"
	}
	place := clause.FindIndex(text)
	return slices.Concat(text[:place[0]], []byte("package "+name+"_test\n\n"+imports), text[place[1]:]), total
}

// declarations returns the names of the top-level declarations of a file, without imports.
func declarations(text []byte) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// compileError is the place of an error of the compiler in a test.
var compileError = regexp.MustCompile(`(?m)^(?:\./)?(?:[\w./-]*/)?(\w+_test\.go):(\d+):\d+: (.*)$`)

// helperError is the place of an error in a package that only tests import.
var helperError = regexp.MustCompile(`(?m)^(?:\.\./)*(internal/tests/[\w/]+)/\w+\.go:\d+`)

// dropUncompiled removes the declarations of tests that do not compile in one of the folders, until the others do in
// both: a test may use a removed one. It writes the files into the folders.
func (s *suite) dropUncompiled(ctx context.Context, files map[string][]byte, dirs ...string) error {
	const most = 100
	for range most {
		faults := map[string][]int{}
		for _, dir := range dirs {
			for name, text := range files {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
					return err
				}
			}
			found, err := s.faults(ctx, dir)
			if err != nil {
				return err
			}
			if faults = found; len(faults) > 0 {
				break
			}
		}
		if len(faults) == 0 {
			return nil
		}
		for name, lines := range faults {
			text, err := dropDeclarations(files[name], lines)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			files[name] = text
		}
	}
	return fmt.Errorf("the tests do not compile after %d removals", most)
}

// faults returns the lines of the tests in a folder that do not compile, by file.
func (s *suite) faults(ctx context.Context, dir string) (map[string][]int, error) {
	cmd := newGo(ctx, dir, "test", "-c", "-vet=off", "-gcflags=-e", "-tags="+s.tags, "-o", os.DevNull, ".")
	cmd.Env = append(cmd.Env, "GOPROXY=off") // a package that a side lacks is in no other module
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	err = fmt.Errorf("%s%w", out, err)
	lines := map[string][]int{}
	for _, f := range compileError.FindAllStringSubmatch(err.Error(), -1) {
		line, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, err
		}
		lines[f[1]] = append(lines[f[1]], line)
	}
	if len(lines) > 0 {
		return lines, nil
	}
	helper := helperError.FindStringSubmatch(err.Error())
	if helper == nil {
		return nil, err
	}
	for _, module := range []string{s.api, s.compat} { // then the imports of tests do not compile
		if err := os.RemoveAll(filepath.Join(module, helper[1])); err != nil {
			return nil, err
		}
	}
	return s.faults(ctx, dir)
}

// dropDeclarations returns a file without the declarations around the lines. Of imports, variables and types only the
// names on the line are dropped.
func dropDeclarations(text []byte, lines []int) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	drop := map[int]bool{}
	for _, d := range file.Decls {
		for _, node := range droppable(d) {
			first, last := fset.Position(node.Pos()).Line, fset.Position(node.End()).Line
			if !slices.ContainsFunc(lines, func(line int) bool { return first <= line && line <= last }) {
				continue
			}
			for i := first; i <= last; i++ {
				drop[i] = true
			}
		}
	}
	if len(drop) == 0 {
		return nil, fmt.Errorf("no declaration is at the lines %v", lines)
	}
	var kept []string
	for i, line := range strings.Split(string(text), "\n") {
		if !drop[i+1] {
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, "\n")), nil
}

// droppable returns the parts of a declaration that can be dropped alone.
func droppable(d ast.Decl) []ast.Node {
	group, ok := d.(*ast.GenDecl)
	if !ok || group.Tok == token.CONST || !group.Lparen.IsValid() { // a constant may depend on its place
		return []ast.Node{d}
	}
	var nodes []ast.Node
	for _, spec := range group.Specs {
		nodes = append(nodes, spec)
	}
	return nodes
}
