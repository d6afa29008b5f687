// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"sync"

	"github.com/vecql/vecql/column"
)

// Program: expressions compiled for a schema, and their evaluation on batches.

// A Program is an expression compiled for the types of a schema. It may be used by several goroutines at once. It
// evaluates batches that satisfy column.Batch.Check.
type Program struct {
	e       Expr
	name    string // of columns that Eval returns
	root    *term
	columns column.Schema // that the expression uses
	mu      sync.Mutex
	idle    []*tree // guarded by mu
}

// Compile checks an expression against a schema and compiles it. The error is a *[CompileError].
func Compile(e Expr, schema column.Schema) (*Program, error) {
	c := &checker{schema: schema}
	root, err := c.check(e)
	if err != nil {
		return nil, err
	}
	return &Program{e: e, name: e.String(), root: root, columns: c.columns}, nil
}

// Type returns the type of the values.
func (p *Program) Type() column.Type { return p.root.typ }

// Columns returns the names of the columns that batches need.
func (p *Program) Columns() []string { return p.e.Columns() }

// String returns the text of the expression.
func (p *Program) String() string { return p.name }

// A tree is the lanes of a program with their memory, for one goroutine.
type tree struct {
	*builder
	emit   emitter // of a value; made by the first Eval
	filter filter  // of a predicate; made by the first Select
	kept   [blockRows]int32
}

// take returns a tree bound to a batch. The caller returns it by release.
func (p *Program) take(b *column.Batch) (*tree, error) {
	p.mu.Lock()
	var t *tree
	if n := len(p.idle); n > 0 {
		t, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if t == nil {
		t = &tree{builder: newBuilder(&block{}, nil)}
		for _, f := range p.columns {
			t.sources = append(t.sources, &source{field: f})
		}
	}
	for _, s := range t.sources {
		if err := s.bind(b); err != nil {
			p.release(t)
			return nil, err
		}
	}
	return t, nil
}

// release forgets the batch, so that an idle tree does not keep its memory alive.
func (p *Program) release(t *tree) {
	for _, s := range t.sources {
		s.column = nil
	}
	t.block.forget()
	p.mu.Lock()
	p.idle = append(p.idle, t)
	p.mu.Unlock()
}

func (b *block) forget() {
	for _, texts := range b.texts {
		clear(*texts)
	}
}

// bind finds the source in a batch. The dimension of a vector is 0 in a batch of NULLs and in a schema made from one.
func (s *source) bind(b *column.Batch) error {
	i := b.Index(s.field.Name)
	if i < 0 {
		return b.Column(s.field.Name).Err()
	}
	s.column = &b.Columns[i]
	have, want := s.column.Type, s.field.Type
	if have.Kind == column.Vector && (have.Dim == 0 && s.column.Nulls == s.column.Len || want.Dim == 0) {
		have.Dim, want.Dim = 0, 0
	}
	if have != want {
		return &column.TypeError{Column: s.field.Name, Type: s.column.Type, Want: want.String() + " as in the schema"}
	}
	return nil
}

// Select appends to dst the numbers of the rows for which the expression is true, in ascending order. The expression
// must be a boolean. An operand of AND is evaluated only on rows for which all operands before it are true, an operand
// of OR only on rows for which none before it is true; an error in a row that is not evaluated does not occur. The
// error is a *[RowError], or names a column that is missing or has another type. Select allocates no memory if dst has
// room for all rows of the batch.
func (p *Program) Select(b *column.Batch, dst []int32) ([]int32, error) {
	t, err := p.selector(b)
	if err != nil {
		return dst, err
	}
	defer p.release(t)
	for lo := 0; lo < b.Rows; lo += blockRows {
		t.block.move(lo, b.Rows)
		kept, err := t.filter.keep(identity[:t.block.n], t.kept[:])
		if err != nil {
			return dst, err
		}
		for _, r := range kept {
			dst = append(dst, int32(lo)+r)
		}
	}
	return dst, nil
}

// Refine selects among some rows of the batch, whose numbers are rows, in ascending order. The result is in the memory
// of rows.
func (p *Program) Refine(b *column.Batch, rows []int32) ([]int32, error) {
	t, err := p.selector(b)
	if err != nil {
		return rows[:0], err
	}
	defer p.release(t)
	out := rows[:0]
	for len(rows) > 0 {
		lo := int(rows[0]) / blockRows * blockRows
		if rows[0] < 0 || int(rows[0]) >= b.Rows {
			return out, fmt.Errorf("expr: row %d of a batch of %d rows", rows[0], b.Rows)
		}
		t.block.move(lo, b.Rows)
		n := 0
		for n < len(rows) && int(rows[n]) < lo+t.block.n && (n == 0 || rows[n] > rows[n-1]) {
			t.kept[n] = rows[n] - int32(lo)
			n++
		}
		if n < len(rows) && rows[n] <= rows[n-1] {
			return out, fmt.Errorf("expr: row %d follows row %d", rows[n], rows[n-1])
		}
		kept, err := t.filter.keep(t.kept[:n], t.kept[:])
		if err != nil {
			return out, err
		}
		rows = rows[n:]
		for _, r := range kept {
			out = append(out, int32(lo)+r)
		}
	}
	return out, nil
}

// selector returns a tree with a filter.
func (p *Program) selector(b *column.Batch) (*tree, error) {
	if p.root.class != classBool {
		return nil, fault(p.e, "a selection requires a boolean: %s", p.root.describe())
	}
	t, err := p.take(b)
	if err == nil && t.filter == nil {
		t.filter = t.builder.filter(p.root, false)
	}
	return t, err
}

// Eval returns the values of the expression for all rows of the batch, as a fresh column named by its text. A text that
// depends only on a column with a dictionary is a column with a dictionary too, which the columns of further batches
// share as long as theirs do.
func (p *Program) Eval(b *column.Batch) (column.Column, error) {
	var c column.Column
	err := p.EvalInto(b, &c)
	return c, err
}

// EvalInto stores the result of Eval in the memory of dst, which grows as needed. Copies of columns and columns with a
// dictionary are fresh.
func (p *Program) EvalInto(b *column.Batch, dst *column.Column) error {
	t, err := p.take(b)
	if err != nil {
		return err
	}
	defer p.release(t)
	if p.root.op == opColumn {
		clone := (&column.Batch{Columns: []column.Column{*t.sources[p.root.index].column}, Rows: b.Rows}).Clone()
		*dst = clone.Columns[0]
		return nil
	}
	if t.emit == nil {
		t.emit = t.builder.emitter(p.root)
	}
	reset(dst, p.name, p.root.typ, b.Rows)
	if texts, ok := t.emit.(*textEmitter); ok && texts.codes(dst) {
		return nil
	}
	for lo := 0; lo < b.Rows; lo += blockRows {
		t.block.move(lo, b.Rows)
		valid, err := t.emit.emit(dst)
		if err != nil {
			return err
		}
		setValid(dst, t.block, valid)
	}
	return nil
}
