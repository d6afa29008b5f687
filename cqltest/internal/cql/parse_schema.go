// SPDX-License-Identifier: Apache-2.0

package cql

import "strconv"

// Parsing of schema statements.

// schemaStatement parses CREATE, ALTER and DROP.
func (p *parser) schemaStatement() Statement {
	verb, what := p.peek(), p.peekAt(1)
	n := 1 // tokens before the object's kind
	if verb.word == "CREATE" && p.isAt(1, "OR") && p.isAt(2, "REPLACE") {
		n, what = 3, p.peekAt(3)
		if what.word != "FUNCTION" && what.word != "AGGREGATE" {
			p.noViableAt(verb, what)
			return nil
		}
	}
	switch what.word {
	case "KEYSPACE", "SCHEMA", "TABLE", "COLUMNFAMILY", "TYPE", "INDEX", "CUSTOM":
		return p.supported(verb.word)
	case "FUNCTION", "AGGREGATE", "TRIGGER":
		if verb.word != "ALTER" {
			return p.unsupported(verb.word+" "+what.word, n+1)
		}
	case "ROLE", "USER":
		return p.unsupported(verb.word+" "+what.word, n+1)
	case "IDENTITY":
		if verb.word == "DROP" {
			return p.unsupported("DROP IDENTITY", n+1)
		}
	case "MATERIALIZED":
		if p.isAt(2, "VIEW") {
			return p.unsupported(verb.word+" MATERIALIZED VIEW", n+2)
		}
		what = p.peekAt(2)
	}
	if p.isPlain(1, "SERVICE") || p.isPlain(1, "SERVICE_LEVEL") {
		return p.unsupported(verb.word+" SERVICE LEVEL", n+1)
	}
	p.noViableAt(verb, what)
	return nil
}

// supported parses a statement whose verb and object the caller has recognized.
func (p *parser) supported(verb string) Statement {
	p.next()
	what := p.next()
	switch verb + " " + what.word {
	case "CREATE KEYSPACE", "CREATE SCHEMA":
		st := &CreateKeyspace{IfNotExists: p.ifNotExists(), Name: p.keyspaceName()}
		p.expect("WITH")
		st.Options = p.options()
		return st
	case "ALTER KEYSPACE", "ALTER SCHEMA":
		st := &AlterKeyspace{IfExists: p.ifExists(), Name: p.keyspaceName()}
		p.expect("WITH")
		st.Options = p.options()
		return st
	case "DROP KEYSPACE", "DROP SCHEMA":
		return &DropKeyspace{IfExists: p.ifExists(), Name: p.keyspaceName()}
	case "CREATE TABLE", "CREATE COLUMNFAMILY":
		return p.createTable()
	case "ALTER TABLE", "ALTER COLUMNFAMILY":
		return p.alterTable()
	case "DROP TABLE", "DROP COLUMNFAMILY":
		return &DropTable{IfExists: p.ifExists(), Name: p.tableName()}
	case "CREATE TYPE":
		return p.createType()
	case "ALTER TYPE":
		return p.alterType()
	case "DROP TYPE":
		return &DropType{IfExists: p.ifExists(), Name: p.userTypeName()}
	case "CREATE CUSTOM":
		p.expect("INDEX")
		return p.createIndex(true)
	case "CREATE INDEX":
		return p.createIndex(false)
	case "DROP INDEX":
		return &DropIndex{IfExists: p.ifExists(), Name: p.qualified("index")}
	}
	p.noViableAt(p.tokens[p.at-2], what)
	return nil
}

// ifNotExists accepts IF NOT EXISTS.
func (p *parser) ifNotExists() bool {
	if !p.accept("IF") {
		return false
	}
	p.expect("NOT", "EXISTS")
	return true
}

// ifExists accepts IF EXISTS.
func (p *parser) ifExists() bool {
	if !p.accept("IF") {
		return false
	}
	p.expect("EXISTS")
	return true
}

// options parses the rule properties.
func (p *parser) options() Options {
	options := Options(joined(p, "AND", p.option))
	p.refuseRepeated(options)
	return options
}

// refuseRepeated fails if two options have one name.
func (p *parser) refuseRepeated(options Options) {
	seen := map[string]bool{}
	for _, o := range options {
		if seen[o.Name] {
			p.failf("Multiple definitions for property '%s'", o.Name)
		}
		seen[o.Name] = true
	}
}

// option parses the rule property.
func (p *parser) option() Option {
	o := Option{Name: p.name()}
	p.expect("=")
	switch t := p.peek(); {
	case t.word == "{":
		o.Map = p.optionMap()
	case t.kind == tokenKeyword && isName(t):
		o.Value = p.source(p.next())
	default:
		if lit := p.constant(); lit != nil {
			o.Value = lit.Text
		} else {
			p.noViable()
		}
	}
	return o
}

