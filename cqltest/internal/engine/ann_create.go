// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// CREATE CUSTOM INDEX ... USING 'vector_index' of ScyllaDB: its targets and its checks.

// vectorClass is the class of ScyllaDB's vector indexes.
const vectorClass = "vector_index"

// isAttachedClass reports whether a class is Cassandra's storage-attached index, which ScyllaDB accepts on vectors.
func isAttachedClass(using string) bool {
	for _, name := range []string{"sai", "StorageAttachedIndex", "org.apache.cassandra.index.sai.StorageAttachedIndex"} {
		if strings.EqualFold(using, name) {
			return true
		}
	}
	return false
}

// createsVectorIndex reports whether a statement of ScyllaDB creates a vector index.
func createsVectorIndex(s *cql.CreateIndex) bool {
	return strings.EqualFold(s.Using, vectorClass) || isAttachedClass(s.Using)
}

// createVectorIndex executes CREATE CUSTOM INDEX for a vector index of ScyllaDB. The order of the checks is ScyllaDB's.
func (c *changer) createVectorIndex(k *keyspace, old *table, s *cql.CreateIndex) error {
	if old.counter {
		return invalid("Secondary indexes are not supported on counter tables")
	}
	if isAttachedClass(s.Using) && !c.e.options.has(attachedNames) {
		return invalid("Non-supported custom class '%s' provided", s.Using)
	}
	v := &vectorIndex{}
	cols, err := v.targets(old, s.Targets)
	if err != nil {
		return err
	}
	isVector := func(col *column) bool { return col.typ.Kind == KindVector }
	if isAttachedClass(s.Using) && !slices.ContainsFunc(cols, isVector) {
		return invalid("StorageAttachedIndex (SAI) is only supported on vector columns; use a secondary index for " +
			"non-vector columns")
	}
	if err := c.checkVectorIndex(k, old, cols); err != nil {
		return err
	}
	given, err := customOptions(s)
	if err != nil {
		return err
	}
	if err := c.e.checkVectorOptions(given); err != nil {
		return err
	}
	i := &index{name: s.Name, column: cols[0].name, kind: "CUSTOM", sai: true, vector: v, options: given}
	i.target = v.target(cols)
	if i.name == "" {
		i.name = freeIndexName(k, v.defaultName(old, cols))
	}
	if err := c.checkDuplicate(k, old, i, s); err != nil || i.name == "" {
		return err
	}
	v.setOptions(given)
	v.created = c.e.options.Now()
	id := c.e.timeID(v.created)
	v.version = id
	given["class_name"], given["index_version"] = vectorClass, formatUUID(id[:])
	c.putIndex(k, old, i)
	return nil
}

// targets sets the columns of a local index, and returns the vector column and the filter columns.
func (v *vectorIndex) targets(t *table, targets []cql.IndexTarget) ([]*column, error) {
	if len(targets) == 0 {
		return nil, invalid("Vector index must have at least one target column")
	}
	if first := targets[0].Columns; first != nil {
		if err := checkLocalKey(t, first); err != nil {
			return nil, err
		}
		if v.local = first; len(targets) == 1 {
			return nil, invalid("Local index definition must provide an indexed column, not just partition key")
		}
		targets = targets[1:]
	}
	var cols []*column
	for _, target := range targets {
		switch col := t.byName[target.Column]; {
		case target.Columns != nil:
			return nil, invalid("Multi-column index targets are currently only supported for partition key")
		case col == nil:
			return nil, invalid("Column %s not found in schema", target.Column)
		case slices.Contains(cols, col):
			return nil, invalid("Duplicate column %s in index target list", col.name)
		default:
			cols = append(cols, col)
		}
	}
	for _, col := range cols[1:] {
		v.filters = append(v.filters, col.name)
	}
	return cols, nil
}

// checkLocalKey returns an error unless the columns are the partition key.
func checkLocalKey(t *table, columns []string) error {
	for i, name := range columns {
		switch col := t.byName[name]; {
		case col == nil || col.kind != PartitionKey:
			return invalid("Local index definition must contain full partition key only. Redundant column: %s", name)
		case i >= len(t.pk):
			return invalid("Duplicate column definition in local index: %s", name)
		case t.pk[i] != col:
			return invalid("Local index definition must contain full partition key only. Missing column: %s", t.pk[i].name)
		}
	}
	if len(columns) < len(t.pk) {
		return invalid("Local index definition must contain full partition key only. Missing column: %s",
			t.pk[len(columns)].name)
	}
	return nil
}

