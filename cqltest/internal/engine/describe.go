// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// DESCRIBE: the elements that it selects and their pages; describe_create.go has their CREATE statements.

// schemaElement is a row of DESCRIBE: an element of the schema. create returns its CREATE statement.
type schemaElement struct {
	keyspace, kind, name string
	create               func() string
}

// describer selects the elements of one DESCRIBE.
type describer struct {
	s         *schema
	ks        string // keyspace of the connection
	internals bool
	scylla    bool
	tablets   bool // the cluster has them
	out       []schemaElement
}

// describe executes DESCRIBE.
func (e *Engine) describe(s *Statement, r *Request) (*Result, error) {
	tree := s.tree.(*cql.Describe)
	d := &describer{
		s: e.schema.Load(), ks: s.Keyspace, internals: tree.Internals, scylla: e.options.Scylla, tablets: e.options.Tablets,
	}
	var err error
	switch tree.What {
	case "CLUSTER":
		return e.describeCluster(), nil
	case "KEYSPACES":
		for _, k := range d.keyspaces() {
			d.add(k.name, "keyspace", k.name, nil)
		}
	case "TABLES", "TYPES", "FUNCTIONS", "AGGREGATES":
		d.list(tree.What)
	case "SCHEMA":
		for _, k := range d.keyspaces() {
			if tree.Full || !systemKeyspaces[k.name] {
				d.keyspace(k, false)
			}
		}
	case "KEYSPACE":
		err = d.oneKeyspace(tree)
	case "":
		err = d.anything(tree)
	default:
		err = d.one(tree)
	}
	if err != nil {
		return nil, err
	}
	return d.page(r, strings.HasSuffix(tree.What, "S"))
}

// describeColumns returns the columns of the given names, which have type text.
func describeColumns(names ...string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		out[i] = Column{"system", "describe", name, Native("text")}
	}
	return out
}

// describeCluster executes DESCRIBE CLUSTER, without the replicas that Cassandra adds for the keyspace in use.
func (e *Engine) describeCluster() *Result {
	row := [][]byte{[]byte(e.options.Cluster), []byte("Murmur3Partitioner"), []byte("DynamicEndpointSnitch")}
	return &Result{
		Kind: ResultRows, Columns: describeColumns("cluster", "partitioner", "snitch"), Rows: [][][]byte{row},
	}
}

// page returns the page of the elements that the request selects. The paging state is the version of the schema and the
// number of elements in earlier pages. plain means names without CREATE statements.
func (d *describer) page(r *Request, plain bool) (*Result, error) {
	res := &Result{Kind: ResultRows, Columns: describeColumns("keyspace_name", "type", "name")}
	if !plain {
		res.Columns = append(res.Columns, describeColumns("create_statement")...)
	}
	rows := d.out
	from := 0
	if r.PagingState != nil {
		if len(r.PagingState) != 20 {
			return nil, &Error{Code: CodeProtocol, Message: "Invalid value for the paging state"}
		}
		if !bytes.Equal(r.PagingState[:16], d.s.version[:]) {
			return nil, invalid("The schema has changed since the previous page of the DESCRIBE statement result. " +
				"Please retry the DESCRIBE statement.")
		}
		from = min(int(binary.BigEndian.Uint32(r.PagingState[16:])), len(rows))
	}
	rows = rows[from:]
	if r.PageSize > 0 && len(rows) >= r.PageSize {
		rows = rows[:r.PageSize]
		res.PagingState = binary.BigEndian.AppendUint32(bytes.Clone(d.s.version[:]), uint32(from+r.PageSize))
	}
	for _, el := range rows {
		row := [][]byte{[]byte(quoteName(el.keyspace)), []byte(el.kind), []byte(quoteName(el.name))}
		if !plain {
			row = append(row, []byte(el.create()))
		}
		res.Rows = append(res.Rows, row)
	}
	return res, nil
}

func (d *describer) add(ks, kind, name string, create func() string) {
	d.out = append(d.out, schemaElement{ks, kind, name, create})
}

// byName returns values sorted by name, without regard to case.
func byName[V any](values iter.Seq[V], name func(V) string) []V {
	return slices.SortedFunc(values, func(a, b V) int {
		return cmp.Or(cmp.Compare(strings.ToLower(name(a)), strings.ToLower(name(b))), cmp.Compare(name(a), name(b)))
	})
}

func tablesByName(k *keyspace) []*table {
	return byName(k.tables.all(), func(t *table) string { return t.name })
}

func (d *describer) keyspaces() []*keyspace {
	return byName(maps.Values(d.s.keyspaces), func(k *keyspace) string { return k.name })
}

// list adds the names of all tables or types: the objects of the connection's keyspace, if it has one.
func (d *describer) list(what string) {
	for _, k := range d.keyspaces() {
		if d.ks != "" && k.name != d.ks {
			continue
		}
		switch what {
		case "TABLES":
			for _, t := range tablesByName(k) {
				d.add(k.name, "table", t.name, nil)
			}
		case "TYPES":
			for _, t := range byName(maps.Values(k.types), func(t *Type) string { return t.Name }) {
				d.add(k.name, "type", t.Name, nil)
			}
		}
	}
}

