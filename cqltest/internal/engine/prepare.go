// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
	"github.com/vecql/vecql/internal/token"
)

// Preparation of statements.

// A Name is the name of a table, or of a keyspace if Table is empty.
type Name struct{ Keyspace, Table string }

// A Column describes a bind marker or a column of a result.
type Column struct {
	Keyspace, Table, Name string
	Type                  *Type
}

// of returns a column of another name and type, with the keyspace and table of c.
func (c Column) of(name string, t *Type) Column { return Column{c.Keyspace, c.Table, name, t} }

// A StatementKind is the kind of a statement.
type StatementKind uint8

// Kinds of statements.
const (
	StatementSelect StatementKind = iota + 1
	StatementInsert
	StatementUpdate
	StatementDelete
	StatementBatch
	StatementTruncate
	StatementUse
	StatementSchema // CREATE, ALTER, DROP
	StatementDescribe
	StatementListRoles
)

// OnRows reports whether s reads or writes rows of tables.
func (s *Statement) OnRows() bool { return s.Kind <= StatementTruncate }

// A Statement is a prepared statement. It is immutable and safe for concurrent use.
type Statement struct {
	Text, Keyspace string // arguments of Prepare
	Kind           StatementKind
	Bind           []Column // one per bind marker, in order
	BindTypes      []string // the types of Bind in CQL
	PKIndexes      []int    // markers of the whole partition key, in key order; nil means that some of it is not bound
	Result         []Column // columns of a SELECT, otherwise nil
	Table          Name     // table of the statement, of the first one in a batch; only the keyspace for USE and keyspaces
	Conditional    bool     // has IF
	Counter        bool     // updates counters
	ReadOne        bool     // SELECT of one partition: no scan, no IN
	ANN            bool     // SELECT of Cassandra ordered by a vector index; consistency levels above ONE become it

	tree   cql.Statement
	tables []*table // tables in the schema that it was prepared for
	read   *selectPlan
	write  *modifyPlan
	batch  *batchPlan
}

// Prepare parses and checks text. keyspace comes from the connection or the PREPARE message; "" means none. Errors
// are of type *Error.
func (e *Engine) Prepare(keyspace, text string) (*Statement, error) {
	parse := cql.ParseCassandra
	if e.options.Scylla {
		parse = cql.Parse
	}
	tree, err := parse(text)
	if err != nil {
		var known *Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, &Error{Code: CodeSyntax, Message: err.Error()}
	}
	s := &Statement{Text: text, Keyspace: keyspace, tree: tree}
	markers := len(tree.Markers())
	c := &compiler{e: e, s: e.schema.Load(), ks: keyspace, bind: make([]Column, markers), targets: make([]string, markers)}
	if err := s.prepare(c, tree); err != nil {
		return nil, asInvalid(err)
	}
	for i := range c.bind {
		if c.bind[i].Type == nil {
			return nil, invalid("Bind variables are not supported at position %d", i)
		}
	}
	s.Bind, s.BindTypes = c.bind, make([]string, len(c.bind))
	for i := range s.Bind {
		s.BindTypes[i] = s.Bind[i].Type.String()
	}
	if len(s.tables) > 0 {
		s.PKIndexes = keyMarkers(s.tables[0], c)
	}
	return s, nil
}

