// SPDX-License-Identifier: Apache-2.0

// Package toolsoak runs the command vecql as a process of its own, kills it with kill -9, and takes nodes away from it.
// Only `make soak-tool` runs these tests, which take a quarter of an hour with a million rows and 15 GB of disk.
package toolsoak

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	size  = flag.Int("rows", 0, "`number` of rows of the table; 0 skips all tests")
	kills = flag.Int("kills", 10, "`number` of kills of a load and of an unload")
)

// A tool is the built command and the cluster that it uses.
type tool struct {
	t    *testing.T
	path string
	env  []string
}

// newTool builds the command. Without -rows it skips the test.
func newTool(t *testing.T) *tool {
	t.Helper()
	if *size == 0 {
		t.Skip("takes long: make soak-tool runs it")
	}
	path := filepath.Join(t.TempDir(), "vecql")
	out, err := exec.Command("go", "build", "-o", path, "github.com/vecql/vecql/cmd/vecql").CombinedOutput()
	require.NoError(t, err, string(out))
	return &tool{t: t, path: path, env: append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())}
}

// use sets the contact points.
func (x *tool) use(hosts []string) { x.env = append(x.env, "VECQL_HOSTS="+strings.Join(hosts, ",")) }

// A process is the tool at work.
type process struct {
	*exec.Cmd
	out, errOut bytes.Buffer
	endDone     chan struct{} // closed when the process has ended
	err         error         // of Wait, then
	killed      bool          // by kill, before it ended
}

// start starts the tool. The test kills it at its end.
func (x *tool) start(args ...string) *process {
	x.t.Helper()
	p := &process{Cmd: exec.Command(x.path, args...), endDone: make(chan struct{})}
	p.Env, p.Stdout, p.Stderr = x.env, &p.out, &p.errOut
	require.NoError(x.t, p.Start())
	go func() {
		defer close(p.endDone)
		p.err = p.Wait()
	}()
	x.t.Cleanup(p.kill)
	return p
}

// kill ends the process with kill -9, unless it has ended.
func (p *process) kill() {
	_ = p.Process.Kill() // fails if the process has ended
	<-p.endDone
	var exit *exec.ExitError
	p.killed = errors.As(p.err, &exit) && !exit.Exited() // by a signal
}

// run runs the tool to its end, requires that it succeeds, and returns its output.
func (x *tool) run(args ...string) string {
	x.t.Helper()
	p := x.start(args...)
	<-p.endDone
	require.NoError(x.t, p.err, "%v: %s%s", args, &p.out, &p.errOut)
	return p.out.String()
}

// A summary is what load and unload print with --summary json.
type summary struct {
	Rows, Rejected, Skipped, Retries, Files int
	Seconds                                 float64
	RowsPerSecond                           float64 `json:"rows_per_second"`
}

// summaryOf returns the summary of a process that has ended well.
func (x *tool) summaryOf(p *process) (s summary) {
	x.t.Helper()
	require.NoError(x.t, p.err, "%v: %s%s", p.Args, &p.out, &p.errOut)
	require.NoError(x.t, json.Unmarshal(p.out.Bytes(), &s), p.out.String())
	return s
}

// timed runs f and logs its time.
func timed(t *testing.T, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	took := time.Since(began)
	t.Logf("%s: %v, %.0f rows/s", what, took.Round(time.Millisecond), float64(*size)/took.Seconds())
}
