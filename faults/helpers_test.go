// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Short names for the tables of the tests.
var (
	message = fakecql.Message
	ints    = fakecql.Ints
)

// cqlOf returns t in the notation of fakecql, with the fields of user-defined types.
func cqlOf(t cql.TypeInfo) string {
	switch t := t.(type) {
	case cql.CollectionType:
		if t.Type() == cql.TypeMap {
			return "map<" + cqlOf(t.Key) + ", " + cqlOf(t.Elem) + ">"
		}
		return t.Type().String() + "<" + cqlOf(t.Elem) + ">"
	case cql.TupleTypeInfo:
		var elems []string
		for _, e := range t.Elems {
			elems = append(elems, cqlOf(e))
		}
		return "tuple<" + strings.Join(elems, ", ") + ">"
	case cql.UDTTypeInfo:
		var fields []string
		for _, f := range t.Elements {
			fields = append(fields, f.Name+" "+cqlOf(f.Type))
		}
		return t.String() + "{" + strings.Join(fields, ", ") + "}"
	}
	return t.String()
}

var (
	tBigint = cql.NativeType(cql.TypeBigInt)
	tText   = cql.NativeType(cql.TypeVarchar)
	tVector = cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 3}
)

const selectRows = "SELECT id, name, v FROM ks.t"

// threeColumns prepares selectRows and returns its columns.
func threeColumns(c *fakecql.Cluster) []fakecql.Column {
	columns := fakecql.Columns("id bigint", "name text", "v vector<float, 3>")
	c.Prepare(selectRows, fakecql.Prepared{Result: columns, ResultID: "m1"})
	return columns
}

// rowCells returns rows first..first+n-1 of threeColumns.
func rowCells(first, n int) (cells [][]byte) {
	for i := first; i < first+n; i++ {
		cells = append(cells, fakecql.Cell("bigint", i), fakecql.Cell("text", fmt.Sprint("name ", i)), fakecql.Cell("vector<float, 3>", []float32{float32(i), 1, 2}))
	}
	return cells
}
