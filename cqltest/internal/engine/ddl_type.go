// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of user-defined types and indexes.

// createType executes CREATE TYPE. Fields may be of types that exist already.
func (c *changer) createType(s *cql.CreateType) error {
	k, err := c.keyspace(s.Name.Keyspace)
	if err != nil {
		return err
	}
	name := s.Name.Name
	if k.types[name] != nil {
		if s.IfNotExists {
			return nil
		}
		return invalid("A user type with name '%s' already exists", name)
	}
	t := &Type{Kind: KindUDT, Keyspace: k.name, Name: name}
	for _, f := range s.Fields {
		if slices.Contains(t.Fields, f.Name) {
			return invalid("Duplicate field name '%s' in type '%s'", f.Name, name)
		}
		if err := c.addField(t, f); err != nil {
			return err
		}
	}
	k.types[name] = t
	c.s = c.s.with(k)
	c.done("CREATED", "TYPE", k.name, name)
	return nil
}

// addField adds a field to a new or altered type. UDTs in it are frozen, and the depth of nesting is bounded.
func (c *changer) addField(t *Type, f cql.FieldDef) error {
	if f.Type.Kind == cql.UserType {
		return invalid("A user type cannot contain non-frozen UDTs")
	}
	typ, err := c.s.resolveType(t.Keyspace, f.Type, nil, 0)
	if err != nil {
		return err
	}
	if typ.Kind == KindCounter {
		return invalid("A user type cannot contain counters")
	}
	if typeDepth(typ) >= maxDepth {
		return invalid("Type is nested too deeply")
	}
	t.Fields, t.Elems = append(t.Fields, f.Name), append(t.Elems, typ)
	return nil
}

func typeDepth(t *Type) int {
	d := 0
	for _, e := range t.Elems {
		d = max(d, typeDepth(e))
	}
	return d + 1
}

// alterType executes ALTER TYPE. Types are immutable, so it replaces the type in all types and tables that contain it.
func (c *changer) alterType(s *cql.AlterType) error {
	k, err := c.existing(s.Name, s.IfExists, "Type %s.%s doesn't exist", func(k *keyspace) bool {
		return k.types[s.Name.Name] != nil
	})
	if k == nil {
		return err
	}
	old := k.types[s.Name.Name]
	t := *old
	t.Fields, t.Elems = slices.Clone(old.Fields), slices.Clone(old.Elems)
	if err := c.alterFields(&t, old, s); err != nil {
		return err
	}
	if s.IfField && slices.Equal(t.Fields, old.Fields) {
		return nil
	}
	c.installType(k, old, &t)
	return nil
}

// alterFields adds or renames the fields of t, a copy of old.
func (c *changer) alterFields(t, old *Type, s *cql.AlterType) error {
	switch s.Action {
	case cql.AlterAdd:
		for _, f := range s.Fields {
			if slices.Contains(t.Fields, f.Name) {
				if s.IfField {
					continue
				}
				return invalid("Cannot add field %s to type %s.%s: a field with name %s already exists", f.Name, t.Keyspace, t.Name,
					f.Name)
			}
			before := len(t.Elems)
			if err := c.addField(t, f); err != nil {
				return err
			}
			if mentions(t.Elems[before], old) {
				return invalid("Cannot add new field %s of type %s to user type %s.%s as it would create a circular reference",
					f.Name, t.Elems[before], t.Keyspace, t.Name)
			}
		}
	case cql.AlterRename:
		for _, r := range s.Renames {
			i := slices.Index(t.Fields, r.From)
			if i < 0 {
				if s.IfField {
					continue
				}
				return invalid("Unkown field %s in user type %s.%s", r.From, t.Keyspace, t.Name) //nolint:misspell // so does Cassandra
			}
			if slices.Contains(t.Fields, r.To) {
				return invalid("Duplicate field name %s in type %s", r.To, t.Name)
			}
			t.Fields[i] = r.To
		}
	default:
		return invalid("Altering field types is no longer supported")
	}
	return nil
}

// installType replaces the type old by t in the keyspace, and in the types and tables that contain it.
func (c *changer) installType(k *keyspace, old, t *Type) {
	k.types[t.Name] = t
	var users []string // types that contain it
	for _, name := range sortedKeys(k.types) {
		if other := k.types[name]; name != t.Name && mentions(other, old) {
			k.types[name] = replaceType(other, old, t)
			users = append(users, name)
		}
	}
	for tab := range k.tables.all() { // of the map before the changes
		if !slices.ContainsFunc(tab.all, func(col *column) bool { return mentions(col.typ, old) }) {
			continue
		}
		n := tab.clone()
		for _, col := range slices.Concat(n.pk, n.ck, n.rest) {
			col.typ = replaceType(col.typ, old, t)
		}
		n.finish()
		k.tables = k.tables.with(n)
	}
	c.s = c.s.with(k)
	c.done("UPDATED", "TYPE", k.name, t.Name)
	for _, name := range users {
		c.done("UPDATED", "TYPE", k.name, name)
	}
}

func isType(t, udt *Type) bool {
	return t.Kind == KindUDT && t.Name == udt.Name && t.Keyspace == udt.Keyspace
}

