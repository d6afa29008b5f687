// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// TestClusterGone kills the cluster during the work of verbs, and requires the cause and how to continue.
func TestClusterGone(t *testing.T) {
	t.Parallel() // verify reads again for 20 s
	var rows strings.Builder
	rows.WriteString("id,name\n")
	for id := range 5000 {
		fmt.Fprintf(&rows, "%d,lamp\n", id)
	}
	dir := t.TempDir()
	checkpoint := func(name string) string { return filepath.Join(dir, name) }
	load := []string{"load", "shop.items", file(t, "rows.csv", rows.String()), "--allow-missing", "--retry-for", "100ms"}
	const gone = ": the cluster is gone: no node answers: dial tcp: connect: connection refused"
	for _, m := range []struct {
		op     cqltest.Opcode
		advice string
		args   []string
	}{
		{cqltest.OpBatch, "; --resume continues the load", append(slices.Clone(load), "--checkpoint", checkpoint("load"))},
		{cqltest.OpBatch, "; a load with --checkpoint continues with --resume", append(slices.Clone(load), "--max-errors", "100%")},
		{
			cqltest.OpExecute, "; --resume continues",
			[]string{"copy", "shop.items", "backup.items", "--retry-for", "100ms", "--checkpoint", checkpoint("copy")},
		},
		{cqltest.OpExecute, "; --resume continues", []string{"verify", "shop.items", "backup.items", "--checkpoint", checkpoint("verify")}},
	} {
		x := newTester(t, shop, backup)
		for id := range 100 {
			require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.items (id) VALUES (%d)", id)))
		}
		x.Inject(cqltest.Fault{Op: m.op, Skip: 1, Times: 1, Edit: func(*cqltest.Answer) { go x.Node(0).Kill() }})
		code, _, text := x.run(m.args...)
		require.Equal(t, exitFailed, code, m.args)
		require.True(t, strings.HasSuffix(text, m.advice+"\n"), text)
		if m.args[0] == "load" { // the last attempt of the others may be on a connection that is lost
			require.Equal(t, "vecql load"+gone+m.advice+"\n", text)
		}
	}
}
