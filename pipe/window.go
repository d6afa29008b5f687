// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// Limit and Offset without an order.

// A window is the rows from offset on, at most limit; -1 means all.
type window struct{ offset, limit int64 }

// end returns the number of the first rows that have all rows of the window, -1 if these are all rows.
func (w window) end() int64 {
	if w.limit < 0 {
		return -1
	}
	return addRows(w.offset, w.limit)
}

// addRows returns a sum of two numbers of rows, at most the greatest int64.
func addRows(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (w window) String() string {
	s := ""
	if w.limit >= 0 {
		s = fmt.Sprintf(", limit %d", w.limit)
	}
	if w.offset > 0 {
		s += fmt.Sprintf(", offset %d", w.offset)
	}
	return s
}

// A windowOp keeps any rows of a window.
type windowOp struct{ window }

func (op *windowOp) needs(map[string]bool) bool { return true }

func (op *windowOp) node(p *plan, in node) (node, error) {
	return &windowNode{op.window, in, p.describe("rows%v", op.window)}, nil
}

type windowNode struct {
	window
	in    node
	meter *meter
}

func (n *windowNode) workers() int { return n.in.workers() }

// run counts rows as they come, and ends the scan with the last one. Goroutines that have a part by then pass it on
// before the scan has ended. If f fails for one of these, its error counts, though the scan has ended with another.
func (n *windowNode) run(ctx context.Context, f emit) error {
	if n.limit == 0 {
		return nil
	}
	var seen atomic.Int64
	var failure atomic.Pointer[error] // the first error of f
	end := n.end()
	enough := errors.New("no more rows are needed")
	err := n.in.run(ctx, func(worker int, p part) error {
		count := int64(p.count())
		first := seen.Add(count) - count
		from, to := max(n.offset-first, 0), count
		if end >= 0 {
			to = min(to, end-first)
		}
		if from < to {
			n.meter.rows.Add(to - from)
			if err := f(worker, p.slice(int(from), int(to))); err != nil {
				first := err
				failure.CompareAndSwap(nil, &first)
				return err
			}
		}
		if end >= 0 && first+count >= end {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		return err
	}
	if first := failure.Load(); first != nil {
		return *first
	}
	return nil
}