// optionMap parses a map of literals.
func (p *parser) optionMap() map[string]string {
	p.expect("{")
	m := map[string]string{}
	if p.accept("}") {
		return m
	}
	for more := true; more; more = p.accept(",") {
		if p.optionEntry(m); p.failed {
			return nil
		}
	}
	p.expect("}")
	return m
}

// optionEntry parses an entry of a map of literals.
func (p *parser) optionEntry(m map[string]string) {
	key := p.term()
	p.expect(":")
	value := p.term()
	if p.failed {
		return
	}
	k, ok := key.(*Literal)
	if !ok || k.Kind == NullLiteral {
		p.failf("Invalid property name: %s%s", key, noMarkers(key))
		return
	}
	if l, ok := value.(*ListLiteral); ok && p.scylla && addList(m, k.Text, l) {
		return
	}
	v, ok := value.(*Literal)
	if !ok || v.Kind == NullLiteral {
		p.failf("Invalid property value: %s for property: %s%s", value, key, noMarkers(value))
		return
	}
	if _, ok := m[k.Text]; ok {
		p.failf("Multiple definition for property %s", k.Text)
		return
	}
	m[k.Text] = v.Text
}

// addList adds a list of texts to an option of ScyllaDB as the server stores it (docs/dev/system_schema_keyspace.md):
// an entry for each element, with a colon and its number after the key; -1 stands for the empty list.
func addList(m map[string]string, key string, l *ListLiteral) bool {
	if len(l.Elems) == 0 {
		m[key+":-1"] = ""
	}
	for i, e := range l.Elems {
		v, ok := e.(*Literal)
		if !ok || v.Kind == NullLiteral {
			return false
		}
		m[key+":"+strconv.Itoa(i)] = v.Text
	}
	return true
}

// noMarkers returns the addition to an error about a marker.
func noMarkers(e Expr) string {
	if _, ok := e.(*Marker); ok {
		return " (bind variables are not supported in DDL queries)"
	}
	return ""
}

// createTable parses the rule createTableStatement.
func (p *parser) createTable() Statement {
	st := &CreateTable{IfNotExists: p.ifNotExists(), Name: p.tableName()}
	p.expect("(")
	p.tableItem(st)
	for p.accept(",") {
		if !p.is(",") && !p.is(")") {
			p.tableItem(st)
		}
	}
	p.expect(")")
	for more := p.accept("WITH"); more; more = p.accept("AND") {
		p.tableProperty(st)
	}
	p.refuseRepeated(st.Options)
	st.bound = p.since(0)
	return st
}

// tableItem parses the rule tableColumns: a column, which may be marked TTL in ScyllaDB, or PRIMARY KEY.
func (p *parser) tableItem(st *CreateTable) {
	if p.accept("PRIMARY") {
		p.expect("KEY", "(")
		var key PrimaryKey
		if p.accept("(") {
			key.Partition = list(p, p.name)
			p.expect(")")
		} else {
			key.Partition = []string{p.name()}
		}
		if p.accept(",") {
			key.Clustering = list(p, p.name)
		}
		p.expect(")")
		st.PrimaryKeys = append(st.PrimaryKeys, key)
		return
	}
	c := p.columnDef()
	if c.TTL = p.scylla && p.accept("TTL"); c.TTL {
		c.Static = c.Static || p.accept("STATIC")
	}
	st.Columns = append(st.Columns, c)
	if p.accept("PRIMARY") {
		p.expect("KEY")
		st.PrimaryKeys = append(st.PrimaryKeys, PrimaryKey{Partition: []string{c.Name}})
	}
}

// columnDef parses "name type [STATIC]".
func (p *parser) columnDef() ColumnDef {
	return ColumnDef{Name: p.name(), Type: p.typeName(), Static: p.accept("STATIC")}
}

// tableProperty parses the rule tableProperty.
func (p *parser) tableProperty(st *CreateTable) {
	switch {
	case p.accept("COMPACT", "STORAGE"):
		st.CompactStorage = true
	case p.accept("CLUSTERING", "ORDER"):
		p.expect("BY", "(")
		st.ClusteringOrder = append(st.ClusteringOrder, list(p, p.clusteringOrder)...)
		p.expect(")")
	default:
		st.Options = append(st.Options, p.option())
	}
}

// clusteringOrder parses the rule cfamOrdering.
func (p *parser) clusteringOrder() Ordering {
	o := Ordering{Column: p.name()}
	if !p.is("ASC") && !p.is("DESC") {
		p.noViable()
	}
	o.Desc = p.direction()
	return o
}

