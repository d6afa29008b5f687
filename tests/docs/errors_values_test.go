// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
	"github.com/vecql/vecql/parquetscan/arrowstream"
)

// Situations of values, columns and groups.

func valueSituations() []situation {
	exec := func(stmt string, values ...any) func(*testing.T) error {
		return inShop(func(_ *testing.T, s *shop) error { return s.Query(stmt, values...).Exec(context.Background()) })
	}
	decode := func(cell []byte, dest any) func(*testing.T) error {
		return func(t *testing.T) error {
			typ, err := cql.ParseType("int", nil)
			require.NoError(t, err)
			return vecql.Unmarshal(typ, cell, dest)
		}
	}
	vector := exec("INSERT INTO shop.items (id, embedding) VALUES (?, ?)", 1, []float32{1, 2})
	return []situation{
		{"cql.ErrUnset", "leave an element of a vector unset", is(cql.ErrUnset), exec("INSERT INTO shop.items (id, embedding) VALUES (?, ?)", 1, []any{cql.UnsetValue, 1, 2})},
		{"cql.ErrNull", "read NULL into an int", is(cql.ErrNull), inShop(func(t *testing.T, s *shop) error {
			_, err := vecql.OneRow[int](t.Context(), s.Query("SELECT price FROM shop.items WHERE id = 1"))
			return err
		})},
		{"cql.ErrDimension", "bind two floats to vector<float, 3>", is(cql.ErrDimension), vector},
		{"cql.ErrTrailing", "decode five bytes as int", is(cql.ErrTrailing), decode([]byte{0, 0, 0, 1, 2}, new(int))},
		{"cql.ErrMissing", "decode three bytes as int", is(cql.ErrMissing), decode([]byte{0, 0, 1}, new(int))},
		{"cql.ErrRange", "bind a number beyond int", is(cql.ErrRange), exec("INSERT INTO shop.items (id) VALUES (?)", int64(math.MaxInt64))},
		{"cql.ErrRange", "decode 256 into an int8", is(cql.ErrRange), decode([]byte{0, 0, 1, 0}, new(int8))},
		{"cql.ErrConversion", "bind a map to int", is(cql.ErrConversion), exec("INSERT INTO shop.items (id) VALUES (?)", map[string]int{})},
		{"cql.MarshalError", "bind two floats to vector<float, 3>", as[*cql.MarshalError](), vector},
		{"cql.UnmarshalError", "scan a text into an int", as[*cql.UnmarshalError](), inShop(func(_ *testing.T, s *shop) error {
			return s.Query(readOne, 1).Scan(context.Background(), new(int))
		})},
		{"cql.TypeError", "parse a type without its end", as[*cql.TypeError](), func(*testing.T) error {
			_, err := cql.ParseType("vector<float, 3", nil)
			return err
		}},
		{"cql.ErrPageToken", "parse a page token that was changed", is(cql.ErrPageToken), func(*testing.T) error {
			_, err := cql.ParsePageToken("AAAAAAAA")
			return err
		}},
	}
}

// arrowColumn returns the error of converting an array with the name c.
func arrowColumn(make func() arrow.Array) func(*testing.T) error {
	return func(*testing.T) error {
		arr := make()
		schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
		_, err := arrowcolumn.Batch(array.NewRecordBatch(schema, []arrow.Array{arr}, int64(arr.Len())))
		return err
	}
}

