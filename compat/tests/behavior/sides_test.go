// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/cassandra"
)

// TestMain runs the tests, or the server that packages share.
func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(m.Run())
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
	dir := t.TempDir()
	modfile := filepath.Join(dir, "go.mod")
	copyFile := func(to string, from ...string) {
		var all []byte
		for _, f := range from {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			all = append(all, text...)
		}
		require.NoError(t, os.WriteFile(to, all, 0o600))
	}
	copyFile(modfile, filepath.Join("..", requirements+".mod"))
	copyFile(filepath.Join(dir, "go.sum"), filepath.Join("..", requirements+".sum"), filepath.Join(compatFolder, "go.sum"))
	absolute, err := filepath.Abs(compatFolder)
	require.NoError(t, err)
	out := filepath.Join(dir, "outcomes")
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), outcomesVariable+"="+out, "GOFLAGS=-mod=mod -buildvcs=false")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
	}
	run("mod", "edit", "-replace="+apiPath+"="+absolute, modfile)
	run("test", "-count=1", "-vet=off", "-modfile="+modfile, "-tags="+tag, "-run=^"+t.Name()+"$", ".")
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &outcomes))
	return outcomes
}
