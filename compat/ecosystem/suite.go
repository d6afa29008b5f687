// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The runs of the tests of an API itself.

// runSuite runs the tests of an API on one side and stores the result. The first side filters them.
func (e *ecosystem) runSuite(ctx context.Context, p program, dir, compat, side string) error {
	s := e.suites[p.name]
	if s == nil {
		var err error
		if s, err = p.suite(ctx, dir, compat); err != nil {
			return err
		}
		if e.suites == nil {
			e.suites = map[string]*suite{}
		}
		e.suites[p.name] = s
	}
	r := result{
		Program: p.name, Side: side, Kept: s.kept, All: s.all, Failed: map[string]string{}, Outcomes: map[string]string{},
		Emulated: e.cqltest,
	}
	root := s.api
	if side == "vecql" {
		root = s.compat
	}
	if e.tests {
		if err := s.test(ctx, &r, root, filepath.Join(e.work, side, p.slug()+".log")); err != nil {
			return err
		}
		fmt.Printf("tests: %d passed, %d failed, %d skipped\n", r.Passed, len(r.Failed), r.Skipped)
	}
	return r.store(e.work)
}

// test runs the tests of all packages of a module on a server of their own.
func (s *suite) test(ctx context.Context, r *result, root, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close() // its errors come from writes
	stop, err := startServer(ctx, r.Emulated)
	if err != nil {
		return err
	}
	defer stop()
	for _, folder := range s.folders {
		dir := filepath.Join(root, folder)
		args := []string{"-tags=" + s.tags}
		if folder == "./." { // the packages below have no such flags
			args = append(args, s.args...)
		}
		if err := s.testPackage(ctx, r, dir, args, f); err != nil {
			return err
		}
	}
	for _, outcome := range r.Outcomes {
		switch outcome {
		case "pass":
			r.Passed++
		case "skip":
			r.Skipped++
		}
	}
	return nil
}

// testPackage runs the tests of a package. A test that ends the process fails, and the others run again.
func (s *suite) testPackage(ctx context.Context, r *result, dir string, args []string, log *os.File) error {
	names, err := testNames(ctx, dir, args[0])
	if err != nil {
		return err
	}
	alone := false
	for len(names) > 0 {
		batch := names
		if alone {
			batch = names[:1]
		}
		run := &result{Failed: map[string]string{}, Outcomes: map[string]string{}}
		selected := []string{"-timeout=6m", "-run=^(" + strings.Join(batch, "|") + ")$", args[0], "."}
		ended := run.goTest(ctx, dir, nil, log, append(selected, args[1:]...)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var exit *exec.ExitError
		if ended != nil && !errors.As(ended, &exit) {
			return ended
		}
		done := run.finished()
		if len(done) == 0 && alone { // the test ended the process
			run.Outcomes[folderOf(run)+" "+batch[0]] = "fail"
			run.Failed[folderOf(run)+" "+batch[0]] = "the process ended"
			done = batch
		}
		alone = len(done) < len(batch)
		for name, outcome := range run.Outcomes {
			if outcome != "run" {
				r.Outcomes[name] = outcome
			}
		}
		maps.Copy(r.Failed, run.Failed)
		names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(done, n) })
	}
	return nil
}

func folderOf(r *result) string {
	for name := range r.Outcomes {
		folder, _, _ := strings.Cut(name, " ")
		return folder
	}
	return ""
}

// finished returns the tests of a run, without their parts, that have an outcome.
func (r *result) finished() (names []string) {
	for name, outcome := range r.Outcomes {
		_, test, _ := strings.Cut(name, " ")
		if outcome != "run" && !strings.Contains(test, "/") {
			names = append(names, test)
		}
	}
	return names
}

// testNames returns the names of the tests and examples of a package that go test runs.
func testNames(ctx context.Context, dir, tags string) (names []string, err error) {
	out, err := goOutput(ctx, dir, "test", "-vet=off", tags, "-list=^(Test|Example)", ".")
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Test") || strings.HasPrefix(line, "Example") {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names, err
}
