// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/vector"
)

// Creation and removal of vector indexes.

// IndexOptions are the options of a new index. The zero value of a field means the default of the server. An option
// that the server does not have, or a value out of its range, is an error that wraps ErrOption.
type IndexOptions struct {
	Name string // default the server's: products_embedding_idx for shop.products(embedding)
	// IfNotExists accepts an index that exists already if it has the similarity and the columns of Filter. Its other
	// options are not compared.
	IfNotExists bool
	// Filter are the columns of conditions of Where. ScyllaDB has them in the vector index, and serves the columns of the
	// primary key always. Cassandra has a storage-attached index for each column, and serves the partition key alone;
	// CreateIndex creates the missing ones.
	Filter []string
	// Local makes an index of each partition: searches must state the whole partition key. ScyllaDB only.
	Local bool

	// OptimizeFor is "latency", the default, or "recall", which keeps more candidates. Cassandra only.
	OptimizeFor string
	// MaximumNodeConnections is the number of edges of a node of the graph, 1 to 512. Default 16. Cassandra accepts it and
	// ConstructionBeamWidth if its nodes run with -Dcassandra.sai.vector.allow_custom_parameters=true.
	MaximumNodeConnections int
	// ConstructionBeamWidth is the number of candidates when a vector is added: Cassandra 1 to 3200, default 100;
	// ScyllaDB 1 to 4096, default 128.
	ConstructionBeamWidth int
	// SearchBeamWidth is the number of candidates of a search, 1 to 4096. Default 64. ScyllaDB only.
	SearchBeamWidth int
	// Quantization is how the index stores elements: "f32", the default, "f16", "bf16", "i8" or "b1". With b1 the index
	// compares the signs of elements, with every similarity: rescore. ScyllaDB only, since 2026.1.
	Quantization string
	// Oversampling is how many times more rows than requested a search reads from the index, 1 to 100. Default 1.
	// ScyllaDB only, since 2026.1.
	Oversampling float64
	// Rescoring orders the rows that a quantized index returns by their exact scores. ScyllaDB only, since 2026.1.
	Rescoring bool
	// SourceModel is the name of the model that the vectors are of, which ScyllaDB stores and ignores. Since 2026.2.
	SourceModel string
	// Other are further options, as in CQL. They are sent as they are.
	Other map[string]string

	// Warn is called for each warning of the server, such as Cassandra's about vector indexes, and if the table is slow to
	// search. Default nil, which means that there are none.
	Warn func(text string)
}

// CreateIndex creates a vector index with a similarity: Cosine, L2 or Dot. target names a table and its column of
// vectors, as in Open. The index serves later: WaitReady waits for it.
//
// The error wraps ErrTarget for the table, ErrOption for an option, ErrMetric if the column has an index with another
// similarity, or ErrIndexExists. After an error the indexes of some columns of Filter may exist; CreateIndex continues
// from there if it is called again.
func CreateIndex(
	ctx context.Context, session *vecql.Session, target string, metric vector.Metric, options IndexOptions,
) error {
	t, err := tableNamed(ctx, session, target)
	if err != nil {
		return err
	}
	c := creator{session: session, table: t, IndexOptions: options, metric: metric}
	if err := c.check(); err != nil {
		return err
	}
	exists, err := c.exists()
	if err != nil {
		return err
	}
	return c.create(ctx, exists)
}

// DropIndex drops an index by its name, "shop.products_embedding_idx", or the only vector index of a column,
// "shop.products(embedding)". The indexes of columns of Filter remain on Cassandra: drop them by name. The error wraps
// ErrNoIndex if there is none.
func DropIndex(ctx context.Context, session *vecql.Session, index string) error {
	named, err := parseTarget(index, session.Query("").GetKeyspace())
	if err != nil {
		return err
	}
	if named.column != "" {
		t, err := tableOf(ctx, session, named)
		if err != nil {
			return err
		}
		only, err := t.onlyIndex()
		if err != nil {
			return err
		}
		named.table = only.name
	}
	ks, err := session.KeyspaceMetadata(ctx, named.keyspace)
	switch {
	case err != nil:
		return errorf("drop index %s: %w", index, err)
	case ks.Indexes[named.table] == nil:
		return errorf("drop index %s: %w of that name", index, ErrNoIndex)
	}
	if err := dropIndex(ctx, session, named); err != nil {
		return errorf("drop index %s: %w", index, err)
	}
	return nil
}

// dropIndex drops the index that target names.
func dropIndex(ctx context.Context, session *vecql.Session, named target) error {
	_, err := execChange(ctx, session, "DROP INDEX "+named.inCQL(), "DROP INDEX IF EXISTS "+named.inCQL())
	return err
}

// tableNamed returns the table of a target.
func tableNamed(ctx context.Context, session *vecql.Session, text string) (*table, error) {
	named, err := parseTarget(text, session.Query("").GetKeyspace())
	if err != nil {
		return nil, err
	}
	return tableOf(ctx, session, named)
}

// onlyIndex returns the vector index of the column. It is an error if there are several.
func (t *table) onlyIndex() (*index, error) {
	first, err := t.serving()
	if err != nil {
		return nil, err
	}
	if all := t.vectorIndexes(); len(all) > 1 {
		return nil, errorf("column %s has several vector indexes: name one of %s", t.target, strings.Join(all, ", "))
	}
	return first, nil
}

