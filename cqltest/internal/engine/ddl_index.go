// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of indexes: CREATE and DROP INDEX.

// createIndex executes CREATE INDEX, with the checks of Cassandra's CreateIndexStatement.
func (c *changer) createIndex(s *cql.CreateIndex) error {
	k, err := c.keyspace(s.Table.Keyspace)
	if err != nil {
		return err
	}
	old := k.tables.get(s.Table.Name)
	if old == nil {
		return invalid("Table '%s' doesn't exist", s.Table.Name)
	}
	if c.e.options.Scylla && createsVectorIndex(s) {
		return c.createVectorIndex(k, old, s)
	}
	if len(s.Targets) == 0 {
		return invalid("Only CUSTOM indexes can be created without specifying a target column")
	}
	if len(s.Targets) > 1 {
		return invalid("Only CUSTOM indexes support multiple columns")
	}
	target := s.Targets[0]
	if target.Columns != nil {
		return invalid("Local indexes are not supported, except for vector indexes")
	}
	col, err := old.lookup(target.Column)
	if err != nil {
		return err
	}
	i := &index{name: s.Name, column: col.name, kind: "COMPOSITES", options: map[string]string{}}
	if i.name == "" {
		i.name = freeIndexName(k, old.name+"_"+col.name+"_idx")
	}
	if t, _ := k.index(i.name); t != nil {
		if s.IfNotExists {
			return nil
		}
		return invalid("Index '%s' already exists", i.name)
	}
	if err := i.class(s); err != nil {
		return err
	}
	if err := i.checkTarget(old, col, target); err != nil {
		return err
	}
	if s.Custom && s.Using == "" {
		return configError("Unable to find custom indexer class 'legacy_local_table'")
	}
	for _, o := range old.indexes {
		if o.same(i) {
			if s.IfNotExists {
				return nil
			}
			return invalid("Index %s is a duplicate of existing index %s", i.name, o.name)
		}
	}
	if !c.e.options.Scylla {
		if err := c.checkIndexes(old, i, col.typ); err != nil {
			return err
		}
	}
	if i.sai && col.typ.Kind == KindVector {
		i.vector = &vectorIndex{created: c.e.options.Now()}
		i.vector.setOptions(i.options)
	}
	c.putIndex(k, old, i)
	return nil
}

// putIndex adds an index to a table.
func (c *changer) putIndex(k *keyspace, old *table, i *index) {
	if i.vector != nil {
		c.e.attachIndex(old, i, i.vector.created)
	}
	t := old.clone()
	t.indexes = append(t.indexes, i)
	slices.SortFunc(t.indexes, func(a, b *index) int { return strings.Compare(a.name, b.name) })
	t.finish()
	c.putTable("UPDATED", k, t)
}

// uses reports whether the index is of a column, or has it to filter by or as its partition key.
func (i *index) uses(column string) bool {
	return i.column == column ||
		i.vector != nil && (slices.Contains(i.vector.filters, column) || slices.Contains(i.vector.local, column))
}

// same reports whether two indexes differ at most in their names, the spelling of their class, and their version.
func (i *index) same(o *index) bool {
	given := func(options map[string]string) map[string]string {
		options = maps.Clone(options)
		delete(options, "class_name")
		delete(options, "index_version")
		return options
	}
	return i.target == o.target && i.sai == o.sai && maps.Equal(given(i.options), given(o.options))
}

// checkIndexes checks the indexes of a table and a new one, whose column is of type typ; nil means no new one. As in
// Cassandra, each vector index yields a warning.
func (c *changer) checkIndexes(t *table, added *index, typ *Type) error {
	for _, i := range t.indexes {
		if !i.sai {
			continue
		}
		if added != nil && added.sai && added.target == i.target {
			return invalid("Cannot create more than one storage-attached index on the same column: %s", i.column)
		}
		if col := t.byName[i.column]; col != nil && col.typ.Kind == KindVector {
			c.warn = append(c.warn, annWarning)
		}
	}
	if added == nil || !added.sai {
		return nil
	}
	if err := added.checkOptions(typ, c.e.options.SAI.CustomParameters); err != nil {
		return err
	}
	if typ.Kind == KindVector {
		c.warn = append(c.warn, annWarning)
	}
	return nil
}

