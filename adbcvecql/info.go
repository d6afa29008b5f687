// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/version"
)

// Metadata of the driver and the server.

// recordsOf returns rows as one record of a schema of ADBC. A row is a struct whose JSON has the names of the schema.
func recordsOf[T any](schema *arrow.Schema, rows []T) (array.RecordReader, error) {
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, wrapped("encode metadata", err)
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader(text))
	if err != nil {
		return nil, wrapped("encode metadata", err)
	}
	defer rec.Release()
	reader, err := array.NewRecordReader(schema, []arrow.RecordBatch{rec})
	return reader, wrapped("encode metadata", err)
}

// union is a value of a dense union: its type code and the value.
type union [2]any

// infoRow is a row of adbc.GetInfoSchema.
type infoRow struct {
	Code  adbc.InfoCode `json:"info_name"`
	Value union         `json:"info_value"`
}

// GetInfo implements adbc.Connection. Without codes it returns all that it has.
func (c *connection) GetInfo(ctx context.Context, codes []adbc.InfoCode) (array.RecordReader, error) {
	var release string
	local := c.session.Query("SELECT release_version FROM system.local").Consistency(cql.One)
	if err := local.Scan(ctx, &release); err != nil {
		return nil, wrapped("read the version of the server", err)
	}
	system, err := c.session.KeyspaceMetadata(ctx, "system")
	if err != nil {
		return nil, wrapped("read the schema of the server", err)
	}
	text := func(code adbc.InfoCode, value string) infoRow {
		return infoRow{code, union{adbc.InfoValueStringType, value}}
	}
	flag := func(code adbc.InfoCode, value bool) infoRow {
		return infoRow{code, union{adbc.InfoValueBooleanType, value}}
	}
	rows := []infoRow{
		text(adbc.InfoVendorName, vendor(system)),
		text(adbc.InfoVendorVersion, release),
		flag(adbc.InfoVendorSql, true),
		flag(adbc.InfoVendorSubstrait, false),
		text(adbc.InfoDriverName, "ADBC vecql driver"),
		text(adbc.InfoDriverVersion, version.Version),
		text(adbc.InfoDriverArrowVersion, arrow.PkgVersion),
		{adbc.InfoDriverADBCVersion, union{adbc.InfoValueInt64Type, adbc.AdbcVersion1_1_0}},
	}
	if len(codes) > 0 {
		rows = slices.DeleteFunc(rows, func(r infoRow) bool { return !slices.Contains(codes, r.Code) })
	}
	return recordsOf(adbc.GetInfoSchema, rows)
}

// vendor returns the name of a server by its keyspace system.
func vendor(system *cql.KeyspaceMetadata) string {
	if system.Tables["scylla_local"] != nil {
		return "ScyllaDB"
	}
	return "Apache Cassandra"
}
