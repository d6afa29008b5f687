// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Suites: the tests of a package, and which of them reach a function.

// A suite is the tests of a package, compiled with all mutations.
type suite struct {
	dir     string
	path    string // of the test binary
	folder  string // of temporary files
	jobs    int
	tests   []*test
	reached map[int][]*test // by function, the shortest first
}

// test is a test, an example, or a fuzz target with its seeds.
type test struct {
	name      string
	duration  time.Duration
	functions []int
	failed    bool
}

// newSuite compiles the tests of a package, and runs each alone to record the functions that it reaches.
func newSuite(dir string, s *schemata, folder string, jobs int) (*suite, error) {
	name := strings.ReplaceAll(strings.ReplaceAll(dir, "/", "-"), ".", "root")
	u := &suite{dir: dir, folder: folder, jobs: jobs, reached: map[int][]*test{}}
	u.path = filepath.Join(folder, name+".test")
	if err := compileTests(dir, s.overlay, u.path); err != nil {
		return nil, err
	}
	list := exec.Command(u.path, "-test.list", "^(Test|Example|Fuzz)")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w\n%s", dir, err, out)
	}
	skipped := regexp.MustCompile(serverTests)
	for _, name := range strings.Fields(string(out)) {
		if !skipped.MatchString(name) {
			u.tests = append(u.tests, &test{name: name})
		}
	}
	u.record()
	return u, nil
}

// compileTests compiles the tests of the package in a folder.
func compileTests(dir, overlay, path string) error {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-tags=poison", "-ldflags=-s -w", "-overlay="+overlay, "-o="+path)
	cmd.Dir = dir
	if requirements, apart := apartModules[dir]; apart {
		cmd.Args = append(cmd.Args, "-modfile="+requirements)
		cmd.Env = append(os.Environ(), "GOWORK=off")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the tests of %s: [build failed]: %w\n%s", dir, err, out)
	}
	return nil
}

// record runs each test alone. Tests that fail without a mutation are left out: tests of allocations, since calls of
// a function with copies are not inlined.
func (u *suite) record() {
	began := time.Now()
	each(u.jobs, u.tests, func(_ int, t *test) {
		began := time.Now()
		file := filepath.Join(u.folder, t.name+".reached")
		out, err := u.run([]string{t.name}, recording, time.Minute, reachedVariable+"="+file)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(out, timedOutText) {
			_, err = u.run([]string{t.name}, 0, time.Minute)
		}
		t.duration, t.failed = time.Since(began), err != nil
		numbers, _ := os.ReadFile(file) // no file if the test reaches no function
		os.Remove(file)
		for _, line := range strings.Fields(string(numbers)) {
			var n int
			if _, err := fmt.Sscan(line, &n); err == nil && !slices.Contains(t.functions, n) {
				t.functions = append(t.functions, n)
			}
		}
	})
	var failed []string
	for _, t := range u.tests {
		if t.failed {
			failed = append(failed, t.name)
			continue
		}
		for _, n := range t.functions {
			u.reached[n] = append(u.reached[n], t)
		}
	}
	for _, list := range u.reached {
		slices.SortStableFunc(list, func(a, b *test) int { return cmp.Compare(a.duration, b.duration) })
	}
	fmt.Printf("%s: recorded %d tests in %.0f s; left out, since they fail or take a minute without a mutation: %s\n",
		u.dir, len(u.tests), time.Since(began).Seconds(), cmp.Or(strings.Join(failed, ", "), "none"))
}

// maxData is the memory of a test process in KiB. A mutated loop may allocate without end.
const maxData = 6 << 20

const timedOutText = "panic: test timed out"

// run runs tests in one process until one fails.
func (u *suite) run(names []string, number int, timeout time.Duration, env ...string) (out string, err error) {
	temporary, err := os.MkdirTemp(u.folder, "run")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	ctx, cancel := context.WithTimeout(context.Background(), timeout+10*time.Second) // the tests end themselves before
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -d %d; exec "$@"`, maxData), "sh", u.path,
		"-test.paniconexit0", "-test.failfast", "-test.timeout="+timeout.String(),
		"-test.run=^("+strings.Join(names, "|")+")$")
	cmd.Dir, cmd.WaitDelay = u.dir, time.Second
	cmd.Env = append(os.Environ(), append(env, fmt.Sprintf("%s=%d", variable, number), "TMPDIR="+temporary)...)
	output, err := cmd.CombinedOutput()
	return string(output), cmp.Or(ctx.Err(), err)
}

// The verdicts about a mutation of a syntax tree, beside caught and survived.
const (
	crashed   verdict = "crashed" // panics and fatal errors
	timedOut  verdict = "timed out"
	unreached verdict = "unreached" // survived, since no test reaches the function
)

// A judgment is a verdict with its reason.
type judgment struct {
	Verdict verdict
	Test    string // the first test that failed
	NotRun  int    // the number of tests beyond the budget
}

// judge runs the tests that reach a function until one notices the mutation with that number. The normal duration of
// all tests is at most budget.
func (u *suite) judge(function, number int, budget time.Duration) judgment {
	tests := slices.Clone(u.reached[function])
	if len(tests) == 0 {
		return judgment{Verdict: unreached}
	}
	for len(tests) > 0 {
		names, duration := group(tests)
		if duration > budget {
			break
		}
		timeout := (15*time.Second + 10*duration).Round(time.Second)
		out, err := u.run(names, number, timeout)
		j := judgmentOf(out, err)
		if j.Verdict == caught && j.Test != "" && !u.confirms(j.Test, number, timeout) {
			tests = slices.DeleteFunc(tests, func(t *test) bool { return t.name == j.Test })
			continue
		}
		if j.Verdict != survived {
			return j
		}
		tests, budget = tests[len(names):], budget-duration
	}
	return judgment{Verdict: survived, NotRun: len(tests)}
}

// group returns the names of the first tests, which run in one process, and their normal duration: half a second, or
// the double of the first one.
func group(tests []*test) (names []string, duration time.Duration) {
	limit := max(time.Second/2, 2*tests[0].duration)
	for _, t := range tests {
		if duration += t.duration; duration > limit && len(names) > 0 {
			return names, duration - t.duration
		}
		names = append(names, t.name)
	}
	return names, duration
}

// confirms reports whether a test fails again, alone: a test that fails at times would catch anything.
func (u *suite) confirms(name string, number int, timeout time.Duration) bool {
	_, err := u.run([]string{name}, number, timeout)
	return err != nil
}

var crash = regexp.MustCompile(`(?m)^(panic|fatal error|runtime): `)

// judgmentOf judges the output of a test process.
func judgmentOf(out string, err error) judgment {
	j := judgment{Verdict: caught}
	if names := failedTests(out); len(names) > 0 {
		j.Test = names[0]
	}
	switch {
	case err == nil:
		return judgment{Verdict: survived}
	case errors.Is(err, context.DeadlineExceeded), strings.Contains(out, timedOutText):
		j.Verdict = timedOut
	case crash.MatchString(out):
		j.Verdict = crashed
	}
	return j
}

// each calls f for all elements of a list with their positions, jobs at a time.
func each[E any](jobs int, list []E, f func(int, E)) {
	turns := make(chan struct{}, jobs)
	var wg sync.WaitGroup
	for i, e := range list {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			f(i, e)
		})
	}
	wg.Wait()
}
