// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/codec"
)

// timed is a batch of rows with times as a file has them: one with two groups, one with a group and without a write
// time, one without values, a partition without rows, one with a group.
func timed() *column.Batch {
	null := func(rows ...int) []bool {
		flags := make([]bool, 5)
		for _, row := range rows {
			flags[row] = true
		}
		return flags
	}
	b := column.NewBatch(
		column.Of("id", []int32{1, 2, 3, 4, 5}), column.Strings("part", []string{"p", "p", "p", "", "p"}).WithNulls(null(3)),
		column.Strings("shared", []string{"", "", "", "s", ""}).WithNulls(null(0, 1, 2, 4)),
		column.Of("n", []int32{1, 2, 3, 4, 5}).WithNulls(null(1, 2, 3, 4)),
		column.Strings("name", []string{"a", "b", "", "", "e"}).WithNulls(null(2, 3)),
		column.Of("writetime(shared)", []int64{0, 0, 0, 4000, 0}), column.Of("ttl(shared)", []int32{0, 0, 0, 40, 0}),
		column.Of("writetime(n)", []int64{1001, 0, 0, 0, 0}), column.Of("ttl(n)", []int32{0, 0, 0, 0, 0}),
		column.Of("writetime(name)", []int64{1000, 0, 0, 0, 5000}).WithNulls(null(1)),
		column.Of("ttl(name)", []int32{10, 0, 0, 0, 0}).WithNulls(null(4)),
		column.Strings("record", []string{"r1", "r2", "r3", "r4", "r5"}),
	)
	b.Source = column.Source{File: "x.csv", FirstRow: 10}
	return b
}

const timedTable = `CREATE TABLE a (id int, part text, shared text STATIC, name text, n int, PRIMARY KEY (id, part))`

// TestSplit requires each group of a row once, at the position of its row, with its record.
func TestSplit(t *testing.T) {
	_, session := newCluster(t, cqltest.Config{}, timedTable)
	table := tableOf(t, session, "a")
	p, err := NewPlan(table)
	require.NoError(t, err)
	b := timed()
	require.Equal(t, b.Schema()[:11], p.Fields())
	require.Equal(t, []string{
		`INSERT INTO "shop"."a" ("id", "part", "shared", "n", "name") VALUES (:"id", :"part", :"shared", :"n", :"name") ` +
			`USING TTL :"ttl" AND TIMESTAMP :"writetime"`,
		`INSERT INTO "shop"."a" ("id", "shared") VALUES (:"id", :"shared") USING TTL :"ttl" AND TIMESTAMP :"writetime"`,
	}, p.Statements())
	parts, late, faults, err := p.Split(b)
	require.NoError(t, err)
	require.Empty(t, faults)
	require.Zero(t, late)
	var got []string
	for i, batches := range parts {
		for _, part := range batches {
			require.Equal(t, "x.csv", SourceOf(part.Source.File))
			for row := range part.Rows {
				text := fmt.Sprintf("%d %q %d:", i, part.Source.File, part.Source.FirstRow+int64(row))
				for _, c := range part.Columns {
					switch {
					case strings.HasPrefix(c.Name, originalMark):
					case c.Type == codec.CellType && !c.Null(row):
						text += fmt.Sprintf(" %s=%x", c.Name, c.Value(row))
					case c.Name == "ttl" || !c.Null(row):
						text += fmt.Sprintf(" %s=%v", c.Name, c.Value(row))
					}
				}
				text += fmt.Sprintf(" record=%v", Original(part).Column("record").Value(row))
				got = append(got, text)
			}
		}
	}
	require.Equal(t, []string{
		`0 "x.csv" 10: id=00000001 part=70 n=00000001 ttl=0 writetime=1001 record=r1`,
		`0 "x.csv" 11: id=00000002 part=70 name=62 ttl=0 record=r2`,
		`0 "x.csv" 12: id=00000003 part=70 ttl=0 record=r3`,
		`0 "x.csv" 14: id=00000005 part=70 name=65 ttl=0 writetime=5000 record=r5`,
		`0 "x.csv\x001" 10: id=00000001 part=70 name=61 ttl=10 writetime=1000 record=r1`,
		`1 "x.csv" 13: id=00000004 shared=73 ttl=40 writetime=4000 record=r4`,
	}, got)
}

// TestWriter rejects a row at its position in its file, and writes no row again after a restart.
func TestWriter(t *testing.T) {
	cluster, session := newCluster(t, cqltest.Config{}, timedTable)
	table := tableOf(t, session, "a")
	p, err := NewPlan(table)
	require.NoError(t, err)
	var rejected []string
	o := bulk.Options{MaxRejected: 10, Checkpoint: t.TempDir() + "/checkpoint.json"}
	o.Rejected = func(r bulk.Rejection) error {
		rejected = append(rejected, fmt.Sprint(r.Source, " ", r.Index, " ", r.Batch.Column("record").Value(0)))
		return nil
	}
	refused := cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeInvalid},
		Match: func(r cqltest.Request) bool {
			name, _ := r.Value("name")
			return string(name.Bytes) == "a"
		},
	})
	write := func() bulk.Stats {
		w, err := NewWriter(t.Context(), table, p, o)
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), timed()))
		require.NoError(t, w.Flush(t.Context()))
		require.NoError(t, w.Close(t.Context()))
		return w.Stats()
	}
	require.EqualValues(t, 5, write().Rows)
	require.Equal(t, []string{"x.csv 10 r1"}, rejected)
	refused.Remove()
	again := write()
	require.EqualValues(t, 6, again.Skipped)
	require.Zero(t, again.Rows)
}
