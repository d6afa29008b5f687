// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"fmt"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// Read on Prism, beside plain SELECTs.

const itemsTable = `CREATE TABLE shop.items (label text, id int, embedding vector<float, 3>, PRIMARY KEY (label, id));`

// fill writes n rows of 20 partitions to shop.items.
func fill(t *testing.T, uri string, n int) {
	t.Helper()
	session := connect(t, uri)
	for i := range n {
		err := session.Query("INSERT INTO items (label, id, embedding) VALUES (?, ?, ?)", fmt.Sprint("label ", i%20), i,
			[]float32{float32(i), 1, 2}).ExecContext(t.Context())
		require.NoError(t, err)
	}
}

func TestRead(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{
		"vnodes":  {},
		"one":     {Nodes: 1, VNodes: 1},
		"tablets": {Scylla: &cqltest.Scylla{Shards: 2, Tablets: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			_, uri := start(t, cfg, itemsTable)
			fill(t, uri, 500)
			var got func() []*column.Batch
			counters, err := run(t, func(s beam.Scope) {
				got = collect(t, s, Read(s, uri, "SELECT * FROM shop.items", ReadOptions{PageBytes: 512}))
			})
			require.NoError(t, err)
			seen := map[string]int{}
			for _, b := range got() {
				require.Len(t, b.Columns, 3)
				for i := range b.Rows {
					seen[fmt.Sprint(b.Column("id").Value(i), b.Column("embedding").Value(i))]++
				}
			}
			require.Len(t, seen, 500)
			for i := range 500 {
				require.Equal(t, 1, seen[fmt.Sprint(i, []float32{float32(i), 1, 2})], "row %d", i)
			}
			require.EqualValues(t, 500, counters["rows_read"])
			require.GreaterOrEqual(t, counters["ranges_read"], int64(16))
			require.Positive(t, counters["bytes_read"])
		})
	}
}
