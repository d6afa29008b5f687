// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Unions: the rows of several pipes, one pipe after the other.

type unionSource struct{ members []chain }

func (s *unionSource) open(ctx context.Context, config Config) (opened, error) {
	if len(s.members) == 0 {
		return nil, &Error{Verb: "Union", Err: ErrNoSource}
	}
	u := &openedUnion{}
	for i, c := range s.members {
		b, err := bind(ctx, c, config)
		if err != nil {
			return nil, errors.Join(err, u.close())
		}
		u.members = append(u.members, b)
		if err := u.check(b); err != nil {
			return nil, errors.Join(failed("Union", fmt.Sprint(i), err), u.close())
		}
	}
	return u, nil
}

type openedUnion struct{ members []*binder }

// check returns an error unless a pipe has the columns of the first one, among others.
func (u *openedUnion) check(b *binder) error {
	_, err := alike(b.schema.Empty(), u.members[0].schema.Empty())
	return err
}

// schema returns the columns of the first pipe. A column is nullable if it is in one of the pipes.
func (u *openedUnion) schema() column.Schema {
	schema := slices.Clone(u.members[0].schema)
	for _, b := range u.members[1:] {
		for i := range schema {
			schema[i].Nullable = schema[i].Nullable || b.schema[b.schema.Index(schema[i].Name)].Nullable
		}
	}
	return schema
}

func (u *openedUnion) input() *input { return nil }

func (u *openedUnion) ordered() bool {
	for _, b := range u.members {
		if !b.ordered {
			return false
		}
	}
	return true
}

// push adds the conditions to each pipe.
func (u *openedUnion) push(conditions []conjunct) (rest []conjunct) {
	for _, c := range conditions {
		for _, b := range u.members {
			p, err := expr.Compile(c.e, b.schema)
			if err != nil {
				return conditions // the dimension of a vector differs: evaluated on all rows
			}
			op := &filterOp{text: c.from, schema: b.schema}
			op.conjuncts = []conjunct{{c.e, p, c.from}}
			b.add(op)
		}
	}
	return nil
}

func (u *openedUnion) scan(p *plan, columns []string) (node, error) {
	n := &unionNode{}
	n.meter = p.describe("union of %d, columns %s", len(u.members), list(columns))
	p.indent += "  "
	defer func() { p.indent = p.indent[:len(p.indent)-2] }()
	for _, b := range u.members {
		b.keep(columns)
		member, err := b.plan(p)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member)
	}
	return n, nil
}

func (u *openedUnion) close() error {
	var errs []error
	for _, b := range u.members {
		errs = append(errs, b.source.close())
	}
	return errors.Join(errs...)
}

type unionNode struct {
	members []node
	meter   *meter
}

func (n *unionNode) workers() int {
	most := 1
	for _, m := range n.members {
		most = max(most, m.workers())
	}
	return most
}

// run runs one member after the other. The numbers of the rows continue.
func (n *unionNode) run(ctx context.Context, f emit) error {
	var base, end atomic.Int64
	for _, m := range n.members {
		base.Store(end.Load())
		err := m.run(ctx, func(worker int, p part) error {
			b := *p.b
			b.Source.FirstRow += base.Load()
			for top := b.Source.FirstRow + int64(b.Rows); ; {
				if old := end.Load(); old >= top || end.CompareAndSwap(old, top) {
					break
				}
			}
			n.meter.rows.Add(int64(p.count()))
			return f(worker, part{b: &b, rows: p.rows})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