// prepare compiles the tree by the kind of statement and sets what a response to PREPARE contains. Schema statements
// are compiled when they are executed.
func (s *Statement) prepare(c *compiler, tree cql.Statement) error {
	var err error
	switch tree := tree.(type) {
	case *cql.Select:
		s.Kind = StatementSelect
		if s.read, err = c.selectStatement(tree); err != nil {
			return err
		}
		s.Result, s.ANN = s.read.columns, s.read.ann != nil && !c.e.options.Scylla
		s.ReadOne = s.read.where.keys && !slices.ContainsFunc(s.read.where.pk, func(r *restriction) bool {
			return r.op == cql.In
		})
	case *cql.Insert:
		s.Kind = StatementInsert
		s.write, err = c.insert(tree)
	case *cql.Update:
		s.Kind = StatementUpdate
		s.write, err = c.update(tree)
	case *cql.Delete:
		s.Kind = StatementDelete
		s.write, err = c.delete(tree)
	case *cql.Batch:
		s.Kind = StatementBatch
		if s.batch, err = c.batchStatement(tree); err != nil {
			return err
		}
		for _, p := range s.batch.plans {
			s.Conditional, s.Counter = s.Conditional || p.conditional(), s.Counter || p.t.counter
			s.tables = append(s.tables, p.t)
		}
		if len(s.tables) > 0 {
			s.Table = Name{s.tables[0].ks, s.tables[0].name}
		}
		return nil
	case *cql.Truncate:
		s.Kind = StatementTruncate
		_, err = c.writable(tree.Table)
	case *cql.Use:
		s.Kind, s.Table.Keyspace = StatementUse, tree.Keyspace
		return nil
	case *cql.Describe:
		s.Kind = StatementDescribe
		return nil
	case *cql.ListRoles:
		s.Kind = StatementListRoles
		_, err = c.e.roles()
		return err
	case *cql.Unsupported:
		return invalid("%s is not supported", tree.What)
	default:
		s.Kind = StatementSchema
		s.Table, _ = changeOf(c.ks, tree)
		return c.buildOptions(tree)
	}
	if err != nil {
		return err
	}
	if s.write != nil {
		s.Conditional, s.Counter = s.write.conditional(), s.write.t.counter
	}
	s.Table, s.tables = Name{c.t.ks, c.t.name}, []*table{c.t}
	return nil
}

// buildOptions makes the checks of the options of a table, except the check of their names.
func (c *compiler) buildOptions(tree cql.Statement) error {
	var given cql.Options
	switch s := tree.(type) {
	case *cql.CreateTable:
		given = s.Options
	case *cql.AlterTable:
		given = s.Options
	}
	given = slices.DeleteFunc(slices.Clone(given), func(o cql.Option) bool {
		_, ok := tableOptionKinds[o.Name]
		return !ok || slices.Contains(scyllaOptions, o.Name)
	})
	options := defaultOptions()
	_, err := options.build(given, c.e.options.Scylla)
	return err
}

// keyMarkers returns the markers of the whole partition key; nil means that some of it is not bound. As in Cassandra's
// VariableSpecifications, the last of several markers of a column counts, even in IN (?, ?), and markers of several
// tables yield nil.
func keyMarkers(t *table, c *compiler) []int {
	out := make([]int, len(t.pk))
	for i := range out {
		out[i] = -1
	}
	for i := range c.bind {
		if c.bind[i].Keyspace != t.ks || c.bind[i].Table != t.name {
			return nil
		}
		if col := t.byName[c.targets[i]]; col != nil && col.kind == PartitionKey {
			out[col.pos] = i
		}
	}
	if slices.Contains(out, -1) {
		return nil
	}
	return out
}

// Valid reports whether the schema that s was prepared for is unchanged. Otherwise the server drops s (UNPREPARED) or
// prepares it again.
func (e *Engine) Valid(s *Statement) bool {
	now := e.schema.Load()
	for _, t := range s.tables {
		if k := now.keyspaces[t.ks]; k == nil || k.tables.get(t.name) != t {
			return false
		}
	}
	return true
}

// Token returns the token of the partition that s touches with these values; named means that values have names. ok is
// false if s touches several partitions or the values do not fit.
func (e *Engine) Token(s *Statement, values []Value, named bool) (tok int64, ok bool) {
	var wheres []*where
	switch {
	case s.read != nil:
		wheres = []*where{s.read.where}
	case s.write != nil:
		wheres = []*where{s.write.where}
	case s.batch != nil:
		for _, p := range s.batch.plans {
			wheres = append(wheres, p.where)
		}
	}
	values, err := s.values(&Request{Values: values, Named: named})
	if err != nil {
		return 0, false
	}
	x := &env{e: e, values: values}
	for i, w := range wheres {
		if !w.keys {
			return 0, false
		}
		keys, err := w.partitions(x)
		if err != nil || len(keys) != 1 {
			return 0, false
		}
		key, err := partitionKey(keys[0])
		if err != nil {
			return 0, false
		}
		t := token.Murmur3(key)
		if w.t.isLog {
			t = token.CDC(key)
		}
		if i > 0 && t != tok {
			return 0, false
		}
		tok, ok = t, true
	}
	return tok, ok
}

func keyToken(key []byte) int64 { return token.Murmur3(key) }
