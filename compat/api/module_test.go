// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// A module of the tests, in the shape of v1.7's: its RetryPolicy and its ColumnInfo are texts.

type (
	level uint16 // its Consistency

	v1Query = QueryV1[moduleQuery, string, level, host, string]
	v1Batch = BatchV1[moduleBatch, string, level, host, string]

	moduleQuery struct{ v1Query }

	moduleBatch struct {
		v1Batch

		content Content[level, string]
	}
)

// module is a session of the module.
type module struct {
	core     SessionV1[string, level, host, string]
	defaults Defaults[level, string]
	cluster  *cqltest.Cluster
	of       *vecql.Session
}

// openModule returns a session on a new cluster with the schema of package compattest.
func openModule(t *testing.T) *module { return openModuleWith(t, cqltest.Config{}) }

func openModuleWith(t *testing.T, config cqltest.Config) *module {
	t.Helper()
	m := &module{cluster: compattest.NewCluster(t, config)}
	cfg := &vecql.ClusterConfig{Hosts: m.cluster.Hosts()}
	cfg.Keyspace, cfg.Pool.Dialer = "shop", m.cluster.Dialer()
	m.of = compattest.Open(t, func() (*vecql.Session, error) { return vecql.NewSession(t.Context(), *cfg) })
	m.core = SessionV1[string, level, host, string]{
		Results: &Results[host, string]{
			Dialect: compat.V1, Hosts: hostsOfModule(), Failure: func(err error, _ bool) error { return moduleErrors.Plain(err) },
			Columns: func(columns []cql.ColumnInfo) []string {
				return Each(columns, func(c cql.ColumnInfo) string { return c.Name })
			},
		},
		Defaults: &m.defaults, Started: func() (*vecql.Session, error) { return m.of, nil }, Plain: moduleErrors.Plain,
		Keyspace: "shop", Timestamps: true, Serial: cql.Serial,
	}
	InitDefaults(&m.defaults, level(cql.Quorum), Rare[string]{PageSize: 100})
	return m
}

func (m *module) query(stmt string, values ...any) *moduleQuery {
	q := &moduleQuery{}
	StartQuery(&q.v1Query, &m.core, new(Metrics), func(q *moduleQuery) RowReader { return m.iter(q, nil) }, stmt, values)
	return q
}

func (m *module) iter(q *moduleQuery, r *Execution) *Iter[host, string] {
	it := &Iter[host, string]{}
	RunQuery(&q.v1Query, r, it)
	return it
}

// bound returns a query with a function that returns its values.
func (m *module) bound(stmt string, b Binding[string]) *moduleQuery {
	q := m.query(stmt)
	BindBy(q, b)
	return q
}

// exec executes a statement.
func (m *module) exec(t *testing.T, stmt string, values ...any) {
	t.Helper()
	require.NoError(t, Exec(&m.query(stmt, values...).v1Query, nil))
}

// batch returns a batch of statements.
func (m *module) batch(entries ...BatchEntry[string]) *moduleBatch {
	b := &moduleBatch{content: Content[level, string]{Entries: entries}}
	b.content.Cons = StartBatch(&b.v1Batch, &m.core)
	return b
}

func (m *module) execBatch(b *moduleBatch, r *Execution) *Iter[host, string] {
	it := &Iter[host, string]{}
	RunBatch(&b.v1Batch, &m.core, b.content, r, it)
	return it
}

const insertItem = "INSERT INTO items (id, name) VALUES (?, ?)"

func entry(stmt string, args ...any) BatchEntry[string] {
	return BatchEntry[string]{Stmt: stmt, Args: args}
}