// annWarning is Cassandra's warning at the creation of a vector index.
const annWarning = "SAI ANN indexes on vector columns are experimental and are not recommended for production use.\n" +
	"They don't yet support SELECT queries with:\n" +
	" * Consistency level higher than ONE/LOCAL_ONE.\n" +
	" * Paging.\n" +
	" * No LIMIT clauses.\n" +
	" * PER PARTITION LIMIT clauses.\n" +
	" * GROUP BY clauses.\n" +
	" * Aggregation functions.\n" +
	" * Filters on columns without a SAI index."

// freeIndexName returns base, or base with a number that makes it unique in the keyspace.
func freeIndexName(k *keyspace, base string) string {
	name := base
	for n := 1; ; n++ {
		if t, _ := k.index(name); t == nil {
			return name
		}
		name = base + "_" + strconv.Itoa(n)
	}
}

// givenOptions returns the options of CREATE INDEX.
func givenOptions(s *cql.CreateIndex) map[string]string {
	given := map[string]string{}
	for _, name := range []string{"OPTIONS", "options"} {
		if opt, ok := s.Options.Get(name); ok {
			maps.Copy(given, opt.Map)
		}
	}
	return given
}

// class applies USING and OPTIONS.
func (i *index) class(s *cql.CreateIndex) error {
	using, given := s.Using, givenOptions(s)
	switch short := using[strings.LastIndexByte(using, '.')+1:]; {
	case (using == "" || strings.EqualFold(using, "legacy_local_table")) && len(given) > 0:
		return invalid("Cannot specify options for a non-CUSTOM index")
	case using == "" || strings.EqualFold(using, "legacy_local_table"):
		return nil
	case strings.EqualFold(short, "sai") || short == "StorageAttachedIndex":
		i.sai = true
	case short == "SASIIndex":
		return invalid("Indexes of class %s are not supported", using)
	default:
		return configError("Unable to find custom indexer class '%s'", using)
	}
	i.kind = "CUSTOM"
	for _, name := range []string{"class_name", "target"} {
		if _, ok := given[name]; ok {
			return invalid("Cannot specify %s as a CUSTOM option", name)
		}
	}
	maps.Copy(i.options, given)
	i.options["class_name"] = using
	return nil
}

// checkOptions checks the options of a storage-attached index on a column of type t. custom allows the parameters of
// the graph.
func (i *index) checkOptions(t *Type, custom bool) error {
	analysis := []string{"case_sensitive", "normalize", "ascii"}
	vectors := []string{
		"similarity_function", "maximum_node_connections", "construction_beam_width", "optimize_for",
	}
	if unknown := surplus(i.options, slices.Concat([]string{"class_name"}, analysis, vectors)); unknown != "" {
		return configError("Properties specified [%s] are not understood by StorageAttachedIndex", unknown)
	}
	for _, name := range analysis {
		v, ok := i.options[name]
		switch {
		case !ok:
		case !isText(t):
			return invalid("CQL type %s cannot be analyzed.", t)
		case !strings.EqualFold(v, "true") && !strings.EqualFold(v, "false"):
			return invalid("Illegal value for boolean option '%s': %s", name, v)
		}
	}
	for _, name := range vectors {
		if v, ok := i.options[name]; !ok {
			continue
		} else if t.Kind != KindVector {
			return invalid("CQL type %s cannot have vector options", t)
		} else if err := checkAttachedOption(name, v, custom); err != nil {
			return err
		}
	}
	switch {
	case t.Kind != KindVector:
	case t.Elems[0].Kind != KindFloat:
		return invalid("SAI ANN indexes are only allowed on vector columns with float elements")
	case t.Dim == 1 && similarityOf(i.options["similarity_function"]) == cosine:
		return invalid("Cosine similarity is not supported for single-dimension vectors")
	}
	return nil
}

