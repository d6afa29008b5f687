// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUsage(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	for args, want := range map[string]string{
		"dance":                            `vecql: unknown command "dance" for "vecql"; see vecql --help`,
		"--color":                          "vecql: unknown flag: --color; see vecql --help",
		"query --color":                    "vecql query: unknown flag: --color; see vecql query --help",
		"query --consistancy ONE":          "vecql query: unknown flag: --consistancy; did you mean --consistency?; see vecql query --help",
		"query --consistency FEW x":        `vecql query: invalid argument "FEW" for "--consistency" flag: vecql: unknown consistency "FEW"; see vecql query --help`,
		"query --serial-consistency ANY x": "vecql query: --serial-consistency is ANY, want SERIAL or LOCAL_SERIAL; see vecql query --help",
		"query --wire-compression zip x":   `vecql query: --wire-compression is "zip", want none, lz4 or snappy; see vecql query --help`,
		"query --cert a x":                 "vecql query: --cert and --key belong together: one of them is missing; see vecql query --help",
		"query --page-size 0 x":            "vecql query: --page-size is 0, want at least 1; see vecql query --help",
		"query -f a x":                     "vecql query: statements are in arguments and in --execute or --file: name them in one way; see vecql query --help",
		"query -e a x":                     "vecql query: statements are in arguments and in --execute or --file: name them in one way; see vecql query --help",
		"qurey":                            `vecql: unknown command "qurey" for "vecql"; did you mean query?; see vecql --help`,
		"query --timeout 2 x":              `vecql query: invalid argument "2" for "--timeout" flag: time: missing unit in duration "2"; did you mean 2s?; see vecql query --help`,
		"query -o arrow a;b":               "vecql query: --output arrow is for one statement, not 2; see vecql query --help",
		"version now":                      `vecql version: unknown command "now" for "vecql version"; see vecql version --help`,
		"demo --server oracle":             `vecql demo: --server is "oracle", want cqltest or cassandra; see vecql demo --help`,
		"demo --workers 0":                 "vecql demo: --workers is 0, want at least 1; see vecql demo --help",
		"demo --rows 2":                    "vecql demo: --rows is 2, want at least 3; see vecql demo --help",
		"demo --workers many":              `vecql demo: invalid argument "many" for "--workers" flag: strconv.ParseInt: parsing "many": invalid syntax; see vecql demo --help`,
		"demo --keyspace a;b":              `vecql demo: --keyspace is "a;b", want letters, digits and underscores; see vecql demo --help`,
	} {
		require.Equal(t, want, x.requireFailure(exitUsage, strings.Fields(args)...), args)
	}
	for _, args := range []string{"", "help", "--help", "help query", "query --help", "demo --help", "version", "--version"} {
		require.NotEmpty(t, x.requireRun(strings.Fields(args)...), args)
	}
}

// TestHelp requires that each verb explains itself, with an example, in short lines.
func TestHelp(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	e := newEnv(nil, io.Discard, io.Discard)
	for _, c := range newRoot(e).Commands() {
		require.NotNil(t, c.RunE, c.Name())
		require.NotEmpty(t, c.Short, c.Name())
		require.NotEmpty(t, c.Example, c.Name())
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 84, line)
		}
		help := x.requireRun(c.Name(), "--help")
		require.Contains(t, help, "Examples:")
		require.Equal(t, c.Flags().Lookup("hosts") != nil, strings.Contains(help, "\n"+clusterGroup+":\n"), c.Name())
		require.Equal(t, c.Flags().Lookup("delimiter") != nil, strings.Contains(help, "\n"+fileGroup+":\n"), c.Name())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { require.Contains(t, help, "--"+f.Name) })
		for line := range strings.Lines(help) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 84, "%s: %s", c.Name(), line)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		require.Contains(t, x.requireRun("completion", shell), "vecql")
	}
}

