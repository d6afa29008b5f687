// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// What nodes of Cassandra state of their indexes. Package tests asks a real one.

// TestCheckAttached waits for the indexes of the table: also of columns of filters, but not of other vectors.
func TestCheckAttached(t *testing.T) {
	tbl := &table{
		target: target{keyspace: "shop", table: "products", column: "v"},
		meta: &cql.TableMetadata{Columns: map[string]*cql.ColumnMetadata{
			"w":     {Type: cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 2}},
			"price": {Type: cql.NativeType(cql.TypeFloat)},
		}},
		columns: []index{{name: "by_w", column: "w"}, {name: "by_price", column: "price"}, {name: "by_tags", column: "gone"}},
	}
	for _, c := range []struct {
		row  attachedIndex
		want string // of the reason; empty means that the index serves or does not matter
	}{
		{attachedIndex{Name: "by_v", Table: "products", Queryable: true}, ""},
		{attachedIndex{Name: "by_v", Table: "products", Building: true}, "index shop.by_v does not serve yet: the node builds it"},
		{attachedIndex{Name: "by_price", Table: "products", Building: true}, "index shop.by_price does not serve yet: the node builds it"},
		{attachedIndex{Name: "by_tags", Table: "products", Building: true}, "index shop.by_tags does not serve yet: the node builds it"},
		{attachedIndex{Name: "by_w", Table: "products", Building: true}, ""},
		{attachedIndex{Name: "by_x", Table: "others", Building: true}, ""},
		{attachedIndex{Name: "by_v", Table: "products"}, "the node does not build it; if that stays so, its log states why: " +
			"nodetool rebuild_index shop products by_v builds it again"},
	} {
		err := tbl.checkAttached(c.row)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		var waiting *IndexNotReadyError
		require.ErrorAs(t, err, &waiting)
		require.ErrorContains(t, err, c.want)
		require.Negative(t, waiting.Progress)
	}
}

// TestPartOf adds the tasks that build indexes.
func TestPartOf(t *testing.T) {
	const build = "secondary index build"
	for _, c := range []struct {
		tasks []task
		want  float64
	}{
		{nil, -1},
		{[]task{{"compaction", 1, 2}}, -1},
		{[]task{{build, 0, 0}}, -1},
		{[]task{{build, 1, 4}, {"compaction", 4, 4}}, 0.25},
		{[]task{{build, 10, 100}, {build, 50, 100}}, 0.3},
		{[]task{{build, 9, 4}}, 1},
		{[]task{{build, -9, 4}}, 0},
	} {
		require.InDelta(t, c.want, partOf(c.tasks), 1e-9, "%v", c.tasks)
	}
}
