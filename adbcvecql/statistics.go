// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"errors"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/cql"
)

// GetStatistics: the estimates of the nodes for their primary ranges, as sums of the cluster. They are about
// partitions, which are rows in a table without clustering columns.

// The statistics of this driver.
const (
	partitionCountKey  = 1024
	partitionCountName = "vecql.statistic.partition_count"
	partitionBytesKey  = 1025
	partitionBytesName = "vecql.statistic.partition_byte_width" // average
)

// The rows of adbc.GetStatisticsSchema.
type (
	statisticsCatalogRow struct {
		Name    *string               `json:"catalog_name"`
		Schemas []statisticsSchemaRow `json:"catalog_db_schemas"`
	}
	statisticsSchemaRow struct {
		Name       string         `json:"db_schema_name"`
		Statistics []statisticRow `json:"db_schema_statistics"`
	}
	statisticRow struct {
		Table         string  `json:"table_name"`
		Column        *string `json:"column_name"`
		Key           int     `json:"statistic_key"`
		Value         union   `json:"statistic_value"`
		IsApproximate bool    `json:"statistic_is_approximate"`
	}
)

// GetStatistics implements adbc.ConnectionGetStatistics. All values are approximate, also if exact ones are requested.
func (c *connection) GetStatistics(ctx context.Context, catalog, dbSchema, tableName *string, _ bool,
) (array.RecordReader, error) {
	rows := []statisticsCatalogRow{}
	if newPattern(catalog).matches("") {
		keyspaces, err := c.keyspaces(ctx, newPattern(dbSchema))
		if err != nil {
			return nil, err
		}
		row := statisticsCatalogRow{Schemas: []statisticsSchemaRow{}}
		for _, ks := range keyspaces {
			list, err := c.statistics(ctx, ks, newPattern(tableName))
			if err != nil {
				return nil, wrapped("read estimates of "+ks.Name, err)
			}
			row.Schemas = append(row.Schemas, statisticsSchemaRow{ks.Name, list})
		}
		rows = append(rows, row)
	}
	return recordsOf(adbc.GetStatisticsSchema, rows)
}

// statistics returns the statistics of the tables of a keyspace, ordered by name.
func (c *connection) statistics(ctx context.Context, ks *cql.KeyspaceMetadata, names pattern,
) ([]statisticRow, error) {
	sums, err := c.estimates(ctx, ks.Name)
	if err != nil {
		return nil, err
	}
	list := []statisticRow{}
	for _, t := range tables(ks) {
		if sum := sums[t.name]; names.matches(t.name) && sum.partitions > 0 {
			list = append(list, sum.rows(t)...)
		}
	}
	return list, nil
}

// A sizeSum is the sum of the estimates of a table.
type sizeSum struct{ partitions, bytes float64 }

// rows returns the statistics of a table.
func (s sizeSum) rows(t table) []statisticRow {
	row := func(key int, value float64) statisticRow {
		return statisticRow{t.name, nil, key, union{2, value}, true}
	}
	list := []statisticRow{row(partitionCountKey, s.partitions), row(partitionBytesKey, s.bytes/s.partitions)}
	if len(t.clustering) == 0 {
		list = append(list, row(adbc.StatisticRowCountKey, s.partitions))
	}
	return list
}

// estimates returns the sums of the estimates of all nodes that are up, by table. A node has estimates of its primary
// ranges: in system.table_estimates of the whole cluster (Cassandra 4), in system.size_estimates of its data center.
func (c *connection) estimates(ctx context.Context, keyspace string) (map[string]sizeSum, error) {
	sums := map[string]sizeSum{}
	for _, h := range c.session.GetHosts() {
		if !c.session.IsUp(h) {
			continue
		}
		err := c.addEstimates(ctx, sums, "table_name, mean_partition_size, partitions_count, range_type", "table_estimates",
			keyspace, h)
		if errors.Is(err, cql.CodeInvalid) {
			err = c.addEstimates(ctx, sums, "table_name, mean_partition_size, partitions_count", "size_estimates", keyspace, h)
		}
		// ScyllaDB has no estimates of tables with tablets, and some services have no such table.
		if err != nil && !errors.Is(err, cql.CodeInvalid) {
			return nil, err
		}
	}
	return sums, nil
}

// addEstimates adds the estimates of a node. If estimates have a type of range, only primary ones count.
func (c *connection) addEstimates(ctx context.Context, sums map[string]sizeSum, columns, table, keyspace string,
	h *cql.Host,
) error {
	stmt := "SELECT " + columns + " FROM system." + table + " WHERE keyspace_name = ?"
	it := c.session.Query(stmt, keyspace).HostID(h.ID).Consistency(cql.One).Iter(ctx)
	name, kind := "", "primary"
	var size, count int64
	dest := []any{&name, &size, &count, &kind}
	for it.Scan(dest[:len(it.Columns())]...) {
		if kind != "primary" {
			continue
		}
		sum := sums[name]
		sum.partitions += float64(count)
		sum.bytes += float64(size) * float64(count)
		sums[name] = sum
	}
	return it.Close()
}

// GetStatisticNames implements adbc.ConnectionGetStatistics.
func (c *connection) GetStatisticNames(context.Context) (array.RecordReader, error) {
	type row struct {
		Name string `json:"statistic_name"`
		Key  int    `json:"statistic_key"`
	}
	return recordsOf(adbc.GetStatisticNamesSchema, []row{
		{partitionCountName, partitionCountKey}, {partitionBytesName, partitionBytesKey},
	})
}
