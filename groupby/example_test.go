// SPDX-License-Identifier: Apache-2.0

package groupby_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/vecql/vecql/groupby"
)

// This file holds examples, one for each task.

// Count rows by category, of a file whose strings are codes into a dictionary.
func Example() {
	ctx := context.Background()
	categories := groupby.NewDictionary(groupby.Values([]string{"fruit", "cheese", "bread"}))
	g, err := groupby.New(groupby.Config{
		Keys:       []groupby.Type{groupby.String},
		Aggregates: []groupby.Aggregate{groupby.Count()},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, codes := range [][]uint32{{0, 0, 1}, {2, 0, 1, 0}} { // batches
		if err := g.Add(ctx, groupby.Batch{Keys: []groupby.Column{groupby.Codes(codes, categories)}}); err != nil {
			log.Fatal(err)
		}
	}
	res, err := g.Finish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	counts, _ := groupby.SliceOf[int64](res.Aggregate(0))
	for i, category := range res.Key(0).Strings() {
		fmt.Println(category, counts[i])
	}
	// Output:
	// fruit 4
	// cheese 2
	// bread 1
}

// Sum by user and day. A user that is NULL is a group; an amount that is NULL is left out.
func ExampleAggregateBatch() {
	users := groupby.Values([]int64{7, 8, 7, 7, 0, 8}).WithValidity([]byte{0b101111}) // the fifth is NULL
	days := groupby.Values([]int32{20, 20, 21, 20, 20, 20})
	amounts := groupby.Values([]float64{1.5, 2, 3, 4, 5, 0}).WithValidity([]byte{0b011111})
	res, err := groupby.AggregateBatch(context.Background(), groupby.Config{
		Keys:       []groupby.Type{groupby.Int64, groupby.Int32},
		Values:     []groupby.Type{groupby.Float64},
		Aggregates: []groupby.Aggregate{groupby.Sum(0), groupby.CountOf(0)},
		Order:      groupby.ByKeys,
	}, groupby.Batch{
		Keys:   []groupby.Column{users, days},
		Values: []groupby.Column{amounts},
	})
	if err != nil {
		log.Fatal(err)
	}
	user, _ := groupby.SliceOf[int64](res.Key(0))
	day, _ := groupby.SliceOf[int32](res.Key(1))
	sum, _ := groupby.SliceOf[float64](res.Aggregate(0))
	count, _ := groupby.SliceOf[int64](res.Aggregate(1))
	for i := range res.Len() {
		name := fmt.Sprint("user ", user[i])
		if res.Key(0).Null(i) {
			name = "nobody"
		}
		fmt.Printf("%s, day %d: %v of %d\n", name, day[i], sum[i], count[i])
	}
	// Output:
	// user 7, day 20: 5.5 of 2
	// user 7, day 21: 3 of 1
	// user 8, day 20: 2 of 1
	// nobody, day 20: 5 of 1
}

// The URLs with the most requests: the first groups in the order of an aggregate. Rows come from a log, several goroutines at once.
func ExampleByAggregate() {
	ctx := context.Background()
	g, err := groupby.New(groupby.Config{
		Keys:       []groupby.Type{groupby.String},
		Aggregates: []groupby.Aggregate{groupby.Count()},
		Order:      groupby.ByAggregate(0, true),
		Limit:      10,
	})
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error)
	for part := range 4 {
		go func() {
			var urls []string
			for i := part; i < 1000; i += 4 {
				urls = append(urls, fmt.Sprint("/page/", int(math.Sqrt(float64(i)))))
			}
			done <- g.Worker().Add(ctx, groupby.Batch{Keys: []groupby.Column{groupby.Values(urls)}})
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			log.Fatal(err)
		}
	}
	res, err := g.Finish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	counts, _ := groupby.SliceOf[int64](res.Aggregate(0))
	for i, url := range res.Key(0).Strings() {
		fmt.Println(url, counts[i])
	}
	// Output:
	// /page/30 61
	// /page/29 59
	// /page/28 57
	// /page/27 55
	// /page/26 53
	// /page/25 51
	// /page/24 49
	// /page/23 47
	// /page/22 45
	// /page/21 43
}

// A bitOr is an Accumulator: the bitwise OR of integers, 0 of no value. It shows all there is to it: a slice with a state for each group.
type bitOr struct{ bits []uint64 }

// Types says that the state is one column, and the result of the same type.
func (b *bitOr) Types() ([]groupby.Type, groupby.Type) {
	return []groupby.Type{groupby.Uint64}, groupby.Uint64
}

func (b *bitOr) Resize(n int) {
	for len(b.bits) < n {
		b.bits = append(b.bits, 0)
	}
}

func (b *bitOr) Add(rows groupby.Rows) error {
	col := rows.Args[0]
	values, _ := groupby.SliceOf[uint64](col)
	for i, id := range rows.IDs {
		if !col.Null(i) {
			b.bits[id] |= values[i]
		}
	}
	return nil
}

func (b *bitOr) Merge(ids []uint32, state []groupby.Column) error {
	return b.Add(groupby.Rows{IDs: ids, Args: state}) // a state is as good as a value
}

func (b *bitOr) State() ([]groupby.Column, error) {
	return []groupby.Column{groupby.Values(b.bits)}, nil
}
func (b *bitOr) Result() (groupby.Column, error) { return groupby.Values(b.bits), nil }
func (b *bitOr) Reset()                          { b.bits = b.bits[:0] }

// BitOr makes the aggregate of a column.
func BitOr(value int) groupby.Aggregate {
	return groupby.Aggregate{Name: "bit_or", Args: []int{value}, New: func(args []groupby.Type) (groupby.Accumulator, error) {
		if args[0] != groupby.Uint64 {
			return nil, fmt.Errorf("bit_or of %v: it takes uint64", args)
		}
		return &bitOr{}, nil
	}}
}

// An aggregate of one's own: the permissions that each user has by any of their roles.
func ExampleAccumulator() {
	config := groupby.Config{
		Keys:       []groupby.Type{groupby.String},
		Values:     []groupby.Type{groupby.Uint64},
		Aggregates: []groupby.Aggregate{BitOr(0).As("permissions")},
	}
	batch := groupby.Batch{
		Keys:   []groupby.Column{groupby.Values([]string{"ann", "bob", "ann", "ann"})},
		Values: []groupby.Column{groupby.Values([]uint64{0b0001, 0b0010, 0b1000, 0b0001})},
	}
	res, err := groupby.AggregateBatch(context.Background(), config, batch)
	if err != nil {
		log.Fatal(err)
	}
	permissions, _ := groupby.SliceOf[uint64](res.Aggregate(0))
	for i, user := range res.Key(0).Strings() {
		fmt.Printf("%s %04b\n", user, permissions[i])
	}
	// Output:
	// ann 1001
	// bob 0010
}

// Reference computes the same with a map and lists: compare with it when testing an Accumulator.
func ExampleReference() {
	config := groupby.Config{
		Keys:       []groupby.Type{groupby.Int64},
		Values:     []groupby.Type{groupby.Uint64},
		Aggregates: []groupby.Aggregate{BitOr(0)},
	}
	batch := groupby.Batch{
		Keys:   []groupby.Column{groupby.Values([]int64{1, 2, 1})},
		Values: []groupby.Column{groupby.Values([]uint64{4, 2, 1})},
	}
	want, err := groupby.Reference(config, batch)
	if err != nil {
		log.Fatal(err)
	}
	got, err := groupby.AggregateBatch(context.Background(), config, batch)
	if err != nil {
		log.Fatal(err)
	}
	w, _ := groupby.SliceOf[uint64](want.Aggregate(0))
	g, _ := groupby.SliceOf[uint64](got.Aggregate(0))
	fmt.Println(w, g)
	// Output: [5 2] [5 2]
}
