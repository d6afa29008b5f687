// SPDX-License-Identifier: Apache-2.0

// Mutate plants mutations, small slips in the code, one at a time, and runs the tests that must fail with each. It
// changes no file of the tree: the go command gets the mutated files by its flag -overlay. All mutations are in one
// build (combine.go). The environment selects one, so that the tests of a package are compiled once.
//
// # The list
//
// Without a verb, mutate plants the mutations of mutations.txt, which are written by hand. It prints the number of
// mutations by promise of docs/promises.md, and every mutation that no test has caught. A mutation that changes no
// function, and one that no test has caught, gets a build of its own.
//
//	go run ./tests/mutate [-match regexp] [-file list] [-list] [-timeout duration]
//	go run ./tests/mutate -nodes 'bulk Writer.Close'
//	go run ./tests/mutate -renumber HEAD
//
// A mutation names a declaration, a node of its syntax tree by kind and number, and the text that replaces the node;
// list.go has the format. Moves of a declaration to another file, formatting, and new names of variables do not matter.
// A change of the number of nodes of that kind makes the mutation fail to be planted, in TestList too: -nodes prints
// the new numbers, and -renumber finds the nodes of a revision again by their text. A mutation whose declaration has a
// new name or package needs it in its first line.
//
// # The syntax tree
//
// The verb tree plants mutations that it finds in the syntax tree of the packages in targets.go, some 60,000 in all.
//
//	go run ./tests/mutate tree [-target regexp] [-sample number] [-seed number] [-results file] [-again] [-list]
//
// The operators (operators.go) are:
//
//	condition   if a           if true, if false; for a loop false
//	side        a && b         a, b; the same for ||
//	negate      a == b, !a     a != b, a; not in the condition of an if, where condition is stronger
//	bound       a < b          a <= b
//	arithmetic  a + b, a |= b  a - b, a &= b
//	constant    3, limit       3 + 1, limit - 1: literals, and constants of the package
//	boolean     true           false
//	error       return a, err  return a, nil
//	result      return a, nil  return 0, nil; return !a
//	drop        f(a), a = b    nothing: calls, assignments, increments, defer, go, sends
//	branch      break          continue
//	once        for a := ...   its first iteration alone
//	case        case a, b:     case a:, case b:, nothing; also a case of select
//	swap        f(a, b)        f(b, a), if both have the same type
//	slice       a[b:c]         a[b:], a[:c]
//	field       t{a: b}        t{}
//
// Texts of errors, logs and panics, capacities, constant durations and methods for messages (String, Error) have no
// mutations. A mutation that does not compile is not counted.
//
// Each test of the package (near in targets.go) runs once alone, which records its duration and the functions that it
// reaches. A mutation runs only the tests that reach its function, the shortest first, up to -budget. A test that fails
// runs again, and notices the mutation if it fails twice. With a mutation that survives, tests of other packages (far)
// run too, unless -far=false. The limit of time is ten times the normal one and 15 seconds. A mutation counts as
// noticed if a test fails, crashes or exceeds the limit; the report has a column for each.
//
// The report lists survivors by file and line, the changed line before and after. Results are in the file -results, a
// JSON object a line: a run that was stopped continues where it was. After a test was written, -again plants only the
// survivors in the file. Remove the file after a change of the mutated code.
//
// A survivor that no test can notice, as both codes do the same, gets an entry in justified.txt: a key as the results
// have, and the reason. A function alone, as key, gets no mutations: one that only saves time. The report names entries
// that are stale.
package main

import (
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
	"time"
)

// jobs is the number of mutations that are tested at a time.
const jobs = 2

// flags are the flags of the command.
type flags struct {
	match, file  string
	nodes, since string
	list         bool
	timeout      time.Duration
}

func main() {
	command := listMain
	if len(os.Args) > 1 && os.Args[1] == "tree" {
		command = treeMain
	}
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// listMain plants the mutations of a list.
func listMain(args []string) error {
	var f flags
	set := flag.NewFlagSet("mutate", flag.ExitOnError)
	set.StringVar(&f.match, "match", "", "plant only the mutations whose first `line` this regular expression matches")
	set.StringVar(&f.file, "file", "tests/mutate/mutations.txt", "the `list` of mutations")
	set.StringVar(&f.nodes, "nodes", "", "print the nodes of a `declaration`, \"PACKAGE NAME\", with their numbers, and run no test")
	set.StringVar(&f.since, "renumber", "", "rewrite the numbers of the list, which are right for this `revision`, and run no test")
	set.BoolVar(&f.list, "list", false, "print the mutations, check that each can be planted, and run no test")
	set.DurationVar(&f.timeout, "timeout", time.Minute, "limit of the tests of one package; a test that exceeds it fails")
	if err := set.Parse(args); err != nil {
		return err
	}
	switch {
	case f.nodes != "":
		return printNodes(os.Stdout, f.nodes)
	case f.since != "":
		return renumber(f.file, f.since)
	}
	return run(&f)
}

// run plants the selected mutations. The error states how many were not caught.
func run(f *flags) error {
	all, err := parseList(f.file, ".")
	if err != nil {
		return err
	}
	wanted, err := regexp.Compile(f.match)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m *mutation) bool { return !wanted.MatchString(m.String()) })
	for _, m := range all {
		_, line, err := m.apply()
		if err != nil {
			return err
		}
		if f.list {
			fmt.Printf("promise %2d  %s:%d  %s\n%s", m.promise, m.at.file.path, line, m.name, m.diff())
		}
	}
	if f.list {
		return nil
	}
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	outcomes, err := plantAll(all, folder, f)
	if err != nil {
		return err
	}
	return report(all, outcomes)
}

