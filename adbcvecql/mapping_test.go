// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/tablescan"
)

// Mappings without a server: errors to statuses, types to CQL, names to patterns, numbers to decimals.

// refusal returns an error of a server.
func refusal(c cql.Code, text string) error { return &cql.ServerError{Code: c, Message: text} }

// TestStatuses requires the status, the vendor code and the SQLSTATE of each error.
func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		err    error
		status adbc.Status
		state  string
	}{
		{context.Canceled, adbc.StatusCancelled, ""},
		{context.DeadlineExceeded, adbc.StatusTimeout, ""},
		{vecql.ErrTimeoutNoResponse, adbc.StatusTimeout, ""},
		{vecql.ErrSessionClosed, adbc.StatusInvalidState, ""},
		{vecql.ErrUseStmt, adbc.StatusInvalidArgument, ""},
		{vecql.ErrValueCount, adbc.StatusInvalidArgument, ""},
		{vecql.ErrNoKeyspace, adbc.StatusInvalidArgument, ""},
		{vecql.ErrNoHosts, adbc.StatusInvalidArgument, ""},
		{vecql.ErrKeyspaceDoesNotExist, adbc.StatusNotFound, "42S02"},
		{vecql.ErrNoTable, adbc.StatusNotFound, "42S02"},
		{vecql.ErrUnsupported, adbc.StatusNotImplemented, ""},
		{vecql.ErrNoConnectionsStarted, adbc.StatusIO, ""},
		{vecql.ErrThrottled, adbc.StatusIO, ""},
		{&cql.ProtocolError{}, adbc.StatusInternal, ""},
		{errors.New("connect: the server requires credentials"), adbc.StatusUnauthenticated, ""},
		{errors.New("something else"), adbc.StatusUnknown, ""},
		{bulk.ErrColumns, adbc.StatusInvalidArgument, ""},
		{bulk.ErrOptions, adbc.StatusInvalidArgument, ""},
		{bulk.ErrCounters, adbc.StatusNotImplemented, ""},
		{column.ErrNoColumn, adbc.StatusInvalidArgument, ""},
		{arrowcolumn.ErrUnsupported, adbc.StatusNotImplemented, ""},
		{arrowcolumn.ErrMalformed, adbc.StatusInvalidData, ""},
		{arrowcolumn.ErrRange, adbc.StatusInvalidData, ""},
		{cql.ErrRange, adbc.StatusInvalidData, ""},
		{cql.ErrDimension, adbc.StatusInvalidData, ""},
		{&cql.MarshalError{Err: errors.New("x")}, adbc.StatusInvalidArgument, ""},
		{&cql.MarshalError{Err: cql.ErrDimension}, adbc.StatusInvalidData, ""},
		{&cql.UnmarshalError{Err: errors.New("x")}, adbc.StatusInvalidData, ""},
		{&tablescan.StatementError{}, adbc.StatusInvalidArgument, ""},
		{tablescan.ErrCheckpoint, adbc.StatusInvalidArgument, ""},
		{search.ErrSchema, adbc.StatusInvalidArgument, ""},
		{tablescan.ErrPartitioner, adbc.StatusNotImplemented, ""},
		{refusal(cql.CodeCredentials, "x"), adbc.StatusUnauthenticated, ""},
		{refusal(cql.CodeUnauthorized, "x"), adbc.StatusUnauthorized, ""},
		{refusal(cql.CodeAlreadyExists, "x"), adbc.StatusAlreadyExists, "42S01"},
		{refusal(cql.CodeSyntax, "x"), adbc.StatusInvalidArgument, ""},
		{refusal(cql.CodeInvalid, "x"), adbc.StatusInvalidArgument, ""},
		{refusal(cql.CodeInvalid, "Invalid null value in condition for column id"), adbc.StatusIntegrity, ""},
		{refusal(cql.CodeInvalid, "Invalid unset value for column id"), adbc.StatusIntegrity, ""},
		{refusal(cql.CodeInvalid, "Key may not be empty"), adbc.StatusIntegrity, ""},
		{refusal(cql.CodeInvalid, "unconfigured table x"), adbc.StatusNotFound, "42S02"},
		{refusal(cql.CodeInvalid, "table 'x' doesn't exist"), adbc.StatusNotFound, "42S02"},
		{refusal(cql.CodeInvalid, "keyspace x does not exist"), adbc.StatusNotFound, "42S02"},
		{refusal(cql.CodeReadTimeout, "x"), adbc.StatusTimeout, ""},
		{refusal(cql.CodeWriteTimeout, "x"), adbc.StatusTimeout, ""},
		{refusal(cql.CodeUnavailable, "x"), adbc.StatusIO, ""},
		{refusal(cql.CodeOverloaded, "x"), adbc.StatusIO, ""},
		{refusal(cql.CodeWriteFailure, "x"), adbc.StatusIO, ""},
	} {
		var got adbc.Error
		require.ErrorAs(t, wrapped("test", fmt.Errorf("within: %w", c.err)), &got)
		require.Equal(t, c.status, got.Code, "%v", c.err)
		require.Equal(t, c.state, strings.TrimRight(string(got.SqlState[:]), "\x00"), "%v", c.err)
		vendor := int32(0)
		if r, ok := c.err.(*cql.ServerError); ok {
			vendor = int32(r.Code)
		}
		require.Equal(t, vendor, got.VendorCode, "%v", c.err)
		require.True(t, strings.HasPrefix(got.Msg, "adbcvecql: test: "), got.Msg)
		require.Equal(t, got, wrapped("again", got), "an error has one status")
	}
	require.NoError(t, wrapped("test", nil))
}

