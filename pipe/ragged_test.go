// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Lists of other writers that look like vectors in footers, because all row groups have the same average length.

// writeLists writes a row group for each group of lists, with column id and the lists as column v.
func writeLists(t *testing.T, groups ...[][]float32) string {
	t.Helper()
	list := arrow.ListOf(arrow.PrimitiveTypes.Float32)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: list, Nullable: true},
	}, nil)
	path := filepath.Join(t.TempDir(), "lists.parquet")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, f, nil, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	id := int64(0)
	for _, group := range groups {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		lists := b.Field(1).(*array.ListBuilder)
		for _, row := range group {
			b.Field(0).(*array.Int64Builder).Append(id)
			lists.Append(true)
			lists.ValueBuilder().(*array.Float32Builder).AppendValues(row, nil)
			id++
		}
		require.NoError(t, w.Write(b.NewRecordBatch()))
	}
	require.NoError(t, w.Close())
	return path
}

// TestRaggedListsReadLate has two columns, and one within a struct, that become lists where they are read late.
func TestRaggedListsReadLate(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Float32)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "plain", Type: list, Nullable: true},
		{Name: "v", Type: list, Nullable: true},
		{Name: "w", Type: list, Nullable: true},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "v", Type: list, Nullable: true}), Nullable: true},
	}, nil)
	path := filepath.Join(t.TempDir(), "lists.parquet")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, f, nil, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	id := int64(0)
	for _, lengths := range [][]int{{2, 2}, {1, 3}, {2, 2}} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for _, n := range lengths {
			b.Field(0).(*array.Int64Builder).Append(id)
			object := b.Field(4).(*array.StructBuilder)
			object.Append(true)
			object.FieldBuilder(0).(*array.Int64Builder).Append(id)
			for _, l := range []struct {
				builder array.Builder
				length  int
			}{{b.Field(1), 2}, {b.Field(2), n}, {b.Field(3), n}, {object.FieldBuilder(1), n}} {
				l.builder.(*array.ListBuilder).Append(true)
				values := []float32{float32(id), 1, 2}[:l.length]
				l.builder.(*array.ListBuilder).ValueBuilder().(*array.Float32Builder).AppendValues(values, nil)
			}
			id++
		}
		require.NoError(t, w.Write(b.NewRecordBatch()))
	}
	require.NoError(t, w.Close())
	for _, names := range [][]string{{"plain", "v", "w", "s"}, {"s"}, {"w", "plain"}, {"plain", "s"}, {"plain"}} {
		p := pipe.Parquet(path).Select(append([]string{"id"}, names...)...)
		top := p.OrderBy(pipe.Ascending("id")).Limit(5)
		require.Contains(t, planOf(t, top), "of these rows, columns")
		got, err := top.Batch(t.Context())
		require.NoError(t, err)
		want, err := p.Batch(t.Context()) // all rows, none of them late
		require.NoError(t, err)
		require.Equal(t, want.Slice(0, 5).String(), got.String())
		require.Equal(t, want.Schema().String(), got.Schema().String())
		union, err := pipe.Union(top, p.Where("id < 2")).Batch(t.Context()) // whose second member reads vectors alone
		require.NoError(t, err)
		require.Equal(t, 7, union.Rows)
		require.Equal(t, want.Schema().String(), union.Schema().String())
		for _, name := range names {
			after, err := top.With("x", name+" is null").With("y", name).Batch(t.Context())
			require.NoError(t, err)
			require.Equal(t, slices.Repeat([]any{false}, 5), []any{
				after.Column("x").Value(0), after.Column("x").Value(1), after.Column("x").Value(2), after.Column("x").Value(3), after.Column("x").Value(4),
			})
			require.Equal(t, want.Column(name).Type, after.Column("y").Type)
		}
	}
}

// TestRaggedLists reads a column of vectors that becomes lists at the second row group.
func TestRaggedLists(t *testing.T) {
	path := writeLists(t, [][]float32{{1, 2}, {3, 4}}, [][]float32{{5}, {6, 7, 8}}, [][]float32{{9, 10}})
	d, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	defer d.Close()
	s, err := d.Scan(parquetscan.Options{})
	require.NoError(t, err)
	require.Equal(t, column.VectorOf(column.Float32, 2), s.Schema()[1].Type)
	s, err = d.Scan(parquetscan.Options{Lists: []string{"v"}, Ordered: true})
	require.NoError(t, err)
	var lists []*column.Batch
	for b, err := range s.All(t.Context()) {
		require.NoError(t, err)
		lists = append(lists, b)
	}
	for name, chain := range map[string]func(p pipe.Pipe) pipe.Pipe{
		"all":        func(p pipe.Pipe) pipe.Pipe { return p },
		"column":     func(p pipe.Pipe) pipe.Pipe { return p.Select("v") },
		"sort":       func(p pipe.Pipe) pipe.Pipe { return p.OrderBy(pipe.Descending("id")) },
		"late":       func(p pipe.Pipe) pipe.Pipe { return p.OrderBy(pipe.Descending("id")).Limit(4) },
		"limit":      func(p pipe.Pipe) pipe.Pipe { return p.Offset(1).Limit(2) },
		"not null":   func(p pipe.Pipe) pipe.Pipe { return p.Where("v is not null and id < 4") },
		"count":      func(p pipe.Pipe) pipe.Pipe { return p.Aggregate(groupby.CountOf("v")) },
		"after late": func(p pipe.Pipe) pipe.Pipe { return p.OrderBy(pipe.Descending("id")).Limit(4).With("w", "v is null") },
		"late, of vectors beside lists": func(p pipe.Pipe) pipe.Pipe {
			return pipe.Union(p, p.OrderBy(pipe.Ascending("id")).Limit(2))
		},
		"union": func(p pipe.Pipe) pipe.Pipe { return pipe.Union(p, p.Where("id > 2")) },
	} {
		t.Run(name, func(t *testing.T) {
			want, err := chain(pipe.Batches(lists...)).Configure(pipe.Config{Workers: 1}).Batch(t.Context())
			require.NoError(t, err)
			for _, source := range []pipe.Pipe{pipe.Parquet(path), pipe.Dataset(d)} {
				p := chain(source).Configure(pipe.Config{Workers: 1})
				got, err := p.Batch(t.Context())
				require.NoError(t, err)
				require.Equal(t, want.String(), got.String())
				var batches []*column.Batch
				rows := 0
				for b, err := range p.Batches(t.Context()) {
					require.NoError(t, err)
					batches = append(batches, b)
					rows += b.Rows
				}
				require.Equal(t, want.Rows, rows)
				if len(batches) == 1 {
					require.Equal(t, want.String(), batches[0].String())
				}
			}
		})
	}
	for _, p := range []pipe.Pipe{
		pipe.Parquet(path).With("n", "norm(v)"),
		pipe.Parquet(path).Where("norm(v) > 1").Select("id"),
		pipe.Parquet(path).OrderBy(pipe.Descending("id")).Limit(4).With("n", "norm(v)"),
		pipe.Parquet(path).OrderBy(pipe.Ascending("norm(v)")).Limit(4),
	} {
		_, err := p.Configure(pipe.Config{Workers: 1}).Batch(t.Context())
		require.ErrorContains(t, err, "norm requires a vector of numbers: v is list")
	}
	vectors, err := pipe.Parquet(path).Where("id < 2").With("n", "norm(v)").Select("n").Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, vectors.Rows)
}
