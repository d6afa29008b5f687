// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/valuetest"
)

// A valueTable is a table with a column for each type of the table of CQL values.
type valueTable struct {
	*testing.T
	session *vecql.Session
}

func newValueTable(t *testing.T) *valueTable {
	_, uri := start(t, cqltest.Config{}, strings.Join(valuetest.CreateTable("shop"), ";"))
	return &valueTable{t, connect(t, uri)}
}

// read returns the stored value as a batch of one row with the columns id and the one of the type.
func (v *valueTable) read(value valuetest.Value) *column.Batch {
	name := valuetest.Column(value.Type)
	write := v.session.Query("INSERT INTO v (id, "+name+") VALUES (1, ?)", valuetest.Cell(value.Sent()))
	require.NoError(v, write.Exec(v.Context()))
	for b, err := range v.session.Query("SELECT id, " + name + " FROM v WHERE id = 1").Batches(v.Context()) {
		require.NoError(v, err)
		return b
	}
	v.Fatal("no row of " + value.Name())
	return nil
}

// written writes a batch of one row and returns the cell, "NULL" or hexadecimal digits.
func (v *valueTable) written(typ string, b *column.Batch) string {
	require.NoError(v, v.session.Query("DELETE FROM v WHERE id = 1").Exec(v.Context()))
	if err := v.session.Query("INSERT INTO v (id, "+valuetest.Column(typ)+") VALUES (?, ?)").ExecRows(v.Context(), b); err != nil {
		return err.Error()
	}
	it := v.session.Query("SELECT " + valuetest.Column(typ) + " FROM v WHERE id = 1").Iter(v.Context())
	cells := make([][]byte, 1)
	require.True(v, it.NextRaw(cells))
	cell := bytes.Clone(cells[0])
	require.NoError(v, it.Close())
	return valuetest.Text(cell)
}

// TestEveryValue encodes each value of the table of CQL values as an element of a PCollection of batches, and as a
// field of a struct if a field has its type. The decoded element is stored as the literal is.
func TestEveryValue(t *testing.T) {
	v := newValueTable(t)
	doc, err := os.ReadFile("../docs/values.md")
	require.NoError(t, err)
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
		require.Equal(t, valuetest.StoredAgain(doc, value), v.written(value.Type, again), value.Name())
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
			if got := v.written(value.Type, &again); got != valuetest.StoredAgain(doc, value) {
				t.Errorf("%s by a field of type %v: stored %s, want %s", value.Name(), typ, got, valuetest.StoredAgain(doc, value))
			}
			fields++
		}
	}
	require.Greater(t, fields, 200)
}
