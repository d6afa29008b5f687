// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/vector"
)

// What a search knows of its table: the columns, the column of vectors and its indexes, from the schema.

// A table is a table with a column of vectors.
type table struct {
	target
	server       server
	meta         *cql.TableMetadata
	keyspaceMeta *cql.KeyspaceMetadata // that the table was read from
	dim          int
	indexes      []index // of the column, the newest first
	columns      []index // storage-attached and other indexes of the other columns
}

// An index is an index of a column.
type index struct {
	name, column string
	class        string // the last word of class_name in lower case: "vector_index", "storageattachedindex"
	metric       vector.Metric
	filters      []string // columns that a vector_index has beside the vectors
	local        []string // the partition key of a local vector_index
	version      string   // index_version of ScyllaDB
	options      map[string]string
}

// A schema is the table of an open Query. It follows changes of the session's schema.
type schema struct {
	target  target
	current atomic.Pointer[table]
}

// openSchema reads the schema of a target's table.
func openSchema(ctx context.Context, session *vecql.Session, t target) (*schema, error) {
	s := &schema{target: t}
	_, err := s.read(ctx, session)
	return s, err
}

// table returns the table as of the last read.
func (s *schema) table() *table { return s.current.Load() }

// read returns the table as of now. The session reads the schema again only after a change.
func (s *schema) read(ctx context.Context, session *vecql.Session) (*table, error) {
	if t := s.table(); t != nil {
		if ks, err := session.KeyspaceMetadata(ctx, t.keyspace); err == nil && ks == t.keyspaceMeta {
			return t, nil
		}
	}
	t, err := tableOf(ctx, session, s.target)
	if err != nil {
		return nil, err
	}
	s.current.Store(t)
	return t, nil
}

// tableOf reads the schema of a target's table and chooses the column.
func tableOf(ctx context.Context, session *vecql.Session, t target) (*table, error) {
	ks, err := session.KeyspaceMetadata(ctx, t.keyspace)
	if err != nil {
		return nil, errorf("table %s.%s: %w", t.keyspace, t.table, err)
	}
	meta, err := session.TableMetadata(ctx, t.keyspace, t.table)
	if err != nil {
		return nil, errorf("table %s.%s: %w", t.keyspace, t.table, err)
	}
	s, err := serverOf(ctx, session)
	if err != nil {
		return nil, err
	}
	out := &table{target: t, server: s, meta: meta, keyspaceMeta: ks}
	if err := out.chooseColumn(); err != nil {
		return nil, err
	}
	out.readIndexes(ks.Indexes)
	return out, nil
}

// chooseColumn sets the column and its dimension.
func (t *table) chooseColumn() error {
	var vectors []string
	for _, name := range t.meta.OrderedColumns {
		if _, ok := floatsOf(t.meta.Columns[name].Type); ok {
			vectors = append(vectors, name)
		}
	}
	switch {
	case t.column == "" && len(vectors) == 1:
		t.column = vectors[0]
	case len(vectors) == 0:
		return errorf("%w: table %s.%s has no vector<float, n>", ErrTarget, t.keyspace, t.table)
	case t.column == "":
		return errorf("%w: table %s.%s has several: name one, as in %q", ErrTarget, t.keyspace, t.table, t.table+"("+vectors[0]+")")
	case !slices.Contains(vectors, t.column):
		return errorf("%w: %s of table %s.%s; it has: %s", ErrTarget, t.column, t.keyspace, t.table, strings.Join(vectors, ", "))
	}
	t.dim, _ = floatsOf(t.meta.Columns[t.column].Type)
	return nil
}

// floatsOf returns the dimension of a vector<float, n>.
func floatsOf(info cql.TypeInfo) (dim int, ok bool) {
	v, ok := info.(cql.VectorType)
	if !ok || v.SubType.Type() != cql.TypeFloat {
		return 0, false
	}
	return v.Dimensions, true
}

