// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The packages that get mutations, their sites, and a sample of them.

// A target is a package, or some files of it, with the packages whose tests must notice its mutations. Paths are
// relative to the root of the module.
type target struct {
	name  string
	dir   string
	files *regexp.Regexp // nil means all
	near  []string       // packages whose tests run first
	far   []string       // packages whose tests run with what near does not notice
}

var targets = []target{
	{"codec", "internal/codec", nil, []string{"internal/codec"}, []string{"."}},
	{"conn", "internal/conn", nil, []string{"internal/conn"}, []string{".", "faults"}},
	{"frame", "internal/frame", nil, []string{"internal/frame"}, []string{"."}},
	{"request", ".", regexp.MustCompile(`^request`), []string{"."}, []string{"faults"}},
	{"pool", ".", regexp.MustCompile(`^pool`), []string{"."}, []string{"faults"}},
	{"topology", ".", regexp.MustCompile(`^topology`), []string{"."}, []string{"faults"}},
	{"stats", "stats", nil, []string{"stats"}, []string{"."}},
	{"bulk", "bulk", nil, []string{"bulk"}, []string{"cmd/vecql/internal/tool"}},
	{"tablescan", "tablescan", nil, []string{"tablescan"}, []string{"pipe", "cmd/vecql/internal/tool"}},
	{"cdc", "cdc", nil, []string{"cdc"}, nil},
	{"parquetscan", "parquetscan", nil, []string{"parquetscan"}, []string{"pipe", "cmd/vecql/internal/rowfile"}},
	room("buffer"),
	room("chunk"),
	room("decode"),
	room("encoder"),
	{"parquetscan/failure", "parquetscan/internal/failure", nil, []string{"parquetscan"}, nil},
	{"parquetscan/footer", "parquetscan/internal/footer", nil, []string{"parquetscan"}, nil},
	room("format"),
	room("input"),
	room("page"),
	room("predicate"),
	room("thrift"),
	{"groupby", "groupby", nil, []string{"groupby"}, []string{"pipe"}},
	{"vector", "vector", nil, []string{"vector"}, nil},
	{"expr", "expr", nil, []string{"expr"}, []string{"pipe", "parquetscan"}},
	{"pipe", "pipe", nil, []string{"pipe"}, nil},
	{"order", "pipe/internal/order", nil, []string{"pipe/internal/order", "pipe"}, nil},
	{"parquet", "pipe/internal/parquet", nil, []string{"pipe/internal/parquet", "pipe"}, nil},
	{
		"rowfile", "cmd/vecql/internal/rowfile", nil,
		[]string{"cmd/vecql/internal/rowfile"},
		[]string{"cmd/vecql/internal/tool"},
	},
	{"compat", "compat", nil, []string{"compat", "compat/tests/values"}, []string{"compat/gocqlv2", "compat/tests/gocql"}},
	{
		"api", "compat/api", nil,
		[]string{"compat/api", "compat/tests/gocql"},
		[]string{"compat/gocqlv2", "compat/gocql"},
	},
}

// room returns a package of parquetscan, whose tests must notice its mutations too.
func room(name string) target {
	dir := "parquetscan/internal/" + name
	return target{"parquetscan/" + name, dir, nil, []string{dir, "parquetscan"}, nil}
}

// apartModules are folders of tests in modules outside of the workspace, with the path of their requirements.
var apartModules = map[string]string{"compat/tests/gocql": "../go.mod", "compat/tests/values": "../api.mod"}

// serverTests are never run. They use the Cassandra node that test processes share, which must not be started by a
// process with a mutation, a bound of memory and a temporary folder that ends with it.
const serverTests = "^(TestOnServer|TestRandomTablesComeBack)$"

// key names a site in results and in the list of justified survivors.
func (s *site) key() string {
	k := fmt.Sprintf("%s: %s: %s", s.functionKey(), s.operator, s.old)
	if s.new != "" {
		k += " -> " + s.new
	}
	if s.nth > 1 {
		k += fmt.Sprintf(" #%d", s.nth)
	}
	return k
}

// functionKey returns the package and name of the function: "internal/codec.(*plan).decode".
func (s *site) functionKey() string {
	if s.dir == "." {
		return "vecql." + s.function
	}
	return s.dir + "." + s.function
}

// position returns FILE:LINE.
func (s *site) position() string {
	return fmt.Sprintf("%s:%d", s.file.path, 1+strings.Count(s.file.text[:s.from], "\n"))
}

// diff returns the changed line before and after, in the form of a unified diff.
func (s *site) diff() string {
	text := s.file.text
	first, end := strings.LastIndex(text[:s.from], "\n")+1, s.from+strings.Index(text[s.from:], "\n")
	changed := text[first:s.from] + s.new
	if s.to < end {
		changed += text[s.to:end]
	}
	return fmt.Sprintf("- %s\n+ %s", oneLine(text[first:end]), oneLine(changed))
}