// keyspace adds a keyspace, unless only is set with its types, tables and indexes.
func (d *describer) keyspace(k *keyspace, only bool) {
	d.add(k.name, "keyspace", k.name, func() string {
		if d.scylla {
			return createScyllaKeyspaceText(k, d.tablets)
		}
		return createKeyspaceText(k)
	})
	if only {
		return
	}
	for _, t := range k.typesByDependency() {
		d.userType(t)
	}
	for _, t := range tablesByName(k) {
		if !t.isLog {
			d.table(t)
		}
	}
}

func (d *describer) userType(t *Type) {
	d.add(t.Keyspace, "type", t.Name, func() string { return createTypeText(t) })
}

// table adds a table with its indexes and its log of changes. The log is created with its table, so that a statement
// sets its options, and the CREATE TABLE of a log is a comment (ScyllaDB's docs/dev/describe_schema.md).
func (d *describer) table(t *table) {
	d.add(t.ks, "table", t.name, func() string {
		text := t.createText(d.internals, d.scylla)
		if t.isLog {
			text = "/* Do NOT execute this statement! It's only for informational purposes.\n" +
				"   A CDC log table is created automatically when the base is created.\n\n" + text + "\n*/"
		}
		return text
	})
	for _, i := range byName(slices.Values(t.indexes), func(i *index) string { return i.name }) {
		d.index(t, i)
	}
	if t.capture == nil {
		return
	}
	if log := d.s.keyspaces[t.ks].tables.get(t.name + logSuffix); log != nil {
		d.add(log.ks, "table", log.name, func() string {
			return "ALTER TABLE " + log.fullName() + " WITH " + strings.Join(log.options.scyllaTexts(), "\n    AND ") + ";"
		})
	}
}

func (d *describer) index(t *table, i *index) {
	d.add(t.ks, "index", i.name, func() string { return i.createText(t) })
}

// typesByDependency returns the types sorted by name, each after those that it contains.
func (k *keyspace) typesByDependency() []*Type {
	var out []*Type
	var add func(t *Type)
	add = func(t *Type) {
		for _, e := range t.Elems {
			add(e)
		}
		if own := k.types[t.Name]; t.Kind == KindUDT && own != nil && !slices.Contains(out, own) {
			out = append(out, own)
		}
	}
	for _, name := range sortedKeys(k.types) {
		add(k.types[name])
	}
	return out
}

// qualifier returns the keyspace of a statement that names one or relies on the connection's.
func (d *describer) qualifier(name string) (*keyspace, error) {
	if name = cmp.Or(name, d.ks); name == "" {
		return nil, invalid("No keyspace specified and no current keyspace")
	}
	if k := d.s.keyspaces[name]; k != nil {
		return k, nil
	}
	return nil, invalid("'%s' not found in keyspaces", name)
}

// oneKeyspace adds the elements of DESCRIBE KEYSPACE.
func (d *describer) oneKeyspace(tree *cql.Describe) error {
	k, err := d.qualifier(tree.Name.Keyspace)
	if err != nil {
		return err
	}
	d.keyspace(k, tree.Only)
	return nil
}

// one adds the element of a kind and name.
func (d *describer) one(tree *cql.Describe) error {
	k, err := d.qualifier(tree.Name.Keyspace)
	if err != nil {
		return err
	}
	name, what := tree.Name.Name, strings.ToLower(tree.What)
	if d.found(k, what, name) {
		return nil
	}
	return invalid(map[string]string{
		"table": "Table '%s' not found in keyspace '%s'", "type": "User defined type '%s' not found in '%s'",
		"index": "Table for existing index '%s' not found in '%s'", "materialized view": "Materialized view '%s' not found in '%s'",
		"function": "User defined function '%s' not found in '%s'", "aggregate": "User defined aggregate '%s' not found in '%s'",
	}[what], name, k.name)
}

// found adds the element of a kind and name, and reports whether there is one.
func (d *describer) found(k *keyspace, kind, name string) bool {
	switch kind {
	case "table":
		if t := k.tables.get(name); t != nil {
			d.table(t)
			return true
		}
	case "type":
		if t := k.types[name]; t != nil {
			d.userType(t)
			return true
		}
	case "index":
		if t, i := k.index(name); i != nil {
			d.index(t, i)
			return true
		}
	}
	return false
}

// anything adds the keyspace, table or index of a name, in this order.
func (d *describer) anything(tree *cql.Describe) error {
	name := tree.Name.Name
	if k := d.s.keyspaces[name]; k != nil && tree.Name.Keyspace == "" {
		d.keyspace(k, false)
		return nil
	}
	if tree.Name.Keyspace == "" && d.ks == "" {
		return invalid("'%s' not found in keyspaces", name)
	}
	k, err := d.qualifier(tree.Name.Keyspace)
	if err != nil {
		return err
	}
	if d.found(k, "table", name) || d.found(k, "index", name) {
		return nil
	}
	return invalid("'%s' not found in keyspace '%s'", name, k.name)
}
