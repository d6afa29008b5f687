// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"unsafe"

	"github.com/vecql/vecql/vector"
)

// The search of a matrix, and the limits of the machine.

// matrix returns random vectors.
func (d *Data) matrix(seed uint64, rows int) []float32 {
	all := make([]float32, rows*d.Dim)
	parallel(rows, func(from, to int) {
		r := rand.New(rand.NewPCG(seed, uint64(from)))
		for i := from * d.Dim; i < to*d.Dim; i++ {
			all[i] = r.Float32()*2 - 1
		}
	})
	return all
}

// searching returns exact searches: by one query, which reads the matrix, and by sixteen, which compute.
func (d *Data) searching() (cases []Case) {
	for _, queries := range []int{1, 16} {
		open := func(context.Context) (Work, func(), error) {
			m, q := vector.MatrixOf(d.matrix(1, d.Vectors), d.Dim), d.matrix(2, queries)
			return func(ctx context.Context, n int) (func() (*Answer, error), error) {
				r, err := vector.Nearest(ctx, m, q, 10, vector.Dot, vector.Options{Workers: n})
				return func() (*Answer, error) {
					var positions []any
					for _, p := range r.Positions {
						positions = append(positions, p)
					}
					return one(positions...), nil
				}, err
			}, func() {}, nil
		}
		cases = append(cases, Case{fmt.Sprintf("vector/queries=%d", queries), open})
	}
	return cases
}

// limits returns the cases that show what the machine itself allows: a loop in registers, whose clock depends on the
// number of busy processors and on what they share, and reading of memory.
func (d *Data) limits() []Case {
	loop := func(context.Context) (Work, func(), error) {
		rounds := uint64(20 * d.Rows)
		return func(_ context.Context, n int) (func() (*Answer, error), error) {
			return func() (*Answer, error) { return one(rounds), nil }, split(n, func(int) {
				if spin(rounds/uint64(n))&1 == 0 {
					panic("a product of odd numbers is even")
				}
			})
		}, func() {}, nil
	}
	read := func(context.Context) (Work, func(), error) {
		floats := d.matrix(1, d.Vectors)
		words := unsafe.Slice((*uint64)(unsafe.Pointer(&floats[0])), len(floats)/2)
		return func(_ context.Context, n int) (func() (*Answer, error), error) {
			sums := make([]total, n)
			err := split(n, func(i int) { sums[i].value = int64(sum(words[len(words)*i/n : len(words)*(i+1)/n])) })
			return func() (*Answer, error) {
				all := int64(0)
				for _, s := range sums {
					all += s.value
				}
				return one(all), nil
			}, err
		}, func() {}, nil
	}
	return []Case{{"limit/registers", loop}, {"limit/memory", read}}
}

// split calls f on n goroutines.
func split(n int, f func(i int)) error {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { f(i) })
	}
	group.Wait()
	return nil
}

// spin multiplies in registers, each product after the one before.
//
//go:noinline
func spin(rounds uint64) uint64 {
	x := rounds | 1
	for range rounds {
		x *= 0x9e3779b97f4a7c15
	}
	return x
}

// sum adds words by four sums, so that the loop waits for memory alone.
func sum(words []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(words) >= 8; words = words[8:] {
		a += words[0] + words[1]
		b += words[2] + words[3]
		c += words[4] + words[5]
		d += words[6] + words[7]
	}
	for _, w := range words {
		a += w
	}
	return a + b + c + d
}
