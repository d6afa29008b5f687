// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A result is what one program did with one driver.
type result struct {
	Program, Side   string
	Build, Vet      string // first lines of the failure; empty means success
	Passed, Skipped int
	Emulated        bool              // the tests ran on cqltest
	Failed          map[string]string // output of each failed test, by package and name

	// Of the tests of an API itself.
	Kept, All int               // top-level declarations of its tests: those that compile on both sides, and all
	Outcomes  map[string]string // "pass", "fail" or "skip" by package and name of the test
}

// An event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// test runs the program's tests, with a server of cqltest if it is emulated. The log receives all their output.
func (r *result) test(ctx context.Context, p program, dir, log string, emulated bool) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close() // its errors come from writes
	if slices.ContainsFunc(p.runs, func(run testRun) bool { return run.server }) {
		stop, err := startServer(ctx, emulated)
		if err != nil {
			return err
		}
		defer stop()
	}
	r.Failed, r.Emulated = map[string]string{}, emulated
	for _, run := range p.runs {
		counted := r
		if run.setup {
			counted = &result{Failed: map[string]string{}}
		}
		if err := counted.testRun(ctx, run, dir, f); err != nil {
			return err
		}
	}
	return nil
}

// testRun makes one call of go test.
func (r *result) testRun(ctx context.Context, run testRun, dir string, log io.Writer) error {
	err := r.goTest(ctx, dir, run.env, log, slices.Concat([]string{"-timeout=20m"}, run.args, run.packages)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(r.Failed) > 0 {
		return nil // the failed tests explain it
	}
	return err
}

// goTest runs go test in a folder and counts its tests.
func (r *result) goTest(ctx context.Context, dir string, env []string, log io.Writer, args ...string) error {
	cmd := newGo(ctx, dir, append([]string{"test", "-json", "-count=1", "-vet=off"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = r.read(io.TeeReader(out, log))
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("go test: %w", ended)
	}
	return err
}

// read counts the events of tests. A package that fails without a failed test counts as one: it did not compile, or its
// process ended.
func (r *result) read(events io.Reader) error {
	output := map[string]*strings.Builder{}
	failed := map[string]bool{} // packages with a failed test
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("output of go test -json: %w", err)
		}
		name := strings.TrimSpace(e.Package + " " + e.Test)
		if r.Outcomes != nil && e.Test != "" && slices.Contains([]string{"run", "pass", "skip", "fail"}, e.Action) {
			r.Outcomes[name] = e.Action
		}
		switch {
		case e.Action == "output":
			if output[name] == nil {
				output[name] = &strings.Builder{}
			}
			output[name].WriteString(e.Output)
		case e.Action == "pass" && e.Test != "":
			r.Passed++
		case e.Action == "skip" && e.Test != "":
			r.Skipped++
		case e.Action == "fail" && (e.Test != "" || !failed[e.Package]):
			failed[e.Package] = true
			r.Failed[name] = text(output[name])
		}
	}
}

// text returns the last lines of a test's output.
func text(output *strings.Builder) string {
	if output == nil {
		return ""
	}
	lines := slices.Collect(strings.Lines(output.String()))
	return strings.Join(lines[max(0, len(lines)-30):], "")
}

func (r *result) store(work string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := program{name: r.Program}.slug() + "." + r.Side + ".json"
	return os.WriteFile(filepath.Join(work, name), data, 0o644)
}

// load returns the kept result of a program, or nil.
func load(work string, p program, side string) (*result, error) {
	data, err := os.ReadFile(filepath.Join(work, p.slug()+"."+side+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &result{}
	return r, json.Unmarshal(data, r)
}
