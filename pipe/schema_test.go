// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
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

// TestSchemaNullable requires that a column is nullable unless it cannot have NULL, also where its values are computed.
func TestSchemaNullable(t *testing.T) {
	ctx := context.Background()
	schema := column.Schema{{Name: "id", Type: column.TypeOf[int64]()}, {Name: "x", Type: column.TypeOf[int64](), Nullable: true}}
	id := []int64{1, 2, 2, 2}
	b := column.NewBatch(column.Of("id", id), column.Of("x", id).WithNulls([]bool{false, true, true, false}))
	file := pipe.Dataset(filesOf(t, b, schema))
	optional := pipe.Dataset(filesOf(t, b, b.Schema()))
	for text, c := range map[string]struct {
		pipe pipe.Pipe
		want []bool
	}{
		"columns":       {file, []bool{false, true}},
		"expressions":   {file.With("a", "id * 2").With("b", "x + id").With("c", "x is null").With("d", "'a'").Select("a", "b", "c", "d"), []bool{false, true, false, false}},
		"names":         {file.With("a", "id").With("id", "x").Select("a", "id", "x"), []bool{false, true, true}},
		"texts":         {file.Select("id + 1", "coalesce(x, 0)"), []bool{false, false}},
		"all rows":      {file.Aggregate(groupby.Count(), groupby.CountOf("x"), groupby.CountDistinct("x"), groupby.ApproxCountDistinct("x"), groupby.Sum("id"), groupby.Min("id")), []bool{false, false, false, false, true, true}},
		"groups":        {file.GroupBy("x", "id").Aggregate(groupby.Count(), groupby.Sum("id"), groupby.Mean("x"), groupby.Min("id"), groupby.Max("id + 1"), groupby.Any("id"), groupby.First("id"), groupby.Last("x"), groupby.StdDev("id")), []bool{true, false, false, false, true, false, false, false, false, true, true}},
		"distinct":      {file.Distinct(), []bool{false, true}},
		"order":         {file.OrderBy(pipe.Ascending("id + 1")).Limit(2), []bool{false, true}},
		"union":         {pipe.Union(file.Select("id"), optional.Select("id")), []bool{true}},
		"union of ids":  {pipe.Union(file.Select("id"), file.Select("id")), []bool{false}},
		"other files":   {pipe.Dataset(filesOf(t, b, schema, b.Schema())).With("a", "id + 1"), []bool{true, true, true}},
		"several files": {pipe.Dataset(filesOf(t, b, schema, schema)), []bool{false, true}},
	} {
		s, err := c.pipe.Schema(ctx)
		require.NoError(t, err, text)
		rows, err := c.pipe.Batch(ctx)
		require.NoError(t, err, text)
		var got []bool
		for i, f := range s {
			got = append(got, f.Nullable)
			require.True(t, f.Nullable || rows.Columns[i].Nulls == 0, "%s: %s", text, f.Name)
		}
		require.Equal(t, c.want, got, text)
	}
}

// filesOf returns the rows once for each schema, each in a file of its own.
func filesOf(t *testing.T, b *column.Batch, schemas ...column.Schema) *parquetscan.Dataset {
	sources := make([]parquetscan.Source, len(schemas))
	for i, schema := range schemas {
		var file bytes.Buffer
		w, err := parquetscan.NewWriter(&file, schema, parquetscan.WriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Close())
		sources[i] = parquetscan.Source{Name: fmt.Sprint(i), Reader: bytes.NewReader(file.Bytes()), Size: int64(file.Len())}
	}
	d, err := parquetscan.OpenSources(t.Context(), sources...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}
