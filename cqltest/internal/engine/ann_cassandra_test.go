// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rules of Cassandra's searches by vectors that a recorded answer cannot show. Each subtest has the name of its rule;
// testdata/cassandra/vector*.cql have the others.

// recallOf returns the share of the nearest rows that searches of 600 rows find. The euclidean distance of one float
// orders the rows as |v - q| does.
func recallOf(t *testing.T, e *Engine, using, options string, limit int) float64 {
	t.Helper()
	mustRun(t, e, "CREATE TABLE r (k int PRIMARY KEY, v vector<float, 1>)")
	if options != "" {
		options = ", " + options
	}
	mustRun(t, e, "CREATE CUSTOM INDEX i ON r (v) USING '"+using+"' WITH OPTIONS = {'similarity_function': 'euclidean'"+options+"}")
	const rows = 600
	for k := range rows {
		mustRun(t, e, fmt.Sprintf("INSERT INTO r (k, v) VALUES (%d, [%d])", k, k))
	}
	random := rand.New(rand.NewPCG(1, 2))
	const searches = 200
	hits := 0
	for range searches {
		at := 100 + random.IntN(rows-200)
		res := mustRun(t, e, fmt.Sprintf("SELECT k FROM r ORDER BY v ANN OF [%d.25] LIMIT %d", at, limit))
		require.Len(t, res.Rows, limit)
		for _, row := range res.Rows {
			k := int(readInt(row[0]))
			if above, below := k-at, at-k; above > 0 && 2*above <= limit || below >= 0 && 2*below < limit {
				hits++
			}
		}
	}
	return float64(hits) / float64(searches*limit)
}

func TestCassandraRecall(t *testing.T) {
	for name, test := range map[string]struct {
		sai     SAI
		options string
		limit   int
		want    float64
	}{
		"the default is exact":                    {SAI{}, "", 10, 1},
		"latency keeps 6 more candidates than 10": {SAI{Approximate: true, Seed: 1}, "", 10, 1 - 0.8/6},
		"recall keeps 32 more":                    {SAI{Approximate: true, Seed: 1}, "'optimize_for': 'recall'", 10, 1 - 0.8/32},
		"a smaller limit finds less":              {SAI{Approximate: true, Seed: 1}, "'optimize_for': 'LATENCY'", 4, 1 - 0.8/5},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newCassandra(t, Options{SAI: test.sai})
			require.InDelta(t, test.want, recallOf(t, e, "sai", test.options, test.limit), 0.03)
		})
	}
}

func TestTopKFor(t *testing.T) {
	for _, test := range []struct{ limit, latency, recall int64 }{
		{1, 5, 10}, {3, 8, 19}, {10, 16, 42}, {50, 59, 123}, {100, 109, 199}, {1000, 1000, 1099},
	} {
		t.Run(fmt.Sprintf("LIMIT %d", test.limit), func(t *testing.T) {
			require.Equal(t, test.latency, topKFor(test.limit, false))
			require.Equal(t, test.recall, topKFor(test.limit, true))
		})
	}
}

func TestCassandraSearches(t *testing.T) {
	const table = "CREATE TABLE t (k int PRIMARY KEY, a int, v vector<float, 2>); "
	const rows = table + "CREATE CUSTOM INDEX i ON t (v) USING 'sai'; INSERT INTO t (k, v) VALUES (0, [1, 0]); INSERT INTO t (k, v) VALUES (1, [1, 0.1]); " +
		"INSERT INTO t (k, v) VALUES (2, [1, 0.2]); INSERT INTO t (k, v) VALUES (3, [1, 0.3]); "
	const notAvailable = "1300 Operation failed - received 0 responses and 1 failures"
	slow := Options{SAI: SAI{Build: time.Minute}}
	custom := func(options string) string {
		return "CREATE CUSTOM INDEX i ON t (v) USING 'sai' WITH OPTIONS = {" + options + "}"
	}
	for name, r := range map[string]rule{
		"an index is not available while it is built": {options: slow, setup: rows + "+59s", statement: nearest, want: notAvailable},
		"an index is available when it is built":      {options: slow, setup: rows + "+1m", statement: nearest, want: "0, 1, 2"},
		"equal scores are in the order of the table": {
			setup:     rows + "UPDATE t SET v = [2, 0] WHERE k = 1; UPDATE t SET v = [3, 0] WHERE k = 2; UPDATE t SET v = [4, 0] WHERE k = 3",
			statement: nearest, want: "1, 0, 2",
		},
		"an expired cell makes no result shorter": {setup: rows + "INSERT INTO t (k, v) VALUES (1, [1, 0.1]) USING TTL 5; +6s", statement: nearest, want: "0, 2, 3"},
		"a deleted row makes no result shorter":   {setup: rows + "DELETE FROM t WHERE k = 1", statement: nearest, want: "0, 2, 3"},
		"a write is found at once":                {setup: rows + "INSERT INTO t (k, v) VALUES (4, [1, 0.01])", statement: nearest, want: "0, 4, 1"},
		"a new index has the rows of its table":   {setup: rows + "DROP INDEX i; CREATE CUSTOM INDEX j ON t (v) USING 'sai'", statement: nearest, want: "0, 1, 2"},
		"few rows are all found":                  {options: Options{SAI: SAI{Approximate: true}}, setup: rows, statement: nearest, want: "0, 1, 2"},
		"connections may be allowed":              {options: Options{SAI: SAI{CustomParameters: true}}, setup: table, statement: custom("'maximum_node_connections': '512'"), want: "UPDATED TABLE ks t"},
		"connections are at most 512":             {options: Options{SAI: SAI{CustomParameters: true}}, setup: table, statement: custom("'maximum_node_connections': '513'"), want: "2200 Maximum number of connections for index null cannot be <= 0 or > 512, was 513"},
		"the beam width is at most 3200":          {options: Options{SAI: SAI{CustomParameters: true}}, setup: table, statement: custom("'construction_beam_width': '3201'"), want: "2200 Construction beam width for index null cannot be <= 0 or > 3200, was 3201"},
		"the beam width is a number":              {options: Options{SAI: SAI{CustomParameters: true}}, setup: table, statement: custom("'construction_beam_width': 'x'"), want: "2200 Construction beam width x is not a valid integer for index null"},
	} {
		r.start = newCassandra
		t.Run(name, r.check)
	}
}

// newCassandra returns an engine of Cassandra with a keyspace ks, and its clock.
func newCassandra(t testing.TB, options Options) (*Engine, *fixedClock) {
	t.Helper()
	clock := &fixedClock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	options.Now = clock.now
	e := New(options)
	mustRun(t, e, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return e, clock
}
