// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The build that combines mutations: the files with copies of functions, and the test binaries.

// A build has the mutations that share test binaries. Mutation i of all has the number i+1; 0 means that none is
// planted.
type build struct {
	all      []*mutation
	combined []bool // by mutation
	folder   string // of temporary files
	overlay  string
	files    map[string]*combinedFile

	mu       sync.Mutex
	binaries map[string]*binary // by package
}

// binary is the compiled tests of a package.
type binary struct {
	once sync.Once
	path string
	err  error
}

// newBuild combines the mutations of all for which that is possible.
func newBuild(all []*mutation, folder string, timeout time.Duration) (*build, error) {
	b := &build{
		all: all, combined: make([]bool, len(all)), folder: folder, overlay: filepath.Join(folder, "combined.json"),
		files: map[string]*combinedFile{}, binaries: map[string]*binary{},
	}
	for i, m := range all {
		f := b.files[m.file]
		if f == nil {
			var err error
			if f, err = parseCombined(".", m.file); err != nil {
				return nil, err
			}
			b.files[m.file] = f
		}
		b.combined[i] = f.add(m, i+1)
	}
	for {
		removed, err := b.compile()
		if err != nil {
			return nil, err
		}
		if removed == 0 {
			break
		}
	}
	return b, b.testUnplanted(5 * timeout)
}

// compileError matches the place of an error of the compiler.
var compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// compile compiles the packages with mutations. It removes the mutations that do not compile and returns their number.
func (b *build) compile() (removed int, err error) {
	replace := map[string]string{}
	packages := map[string]string{} // names by folder
	for path, f := range b.files {
		text, _ := f.write()
		packages[filepath.Dir(path)] = f.syntax.Name.Name
		replace[path] = text
	}
	for dir, name := range packages {
		replace[filepath.Join(dir, "planted.go")] = fmt.Sprintf(selector, name)
	}
	files, err := writeOverlay(b.overlay, replace)
	if err != nil {
		return 0, err
	}
	args := []string{"build", "-tags=poison", "-overlay=" + b.overlay}
	for dir := range packages {
		args = append(args, "./"+dir)
	}
	out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput()
	if err == nil {
		return 0, nil
	}
	for _, place := range compileError.FindAllStringSubmatch(string(out), -1) {
		f := b.files[files[place[1]]]
		line, _ := strconv.Atoi(place[2])
		if f == nil {
			continue
		}
		if n := f.copyAt(line); n > 0 && b.combined[n-1] {
			b.combined[n-1] = false
			removed++
		}
	}
	for i := range b.all {
		if !b.combined[i] {
			b.files[b.all[i].file].remove(i + 1)
		}
	}
	if removed == 0 {
		return 0, fmt.Errorf("compile all mutations: %w\n%s", err, out)
	}
	return removed, nil
}

// testUnplanted runs the tests of the combined mutations without one. The tests that fail are those of bounds that
// depend on the inlining of a function: their mutations get builds of their own.
func (b *build) testUnplanted(timeout time.Duration) error {
	var used []*mutation
	for i, m := range b.all {
		if b.combined[i] {
			used = append(used, m)
		}
	}
	for pkg, pattern := range patterns(used) {
		failed, out := b.run(testRun{pkg, pattern}, 0, timeout, false)
		if !failed {
			continue
		}
		names := failedTests(out)
		if len(names) == 0 {
			return fmt.Errorf("the tests of %s fail without a mutation:\n%s", pkg, out)
		}
		fmt.Printf("%s: without a mutation, the combined build fails %s\n", pkg, strings.Join(names, ", "))
		for i, m := range b.all {
			b.combined[i] = b.combined[i] && !slices.ContainsFunc(m.tests, func(t testRun) bool {
				return t.pkg == pkg && slices.ContainsFunc(names, regexp.MustCompile(t.pattern).MatchString)
			})
		}
	}
	return nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// failedTests returns the names of the tests that failed.
func failedTests(out string) []string {
	names := map[string]bool{}
	for _, m := range failedTest.FindAllStringSubmatch(out, -1) {
		names[m[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// binaryOf returns the compiled tests of a package.
func (b *build) binaryOf(pkg string) (string, error) {
	b.mu.Lock()
	bin := b.binaries[pkg]
	if bin == nil {
		bin = &binary{path: filepath.Join(b.folder, fmt.Sprintf("%d.test", len(b.binaries)))}
		b.binaries[pkg] = bin
	}
	b.mu.Unlock()
	bin.once.Do(func() {
		out, err := exec.CommandContext(context.Background(), "go", "test", "-c", "-vet=off", "-tags=poison",
			"-ldflags=-s -w", "-overlay="+b.overlay, "-o="+bin.path, pkg).CombinedOutput()
		if err != nil {
			bin.err = fmt.Errorf("%s [build failed]: %w\n%s", pkg, err, out)
		}
	})
	return bin.path, bin.err
}

// run runs tests with the mutation of that number, as goTest does.
func (b *build) run(t testRun, number int, timeout time.Duration, first bool) (failed bool, out string) {
	path, err := b.binaryOf(t.pkg)
	if err != nil {
		return true, err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout+10*time.Second) // the tests end themselves before
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-test.paniconexit0", fmt.Sprintf("-test.failfast=%t", first),
		"-test.timeout="+timeout.String(), "-test.run="+t.pattern)
	cmd.Dir, cmd.Env = t.pkg, append(os.Environ(), fmt.Sprintf("%s=%d", variable, number))
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err = cmd.Run()
	return err != nil, buf.String()
}