// TestMessages requires one prefix and the operation once, and no names of Go's API.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ what, err, want string }{
		{"execute", `vecql: execute "DROP TABLE t": server: x`, `adbcvecql: execute "DROP TABLE t": server: x`},
		{"search", "search: no vector index", "adbcvecql: search: no vector index"},
		{"read", "ready", "adbcvecql: read: ready"},
	} {
		require.EqualError(t, wrapped(c.what, errors.New(c.err)), "Unknown: "+c.want)
	}
	require.ErrorContains(t, wrapped("execute", vecql.ErrUseStmt), "set the option adbc.connection.db_schema")
	require.ErrorContains(t, wrapped("search", search.ErrSchema), "select other columns by vecql.search.columns")
}

// TestCQLTypes requires a type that holds all values of each type of Arrow.
func TestCQLTypes(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		want string
	}{
		{arrow.FixedWidthTypes.Boolean, "boolean"},
		{arrow.PrimitiveTypes.Int8, "tinyint"},
		{arrow.PrimitiveTypes.Int16, "smallint"},
		{arrow.PrimitiveTypes.Int32, "int"},
		{arrow.PrimitiveTypes.Int64, "bigint"},
		{arrow.PrimitiveTypes.Uint8, "smallint"},
		{arrow.PrimitiveTypes.Uint16, "int"},
		{arrow.PrimitiveTypes.Uint32, "bigint"},
		{arrow.PrimitiveTypes.Uint64, "varint"},
		{arrow.FixedWidthTypes.Float16, "float"},
		{arrow.PrimitiveTypes.Float32, "float"},
		{arrow.PrimitiveTypes.Float64, "double"},
		{arrow.FixedWidthTypes.Date32, "date"},
		{arrow.FixedWidthTypes.Time64ns, "time"},
		{arrow.FixedWidthTypes.Timestamp_us, "timestamp"},
		{arrow.FixedWidthTypes.MonthDayNanoInterval, "duration"},
		{&arrow.Decimal128Type{Precision: 20, Scale: 3}, "decimal"},
		{&arrow.Decimal256Type{Precision: 50, Scale: 3}, "decimal"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 5}, "blob"},
		{arrow.BinaryTypes.Binary, "blob"},
		{arrow.BinaryTypes.LargeString, "text"},
		{arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), "vector<float, 3>"},
		{arrow.ListOf(arrow.PrimitiveTypes.Int16), "list<smallint>"},
		{arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int16)), "list<frozen<list<smallint>>>"},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Uint8), "map<text, smallint>"},
		{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}), ""},
		{arrow.ListOf(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64})), ""},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: c.typ, Nullable: true}}, nil)
		got, err := tableDefinition(schema, "c")
		if c.want == "" {
			requireCode(t, err, adbc.StatusNotImplemented, "a struct needs a user-defined type")
			continue
		}
		require.NoError(t, err, "%v", c.typ)
		require.Equal(t, ` ("c" `+c.want+`, PRIMARY KEY ("c"))`, got)
	}
}

