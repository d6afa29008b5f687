// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// TestColumnsOfOneName reads a file whose columns share names: each has a name of its own, with which conditions,
// groups, orders, statistics and lengths find it.
func TestColumnsOfOneName(t *testing.T) {
	n := 500
	first, second, texts, third := make([]int64, n), make([]int64, n), make([]string, n), make([]float64, n)
	for i := range n {
		first[i], second[i], texts[i], third[i] = int64(i), int64(n-i), fmt.Sprintf("%0*d", 1+i%7, i%3), float64(i%5)
	}
	b := column.NewBatch(column.Of("id", first), column.Of("id", second), column.Strings("s", texts), column.Strings("s", texts), column.Of("id", third))
	source := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b))
	all, err := source.Batch(t.Context())
	require.NoError(t, err)
	names := make([]string, len(all.Columns))
	for i := range names {
		names[i] = all.Columns[i].Name
	}
	require.Equal(t, []string{"id", "id_1", "s", "s_1", "id_2"}, names)
	renamed := column.NewBatch(all.Columns...)
	for name, p := range map[string]func(p pipe.Pipe) pipe.Pipe{
		"condition": func(p pipe.Pipe) pipe.Pipe {
			return p.Where("id_1 < 20 and id_2 = 3 and s_1 like '%1'").Select("id", "id_1", "s_1")
		},
		"selector": func(p pipe.Pipe) pipe.Pipe { return p.Where("id_1 % 7 = id % 3").Select("id_2") },
		"groups": func(p pipe.Pipe) pipe.Pipe {
			return p.GroupBy("id_2").Aggregate(groupby.Sum("id_1").As("sum"), groupby.Sum("length(s_1)").As("length"), groupby.Max("s").As("s")).OrderBy(pipe.Ascending("id_2"))
		},
		"first rows": func(p pipe.Pipe) pipe.Pipe { return p.OrderBy(pipe.Ascending("id_1")).Limit(3) },
		"statistics": func(p pipe.Pipe) pipe.Pipe {
			return p.Aggregate(groupby.Min("id_1").As("min"), groupby.Max("id").As("max"), groupby.CountOf("s_1").As("count"))
		},
	} {
		got, err := p(source).Batch(t.Context())
		require.NoError(t, err, name)
		want, err := p(pipe.Batches(renamed)).Batch(t.Context())
		require.NoError(t, err, name)
		require.Empty(t, column.Diff(got, want), name)
	}
}
