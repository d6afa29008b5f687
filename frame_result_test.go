// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of RESULT bodies. Those with wrong counts are in fault_protocol_test.go.

// readCells reads the cells of a page; a truncated cell is a *ProtocolError.
func readCells(rows rowsBody) ([][]byte, error) {
	r := wire.NewReader(rows.cells)
	var cells [][]byte
	for range rows.rowCount * rows.meta.columnCount {
		cells = append(cells, r.Bytes())
		if r.Err() != nil {
			break
		}
	}
	return cells, malformed("rows", &r)
}

func TestParseResult(t *testing.T) {
	golden := readHexBodies(t, "frame_responses.hex")
	vector := cql.NewNativeType(protoV5, cql.TypeCustom,
		"org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 2)")
	column := func(name string, typ cql.TypeInfo) cql.ColumnInfo {
		return cql.ColumnInfo{Keyspace: "ks", Table: "t", Name: name, TypeInfo: typ}
	}
	ints, texts := cql.NativeType(cql.TypeInt), cql.NativeType(cql.TypeVarchar)
	preparedV4 := &preparedResult{
		id:        []byte("id"),
		bind:      metadata{columns: []cql.ColumnInfo{column("a", ints), column("b", texts)}, columnCount: 2, flags: 1},
		pkIndexes: []int{1, 0},
		result:    metadata{noColumns: true, flags: 4},
	}
	preparedV5 := &preparedResult{
		id: []byte("id"), resultMetadataID: []byte("mid"),
		bind:      metadata{columns: []cql.ColumnInfo{column("a", ints)}, columnCount: 1, flags: -0x7FFFFFFF},
		pkIndexes: []int{},
		result:    metadata{columns: []cql.ColumnInfo{column("c", cql.NativeType(cql.TypeBigInt))}, columnCount: 1, flags: 1},
	}
	for _, row := range []struct {
		name          string
		version       byte
		hasMetadataID bool
		want          result
		cells         [][]byte
	}{
		{"void", 4, false, result{kind: resultVoid}, nil},
		{"void", 5, true, result{kind: resultVoid}, nil},
		{"rows", 4, false, result{kind: resultRows, rows: rowsBody{rowCount: 2, meta: metadata{
			columns: []cql.ColumnInfo{column("k", ints), column("v", cql.NewListType(texts))}, pagingState: []byte("ps"), columnCount: 2, flags: 2,
		}}}, [][]byte{one, {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 2}, nil}},
		{"rows metadata changed", 5, false, result{kind: resultRows, rows: rowsBody{rowCount: 1, meta: metadata{
			columns: []cql.ColumnInfo{column("k", ints), column("e", vector)}, newID: []byte("mid"), columnCount: 2, flags: 9,
		}}}, [][]byte{one, {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}}},
		{"rows metadata changed", 4, true, result{kind: resultRows, rows: rowsBody{rowCount: 1, meta: metadata{
			columns: []cql.ColumnInfo{column("k", ints), column("e", vector)}, newID: []byte("mid"), columnCount: 2, flags: 9,
		}}}, [][]byte{one, {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}}},
		{"rows no metadata", 4, false, result{kind: resultRows, rows: rowsBody{
			rowCount: 2,
			meta:     metadata{columnCount: 1, noColumns: true, flags: 4},
		}}, [][]byte{{}, {42}}},
		{"set keyspace", 5, true, result{kind: resultSetKeyspace}, nil},
		{"prepared v4", 4, false, result{kind: resultPrepared, prepared: preparedV4}, nil},
		{"prepared v5", 5, false, result{kind: resultPrepared, prepared: preparedV5}, nil},
		{"prepared v5", 4, true, result{kind: resultPrepared, prepared: preparedV5}, nil},
		{"schema change", 4, false, result{
			kind:   resultSchemaChange,
			change: &schemaEvent{change: "CREATED", target: "TABLE", keyspace: "ks", name: "t"},
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			parse := func(r *wire.Reader) error {
				res, err := parseResult(r, row.version, row.hasMetadataID, nil)
				if err == nil {
					_, err = readCells(res.rows)
				}
				return err
			}
			requirePrefixesFail(t, golden[row.name], parse)

			body := append([]byte(nil), golden[row.name]...)
			r := wire.NewReader(body)
			got, err := parseResult(&r, row.version, row.hasMetadataID, nil)
			require.NoError(t, err)
			cells, err := readCells(got.rows)
			require.NoError(t, err)
			require.Equal(t, row.cells, cells)
			if row.cells != nil {
				require.Same(t, unsafe.SliceData(body[len(body)-len(got.rows.cells):]), unsafe.SliceData(got.rows.cells), "no copy")
			}
			clear(body) // only the cells and the bytes of the columns are parts of body
			got.rows.cells, got.rows.meta.spec = nil, nil
			if got.prepared != nil {
				got.prepared.result.spec = nil
			}
			require.Equal(t, row.want, got)
		})
	}
}

// TestParseResultSharesNames checks that all columns share one keyspace and one table name, with and without a global
// table spec.
func TestParseResultSharesNames(t *testing.T) {
	golden := readHexBodies(t, "frame_responses.hex")
	for _, name := range []string{"rows", "rows metadata changed"} {
		r := wire.NewReader(golden[name])
		res, err := parseResult(&r, protoV5, true, nil)
		require.NoError(t, err)
		a, b := res.rows.meta.columns[0], res.rows.meta.columns[1]
		require.Same(t, unsafe.StringData(a.Keyspace), unsafe.StringData(b.Keyspace), name)
		require.Same(t, unsafe.StringData(a.Table), unsafe.StringData(b.Table), name)
	}
}

// TestParseResultReusesColumns checks that repeated columns are not parsed again, and that others are never mistaken
// for them.
func TestParseResultReusesColumns(t *testing.T) {
	golden := readHexBodies(t, "frame_responses.hex")
	parse := func(body []byte, known *knownColumns) metadata {
		r := wire.NewReader(body)
		res, err := parseResult(&r, protoV4, true, known)
		require.NoError(t, err)
		require.Zero(t, r.Len())
		return res.rows.meta
	}
	for _, name := range []string{"rows", "rows metadata changed"} {
		first := parse(golden[name], nil)
		known := first.known()
		again := parse(golden[name], &known)
		require.Same(t, &known.columns[0], &again.columns[0])
		again.spec, first.spec = nil, nil
		require.Equal(t, first, again)
		for i := range known.spec {
			other := known
			other.spec = bytes.Clone(known.spec)
			other.spec[i] ^= 1
			require.NotSame(t, &known.columns[0], &parse(golden[name], &other).columns[0], "byte %d differs", i)
		}
		other := known
		other.global = !other.global
		require.NotSame(t, &known.columns[0], &parse(golden[name], &other).columns[0])
		other = known
		other.columns = known.columns[:1]
		require.Equal(t, first.columns, parse(golden[name], &other).columns)
	}
}

// TestParseResultMetadataChangedWithoutIDs checks that a v4 connection without metadata ids ignores the flag.
func TestParseResultMetadataChangedWithoutIDs(t *testing.T) {
	body := []byte{0, 0, 0, 2, 0, 0, 0, 0x0C, 0, 0, 0, 1, 0, 0, 0, 0}
	r := wire.NewReader(body)
	res, err := parseResult(&r, protoV4, false, nil)
	require.NoError(t, err)
	require.Nil(t, res.rows.meta.newID)
}
