// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// Workers that fail in the middle of a bundle, for Read and GroupBy: TestFailedBundles has Write.

func init() { beam.RegisterDoFn(&failFn{}) }

// failures counts the batches that each failFn has received, by name.
var failures = struct {
	sync.Mutex
	batches map[string]int
}{batches: map[string]int{}}

// failFn passes batches, and panics once: at batch number At.
type failFn struct {
	Name string
	At   int
}

// ProcessElement passes a batch.
func (fn *failFn) ProcessElement(b *column.Batch) *column.Batch {
	failures.Lock()
	failures.batches[fn.Name]++
	n := failures.batches[fn.Name]
	failures.Unlock()
	if n == fn.At {
		panic("a worker fails at " + fn.Name)
	}
	return b
}

// failingGroups reads and groups the table shop.embeddings by workers. One worker fails. Each name is read once.
func failingGroups(s beam.Scope, uri, read, merged string) beam.PCollection {
	const statement = "SELECT label, embedding FROM shop.embeddings"
	rows := beam.ParDo(s, &failFn{read, 3}, Read(s, uri, statement, ReadOptions{PageBytes: 1024}))
	return beam.ParDo(s, &failFn{merged, 1}, GroupBy(s, centroids, rows))
}

// writeTable writes batches of embeddings to a table, and returns their groups.
func writeTable(t *testing.T, uri string, rows ...*column.Batch) *column.Batch {
	t.Helper()
	fn := &writeFn{Cluster: uri, Table: "shop.embeddings"}
	for _, b := range rows {
		require.NoError(t, fn.ProcessElement(t.Context(), b, nil, nil))
	}
	require.NoError(t, fn.FinishBundle(t.Context(), func(Written) {}, nil))
	want, err := centroidConfig.Aggregate(t.Context(), rows...)
	require.NoError(t, err)
	return want
}

// TestFailedPipelines requires that a pipeline on Prism, which repeats no bundle, reports the failure of a worker and
// has no result, and that the next run has the whole result.
func TestFailedPipelines(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, embeddingsTable)
	want := writeTable(t, uri, embeddings(0, 300))
	for _, fails := range []string{"Read", "GroupBy", ""} {
		var got func() []*column.Batch
		_, err := run(t, func(s beam.Scope) {
			got = collect(t, s, failingGroups(s, uri, t.Name()+" Read", t.Name()+" GroupBy"))
		})
		if fails != "" {
			require.ErrorContains(t, err, "a worker fails at "+t.Name()+" "+fails)
			require.Empty(t, got())
			continue
		}
		require.NoError(t, err)
		require.Len(t, got(), 1)
		require.Empty(t, column.Diff(got()[0], want))
	}
}

// TestRepeatedReads reads restrictions as a runner does whose workers fail: it drops what a failed attempt has emitted,
// and repeats the primary of the last split, whose residual is another element. Each row is emitted once.
func TestRepeatedReads(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, itemsTable)
	fill(t, uri, 300)
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 6))
		fn := &readFn{Cluster: uri, Statement: "SELECT id FROM shop.items", PageBytes: 64}
		defer fn.Teardown()
		queue := []Tokens{wholeRing, {Empty: true}}
		seen, lost, splits := map[any]int{}, 0, 0
		for len(queue) > 0 {
			rt := fn.CreateTracker(queue[0])
			queue = queue[1:]
			var ids []any
			err := attempt(func() error {
				return fn.ProcessElement(t.Context(), rt, nil, func(b *column.Batch) {
					for i := range b.Rows {
						ids = append(ids, b.Column("id").Value(i))
					}
					if r.IntN(8) == 0 {
						_, residual, err := rt.TrySplit(r.Float64())
						require.NoError(t, err)
						if residual != nil {
							splits++
							queue = append(queue, residual.(Tokens))
						}
					}
					if lost < 10 && r.IntN(6) == 0 {
						panic(errLost)
					}
				})
			})
			if errors.Is(err, errLost) {
				lost++
				queue = append(queue, rt.GetRestriction().(Tokens))
				if r.IntN(2) == 0 { // another process
					fn.Teardown()
					fn = &readFn{Cluster: uri, Statement: fn.Statement, PageBytes: fn.PageBytes}
				}
				continue
			}
			require.NoError(t, err)
			require.True(t, rt.IsDone())
			fn.FinishBundle(nil)
			for _, id := range ids {
				seen[id]++
			}
		}
		require.Len(t, seen, 300)
		for id, n := range seen {
			require.Equal(t, 1, n, "row %v", id)
		}
		require.Equal(t, 10, lost)
		require.Positive(t, splits)
	}
}

var errLost = errors.New("the worker is lost")

// attempt runs f and returns its error, or the error of its panic.
func attempt(f func() error) (err error) {
	defer func() {
		if p, ok := recover().(error); ok {
			err = p
		}
	}()
	return f()
}

// TestRepeatedGroups combines batches by bundles whose every second attempt fails in the middle. A repeated bundle
// begins with the same encoded accumulators.
func TestRepeatedGroups(t *testing.T) {
	config, err := everything.config()
	require.NoError(t, err)
	want, err := config.Aggregate(t.Context(), keyed()...)
	require.NoError(t, err)
	fn := &groupFn{Groups: "test/everything"}
	add := func(batches []*column.Batch) []byte {
		a := fn.CreateAccumulator()
		for _, b := range batches {
			a, err = fn.AddInput(a, b)
			require.NoError(t, err)
		}
		data, err := encodeAccumulator(a)
		require.NoError(t, err)
		return data
	}
	merge := func(parts [][]byte) *accumulator {
		merged := fn.CreateAccumulator()
		for _, data := range parts {
			buffer := bytes.Clone(data) // which the runner uses again
			a, err := decodeAccumulator(buffer)
			require.NoError(t, err)
			clear(buffer)
			merged, err = fn.MergeAccumulators(merged, a)
			require.NoError(t, err)
		}
		return merged
	}
	var parts [][]byte
	for i := 0; i < len(keyed()); i += 2 {
		add(keyed()[i : i+1]) // fails
		parts = append(parts, add(keyed()[i:i+2]))
	}
	merge(parts[:2]) // fails
	_, err = fn.ExtractOutput(merge(parts))
	require.NoError(t, err) // and fails afterwards
	got, err := fn.ExtractOutput(merge(parts))
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, want))
}
