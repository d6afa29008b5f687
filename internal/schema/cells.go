// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strings"

	"github.com/vecql/vecql/cql"
)

// IsMultiCell reports whether a column has a cell, with a write time of its own, for each element: collections and
// user-defined types that are not frozen.
func IsMultiCell(c *cql.ColumnMetadata) bool {
	switch c.Type.Type() {
	case cql.TypeList, cql.TypeSet, cql.TypeMap, cql.TypeUDT:
		return !strings.HasPrefix(c.Validator, "frozen<")
	}
	return false
}
