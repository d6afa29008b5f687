// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
)

// Conditions that Cassandra evaluates with a search by an index, as 5.0.9 does (StatementRestrictions).

// checkServed returns a *FilterError for a condition that Cassandra refuses with a search.
func (t *table) checkServed(first *index, conditions []condition) error {
	partition := t.partitionKey()
	stated := 0 // columns of the partition key
	for _, name := range partition {
		if isStated(conditions, name) {
			stated++
		}
	}
	for _, c := range conditions {
		inPartition := slices.Contains(partition, c.column)
		isIndexed := slices.ContainsFunc(t.columns, func(i index) bool { return i.column == c.column })
		info := t.meta.Columns[c.column].Type
		reason := ""
		switch {
		case c.op == expr.OpIn && len(c.values) > 1: // refused; with ALLOW FILTERING 5.0.9 returns no rows
			reason = "Cassandra has no IN in a search by an index: search for each value"
		case inPartition && (stated < len(partition) || !isEqual(c)):
			reason = "Cassandra takes all columns of the partition key, by =, or none: state all"
		case inPartition, stated == len(partition) && t.isSlice(conditions, c):
			continue
		case !isIndexed:
			return t.refuse(c, first, "Cassandra requires a storage-attached index of the column "+c.column)
		case !isEqual(c) && isUnordered(info):
			reason = fmt.Sprintf("a storage-attached index of %v has no order: compare by =", info)
		default:
			continue
		}
		return &FilterError{Condition: fmt.Sprintf("%s %s", c.column, c.op), Reason: reason}
	}
	return nil
}

// isEqual reports whether a condition states one value.
func isEqual(c condition) bool { return c.op == expr.OpEq || c.op == expr.OpIn && len(c.values) == 1 }

func isStated(conditions []condition, column string) bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return c.column == column && isEqual(c) })
}

// isSlice reports whether a condition bounds a slice of a partition: all clustering columns before its own are stated.
func (t *table) isSlice(conditions []condition, c condition) bool {
	for _, clustering := range t.meta.ClusteringColumns {
		if clustering.Name == c.column {
			return true
		}
		if !isStated(conditions, clustering.Name) {
			return false
		}
	}
	return false
}

// isUnordered reports whether storage-attached indexes of a type serve equality alone.
func isUnordered(info cql.TypeInfo) bool {
	switch info.Type() {
	case cql.TypeText, cql.TypeVarchar, cql.TypeAscii, cql.TypeBoolean, cql.TypeUUID:
		return true
	}
	return false
}
