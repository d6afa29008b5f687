// SPDX-License-Identifier: Apache-2.0

package vector_test

import (
	"cmp"
	"slices"
	"sync"
	"testing"

	"github.com/viterin/vek/vek32"

	"github.com/vecql/vecql/vector"
)

// The search that a program writes with the kernels of package vek: a row at a time with all queries, the rows divided
// among threads, the k nearest of each kept.

// A near is one row that a loop has found.
type near struct {
	distance float32
	position int
}

// compareNear orders rows by their distance, then by their position.
func compareNear(a, b near) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.position, b.position))
}

// vekDistance returns the kernel of a metric. The vectors have length 1: cosine is the inner product.
func vekDistance(metric vector.Metric) func(q, row []float32) float32 {
	if metric == vector.SquaredL2 {
		return func(q, row []float32) float32 {
			d := vek32.Distance(q, row)
			return d * d
		}
	}
	return func(q, row []float32) float32 { return -vek32.Dot(q, row) }
}

// vekSearch returns the nearest rows of each query.
func vekSearch(data, q []float32, metric vector.Metric) [][]near {
	distance, count := vekDistance(metric), len(data) / *dim
	step := (count + *threads - 1) / *threads
	parts := make([][][]near, *threads)
	var group sync.WaitGroup
	for t := range parts {
		parts[t] = make([][]near, len(q) / *dim)
		group.Go(func() {
			for i := t * step; i < min((t+1)*step, count); i++ {
				row := data[i**dim : (i+1)**dim]
				for j, best := range parts[t] {
					one := near{distance(q[j**dim:(j+1)**dim], row), i}
					if len(best) == *nearest && compareNear(one, best[len(best)-1]) >= 0 {
						continue
					}
					at, _ := slices.BinarySearchFunc(best, one, compareNear)
					if len(best) == *nearest {
						best = best[:len(best)-1]
					}
					parts[t][j] = slices.Insert(best, at, one)
				}
			}
		})
	}
	group.Wait()
	all := parts[0]
	for _, part := range parts[1:] {
		for j := range all {
			all[j] = append(all[j], part[j]...)
			slices.SortFunc(all[j], compareNear)
			all[j] = all[j][:min(*nearest, len(all[j]))]
		}
	}
	return all
}

// benchVek measures the loop, and compares its answers with the answers of package vector.
func benchVek(b *testing.B, data, q []float32, metric vector.Metric, exact *form) {
	var found [][]near
	for b.Loop() {
		found = vekSearch(data, q, metric)
	}
	want, err := exact.search(q, metric)
	if err != nil {
		b.Fatal(err)
	}
	r := &vector.Result{K: *nearest}
	for _, best := range found {
		for _, one := range best {
			r.Positions, r.Distances = append(r.Positions, int64(one.position)), append(r.Distances, one.distance)
		}
	}
	same := recall(r, want, len(q) / *dim)
	if same < 0.99 {
		b.Fatalf("%.2f %% of the rows are equal", 100*same)
	}
	b.ReportMetric(same, "recall")
}
