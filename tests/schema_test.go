// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Schema metadata of a server, and notifications of schema changes.

// tableLog is a listener that records the notifications of a keyspace's tables.
type tableLog struct {
	keyspace string
	mu       sync.Mutex
	records  []string
}

func (l *tableLog) record(keyspace, format string, args ...any) {
	if keyspace == l.keyspace {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.records = append(l.records, fmt.Sprintf(format, args...))
	}
}

func (l *tableLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.records, ", ")
}

func (l *tableLog) changed(c vecql.SchemaChange) {
	old, _ := c.Old.(*cql.TableMetadata)
	now, _ := c.New.(*cql.TableMetadata)
	switch {
	case old != nil && now != nil:
		l.record(now.Keyspace, "~%s %d %d", now.Name, len(old.Columns), len(now.Columns))
	case now != nil:
		l.record(now.Keyspace, "+%s", now.Name)
	case old != nil:
		l.record(old.Keyspace, "-%s", old.Name)
	}
}

func testSchema(t *testing.T, s *vecql.Session, ks string) {
	texts, index := "list<frozen<list<text>>>", "CREATE INDEX rich_v ON %s.rich (v)"
	if hasVectors(s) {
		texts, index = "vector<frozen<list<text>>, 2>", "CREATE INDEX rich_v ON %s.rich (v) USING 'sai'"
	}
	for _, stmt := range []string{
		`CREATE TYPE %s.zip (code text)`,
		`CREATE TYPE %s."Address" (street text, zips frozen<list<frozen<zip>>>)`,
		`CREATE TABLE %s.rich (a uuid, "B" int, c timeuuid, d text, s map<text, frozen<tuple<int, frozen<zip>>>> STATIC, home frozen<"Address">,
			v ` + floats(s, 3) + `, n ` + texts + `, tags set<text>, dur duration,
			PRIMARY KEY ((a, "B"), c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC) AND comment = 'it''s rich' AND default_time_to_live = 60`,
		index,
		`CREATE TABLE %s.hits (id int PRIMARY KEY, n counter)`,
	} {
		exec(t, s, fmt.Sprintf(stmt, ks))
	}
	meta, err := s.KeyspaceMetadata(t.Context(), ks)
	require.NoError(t, err)
	require.Empty(t, meta.Faults)
	require.True(t, strings.HasSuffix(meta.StrategyClass, "NetworkTopologyStrategy"), meta.StrategyClass)
	require.True(t, meta.DurableWrites)
	require.NotEmpty(t, meta.StrategyOptions)

	rich := meta.Tables["rich"]
	require.Equal(t, []string{"a", "B", "c", "d", "s", "dur", "home", "n", "tags", "v"}, rich.OrderedColumns)
	require.Equal(t, "it's rich", rich.Options.Comment)
	require.Equal(t, 60, rich.Options.DefaultTimeToLive)
	require.NotZero(t, rich.Id)
	require.NotEmpty(t, rich.Options.Compaction["class"])
	require.Equal(t, cql.DESC, rich.ClusteringColumns[0].Order)
	require.Equal(t, cql.ASC, rich.ClusteringColumns[1].Order)
	require.Equal(t, cql.ColumnStatic, rich.Columns["s"].Kind)
	require.Equal(t, "rich_v", rich.Columns["v"].Index.Name)
	require.Equal(t, cql.NativeType(cql.TypeCounter), meta.Tables["hits"].Columns["n"].Type)

	// Types in the schema metadata must equal the types of results and of PREPARE.
	columns := s.Query(fmt.Sprintf("SELECT * FROM %s.rich", ks)).Iter(t.Context())
	for i, c := range columns.Columns() {
		require.Equal(t, rich.OrderedColumns[i], c.Name)
		require.Equal(t, c.TypeInfo, rich.Columns[c.Name].Type, c.Name)
	}
	require.NoError(t, columns.Close())

	// A schema change of this session is visible at once, and only in the changed table.
	exec(t, s, fmt.Sprintf("ALTER TABLE %s.hits ADD more counter", ks))
	again, err := s.KeyspaceMetadata(t.Context(), ks)
	require.NoError(t, err)
	require.Contains(t, again.Tables["hits"].Columns, "more")
	require.NotContains(t, meta.Tables["hits"].Columns, "more")
	exec(t, s, fmt.Sprintf("DROP TABLE %s.hits", ks))
	_, err = s.TableMetadata(t.Context(), ks, "hits")
	require.ErrorIs(t, err, vecql.ErrNoTable)
	_, err = s.TableMetadata(t.Context(), "no such", "hits")
	require.ErrorIs(t, err, vecql.ErrKeyspaceDoesNotExist)

	all, err := s.AllKeyspaceMetadata(t.Context())
	require.NoError(t, err)
	for name, k := range all {
		require.Empty(t, k.Faults, name)
	}
	require.NotEmpty(t, all["system_schema"].Tables["columns"].PartitionKey)
}

func TestListeners(t *testing.T) {
	cfg := config(t, plainNode)
	s := connect(t, cfg)
	ks := keyspace(t, s, 1)
	log := &tableLog{keyspace: ks}
	cfg.Schema.OnChange = log.changed
	listening, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer listening.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := func(s string) {
		t.Helper()
		for log.String() != s && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		require.Equal(t, s, log.String())
	}
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.x (id int PRIMARY KEY)", ks))
	want("+x")
	exec(t, s, fmt.Sprintf("ALTER TABLE %s.x ADD v %s", ks, floats(s, 3)))
	want("+x, ~x 1 2")
	exec(t, s, fmt.Sprintf("DROP TABLE %s.x", ks))
	want("+x, ~x 1 2, -x")
}
