// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// TestSchema requires that the schema is the result's, and that errors are the errors of Batch.
func TestSchema(t *testing.T) {
	ctx := context.Background()
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, manyRows(50)))
	for _, p := range []pipe.Pipe{
		file, file.Where("i > 3").Select("s", "i"), file.With("x", "i + 1").GroupBy("x").Aggregate(groupby.Mean("f"), groupby.Count()),
		pipe.Union(file.Select("at"), file.Select("at")), file.Aggregate(groupby.Sum("i + 1"), groupby.Sum("i + 2"), groupby.Sum("i + 3")),
	} {
		b, err := p.Batch(ctx)
		require.NoError(t, err)
		schema, err := p.Schema(ctx)
		require.NoError(t, err)
		require.Len(t, schema, len(b.Columns))
		for i, f := range b.Schema() {
			require.Equal(t, f.Name, schema[i].Name)
			require.Equal(t, f.Type, schema[i].Type, f.Name)
		}
	}
	_, err := file.Where("missing = 1").Schema(ctx)
	var e *pipe.Error
	require.ErrorAs(t, err, &e)
	_, err = pipe.Pipe{}.Schema(ctx)
	require.ErrorIs(t, err, pipe.ErrNoSource)
}
