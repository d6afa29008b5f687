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
	loops   = flag.Bool("reference", false, "measure float64 loops with one query, too")
)

const (
	neighbors  = 10
	maxQueries = 128
)

var metrics = []vector.Metric{vector.Dot, vector.Cosine, vector.SquaredL2}

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
func answers(tb testing.TB, m vector.Matrix, q []float32) {
	tb.Helper()
	if *dir == "" {
		return
	}
	for _, metric := range metrics {
		r, err := vector.Nearest(context.Background(), m, q, neighbors, metric, vector.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		var bytes []byte
		for _, position := range r.Positions {
			bytes = binary.LittleEndian.AppendUint64(bytes, uint64(position))
		}
		name := filepath.Join(*dir, strings.ReplaceAll(metric.String(), " ", "-")+".i64")
		if err := os.WriteFile(name, bytes, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	data, all := floats(b, "rows.f32", *rows), floats(b, "queries.f32", maxQueries)
	m := vector.MatrixOf(data, *dim)
	answers(b, m, all)
	bench := func(metric string, n int, impl string, f func() error) {
		name := fmt.Sprintf("metric=%s/dim=%d/rows=%d/queries=%d/threads=%d/impl=%s", metric, *dim, *rows, n, *threads, impl)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(data)))
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	bench("none", 1, "read", func() error { read(data); return nil })
	for _, text := range strings.Split(*queries, ",") {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || n < 1 || n > maxQueries {
			b.Fatalf("-queries: %s: want 1 to %d", text, maxQueries)
		}
		q := all[:n**dim]
		for _, metric := range metrics {
			name := strings.ReplaceAll(metric.String(), " ", "-")
			bench(name, n, vector.KernelName(), func() error {
				_, err := vector.Nearest(context.Background(), m, q, neighbors, metric, vector.Options{Workers: *threads})
				return err
			})
			if *loops && n == 1 {
				bench(name, n, "reference", func() error { reference(data, q, metric); return nil })
			}
		}
	}
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
