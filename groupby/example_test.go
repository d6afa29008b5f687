// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// The mean vector of each label, with the count and the median price.
func ExampleNew() {
	ctx := context.Background()
	g, err := groupby.New(groupby.By("label"), groupby.Count(), groupby.Mean("embedding").As("centroid"), groupby.Median("price"))
	if err != nil {
		panic(err)
	}
	batch := column.NewBatch(
		column.Strings("label", []string{"cat", "dog", "cat", "dog", "cat"}),
		column.Matrix("embedding", []float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 3, 0, 2, 0, 2}, 3), // row after row
		column.Of("price", []int64{10, 7, 30, 9, 11}),
	)
	if err := g.Add(ctx, batch); err != nil { // any number of batches
		panic(err)
	}
	result, err := g.Finish(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	centroids, err := column.MatrixOf[float32](result.Column("centroid"))
	if err != nil {
		panic(err)
	}
	fmt.Println(centroids.Row(0))
	// Output:
	// label   count  centroid            median(price)
	// string  int64  vector<float32, 3>        float64
	// cat         3  [1, 0, 1]                      11
	// dog         2  [0, 2, 0]                       8
	// 2 rows
	// [1 0 1]
}

// Sums by user and day, the greatest first. A user that is NULL is a group; an amount that is NULL is left out.
func ExampleConfig() {
	batch := column.NewBatch(
		column.Of("user", []int64{7, 8, 7, 7, 0, 8}).WithNulls([]bool{4: true, 5: false}),
		column.Of("day", []int32{20, 20, 21, 20, 20, 20}),
		column.Of("amount", []float64{1.5, 2, 3, 4, 5, 0}).WithNulls([]bool{5: true}),
	)
	result, err := groupby.Config{
		Keys:       groupby.By("user", "day"),
		Aggregates: []groupby.Aggregate{groupby.Sum("amount").As("total"), groupby.CountOf("amount").As("n")},
		Order:      groupby.Descending("total"),
		Limit:      3,
	}.Aggregate(context.Background(), batch)
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	// Output:
	// user    day    total      n
	// int64  int32  float64  int64
	//     7     20      5.5      2
	//  NULL     20        5      1
	//     7     21        3      1
	// 3 rows
}

// Several goroutines add batches; each has its own Worker.
func ExampleWorker() {
	ctx := context.Background()
	g, err := groupby.Config{
		Keys: groupby.By("url"), Aggregates: []groupby.Aggregate{groupby.Count()}, Order: groupby.Descending("count"), Limit: 3,
	}.New()
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			var urls []string
			for i := part; i < 1000; i += 4 {
				urls = append(urls, fmt.Sprint("/page/", int(math.Sqrt(float64(i)))))
			}
			if err := g.Worker().Add(ctx, column.NewBatch(column.Strings("url", urls))); err != nil {
				panic(err)
			}
		})
	}
	wg.Wait()
	result, err := g.Finish(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	// Output:
	// url       count
	// string    int64
	// /page/30     61
	// /page/29     59
	// /page/28     57
	// 3 rows
}

