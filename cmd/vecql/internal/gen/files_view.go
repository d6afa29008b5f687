// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The materialized views of files of CQL. Package cqltest has no views, so their columns are looked up in the tables.

// A viewText is a CREATE MATERIALIZED VIEW. Names are as stored, without quotes.
type viewText struct {
	at                    string // file and line
	keyspace, name, base  string
	columns               []string // nil means all
	partition, clustering []string
}

// parseView returns the view of a statement, in the current keyspace unless its name has one.
func parseView(s *statementText, current string) (*viewText, error) {
	v := &viewText{}
	v.keyspace, v.name = s.table(s.name(), current)
	selected, from, key := s.find("SELECT"), s.find("FROM"), s.find("PRIMARY")
	v.partition, v.clustering = s.primaryKey(key + 2)
	if selected < 0 || from < selected || key < from || v.partition == nil {
		return nil, fmt.Errorf("%w: the materialized view %s has no SELECT ... FROM ... PRIMARY KEY (...)", ErrSchema, v.name)
	}
	_, v.base = s.table(from+1, current)
	if s.at(selected+1) != "*" {
		for _, t := range s.tokens[selected+1 : from] {
			if t.word != "," {
				v.columns = append(v.columns, cqltext.UnquoteIdentifier(t.word))
			}
		}
	}
	return v, nil
}

// table returns the keyspace and the table of the name at a position, as stored.
func (s *statementText) table(i int, current string) (keyspace, table string) {
	if s.at(i+1) == "." {
		return cqltext.UnquoteIdentifier(s.at(i)), cqltext.UnquoteIdentifier(s.at(i + 2))
	}
	return current, cqltext.UnquoteIdentifier(s.at(i))
}

// primaryKey returns the columns of a primary key that begins at a position: ((a, b), c) or (a, b).
func (s *statementText) primaryKey(i int) (partition, clustering []string) {
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch name := cqltext.UnquoteIdentifier(t.word); {
		case t.depth == 0 && t.word == ")":
			return partition, clustering
		case strings.Contains("(),", t.word) || t.depth == 0:
		case t.depth == 2 || partition == nil:
			partition = append(partition, name)
		default:
			clustering = append(clustering, name)
		}
	}
	return partition, clustering
}

// createView keeps a view until all files have been read.
func (r *reader) createView(s *statementText) error {
	v, err := parseView(s, r.current)
	if err != nil {
		return err
	}
	same := func(o *viewText) bool { return o.keyspace == v.keyspace && o.name == v.name }
	switch exists := slices.ContainsFunc(r.views, same); {
	case exists && s.hasIf():
		return nil
	case exists:
		return fmt.Errorf("%w: Cannot add already existing materialized view %q to keyspace %q", ErrSchema, v.name, v.keyspace)
	}
	v.at = r.at
	r.views = append(r.views, v)
	return nil
}

// dropView removes a view.
func (r *reader) dropView(s *statementText) error {
	keyspace, name := s.table(s.name(), r.current)
	before := len(r.views)
	r.views = slices.DeleteFunc(r.views, func(v *viewText) bool { return v.keyspace == keyspace && v.name == name })
	if len(r.views) == before && !s.hasIf() {
		return fmt.Errorf("%w: Materialized view %q doesn't exist in keyspace %q", ErrSchema, name, keyspace)
	}
	return nil
}

// hasIf reports whether the statement has IF EXISTS or IF NOT EXISTS.
func (s *statementText) hasIf() bool { return strings.EqualFold(s.at(s.find("VIEW")+1), "IF") }

// addViews adds the views of a keyspace to its metadata.
func (r *reader) addViews(ks *cql.KeyspaceMetadata) error {
	for _, v := range r.views {
		if v.keyspace != ks.Name {
			continue
		}
		meta, err := v.metadata(ks.Tables[v.base])
		if err != nil {
			return fmt.Errorf("%s: %w: the materialized view %s: %w", v.at, ErrSchema, v.name, err)
		}
		if ks.MaterializedViews == nil {
			ks.MaterializedViews = map[string]*cql.MaterializedViewMetadata{}
		}
		ks.MaterializedViews[v.name] = meta
	}
	return nil
}

// metadata returns the view of a table, nil for a table that does not exist.
func (v *viewText) metadata(base *cql.TableMetadata) (*cql.MaterializedViewMetadata, error) {
	if base == nil {
		return nil, fmt.Errorf("the table %s does not exist", v.base)
	}
	meta := &cql.MaterializedViewMetadata{
		Keyspace: v.keyspace, Name: v.name, BaseTableName: v.base, BaseTable: base, Columns: map[string]*cql.ColumnMetadata{},
	}
	columns := v.columns
	if columns == nil {
		columns = slices.Sorted(maps.Keys(base.Columns))
	}
	for _, name := range slices.Concat(v.partition, v.clustering, slices.Sorted(slices.Values(columns))) {
		c := base.Columns[name]
		if c == nil {
			return nil, fmt.Errorf("the table %s has no column %s", v.base, name)
		}
		if meta.Columns[name] == nil {
			copied := *c
			copied.Table, copied.Kind, copied.ComponentIndex = v.name, cql.ColumnRegular, -1
			meta.Columns[name] = &copied
			meta.OrderedColumns = append(meta.OrderedColumns, name)
		}
	}
	meta.PartitionKey = keyColumns(meta.Columns, v.partition, cql.ColumnPartitionKey)
	meta.ClusteringColumns = keyColumns(meta.Columns, v.clustering, cql.ColumnClusteringKey)
	return meta, nil
}

// keyColumns marks columns as a part of the primary key and returns them.
func keyColumns(
	columns map[string]*cql.ColumnMetadata, names []string, kind cql.ColumnKind,
) []*cql.ColumnMetadata {
	key := make([]*cql.ColumnMetadata, len(names))
	for i, name := range names {
		key[i] = columns[name]
		key[i].Kind, key[i].ComponentIndex = kind, i
	}
	return key
}
