// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/valuetest"
)

// storedCell is the content of a cell, which is bound as it is.
type storedCell []byte

// MarshalCQL implements vecql.Marshaler.
func (c storedCell) MarshalCQL(cql.TypeInfo) ([]byte, error) { return c, nil }

// A valueTable is a table with a column for each type of the table of CQL values.
type valueTable struct {
	*testing.T
	session *vecql.Session
	types   []string
}

func newValueTable(t *testing.T) *valueTable {
	create, columns := "", "id int PRIMARY KEY"
	for _, text := range valuetest.CreateTypes("shop") {
		create += text + ";"
	}
	v := &valueTable{T: t}
	for _, value := range valuetest.Stored() {
		if !slices.Contains(v.types, value.Type) && value.Type != "counter" {
			columns += fmt.Sprintf(", c%d %s", len(v.types), value.Type)
			v.types = append(v.types, value.Type)
		}
	}
	_, uri := start(t, cqltest.Config{}, create+"CREATE TABLE shop.v ("+columns+")")
	v.session = connect(t, uri)
	return v
}

func (v *valueTable) column(typ string) string { return fmt.Sprint("c", slices.Index(v.types, typ)) }

// read returns the stored value as a batch of one row with the columns id and the one of the type.
func (v *valueTable) read(value valuetest.Value) *column.Batch {
	name := v.column(value.Type)
	write := v.session.Query("INSERT INTO v (id, "+name+") VALUES (1, ?)", storedCell(value.Sent()))
	require.NoError(v, write.ExecContext(v.Context()))
	for b, err := range v.session.Query("SELECT id, " + name + " FROM v WHERE id = 1").Batches(v.Context()) {
		require.NoError(v, err)
		return b
	}
	v.Fatal("no row of " + value.Name())
	return nil
}

// written writes a batch of one row and returns the cell, "NULL" or hexadecimal digits.
func (v *valueTable) written(typ string, b *column.Batch) string {
	require.NoError(v, v.session.Query("DELETE FROM v WHERE id = 1").ExecContext(v.Context()))
	if err := v.session.Query("INSERT INTO v (id, "+v.column(typ)+") VALUES (?, ?)").ExecRows(v.Context(), b); err != nil {
		return err.Error()
	}
	it := v.session.Query("SELECT " + v.column(typ) + " FROM v WHERE id = 1").IterContext(v.Context())
	cells := make([][]byte, 1)
	require.True(v, it.NextRaw(cells))
	cell := bytes.Clone(cells[0])
	require.NoError(v, it.Close())
	if cell == nil {
		return "NULL"
	}
	return fmt.Sprintf("0x%x", cell)
}

// stored returns what a column of the value is stored as: the bytes of the literal, except as docs/values.md says.
func stored(t *testing.T) func(valuetest.Value) string {
	doc, err := os.ReadFile("../docs/values.md")
	require.NoError(t, err)
	differ := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(doc), -1) {
		differ[row[1]+" "+row[2]] = row[3]
	}
	require.NotEmpty(t, differ)
	return func(value valuetest.Value) string {
		switch cell := value.Recorded().Cell; {
		case differ[value.Name()] != "":
			return differ[value.Name()]
		case cell == nil:
			return "NULL"
		default:
			return fmt.Sprintf("0x%x", cell)
		}
	}
}

// TestEveryValue encodes each value of the table of CQL values as an element of a PCollection of batches, and as a
// field of a struct if a field has its type. The decoded element is stored as the literal is.
func TestEveryValue(t *testing.T) {
	v, want := newValueTable(t), stored(t)
	fields := 0
	for _, value := range valuetest.Stored() {
		if value.Type == "counter" {
			continue
		}
		b := v.read(value)
		data, err := encodeBatch(b)
		require.NoError(t, err, value.Name())
		again, err := decodeBatch(data)
		require.NoError(t, err, value.Name())
		require.Equal(t, want(value), v.written(value.Type, again), value.Name())
		for _, form := range value.Go {
			typ := reflect.TypeOf(form)
			if !isRowType(typ, true) {
				continue
			}
			field := reflect.New(typ).Elem()
			if setValue(field, &b.Columns[1], 0) != nil {
				continue // the table of Rows lists what fits
			}
			again := *b
			values := reflect.Append(reflect.MakeSlice(reflect.SliceOf(typ), 0, 1), field)
			again.Columns = []column.Column{b.Columns[0], columnOf(values).As(b.Columns[1].Name)}
			if got := v.written(value.Type, &again); got != want(value) {
				t.Errorf("%s by a field of type %v: stored %s, want %s", value.Name(), typ, got, want(value))
			}
			fields++
		}
	}
	require.Greater(t, fields, 200)
}
