// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The tests of an API itself. They are in the API's package, so they run on vecql as files of the compat module,
// without the declarations that use unexported names.

// ownRuns returns the runs of the API's own tests that compile on the compat module, the same with both drivers, and
// the folder where they run: that of the API, or a copy of the compat module.
func (p program) ownRuns(ctx context.Context, dir, compat string, vecql bool) ([]testRun, string, error) {
	onCompat := dir + "-on-compat"
	if err := os.RemoveAll(onCompat); err != nil {
		return nil, "", err
	}
	if err := copyTree(onCompat, compat); err != nil {
		return nil, "", err
	}
	driver := filepath.Dir(filepath.Dir(compat))
	if err := goCommand(ctx, onCompat, "mod", "edit", "-replace=github.com/vecql/vecql="+driver); err != nil {
		return nil, "", err
	}
	names, err := p.moveTests(ctx, onCompat, dir)
	if err != nil {
		return nil, "", err
	}
	runs := slices.Clone(p.runs)
	for i, r := range runs {
		runs[i].args = append(slices.Clone(r.args), "-run=^("+strings.Join(names, "|")+")$")
	}
	if vecql {
		dir = onCompat
	}
	return runs, dir, nil
}

// moveTests replaces the tests of the compat module in dir by those of the API in the folder from, as far as they
// compile with the build tags, and returns the names of the tests.
func (p program) moveTests(ctx context.Context, dir, from string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return nil, err
		}
	}
	for _, name := range p.own {
		text, err := os.ReadFile(filepath.Join(from, name+"_test.go"))
		if err != nil {
			return nil, err
		}
		// The only unexported name that helpers of all tests use.
		text = regexp.MustCompile(`\.control\.awaitSchemaAgreement\(\)`).
			ReplaceAll(text, []byte(`.AwaitSchemaAgreement(context.Background())`))
		if strings.Contains(string(text), "context.") && !strings.Contains(string(text), `"context"`) {
			text = []byte(strings.Replace(string(text), "import (", "import (\n\t\"context\"", 1))
		}
		if err := os.WriteFile(filepath.Join(dir, name+"_test.go"), text, 0o644); err != nil {
			return nil, err
		}
	}
	if err := p.dropUncompiled(ctx, dir); err != nil {
		return nil, err
	}
	return p.testNames(dir)
}

// compileError is the place of an error of the compiler in a test.
var compileError = regexp.MustCompile(`(?m)^(?:\./)?(\w+_test\.go):(\d+):\d+: (.*)$`)

// dropUncompiled removes the declarations of tests that do not compile, until the others do: a test may use a removed
// one.
func (p program) dropUncompiled(ctx context.Context, dir string) error {
	const most = 50
	for range most {
		err := goCommand(ctx, dir, "test", "-c", "-vet=off", "-gcflags=-e", "-tags="+p.tags, "-o", os.DevNull, ".")
		if err == nil {
			return nil
		}
		faults := compileError.FindAllStringSubmatch(err.Error(), -1)
		if len(faults) == 0 {
			return err
		}
		lines := map[string][]int{}
		for _, f := range faults {
			line, err := strconv.Atoi(f[2])
			if err != nil {
				return err
			}
			lines[f[1]] = append(lines[f[1]], line)
		}
		for file, at := range lines {
			if err := dropDeclarations(filepath.Join(dir, file), at); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("the tests do not compile after %d removals", most)
}

// dropDeclarations removes the declarations around the lines from a file; of imports only the lines.
func dropDeclarations(path string, lines []int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	source := strings.Split(string(text), "\n")
	drop := make([]bool, len(source))
	for _, d := range file.Decls {
		first, last := fset.Position(d.Pos()).Line, fset.Position(d.End()).Line
		imports, _ := d.(*ast.GenDecl)
		for _, line := range lines {
			switch {
			case line < first || line > last:
			case imports != nil && imports.Tok == token.IMPORT:
				drop[line-1] = true
			default:
				for i := first; i <= last; i++ {
					drop[i-1] = true
				}
			}
		}
	}
	var kept []string
	for i, line := range source {
		if !drop[i] {
			kept = append(kept, line)
		}
	}
	return os.WriteFile(path, []byte(strings.Join(kept, "\n")), 0o644)
}

// testNames returns the names of the tests and examples in the folder.
func (p program) testNames(dir string) ([]string, error) {
	var names []string
	for _, name := range p.own {
		text, err := os.ReadFile(filepath.Join(dir, name+"_test.go"))
		if err != nil {
			return nil, err
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	return names, nil
}