// readIndexes reads the indexes of the table from the schema.
func (t *table) readIndexes(indexes map[string]*cql.IndexMetadata) {
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		if meta := indexes[name]; meta.Table == t.table {
			i := indexOf(meta)
			if i.column == t.column {
				t.indexes = append(t.indexes, i)
			} else {
				t.columns = append(t.columns, i)
			}
		}
	}
	// vector-store prefers the newest: indexes.rs, best_index
	slices.SortStableFunc(t.indexes, func(a, b index) int { return cmp.Compare(timeOf(b.version), timeOf(a.version)) })
}

// timeOf returns the time of a timeuuid, 0 for another text.
func timeOf(version string) int64 {
	id, err := cql.ParseUUID(version)
	if err != nil {
		return 0
	}
	return id.Time().UnixNano()
}

// indexOf reads an index of system_schema.indexes. ScyllaDB writes the target of an index with several columns as JSON
// (index/target_parser.cc): {"tc": "v", "pk": ["a"], "fc": ["b"]}.
func indexOf(meta *cql.IndexMetadata) index {
	class := meta.Options["class_name"]
	class = strings.ToLower(class[strings.LastIndexByte(class, '.')+1:])
	i := index{name: meta.Name, class: class, options: meta.Options, version: meta.Options["index_version"]}
	i.column = columnOf(meta.Options["target"])
	var parts struct {
		Column string   `json:"tc"`
		Local  []string `json:"pk"`
		Filter []string `json:"fc"`
	}
	if err := json.Unmarshal([]byte(meta.Options["target"]), &parts); err == nil && parts.Column != "" {
		i.column, i.local, i.filters = parts.Column, parts.Local, parts.Filter
	}
	i.metric = metricOf(meta.Options["similarity_function"])
	return i
}

// columnOf returns the column of an index's target: a name, quoted if it needs quotes, or a function of one, such as
// values(tags).
func columnOf(target string) string {
	if at := strings.IndexByte(target, '('); at > 0 && strings.HasSuffix(target, ")") && target[0] != '"' {
		target = target[at+1 : len(target)-1]
	}
	if len(target) > 1 && target[0] == '"' && target[len(target)-1] == '"' {
		return strings.ReplaceAll(target[1:len(target)-1], `""`, `"`)
	}
	return target
}

// metricOf returns the metric of a similarity function. Cosine is the default of both servers.
func metricOf(function string) vector.Metric {
	switch strings.ToLower(function) {
	case "euclidean":
		return vector.L2
	case "dot_product":
		return vector.Dot
	}
	return vector.Cosine
}

// functionOf returns the name of a metric in the options of an index and in similarity functions of CQL.
func functionOf(m vector.Metric) (string, error) {
	switch m {
	case vector.Cosine:
		return "cosine", nil
	case vector.L2, vector.SquaredL2:
		return "euclidean", nil
	case vector.Dot:
		return "dot_product", nil
	}
	return "", errorf("%w: servers have cosine, L2 and dot, not %v", ErrMetric, m)
}

// serving returns the index of the column that the server uses.
func (t *table) serving() (*index, error) {
	for i := range t.indexes {
		if t.indexes[i].isVector() {
			return &t.indexes[i], nil
		}
	}
	return nil, errorf("%w: column %s has none: create one with CreateIndex, or search with Exact", ErrNoIndex, t.target)
}

// isVector reports whether an index of a column of vectors searches by them.
func (i *index) isVector() bool {
	return i.class == "vector_index" || i.class == "storageattachedindex" || i.class == "sai"
}

// isKey reports whether a column belongs to the primary key.
func (t *table) isKey(name string) bool {
	isName := func(c *cql.ColumnMetadata) bool { return c.Name == name }
	return slices.ContainsFunc(t.meta.PartitionKey, isName) || slices.ContainsFunc(t.meta.ClusteringColumns, isName)
}
