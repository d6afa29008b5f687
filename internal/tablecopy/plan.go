// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/clustertable"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/schema"
)

// The columns of rows with times, and the statements that read and write them.

// A Plan is the columns of rows with times: the primary key, other columns, and then for each timed column its write
// time and its time to live. Batches have these columns in this order, and may have further ones.
type Plan struct {
	columns   []*vecql.ColumnMetadata
	keys      int      // columns of the primary key, which come first
	partition int      // columns of the partition key
	statics   bool     // rows without clustering columns are partitions with static values only
	timed     []int    // positions in columns
	untimed   []string // names of columns whose write times are not reported
	noTimes   bool

	ttl, writeTime string // names of the columns that Split adds
}

// NewPlan returns the plan for all columns of a table, with the times of each column of one cell.
func NewPlan(t *vecql.TableMetadata) (*Plan, error) {
	p, err := newPlan(t, t, Config{})
	if err == nil {
		p.dropCollectionTimes()
	}
	return p, err
}

// newPlan returns the plan for the columns of the source, which the target must have, too.
func newPlan(source, target *vecql.TableMetadata, cfg Config) (*Plan, error) {
	if slices.Contains(source.Flags, "counter") || hasCounter(source) {
		return nil, fmt.Errorf("%w: %s.%s", ErrCounters, source.Keyspace, source.Name)
	}
	p := &Plan{noTimes: cfg.NoTimes, keys: len(source.PartitionKey) + len(source.ClusteringColumns)}
	p.partition = len(source.PartitionKey)
	p.columns = slices.Concat(source.PartitionKey, source.ClusteringColumns)
	names := cfg.Columns
	if names == nil {
		names = source.OrderedColumns
	}
	for _, name := range names {
		c := source.Columns[name]
		if c == nil {
			return nil, fmt.Errorf("table %s.%s has no column %q", source.Keyspace, source.Name, name)
		}
		if !slices.Contains(p.columns, c) {
			p.columns = append(p.columns, c)
		}
	}
	for i, c := range p.columns {
		switch other := target.Columns[c.Name]; {
		case other == nil:
			return nil, fmt.Errorf("table %s.%s has no column %q", target.Keyspace, target.Name, c.Name)
		case other.Validator != c.Validator:
			return nil, fmt.Errorf("column %q of %s.%s is %s, that of %s.%s is %s", c.Name, target.Keyspace, target.Name,
				other.Validator, source.Keyspace, source.Name, c.Validator)
		}
		p.statics = p.statics || c.Kind == vecql.ColumnStatic
		if i >= p.keys && !cfg.NoTimes {
			p.timed = append(p.timed, i)
		}
	}
	p.ttl, p.writeTime = unusedName(target, "ttl"), unusedName(target, "writetime")
	return p, nil
}

func hasCounter(t *vecql.TableMetadata) bool {
	for _, c := range t.Columns {
		if c.Type.Type() == vecql.TypeCounter {
			return true
		}
	}
	return false
}

// unusedName returns a name that no column of the table has.
func unusedName(t *vecql.TableMetadata, name string) string {
	for t.Columns[name] != nil {
		name += "_"
	}
	return name
}

// dropCollectionTimes makes the plan do without the write times of columns with a cell for each element, which servers
// before Cassandra 5.0 do not report. It reports whether there are any.
func (p *Plan) dropCollectionTimes() bool {
	p.timed = slices.DeleteFunc(p.timed, func(i int) bool {
		drop := schema.IsMultiCell(p.columns[i])
		if drop {
			p.untimed = append(p.untimed, p.columns[i].Name)
		}
		return drop
	})
	return len(p.untimed) > 0
}

// Fields returns the columns of batches, with names as in the result of the SELECT.
func (p *Plan) Fields() (fields column.Schema) {
	for _, c := range p.columns {
		fields = append(fields, codec.ColumnField(c.Name, c.Type))
	}
	for _, i := range p.timed {
		name := p.columns[i].Name
		fields = append(fields,
			column.Field{Name: "writetime(" + name + ")", Type: column.Type{Kind: column.Int64}, Nullable: true},
			column.Field{Name: "ttl(" + name + ")", Type: column.Type{Kind: column.Int32}, Nullable: true})
	}
	return fields
}

// PartitionKey returns the names of the columns of the partition key.
func (p *Plan) PartitionKey() []string {
	names := make([]string, p.partition)
	for i := range names {
		names[i] = p.columns[i].Name
	}
	return names
}

// Select returns the SELECT of the columns of a table. where is a condition, empty for all rows.
func (p *Plan) Select(t clustertable.Table, where string) string {
	var columns []string
	for _, c := range p.columns {
		columns = append(columns, cqltext.QuoteIdentifier(c.Name))
	}
	for _, i := range p.timed {
		name := cqltext.QuoteIdentifier(p.columns[i].Name)
		columns = append(columns, "WRITETIME("+name+")", "TTL("+name+")")
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + t.CQL()
	if where != "" {
		text += " WHERE " + where
	}
	return text
}

// Inserts returns the INSERTs for the two results of Split: that for rows, and that for partitions without rows, which
// only tables with static columns have.
func (p *Plan) Inserts(t clustertable.Table) []string {
	texts := []string{p.insert(t, p.columns)}
	if p.statics {
		texts = append(texts, p.insert(t, slices.DeleteFunc(slices.Clone(p.columns), isOfRow)))
	}
	return texts
}

// isOfRow reports whether a partition without rows does not have a column.
func isOfRow(c *vecql.ColumnMetadata) bool {
	return c.Kind != vecql.ColumnPartitionKey && c.Kind != vecql.ColumnStatic
}

// insert returns the INSERT of columns with named markers.
func (p *Plan) insert(t clustertable.Table, columns []*vecql.ColumnMetadata) string {
	var names, markers []string
	for _, c := range columns {
		name := cqltext.QuoteIdentifier(c.Name)
		names, markers = append(names, name), append(markers, ":"+name)
	}
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.CQL(), strings.Join(names, ", "), strings.Join(markers, ", "))
	if !p.noTimes {
		text += " USING TTL :" + cqltext.QuoteIdentifier(p.ttl) + " AND TIMESTAMP :" + cqltext.QuoteIdentifier(p.writeTime)
	}
	return text
}
