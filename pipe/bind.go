// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe/internal/order"
)

// Binding: from the steps of a Pipe, which are names and texts, to operations on columns with types.

// A step is a verb with its arguments.
type step interface {
	// bind checks the arguments against the columns and adds operations.
	bind(b *binder) error
}

// A chain is a source and the steps that follow.
type chain struct {
	source source
	steps  []step
}

// A binder collects operations, and the columns after the last one.
type binder struct {
	config Config
	source opened
	schema column.Schema
	ops    []operation
	// unique are columns whose values differ in all rows: the keys of groups. ordered means that rows come in an order
	// that does not depend on the goroutines.
	unique  []string
	ordered bool
}

// bind opens the source of a chain and binds its steps.
func bind(ctx context.Context, c chain, config Config) (*binder, error) {
	if c.source == nil {
		return nil, &Error{Verb: "Pipe", Err: ErrNoSource}
	}
	source, err := c.source.open(ctx, config)
	if err != nil {
		return nil, err
	}
	b := &binder{config: config, source: source, schema: source.schema(), ordered: source.ordered()}
	for _, s := range c.steps {
		if err := s.bind(b); err != nil {
			return nil, errors.Join(err, source.close())
		}
	}
	return b, nil
}

func (b *binder) add(op operation) { b.ops = append(b.ops, op) }

// compile parses and compiles an expression.
func (b *binder) compile(t text) (expr.Expr, *expr.Program, error) {
	e, err := expr.Parse(t.text, t.args...)
	if err != nil {
		return e, nil, failed(t.verb, t.quoted(), err)
	}
	p, err := expr.Compile(e, b.schema)
	return e, p, failed(t.verb, t.quoted(), err)
}

// column adds the column of a name, which may be the text of an expression, unless it is there.
func (b *binder) column(verb, name string) error {
	if b.schema.Index(name) >= 0 {
		return nil
	}
	return b.compute(name, text{verb: verb, text: name})
}

// compute adds a column with the values of an expression.
func (b *binder) compute(name string, t text) error {
	e, p, err := b.compile(t)
	if err != nil {
		return err
	}
	op := &computeOp{text: t, name: name, e: e, program: p}
	field := column.Field{Name: name, Type: p.Type(), Nullable: p.Nullable()}
	if from, ok := e.Column(); ok {
		op.from = from
		field.Fields = b.schema[b.schema.Index(from)].Fields
	}
	b.schema = slices.Clone(b.schema)
	if i := b.schema.Index(name); i >= 0 {
		b.schema[i] = field
		b.lose(name)
	} else {
		b.schema = append(b.schema, field)
	}
	b.add(op)
	return nil
}

// lose forgets that rows are unique if a column that they need is gone.
func (b *binder) lose(name string) {
	if slices.Contains(b.unique, name) {
		b.unique = nil
	}
}

// keep keeps the named columns only; all exist.
func (b *binder) keep(names []string) {
	kept := make(column.Schema, len(names))
	for i, name := range names {
		kept[i] = b.schema[b.schema.Index(name)]
	}
	for i := range b.schema {
		if !slices.Contains(names, b.schema[i].Name) {
			b.lose(b.schema[i].Name)
		}
	}
	b.schema = kept
	b.add(&selectOp{names: names})
}

type whereStep struct{ text }

// bind compiles each conjunct by itself, so that each can go to the source. NULL as the whole condition is a boolean.
func (s *whereStep) bind(b *binder) error {
	condition := s.text
	if e, err := expr.Parse(s.text.text, s.args...); err == nil && e.Node().Op == "literal" && e.Node().Value == nil {
		condition = newText(s.verb, "?", []any{e.Cast(column.Type{Kind: column.Bool})})
	}
	e, p, err := b.compile(condition)
	if err != nil {
		return err
	}
	if p.Type().Kind != column.Bool {
		_, err := p.Select(b.schema.Empty(), nil)
		return failed(s.verb, s.quoted(), err)
	}
	op := &filterOp{text: s.text, schema: b.schema}
	for _, c := range expr.Conjuncts(e) {
		p, err := expr.Compile(c, b.schema)
		if err != nil {
			return failed(s.verb, s.quoted(), err)
		}
		op.conjuncts = append(op.conjuncts, conjunct{c, p, s.text})
	}
	b.add(op)
	return nil
}