// Only the rows that a filter selected are added.
func ExampleWorker_AddRows() {
	ctx := context.Background()
	batch := column.NewBatch(
		column.Strings("user", []string{"ann", "bob", "ann", "bob", "ann"}),
		column.Of("price", []int64{5, 70, 80, 9, 60}),
	)
	g, err := groupby.New(groupby.By("user"), groupby.Sum("price").As("total"))
	if err != nil {
		panic(err)
	}
	if err := g.Worker().AddRows(ctx, batch, []int32{1, 2, 4}); err != nil { // those above 50
		panic(err)
	}
	result, err := g.Finish(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	// Output:
	// user    total
	// string  int64
	// bob        70
	// ann       140
	// 2 rows
}

// The three best documents of each topic, with their ids.
func ExampleTopKOf() {
	batch := column.NewBatch(
		column.Strings("topic", []string{"go", "sql", "go", "go", "go"}),
		column.Of("score", []float32{0.3, 0.5, 0.9, 0.7, 0.1}),
		column.Strings("id", []string{"a", "b", "c", "d", "e"}),
	)
	config := groupby.Config{Keys: groupby.By("topic"), Aggregates: []groupby.Aggregate{groupby.TopKOf("score", "id", 3).As("best")}}
	result, err := config.Aggregate(context.Background(), batch)
	if err != nil {
		panic(err)
	}
	for i := range result.Rows {
		fmt.Println(result.Column("topic").Value(i), result.Column("best").Value(i))
	}
	// Output:
	// go [c d a]
	// sql [b]
}

// Results larger than one batch or than memory are returned in several batches.
func ExampleGrouper_FinishBatches() {
	ctx := context.Background()
	g, err := groupby.New(groupby.By("n"), groupby.Count())
	if err != nil {
		panic(err)
	}
	n := make([]int64, 1_000_000)
	for i := range n {
		n[i] = int64(i) * int64(i)
	}
	if err := g.Add(ctx, column.NewBatch(column.Of("n", n))); err != nil {
		panic(err)
	}
	groups := 0
	for batch, err := range g.FinishBatches(ctx) {
		if err != nil {
			panic(err)
		}
		groups += batch.Rows
	}
	fmt.Println(groups)
	// Output: 1000000
}

// A bitOr is an Accumulator: the bitwise OR of integers, 0 without values. Its only field is a slice with the state of
// each group.
type bitOr struct{ bits []uint64 }

// Types returns one state column, of the same type as the result.
func (b *bitOr) Types() ([]column.Type, column.Field) {
	t := column.TypeOf[uint64]()
	return []column.Type{t}, column.Field{Type: t}
}

func (b *bitOr) Resize(n int) {
	for len(b.bits) < n {
		b.bits = append(b.bits, 0)
	}
}

func (b *bitOr) Add(rows groupby.Rows) error {
	col := &rows.Args[0]
	values, err := column.Slice[uint64](col)
	if err != nil {
		return err
	}
	for i, id := range rows.IDs {
		if !col.Null(i) {
			b.bits[id] |= values[i]
		}
	}
	return nil
}

func (b *bitOr) Merge(ids []uint32, state []column.Column) error {
	return b.Add(groupby.Rows{IDs: ids, Args: state}) // a state is merged like a value
}

func (b *bitOr) State(i, j int) ([]column.Column, error) {
	return []column.Column{column.Of("", b.bits[i:j])}, nil
}

func (b *bitOr) Result(i, j int) (column.Column, error) { return column.Of("", b.bits[i:j]), nil }
func (b *bitOr) Reset()                                 { b.bits = b.bits[:0] }

// BitOr returns the aggregate of a column.
func BitOr(name string) groupby.Aggregate {
	return groupby.Aggregate{Name: "bit_or", Args: []string{name}, New: func(args []column.Type) (groupby.Accumulator, error) {
		if args[0].Kind != column.Uint64 {
			return nil, fmt.Errorf("bit_or takes uint64")
		}
		return &bitOr{}, nil
	}}
}

// A custom aggregate: the permissions that each user has through all their roles.
func ExampleAccumulator() {
	ctx := context.Background()
	g, err := groupby.New(groupby.By("user"), BitOr("permissions"))
	if err != nil {
		panic(err)
	}
	batch := column.NewBatch(
		column.Strings("user", []string{"ann", "bob", "ann", "ann"}),
		column.Of("permissions", []uint64{0b0001, 0b0010, 0b1000, 0b0001}),
	)
	if err := g.Add(ctx, batch); err != nil {
		panic(err)
	}
	result, err := g.Finish(ctx)
	if err != nil {
		panic(err)
	}
	for i := range result.Rows {
		fmt.Printf("%s %04b\n", result.Column("user").Value(i), result.Column("bit_or").Value(i))
	}
	// Output:
	// ann 1001
	// bob 0010
}
