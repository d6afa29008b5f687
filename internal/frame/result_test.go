// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of RESULT bodies. Those with wrong counts are in internal/conn/fault_protocol_test.go.

// readCells reads the cells of a page; a truncated cell is a *ProtocolError.
func readCells(rows RowsBody) ([][]byte, error) {
	r := wire.NewReader(rows.Cells)
	var cells [][]byte
	for range rows.RowCount * rows.Meta.ColumnCount {
		cells = append(cells, r.Bytes())
		if r.Err() != nil {
			break
		}
	}
	return cells, malformed("rows", &r)
}

func TestParseResult(t *testing.T) {
	golden := readHexBodies(t, "responses.hex")
	vector := cql.NewNativeType(V5, cql.TypeCustom,
		"org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 2)")
	column := func(name string, typ cql.TypeInfo) cql.ColumnInfo {
		return cql.ColumnInfo{Keyspace: "ks", Table: "t", Name: name, TypeInfo: typ}
	}
	ints, texts := cql.NativeType(cql.TypeInt), cql.NativeType(cql.TypeVarchar)
	preparedV3 := &PreparedResult{
		ID:     []byte("id"),
		Bind:   Metadata{Columns: []cql.ColumnInfo{column("a", ints), column("b", texts)}, ColumnCount: 2, Flags: 1},
		Result: Metadata{Columns: []cql.ColumnInfo{column("c", cql.NativeType(cql.TypeTinyInt))}, ColumnCount: 1},
	}
	preparedV4 := &PreparedResult{
		ID:        []byte("id"),
		Bind:      Metadata{Columns: []cql.ColumnInfo{column("a", ints), column("b", texts)}, ColumnCount: 2, Flags: 1},
		PKIndexes: []int{1, 0},
		Result:    Metadata{NoColumns: true, Flags: 4},
	}
	preparedV5 := &PreparedResult{
		ID: []byte("id"), ResultMetadataID: []byte("mid"),
		Bind:      Metadata{Columns: []cql.ColumnInfo{column("a", ints)}, ColumnCount: 1, Flags: -0x7FFFFFFF},
		PKIndexes: []int{},
		Result:    Metadata{Columns: []cql.ColumnInfo{column("c", cql.NativeType(cql.TypeBigInt))}, ColumnCount: 1, Flags: 1},
	}
	for _, row := range []struct {
		name          string
		version       byte
		hasMetadataID bool
		want          Result
		cells         [][]byte
	}{
		{"void", 4, false, Result{Kind: ResultVoid}, nil},
		{"void", 5, true, Result{Kind: ResultVoid}, nil},
		{"rows", 4, false, Result{Kind: ResultRows, Rows: RowsBody{RowCount: 2, Meta: Metadata{
			Columns: []cql.ColumnInfo{column("k", ints), column("v", cql.NewListType(texts))}, PagingState: []byte("ps"), ColumnCount: 2, Flags: 2,
		}}}, [][]byte{one, {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 2}, nil}},
		{"rows metadata changed", 5, false, Result{Kind: ResultRows, Rows: RowsBody{RowCount: 1, Meta: Metadata{
			Columns: []cql.ColumnInfo{column("k", ints), column("e", vector)}, NewID: []byte("mid"), ColumnCount: 2, Flags: 9,
		}}}, [][]byte{one, {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}}},
		{"rows metadata changed", 4, true, Result{Kind: ResultRows, Rows: RowsBody{RowCount: 1, Meta: Metadata{
			Columns: []cql.ColumnInfo{column("k", ints), column("e", vector)}, NewID: []byte("mid"), ColumnCount: 2, Flags: 9,
		}}}, [][]byte{one, {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}}},
		{"rows no metadata", 4, false, Result{Kind: ResultRows, Rows: RowsBody{
			RowCount: 2,
			Meta:     Metadata{ColumnCount: 1, NoColumns: true, Flags: 4},
		}}, [][]byte{{}, {42}}},
		{"set keyspace", 5, true, Result{Kind: ResultSetKeyspace}, nil},
		{"rows", 3, false, Result{Kind: ResultRows, Rows: RowsBody{RowCount: 2, Meta: Metadata{
			Columns: []cql.ColumnInfo{column("k", ints), column("v", cql.NewListType(texts))}, PagingState: []byte("ps"), ColumnCount: 2, Flags: 2,
		}}}, [][]byte{one, {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 2}, nil}},
		{"prepared v3", 3, false, Result{Kind: ResultPrepared, Prepared: preparedV3}, nil},
		{"prepared v4", 4, false, Result{Kind: ResultPrepared, Prepared: preparedV4}, nil},
		{"prepared v5", 5, false, Result{Kind: ResultPrepared, Prepared: preparedV5}, nil},
		{"prepared v5", 4, true, Result{Kind: ResultPrepared, Prepared: preparedV5}, nil},
		{"schema change", 4, false, Result{
			Kind:   ResultSchemaChange,
			Change: &SchemaEvent{Change: "CREATED", Target: "TABLE", Keyspace: "ks", Name: "t"},
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			parse := func(r *wire.Reader) error {
				res, err := ParseResult(r, row.version, row.hasMetadataID, nil)
				if err == nil {
					_, err = readCells(res.Rows)
				}
				return err
			}
			requirePrefixesFail(t, golden[row.name], parse)

			body := append([]byte(nil), golden[row.name]...)
			r := wire.NewReader(body)
			got, err := ParseResult(&r, row.version, row.hasMetadataID, nil)
			require.NoError(t, err)
			cells, err := readCells(got.Rows)
			require.NoError(t, err)
			require.Equal(t, row.cells, cells)
			if row.cells != nil {
				require.Same(t, unsafe.SliceData(body[len(body)-len(got.Rows.Cells):]), unsafe.SliceData(got.Rows.Cells), "no copy")
			}
			clear(body) // only the cells and the bytes of the columns are parts of body
			got.Rows.Cells, got.Rows.Meta.spec = nil, nil
			if got.Prepared != nil {
				got.Prepared.Result.spec = nil
			}
			require.Equal(t, row.want, got)
		})
	}
}