// TestDefinitionByMetadata requires the key and the types of the metadata of GetTableSchema.
func TestDefinitionByMetadata(t *testing.T) {
	type column struct{ name, kind, position, typ string }
	schemaOf := func(columns ...column) *arrow.Schema {
		var fields []arrow.Field
		for _, c := range columns {
			m := arrow.NewMetadata([]string{metadataKind, metadataPosition, metadataType}, []string{c.kind, c.position, c.typ})
			fields = append(fields, arrow.Field{Name: c.name, Type: arrow.PrimitiveTypes.Int32, Nullable: true, Metadata: m})
		}
		return arrow.NewSchema(fields, nil)
	}
	whole := schemaOf(column{"r", "regular", "-1", "set<int>"}, column{"c2", "clustering", "1", "int"},
		column{"p2", "partition_key", "1", "int"}, column{"C1", "clustering", "0", "varint"},
		column{"p1", "partition_key", "0", "int"}, column{`s"`, "static", "-1", "frozen<point>"})
	text, err := tableDefinition(whole, "")
	require.NoError(t, err)
	require.Equal(t, ` ("r" set<int>, "c2" int, "p2" int, "C1" varint, "p1" int, "s""" frozen<point> static, `+
		`PRIMARY KEY (("p1", "p2"), "C1", "c2"))`, text)
	text, err = tableDefinition(whole, `(P1, "s"""), "C1"`)
	require.NoError(t, err)
	require.Contains(t, text, `PRIMARY KEY (("p1", "s"""), "C1"))`, "the option wins")
	_, err = tableDefinition(whole, "p1 p2")
	requireCode(t, err, adbc.StatusInvalidArgument, `vecql.ingest.primary_key is "p1 p2": want a comma before p2`)
	_, err = tableDefinition(whole, "c1")
	requireCode(t, err, adbc.StatusInvalidArgument, `no column "c1"`)
	_, err = tableDefinition(schemaOf(column{"p", "partition_key", "0", "int); DROP TABLE x; --"}), "")
	requireCode(t, err, adbc.StatusInvalidArgument, "cassandra.type of column p")
	_, err = tableDefinition(schemaOf(column{"c", "clustering", "0", "int"}), "")
	requireCode(t, err, adbc.StatusInvalidArgument, "a table needs a primary key")
}

// FuzzPrimaryKey requires that a key of quoted names is returned as it is, and that any other text is a key of the
// columns or an error.
func FuzzPrimaryKey(f *testing.F) {
	f.Add("a", `b"`, "A, (b)")
	f.Add(`""`, "B", `"`)
	f.Add("", "x y", `(a, "b"""), A`)
	f.Fuzz(func(t *testing.T, a, b, key string) {
		if a == b || !utf8.ValidString(a+b) || strings.ContainsRune(a+b, 0) {
			return
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: a, Type: arrow.PrimitiveTypes.Int8}, {Name: b, Type: arrow.PrimitiveTypes.Int8}}, nil)
		whole := "(" + cqltext.QuoteIdentifier(a) + "), " + cqltext.QuoteIdentifier(b)
		got, err := checkedKey(schema, whole)
		require.NoError(t, err)
		require.Equal(t, whole, got)
		got, err = checkedKey(schema, key)
		if err != nil {
			requireCode(t, err, adbc.StatusInvalidArgument, optionPrimaryKey)
			return
		}
		again, err := checkedKey(schema, got)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}