// vectorIndexes returns the names of the vector indexes of the column.
func (t *table) vectorIndexes() []string {
	var names []string
	for i := range t.indexes {
		if t.indexes[i].isVector() {
			names = append(names, t.indexes[i].name)
		}
	}
	return names
}

// A creator creates the indexes of one call of CreateIndex.
type creator struct {
	session *vecql.Session
	table   *table
	metric  vector.Metric
	IndexOptions
}

// create creates the missing indexes, the one of the vectors last.
func (c *creator) create(ctx context.Context, exists bool) error {
	t := c.table
	if !t.server.Scylla {
		for _, name := range c.filterColumns() {
			if slices.ContainsFunc(t.columns, func(i index) bool { return i.column == name }) {
				continue
			}
			text := fmt.Sprintf("CREATE INDEX IF NOT EXISTS ON %s (%s) USING 'sai'", t.inCQL(), cqltext.QuoteIdentifier(name))
			if err := c.exec(ctx, text, text); err != nil {
				return errorf("create index on %s.%s(%s): %w", t.keyspace, t.table, name, err)
			}
		}
	}
	if exists {
		return nil
	}
	if len(t.meta.ClusteringColumns) > 0 && t.server.Scylla && c.Warn != nil {
		c.Warn(fmt.Sprintf("table %s.%s has clustering columns: ScyllaDB reads the row of each hit by a request of its own", t.keyspace, t.table))
	}
	if err := c.exec(ctx, c.statement(c.IfNotExists), c.statement(true)); err != nil {
		return errorf("create index on %s: %w", t.target, err)
	}
	return nil
}

// exec executes a statement, or again if the result of the statement is unknown, and reports each of the warnings once.
func (c *creator) exec(ctx context.Context, statement, again string) error {
	warnings, err := execChange(ctx, c.session, statement, again)
	if err != nil || c.Warn == nil {
		return err
	}
	for i, text := range warnings { // Cassandra repeats the warning for each vector index of the table
		if !slices.Contains(warnings[:i], text) {
			c.Warn(text)
		}
	}
	return nil
}

// statement returns the statement that creates the vector index.
func (c *creator) statement(ifNotExists bool) string {
	var b strings.Builder
	b.WriteString("CREATE CUSTOM INDEX ")
	if ifNotExists {
		b.WriteString("IF NOT EXISTS ")
	}
	if c.Name != "" {
		b.WriteString(cqltext.QuoteIdentifier(c.Name) + " ")
	}
	class := "StorageAttachedIndex"
	columns := cqltext.QuoteIdentifier(c.table.column)
	if c.table.server.Scylla {
		class = "vector_index"
		if c.Local {
			columns = "(" + quoteNames(c.table.partitionKey()) + "), " + columns
		}
		if names := c.filterColumns(); len(names) > 0 {
			columns += ", " + quoteNames(names)
		}
	}
	fmt.Fprintf(&b, "ON %s (%s) USING '%s' WITH OPTIONS = {", c.table.inCQL(), columns, class)
	for i, o := range c.all() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteText(o.name) + ": " + quoteText(o.value))
	}
	return b.String() + "}"
}

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func quoteNames(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, cqltext.QuoteIdentifier(name))
	}
	return strings.Join(quoted, ", ")
}

// filterColumns returns the columns of Filter that the server serves only by an index. Both serve the partition key;
// ScyllaDB serves the whole primary key.
func (c *creator) filterColumns() []string {
	var names []string
	for _, name := range c.Filter {
		served := slices.Contains(c.table.partitionKey(), name)
		if c.table.server.Scylla {
			served = c.table.isKey(name)
		}
		if !served && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (t *table) partitionKey() []string { return t.keyNames()[:len(t.meta.PartitionKey)] }

// exists reports whether the index exists already. It is an error unless IfNotExists is set and the index serves the
// same searches.
func (c *creator) exists() (bool, error) {
	t := c.table
	for i := range t.indexes {
		if o := &t.indexes[i]; o.isVector() && o.metric != c.metric {
			return false, errorf("%w: index %s of %s has %v, the new one would have %v: drop it first", ErrMetric, o.name, t.target, o.metric, c.metric)
		}
	}
	isOfColumn := slices.ContainsFunc(t.indexes, func(i index) bool { return i.name == c.Name })
	if o := t.keyspaceMeta.Indexes[c.Name]; o != nil && !isOfColumn {
		return false, errorf("%w: %s, of table %s", ErrIndexExists, c.Name, o.Table)
	}
	for i := range t.indexes {
		o := &t.indexes[i]
		taken := o.name == c.Name || c.Name == "" && c.serves(o) || !t.server.Scylla
		switch {
		case !o.isVector() || !taken:
		case c.IfNotExists && c.serves(o):
			return true, nil
		case c.IfNotExists:
			return false, errorf("%w: %s of %s, without the columns of Filter or another Local: drop it first, or call RebuildIndex",
				ErrIndexExists, o.name, t.target)
		default:
			return false, errorf("%w: %s of %s", ErrIndexExists, o.name, t.target)
		}
	}
	return false, nil
}

// serves reports whether an index of the column serves the searches that the new one would serve.
func (c *creator) serves(o *index) bool {
	if !c.table.server.Scylla {
		return true // filters have indexes of their own
	}
	for _, name := range c.filterColumns() {
		if !slices.Contains(o.filters, name) {
			return false
		}
	}
	return c.Local == (o.local != nil)
}
