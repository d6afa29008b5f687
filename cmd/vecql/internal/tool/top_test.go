// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/top"
	"github.com/vecql/vecql/cqltest"
)

// TestTopWithoutTables requires one line for a server without tables of requests, and for a pipe without --once.
func TestTopWithoutTables(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{}})
	require.Equal(t, "vecql top: "+top.ErrNoTables.Error(), x.requireFailure(exitFailed, "top", "--once"))
	require.Equal(t, "vecql top: standard output is no terminal: use --once; see vecql top --help", x.requireFailure(exitUsage, "top"))
}

// busy is a report of two nodes. The second one does not answer.
var busy = top.Report{
	Nodes: []top.Node{
		{
			Address: "10.0.0.1:9042", Clients: 3, Requests: 1500.4, Answer: 1250 * time.Microsecond,
			Active: 2, Pending: 17, Blocked: 1,
			Tasks: []string{"compaction", "cleanup", "compaction"},
		},
		{Address: "10.0.0.2:9042", Err: errors.New("vecql: no connection")},
	},
	Tables: []top.Table{
		{Name: "shop.items", Reads: 1200},
		{Name: "shop.notes\x1b", Writes: 3},
	},
}

// TestPrintTop requires two tables, in which a node that does not answer has its error.
func TestPrintTop(t *testing.T) {
	var w bytes.Buffer
	require.NoError(t, (&env{}).printTop(&w, busy))
	require.Equal(t, `
node           clients  requests/s  answer_ms  active  pending  blocked  file tasks
-------------  -------  ----------  ---------  ------  -------  -------  ------------------------
10.0.0.1:9042        3        1500        1.2       2       17        1  1 cleanup, 2 compaction
10.0.0.2:9042                                                            no answer: no connection

table           reads/s  writes/s
--------------  -------  --------
shop.items         1200         0
shop.notes\x1b        0         3
2 tables with requests
`, "\n"+w.String())
}

// TestPrintTopTables requires the ten busiest tables, and the number of all.
func TestPrintTopTables(t *testing.T) {
	var report top.Report
	for i := range 12 {
		report.Tables = append(report.Tables, top.Table{Name: fmt.Sprint("shop.t", i), Reads: float64(20 - i)})
	}
	var w bytes.Buffer
	require.NoError(t, (&env{}).printTop(&w, report))
	require.Contains(t, w.String(), "shop.t9 ")
	require.NotContains(t, w.String(), "shop.t10")
	require.Contains(t, w.String(), "12 tables with requests\n")
}

// TestRedrawTop requires that a report begins at the top of the terminal and replaces all of the last one.
func TestRedrawTop(t *testing.T) {
	var w bytes.Buffer
	require.NoError(t, newEnv(nil, &w, nil).redrawTop(busy))
	text := w.String()
	require.Regexp(t, `^\x1b\[Hnode  .*\x1b\[K\n`, text)
	require.Regexp(t, `\x1b\[K\n\x1b\[J$`, text)
	require.Contains(t, text, `shop.notes\x1b `)
}
