// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The statement of a writer: given by the program, or an INSERT made from the columns of the table and of the rows.

// Insert returns a writer of rows of a table, named as in CQL: shop.items, or items in the keyspace of the session.
// Columns go to the columns of their names. ctx is for the reading of the metadata of the table only.
func Insert(ctx context.Context, session *vecql.Session, table string, o Options) (*Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	keyspace, name := splitTable(table)
	if keyspace == "" {
		keyspace = session.Query("").GetKeyspace()
	}
	metadata, err := session.TableMetadata(ctx, keyspace, name)
	if err != nil {
		return nil, fmt.Errorf("bulk: insert into %s: %w", table, unprefixed(err))
	}
	if slices.Contains(metadata.Flags, "counter") {
		return nil, fmt.Errorf("%w: INSERT cannot write table %s, use New with an UPDATE", ErrCounters, table)
	}
	target := cqltext.QualifiedName(metadata.Keyspace, metadata.Name)
	if o.BatchRows > 1 {
		// ScyllaDB names the replicas of a tablet in responses to single rows only. An error means that there are no
		// tablets, or that the session may not read them: batches then go to any node.
		_, _ = session.TokenRanges(ctx, metadata.Keyspace, metadata.Name)
	}
	w := &Writer{session: session, o: o, table: metadata, into: target}
	hasList := slices.ContainsFunc(metadata.OrderedColumns, isList(metadata))
	w.repeatable = o.AssumeIdempotent || o.TimestampColumn == "" || !hasList
	return w, w.start("INSERT INTO " + target)
}

// New returns a writer that executes a statement for each row: an INSERT, UPDATE or DELETE. Each bind marker takes the
// value of the column or field of its name. Named markers name columns of the batch, as in INSERT INTO t (k, v) VALUES
// (:id, :name) USING TTL :ttl. ctx is for the preparation of the statement only.
func New(ctx context.Context, session *vecql.Session, stmt string, o Options) (*Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	switch cqltext.FirstWord(stmt) {
	case "INSERT", "UPDATE", "DELETE":
	default:
		return nil, fmt.Errorf("%w: the statement is not an INSERT, UPDATE or DELETE: %.100q", ErrOptions, stmt)
	}
	if set := o.ofInsert(); len(set) > 0 {
		return nil, fmt.Errorf("%w: %s: for Insert only, New executes the statement as it is", ErrOptions,
			strings.Join(set, ", "))
	}
	metadata, err := session.StatementMetadata(ctx, stmt, "")
	if err != nil {
		return nil, fmt.Errorf("bulk: %w", unprefixed(err))
	}
	table, err := session.TableMetadata(ctx, metadata.Keyspace, metadata.Table)
	if err != nil { // such as metadata that the session does not cache
		table = &cql.TableMetadata{}
	}
	isCounter := func(c cql.ColumnInfo) bool { return c.TypeInfo.Type() == cql.TypeCounter }
	counters := slices.Contains(table.Flags, "counter") || slices.ContainsFunc(metadata.BindMarkers, isCounter)
	if counters && !o.Counters {
		return nil, fmt.Errorf("%w: %.100q", ErrCounters, stmt)
	}
	hasKeys := func(name string) bool {
		c := table.Columns[name]
		return c != nil && (c.Type.Type() == cql.TypeSet || c.Type.Type() == cql.TypeMap)
	}
	w := &Writer{session: session, o: o, text: stmt}
	w.repeatable = o.AssumeIdempotent || !counters && cqltext.IsRepeatable(stmt, hasKeys) && !doublesList(stmt, table)
	return w, w.start(stmt)
}

// isList reports whether a column is a list with a cell for each element. Such a list that is written twice with one
// write time has each element twice: the deletion that precedes the elements is older than they are, and each write
// gives them new positions.
func isList(table *cql.TableMetadata) func(column string) bool {
	return func(column string) bool {
		c := table.Columns[column]
		return c != nil && c.Type.Type() == cql.TypeList && !strings.HasPrefix(c.Validator, "frozen<")
	}
}

// doublesList reports whether a statement may write a list with a write time of its own.
func doublesList(stmt string, table *cql.TableMetadata) bool {
	list, timestamp := false, false
	isList := isList(table)
	for _, token := range cqltext.Tokens(stmt) {
		list = list || isList(cqltext.UnquoteIdentifier(token))
		timestamp = timestamp || strings.EqualFold(token, "TIMESTAMP")
	}
	return list && timestamp
}

