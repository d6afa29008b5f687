// SPDX-License-Identifier: Apache-2.0

package valuetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vecql/vecql/cql"
)

// A table with a column for each type of the table of values, without counters.

// columnTypes are the types of the columns, in their order.
var columnTypes = sync.OnceValue(func() (types []string) {
	for _, v := range All() {
		if v.Type != "counter" && !slices.Contains(types, v.Type) {
			types = append(types, v.Type)
		}
	}
	return types
})

// Column returns the name of the column of a type.
func Column(typ string) string { return fmt.Sprint("c", slices.Index(columnTypes(), typ)) }

// CreateTable returns the statements that create the user-defined types and the table v in a keyspace. The key is id,
// an int.
func CreateTable(keyspace string) []string {
	columns := []string{"id int PRIMARY KEY"}
	for _, typ := range columnTypes() {
		columns = append(columns, Column(typ)+" "+typ)
	}
	return append(CreateTypes(keyspace), "CREATE TABLE "+keyspace+".v ("+strings.Join(columns, ", ")+")")
}

// A Cell is the content of a cell, which is bound as it is.
type Cell []byte

// MarshalCQL implements cql.Marshaler.
func (c Cell) MarshalCQL(cql.TypeInfo) ([]byte, error) { return c, nil }

// documentedRow is a row of the table of docs/values.md: a type, a cell, and how it is stored again.
var documentedRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\|$")

// StoredAgain returns what docs/values.md says of a value that is read as a column and written: "NULL" or hexadecimal
// digits. It is the stored value unless the document, whose text doc is, names another one.
func StoredAgain(doc []byte, v Value) string {
	for _, row := range documentedRow.FindAllStringSubmatch(string(doc), -1) {
		if row[1]+" "+row[2] == v.Name() {
			return row[3]
		}
	}
	return Text(v.Recorded().Cell)
}

// Text returns a stored cell as "NULL" or hexadecimal digits.
func Text(cell []byte) string {
	if cell == nil {
		return "NULL"
	}
	return fmt.Sprintf("0x%x", cell)
}