type withStep struct {
	name string
	text
}

func (s *withStep) bind(b *binder) error { return b.compute(s.name, s.text) }

type selectStep struct{ names []string }

func (s *selectStep) bind(b *binder) error {
	for i, name := range s.names {
		if slices.Contains(s.names[:i], name) {
			return failed("Select", fmt.Sprintf("%q", name), errors.New("the column is listed twice; use With for a second name"))
		}
		if err := b.column("Select", name); err != nil {
			return err
		}
	}
	b.keep(s.names)
	return nil
}

type groupStep struct {
	verb       string
	keys       []string
	aggregates []groupby.Aggregate
	distinct   bool
}

// bind computes keys and arguments that are expressions. The types of the result are the types of no rows.
func (s *groupStep) bind(b *binder) error {
	keys := s.keys
	if s.distinct && len(keys) == 0 {
		keys = b.schema.Names()
	}
	for _, name := range keys {
		if err := b.column(s.verb, name); err != nil {
			return err
		}
	}
	for _, a := range s.aggregates {
		for _, name := range a.Args {
			if err := b.column("Aggregate", name); err != nil {
				return err
			}
		}
	}
	op := &groupOp{verb: s.verb, keys: keys, aggregates: s.aggregates, input: b.schema}
	empty, err := op.config(b.config).Aggregate(context.Background(), b.schema.Empty())
	if err != nil {
		return failed(s.verb, quoted(keys), err)
	}
	b.schema, b.unique, b.ordered = op.schema(empty), keys, len(keys) == 0
	b.add(op)
	return nil
}

type orderStep struct{ keys []order.Key }

// bind computes columns that are expressions, and drops them after the sort.
func (s *orderStep) bind(b *binder) error {
	before := b.schema.Names()
	op := &sortOp{window: window{limit: -1}}
	for _, k := range s.keys {
		if err := b.column("OrderBy", k.Name); err != nil {
			return err
		}
		if t := b.schema[b.schema.Index(k.Name)].Type; !order.Has(t.Kind) {
			return failed("OrderBy", fmt.Sprintf("%q", k.Name), fmt.Errorf("%w: %v", ErrNoOrder, t))
		}
		op.keys = append(op.keys, k)
	}
	op.orders = len(op.keys)
	op.keys = append(op.keys, b.ties(before)...)
	b.ordered, b.unique = true, nil
	b.add(op)
	if len(b.schema) > len(before) {
		b.keep(before)
	}
	return nil
}

// ties returns the keys that order rows that are equal otherwise, so that the result does not depend on the goroutines.
func (b *binder) ties(names []string) (keys []order.Key) {
	if b.ordered {
		return nil // their positions
	}
	if b.unique != nil {
		names = b.unique
	}
	for _, name := range names {
		if k := b.schema[b.schema.Index(name)].Type.Kind; !k.IsNested() && k != column.Vector {
			keys = append(keys, order.Key{Name: name})
		}
	}
	return keys
}

type windowStep struct {
	verb string
	n    int64
}

// bind narrows the window of the last operation.
func (s *windowStep) bind(b *binder) error {
	if s.n < 0 {
		return failed(s.verb, fmt.Sprint(s.n), errors.New("the number of rows is negative"))
	}
	w := b.window()
	switch {
	case s.verb == "Limit" && (w.limit < 0 || w.limit > s.n):
		w.limit = s.n
	case s.verb == "Limit":
	case w.limit >= 0:
		skipped := min(s.n, w.limit)
		w.offset, w.limit = addRows(w.offset, skipped), w.limit-skipped
	default:
		w.offset = addRows(w.offset, s.n)
	}
	return nil
}

// window returns the window of the last operation, behind operations that keep the number and order of rows: the window
// of a sort if there is one.
func (b *binder) window() *window {
	for _, op := range slices.Backward(b.ops) {
		switch op := op.(type) {
		case *sortOp:
			return &op.window
		case *windowOp:
			return &op.window
		case *selectOp, *computeOp:
			continue
		}
		break
	}
	op := &windowOp{window: window{limit: -1}}
	b.add(op)
	return &op.window
}