// mentions reports whether t is udt or contains it.
func mentions(t, udt *Type) bool {
	return isType(t, udt) || slices.ContainsFunc(t.Elems, func(e *Type) bool { return mentions(e, udt) })
}

// replaceType returns t with old replaced by changed.
func replaceType(t, old, changed *Type) *Type {
	if isType(t, old) {
		if t.Frozen {
			return freeze(changed)
		}
		return changed
	}
	if !mentions(t, old) {
		return t
	}
	n := *t
	n.Elems = make([]*Type, len(t.Elems))
	for i, e := range t.Elems {
		n.Elems[i] = replaceType(e, old, changed)
	}
	return &n
}

// dropType executes DROP TYPE. A type that a type or table uses cannot be dropped.
func (c *changer) dropType(s *cql.DropType) error {
	k, err := c.existing(s.Name, s.IfExists, "Type '%s.%s' doesn't exist", func(k *keyspace) bool {
		return k.types[s.Name.Name] != nil
	})
	if k == nil {
		return err
	}
	t := k.types[s.Name.Name]
	var users []string
	for _, name := range sortedKeys(k.types) {
		if name != t.Name && mentions(k.types[name], t) {
			users = append(users, name)
		}
	}
	if len(users) > 0 {
		return invalid("Cannot drop user type '%s.%s' as it is still used by user types %s", k.name, t.Name,
			strings.Join(users, ", "))
	}
	for _, tab := range k.tables.sorted() {
		if slices.ContainsFunc(tab.all, func(col *column) bool { return mentions(col.typ, t) }) {
			users = append(users, tab.name)
		}
	}
	if len(users) > 0 {
		return invalid("Cannot drop user type '%s.%s' as it is still used by tables %s", k.name, t.Name,
			strings.Join(users, ", "))
	}
	delete(k.types, t.Name)
	c.s = c.s.with(k)
	c.done("DROPPED", "TYPE", k.name, t.Name)
	return nil
}

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
	if len(s.Targets) == 0 {
		return invalid("Only CUSTOM indexes can be created without specifying a target column")
	}
	if len(s.Targets) > 1 {
		return invalid("Only CUSTOM indexes support multiple columns")
	}
	target := s.Targets[0]
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
	if err := i.class(s, c.e.options.Scylla); err != nil {
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
	t := old.clone()
	t.indexes = append(t.indexes, i)
	slices.SortFunc(t.indexes, func(a, b *index) int { return strings.Compare(a.name, b.name) })
	t.finish()
	c.putTable("UPDATED", k, t)
	return nil
}

// same reports whether two indexes differ at most in their names and the spelling of their class.
func (i *index) same(o *index) bool {
	given := func(options map[string]string) map[string]string {
		options = maps.Clone(options)
		delete(options, "class_name")
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
	if err := added.checkOptions(typ); err != nil {
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

// class applies USING and OPTIONS.
func (i *index) class(s *cql.CreateIndex, scylla bool) error {
	using, given := s.Using, map[string]string{}
	for _, name := range []string{"OPTIONS", "options"} {
		if opt, ok := s.Options.Get(name); ok {
			maps.Copy(given, opt.Map)
		}
	}
	switch short := using[strings.LastIndexByte(using, '.')+1:]; {
	case (using == "" || strings.EqualFold(using, "legacy_local_table")) && len(given) > 0:
		return invalid("Cannot specify options for a non-CUSTOM index")
	case using == "" || strings.EqualFold(using, "legacy_local_table"):
		return nil
	case strings.EqualFold(short, "sai") || short == "StorageAttachedIndex":
		i.sai = true
	case scylla && short == "vector_index":
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
	if f, ok := i.options["similarity_function"]; ok {
		i.options["similarity_function"] = strings.ToLower(f)
	}
	return nil
}

// checkOptions checks the options of a storage-attached index on a column of type t.
func (i *index) checkOptions(t *Type) error {
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
		v, ok := i.options[name]
		upper := strings.ToUpper(v)
		switch {
		case !ok:
		case t.Kind != KindVector:
			return invalid("CQL type %s cannot have vector options", t)
		case name == "similarity_function" && similarities[v] == nil:
			return invalid("Similarity function %s was not recognized for index null. Valid values are: EUCLIDEAN, "+
				"DOT_PRODUCT, COSINE", upper)
		case name == "maximum_node_connections":
			return invalid("Maximum node connections cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS")
		case name == "construction_beam_width":
			return invalid("Construction beam width cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS")
		case name == "optimize_for" && upper != "LATENCY" && upper != "RECALL":
			return invalid("optimize_for '%s' was not recognized for index null. Valid values are: LATENCY, RECALL", upper)
		}
	}
	similarity := i.options["similarity_function"]
	switch {
	case t.Kind != KindVector:
	case t.Elems[0].Kind != KindFloat:
		return invalid("SAI ANN indexes are only allowed on vector columns with float elements")
	case t.Dim == 1 && (similarity == "" || similarity == "cosine"):
		return invalid("Cosine similarity is not supported for single-dimension vectors")
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
	old, _ := k.index(s.Name.Name)
	t := old.clone()
	t.indexes = slices.DeleteFunc(t.indexes, func(i *index) bool { return i.name == s.Name.Name })
	t.finish()
	c.putTable("UPDATED", k, t)
	return nil
}
