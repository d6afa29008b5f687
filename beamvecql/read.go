// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/tablescan"
)

// Read: a splittable DoFn over the token ranges of a table.

// DoFns are registered without Beam's package register, whose generic code takes the compiler a minute for these few.
// It makes calls faster, which does not matter for elements of a page.
func init() {
	beam.RegisterCoder(reflect.TypeFor[*column.Batch](), encodeBatch, decodeBatch)
	beam.RegisterType(reflect.TypeFor[Tokens]())
	beam.RegisterType(reflect.TypeFor[Tracker]())
	beam.RegisterDoFn(&readFn{})
	beam.RegisterDoFn(&afterFn{})
}

// ReadOptions configure Read. The zero value reads the whole table.
type ReadOptions struct {
	// PageBytes is the size of a batch that the read aims at. Default 1 MiB.
	PageBytes int
	// SplitBytes is the size of a range that one worker reads, by the estimates of the nodes. Default 64 MiB. Runners
	// split ranges further while they are read.
	SplitBytes int64
	// Splits is the least number of ranges, for tables without estimates. Default 32.
	Splits int
	// Tokens adds the token of each row to the batches, as their last column, tablescan.TokenColumn.
	Tokens bool
	// After, if valid, is the result of a Write: the read begins when all its rows are written.
	After beam.PCollection
}

// Read reads the result of a SELECT as a PCollection<*column.Batch>, in ranges of tokens that a runner distributes and
// splits while they are read. Package tablescan lists what the statement may contain; it has no bind markers. Each row
// is in one batch, in no order. A batch is of one token range and at most one page; Source.FirstRow is 0.
//
// cluster is a URI or a name of RegisterCluster. Read panics, as Beam's transforms do, if the URI is invalid.
func Read(s beam.Scope, cluster, statement string, o ReadOptions) beam.PCollection {
	s = s.Scope("beamvecql.Read")
	if err := checkCluster(cluster); err != nil {
		panic(err.Error())
	}
	begin := beam.Impulse(s)
	if o.After.IsValid() {
		begin = beam.ParDo(s, &afterFn{}, begin, beam.SideInput{Input: o.After})
	}
	return beam.ParDo(s, &readFn{
		Cluster: cluster, Statement: statement, PageBytes: o.PageBytes, SplitBytes: o.SplitBytes, Splits: o.Splits,
		Tokens: o.Tokens,
	}, begin)
}

// afterFn passes its input when its side input is complete.
type afterFn struct{}

// ProcessElement passes the element.
func (*afterFn) ProcessElement(element []byte, _ func(*Written) bool, emit func([]byte)) {
	emit(element)
}

// readFn reads the ranges of a table. It has the parameters of Read.
type readFn struct {
	Cluster, Statement string
	PageBytes          int
	SplitBytes         int64
	Splits             int
	Tokens             bool

	lease lease
}

// CreateInitialRestriction returns the whole ring.
func (*readFn) CreateInitialRestriction([]byte) Tokens { return wholeRing }

// SplitRestriction splits tokens by the ranges of the table, so that each range has one set of replicas, and these by
// their sizes.
func (fn *readFn) SplitRestriction(ctx context.Context, _ []byte, rest Tokens) ([]Tokens, error) {
	session, err := fn.lease.acquire(ctx, fn.Cluster)
	if err != nil {
		return nil, err
	}
	defer fn.lease.release()
	sizes, err := tablescan.Sizes(ctx, session, fn.Statement)
	if err != nil {
		return nil, fmt.Errorf("beamvecql: plan the read of %q: %w", fn.Statement, err)
	}
	splitBytes, splits := float64(orDefault(fn.SplitBytes, 64<<20)), float64(orDefault(fn.Splits, 32))
	var list []Tokens
	for _, part := range rest.parts() {
		for _, r := range sizes {
			share := float64(uint64(r.End) - uint64(r.Start))
			n := max(math.Ceil(max(r.Bytes/splitBytes, splits*share/math.MaxUint64)), 1)
			pieces := r.Split(int(min(n, 1<<16)))
			for _, piece := range pieces {
				t := Tokens{Start: max(piece.Start, part.Start), End: min(piece.End, part.End)}
				if t.Start < t.End {
					t.Bytes = r.Bytes * t.width() / share
					list = append(list, t)
				}
			}
		}
	}
	return list, nil
}

