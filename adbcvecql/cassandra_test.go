// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
)

// A real server: the same calls as on cqltest have the same results.

// vectorType finds the types that Cassandra 4 lacks.
var vectorType = regexp.MustCompile(`vector<(\w+), \d>`)

// TestOnServer compares a transcript of Cassandra with one of cqltest. On Cassandra 4 lists stand for vectors.
func TestOnServer(t *testing.T) {
	hosts, options := os.Getenv("VECQL_TEST_HOSTS"), map[string]string{
		"vecql.timeout": "30s", "vecql.protocol": fmt.Sprint(cassandra.Protocol()),
	}
	vectors := hosts != "" || cassandra.HasVectors()
	if hosts == "" {
		server, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		hosts, options["username"], options["password"] = server.Host, cassandra.Username, cassandra.Password
	}
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, Protocol: cassandra.Protocol()})
	keyspace := fmt.Sprint("vecql_adbc_", os.Getpid())
	want := transcript(t, "cassandra://"+cluster.Hosts()[0], nil, keyspace, vectors)
	got := transcript(t, "cassandra://"+hosts, options, keyspace, vectors)
	release := regexp.MustCompile(`"info_name":1,"info_value":\[0,"[^"]+"`) // cqltest has a release of its own
	for i := range want {
		require.Equal(t, release.ReplaceAllString(want[i], ""), release.ReplaceAllString(got[i], ""))
	}
	require.Len(t, got, len(want))
}

// A recorder records the results of calls. Rows are in the order of their text, because token ranges are read in any
// order.
type recorder struct {
	*testing.T
	conn    adbc.Connection
	vectors bool // the server has vectors
	lines   []string
}

// The types of most fields.
var int32s, int64s, texts = arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String

func (r *recorder) add(call string, rows []string, err error) {
	slices.Sort(rows)
	line := call + ":\n" + strings.Join(rows, "\n")
	var failed adbc.Error
	if errors.As(err, &failed) {
		line += fmt.Sprintf("%v %d %s", failed.Code, failed.VendorCode, failed.SqlState)
	} else {
		require.NoError(r, err, call)
	}
	r.lines = append(r.lines, line)
}

// query executes a statement with bound rows, if rec is not nil.
func (r *recorder) query(text string, rec arrow.RecordBatch, options ...string) {
	st := newStatement(r.T, r.conn, text, options...)
	if rec != nil {
		require.NoError(r, st.Bind(r.Context(), rec))
	}
	reader, n, err := st.ExecuteQuery(r.Context())
	var rows []string
	if err == nil {
		rows = append(rowsOf(r.T, reader), fmt.Sprint(n))
	}
	r.add(text, rows, err)
}

// ingest writes a record to a table.
func (r *recorder) ingest(name, mode string, rec arrow.RecordBatch, options ...string) {
	options = append(options, adbc.OptionKeyIngestTargetTable, name, adbc.OptionKeyIngestMode, mode)
	st := newStatement(r.T, r.conn, "", options...)
	require.NoError(r, st.Bind(r.Context(), rec))
	n, err := st.ExecuteUpdate(r.Context())
	r.add("ingest "+name+" "+mode, []string{fmt.Sprint(n)}, err)
}

// partitions reads all partitions of a statement.
func (r *recorder) partitions(text string) {
	_, parts, _, err := newStatement(r.T, r.conn, text, "vecql.partitions", "5").ExecutePartitions(r.Context())
	require.NoError(r, err)
	var rows []string
	for _, id := range parts.PartitionIDs {
		reader, err := r.conn.ReadPartition(r.Context(), id)
		require.NoError(r, err)
		rows = append(rows, rowsOf(r.T, reader)...)
	}
	r.add("partitions of "+text, rows, nil)
}

// schema returns the schema of a table.
func (r *recorder) schema(table string) *arrow.Schema {
	schema, err := r.conn.GetTableSchema(r.Context(), nil, nil, table)
	require.NoError(r, err)
	r.add("schema of "+table, []string{schema.String()}, nil)
	return schema
}

// transcript makes calls of each verb in a new keyspace, which it drops, and returns their results.
func transcript(t *testing.T, uri string, options map[string]string, keyspace string, vectors bool) []string {
	t.Helper()
	admin := open(t, uri, options)
	execute := func(ctx context.Context, conn adbc.Connection, statements string) {
		for text := range strings.SplitSeq(statements, ";") {
			if strings.TrimSpace(text) != "" {
				st, err := conn.NewStatement()
				require.NoError(t, err)
				require.NoError(t, st.SetSqlQuery(strings.ReplaceAll(text, "shop", keyspace)))
				_, err = st.ExecuteUpdate(ctx)
				require.NoError(t, err, text)
				require.NoError(t, st.Close())
			}
		}
	}
	drop := "DROP KEYSPACE IF EXISTS shop"
	execute(t.Context(), admin, drop+`;
		CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}`)
	defer execute(context.WithoutCancel(t.Context()), admin, drop)
	r := &recorder{T: t, conn: open(t, uri+"/"+keyspace, options), vectors: vectors}
	create := allTypes + items
	if !vectors {
		create = vectorType.ReplaceAllString(create, "list<$1>")
	}
	execute(t.Context(), r.conn, create)
	r.types()
	r.parameters()
	r.tables()
	r.failures()
	for i := range r.lines {
		r.lines[i] = strings.ReplaceAll(r.lines[i], keyspace, "shop")
	}
	return r.lines
}