// alterTable parses the rule alterTableStatement.
func (p *parser) alterTable() Statement {
	st := &AlterTable{IfExists: p.ifExists(), Name: p.tableName()}
	switch {
	case p.accept("ALTER"):
		st.Action, st.Column = AlterColumnType, p.column()
		p.expect("TYPE")
		st.Type = p.typeName()
	case p.accept("ADD"):
		st.Action = AlterAdd
		st.IfColumn = p.ifNotExists()
		if !p.accept("(") {
			st.Columns = []ColumnDef{p.columnDef()}
			break
		}
		st.Columns = list(p, p.columnDef)
		p.expect(")")
	case p.accept("DROP"):
		p.dropColumns(st)
	case p.accept("RENAME"):
		st.Action = AlterRename
		st.IfColumn = p.ifExists()
		st.Renames = joined(p, "AND", p.rename)
	case p.accept("WITH"):
		st.Action = AlterOptions
		st.Options = p.options()
	case p.scylla && p.accept("TTL"):
		st.Action = AlterTTL
		if !p.accept("NULL") {
			st.Column = p.name()
		}
	default:
		p.noViable()
	}
	st.bound = p.since(0)
	return st
}

// dropColumns parses the part after ALTER TABLE t DROP.
func (p *parser) dropColumns(st *AlterTable) {
	st.Action = AlterDrop
	st.IfColumn = p.ifExists()
	if p.accept("(") {
		st.Drop = list(p, p.name)
		p.expect(")")
	} else {
		st.Drop = []string{p.name()}
	}
	if !p.accept("USING") {
		return
	}
	p.expect("TIMESTAMP")
	if p.peek().kind != tokenInteger {
		p.mismatched("INTEGER")
		return
	}
	st.Timestamp = p.constant()
}

// rename parses "a TO b".
func (p *parser) rename() Rename {
	r := Rename{From: p.name()}
	p.expect("TO")
	r.To = p.name()
	return r
}

// createType parses the rule createTypeStatement.
func (p *parser) createType() Statement {
	st := &CreateType{IfNotExists: p.ifNotExists(), Name: p.userTypeName()}
	p.expect("(")
	st.Fields = append(st.Fields, p.fieldDef())
	for p.accept(",") {
		if !p.is(",") && !p.is(")") {
			st.Fields = append(st.Fields, p.fieldDef())
		}
	}
	p.expect(")")
	return st
}

func (p *parser) fieldDef() FieldDef { return FieldDef{Name: p.name(), Type: p.typeName()} }

// alterType parses the rule alterTypeStatement.
func (p *parser) alterType() Statement {
	st := &AlterType{IfExists: p.ifExists(), Name: p.userTypeName()}
	switch {
	case p.accept("ALTER"):
		st.Action = AlterColumnType
		st.Field = p.name()
		p.expect("TYPE")
		st.Type = p.typeName()
	case p.accept("ADD"):
		st.Action = AlterAdd
		st.IfField = p.ifNotExists()
		st.Fields = []FieldDef{p.fieldDef()}
	case p.accept("RENAME"):
		st.Action = AlterRename
		st.IfField = p.ifExists()
		st.Renames = joined(p, "AND", p.rename)
	default:
		p.noViable()
	}
	return st
}

// createIndex parses the part of the rule createIndexStatement after INDEX.
func (p *parser) createIndex(custom bool) Statement {
	st := &CreateIndex{Custom: custom, IfNotExists: p.ifNotExists()}
	if !p.is("ON") {
		st.Name = p.schemaName("index")
	}
	p.expect("ON")
	st.Table = p.tableName()
	p.expect("(")
	if !p.is(")") {
		st.Targets = list(p, p.indexTarget)
	}
	p.expect(")")
	if p.accept("USING") {
		t := p.peek()
		if t.kind != tokenString {
			p.mismatched("STRING_LITERAL")
			return nil
		}
		p.next()
		st.Using = p.value(t)
	}
	if p.accept("WITH") {
		st.Options = p.options()
	}
	return st
}

// indexTarget parses the rule indexIdent.
func (p *parser) indexTarget() IndexTarget {
	if p.scylla && p.accept("(") {
		t := IndexTarget{Columns: list(p, p.column)}
		p.expect(")")
		return t
	}
	for kind, word := range indexKinds {
		if word != "" && p.accept(word, "(") {
			t := IndexTarget{Kind: IndexKind(kind), Column: p.column()}
			p.expect(")")
			return t
		}
	}
	return IndexTarget{Column: p.column()}
}

// indexKinds are the words before a target by its kind.
var indexKinds = [...]string{
	IndexColumn: "", IndexValues: "VALUES", IndexKeys: "KEYS", IndexEntries: "ENTRIES",
	IndexFull: "FULL",
}
