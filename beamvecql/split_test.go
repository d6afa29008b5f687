// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Splits of a running Read by Prism.

func init() { beam.RegisterDoFn(&holdFn{}) }

// bundles counts the bundles of holdFn that have rows. all is closed when there are enough of them.
var bundles struct {
	sync.Mutex
	n, want int
	all     chan struct{}
}

// holdFn passes batches. Each bundle waits at its first batch until bundles.want bundles wait. Prism splits an element
// whose progress is the same in two reports, 100 ms apart.
type holdFn struct{ waited bool }

// StartBundle begins a bundle.
func (fn *holdFn) StartBundle(func(*column.Batch)) { fn.waited = false }

// ProcessElement passes a batch.
func (fn *holdFn) ProcessElement(ctx context.Context, b *column.Batch, emit func(*column.Batch)) error {
	if !fn.waited {
		fn.waited = true
		bundles.Lock()
		if bundles.n++; bundles.n == bundles.want {
			close(bundles.all)
		}
		bundles.Unlock()
		select {
		case <-bundles.all:
		case <-time.After(10 * time.Second):
			return errors.New("the runner did not split the bundle")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	emit(b)
	return nil
}

// TestPrismSplits requires that Prism splits ranges that are being read, and that the residuals are read beside their
// primaries: each row is emitted once, by the range that has its token.
func TestPrismSplits(t *testing.T) {
	_, uri := start(t, cqltest.Config{Nodes: 1, VNodes: 1}, "CREATE TABLE shop.numbers (id int PRIMARY KEY);")
	session := connect(t, uri)
	const rows, splits = 600, 2
	for i := range rows {
		require.NoError(t, session.Query("INSERT INTO numbers (id) VALUES (?)", i).Exec(t.Context()))
	}
	options := ReadOptions{PageBytes: 1024, Splits: 1, Tokens: true}
	const statement = "SELECT id FROM shop.numbers"
	first, err := (&readFn{Cluster: uri, Statement: statement, Splits: 1}).SplitRestriction(t.Context(), nil, wholeRing)
	require.NoError(t, err)
	bundles.n, bundles.want, bundles.all = 0, len(first)+splits, make(chan struct{})
	var got func() []*column.Batch
	counters, err := run(t, func(s beam.Scope) {
		got = collect(t, s, beam.ParDo(s, &holdFn{}, Read(s, uri, statement, options)))
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, bundles.n, len(first)+splits, "bundles with rows of the first ranges and of residuals")
	require.EqualValues(t, rows, counters["rows_read"])
	seen := map[any]int{}
	for _, b := range got() {
		require.NotNil(t, b.Column(tablescan.TokenColumn))
		require.Equal(t, column.Source{}, b.Source)
		for i := range b.Rows {
			seen[b.Column("id").Value(i)]++
		}
	}
	require.Len(t, seen, rows)
	for id, n := range seen {
		require.Equal(t, 1, n, "row %v", id)
	}
}
