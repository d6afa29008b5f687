// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Search of rows that arrive in parts.

// Options of a search. The zero value searches all rows on all processors.
type Options struct {
	// Workers is the greatest number of goroutines. 0 means runtime.GOMAXPROCS(0).
	Workers int
	// Selection has the numbers of the rows to search, in ascending order. nil means all rows.
	Selection []int32
	// QuantizeQueries rounds the queries of rows of Int8 as [Quantize] does, and adds the products in integers, which is
	// faster. Distances are exact for the rounded queries. Take more rows than needed, and compute their distances from
	// floats; the package documentation has the errors. It does not affect rows of other formats.
	QuantizeQueries bool
}

// A Result has the nearest rows of each query, the nearest first. It is the caller's memory.
type Result struct {
	K         int       // rows for each query: k, or the number of rows if there are fewer
	Positions []int64   // K for each query
	Distances []float32 // K for each query
}

// Query returns the positions and distances of the rows that are nearest to query i. They share the memory of r.
func (r *Result) Query(i int) (positions []int64, distances []float32) {
	from, to := i*r.K, (i+1)*r.K
	return r.Positions[from:to:to], r.Distances[from:to:to]
}

// Nearest returns the k rows of m that are nearest to each query, exactly. The queries are vectors of m.Dim elements,
// one after the other; the position of a row is its number in m.
//
// Rows at the same distance are ordered by position, and rows whose distance is NaN are the last, so that the result
// does not depend on the number of workers. Distances equal the results of [Distance]. Queries must be finite, and
// not zero for Cosine. The errors are *[DimensionError], *[ElementError], [ErrK], [ErrMetric], [ErrShape], [ErrZero],
// and [context.Cause] of a context that ends before the search.
func Nearest(
	ctx context.Context, m Matrix, queries []float32, k int, metric Metric, options Options,
) (*Result, error) {
	a, err := New(queries, m.Dim, k, metric)
	if err != nil {
		return nil, err
	}
	if err := a.Add(ctx, m, 0, options); err != nil {
		return nil, err
	}
	return a.Result(), nil
}

// An Accumulator finds the rows that are nearest to queries among rows that arrive in parts, such as the batches of a
// scan. It keeps k positions for each query and worker, and no rows.
type Accumulator struct {
	metric  Metric
	dim, k  int
	kernel  *kernel
	queries []query
	panels  []float32 // of lanes queries each; see tile
	longest float64   // the length of the longest query
	block   int       // rows of floats that a worker searches at a time
	segment int       // elements that it multiplies at a time
	rounded sync.Once // the queries

	mu       sync.Mutex
	idle     []*worker
	all      []*worker
	canceled error // of an Add that searched a part of its rows
}

// A query is a vector to search for.
type query struct {
	vector  []float32
	bits    []byte        // of Hamming
	squares float64       // the sum of the squares, as kernels compute it
	bound   atomic.Uint32 // a key: k rows were found that are not farther

	codes    []byte // rounded to Int8, if an Add has QuantizeQueries
	measures measures
}

// New returns an accumulator for queries of dim elements, one after the other. It copies them. It returns the errors of
// [Nearest].
func New(queries []float32, dim, k int, metric Metric) (*Accumulator, error) {
	switch {
	case k < 1:
		return nil, fmt.Errorf("vector: nearest %d rows: %w", k, ErrK)
	case !metric.valid():
		return nil, fmt.Errorf("vector: nearest rows: metric %d: %w", metric, ErrMetric)
	case dim < 1 || dim > maxDim:
		return nil, fmt.Errorf("vector: queries of dimension %d, want 1 to %d: %w", dim, maxDim, ErrShape)
	case len(queries)%dim != 0:
		return nil, &DimensionError{What: "last query", Got: len(queries) % dim, Want: dim}
	}
	a := &Accumulator{
		metric: metric, dim: dim, k: k, kernel: best.forDim(dim), queries: make([]query, len(queries)/dim),
	}
	queries = append(slices.Clone(queries), make([]float32, dim)...) // the last pair may lack its second query
	for i := range a.queries {
		q := &a.queries[i]
		q.vector = queries[i*dim : (i+1)*dim : (i+1)*dim]
		q.bound.Store(uint32(none))
		if err := q.check(metric, i); err != nil {
			return nil, err
		}
		q.prepare(metric, a.kernel)
		a.longest = max(a.longest, math.Sqrt(q.squares))
	}
	if len(a.queries) > directQueries && metric != Hamming && a.kernel.tile != nil {
		a.pack()
	}
	a.setBlock()
	return a, nil
}

// check returns an error if the query has no distance.
func (q *query) check(metric Metric, i int) error {
	for j, f := range q.vector {
		if f-f != 0 {
			return &ElementError{What: fmt.Sprintf("query %d", i), Element: j, Value: f, Format: Float32}
		}
	}
	if metric == Cosine && isZero(q.vector) {
		return fmt.Errorf("vector: query %d: %w", i, ErrZero)
	}
	return nil
}

// prepare computes what searches need.
func (q *query) prepare(metric Metric, k *kernel) {
	if metric == Hamming {
		q.bits = appendBits(nil, q.vector)
		return
	}
	var squares float32
	k.sums[Float32][opSquares](&sums{
		dst: &squares, src: bytesOf(q.vector), rows: 1, query: bytesOf(q.vector), dim: uintptr(len(q.vector)),
	})
	q.squares = float64(squares)
}

