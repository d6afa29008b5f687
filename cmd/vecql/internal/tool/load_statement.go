// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cmd/vecql/internal/tablecopy"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
)

// The statement of a load: the user's, or one made from the table and --map.

// oneStatement returns the statement of --statement without its ";" and without comments around it: servers refuse a
// comment of -- at the end of a statement.
func oneStatement(text string) (string, error) {
	statements := cqltext.Statements(text)
	if len(statements) != 1 {
		return "", usagef("--statement has %s, want one", counted(len(statements), "statement"))
	}
	return statements[0], nil
}

// qualified returns the name of a table in CQL, with its keyspace.
func qualified(t *cql.TableMetadata) string {
	return cqltext.QualifiedName(t.Keyspace, t.Name)
}

// marker returns the bind marker of a field.
func marker(field string) string { return ":" + cqltext.QuoteIdentifier(field) }

// A mapping is the value of each column of a table in CQL: a bind marker of a field, a literal, a call.
type mapping map[string]string

// newMapping returns the values of the columns of a table by --map. A column that is not named there has the value of
// the field of its name, one with an empty value has none.
func newMapping(t *cql.TableMetadata, flags []string) (mapping, error) {
	m := mapping{}
	for _, name := range t.OrderedColumns {
		m[name] = marker(name)
	}
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, "=")
		name, value = cqltext.UnquoteIdentifier(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, usagef("--map is %q, want COLUMN=VALUE", flag)
		case t.Columns[name] == nil:
			return nil, fmt.Errorf("--map: table %s has no column %q", t.Name, name)
		case value == "" && isKey(t, name):
			return nil, fmt.Errorf("--map: column %q is part of the key and needs a value", name)
		case value == "":
			delete(m, name)
		default:
			m[name] = mappedValue(value)
		}
	}
	return m, nil
}

// copyOrder returns the columns of a table in the order of COPY of cqlsh: the primary key, then the others by name,
// with static columns among them.
func copyOrder(t *cql.TableMetadata) []string {
	names := slices.Clone(t.OrderedColumns)
	rest := slices.IndexFunc(names, func(name string) bool { return !isKey(t, name) })
	if rest >= 0 {
		slices.Sort(names[rest:])
	}
	return names
}

func isKey(t *cql.TableMetadata, column string) bool {
	kind := t.Columns[column].Kind
	return kind == cql.ColumnPartitionKey || kind == cql.ColumnClusteringKey
}

