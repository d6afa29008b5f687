// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// Partitions are rows unless the table has clustering columns.
func TestStatisticsAreOfPartitions(t *testing.T) {
	sum := sizeSum{partitions: 40, bytes: 7000}
	rows := sum.rows(table{name: "a"})
	rows = append(rows, sum.rows(table{name: "b", clustering: []*vecql.ColumnMetadata{{}}})...)
	reader, err := recordsOf(adbc.GetStatisticsSchema, []statisticsCatalogRow{{nil, []statisticsSchemaRow{{"shop", rows}}}})
	require.NoError(t, err)
	defer reader.Release()
	require.True(t, reader.Next())
	var text strings.Builder
	require.NoError(t, array.RecordToJSON(reader.RecordBatch(), &text))
	row := func(key, value, table string) string {
		return `{"column_name":null,"statistic_is_approximate":true,"statistic_key":` + key + `,"statistic_value":[2,` +
			value + `],"table_name":"` + table + `"}`
	}
	require.Contains(t, text.String(), `[`+row("1024", "40", "a")+","+row("1025", "175", "a")+","+row("6", "40", "a")+
		","+row("1024", "40", "b")+","+row("1025", "175", "b")+"]")
}