// pack copies the queries to panels. The last panel ends with zeros.
func (a *Accumulator) pack() {
	count := (len(a.queries) + lanes - 1) / lanes
	a.panels = make([]float32, count*lanes*a.dim)
	for i := range a.queries {
		panel := a.panels[i/lanes*lanes*a.dim+i%lanes:]
		for d, f := range a.queries[i].vector {
			panel[d*lanes] = f
		}
	}
}

// Add searches the rows of a part, whose positions are first, first+1 and so on. Parts may differ in format and size,
// and come in any order. Several goroutines may call Add. A matrix of dimension 0 without data has no rows, as a column
// without values. The errors are *[DimensionError], [ErrMetric] and [ErrShape]; no row is searched then.
//
// Add returns [context.Cause] if the context ends before all rows are searched: each worker leaves after its block, a
// few rows with all queries. Some of the rows have then been searched, so that further calls return the same error.
//
// A worker reads its rows in blocks that stay in the processor's cache, all queries for each block. Up to
// directQueries queries are multiplied with a row before the next row, more in tiles.
func (a *Accumulator) Add(ctx context.Context, m Matrix, first int64, options Options) error {
	return a.add(ctx, m, first, options, nil)
}

// add searches the rows of a part, and collects those that are near unless near is nil.
func (a *Accumulator) add(ctx context.Context, m Matrix, first int64, options Options, near *near) error {
	if err := a.cause(ctx); err != nil {
		return err
	}
	if m.Dim == 0 && len(m.Data) == 0 {
		return nil // a column without a value has no dimension
	}
	p, err := a.newPart(m, first, options)
	if err != nil {
		return err
	}
	p.done, p.near = ctx.Done(), near
	workers := options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, (p.n+p.chunk-1)/p.chunk)
	if len(a.queries) == 0 || workers == 0 {
		return nil
	}
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(func() { a.search(p) })
	}
	a.search(p)
	group.Wait()
	if p.left.Load() {
		return a.cancel(ctx)
	}
	return nil
}

// newPart checks the arguments of Add.
func (a *Accumulator) newPart(m Matrix, first int64, options Options) (*part, error) {
	if m.Dim != a.dim {
		return nil, &DimensionError{What: "rows", Got: m.Dim, Want: a.dim}
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.allows(a.metric); err != nil {
		return nil, err
	}
	p := &part{Matrix: m, first: first, selection: options.Selection, n: m.Rows(), block: a.block}
	if options.Selection != nil {
		if err := checkSelection(options.Selection, p.n); err != nil {
			return nil, err
		}
		p.n = len(options.Selection)
	}
	if p.integers = options.QuantizeQueries && m.Format == Int8; p.integers {
		if err := checkIntegers(a.dim); err != nil {
			return nil, err
		}
		a.rounded.Do(a.quantize)
	}
	if p.integers || m.Format == Bits {
		p.block = min(max(bytesBlock/m.Format.Size(m.Dim), 4), maxBlock)
	}
	p.chunk = p.block * max(1, 512<<10/(p.block*m.stride()))
	return p, nil
}

// cause returns the error of an earlier call that was canceled, or the cause of the end of the context.
func (a *Accumulator) cause(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.canceled != nil {
		return a.canceled
	}
	return context.Cause(ctx)
}

// cancel stores the cause of the end of the context, and returns it.
func (a *Accumulator) cancel(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.canceled = context.Cause(ctx)
	return a.canceled
}

func checkSelection(selection []int32, rows int) error {
	last := int32(-1)
	for i, row := range selection {
		if row <= last || int(row) >= rows {
			return fmt.Errorf("vector: selection: element %d is %d, after %d, of %d rows: %w", i, row, last, rows, ErrShape)
		}
		last = row
	}
	return nil
}

// search takes chunks of a part until none is left, or the context ends.
func (a *Accumulator) search(p *part) {
	w := a.take()
	w.noting = p.near != nil
	for from := p.take(); from < p.n && w.search(p, from, min(from+p.chunk, p.n)); {
		from = p.take()
	}
	a.mu.Lock()
	p.near.collect(w)
	a.idle = append(a.idle, w)
	a.mu.Unlock()
}

// take returns an idle worker, or a new one. All goroutines of a search begin with it, so the memory of a new worker is
// made without the lock.
func (a *Accumulator) take() *worker {
	if w := a.takeIdle(); w != nil {
		return w
	}
	w := newWorker(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, w)
	return w
}

// takeIdle returns an idle worker, nil if there is none.
func (a *Accumulator) takeIdle() *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.idle)
	if n == 0 {
		return nil
	}
	w := a.idle[n-1]
	a.idle = a.idle[:n-1]
	return w
}

// Result returns the nearest of the rows that were added. More rows may be added afterwards. It must not be called
// during Add. After an Add that was canceled it has some of the rows of that part.
func (a *Accumulator) Result() *Result {
	r := &Result{}
	for i := range a.queries {
		var found []neighbor
		for _, w := range a.all {
			found = append(found, w.heaps[i]...)
		}
		slices.SortFunc(found, neighbor.compare)
		found = found[:min(len(found), a.k)]
		r.K = len(found) // all queries have seen the same rows
		for _, n := range found {
			r.Positions, r.Distances = append(r.Positions, n.position), append(r.Distances, n.key.distance())
		}
	}
	return r
}