// orDefault returns n, or a default if n is not positive.
func orDefault[T int | int64](n, fallback T) T {
	if n > 0 {
		return n
	}
	return fallback
}

// RestrictionSize returns the size of a range.
func (*readFn) RestrictionSize(_ []byte, rest Tokens) float64 { return rest.size() }

// CreateTracker returns a tracker of a range.
func (*readFn) CreateTracker(rest Tokens) *sdf.LockRTracker {
	return sdf.NewLockRTracker(NewTracker(rest))
}

// ProcessElement reads a range page by page. It claims the last token of a page, and then emits its rows.
func (fn *readFn) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, _ []byte, emit func(*column.Batch)) error {
	session, err := fn.lease.acquire(ctx, fn.Cluster)
	if err != nil {
		return err
	}
	for _, part := range rt.GetRestriction().(Tokens).parts() {
		more, err := fn.readPart(ctx, session, rt, part, emit)
		if err != nil {
			return fmt.Errorf("beamvecql: read %q: %w", fn.Statement, err)
		}
		if !more {
			break
		}
	}
	rangesRead.Inc(ctx, 1)
	return claimEnd(rt)
}

// FinishBundle ends the use of the session.
func (fn *readFn) FinishBundle(func(*column.Batch)) { fn.lease.release() }

// Teardown ends the use of the session after a failed bundle.
func (fn *readFn) Teardown() { fn.lease.release() }

// readPart reads the tokens of a part in their order. more is false if a split has taken the rest of the restriction.
func (fn *readFn) readPart(ctx context.Context, session *vecql.Session, rt *sdf.LockRTracker, part tablescan.Part,
	emit func(*column.Batch),
) (more bool, err error) {
	scan, err := tablescan.New(ctx, session, fn.Statement, tablescan.Config{
		Ordered: true, Tokens: true, PageBytes: fn.PageBytes,
		Checkpoint: &tablescan.Checkpoint{Statement: fn.Statement, Left: []tablescan.Part{part}},
	})
	if err != nil {
		return false, err
	}
	for b, err := range scan.Batches(ctx) {
		if err != nil {
			return false, err
		}
		last := len(b.Columns) - 1
		tokens, err := column.Slice[int64](&b.Columns[last])
		if err != nil {
			return false, err
		}
		rows := claimRows(rt, tokens)
		if err := rt.GetError(); err != nil {
			return false, err
		}
		if rows > 0 {
			page := b.Slice(0, rows)
			if !fn.Tokens {
				page.Columns = page.Columns[:last]
			}
			page.Source = column.Source{}
			rowsRead.Inc(ctx, int64(rows))
			bytesRead.Inc(ctx, sizeOf(page.Columns))
			emit(page)
		}
		if rows < len(tokens) {
			return false, nil
		}
	}
	return true, nil
}

// claimRows claims the tokens of rows, which ascend, and returns the number of the first rows that belong to the
// restriction.
func claimRows(rt sdf.RTracker, tokens []int64) int {
	rows := len(tokens)
	for rows > 0 && !rt.TryClaim(tokens[rows-1]) && rt.GetError() == nil {
		rest := rt.GetRestriction().(Tokens) // splits only make it smaller
		for rows > 0 && (rest.Empty || rest.position(tokens[rows-1]) > rest.last()) {
			rows--
		}
	}
	return rows
}

// claimEnd claims the rest of a restriction that has no more rows.
func claimEnd(rt sdf.RTracker) error {
	for !rt.IsDone() {
		rest := rt.GetRestriction().(Tokens)
		if !rt.TryClaim(rest.End) && rt.GetError() != nil {
			return rt.GetError()
		}
	}
	return nil
}
