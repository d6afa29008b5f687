// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/valuetest"
)

// storedCell is the content of a cell, which is bound as it is.
type storedCell []byte

// MarshalCQL implements vecql.Marshaler.
func (c storedCell) MarshalCQL(cql.TypeInfo) ([]byte, error) { return c, nil }

// A valueTable is a table with a column for each type of the table of CQL values.
type valueTable struct {
	*testing.T
	conn    adbc.Connection
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
	cluster, conn := start(t, create+"CREATE TABLE shop.v ("+columns+")")
	v.conn = conn
	cfg := vecql.NewCluster(cluster.Hosts()...)
	cfg.Keyspace = "shop"
	var err error
	v.session, err = cfg.CreateSession()
	require.NoError(t, err)
	t.Cleanup(v.session.Close)
	return v
}

func (v *valueTable) column(typ string) string { return fmt.Sprint("c", slices.Index(v.types, typ)) }

// cell returns the stored bytes of a row.
func (v *valueTable) cell(typ string, id int) []byte {
	it := v.session.Query("SELECT "+v.column(typ)+" FROM v WHERE id = ?", id).IterContext(v.Context())
	cells := make([][]byte, 1)
	require.True(v, it.NextRaw(cells))
	cell := bytes.Clone(cells[0])
	require.NoError(v, it.Close())
	return cell
}

// read returns a row as a record.
func (v *valueTable) read(typ string, options ...string) (arrow.RecordBatch, error) {
	text := "SELECT id, " + v.column(typ) + " FROM v WHERE id = 1"
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
	st := newStatement(v.T, v.conn, "INSERT INTO v (id, "+v.column(typ)+") VALUES (?, ?)")
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

// documentedDifferences returns what docs/values.md says of columns, by the name of the value.
func documentedDifferences(t *testing.T) map[string]string {
	doc, err := os.ReadFile("../docs/values.md")
	require.NoError(t, err)
	found := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(doc), -1) {
		found[row[1]+" "+row[2]] = row[3]
	}
	require.NotEmpty(t, found)
	return found
}

// TestEveryValue reads each value of the table of CQL values as a record, in each shape that options give it, and
// writes the record by a statement with parameters and by ingest. The stored bytes are those that Cassandra stores for
// the literal, except as docs/values.md says of columns.
func TestEveryValue(t *testing.T) {
	v := newValueTable(t)
	documented := documentedDifferences(t)
	shapes := [][]string{nil, {"vecql.uuid", "string", "vecql.duration", "string"}}
	writes := map[string]func(string, arrow.RecordBatch) error{"parameters": v.bind, "ingest": v.ingest}
	for _, value := range valuetest.Stored() {
		if value.Type == "counter" {
			continue
		}
		v.store(value)
		stored := v.cell(value.Type, 1)
		require.Equal(t, value.Recorded().Cell, stored, value.Name())
		want := fmt.Sprintf("0x%x", stored)
		if d := documented[value.Name()]; d != "" {
			want = d
		} else if stored == nil {
			want = "NULL"
		}
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
	text := "INSERT INTO v (id, " + v.column(value.Type) + ") VALUES (1, ?)"
	require.NoError(v, v.session.Query(text, storedCell(value.Sent())).ExecContext(v.Context()))
}

// again writes the row as it is read and returns the bytes of its cell.
func (v *valueTable) again(typ string, write func(string, arrow.RecordBatch) error, shape ...string) string {
	rec, err := v.read(typ, shape...)
	if err == nil {
		defer rec.Release()
		require.NoError(v, v.session.Query("DELETE FROM v WHERE id = 1").Exec())
		err = write(typ, rec)
	}
	if err != nil {
		return err.Error()
	}
	cell := v.cell(typ, 1)
	if cell == nil {
		return "NULL"
	}
	return fmt.Sprintf("0x%x", cell)
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
