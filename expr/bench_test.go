// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/columntest"
)

// rows returns a batch of small values.
func rows(n int) *column.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	price, f, v, at := make([]int32, n), make([]float64, n), make([]float32, 4*n), make([]int64, n)
	ints, null, names := make([]int64, n), make([]bool, n), make([]string, n)
	for i := range n {
		price[i], f[i], ints[i], null[i] = r.Int32N(10), r.Float64(), r.Int64N(10), r.IntN(10) == 0
		names[i] = []string{"abc", "xyz", "a", "some longer text with abc"}[r.IntN(4)]
		at[i] = 1_750_000_000_000 + r.Int64N(1e11)
	}
	for i := range v {
		v[i] = r.Float32()
	}
	times, err := column.Of("at", at).WithType(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	if err != nil {
		panic(err)
	}
	return column.NewBatch(column.Of("price", price), column.Of("n", ints).WithNulls(null), column.Of("f", f),
		column.Strings("name", names), column.Matrix("v", v, 4), times)
}

func BenchmarkSelect(b *testing.B) {
	batch := rows(65536)
	coded := columntest.WithDictionary(*batch.Column("name"))
	coded.Name = "coded"
	batch.Columns = append(batch.Columns, coded)
	for _, bench := range []struct{ name, text string }{
		{"int", "price > 3"},
		{"ints", "price > 3 and n < 7"},
		{"null", "n < 7"},
		{"float", "f > 0.5"},
		{"or", "price > 7 or f > 0.5"},
		{"in", "n in (1, 2, 3)"},
		{"arithmetic", "price * 2 + n > 7"},
		{"equal", "name = 'abc'"},
		{"prefix", "name like 'a%'"},
		{"contains", "name like '%abc%'"},
		{"rare", "name like '%longest%'"},
		{"dictionary", "coded like '%abc%'"},
		{"month", "extract('month', at) = 3"},
		{"l2", "l2(v, [0, 1, 0, 1]) < 0.5"},
	} {
		b.Run(fmt.Sprintf("expr=%s/rows=%d", bench.name, batch.Rows), func(b *testing.B) {
			e, err := expr.Parse(bench.text)
			require.NoError(b, err)
			p, err := expr.Compile(e, batch.Schema())
			require.NoError(b, err)
			selected := make([]int32, 0, batch.Rows)
			b.ReportAllocs()
			for b.Loop() {
				if selected, err = p.Select(batch, selected[:0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Rows), "ns/row")
		})
	}
}

// TestProgramIsShared evaluates one program by several goroutines.
func TestProgramIsShared(t *testing.T) {
	b := rows(5000)
	p, err := expr.Compile(expr.Col("price").Mul(2).Gt(7).And(expr.Col("name").Lower().Eq("abc")), b.Schema())
	require.NoError(t, err)
	want, err := p.Select(b, nil)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				got, err := p.Select(b, nil)
				if err != nil || len(got) != len(want) {
					t.Errorf("%d rows, want %d: %v", len(got), len(want), err)
				}
			}
		})
	}
	wg.Wait()
}
