// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"context"
	"fmt"
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/schema"
	"github.com/vecql/vecql/stats"
)

// The columns of rows with times, and the statements that read and write them.

// A Plan is the columns of rows with times: the primary key, other columns, and then for each timed column its write
// time and its time to live. Batches have these columns in this order, and may have further ones.
type Plan struct {
	columns   []*cql.ColumnMetadata
	keys      int      // columns of the primary key, which come first
	partition int      // columns of the partition key
	statics   bool     // rows without clustering columns are partitions with static values only
	timed     []int    // positions in columns
	untimed   []string // names of columns whose write times are not reported
	lists     []string // names of timed columns whose elements cannot be written with times of their own
	noTimes   bool

	ttl, writeTime string            // names of the columns that Split adds
	timeNames      map[int][2]string // of the write time and the time to live of a timed column
	names          map[string]bool   // of all columns of source and target
	statements     []statement
}

// NewPlan returns the plan for all columns of a table, with the times of each column.
func NewPlan(t clustertable.Table) (*Plan, error) {
	p, err := newPlan(t.Metadata, t.Metadata, Config{})
	if err == nil {
		p.setStatements(t)
	}
	return p, err
}

// newPlan returns the plan for the columns of the source, which the target must have, too.
func newPlan(source, target *cql.TableMetadata, cfg Config) (*Plan, error) {
	if slices.Contains(source.Flags, "counter") || hasCounter(source) {
		return nil, fmt.Errorf("%w: %s.%s", ErrCounters, source.Keyspace, source.Name)
	}
	columns, err := clustertable.Columns(source, target, cfg.Columns)
	if err != nil {
		return nil, err
	}
	p := &Plan{columns: columns, keys: len(clustertable.PrimaryKey(source)), noTimes: cfg.NoTimes}
	p.partition = len(source.PartitionKey)
	for i, c := range p.columns {
		p.statics = p.statics || c.Kind == cql.ColumnStatic
		if i >= p.keys && !cfg.NoTimes {
			p.timed = append(p.timed, i)
			if schema.IsMultiCell(c) && c.Type.Type() == cql.TypeList {
				p.lists = append(p.lists, c.Name)
			}
		}
	}
	p.names = map[string]bool{}
	for _, t := range []*cql.TableMetadata{source, target} {
		for name := range t.Columns {
			p.names[name] = true
		}
	}
	p.ttl, p.writeTime = p.unused("ttl"), p.unused("writetime")
	p.timeNames = map[int][2]string{}
	for _, i := range p.timed {
		name := p.columns[i].Name
		p.timeNames[i] = [2]string{p.unused("writetime(" + name + ")"), p.unused("ttl(" + name + ")")}
	}
	return p, nil
}

func hasCounter(t *cql.TableMetadata) bool {
	for _, c := range t.Columns {
		if c.Type.Type() == cql.TypeCounter {
			return true
		}
	}
	return false
}

// unused returns a name that no column of the plan and of the target has.
func (p *Plan) unused(name string) string {
	for p.names[name] {
		name += "_"
	}
	return name
}

// DropCollectionTimes makes the plan do without the write times of columns with a cell for each element, which servers
// before Cassandra 5.0 do not report. It reports whether there are any.
func (p *Plan) DropCollectionTimes() bool {
	p.lists = nil
	p.timed = slices.DeleteFunc(p.timed, func(i int) bool {
		drop := schema.IsMultiCell(p.columns[i])
		if drop {
			p.untimed = append(p.untimed, p.columns[i].Name)
		}
		return drop
	})
	return len(p.untimed) > 0
}

// SelectTimes returns the SELECT of the columns of a table. When its server does not report the write times of
// collections, the plan does without them.
func (p *Plan) SelectTimes(ctx context.Context, t clustertable.Table, where string) (string, error) {
	_, err := t.Session.StatementMetadata(ctx, p.Select(t, where), "")
	if refused(err) && p.DropCollectionTimes() {
		err = nil
	}
	return p.Select(t, where), err
}

// refused reports whether the server does not accept a statement.
func refused(err error) bool { return err != nil && vecql.ErrorClassOf(err) == stats.ClassInvalid }

// Untimed returns the columns whose write times the source does not report: their values get the latest write time of
// their row.
func (p *Plan) Untimed() []string { return p.untimed }

// Lists returns the columns that are lists with a cell for each element: CQL cannot write the elements of a list one by
// one, so that they get the latest write time and the longest time to live of their list.
func (p *Plan) Lists() []string { return p.lists }

// CollectionTimes returns the names of the fields with times of columns that have a cell for each element. A file of a
// server that does not report them does not have these fields.
func (p *Plan) CollectionTimes() (names []string) {
	for _, i := range p.timed {
		if schema.IsMultiCell(p.columns[i]) {
			names = append(names, p.timeNames[i][0], p.timeNames[i][1])
		}
	}
	return names
}

// Fields returns the columns of batches, with names as in the result of the SELECT.
func (p *Plan) Fields() (fields column.Schema) {
	for _, c := range p.columns {
		fields = append(fields, codec.ColumnField(c.Name, c.Type))
	}
	for _, i := range p.timed {
		write, ttl := timeTypes(p.columns[i])
		fields = append(fields, codec.ColumnField(p.timeNames[i][0], write), codec.ColumnField(p.timeNames[i][1], ttl))
	}
	return fields
}

// timeTypes returns the types of the write time and of the time to live of a column.
func timeTypes(c *cql.ColumnMetadata) (write, ttl cql.TypeInfo) {
	write, ttl = cql.NativeType(cql.TypeBigInt), cql.NativeType(cql.TypeInt)
	if schema.IsMultiCell(c) { // by element
		return cql.NewListType(write), cql.NewListType(ttl)
	}
	return write, ttl
}

// PartitionKey returns the names of the columns of the partition key.
func (p *Plan) PartitionKey() []string {
	return clustertable.Names(p.columns[:p.partition])
}

// Select returns the SELECT of the columns of a table. where is a condition, empty for all rows.
func (p *Plan) Select(t clustertable.Table, where string) string {
	columns := clustertable.Quoted(clustertable.Names(p.columns))
	for _, i := range p.timed {
		name := cqltext.QuoteIdentifier(p.columns[i].Name)
		columns = append(columns, "WRITETIME("+name+") AS "+cqltext.QuoteIdentifier(p.timeNames[i][0]))
		columns = append(columns, "TTL("+name+") AS "+cqltext.QuoteIdentifier(p.timeNames[i][1]))
	}
	return t.Select(columns, where)
}
