// SPDX-License-Identifier: Apache-2.0

// Mutate plants the mutations of mutations.txt, one at a time, and runs the tests that must fail with each. It changes
// no file of the tree: the go command gets the mutated file by its flag -overlay. Mutate prints the number of mutations
// by promise of docs/promises.md, and every mutation that no test has caught.
//
// Usage, in the root of the module:
//
//	go run ./tests/mutate [-match regexp] [-list] [-timeout duration]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
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

const listFile = "tests/mutate/mutations.txt"

// jobs is the number of mutations that are tested at a time.
const jobs = 2

func main() {
	match := flag.String("match", "", "plant only the mutations whose first `line` this regular expression matches")
	list := flag.Bool("list", false, "print the mutations, check that each can be planted, and run no test")
	timeout := flag.Duration("timeout", time.Minute, "limit of the tests of one package; a test that exceeds it fails")
	flag.Parse()
	if err := run(*match, *list, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run plants the selected mutations. The error states how many were not caught.
func run(match string, listOnly bool, timeout time.Duration) error {
	all, err := parseList(listFile)
	if err != nil {
		return err
	}
	wanted, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m *mutation) bool { return !wanted.MatchString(m.String()) })
	for _, m := range all {
		_, line, err := m.apply(".")
		if err != nil {
			return err
		}
		if listOnly {
			fmt.Printf("promise %2d  %s:%d  %s\n", m.promise, m.file, line, m.name)
		}
	}
	if listOnly {
		return nil
	}
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := testUnchanged(all, timeout); err != nil {
		return err
	}
	outcomes := make([]outcome, len(all))
	turns := make(chan struct{}, jobs)
	var wg sync.WaitGroup
	for i, m := range all {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			outcomes[i] = plant(m, filepath.Join(folder, fmt.Sprint(i)), timeout)
			fmt.Printf("%-8s %5.1fs  %v\n", outcomes[i].verdict, outcomes[i].took.Seconds(), m)
		})
	}
	wg.Wait()
	return report(all, outcomes)
}

// verdict is what the tests have shown about a mutation.
type verdict string

const (
	caught   verdict = "caught"
	survived verdict = "survived"
	invalid  verdict = "invalid" // the mutated code does not compile, or a test did not run
)

// outcome is the result of one mutation.
type outcome struct {
	verdict verdict
	detail  string // output of an invalid mutation
	took    time.Duration
}

// testUnchanged runs the tests of all mutations once on the unchanged tree: a test that always fails catches nothing.
func testUnchanged(all []*mutation, timeout time.Duration) error {
	patterns := map[string][]string{}
	for _, m := range all {
		for _, t := range m.tests {
			patterns[t.pkg] = append(patterns[t.pkg], t.pattern)
		}
	}
	for pkg, list := range patterns {
		slices.Sort(list)
		list = slices.Compact(list)
		pattern := strings.Join(list, "|")
		if list[0] == "" {
			pattern = ""
		}
		if failed, out := goTest(testRun{pkg, pattern}, "", 5*timeout); failed {
			return fmt.Errorf("the tests of %s fail without a mutation:\n%s", pkg, out)
		}
	}
	return nil
}

// plant runs the tests of a mutation until one fails. base is the path of temporary files, without their extensions.
func plant(m *mutation, base string, timeout time.Duration) (o outcome) {
	began := time.Now()
	defer func() { o.took = time.Since(began) }()
	text, _, err := m.apply(".")
	if err != nil {
		return outcome{verdict: invalid, detail: err.Error()}
	}
	overlay := base + ".json"
	if err := writeOverlay(overlay, base+".go", m.file, text); err != nil {
		return outcome{verdict: invalid, detail: err.Error()}
	}
	for _, t := range m.tests {
		failed, out := goTest(t, overlay, timeout)
		switch {
		case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"),
			strings.Contains(out, "no tests to run"):
			return outcome{verdict: invalid, detail: out}
		case failed:
			return outcome{verdict: caught}
		}
	}
	return outcome{verdict: survived}
}

// writeOverlay writes an overlay in which the file mutated, with the given text, replaces file.
func writeOverlay(overlay, mutated, file, text string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
		return err
	}
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		return err
	}
	return os.WriteFile(overlay, b, 0o600)
}

// goTest runs tests and reports whether they failed, with their output. An empty overlay means the unchanged tree. The
// tag poison makes the tests count pooled buffers; the linker omits debug information, which would take half its time.
func goTest(t testRun, overlay string, timeout time.Duration) (failed bool, out string) {
	// the go command itself ends the tests after timeout
	cmd := exec.CommandContext(context.Background(), "go", "test", "-count=1", "-vet=off", "-failfast", "-tags=poison",
		"-ldflags=-s -w", "-timeout="+timeout.String(), "-overlay="+overlay, "-run="+t.pattern, t.pkg)
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err := cmd.Run()
	return err != nil, buf.String()
}

// report prints a table by promise and every mutation that was not caught.
func report(all []*mutation, outcomes []outcome) error {
	const promises = 13
	var planted, found [promises + 1]int
	var lines []string
	bad := 0
	for i, m := range all {
		planted[m.promise]++
		if o := outcomes[i]; o.verdict == caught {
			found[m.promise]++
		} else {
			bad++
			_, line, _ := m.apply(".")
			lines = append(lines, fmt.Sprintf("%s: %s:%d: %s\n%s", o.verdict, m.file, line, m, o.detail))
		}
	}
	fmt.Print("\n| promise | planted | caught | survived |\n| --- | --- | --- | --- |\n")
	for p, n := range planted {
		if n > 0 {
			fmt.Printf("| %d | %d | %d | %d |\n", p, n, found[p], n-found[p])
		}
	}
	fmt.Printf("| all | %d | %d | %d |\n\n", len(all), len(all)-bad, bad)
	for _, line := range lines {
		fmt.Println(line)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d mutations were not caught", bad, len(all))
	}
	return nil
}
