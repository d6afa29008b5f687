// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/valuetest"
)

// A valueTable is a table with a column for each type of the table of CQL values.
type valueTable struct {
	*testing.T
	conn    adbc.Connection
	session *vecql.Session
}

func newValueTable(t *testing.T) *valueTable {
	cluster, conn := start(t, strings.Join(valuetest.CreateTable("shop"), ";"))
	v := &valueTable{T: t, conn: conn}
	cfg := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	cfg.Keyspace = "shop"
	var err error
	v.session, err = vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(v.session.Close)
	return v
}

// cell returns the stored bytes of a row.
func (v *valueTable) cell(typ string, id int) []byte {
	it := v.session.Query("SELECT "+valuetest.Column(typ)+" FROM v WHERE id = ?", id).Iter(v.Context())
	cells := make([][]byte, 1)
	require.True(v, it.NextRaw(cells))
	cell := bytes.Clone(cells[0])
	require.NoError(v, it.Close())
	return cell
}

// read returns a row as a record.
func (v *valueTable) read(typ string, options ...string) (arrow.RecordBatch, error) {
	text := "SELECT id, " + valuetest.Column(typ) + " FROM v WHERE id = 1"
	reader, _, err := newStatement(v.T, v.conn, text, options...).ExecuteQuery(v.Context())
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	var found arrow.RecordBatch
	for reader.Next() {
		if rec := reader.RecordBatch(); rec.NumRows() > 0 {
			rec.Retain()
			found = rec
		}
	}
	return found, reader.Err()
}

// bind inserts a record by a statement with parameters.
func (v *valueTable) bind(typ string, rec arrow.RecordBatch) error {
	st := newStatement(v.T, v.conn, "INSERT INTO v (id, "+valuetest.Column(typ)+") VALUES (?, ?)")
	if err := st.Bind(v.Context(), rec); err != nil {
		return err
	}
	_, err := st.ExecuteUpdate(v.Context())
	return err
}

// ingest inserts a record by bulk ingest, which leaves NULL unset.
func (v *valueTable) ingest(_ string, rec arrow.RecordBatch) error {
	st := newStatement(v.T, v.conn, "", adbc.OptionKeyIngestTargetTable, "v", adbc.OptionKeyIngestMode, adbc.OptionValueIngestModeAppend)
	if err := st.Bind(v.Context(), rec); err != nil {
		return err
	}
	_, err := st.ExecuteUpdate(v.Context())
	return err
}

// TestEveryValue reads each value of the table of CQL values as a record, in each shape that options give it, and
// writes the record by a statement with parameters and by ingest. The stored bytes are those that Cassandra stores for
// the literal, except as docs/values.md says of columns.
func TestEveryValue(t *testing.T) {
	v := newValueTable(t)
	doc, err := os.ReadFile("../docs/values.md")
	require.NoError(t, err)
	shapes := [][]string{nil, {"vecql.uuid", "string", "vecql.duration", "string"}}
	writes := map[string]func(string, arrow.RecordBatch) error{"parameters": v.bind, "ingest": v.ingest}
	for _, value := range valuetest.Stored() {
		if value.Type == "counter" {
			continue
		}
		v.store(value)
		require.Equal(t, value.Recorded().Cell, v.cell(value.Type, 1), value.Name())
		want := valuetest.StoredAgain(doc, value)
		for _, shape := range shapes {
			for by, write := range writes {
				v.store(value)
				if got := v.again(value.Type, write, shape...); got != want {
					t.Errorf("%s by %s %v: stored %s, want %s", value.Name(), by, shape, got, want)
				}
			}
		}
	}
}

func (v *valueTable) store(value valuetest.Value) {
	text := "INSERT INTO v (id, " + valuetest.Column(value.Type) + ") VALUES (1, ?)"
	require.NoError(v, v.session.Query(text, valuetest.Cell(value.Sent())).Exec(v.Context()))
}

// again writes the row as it is read and returns the bytes of its cell.
func (v *valueTable) again(typ string, write func(string, arrow.RecordBatch) error, shape ...string) string {
	rec, err := v.read(typ, shape...)
	if err == nil {
		defer rec.Release()
		require.NoError(v, v.session.Query("DELETE FROM v WHERE id = 1").Exec(context.Background()))
		err = write(typ, rec)
	}
	if err != nil {
		return err.Error()
	}
	return valuetest.Text(v.cell(typ, 1))
}

// TestListsOfDoublesAreVectors binds a list of double, which a Python list of floats becomes, to vectors.
func TestListsOfDoublesAreVectors(t *testing.T) {
	v := newValueTable(t)
	bind := func(typ, json string, elem arrow.DataType) error {
		rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{field("id", arrow.PrimitiveTypes.Int64), field("v", arrow.ListOf(elem))}, nil),
			strings.NewReader(json))
		require.NoError(t, err)
		defer rec.Release()
		return v.bind(typ, rec)
	}
	require.NoError(t, bind("vector<float, 3>", `[{"id": 1, "v": [0.1, 2, 3]}]`, arrow.PrimitiveTypes.Float64))
	require.Equal(t, "3dcccccd4000000040400000", fmt.Sprintf("%x", v.cell("vector<float, 3>", 1)))
	require.NoError(t, bind("vector<double, 2>", `[{"id": 1, "v": [1, 2]}]`, arrow.PrimitiveTypes.Float64))
	require.Equal(t, "3ff00000000000004000000000000000", fmt.Sprintf("%x", v.cell("vector<double, 2>", 1)))
	requireStatus(t, bind("vector<float, 3>", `[{"id": 1, "v": [1, 2]}]`, arrow.PrimitiveTypes.Float64), adbc.StatusInvalidData, "dimension")
	requireStatus(t, bind("vector<float, 3>", `[{"id": 1, "v": [1, 2, 1e39]}]`, arrow.PrimitiveTypes.Float64), adbc.StatusInvalidData, "range")
}
