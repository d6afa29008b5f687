// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/cassandra"
)

// TestMain runs the tests, or the server that packages share.
func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(runTests(m))
}

// folder is a temporary folder of the tests.
var folder string

func runTests(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "behavior"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	return m.Run()
}

// The two sides of a scenario: the API itself, in this process, and the compat module, in a process of its own.

// A scenario returns what a program sees, in lines.
type scenario struct {
	name string
	run  func() string
}

// panicked begins the outcome of a scenario that panics.
const panicked = "panic: "

// refused is the outcome of a conversion that returns an error. One that the API refuses may succeed.
const refused = "refused"

// outcome runs the scenario.
func (s scenario) outcome() (text string) {
	defer func() {
		if e := recover(); e != nil {
			text = fmt.Sprint(panicked, e)
		}
	}()
	return s.run()
}

// A difference is one on purpose: scenarios whose name matches, with its reason.
type difference struct {
	scenarios *regexp.Regexp
	reason    string
}

// outcomesVariable is set in the environment of the process with the compat module: the file for its outcomes.
const outcomesVariable = "BEHAVIOR_OUTCOMES"

// compare runs the scenarios of a test on both sides, and reports each difference that is not known, and each known one
// that did not occur.
func compare(t *testing.T, scenarios []scenario, known []difference) {
	t.Helper()
	slices.SortFunc(scenarios, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
	theirs := map[string]string{}
	for _, s := range scenarios {
		theirs[s.name] = s.outcome()
	}
	if path := os.Getenv(outcomesVariable); path != "" { // the process with the compat module
		text, err := json.Marshal(theirs)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return
	}
	ours := onCompat(t)
	names := map[string]bool{}
	for _, side := range []map[string]string{theirs, ours} {
		for name := range side {
			names[name] = true
		}
	}
	counts := make([]int, len(known))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := theirs[name], ours[name] // empty for a scenario of the other side only, such as a part of the metadata
		if a == b || strings.HasPrefix(a, panicked) || a == refused {
			continue
		}
		i := slices.IndexFunc(known, func(d difference) bool { return d.scenarios.MatchString(name) })
		if i >= 0 {
			counts[i]++
			continue
		}
		t.Errorf("%s:\n%s", name, changes(a, b))
	}
	t.Logf("%d scenarios", len(names))
	for i, d := range known {
		t.Logf("%6d times: %s", counts[i], d.reason)
		if counts[i] == 0 {
			t.Errorf("no scenario differs because of: %s", d.reason)
		}
	}
}

// changes returns the lines in which two outcomes differ.
func changes(theirs, ours string) string {
	a, b := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	var lines []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			lines = append(lines, "\ttheirs: "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			lines = append(lines, "\tours:   "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// onCompat runs this test in a process with the compat module, and returns its outcomes.
func onCompat(t *testing.T) (outcomes map[string]string) {
	t.Helper()
	program, err := compatProgram()
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "outcomes")
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), outcomesVariable+"="+out)
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &outcomes))
	return outcomes
}

// compatProgram returns the path of these tests with the compat module in place of the API. The first call compiles it.
var compatProgram = sync.OnceValues(func() (string, error) {
	modfile, program := filepath.Join(folder, "go.mod"), filepath.Join(folder, "behavior.test")
	absolute, err := filepath.Abs(compatFolder)
	err = errors.Join(err, concatenate(modfile, filepath.Join("..", requirements+".mod")),
		concatenate(filepath.Join(folder, "go.sum"), filepath.Join("..", requirements+".sum"), filepath.Join(compatFolder, "go.sum")))
	for _, args := range [][]string{
		{"mod", "edit", "-replace=" + apiPath + "=" + absolute, modfile},
		{"test", "-c", "-vet=off", "-modfile=" + modfile, "-tags=" + tag, "-o=" + program, "."},
	} {
		if err != nil {
			break
		}
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false")
		var printed []byte
		if printed, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, printed)
		}
	}
	return program, err
})

// concatenate writes the contents of files to another file.
func concatenate(to string, from ...string) error {
	var all []byte
	for _, f := range from {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		all = append(all, text...)
	}
	return os.WriteFile(to, all, 0o600)
}
