// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The examples of the verbs in operations, and the failures that they have in common.

// operations are the verbs whose examples need more tables, files and clusters than TestExamples has.
var operations = []string{"copy", "count", "doctor", "fake", "mcp", "recall", "search", "top", "verify"}

func init() {
	for _, c := range newRoot(newEnv(nil, io.Discard, io.Discard)).Commands() {
		if slices.Contains(operations, c.Name()) {
			for line := range strings.Lines(c.Example) {
				notRun = append(notRun, strings.TrimSpace(line))
			}
		}
	}
}

// TestOperationExamples runs the examples of the verbs for whole tables. Example addresses stand for another cluster.
func TestOperationExamples(t *testing.T) {
	x, other := newTester(t, shop, backup), newTester(t, shop, "TRUNCATE shop.items")
	require.NoError(t, x.Exec(`CREATE TABLE shop.cheap (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>);
		CREATE TABLE shop.events (tenant text, day int, id int, PRIMARY KEY ((tenant, day), id));
		CREATE CUSTOM INDEX ON shop.items (v) USING 'sai'; CREATE CUSTOM INDEX ON shop.items (price) USING 'sai'`))
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("config.toml", fmt.Appendf(nil, "[new]\nhosts = [%q]\n[production]\nhosts = [%[1]q]\n",
		other.Hosts()[0]), 0o600))
	x.env["VECQL_CONFIG"] = "config.toml"
	require.NoError(t, os.Mkdir("data", 0o700))
	x.requireRun("unload", "shop.items", "items-1.parquet", "--summary", "json")
	x.requireRun("unload", "--statement", "SELECT v FROM shop.items WHERE id = 1", "questions.parquet", "--summary", "json")
	hosts := strings.NewReplacer("10.1.0.1,10.1.0.2", other.Hosts()[0], "10.1.0.1", other.Hosts()[0], "10.0.0.1", x.Hosts()[0])
	for _, c := range newRoot(newEnv(nil, io.Discard, io.Discard)).Commands() {
		for line := range strings.Lines(c.Example) {
			if !slices.Contains(operations, c.Name()) || c.Name() == "fake" || c.Name() == "top" {
				continue
			}
			line = strings.Replace(line, "--resume", "", 1) // there is no checkpoint to resume
			x.requireCommand(hosts.Replace(strings.TrimSpace(line)))
		}
	}
}

// TestOperationsWithoutCluster requires one clear line from each verb where no cluster answers.
func TestOperationsWithoutCluster(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	x := newTester(t, shop)
	x.SetUsers(map[string]string{"ann": "secret"})
	for _, args := range [][]string{
		{"count", "shop.items"}, {"copy", "shop.items", "backup.items"}, {"verify", "shop.items", "backup.items"}, {"doctor"},
	} {
		prefix := "vecql " + args[0] + ": connect to "
		require.Equal(t, prefix+web.Listener.Addr().String()+
			": the server speaks HTTP; use the port of the native protocol, by default 9042",
			x.requireFailure(exitFailed, append(args, "--hosts", web.Listener.Addr().String(), "--connect-timeout", "200ms")...))
		require.Equal(t, prefix+x.Hosts()[0]+": wrong user name or password; check --user and VECQL_PASSWORD",
			x.requireFailure(exitFailed, append(args, "--user", "ann", "--password", "wrong")...))
	}
}

// TestOperationsFullDisk requires an error for a result that cannot be written.
func TestOperationsFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	x := newTester(t, shop, backup)
	for _, args := range [][]string{
		{"count", "shop.items"},
		{"count", "shop.items", "--by", "id", "-o", "json"},
		{"copy", "shop.items", "backup.items"},
		{"verify", "shop.items", "backup.items"},
		{"doctor"},
		{"search", "shop.items", "--vector", "[1, 2, 3]", "--exact", "--metric", "dot"},
	} {
		var text strings.Builder
		e := newEnv(strings.NewReader(""), full, &text)
		e.getenv = func(name string) string { return x.env[name] }
		require.Equal(t, exitFailed, run(t.Context(), e, args))
		require.Contains(t, text.String(), "write /dev/full: no space left on device\n")
		require.Equal(t, 1, strings.Count(text.String(), "\n"))
	}
	args := []string{"copy", "shop.items", "backup.items", "--checkpoint"}
	require.Contains(t, x.requireFailure(exitFailed, append(args, "/dev/full")...), "vecql copy: the checkpoint /dev/full is not a regular file")
}
