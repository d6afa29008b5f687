// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// Rows that are bound by name, and the end of bindings.

const optionBindByName = "adbc.statement.bind_by_name"

// TestBindByName requires the option of ADBC: a column for each marker, in any order. A marker ? has the name of its
// column.
func TestBindByName(t *testing.T) {
	_, conn := start(t, items)
	key, text, other := field("key", int32s), field("text", texts), field("other", int64s)
	id, name := field("id", int32s), field("name", texts)
	for i, c := range []struct {
		query, rows, message string
		columns              []arrow.Field
	}{
		{"INSERT INTO items (id, name) VALUES (:key, :text)", `[{"text": "lamp", "other": 7, "key": %d}]`, "", []arrow.Field{text, other, key}},
		{"INSERT INTO items (id, name) VALUES (?, ?)", `[{"name": "lamp", "other": 7, "id": %d}]`, "", []arrow.Field{name, other, id}},
		{"INSERT INTO items (id, name) VALUES (:key, :text)", `[{"key": %d}]`, `no value for the parameter "text"`, []arrow.Field{key}},
		{"INSERT INTO items (id, name) VALUES (?, ?)", `[{"key": %d}]`, `no value for the parameter "id"`, []arrow.Field{key, name}},
		{
			"SELECT id FROM items WHERE id > ? AND id < ? ALLOW FILTERING", `[{"id": %d}]`, `two markers ? are about "id": name them`,
			[]arrow.Field{id},
		},
	} {
		st := newStatement(t, conn, c.query, optionBindByName, "true")
		require.NoError(t, st.Bind(t.Context(), record(t, fmt.Sprintf(c.rows, i), c.columns...)))
		_, err := st.ExecuteUpdate(t.Context())
		if c.message != "" {
			requireStatus(t, err, adbc.StatusInvalidArgument, c.message)
			continue
		}
		require.NoError(t, err, c.query)
		require.Equal(t, []string{fmt.Sprintf(`{"id":%d,"name":"lamp"}`, i)},
			query(t, conn, fmt.Sprint("SELECT id, name FROM items WHERE id = ", i)))
	}
	st := newStatement(t, conn, "").(adbc.GetSetOptions)
	requireStatus(t, st.SetOption(optionBindByName, "yes"), adbc.StatusInvalidArgument, optionBindByName)
}

// TestNextQueryReleasesRows requires that rows are bound to one query: a further one runs without them, or has no
// values for its parameters.
func TestNextQueryReleasesRows(t *testing.T) {
	_, conn := start(t, items)
	st := newStatement(t, conn, "")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"0": 1}]`, field("0", int32s))))
	require.NoError(t, st.SetSqlQuery("INSERT INTO items (id) VALUES (?)"), "the first query keeps the rows")
	_, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.NoError(t, st.SetSqlQuery("CREATE TABLE more (id int PRIMARY KEY)"))
	_, err = st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.NoError(t, st.SetSqlQuery("SELECT id FROM items WHERE id = ?"))
	_, _, err = st.ExecuteQuery(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "not bound")
	require.Equal(t, []string{`{"id":1}`}, query(t, conn, "SELECT id FROM items"))
}

// TestKeyWithoutValue requires the status of integrity for a NULL in a column of the primary key.
func TestKeyWithoutValue(t *testing.T) {
	_, conn := start(t, items)
	st := newStatement(t, conn, "INSERT INTO items (id, name) VALUES (?, ?)")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"0": null, "1": "lamp"}]`, field("0", int32s), field("1", texts))))
	_, err := st.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusIntegrity, "id")
}

// TestParameterTypes requires the CQL types of parameters in the metadata of their fields.
func TestParameterTypes(t *testing.T) {
	_, conn := start(t, items)
	st := newStatement(t, conn, "INSERT INTO items (id, price, embedding) VALUES (?, ?, ?)")
	require.NoError(t, st.Prepare(t.Context()))
	schema, err := st.GetParameterSchema()
	require.NoError(t, err)
	for i, want := range []string{"int", "decimal", "vector<float, 2>"} {
		got, _ := schema.Field(i).Metadata.GetValue("cassandra.type")
		require.Equal(t, want, got)
	}
	_, err = newStatement(t, conn, "DROP TABLE items").GetParameterSchema()
	requireStatus(t, err, adbc.StatusNotImplemented, `begins with "DROP"`)
}

// TestValueNamesItsColumn requires the user's name of a marker in the error of its value.
func TestValueNamesItsColumn(t *testing.T) {
	_, conn := start(t, items)
	for text, want := range map[string]string{
		"INSERT INTO items (id, price) VALUES (?, ?)":        `marshal column "price": column of string into decimal: row 0: `,
		"INSERT INTO items (id, price) VALUES (:key, :cost)": `marshal column "cost": column of string into decimal: row 0: `,
	} {
		st := newStatement(t, conn, text)
		require.NoError(t, st.Bind(t.Context(), record(t, `[{"0": 1, "1": "x"}]`, field("0", int32s), field("1", texts))))
		_, err := st.ExecuteUpdate(t.Context())
		requireStatus(t, err, adbc.StatusInvalidArgument, want)
	}
}