// plantAll plants every mutation. folder receives temporary files.
func plantAll(all []*mutation, folder string, f *flags) ([]outcome, error) {
	b, err := newBuild(all, folder, f.timeout)
	if err != nil {
		return nil, err
	}
	var separate []*mutation
	for i, m := range all {
		if !b.combined[i] {
			separate = append(separate, m)
		}
	}
	if err := testUnchanged(separate, f.timeout); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(all))
	each(jobs, all, func(i int, m *mutation) {
		o := &outcomes[i]
		began := time.Now()
		if b.combined[i] {
			*o = judge(m, func(t testRun) (bool, string) { return b.run(t, i+1, f.timeout, true) })
		}
		if o.verdict != caught {
			*o = plant(m, filepath.Join(folder, fmt.Sprintf("%d.json", i)), f.timeout)
		}
		fmt.Printf("%-8s %5.1fs  %v\n", o.verdict, time.Since(began).Seconds(), m)
	})
	return outcomes, nil
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
}

// patterns returns by package the pattern of all tests of the mutations.
func patterns(all []*mutation) map[string]string {
	lists := map[string][]string{}
	for _, m := range all {
		for _, t := range m.tests {
			lists[t.pkg] = append(lists[t.pkg], t.pattern)
		}
	}
	joined := map[string]string{}
	for pkg, list := range lists {
		slices.Sort(list)
		list = slices.Compact(list)
		if joined[pkg] = strings.Join(list, "|"); list[0] == "" {
			joined[pkg] = ""
		}
	}
	return joined
}

// testUnchanged runs the tests of all mutations once on the unchanged tree: a test that always fails catches nothing.
func testUnchanged(all []*mutation, timeout time.Duration) error {
	for pkg, pattern := range patterns(all) {
		if failed, out := goTest(testRun{pkg, pattern}, "", 5*timeout); failed {
			return fmt.Errorf("the tests of %s fail without a mutation:\n%s", pkg, out)
		}
	}
	return nil
}

// plant runs the tests of a mutation, which it compiles. overlay is the path of a temporary file.
func plant(m *mutation, overlay string, timeout time.Duration) outcome {
	text, _, err := m.apply()
	if err == nil {
		_, err = writeOverlay(overlay, map[string]string{m.at.file.path: text})
	}
	if err != nil {
		return outcome{verdict: invalid, detail: err.Error()}
	}
	return judge(m, func(t testRun) (bool, string) { return goTest(t, overlay, timeout) })
}

// judge calls test for the tests of a mutation until one fails. test reports whether the tests failed, with their
// output.
func judge(m *mutation, test func(testRun) (failed bool, out string)) outcome {
	for _, t := range m.tests {
		failed, out := test(t)
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

// writeOverlay writes an overlay in which the files have the given texts, and the texts beside it. It returns the files
// by the paths of their texts, which errors of the compiler have.
func writeOverlay(overlay string, texts map[string]string) (files map[string]string, err error) {
	replace, files := map[string]string{}, map[string]string{}
	for file, text := range texts {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		replace[path] = fmt.Sprintf("%s.%d.go", overlay, len(replace))
		files[replace[path]] = file
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return files, os.WriteFile(overlay, b, 0o600)
}

// goTest runs tests and reports whether they failed, with their output. An empty overlay means the unchanged tree. The
// tag poison makes the tests count pooled buffers; the linker omits debug information, which would take half its time.
func goTest(t testRun, overlay string, timeout time.Duration) (failed bool, out string) {
	// the go command itself ends the tests after timeout
	cmd := exec.CommandContext(context.Background(), "go", "test", "-count=1", "-vet=off", "-failfast", "-tags=poison",
		"-ldflags=-s -w", "-timeout="+timeout.String(), "-overlay="+overlay, "-run="+t.pattern, t.pkg)
	output, err := cmd.CombinedOutput()
	return err != nil, string(output)
}

// report prints a table by promise and every mutation that was not caught.
func report(all []*mutation, outcomes []outcome) error {
	const promises = 14
	var planted, found [promises + 1]int
	var lines []string
	bad := 0
	for i, m := range all {
		planted[m.promise]++
		if o := outcomes[i]; o.verdict == caught {
			found[m.promise]++
		} else {
			bad++
			_, line, _ := m.apply()
			lines = append(lines, fmt.Sprintf("%s: %s:%d: %s\n%s%s", o.verdict, m.at.file.path, line, m, m.diff(), o.detail))
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
