// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// A twoParts passes on two parts of one row: goroutine 1's while f has goroutine 0's.
type twoParts struct {
	begun chan struct{}   // closed by f
	ctx   context.Context // of the goroutines
}

func (n *twoParts) workers() int { return 2 }

func (n *twoParts) run(ctx context.Context, f emit) error {
	b := column.NewBatch(column.Of("n", []int64{0}))
	return parallel(ctx, 2, func(ctx context.Context, worker int) error {
		if worker == 0 {
			n.ctx = ctx
		} else {
			<-n.begun
		}
		return f(worker, part{b: b})
	})
}

// TestWindowPassesLateErrors has an error in a row of the window after another goroutine has passed on its last row.
func TestWindowPassesLateErrors(t *testing.T) {
	in := &twoParts{begun: make(chan struct{})}
	n := &windowNode{window{limit: 2}, in, &meter{}}
	broken := errors.New("broken")
	err := n.run(t.Context(), func(worker int, _ part) error {
		if worker == 1 {
			return nil
		}
		close(in.begun)
		<-in.ctx.Done()
		return broken
	})
	require.ErrorIs(t, err, broken)
}

// A partsNode passes on parts of some numbers of rows, at their positions, in any order.
type partsNode [][2]int64

func (n partsNode) workers() int { return 1 }

func (n partsNode) run(_ context.Context, f emit) error {
	for _, p := range n {
		b := column.NewBatch(column.Of("n", make([]int64, p[1])))
		b.Source.FirstRow = p[0]
		if err := f(0, part{b: b}); err != nil {
			return err
		}
	}
	return nil
}

// TestUnionNumbersRowsOfPartsInAnyOrder has members whose goroutines are done in another order than the rows.
func TestUnionNumbersRowsOfPartsInAnyOrder(t *testing.T) {
	n := &unionNode{[]node{partsNode{{20, 10}, {0, 20}}, partsNode{{5, 5}, {0, 5}, {10, 1}}, partsNode{{0, 1}}}, &meter{}}
	var first []int64
	require.NoError(t, n.run(t.Context(), func(_ int, p part) error {
		first = append(first, p.b.Source.FirstRow)
		return nil
	}))
	require.Equal(t, []int64{20, 0, 35, 30, 40, 41}, first)
	require.EqualValues(t, 42, n.meter.rows.Load())
}