// splitTable returns the keyspace, empty if there is none, and the table of a name in CQL.
func splitTable(name string) (keyspace, table string) {
	end := 0
	for quoted := false; end < len(name) && (quoted || name[end] != '.'); end++ {
		quoted = quoted != (name[end] == '"')
	}
	if end == len(name) {
		return "", cqltext.UnquoteIdentifier(name)
	}
	return cqltext.UnquoteIdentifier(name[:end]), cqltext.UnquoteIdentifier(name[end+1:])
}

// textFor returns the statement for rows with a schema, and the bind markers of the clustering columns; none for a
// statement of New. Named markers name the columns of the batch.
func (w *Writer) textFor(schema column.Schema) (text string, key []int, err error) {
	if w.table == nil {
		return w.text, nil, nil
	}
	sources, err := w.sources(schema)
	if err != nil {
		return "", nil, err
	}
	text, key = w.insert(sources, func(cql.ColumnKind) bool { return true })
	return text, key, nil
}

// positional reports whether the statement has markers without names. On v3 PREPARE does not return the partition key,
// and the session finds it only by such markers: without it rows are not joined, and go to any node.
func (w *Writer) positional(sources map[string]string) bool {
	if w.session.ProtoVersion() >= 4 || w.o.TTLColumn != "" || w.o.TimestampColumn != "" {
		return false
	}
	for name, source := range sources {
		if name != source {
			return false
		}
	}
	return true
}

// insert returns the INSERT of the columns of some kinds that have a source, and the bind markers of the clustering
// columns.
func (w *Writer) insert(sources map[string]string, has func(cql.ColumnKind) bool) (text string, key []int) {
	positional := w.positional(sources)
	var names, markers []string
	for _, name := range w.table.OrderedColumns {
		kind := w.table.Columns[name].Kind
		if source, ok := sources[name]; ok && has(kind) {
			if kind == cql.ColumnClusteringKey {
				key = append(key, len(names))
			}
			names = append(names, cqltext.QuoteIdentifier(name))
			marker := ":" + cqltext.QuoteIdentifier(source)
			if positional {
				marker = "?"
			}
			markers = append(markers, marker)
		}
	}
	var using []string
	switch {
	case w.o.TTLColumn != "":
		using = append(using, "TTL :"+cqltext.QuoteIdentifier(w.o.TTLColumn))
	case w.o.TTL != 0:
		using = append(using, fmt.Sprintf("TTL %d", w.o.TTL/time.Second))
	}
	if w.o.TimestampColumn != "" {
		using = append(using, "TIMESTAMP :"+cqltext.QuoteIdentifier(w.o.TimestampColumn))
	}
	text = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", w.into, strings.Join(names, ", "), strings.Join(markers, ", "))
	if len(using) > 0 {
		text += " USING " + strings.Join(using, " AND ")
	}
	return text, key
}

// sources returns the column of the batch for each column of the table that has one.
func (w *Writer) sources(schema column.Schema) (map[string]string, error) {
	sources := map[string]string{}
	for _, f := range schema {
		name, renamed := w.o.Columns[f.Name]
		if !renamed {
			name = f.Name
		}
		_, twice := sources[name]
		switch {
		case renamed && name == "":
		case twice:
			return nil, fmt.Errorf("%w %s: column %q goes to %q, like another one", ErrColumns, w.table.Name, f.Name, name)
		case w.table.Columns[name] != nil:
			sources[name] = f.Name
		case renamed || w.o.RefuseExtra && f.Name != w.o.TTLColumn && f.Name != w.o.TimestampColumn:
			return nil, fmt.Errorf("%w %s: it has no column %q", ErrColumns, w.table.Name, name)
		}
	}
	for _, option := range []string{w.o.TTLColumn, w.o.TimestampColumn} {
		if option != "" && schema.Index(option) < 0 {
			return nil, fmt.Errorf("%w %s: the rows have no column %q", ErrColumns, w.table.Name, option)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(w.o.Columns)) {
		if schema.Index(from) < 0 {
			return nil, fmt.Errorf("%w %s: the rows have no column %q", ErrColumns, w.table.Name, from)
		}
	}
	for _, c := range w.table.OrderedColumns {
		kind := w.table.Columns[c].Kind
		key := kind == cql.ColumnPartitionKey || kind == cql.ColumnClusteringKey
		if _, ok := sources[c]; !ok && (key || !w.o.AllowMissing) {
			return nil, fmt.Errorf("%w %s: no column of the rows goes to %q", ErrColumns, w.table.Name, c)
		}
	}
	return sources, nil
}