// A loader type-checks packages with the export data of their imports.
type loader struct {
	root    string
	files   *token.FileSet
	exports map[string]string // files by import path
	sources map[string][]string
	imports types.Importer
}

// newLoader lists packages of the module in root, given by their folders, in a build with a tag.
func newLoader(root, tag string, dirs []string) (*loader, error) {
	l := &loader{root: root, files: token.NewFileSet(), exports: map[string]string{}, sources: map[string][]string{}}
	args := []string{"list", "-export", "-deps", "-tags=" + tag, "-json=ImportPath,Dir,Export,GoFiles"}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := in.Decode(&p); err != nil {
			return nil, err
		}
		l.exports[p.ImportPath], l.sources[p.Dir] = p.Export, p.GoFiles
	}
	l.imports = importer.ForCompiler(l.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(l.exports[path])
	})
	return l, nil
}

// load returns the files of a package, and its sites.
func (l *loader) load(dir string) (files []*combinedFile, sites []*site, err error) {
	full, err := filepath.Abs(filepath.Join(l.root, dir))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range l.sources[full] {
		f, err := parseCombined(l.files, l.root, filepath.Join(dir, name))
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	sites, err = findSites(dir, files, l.imports)
	return files, sites, err
}

// findSites type-checks a package and returns its sites.
func findSites(dir string, files []*combinedFile, imports types.Importer) (sites []*site, err error) {
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.syntax)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imports}
	pkg, err := config.Check(dir, files[0].files, syntax, info)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if ast.IsGenerated(f.syntax) {
			continue
		}
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && !callsRecover(d.Body) && !forPeople[d.Name.Name] {
				found := &finder{dir: dir, file: f, info: info, pkg: pkg, function: d}
				found.find()
				sites = append(sites, found.sites...)
			}
		}
	}
	counts := map[string]int{}
	for _, s := range sites {
		key := s.key()
		counts[key]++
		s.nth = counts[key]
	}
	return sites, nil
}

// wrongLines type-checks the files of a package with their copies, and returns the lines with errors.
func (l *loader) wrongLines(dir string, files []*combinedFile) (map[*combinedFile][]int, error) {
	set, lines := token.NewFileSet(), map[*combinedFile][]int{}
	byName := map[string]*combinedFile{}
	var syntax []*ast.File
	parse := func(name, text string) error {
		f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		syntax = append(syntax, f)
		return err
	}
	for _, f := range files {
		byName[f.path] = f
		if text, _ := f.write(); parse(f.path, text) != nil {
			return nil, fmt.Errorf("%s does not parse with its copies: %w", f.path, parse(f.path, text))
		}
	}
	if err := parse("planted.go", fmt.Sprintf(stub, files[0].syntax.Name.Name)); err != nil {
		return nil, err
	}
	config := types.Config{Importer: l.imports, Error: func(err error) {
		var wrong types.Error
		if !errors.As(err, &wrong) {
			return
		}
		if at := set.Position(wrong.Pos); byName[at.Filename] != nil {
			lines[byName[at.Filename]] = append(lines[byName[at.Filename]], at.Line)
		}
	}}
	_, _ = config.Check(dir, set, syntax, nil) // errors are passed to config.Error
	return lines, nil
}

// stub declares what selector declares, for the type checker.
const stub = "package %s; var planted int; func plantedReach(int) {}"

// forPeople are methods that format a value for a message.
var forPeople = map[string]bool{"String": true, "GoString": true, "Error": true, "LogValue": true, "Format": true}

// sample returns n of the sites, 0 means all: in turn one of each function, in an order that the seed decides.
func sample(all []*site, n int, seed uint64) []*site {
	if n <= 0 || n >= len(all) {
		return all
	}
	random := rand.New(rand.NewPCG(seed, 0))
	byFunction := map[*ast.FuncDecl][]*site{}
	var functions []*ast.FuncDecl
	for _, s := range all {
		if byFunction[s.original] == nil {
			functions = append(functions, s.original)
		}
		byFunction[s.original] = append(byFunction[s.original], s)
	}
	for _, d := range functions {
		list := byFunction[d]
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	random.Shuffle(len(functions), func(i, j int) { functions[i], functions[j] = functions[j], functions[i] })
	var chosen []*site
	for round := 0; len(chosen) < n; round++ {
		for _, d := range functions {
			if list := byFunction[d]; round < len(list) && len(chosen) < n {
				chosen = append(chosen, list[round])
			}
		}
	}
	slices.SortFunc(chosen, func(a, b *site) int {
		return cmp.Or(strings.Compare(a.file.path, b.file.path), a.begin-b.begin, strings.Compare(a.new, b.new))
	})
	return chosen
}