// TestPatterns requires SQL's patterns: any character but the wildcards is itself.
func TestPatterns(t *testing.T) {
	for pattern, names := range map[string]map[string]bool{
		"items":  {"items": true, "items2": false, "my_items": false, "": false},
		"it_ms":  {"items": true, "itms": false, "iteems": false, "it\nms": true},
		"it%":    {"it": true, "items": true, "it\nems": true, "fit": false},
		"%s":     {"items": true, "s": true, "st": false},
		"":       {"": true, "a": false},
		"a.c":    {"a.c": true, "abc": false},
		"(a|b)*": {"(a|b)*": true, "a": false},
	} {
		for name, want := range names {
			require.Equal(t, want, newPattern(&pattern).matches(name), "%q matches %q", pattern, name)
		}
	}
	require.True(t, newPattern(nil).matches(""))
}

// TestTables requires tables and views of a keyspace, ordered by name.
func TestTables(t *testing.T) {
	list := tables(&cql.KeyspaceMetadata{
		Name: "shop", Tables: map[string]*cql.TableMetadata{"b": {Name: "b"}, "d": {Name: "d"}},
		MaterializedViews: map[string]*cql.MaterializedViewMetadata{"c": {Name: "c"}},
	})
	var names []string
	for _, found := range list {
		require.Equal(t, "shop", found.keyspace)
		names = append(names, found.name+" "+found.kind)
	}
	require.Equal(t, []string{"b TABLE", "c MATERIALIZED VIEW", "d TABLE"}, names)
	require.Equal(t, "Apache Cassandra", vendor(&cql.KeyspaceMetadata{}))
	scylla := &cql.KeyspaceMetadata{Tables: map[string]*cql.TableMetadata{"scylla_local": {}}}
	require.Equal(t, "ScyllaDB", vendor(scylla))
	require.False(t, isKey(&cql.ColumnMetadata{Kind: cql.ColumnStatic}))
	require.True(t, isKey(&cql.ColumnMetadata{Kind: cql.ColumnClusteringKey}))
}

// TestDecimals requires that a number is exact or does not fit.
func TestDecimals(t *testing.T) {
	nines := strings.Repeat("9", decimalDigits)
	for _, c := range []struct {
		number string
		scale  int
		want   string // "" means that it does not fit
	}{
		{"1.50", 1, "15"},
		{"1.55", 1, ""},
		{"-0.001", 3, "-1"},
		{"0", 76, "0"},
		{"0E+100000", 0, "0"},
		{"1E+75", 0, "1" + strings.Repeat("0", 75)},
		{"1E+76", 0, ""},
		{"1E+2000000000", 0, ""},
		{"1E-2000000000", 76, ""},
		{nines, 0, nines},
		{"-" + nines, 0, "-" + nines},
		{"1" + strings.Repeat("0", 76), 0, ""},
		{"1", 76, ""},
		{"0.1", 76, "1" + strings.Repeat("0", 75)},
	} {
		number, err := cql.ParseDecimal(c.number)
		require.NoError(t, err)
		got, ok := rescaled(number, c.scale)
		require.Equal(t, c.want != "", ok, c.number)
		if ok {
			require.Equal(t, c.want, got.String())
			bits := int256(got)
			back := new(big.Int)
			for i := range bits {
				back.Or(back.Lsh(back, 64), new(big.Int).SetUint64(bits[len(bits)-1-i]))
			}
			if got.Sign() < 0 {
				back.Sub(back, new(big.Int).Lsh(big.NewInt(1), 256))
			}
			require.Zero(t, back.Cmp(got), "%v", back)
		}
	}
}

// requireCode requires that an error is an adbc.Error with a status and a part of its text.
func requireCode(t *testing.T, err error, status adbc.Status, text string) {
	t.Helper()
	var failed adbc.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, status, failed.Code, "%v", err)
	require.ErrorContains(t, err, text)
}
