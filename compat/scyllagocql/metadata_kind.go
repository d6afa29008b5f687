// SPDX-License-Identifier: Apache-2.0

package gocql

import "fmt"

// Kinds of columns.

// A ColumnKind is the role of a column in its table.
type ColumnKind int

// The kinds of columns.
const (
	ColumnUnkownKind ColumnKind = iota
	ColumnPartitionKey
	ColumnClusteringKey
	ColumnRegular
	ColumnCompact
	ColumnStatic
)

var columnKinds = [...]string{
	ColumnPartitionKey: "partition_key", ColumnClusteringKey: "clustering_key", ColumnRegular: "regular",
	ColumnCompact: "compact", ColumnStatic: "static",
}

// String returns the name of the kind.
func (c ColumnKind) String() string {
	if c <= ColumnUnkownKind || int(c) >= len(columnKinds) {
		return fmt.Sprintf("unknown_column_%d", int(c))
	}
	return columnKinds[c]
}

// UnmarshalCQL implements Unmarshaler, for the column kind of system_schema.columns.
func (c *ColumnKind) UnmarshalCQL(typ TypeInfo, p []byte) error {
	if typ.Type() != TypeVarchar {
		return UnmarshalError{msg: fmt.Sprintf("gocql: unmarshal a ColumnKind from %v, want varchar", typ)}
	}
	switch s := string(p); s {
	case "clustering":
		*c = ColumnClusteringKey
	case "compact_value":
		*c = ColumnCompact
	default:
		for kind := ColumnPartitionKey; kind <= ColumnStatic; kind++ {
			if kind.String() == s && kind != ColumnCompact {
				*c = kind
				return nil
			}
		}
		return fmt.Errorf("gocql: unknown kind of column %q", s)
	}
	return nil
}
