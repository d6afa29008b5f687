// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// Resident memory, measured in processes of their own: the peak of a process never decreases.

// residentTask is the variable that makes the test binary the process of a task.
const residentTask = "VECQL_GROUPBY_TASK"

// Sizes of the tasks. The partials have the same groups.
var (
	residentGroups = soak.Size(600_000, 20_000_000)
	residentLimit  = int64(soak.Size(16<<20, 256<<20))
	partialGroups  = 3_000_000
)

// residentPeak returns the peak of the process's resident memory in bytes, 0 if the system does not report it.
func residentPeak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	_, _ = fmt.Sscan(after, &kib)
	return kib << 10
}

// TestResidentTask is a task in a process of its own; else it does nothing.
func TestResidentTask(t *testing.T) {
	task := os.Getenv(residentTask)
	base := residentPeak()
	switch dir := os.Getenv(residentTask + "_DIR"); task {
	case "":
		t.Skip("only in processes of TestMemoryLimitBoundsResidentMemory")
	case "group":
		g, err := limited(t, residentLimit).New()
		require.NoError(t, err)
		addTexts(t, g, residentGroups)
		requireGroups(t, g, residentGroups)
	case "write":
		g, err := limited(t, 0).New()
		require.NoError(t, err)
		addTexts(t, g, partialGroups)
		file, err := os.Create(filepath.Join(dir, "partial"))
		require.NoError(t, err)
		require.NoError(t, g.WritePartial(file))
		require.NoError(t, file.Close())
	case "merge":
		g, err := limited(t, 0).New()
		require.NoError(t, err)
		for range 4 {
			file, err := os.Open(filepath.Join(dir, "partial"))
			require.NoError(t, err)
			require.NoError(t, g.MergePartial(file))
			require.NoError(t, file.Close())
		}
		requireGroups(t, g, partialGroups)
	}
	fmt.Printf("resident %d %d\n", base, residentPeak())
}

func addTexts(t *testing.T, g *Grouper, groups int) {
	const step = 1 << 16
	for at := 0; at < groups; at += step {
		require.NoError(t, g.Add(t.Context(), distinctTextRows(at, min(step, groups-at))))
	}
}

func requireGroups(t *testing.T, g *Grouper, groups int) {
	rows := 0
	for b, err := range g.FinishBatches(t.Context()) {
		require.NoError(t, err)
		rows += b.Rows
	}
	require.Equal(t, groups, rows)
}

// residentOf runs a task in a process of its own, and returns the resident memory at its start and its peak.
func residentOf(t *testing.T, task, dir string, env ...string) (base, peak int64) {
	if soak.Race || residentPeak() == 0 {
		t.Skip("the system does not report the peak of resident memory, or the race detector takes most of it")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResidentTask$")
	cmd.Env = append(os.Environ(), append(env, residentTask+"="+task, residentTask+"_DIR="+dir)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	_, after, found := strings.Cut(string(out), "resident ")
	require.True(t, found, string(out))
	_, err = fmt.Sscan(after, &base, &peak)
	require.NoError(t, err)
	t.Logf("%s %v: %d MiB at the start, peak %d MiB", task, env, base>>20, peak>>20)
	return base, peak
}

// TestMemoryLimitBoundsResidentMemory groups distinct texts, with and without GOMEMLIMIT. The resident memory is at
// most 1.5 times the limit and 64 MiB, at the small size 1.5 times the limit and 12 MiB more than at the start.
func TestMemoryLimitBoundsResidentMemory(t *testing.T) {
	base, peak := residentOf(t, "group", "", "GOMEMLIMIT=off")
	if !soak.On() {
		require.LessOrEqual(t, peak, residentLimit*3/2+base+12<<20)
		return
	}
	_, softPeak := residentOf(t, "group", "", "GOMEMLIMIT="+strconv.FormatInt(residentLimit, 10))
	require.LessOrEqual(t, max(peak, softPeak), residentLimit*3/2+64<<20)
}

// TestMergedPartialsBoundResidentMemory merges four partials of the same groups, of about 116 MB each, within 600 MB.
func TestMergedPartialsBoundResidentMemory(t *testing.T) {
	soak.Only(t)
	dir := t.TempDir()
	residentOf(t, "write", dir)
	info, err := os.Stat(filepath.Join(dir, "partial"))
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(116_000_000))
	_, peak := residentOf(t, "merge", dir)
	require.LessOrEqual(t, peak, int64(600_000_000))
}
