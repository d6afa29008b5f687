// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"slices"
)

// Kinds of columns.

// columnKinds are the names of the kinds of columns; 0, an unknown kind, has an empty name.
var columnKinds = [...]string{"", "partition_key", "clustering_key", "regular", "compact", "static"}

// ColumnKindText returns the name of a kind of column.
func ColumnKindText[K ~int](kind K) string {
	if kind <= 0 || int(kind) >= len(columnKinds) {
		return fmt.Sprintf("unknown_column_%d", int(kind))
	}
	return columnKinds[kind]
}

// DecodeColumnKind stores the kind of a column, which system_schema.columns names text.
func DecodeColumnKind[K ~int](kind *K, text string) error {
	name := text
	switch text {
	case "clustering":
		name = "clustering_key"
	case "compact_value":
		name = "compact"
	case "compact":
		name = ""
	}
	i := slices.Index(columnKinds[:], name)
	if i <= 0 {
		return fmt.Errorf("gocql: unknown kind of column %q", text)
	}
	*kind = K(i)
	return nil
}
