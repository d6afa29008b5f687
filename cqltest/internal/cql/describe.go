// SPDX-License-Identifier: Apache-2.0

package cql

// DESCRIBE: its tree and its rule.

// A Describe is DESCRIBE.
type Describe struct {
	bound
	// What is CLUSTER, SCHEMA, KEYSPACES, TABLES, TYPES, FUNCTIONS, AGGREGATES, KEYSPACE, TABLE, TYPE, INDEX, FUNCTION,
	// AGGREGATE, "MATERIALIZED VIEW", or "" for a name alone.
	What      string
	Name      Name // of a KEYSPACE only Keyspace, which may be ""; not given for CLUSTER, SCHEMA and the plurals
	Full      bool // FULL SCHEMA
	Only      bool // ONLY KEYSPACE
	Internals bool // WITH INTERNALS
}

// describe parses the rule describeStatement.
func (p *parser) describe() Statement {
	p.next()
	st := &Describe{What: p.peek().word}
	switch st.What {
	case "CLUSTER", "KEYSPACES", "TABLES", "TYPES", "FUNCTIONS", "AGGREGATES", "SCHEMA":
		p.next()
	case "FULL":
		p.next()
		p.expect("SCHEMA")
		st.What, st.Full = "SCHEMA", true
	case "ONLY", "KEYSPACE":
		if st.Only = p.accept("ONLY"); st.Only && !p.is("KEYSPACE") {
			p.noViable()
		}
		p.next()
		if st.What = "KEYSPACE"; isName(p.peek()) {
			st.Name.Keyspace = p.keyspaceName()
		}
	case "TABLE", "COLUMNFAMILY":
		p.next()
		st.What, st.Name = "TABLE", p.tableName()
	case "MATERIALIZED":
		p.expect("MATERIALIZED", "VIEW")
		st.What, st.Name = "MATERIALIZED VIEW", p.tableName()
	case "INDEX", "TYPE", "FUNCTION", "AGGREGATE":
		p.next()
		st.Name = p.tableName()
	default:
		st.What, st.Name = "", p.tableName()
	}
	st.Internals = p.accept("WITH", "INTERNALS")
	return st
}
