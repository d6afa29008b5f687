// SPDX-License-Identifier: Apache-2.0

// Package vector_test measures package vector on large matrices; peers.py measures other libraries on the same data.
// See run.sh.
package vector_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/vecql/vecql/vector"
)

var (
	dir     = flag.String("dir", "", "folder of the data, written if it is missing (default a temporary folder)")
	rows    = flag.Int("rows", 20_000, "rows of the matrix")
	dim     = flag.Int("dim", 768, "elements of a row")
	queries = flag.String("queries", "1,2,4,8,16,32,128", "numbers of queries, separated by commas")
	threads = flag.Int("threads", 2, "number of threads")
	nearest = flag.Int("k", 10, "*nearest of a query")
	loops   = flag.Bool("reference", false, "measure float64 loops with one query, too")
)

const maxQueries = 128

// A form is rows in one format, and a way to search them.
type form struct {
	name    string
	metrics []vector.Metric
	search  func(q []float32, metric vector.Metric) (*vector.Result, error)
	peers   bool // measure them, too
}

// forms returns the searches of rows of floats, of their int8 and of their bits.
func forms(tb testing.TB, data []float32) []form {
	floats, codes, bits := vector.MatrixOf(data, *dim), rounded(tb, data, vector.Int8), rounded(tb, data, vector.Bits)
	within := func(m vector.Matrix, quantize bool) func([]float32, vector.Metric) (*vector.Result, error) {
		options := vector.Options{Workers: *threads, QuantizeQueries: quantize}
		return func(q []float32, metric vector.Metric) (*vector.Result, error) {
			return vector.Nearest(context.Background(), m, q, *nearest, metric, options)
		}
	}
	rescored := func(q []float32, metric vector.Metric) (*vector.Result, error) {
		return rescore(floats, codes, q, metric)
	}
	inner := []vector.Metric{vector.Dot, vector.Cosine}
	return []form{
		{"float32", []vector.Metric{vector.Dot, vector.Cosine, vector.SquaredL2}, within(floats, false), true},
		{"int8", inner, within(codes, true), true},
		{"int8-float-queries", inner, within(codes, false), false},
		{"int8-rescored", inner, rescored, false},
		{"bits", []vector.Metric{vector.Hamming}, within(bits, false), true},
	}
}

// rounded returns the vectors in another format.
func rounded(tb testing.TB, data []float32, format vector.Format) vector.Matrix {
	tb.Helper()
	var blobs []byte
	for v := range slices.Chunk(data, *dim) {
		var err error
		if blobs, err = vector.Quantize(blobs, format, v); err != nil {
			tb.Fatal(err)
		}
	}
	m, err := vector.MatrixOfBlobs(blobs, vector.HeaderSize+format.Size(*dim), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// rescore finds four times as many rows by integers, and the nearest of them by floats.
func rescore(floats, codes vector.Matrix, q []float32, metric vector.Metric) (*vector.Result, error) {
	ctx := context.Background()
	found, err := vector.Nearest(ctx, codes, q, 4**nearest, metric, vector.Options{Workers: *threads, QuantizeQueries: true})
	if err != nil {
		return nil, err
	}
	all := &vector.Result{K: *nearest}
	for i := range len(q) / *dim {
		positions, _ := found.Query(i)
		selection := make([]int32, 0, len(positions))
		for _, p := range positions {
			selection = append(selection, int32(p))
		}
		slices.Sort(selection)
		r, err := vector.Nearest(ctx, floats, q[i**dim:(i+1)**dim], *nearest, metric, vector.Options{Selection: selection})
		if err != nil {
			return nil, err
		}
		all.Positions, all.Distances = append(all.Positions, r.Positions...), append(all.Distances, r.Distances...)
	}
	return all, nil
}

// recall returns the share of the positions that another result has, too.
func recall(r, exact *vector.Result, queries int) float64 {
	var same int
	for i := range queries {
		want, _ := exact.Query(i)
		positions, _ := r.Query(i)
		for _, p := range positions {
			if slices.Contains(want, p) {
				same++
			}
		}
	}
	return float64(same) / float64(queries**nearest)
}

// floats returns the contents of a file, written first if it is missing: vectors of length 1 in random directions.
func floats(tb testing.TB, name string, count int) []float32 {
	tb.Helper()
	folder := *dir
	if folder == "" {
		folder = tb.TempDir()
	}
	path := filepath.Join(folder, name)
	v := make([]float32, count**dim)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v))
	if old, err := os.ReadFile(path); err == nil && len(old) == len(bytes) {
		copy(bytes, old)
		return v
	}
	r := rand.New(rand.NewPCG(uint64(count), 1))
	for i := 0; i < len(v); i += *dim {
		var squares float64
		for j := range *dim {
			v[i+j] = float32(r.NormFloat64())
			squares += float64(v[i+j]) * float64(v[i+j])
		}
		for j := range *dim {
			v[i+j] /= float32(math.Sqrt(squares))
		}
	}
	if err := os.WriteFile(path, bytes, 0o644); err != nil {
		tb.Fatal(err)
	}
	return v
}

