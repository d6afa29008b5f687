// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
)

func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(runTests(m))
}

// runTests runs the tests with an empty folder for the user's configuration.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vecql")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	_ = os.Setenv("XDG_CONFIG_HOME", dir)
	return m.Run()
}

// A tester runs the tool in this process, by default with a cluster of cqltest.
type tester struct {
	*cqltest.Cluster
	t   *testing.T
	ctx context.Context
	env map[string]string // variables of the environment
	in  string            // standard input
	out int               // width of standard output as a terminal; 0 means none

	// note is a line of standard error that requireRun ignores; "" means none.
	note string
}

// newTester returns a tester with a cluster of one node that has executed the statements.
func newTester(t *testing.T, statements ...string) *tester {
	return newTesterOf(t, cqltest.Config{Nodes: 1}, statements...)
}

// newTesterOf is newTester with another cluster.
func newTesterOf(t *testing.T, cfg cqltest.Config, statements ...string) *tester {
	cluster, err := cqltest.Start(cfg)
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	for _, stmt := range statements {
		require.NoError(t, cluster.Exec(stmt))
	}
	env := map[string]string{"VECQL_HOSTS": strings.Join(cluster.Hosts(), ","), "VECQL_CONSISTENCY": "ONE"}
	return &tester{Cluster: cluster, t: t, ctx: t.Context(), env: env}
}

// run runs the tool.
func (x *tester) run(args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	e := newEnv(strings.NewReader(x.in), &out, &errOut)
	e.getenv = func(name string) string { return x.env[name] }
	e.width, e.isTerminal = x.out, x.out > 0
	code = run(x.ctx, e, args)
	return code, out.String(), errOut.String()
}

// requireRun runs the tool and requires that it succeeds without a word on standard error. It returns the output.
func (x *tester) requireRun(args ...string) string {
	x.t.Helper()
	code, stdout, stderr := x.run(args...)
	if x.note != "" {
		stderr = strings.ReplaceAll(stderr, x.note, "")
	}
	require.Empty(x.t, stderr, args)
	require.Zero(x.t, code, args)
	return stdout
}

// requireFailure runs the tool and requires an exit code and one line on standard error. It returns the line.
func (x *tester) requireFailure(code int, args ...string) string {
	x.t.Helper()
	got, _, stderr := x.run(args...)
	require.Equal(x.t, code, got, stderr)
	require.Equal(x.t, 1, strings.Count(stderr, "\n"), stderr)
	return strings.TrimSuffix(stderr, "\n")
}

// shop is a keyspace with a table of two rows.
const shop = `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
	CREATE TABLE shop.items (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>);
	INSERT INTO shop.items (id, name, price, tags, v) VALUES (1, 'chair', 49.5, {'new', 'wood'}, [0.5, 1, -2]);
	INSERT INTO shop.items (id, name) VALUES (2, 'table')`