// isCall finds calls of functions. Price (net) is the name of a field.
var isCall = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*\(.*\)$`)

// mappedValue returns the CQL of a value of --map: literals and calls as they are, all else as the name of a field.
func mappedValue(value string) string {
	isNumber := value[0] >= '0' && value[0] <= '9' || value[0] == '-' || value[0] == '+'
	switch {
	case value[0] == '"':
		return marker(cqltext.UnquoteIdentifier(value))
	case isNumber, strings.ContainsAny(value[:1], "'[{(:"), isCall.MatchString(value),
		strings.EqualFold(value, "true"), strings.EqualFold(value, "false"):
		return value
	}
	return marker(value)
}

// columns returns the column for each field, nil if a value is not a field or one field has two columns.
func (m mapping) columns() map[string]string {
	fields := map[string]string{}
	for name, value := range m {
		field := cqltext.UnquoteIdentifier(strings.TrimPrefix(value, ":"))
		if value != marker(field) || fields[field] != "" {
			return nil
		}
		fields[field] = name
	}
	return fields
}

// insert returns the INSERT for the rows of a load.
func (l *load) insert(t *cql.TableMetadata, m mapping) string {
	var names, values []string
	for _, name := range t.OrderedColumns {
		if value, ok := m[name]; ok {
			names, values = append(names, cqltext.QuoteIdentifier(name)), append(values, value)
		}
	}
	insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", qualified(t), strings.Join(names, ", "), strings.Join(values, ", "))
	return insert + l.using()
}

// using returns the clause of TTL and timestamp.
func (l *load) using() string {
	var using []string
	switch {
	case l.ttlField != "":
		using = append(using, "TTL "+marker(l.ttlField))
	case l.ttl > 0:
		using = append(using, fmt.Sprintf("TTL %d", int64(l.ttl.Seconds())))
	}
	switch {
	case l.timestampField != "":
		using = append(using, "TIMESTAMP "+marker(l.timestampField))
	case l.timestamp != 0:
		using = append(using, fmt.Sprintf("TIMESTAMP %d", l.timestamp))
	}
	if len(using) == 0 {
		return ""
	}
	return " USING " + strings.Join(using, " AND ")
}

// count returns the UPDATE that adds rows to a table of counters.
func (l *load) count(t *cql.TableMetadata, m mapping) string {
	var sets, where []string
	for _, name := range t.OrderedColumns {
		value, ok := m[name]
		quoted := cqltext.QuoteIdentifier(name)
		switch {
		case isKey(t, name):
			where = append(where, quoted+" = "+value)
		case ok:
			sets = append(sets, quoted+" = "+quoted+" + "+value)
		}
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s", qualified(t), strings.Join(sets, ", "), strings.Join(where, " AND "))
}

// A loadStatement is a statement of a load.
type loadStatement struct {
	text string
	// table and columns are set for an INSERT whose values are fields: the column for each field.
	table   string
	columns map[string]string
}

// setStatements sets the statements, and the fields of the rows with the types of their bind markers.
func (l *load) setStatements(ctx context.Context, session *vecql.Session) error {
	l.statements = []loadStatement{{text: l.statement}}
	if l.statement == "" {
		t, err := findTable(ctx, session, l.table)
		if err != nil {
			return err
		}
		if l.statements, err = l.statementsOf(t); err != nil {
			return err
		}
		l.copied = copyOrder(t.Metadata)
	}
	if l.plan != nil {
		l.fields, l.keys = l.plan.Fields(), l.plan.PartitionKey()
		return nil
	}
	for _, s := range l.statements {
		metadata, err := session.StatementMetadata(ctx, s.text, "")
		if err != nil {
			return err
		}
		for _, c := range metadata.BindMarkers {
			if l.fields.Index(c.Name) < 0 {
				l.fields = append(l.fields, codec.ColumnField(c.Name, c.TypeInfo))
			}
		}
		if l.keys == nil {
			for _, i := range metadata.PartitionKey {
				l.keys = append(l.keys, metadata.BindMarkers[i].Name)
			}
		}
	}
	if len(l.fields) == 0 {
		return errors.New("the statement has no bind marker, such as :id for the field id")
	}
	return nil
}

// statementsOf returns the statements for a table.
func (l *load) statementsOf(table clustertable.Table) ([]loadStatement, error) {
	t := table.Metadata
	m, err := newMapping(t, l.mapped)
	isCounter := slices.Contains(t.Flags, "counter")
	switch {
	case err != nil:
		return nil, err
	case isCounter && l.times:
		return nil, errors.New("--times: counters have no times")
	case l.times:
		l.target = table
		return l.timedStatements()
	case isCounter && !l.counters:
		return nil, advise(fmt.Errorf("%s is a table of counters, and rows that are written twice count twice", l.table),
			"--counters allows it")
	case isCounter && l.using() != "":
		return nil, errors.New("counters have no TTL and no timestamp")
	case isCounter:
		return []loadStatement{{text: l.count(t, m)}}, nil
	}
	s := loadStatement{text: l.insert(t, m), table: qualified(t), columns: m.columns()}
	isList := func(name string) bool { return t.Columns[name].Type.Type() == cql.TypeList }
	if l.timestamp != 0 && slices.ContainsFunc(t.OrderedColumns, isList) {
		s.columns = nil // package bulk reads from the text that a second write repeats the elements of lists
	}
	return []loadStatement{s}, nil
}

// timedStatements sets the plan of a load that keeps write times and times to live, and returns its statements.
func (l *load) timedStatements() (statements []loadStatement, err error) {
	if l.plan, err = tablecopy.NewPlan(l.target); err != nil {
		return nil, err
	}
	for _, text := range l.plan.Statements() {
		statements = append(statements, loadStatement{text: text})
	}
	return statements, nil
}