// types reads values of every type, and writes them to another table.
func (r *recorder) types() {
	r.query("SELECT * FROM types", nil)
	r.query("SELECT * FROM types WHERE id = 1", nil, "vecql.uuid", "string", "vecql.decimal", "decimal256(76,3)",
		"vecql.varint", "decimal256", "vecql.duration", "string")
	schema := r.schema("types")
	reader, _, err := newStatement(r.T, r.conn, "SELECT * FROM types").ExecuteQuery(r.Context())
	require.NoError(r, err)
	defer reader.Release()
	require.True(r, reader.Next())
	rec := array.NewRecordBatch(schema, reader.RecordBatch().Columns(), reader.RecordBatch().NumRows())
	r.ingest("Copy", adbc.OptionValueIngestModeCreate, rec)
	r.schema("Copy")
	r.query(`SELECT * FROM "Copy"`, nil)
}

// parameters executes statements with bound rows, and conditional ones.
func (r *recorder) parameters() {
	rec := record(r.T, `[{"0": 1, "1": "it's", "2": "1.50"}, {"0": 2}, {"0": 3, "1": ""}]`,
		field("0", int64s), field("1", arrow.BinaryTypes.LargeString), field("2", texts))
	r.query("INSERT INTO items (id, name, price) VALUES (?, ?, ?)", rec)
	r.query("INSERT INTO items (id, name, price) VALUES (?, ?, ?) IF NOT EXISTS", rec)
	ids := record(r.T, `[{"id": 3}, {"id": 4}, {"id": 1}]`, field("id", arrow.PrimitiveTypes.Int8))
	r.query("SELECT id, name, price FROM items WHERE id = :id", ids)
	r.query("SELECT id, writetime(name) FROM items WHERE id = ?", record(r.T, `[{"0": 4}]`, field("0", int32s)))
	r.query("UPDATE items SET name = 'b' WHERE id = 1 IF name = 'a'", nil)
	r.query("DELETE FROM items WHERE id = ?", ids)
}

// tables reads a table of several pages in each way, and the metadata of all.
func (r *recorder) tables() {
	ingest(r.T, r.conn, 400)
	const all = "SELECT id, name, embedding FROM items"
	for _, workers := range []string{"1", "3"} {
		r.query(all, nil, "vecql.page_bytes", "4000", "vecql.workers", workers)
	}
	r.query(all+" LIMIT 1000", nil, "vecql.page_bytes", "4000")
	r.query("SELECT count(*), max(id) FROM items", nil)
	r.partitions(all)
	key, pair := []string{"vecql.ingest.primary_key", "id"}, arrow.DataType(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64))
	if !r.vectors {
		pair = arrow.ListOf(arrow.PrimitiveTypes.Float64)
	}
	for _, mode := range []string{
		adbc.OptionValueIngestModeReplace, adbc.OptionValueIngestModeAppend, adbc.OptionValueIngestModeCreate,
		adbc.OptionValueIngestModeCreateAppend,
	} {
		rec := record(r.T, fmt.Sprintf(`[{"id": %d, "V": [1, 2]}]`, len(mode)), field("id", arrow.PrimitiveTypes.Uint32),
			field("V", pair))
		r.ingest("made", mode, rec, key...)
	}
	r.schema("made")
	r.query("SELECT * FROM made", nil)
	keyspace, err := r.conn.(adbc.GetSetOptions).GetOption(adbc.OptionKeyCurrentDbSchema)
	require.NoError(r, err)
	objects, err := r.conn.GetObjects(r.Context(), adbc.ObjectDepthAll, nil, &keyspace, nil, nil, nil)
	require.NoError(r, err)
	r.add("objects", rowsOf(r.T, objects), nil)
	info, err := r.conn.GetInfo(r.Context(), nil)
	require.NoError(r, err)
	r.add("info", rowsOf(r.T, info), nil)
	// A server estimates sizes minutes after the first rows, if at all: only the call is compared.
	statistics, err := r.conn.(adbc.ConnectionGetStatistics).GetStatistics(r.Context(), nil, &keyspace, nil, true)
	require.NoError(r, err)
	require.Len(r, rowsOf(r.T, statistics), 1)
}

// failures makes calls that fail.
func (r *recorder) failures() {
	for _, text := range []string{
		"SELEC", "SELECT * FROM nothing", "SELECT nothing FROM items", "SELECT * FROM nowhere.items",
		"CREATE TABLE items (id int PRIMARY KEY)", "DROP TABLE nothing", "SELECT * FROM items WHERE name = 'a'",
		"INSERT INTO items (id) VALUES ('a')", "INSERT INTO items (name) VALUES ('a')", "USE shop", "TRUNCATE nothing",
	} {
		r.query(text, nil)
	}
	r.query("INSERT INTO items (id) VALUES (?)", record(r.T, `[{"0": null}]`, field("0", int32s)))
	r.query("INSERT INTO items (id) VALUES (?)", record(r.T, `[{"0": 4294967296}]`, field("0", int64s)))
	rec := record(r.T, `[{"id": 1, "x": 1}]`, field("id", int32s), field("x", int32s))
	r.ingest("items", adbc.OptionValueIngestModeAppend, rec)
	r.ingest("nothing", adbc.OptionValueIngestModeAppend, rec)
	r.ingest("other", adbc.OptionValueIngestModeCreate, rec)
}