// maxScyllaDimension is ScyllaDB's bound on the dimension of vectors.
const maxScyllaDimension = 16000

// longestVector returns the greatest dimension of the vectors in a type.
func longestVector(t *Type) int {
	n := 0
	if t.Kind == KindVector {
		n = t.Dim
	}
	for _, e := range t.Elems {
		n = max(n, longestVector(e))
	}
	return n
}

// maxVectorKeys is the vector store's bound on the columns of a primary key.
const maxVectorKeys = 255

// checkVectorIndex checks the keyspace, the columns, the primary key, and the options of change data capture.
func (c *changer) checkVectorIndex(k *keyspace, t *table, cols []*column) error {
	if !c.e.options.Tablets || !k.usesTablets() {
		return invalid("Vector index requires the base table's keyspace to use tablets.\n" +
			"Please alter the keyspace to use tablets and try again.")
	}
	if col := cols[0]; col.typ.Kind != KindVector || col.typ.Elems[0].Kind != KindFloat {
		return invalid("Vector indexes are only supported on columns of vectors of floats")
	}
	for _, col := range cols[1:] {
		if !filterable(col.typ) {
			return invalid("Unsupported vector index filtering column %s type", col.name)
		}
	}
	for _, col := range cols {
		switch {
		case col.kind == PartitionKey && len(t.pk) == 1, cols[0] == col && col.isKey():
			return invalid("Cannot create secondary index on partition key column %s", col.name)
		case col.kind == Static:
			return invalid("Local indexes containing static columns are not supported.")
		}
	}
	if n := len(t.pk) + len(t.ck); n > maxVectorKeys {
		return invalid("Vector index requires at most %d primary key columns, but %d were found", maxVectorKeys, n)
	}
	return t.options.checkCapture()
}

// filterable reports whether a vector index can have columns of the type to filter by.
func filterable(t *Type) bool {
	switch t.Kind {
	case KindDuration, KindCounter, KindCustom:
		return false
	}
	return len(t.Elems) == 0 && t.Kind != KindUDT && t.Kind != KindTuple
}

// customOptions returns the options of a statement.
func customOptions(s *cql.CreateIndex) (map[string]string, error) {
	given := givenOptions(s)
	for _, name := range []string{"class_name", "target", "index_version"} {
		if _, ok := given[name]; ok {
			return nil, invalid("Cannot specify %s as a CUSTOM option", name)
		}
	}
	return given, nil
}

// target returns the option target of system_schema.indexes: the name of the column, or JSON if there are more columns.
func (v *vectorIndex) target(cols []*column) string {
	if v.local == nil && v.filters == nil {
		return quoteName(cols[0].name)
	}
	text, err := json.Marshal(struct {
		Target  string   `json:"tc"`
		Local   []string `json:"pk,omitempty"`
		Filters []string `json:"fc,omitempty"`
	}{cols[0].name, v.local, v.filters})
	if err != nil {
		return "" // names are texts
	}
	return string(text)
}

// cqlTarget returns the columns as in CREATE INDEX.
func (v *vectorIndex) cqlTarget(column string) string {
	text := quoteName(column)
	if v.local != nil {
		text = "(" + quoteNames(v.local) + "), " + text
	}
	if v.filters != nil {
		text += ", " + quoteNames(v.filters)
	}
	return text
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteName(name)
	}
	return strings.Join(quoted, ", ")
}

// defaultName returns the name of an index whose statement has none.
func (v *vectorIndex) defaultName(t *table, cols []*column) string {
	if v.filters != nil {
		return t.name + "_idx"
	}
	return t.name + "_" + cols[0].name + "_idx"
}

// checkDuplicate refuses an index whose name is taken, and one without a name that equals another index. Several named
// indexes may be equal, so that one can be rebuilt while another serves. With IF NOT EXISTS it clears the name of the
// index instead.
func (c *changer) checkDuplicate(k *keyspace, t *table, i *index, s *cql.CreateIndex) error {
	if other, _ := k.index(i.name); other != nil {
		if s.IfNotExists {
			i.name = ""
			return nil
		}
		return invalid("Index already exists")
	}
	for _, o := range t.indexes {
		if s.Name != "" || !o.same(i) {
			continue
		}
		if s.IfNotExists {
			i.name = ""
			return nil
		}
		return invalid("Index %s is a duplicate of existing index %s", i.name, o.name)
	}
	return nil
}
