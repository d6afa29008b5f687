// SPDX-License-Identifier: Apache-2.0

package main

import (
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

// Schemata are files with copies of functions, and the overlay with which the go command compiles them.
type schemata struct {
	files     map[string]*combinedFile
	functions int // that are recorded
	overlay   string
}

// A build has the mutations that share test binaries. Mutation i of all has the number i+1; 0 means that none is
// planted.
type build struct {
	all      []*mutation
	combined []bool // by mutation
	folder   string // of temporary files
	schemata schemata

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
		all: all, combined: make([]bool, len(all)), folder: folder, binaries: map[string]*binary{},
		schemata: schemata{map[string]*combinedFile{}, 0, filepath.Join(folder, "combined.json")},
	}
	for i, m := range all {
		b.schemata.files[m.at.file.path] = m.at.file
		b.combined[i] = m.at.file.add(m, i+1)
	}
	removed, err := b.schemata.compile()
	if err != nil {
		return nil, err
	}
	for _, n := range removed {
		b.combined[n-1] = false
	}
	return b, b.testUnplanted(5 * timeout)
}

// compileError matches the place of an error of the compiler.
var compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// compile compiles the packages with mutations. It removes the copies that do not compile and returns their numbers.
func (s *schemata) compile() (removed []int, err error) {
	for {
		paths, folders, err := s.write()
		if err != nil {
			return nil, err
		}
		args := append([]string{"build", "-tags=poison", "-overlay=" + s.overlay}, folders...)
		out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput()
		if err == nil {
			return removed, nil
		}
		lines := map[*combinedFile][]int{} // with errors
		for _, place := range compileError.FindAllStringSubmatch(string(out), -1) {
			line, _ := strconv.Atoi(place[2])
			if f := s.files[paths[place[1]]]; f != nil {
				lines[f] = append(lines[f], line)
			}
		}
		wrong := removeAt(lines)
		if len(wrong) == 0 {
			return nil, fmt.Errorf("compile all mutations: %w\n%s", err, out)
		}
		removed = append(removed, wrong...)
	}
}

// removeAt removes the copies with errors and returns their numbers.
func removeAt(lines map[*combinedFile][]int) (removed []int) {
	for f, at := range lines {
		numbers := f.copiesAt(at...)
		for _, n := range numbers {
			f.remove(n)
		}
		removed = append(removed, numbers...)
	}
	return removed
}

// write writes the overlay. It returns the files by the paths of their texts, and the folders of the packages.
func (s *schemata) write() (paths map[string]string, folders []string, err error) {
	texts := map[string]string{}
	for path, f := range s.files {
		texts[path], _ = f.write()
		dir := filepath.Dir(path)
		texts[filepath.Join(dir, "planted.go")] = fmt.Sprintf(selector, f.syntax.Name.Name, s.functions)
		folders = append(folders, "./"+dir)
	}
	slices.Sort(folders)
	paths, err = writeOverlay(s.overlay, texts)
	return paths, slices.Compact(folders), err
}

// testUnplanted runs the tests of the combined mutations without one. The tests that fail hold bounds that depend on
// the inlining of a function: their mutations get builds of their own.
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
	bin.once.Do(func() { bin.err = compileTests(pkg, b.schemata.overlay, bin.path) })
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
	output, err := cmd.CombinedOutput()
	return err != nil, string(output)
}
