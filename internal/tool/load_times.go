// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/cqltext"
)

// Loads with --times: each column keeps its write time and its time to live.

// The names of the fields of unload --times, as CQL names the columns of such a result.
func writetimeField(column string) string { return "writetime(" + column + ")" }
func ttlField(column string) string       { return "ttl(" + column + ")" }

// A loadStatement is a statement of a load, and the rows that it is for: those with a value in each of the fields has,
// and NULL in each of the fields lacks.
type loadStatement struct {
	text       string
	has, lacks []string
	// table and columns are set for an INSERT whose values are fields: the column for each field.
	table   string
	columns map[string]string
}

// timedStatements returns the statements for a table: an UPDATE for each column, and an INSERT for rows that have
// nothing but a key. An INSERT of all rows would keep rows whose values have expired.
func timedStatements(t *vecql.TableMetadata) []loadStatement {
	timed := timedColumns(t)
	var keys []string
	var updates []loadStatement
	bare := loadStatement{}
	for _, name := range t.OrderedColumns {
		switch kind := t.Columns[name].Kind; {
		case isKey(t, name):
			keys = append(keys, name)
			if kind == vecql.ColumnClusteringKey { // a partition with static values may have no row
				bare.has = append(bare.has, name)
			}
			continue
		case kind != vecql.ColumnStatic:
			bare.lacks = append(bare.lacks, name)
		}
		using := ""
		if slices.Contains(timed, name) {
			using = fmt.Sprintf(" USING TIMESTAMP %s AND TTL %s", marker(writetimeField(name)), marker(ttlField(name)))
		}
		updates = append(updates, loadStatement{text: updateOf(t, using, name), has: []string{name}})
	}
	bare.text = insertOf(t, keys)
	return append([]loadStatement{bare}, updates...)
}

func insertOf(t *vecql.TableMetadata, columns []string) string {
	names, markers := make([]string, len(columns)), make([]string, len(columns))
	for i, name := range columns {
		names[i], markers[i] = cqltext.QuoteIdentifier(name), marker(name)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", qualified(t), strings.Join(names, ", "), strings.Join(markers, ", "))
}

// updateOf returns the UPDATE of one column. That of a static column names the partition only.
func updateOf(t *vecql.TableMetadata, using, column string) string {
	keys := slices.Clone(t.PartitionKey)
	if t.Columns[column].Kind != vecql.ColumnStatic {
		keys = append(keys, t.ClusteringColumns...)
	}
	where := make([]string, len(keys))
	for i, key := range keys {
		where[i] = cqltext.QuoteIdentifier(key.Name) + " = " + marker(key.Name)
	}
	quoted := cqltext.QuoteIdentifier(column)
	return fmt.Sprintf("UPDATE %s%s SET %s = %s WHERE %s", qualified(t), using, quoted, marker(column),
		strings.Join(where, " AND "))
}

// rowsOf returns the rows of a batch that a statement is for, in batches of consecutive rows.
func (s *loadStatement) rowsOf(b *column.Batch) []*column.Batch {
	if len(s.has)+len(s.lacks) == 0 {
		return []*column.Batch{b}
	}
	var parts []*column.Batch
	for first := 0; first < b.Rows; {
		end := first
		for end < b.Rows && s.isFor(b, end) {
			end++
		}
		if end > first {
			part := b.Slice(first, end)
			part.Source.FirstRow += int64(first)
			parts = append(parts, part)
		}
		first = end + 1
	}
	return parts
}

func (s *loadStatement) isFor(b *column.Batch, row int) bool {
	isNull := func(name string) bool { return b.Column(name).Null(row) }
	hasValue := func(name string) bool { return !isNull(name) }
	return !slices.ContainsFunc(s.has, isNull) && !slices.ContainsFunc(s.lacks, hasValue)
}

// withoutNullTTL returns a batch whose NULLs among the times to live are 0: such values do not expire, whatever the
// table's default is. The values of NULL rows are zeros already.
func withoutNullTTL(b *column.Batch) *column.Batch {
	out := *b
	out.Columns = slices.Clone(b.Columns)
	for i := range out.Columns {
		if c := &out.Columns[i]; strings.HasPrefix(c.Name, "ttl(") {
			*c = c.WithValidity(nil)
		}
	}
	return &out
}