// answers writes the positions that the peers are compared with.
func answers(tb testing.TB, all []form, q []float32) {
	tb.Helper()
	if *dir == "" {
		return
	}
	for _, f := range all {
		for _, metric := range f.metrics {
			if !f.peers {
				continue
			}
			r, err := f.search(q, metric)
			if err != nil {
				tb.Fatal(err)
			}
			var bytes []byte
			for _, position := range r.Positions {
				bytes = binary.LittleEndian.AppendUint64(bytes, uint64(position))
			}
			if err := os.WriteFile(filepath.Join(*dir, f.name+"-"+nameOf(metric)+".i64"), bytes, 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func nameOf(metric vector.Metric) string { return strings.ReplaceAll(metric.String(), " ", "-") }

func BenchmarkNearest(b *testing.B) {
	data, all := floats(b, "rows.f32", *rows), floats(b, "queries.f32", maxQueries)
	searches := forms(b, data)
	answers(b, searches, all)
	bench := func(format, metric string, n int, impl string, f func(b *testing.B)) {
		name := fmt.Sprintf("format=%s/metric=%s/dim=%d/rows=%d/k=%d/queries=%d/threads=%d/impl=%s", format, metric, *dim, *rows,
			*nearest, n, *threads, impl)
		b.Run(name, f)
	}
	bench("float32", "none", 1, "read", func(b *testing.B) {
		b.SetBytes(int64(4 * len(data)))
		for b.Loop() {
			read(data)
		}
	})
	for _, text := range strings.Split(*queries, ",") {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || n < 1 || n > maxQueries {
			b.Fatalf("-queries: %s: want 1 to %d", text, maxQueries)
		}
		q := all[:n**dim]
		for _, f := range searches {
			for _, metric := range f.metrics {
				bench(f.name, nameOf(metric), n, vector.KernelName(), func(b *testing.B) { f.bench(b, q, metric, &searches[0]) })
			}
		}
		for _, metric := range searches[0].metrics {
			bench("float32", nameOf(metric), n, "vek", func(b *testing.B) { benchVek(b, data, q, metric, &searches[0]) })
			if *loops && n == 1 {
				bench("float32", nameOf(metric), n, "reference", func(b *testing.B) {
					for b.Loop() {
						reference(data, q, metric)
					}
				})
			}
		}
	}
}

// bench measures a search, and the recall of rounded rows.
func (f *form) bench(b *testing.B, q []float32, metric vector.Metric, exact *form) {
	var r *vector.Result
	for b.Loop() {
		var err error
		if r, err = f.search(q, metric); err != nil {
			b.Fatal(err)
		}
	}
	if metric == vector.Hamming {
		metric = vector.Cosine
	}
	want, err := exact.search(q, metric)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(recall(r, want, len(q) / *dim), "recall")
}

var sum atomic.Uint64

// read reads the data once by all threads: the limit of memory.
func read(data []float32) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), len(data)/2)
	var group sync.WaitGroup
	for part := range slices.Chunk(words, (len(words)+*threads-1) / *threads) {
		group.Go(func() {
			var a, b, c, d uint64
			for ; len(part) >= 8; part = part[8:] { // one of each line is not enough: the loop then waits for memory
				a += part[0] + part[1]
				b += part[2] + part[3]
				c += part[4] + part[5]
				d += part[6] + part[7]
			}
			sum.Add(a + b + c + d)
		})
	}
	group.Wait()
}

// reference computes each distance alone in float64, and sorts all rows.
func reference(data, q []float32, metric vector.Metric) {
	type found struct {
		distance float64
		position int
	}
	for i := 0; i < len(q); i += *dim {
		all := make([]found, 0, len(data) / *dim)
		for j := 0; j < len(data); j += *dim {
			all = append(all, found{vector.Reference(metric, q[i:i+*dim], data[j:j+*dim]), j / *dim})
		}
		slices.SortFunc(all, func(a, b found) int {
			switch {
			case a.distance < b.distance:
				return -1
			case a.distance > b.distance:
				return 1
			}
			return a.position - b.position
		})
		sum.Add(uint64(all[0].position))
	}
}
