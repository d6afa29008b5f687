// SPDX-License-Identifier: Apache-2.0

package vector_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/vector"
)

func ExampleNearest() {
	m := vector.MatrixOf([]float32{
		1, 0,
		0, 1,
		3, 4,
		1, 1,
	}, 2)
	queries := []float32{
		1, 0.9,
		0, 2,
	}
	r, err := vector.Nearest(context.Background(), m, queries, 2, vector.SquaredL2, vector.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for q := range 2 {
		positions, distances := r.Query(q)
		fmt.Println(positions, distances)
	}
	// Output:
	// [3 0] [0.010000004 0.80999994]
	// [1 3] [1 2]
}

// Rows that arrive in parts have positions from the first position on that Add receives.
func ExampleAccumulator() {
	a, err := vector.New([]float32{1, 0}, 2, 2, vector.Dot)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := int64(0)
	for _, part := range [][]float32{{0, 1, 2, 0}, {5, 5}, {4, 0, 6, -1}} {
		m := vector.MatrixOf(part, 2)
		if err := a.Add(context.Background(), m, first, vector.Options{}); err != nil {
			fmt.Println(err)
			return
		}
		first += int64(m.Rows())
	}
	fmt.Println(a.Result().Query(0))
	// Output: [4 2] [-6 -5]
}

// A column of vectors is searched without its NULL rows.
func ExampleMatrixOfColumn() {
	batch := column.NewBatch(
		column.Strings("name", []string{"lamp", "desk", "sofa"}),
		column.Matrix("embedding", []float32{1, 0, 0.9, 0.1, 0, 1}, 2).WithNulls([]bool{true, false, false}),
	)
	m, err := vector.MatrixOfColumn(batch.Column("embedding"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := vector.Nearest(context.Background(), m, []float32{1, 0}, 5, vector.Cosine, vector.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	names, _ := batch.Column("name").Text()
	for i, position := range r.Positions {
		fmt.Printf("%s %.3f\n", names.String(int(position)), vector.Cosine.Score(r.Distances[i], m.Dim))
	}
	// Output:
	// desk 0.997
	// sofa 0.500
}

// A selection restricts a search to the rows that passed a filter.
func ExampleOptions() {
	m := vector.MatrixOf([]float32{1, 2, 3, 4, 5}, 1)
	r, _ := vector.Nearest(context.Background(), m, []float32{4}, 2, vector.L2, vector.Options{Selection: []int32{0, 1, 4}})
	fmt.Println(r.Query(0))
	// Output: [4 1] [1 2]
}

// Rows of Int8 take a quarter of the memory. Integers find candidates; floats decide.
func ExampleOptions_quantizeQueries() {
	ctx, rows := context.Background(), []float32{
		1, 0, 0,
		0.9, 0.1, 0.01,
		0.9, 0.1, 0.02,
		0, 1, 0,
		0, 0, 1,
	}
	var blobs []byte
	for i := 0; i < len(rows); i += 3 {
		blobs, _ = vector.Quantize(blobs, vector.Int8, rows[i:i+3])
	}
	rounded, _ := vector.MatrixOfBlobs(blobs, vector.HeaderSize+vector.Int8.Size(3), nil)
	query := []float32{0.9, 0.1, 0.014}
	candidates, err := vector.Nearest(ctx, rounded, query, 3, vector.L2, vector.Options{QuantizeQueries: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var selection []int32
	for _, position := range candidates.Positions {
		selection = append(selection, int32(position))
	}
	slices.Sort(selection)
	r, _ := vector.Nearest(ctx, vector.MatrixOf(rows, 3), query, 1, vector.L2, vector.Options{Selection: selection})
	fmt.Println(selection, r.Positions)
	// Output: [0 1 2] [1]
}

func ExampleDistance() {
	a, b := []float32{3, 4}, []float32{4, 3}
	for _, metric := range []vector.Metric{vector.L2, vector.Dot, vector.Cosine} {
		d, _ := vector.Distance(metric, a, b)
		fmt.Printf("%v: distance %.4f, score %.4f\n", metric, d, metric.Score(d, 2))
	}
	// Output:
	// L2: distance 1.4142, score 0.3333
	// dot: distance -24.0000, score 12.5000
	// cosine: distance 0.0400, score 0.9800
}

// A vector<float, 2> of a CQL result is 8 bytes, the most significant byte of each element first.
func ExampleMatrix() {
	page := []byte{
		0x3f, 0x80, 0, 0, 0, 0, 0, 0, // 1, 0
		0, 0, 0, 0, 0x40, 0, 0, 0, // 0, 2
	}
	m := vector.Matrix{Format: vector.Float32Big, Dim: 2, Data: page}
	fmt.Println(m.Rows(), m.Row(nil, 1))
	fmt.Println(m.Distance(vector.L2, []float32{0, 0.5}, 1))
	// Output:
	// 2 [0 2]
	// 1.5 <nil>
}

// A result has the rows of the first query, then the rows of the second query.
func ExampleResult() {
	m := vector.MatrixOf([]float32{1, 2, 4, 8}, 1)
	r, _ := vector.Nearest(context.Background(), m, []float32{3.5, 9}, 3, vector.L2, vector.Options{})
	fmt.Println(r.K, r.Positions)
	for i := range 2 {
		fmt.Println(r.Query(i))
	}
	// Output:
	// 3 [2 1 0 3 2 1]
	// [2 1 0] [0.5 1.5 2.5]
	// [3 2 1] [1 5 7]
}

// Servers return similarities. A greatest distance is a least similarity.
func ExampleMetric() {
	score := vector.Cosine.Score(0.2, 768)
	fmt.Printf("%.2f %.2f\n", score, vector.Cosine.DistanceOf(score, 768))
	// Output: 0.90 0.20
}

func ExampleFormat() {
	for _, f := range []vector.Format{vector.Float32, vector.BFloat16, vector.Int8, vector.Bits} {
		fmt.Println(f, f.Size(768))
	}
	// Output:
	// float32 3072
	// bfloat16 1536
	// int8 768
	// bits 96
}

func ExampleQuantize() {
	blob, err := vector.Quantize(nil, vector.Int8, []float32{0.5, -1, 0.25})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, _ := vector.ParseHeader(blob)
	v, _ := vector.Dequantize(nil, blob)
	fmt.Println(len(blob), h.Format, h.Dim)
	fmt.Printf("%.3f\n", v)
	// Output:
	// 11 int8 3
	// [0.504 -1.000 0.252]
}

// A column of blobs with the same format and dimension is a matrix.
func ExampleMatrixOfBlobs() {
	var blobs []byte
	for _, v := range [][]float32{{1, -1, 1}, {-1, -1, 1}, {1, 1, 1}} {
		blobs, _ = vector.Quantize(blobs, vector.Bits, v)
	}
	m, err := vector.MatrixOfBlobs(blobs, vector.HeaderSize+vector.Bits.Size(3), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, _ := vector.Nearest(context.Background(), m, []float32{0.3, -0.1, -0.2}, 3, vector.Hamming, vector.Options{})
	fmt.Println(r.Query(0))
	// Output: [0 1 2] [1 2 2]
}
