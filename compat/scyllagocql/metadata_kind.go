// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	api "github.com/vecql/vecql/compat/api"
)

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

// String returns the name of the kind.
func (c ColumnKind) String() string { return api.ColumnKindText(c) }

// UnmarshalCQL implements Unmarshaler, for the column kind of system_schema.columns.
func (c *ColumnKind) UnmarshalCQL(typ TypeInfo, p []byte) error {
	if typ.Type() != TypeVarchar {
		return UnmarshalError{msg: fmt.Sprintf("gocql: unmarshal a ColumnKind from %v, want varchar", typ)}
	}
	return api.DecodeColumnKind(c, string(p))
}