// TestParseResultSharesNames checks that all columns share one keyspace and one table name, with and without a global
// table spec.
func TestParseResultSharesNames(t *testing.T) {
	golden := readHexBodies(t, "responses.hex")
	for _, name := range []string{"rows", "rows metadata changed"} {
		r := wire.NewReader(golden[name])
		res, err := ParseResult(&r, V5, true, nil)
		require.NoError(t, err)
		a, b := res.Rows.Meta.Columns[0], res.Rows.Meta.Columns[1]
		require.Same(t, unsafe.StringData(a.Keyspace), unsafe.StringData(b.Keyspace), name)
		require.Same(t, unsafe.StringData(a.Table), unsafe.StringData(b.Table), name)
	}
}

// TestParseResultReusesColumns checks that repeated columns are not parsed again, and that others are never mistaken
// for them.
func TestParseResultReusesColumns(t *testing.T) {
	golden := readHexBodies(t, "responses.hex")
	parse := func(body []byte, known *KnownColumns) Metadata {
		r := wire.NewReader(body)
		res, err := ParseResult(&r, V4, true, known)
		require.NoError(t, err)
		require.Zero(t, r.Len())
		return res.Rows.Meta
	}
	for _, name := range []string{"rows", "rows metadata changed"} {
		first := parse(golden[name], nil)
		known := first.Known()
		again := parse(golden[name], &known)
		require.Same(t, &known.Columns[0], &again.Columns[0])
		again.spec, first.spec = nil, nil
		require.Equal(t, first, again)
		for i := range known.spec {
			other := known
			other.spec = bytes.Clone(known.spec)
			other.spec[i] ^= 1
			require.NotSame(t, &known.Columns[0], &parse(golden[name], &other).Columns[0], "byte %d differs", i)
		}
		other := known
		other.global = !other.global
		require.NotSame(t, &known.Columns[0], &parse(golden[name], &other).Columns[0])
		other = known
		other.Columns = known.Columns[:1]
		require.Equal(t, first.Columns, parse(golden[name], &other).Columns)
	}
}

// TestParseResultMetadataChangedWithoutIDs checks that a v4 connection without metadata ids ignores the flag.
func TestParseResultMetadataChangedWithoutIDs(t *testing.T) {
	body := []byte{0, 0, 0, 2, 0, 0, 0, 0x0C, 0, 0, 0, 1, 0, 0, 0, 0}
	r := wire.NewReader(body)
	res, err := ParseResult(&r, V4, false, nil)
	require.NoError(t, err)
	require.Nil(t, res.Rows.Meta.NewID)
}
