// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plantedModule is a module whose tests notice some mutations.
var plantedModule = map[string]string{
	"go.mod": "module example\n\ngo 1.25\n",
	"p/p.go": `package p

func Half(n int) int {
	if n < 0 {
		return 0
	}
	return n / 2
}

func At(list []int, i int) int { return list[i+0] }

func unused() int { return 1 }
`,
	"p/p_test.go": `package p

import "testing"

func TestHalf(t *testing.T) {
	if Half(4) != 2 {
		t.Fail()
	}
}

func TestAt(t *testing.T) { _ = At([]int{7}, 0) }

func TestFails(t *testing.T) { t.Error(Half(4)) }
`,
	"q/q_test.go": `package q

import (
	"testing"

	"example/p"
)

func TestHalfOfNegative(t *testing.T) {
	if p.Half(-4) != 0 {
		t.Fail()
	}
}
`,
}

// treeIn runs the verb tree in a module with plantedModule, and returns the last results by key.
func treeIn(t *testing.T, dir string, chosen []target, f *treeFlags) (*plan, map[string]verdict) {
	t.Helper()
	t.Chdir(dir)
	f.results, f.justified, f.jobs, f.budget = filepath.Join(dir, "results.jsonl"), filepath.Join(dir, "justified.txt"), 2, time.Minute
	p, err := newPlan(chosen, f)
	require.NoError(t, err)
	err = p.run()
	verdicts := map[string]verdict{}
	survivors := 0
	for _, s := range p.sites {
		if s != nil {
			r := p.results.of(s)
			verdicts[strings.TrimPrefix(s.key(), "p.")] = r.Verdict
			if r.survives() && !slices.ContainsFunc(p.justified, func(j *justification) bool { return j.matches(s) }) {
				survivors++
			}
		}
	}
	if survivors == 0 {
		require.NoError(t, err)
	} else {
		require.ErrorContains(t, err, fmt.Sprintf("%d mutations survived", survivors))
	}
	return p, verdicts
}

func writeModule(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// TestTree plants all mutations of a small module: the tests of its package notice some, the tests of another package
// more. A test that fails without a mutation notices nothing.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, dir, plantedModule)
	chosen := []target{{name: "p", dir: "p", near: []string{"p"}, far: []string{"q"}}}

	_, verdicts := treeIn(t, dir, chosen, &treeFlags{})
	want := map[string]verdict{
		"Half: condition: n < 0 -> true": caught, "Half: condition: n < 0 -> false": survived, "Half: bound: n < 0 -> n <= 0": survived,
		"Half: constant: 0 -> (0 + 1)": survived, "Half: arithmetic: n / 2 -> n * 2": caught,
		"Half: constant: 2 -> (2 + 1)": caught, "Half: constant: 2 -> (2 - 1)": caught, "Half: result: return n / 2 -> return 0": caught,
		"At: result: return list[i+0] -> return 0": survived, "At: arithmetic: i+0 -> i-0": survived, "At: constant: 0 -> (0 + 1)": crashed,
		"unused: result: return 1 -> return 0": unreached, "unused: constant: 1 -> (1 + 1)": unreached,
		"unused: constant: 1 -> (1 - 1)": unreached,
	}
	require.Equal(t, want, verdicts)

	// the same results, from the file, then from the other package
	results, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	_, verdicts = treeIn(t, dir, chosen, &treeFlags{})
	require.Equal(t, want, verdicts)
	same, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	require.Equal(t, string(results), string(same))
	_, verdicts = treeIn(t, dir, chosen, &treeFlags{far: true})
	want["Half: condition: n < 0 -> false"], want["Half: constant: 0 -> (0 + 1)"] = caught, caught
	require.Equal(t, want, verdicts)

	// survivors alone, with another test and a justification
	writeModule(t, dir, map[string]string{
		"justified.txt": "p.unused\n= no test needs it\n\np.At: arithmetic\n= equivalent\n\np.Half: bound: n < 0 -> n <= 0\n= equivalent\n\n" +
			"p.Gone\n= no longer exists\n",
		"p/more_test.go": "package p\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\nif At([]int{7}, 0) != 7 || Half(0) != 0 || Half(-1) != 0 { t.Fail() }\n}\n",
	})
	p, verdicts := treeIn(t, dir, chosen, &treeFlags{again: true})
	require.Equal(t, map[string]verdict{
		"Half: bound: n < 0 -> n <= 0": survived, "At: result: return list[i+0] -> return 0": caught, "At: arithmetic: i+0 -> i-0": survived,
	}, verdicts)
	require.Equal(t, []string{"stale: no such mutation: p.Gone"}, p.stale())
}

func TestSampleIsSpreadOverFunctions(t *testing.T) {
	var source strings.Builder
	for i := range 20 {
		fmt.Fprintf(&source, "func f%d(a, b int) bool { return a < b && a+b > limit }\n", i)
	}
	all, _ := sitesOf(t, source.String())
	keys := func(n int, seed uint64) (list []string) {
		for _, s := range sample(all, n, seed) {
			list = append(list, s.key())
		}
		return list
	}
	perFunction := map[string]int{}
	for _, s := range sample(all, 40, 1) {
		perFunction[s.function]++
	}
	require.Len(t, perFunction, 20)
	for function, n := range perFunction {
		require.Equal(t, 2, n, function)
	}
	require.Equal(t, keys(40, 1), keys(40, 1))
	require.NotEqual(t, keys(40, 1), keys(40, 2))
	require.Len(t, keys(0, 1), len(all))
	require.Len(t, keys(len(all)+1, 1), len(all))
}

func TestJudgment(t *testing.T) {
	fails := fmt.Errorf("exit status 1")
	for out, want := range map[string]judgment{
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL\n":       {Verdict: caught, Test: "TestA"},
		"--- FAIL: TestA (0.00s)\npanic: runtime error: index out of range\n":  {Verdict: crashed, Test: "TestA"},
		"fatal error: all goroutines are asleep - deadlock!\n":                 {Verdict: crashed},
		"panic: test timed out after 15s\n\trunning tests:\n\t\tTestA (15s)\n": {Verdict: timedOut},
		"goroutines are left\n": {Verdict: caught},
	} {
		require.Equal(t, want, judgmentOf(out, fails))
	}
	require.Equal(t, judgment{Verdict: survived}, judgmentOf("PASS\n", nil))
}

func TestJustifiedNeedsReasons(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "# a comment\n\np.f\n= reason\n": true, "p.f\n": false, "= reason\n": false, "p.f\np.g\n= reason\n": false, "p.f\n\n= reason\n": false,
	} {
		path := filepath.Join(t.TempDir(), "justified.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readJustified(path)
		require.Equal(t, ok, err == nil, "%q: %v", text, err)
	}
}

// TestJustified checks that each entry of the list names a mutation, and that each package of targets exists.
func TestJustified(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	dirs := map[string]bool{}
	for _, target := range targets {
		dirs[target.dir] = true
		for _, dir := range append(target.near, target.far...) {
			require.DirExists(t, dir)
		}
	}
	list, err := readJustified("tests/mutate/justified.txt")
	require.NoError(t, err)
	l, err := newLoader(".", "", slices.Sorted(maps.Keys(dirs))) // each build has the same sites, and this one is compiled
	require.NoError(t, err)
	for dir := range dirs {
		_, sites, err := l.load(dir)
		require.NoError(t, err)
		for _, s := range sites {
			leftOut(list, s)
		}
	}
	for _, j := range list {
		require.True(t, j.exists, "no such mutation: %s", j.key)
	}
}