// TestRunsAtOnce runs the tool several times at once: runs share no state.
func TestRunsAtOnce(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("items.csv", []byte("id,name\n1,chair\n2,table\n"), 0o600))
	commands := [][]string{
		{"query", "--help"},
		{"help"},
		{"load", "--help"},
		{"query", "HELP"},
		{"describe", "shop.items"},
		{"count", "shop.items"},
		{"query", "-x", "SELECT id FROM shop.items"},
		{"query", "--chart", "bar", "SELECT name, id FROM shop.items"},
		{"sql", "SELECT max(id) FROM 'items.csv'"},
		{"unload", "--statement", "SELECT id FROM shop.items WHERE id = 1", "-", "--format", "json"},
		{"load", "shop.items", "items.csv", "--dry-run", "--allow-missing"},
	}
	want := make([]string, len(commands))
	for i, args := range commands {
		want[i] = x.requireRun(args...)
	}
	var runs sync.WaitGroup
	for i := range 2 * len(commands) {
		runs.Go(func() {
			args := commands[i%len(commands)]
			code, out, text := x.run(args...)
			assert.Zero(t, code, args)
			assert.Equal(t, want[i%len(commands)], out, args)
			assert.Empty(t, text, args)
		})
	}
	runs.Wait()
}

// TestReport requires the exit code and the line of each kind of error.
func TestReport(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range []struct {
		ctx  context.Context
		err  error
		code int
		text string
	}{
		{t.Context(), nil, 0, ""},
		{t.Context(), errors.New("a\n b"), 1, "vecql load: a b\n"},
		{t.Context(), advise(errors.New("a"), "do %d", 3), 1, "vecql load: a; do 3\n"},
		{t.Context(), usagef("a"), 2, "vecql load: a; see vecql load --help\n"},
		{interrupted, errors.New("a"), 130, "vecql load: interrupted\n"},
		{interrupted, advise(errors.New("a"), "resume"), 130, "vecql load: interrupted; resume\n"},
		{interrupted, nil, 0, ""},
	} {
		var w bytes.Buffer
		require.Equal(t, m.code, report(m.ctx, &w, "vecql load", m.err))
		require.Equal(t, m.text, w.String())
	}
	require.NoError(t, advise(nil, "x"))
}

// TestOutputFails requires an error for output that cannot be written, also where the command ignores it, and silence
// for a pipe whose reader has ended.
func TestOutputFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	reader, closed, err := os.Pipe()
	require.NoError(t, err)
	defer closed.Close()
	reader.Close()
	for text, out := range map[string]io.Writer{
		"vecql version: write the output: write /dev/full: no space left on device\n": full,
		"": closed,
	} {
		var errOut bytes.Buffer
		want := exitFailed
		if text == "" {
			want = exitPipe
		}
		require.Equal(t, want, Main([]string{"version"}, nil, out, &errOut))
		require.Equal(t, text, errOut.String())
	}
}

// TestErrorsOnce requires that a cause which fails both the work and its end is printed once.
func TestErrorsOnce(t *testing.T) {
	full := errors.New("write x: no space left on device")
	require.Equal(t, full, withEnd(full, full))
	require.Equal(t, full, withEnd(full, nil))
	require.Equal(t, full, withEnd(nil, full))
	require.NoError(t, withEnd(nil, nil))
	require.EqualError(t, withEnd(fmt.Errorf("page: %w", full), full), "page: "+full.Error())
	require.EqualError(t, withEnd(full, fmt.Errorf("end: %w", full)), "end: "+full.Error())
	require.EqualError(t, withEnd(full, errors.New("y")), full.Error()+"; y")
	require.ErrorIs(t, withEnd(full, errors.New("y")), full)

	f := checkpointFile{path: filepath.Join(t.TempDir(), "none", "load.json")}
	failed := f.save(1)
	require.Error(t, failed)
	require.EqualError(t, f.end(1, failed), failed.Error()+"; --resume continues")
}