func columnSituations() []situation {
	items := column.NewBatch(column.Of("id", []int64{1, 2}), column.Strings("name", []string{"lamp", "desk"}))
	slice := func(name string) func(*testing.T) error {
		return func(*testing.T) error { _, err := column.Slice[float32](items.Column(name)); return err }
	}
	group := func(f func(g *groupby.Grouper) error, aggregates ...groupby.Aggregate) func(*testing.T) error {
		return func(t *testing.T) error {
			g, err := groupby.New([]string{"name"}, aggregates...)
			require.NoError(t, err)
			defer func() { _ = g.Close() }()
			return f(g)
		}
	}
	return []situation{
		{"column.ErrNoColumn", "view a column that the batch lacks", is(column.ErrNoColumn), slice("price")},
		{"column.TypeError", "view integers as floats", as[*column.TypeError](), slice("id")},
		{
			"column.ErrTooLarge", "convert more rows of Arrow's type null than a column holds", is(column.ErrTooLarge),
			arrowColumn(func() arrow.Array { return array.NewNull(1<<26 + 1) }),
		},
		{"arrowcolumn.ErrUnsupported", "convert a column without a kind", is(arrowcolumn.ErrUnsupported), func(*testing.T) error {
			_, err := arrowcolumn.Schema(column.Schema{{Name: "c"}})
			return err
		}},
		{"arrowcolumn.ErrMalformed", "convert a dictionary's index beyond its values", is(arrowcolumn.ErrMalformed), arrowColumn(func() arrow.Array {
			indices, values := array.NewInt8Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
			indices.Append(5)
			values.Append("lamp")
			typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
			return array.NewDictionaryArray(typ, indices.NewArray(), values.NewArray())
		})},
		{"arrowcolumn.ErrRange", "convert a timestamp beyond microseconds", is(arrowcolumn.ErrRange), arrowColumn(func() arrow.Array {
			b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Second})
			b.Append(math.MaxInt64)
			return b.NewArray()
		})},
		{"arrowstream.ErrDamaged", "read a text as a stream of Arrow", is(arrowstream.ErrDamaged), func(*testing.T) error {
			r, err := arrowstream.NewReader(strings.NewReader("id,name\n1,lamp\n2,desk\n"))
			if err == nil {
				_, err = r.Read()
			}
			return err
		}},
		{"arrowcolumn.ErrSchema", "convert a batch to a schema with other columns", is(arrowcolumn.ErrSchema), func(*testing.T) error {
			_, err := arrowcolumn.RecordAs(items, arrow.NewSchema([]arrow.Field{
				{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "title", Type: arrow.BinaryTypes.String},
			}, nil))
			return err
		}},
		{"groupby.ErrMemoryLimit", "exceed MemoryLimit without SpillDir", is(groupby.ErrMemoryLimit), func(t *testing.T) error {
			g, err := groupby.Config{Keys: []string{"id"}, Workers: 1, MemoryLimit: 1}.New()
			require.NoError(t, err)
			defer func() { _ = g.Close() }()
			many := make([]int64, 1<<20)
			for i := range many {
				many[i] = int64(i) * 1_000_003
			}
			for range 20 {
				if err = g.Add(t.Context(), column.NewBatch(column.Of("id", many))); err != nil {
					return err
				}
			}
			_, err = g.Finish(t.Context())
			return err
		}},
		{"groupby.ErrFinished", "add a batch after Finish", is(groupby.ErrFinished), group(func(g *groupby.Grouper) error {
			if _, err := g.Finish(newContext()); err != nil {
				return err
			}
			return g.Add(newContext(), items)
		})},
		{"groupby.OverflowError", "sum beyond 64 bits", as[*groupby.OverflowError](), func(t *testing.T) error {
			_, err := groupby.Config{Aggregates: []groupby.Aggregate{groupby.Sum("n")}}.Aggregate(t.Context(),
				column.NewBatch(column.Of("n", []int64{math.MaxInt64, 1})))
			return err
		}},
		{"groupby.BatchError", "sum a column of texts", as[*groupby.BatchError](), group(func(g *groupby.Grouper) error {
			return g.Add(newContext(), items)
		}, groupby.Sum("name"))},
		{"groupby.BatchError", "sum a column that the batch lacks", as[*groupby.BatchError](), group(func(g *groupby.Grouper) error {
			return g.Add(newContext(), items)
		}, groupby.Sum("price"))},
		{"groupby.CorruptError", "merge bytes that are no partial", as[*groupby.CorruptError](), group(func(g *groupby.Grouper) error {
			return g.MergePartial(reader("not a partial at all"))
		})},
		{"groupby.MismatchError", "merge a partial with other aggregates", as[*groupby.MismatchError](), group(func(g *groupby.Grouper) error {
			other, err := groupby.New([]string{"name"}, groupby.Sum("id"))
			if err != nil {
				return err
			}
			var partial buffer
			return errors.Join(g.Add(newContext(), items), other.Add(newContext(), items), other.WritePartial(&partial), g.MergePartial(&partial))
		}, groupby.Count())},
	}
}
