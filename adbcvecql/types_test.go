// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

// allTypes has a column of every CQL type.
const allTypes = `
	CREATE TYPE shop.point (x int, y text);
	CREATE TABLE shop.types (id int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double,
		h duration, i inet, j float, k smallint, l text, m time, n timestamp, o timeuuid, p tinyint, q uuid, r varint,
		s vector<float, 3>, t list<int>, u set<text>, v map<text, bigint>, w tuple<int, text>, x frozen<point>,
		y vector<uuid, 1>, z list<frozen<list<uuid>>>);
	INSERT INTO shop.types (id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z) VALUES (1,
		'a', 2, 0x0304, true, '2024-05-06', 7.80, 9.5, 1mo2d3ns, '10.0.0.1', 1.5, 12, 'text', '01:02:03.004005006',
		'2024-05-06T07:08:09.010Z', 13814000-1dd2-11b2-8080-808080808080, 13,
		00112233-4455-6677-8899-aabbccddeeff, 123456789012345678901234567890, [1, 2, 3], [4, 5], {'u'}, {'v': 6}, (7, 'w'),
		{x: 8, y: 'z'}, [00112233-4455-6677-8899-aabbccddeeff], [[00112233-4455-6677-8899-aabbccddeeff]]);
	INSERT INTO shop.types (id) VALUES (2);`

func TestEveryTypeHasItsArrowType(t *testing.T) {
	_, conn := start(t, allTypes)
	schema, err := conn.GetTableSchema(t.Context(), nil, nil, "types")
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range schema.Fields() {
		got[f.Name] = f.Type.String()
		if mark, ok := f.Metadata.GetValue("ARROW:extension:name"); ok {
			got[f.Name] += " " + mark
		}
	}
	require.Equal(t, map[string]string{
		"id": "int32", "a": "utf8", "b": "int64", "c": "binary", "d": "bool", "e": "date32", "f": "utf8 vecql.decimal",
		"g": "float64", "h": "month_day_nano_interval", "i": "utf8 vecql.inet", "j": "float32", "k": "int16", "l": "utf8",
		"m": "time64[ns]", "n": "timestamp[ms, tz=UTC]", "o": "fixed_size_binary[16] arrow.uuid", "p": "int8",
		"q": "fixed_size_binary[16] arrow.uuid", "r": "utf8 vecql.varint",
		"s": "fixed_size_list<element: float32>[3]", "t": "list<element: int32, nullable>",
		"u": "list<element: utf8, nullable>", "v": "map<utf8, int64, items_nullable>",
		"w": "struct<0: int32 nullable, 1: utf8 nullable> vecql.tuple", "x": "struct<x: int32 nullable, y: utf8 nullable>",
		"y": `fixed_size_list<element: fixed_size_binary[16]>[1]`,
		"z": "list<element: list<element: fixed_size_binary[16], nullable>, nullable>",
	}, got)
	kind, _ := schema.Field(0).Metadata.GetValue("cassandra.kind")
	require.Equal(t, "partition_key", kind)
}

// The options change the same row: uuid to text also within vectors and lists, decimal and varint without loss.
func TestOptionsChangeTypes(t *testing.T) {
	_, conn := start(t, allTypes)
	rows := query(t, conn, "SELECT q, y, z, f, r, h FROM types WHERE id = 1", "vecql.uuid", "string",
		"vecql.decimal", "decimal256(76,3)", "vecql.varint", "decimal256", "vecql.duration", "string")
	const id = `"00112233-4455-6677-8899-aabbccddeeff"`
	require.Equal(t, []string{`{"f":"7.8","h":"1mo2d3ns","q":` + id + `,"r":"123456789012345678901234567890","y":[` + id +
		`],"z":[[` + id + `]]}`}, rows)
	reader, _, err := newStatement(t, conn, "SELECT f, h FROM types WHERE id = 1", "vecql.decimal", "decimal256(76,1)").
		ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{`{"f":"7.8","h":{"months":1,"days":2,"nanoseconds":3}}`}, rowsOf(t, reader))
	st := newStatement(t, conn, "SELECT f FROM types WHERE id = 1", "vecql.decimal", "decimal256(76,0)")
	reader, _, err = st.ExecuteQuery(t.Context())
	require.NoError(t, err)
	defer reader.Release()
	require.False(t, reader.Next())
	requireStatus(t, reader.Err(), adbc.StatusInvalidData, "column f: row 0")
}

// A record that is read goes into another table unchanged, with its types from the metadata of GetTableSchema.
func TestEveryTypeComesBack(t *testing.T) {
	cluster, conn := start(t, allTypes)
	want := query(t, conn, "SELECT * FROM types")
	require.Len(t, want, 2)
	schema, err := conn.GetTableSchema(t.Context(), nil, nil, "types")
	require.NoError(t, err)
	reader, _, err := newStatement(t, conn, "SELECT * FROM types").ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.True(t, reader.Next())
	rec := array.NewRecordBatch(schema, reader.RecordBatch().Columns(), reader.RecordBatch().NumRows())
	st := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "Copy")
	require.NoError(t, st.Bind(t.Context(), rec))
	reader.Release()
	n, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, want, query(t, conn, `SELECT * FROM "Copy"`))
	again := open(t, uriOf(cluster), nil)
	copied, err := again.GetTableSchema(t.Context(), nil, nil, "Copy")
	require.NoError(t, err)
	require.Equal(t, schema.String(), copied.String())
}

func TestIngestChoosesTypes(t *testing.T) {
	_, conn := start(t, "")
	st := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "made", "vecql.ingest.primary_key", "(A, b), c")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"A": 1, "b": "x", "c": 18446744073709551615, "d": [[1.5]],
		"e": [1, 2], "f": "1.25", "g": 1714979289010}]`,
		field("A", arrow.PrimitiveTypes.Uint16), field("b", arrow.BinaryTypes.LargeString),
		field("c", arrow.PrimitiveTypes.Uint64), field("d", arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Float64))),
		field("e", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)),
		field("f", &arrow.Decimal128Type{Precision: 9, Scale: 2}), field("g", arrow.FixedWidthTypes.Timestamp_ms))))
	_, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	schema, err := conn.GetTableSchema(t.Context(), nil, nil, "made")
	require.NoError(t, err)
	types := map[string]string{}
	for _, f := range schema.Fields() {
		kind, _ := f.Metadata.GetValue("cassandra.kind")
		text, _ := f.Metadata.GetValue("cassandra.type")
		types[f.Name] = text + " " + kind
	}
	require.Equal(t, map[string]string{
		"A": "int partition_key", "b": "text partition_key", "c": "varint clustering",
		"d": "list<frozen<list<double>>> regular", "e": "vector<float, 2> regular", "f": "decimal regular",
		"g": "timestamp regular",
	}, types)
	require.Equal(t, []string{`{"A":1,"b":"x","c":"18446744073709551615","d":[[1.5]],"e":[1,2],"f":"1.25",` +
		`"g":"2024-05-06T07:08:09.01Z"}`}, query(t, conn, "SELECT * FROM made"))
}