// checkAttachedOption checks an option of an index on vectors. custom allows the parameters of the graph.
func checkAttachedOption(name, v string, custom bool) error {
	upper := strings.ToUpper(v)
	switch name {
	case "similarity_function":
		if v == "" || similarityOf(v) == noSimilarity {
			return invalid("Similarity function %s was not recognized for index null. Valid values are: EUCLIDEAN, "+
				"DOT_PRODUCT, COSINE", upper)
		}
	case "maximum_node_connections":
		return checkGraphOption("Maximum node connections", "Maximum number of connections", v, 512, custom)
	case "construction_beam_width":
		return checkGraphOption("Construction beam width", "Construction beam width", v, 3200, custom)
	case "optimize_for":
		if upper != "LATENCY" && upper != "RECALL" {
			return invalid("optimize_for '%s' was not recognized for index null. Valid values are: LATENCY, RECALL", upper)
		}
	}
	return nil
}

// checkGraphOption checks a number of a graph, whose errors have two names.
func checkGraphOption(setting, value, v string, most int, custom bool) error {
	if !custom {
		return invalid("%s cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS", setting)
	}
	n, err := strconv.Atoi(v)
	switch {
	case err != nil:
		return invalid("%s %s is not a valid integer for index null", value, v)
	case n < 1 || n > most:
		return invalid("%s for index null cannot be <= 0 or > %d, was %d", value, most, n)
	}
	return nil
}

// indexWords are the words before the target of an index on a collection.
var indexWords = map[cql.IndexKind]string{
	cql.IndexColumn: "values", cql.IndexValues: "values", cql.IndexKeys: "keys", cql.IndexEntries: "entries",
}

// checkTarget sets the target of an index from the column and the kind in the statement: the column itself, or keys,
// values, entries or full of a collection.
func (i *index) checkTarget(t *table, col *column, target cql.IndexTarget) error {
	kind, typ := target.Kind, col.typ
	word := indexWords[kind]
	quoted := quoteName(col.name)
	switch {
	case typ.Kind == KindCounter || t.counter:
		return invalid("Secondary indexes on counter tables aren't supported")
	case typ.Kind == KindDuration:
		return invalid("Secondary indexes are not supported on duration columns")
	case typ.multiCell() && typ.Kind == KindUDT:
		return invalid("Cannot create index on non-frozen UDT column %s", quoted)
	case col.kind == PartitionKey && len(t.pk) == 1:
		return invalid("Cannot create secondary index on the only partition key column %s", quoted)
	}
	if typ.isCollection() && !typ.Frozen {
		switch {
		case kind == cql.IndexFull:
			return invalid("full() indexes can only be created on frozen collections")
		case word != "values" && typ.Kind != KindMap:
			return invalid("Cannot create index on %s of column %s with non-map type", word, quoted)
		}
		i.target = word + "(" + quoted + ")"
		return nil
	}
	switch {
	case kind == cql.IndexFull && typ.isCollection():
		i.target = "full(" + quoted + ")"
	case kind == cql.IndexFull:
		return invalid("full() indexes can only be created on frozen collections")
	case typ.isCollection():
		return invalid("Cannot create %s() index on frozen column %s. Frozen collections are immutable and must be fully indexed "+
			"by using the 'full(%s)' modifier", word, quoted, quoted)
	case kind == cql.IndexKeys || kind == cql.IndexEntries:
		return invalid("Cannot create %s() index on %s. Non-collection columns only support simple indexes", word, quoted)
	default:
		i.target = quoted
	}
	return nil
}

// dropIndex executes DROP INDEX. The table's change is announced.
func (c *changer) dropIndex(s *cql.DropIndex) error {
	k, err := c.existing(s.Name, s.IfExists, "Index '%s.%s' doesn't exist'", func(k *keyspace) bool {
		t, _ := k.index(s.Name.Name)
		return t != nil
	})
	if k == nil {
		return err
	}
	old, i := k.index(s.Name.Name)
	if i.vector != nil {
		old.store.detachIndex(i)
	}
	t := old.clone()
	t.indexes = slices.DeleteFunc(t.indexes, func(i *index) bool { return i.name == s.Name.Name })
	t.finish()
	c.putTable("UPDATED", k, t)
	return nil
}
