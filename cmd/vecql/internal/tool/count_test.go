// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// events is a table of three partitions with 1, 2 and 3 rows.
const events = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2};
	CREATE TABLE shop.events (tenant text, day int, id int, note text, PRIMARY KEY ((tenant, day), id));
	INSERT INTO shop.events (tenant, day, id) VALUES ('a', 1, 1);
	INSERT INTO shop.events (tenant, day, id, note) VALUES ('a', 2, 1, 'x'); INSERT INTO shop.events (tenant, day, id) VALUES ('a', 2, 2);
	INSERT INTO shop.events (tenant, day, id) VALUES ('b', 1, 1); INSERT INTO shop.events (tenant, day, id) VALUES ('b', 1, 2);
	INSERT INTO shop.events (tenant, day, id) VALUES ('b', 1, 3)`

func TestCount(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 2, VNodes: 2}, events)
	require.Equal(t, "6\n", x.requireRun("count", "shop.events"))
	require.Equal(t, "6\n", x.requireRun("count", "events", "--keyspace", "shop"))
	require.Equal(t, "1\n", x.requireRun("count", "shop.events", "--where", "note = 'x' ALLOW FILTERING"))
	require.Equal(t, `tenant  rows
------  ----
a          3
b          3
2 rows
`, x.requireRun("count", "shop.events", "--by", "tenant"))
	require.Equal(t, `tenant  day  rows
------  ---  ----
b         1     3
a         2     2
2 rows
`, x.requireRun("count", "shop.events", "--largest", "2"))
	ports := regexp.MustCompile(`127.0.0.1:\d+`)
	require.Equal(t, `node             data_center  rows  percent
---------------  -----------  ----  -------
HOST  datacenter1     6       50
HOST  datacenter1     6       50
2 rows
`, ports.ReplaceAllString(x.requireRun("count", "shop.events", "--by-node"), "HOST"))
	text := x.requireRun("count", "shop.events", "--by-range")
	require.Contains(t, text, "               above                 up_to  rows  nodes\n")
	require.Contains(t, text, "5 rows\n", "four tokens and the end of the ring")
	sum := 0
	for _, line := range strings.Split(text, "\n")[2:7] {
		var above, end int64
		var rows int
		_, err := fmt.Sscan(line, &above, &end, &rows)
		require.NoError(t, err)
		sum += rows
	}
	require.Equal(t, 6, sum)
	require.NoError(t, x.Exec("TRUNCATE shop.events"))
	require.Equal(t, "0\n", x.requireRun("count", "shop.events"))
	require.Equal(t, "node  ", x.requireRun("count", "shop.events", "--by-node")[:6])
}

// countShapes are Cassandra and ScyllaDB with tablets.
var countShapes = map[string]cqltest.Config{
	"vnodes":  {VNodes: 4},
	"tablets": {Scylla: &cqltest.Scylla{Tablets: 8}},
}

// TestCountSmall counts tables without rows, with one partition, and with a row at each end of the ring, whose tokens
// no key of the other tests has.
func TestCountSmall(t *testing.T) {
	for name, cfg := range countShapes {
		t.Run(name, func(t *testing.T) {
			x := newTesterOf(t, cfg, `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
				CREATE TABLE shop.ends (key blob PRIMARY KEY); CREATE TABLE shop.one (key int, n int, PRIMARY KEY (key, n))`)
			require.Equal(t, "0\n", x.requireRun("count", "shop.ends"))
			for _, key := range ringEnds {
				require.NoError(t, x.Exec("INSERT INTO shop.ends (key) VALUES ("+key+")"))
			}
			require.Equal(t, fmt.Sprintln(len(ringEnds)), x.requireRun("count", "shop.ends"))
			require.Contains(t, x.requireRun("query", "SELECT token(key) FROM shop.ends"), "9223372036854775807")
			for n := range 30 {
				require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.one (key, n) VALUES (7, %d)", n)))
			}
			require.Equal(t, "30\n", x.requireRun("count", "shop.one"))
		})
	}
}

// TestCountUnrest counts while nodes restart in turn and tablets move, split and merge.
func TestCountUnrest(t *testing.T) {
	for name, cfg := range countShapes {
		t.Run(name, func(t *testing.T) {
			x := newTesterOf(t, cfg, `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
				CREATE TABLE shop.items (id int PRIMARY KEY)`)
			const rows = 500
			for id := range rows {
				require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.items (id) VALUES (%d)", id)))
			}
			for run := range soak.Size(8, 100) {
				x.countInUnrest(run, rows)
			}
		})
	}
}

// countInUnrest counts the rows of shop.items. During the count a node is killed and the tablets change.
func (x *tester) countInUnrest(run, rows int) {
	node := x.Node(run % 3)
	rule := x.Inject(cqltest.Fault{Statement: "token(", Op: cqltest.OpExecute, Skip: 3, Times: 3, Edit: func(*cqltest.Answer) {
		x.SetTablets(4 + run%8)
		x.MoveTablets()
		go node.Kill() // not while the node answers
	}})
	require.Equal(x.t, fmt.Sprintln(rows), x.requireRun("count", "shop.items"), run)
	require.Positive(x.t, rule.Hits())
	rule.Remove()
	require.NoError(x.t, node.Restart())
}

func TestCountRefused(t *testing.T) {
	x := newTester(t, events)
	for args, want := range map[string]string{
		"shop.nothing":                     "1 vecql count: invalid request: table nothing does not exist",
		"no.events":                        "1 vecql count: invalid request: keyspace no does not exist",
		"events":                           "1 vecql count: invalid request: No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
		"shop.events --by day":             "2 vecql count: --by is day, want the first columns of the primary key (tenant, day, id); see vecql count --help",
		"shop.events --workers 0":          "2 vecql count: --workers is 0, want at least 1; see vecql count --help",
		"shop.events --largest -1":         "2 vecql count: --largest is -1, want at least 1; see vecql count --help",
		"shop.events --by-node --by-range": "2 vecql count: if any flags in the group [by-range by-node by largest] are set none of the others can be; [by-node by-range] were all set; see vecql count --help",
		"shop.events --output xml":         `2 vecql count: --output is "xml", want table, json, csv, parquet or arrow; see vecql count --help`,
		"":                                 "2 vecql count: accepts 1 arg(s), received 0; see vecql count --help",
		"shop.events --where color=1":      "1 vecql count: invalid request: Undefined column name color in table shop.events",
	} {
		code := exitFailed
		if want[0] == '2' {
			code = exitUsage
		}
		require.Equal(t, want[2:], x.requireFailure(code, append([]string{"count"}, strings.Fields(args)...)...), args)
	}
}

// ringEnds are keys with the last and the first token.
var ringEnds = []string{"0x825e338005a83d5ce7ec3afc6a63448b", "0x4adfb7bb7374c1d0ebaf77c8bf32658e"}
