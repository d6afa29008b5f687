// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// This file holds what follows from a Config.

// A plan is a checked Config and what follows from it. It does not change.
type plan struct {
	Config
	keys        *keyPlan
	used        []int // the value columns that are arguments of some aggregate
	parts       []part
	outputs     []output // by aggregate
	rowTypes    []Type   // of the columns of used
	stateTypes  []Type   // of the states of all parts
	rowNumbers  bool     // somebody needs them
	wordResults bool     // all columns of the result have 8 bytes per row
	limits
}

// A part is an accumulator that one aggregate, or several, are made from: SUM and AVG of a column share a sum.
type part struct {
	Aggregate
	types []Type // of the arguments
	args  []int  // positions in plan.used
	state []Type
}

// An output is a column of the result.
type output struct {
	parts []int
	typ   Type
}

// limits are numbers that say when what is done another way. Tests make them small.
type limits struct {
	local                int   // groups in a worker's own table: more had better be in partitions
	merge                int   // groups of other workers that one goroutine merges into its own
	sample               int   // rows of a batch that are worth a sample of sampleRows
	fold                 int64 // bytes of rows in a partition that are worth folding into states
	blockRows, blockText int   // rows and bytes of text of a block of rows
	morsel               int   // rows that a worker takes at a time from a batch shared with others; a multiple of scatterRows
}

var defaultLimits = limits{local: 1 << 17, merge: 1 << 17, sample: 8 * sampleRows, fold: 1 << 20, morsel: 1 << 16, blockRows: 2048, blockText: 1 << 18}

func newPlan(c Config) (*plan, error) {
	c.Keys, c.Values, c.Aggregates = slices.Clone(c.Keys), slices.Clone(c.Values), slices.Clone(c.Aggregates)
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.SpillCodec == nil {
		c.SpillCodec = flateCodec{}
	}
	p := &plan{Config: c, limits: defaultLimits}
	var errs []error
	keys, err := newKeyPlan(c.Keys)
	if err != nil {
		errs = append(errs, err)
	}
	p.keys = keys
	for i, t := range c.Values {
		if !t.valid() {
			errs = append(errs, fmt.Errorf("value %d: no values of type %s", i, t))
		}
	}
	for i, a := range c.Aggregates {
		if err := p.addAggregate(a); err != nil {
			errs = append(errs, fmt.Errorf("aggregate %d (%s): %w", i, a.Name, err))
		}
	}
	if c.Limit < 0 {
		errs = append(errs, fmt.Errorf("limit %d", c.Limit))
	}
	if o := c.Order; o.by == byAggregate && (o.col < 0 || o.col >= len(c.Aggregates)) {
		errs = append(errs, fmt.Errorf("order by aggregate %d of %d", o.col, len(c.Aggregates)))
	}
	if o := c.Order; o.by == byAggregate && o.col >= 0 && o.col < len(p.outputs) && p.outputs[o.col].typ.Dim() > 0 {
		errs = append(errs, fmt.Errorf("order by aggregate %d, a %s", o.col, p.outputs[o.col].typ))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("groupby: %w", errors.Join(errs...))
	}
	p.rowNumbers = p.rowNumbers || c.Order.by == byAppearance
	for _, v := range p.used {
		p.rowTypes = append(p.rowTypes, p.Values[v])
	}
	for _, part := range p.parts {
		p.stateTypes = append(p.stateTypes, part.state...)
	}
	p.wordResults = p.keys.form <= keyWords
	for _, t := range c.Keys {
		p.wordResults = p.wordResults && t.width() == 8
	}
	for _, out := range p.outputs {
		p.wordResults = p.wordResults && out.typ.width() == 8 && out.typ.Dim() == 0
	}
	if c.MemoryLimit > 0 {
		// Blocks that are being filled are not counted before they are full: they may take an eighth.
		bytes := int(c.MemoryLimit / 8 / partitions / int64(c.Workers))
		width := 32
		for _, t := range p.rowTypes {
			width += t.width()
		}
		p.blockRows, p.blockText = min(p.blockRows, max(16, bytes/width)), min(p.blockText, max(256, bytes))
	}
	return p, nil
}

// addAggregate adds what an aggregate is made from, as far as it is not there yet.
func (p *plan) addAggregate(a Aggregate) error {
	made, combine := []Aggregate{a}, a.combine
	if len(a.parts) > 0 {
		made = a.parts
	}
	var out output
	var accs []Accumulator
	for _, m := range made {
		i, acc, err := p.addPart(m)
		if err != nil {
			return err
		}
		out.parts, accs = append(out.parts, i), append(accs, acc)
	}
	if combine != nil {
		out.typ, _ = combine(accs)
	} else {
		_, out.typ = accs[0].Types()
	}
	if !out.typ.valid() {
		return fmt.Errorf("a result of type %s", out.typ)
	}
	p.outputs = append(p.outputs, out)
	return nil
}

// addPart returns the number of a part, and an accumulator of it.
func (p *plan) addPart(a Aggregate) (int, Accumulator, error) {
	if a.New == nil {
		return 0, nil, errors.New("no New")
	}
	m := part{Aggregate: a}
	for _, v := range a.Args {
		if v < 0 || v >= len(p.Values) {
			return 0, nil, fmt.Errorf("argument is value %d of %d", v, len(p.Values))
		}
		m.types = append(m.types, p.Values[v])
	}
	acc, err := a.New(m.types)
	if err != nil {
		return 0, nil, err
	}
	for i := range p.parts {
		if other := &p.parts[i]; a.kind != "" && other.kind == a.kind && slices.Equal(other.Args, a.Args) {
			return i, acc, nil
		}
	}
	for _, v := range a.Args {
		at := slices.Index(p.used, v)
		if at < 0 {
			at = len(p.used)
			p.used = append(p.used, v)
		}
		m.args = append(m.args, at)
	}
	m.state, _ = acc.Types()
	for _, t := range m.state {
		if !t.valid() {
			return 0, nil, fmt.Errorf("a state of type %s", t)
		}
	}
	p.parts = append(p.parts, m)
	p.rowNumbers = p.rowNumbers || a.RowNumbers
	return len(p.parts) - 1, acc, nil
}

// accumulators returns new ones, one per part, and the functions that make results of them, one per aggregate.
func (p *plan) accumulators() ([]Accumulator, []func() (Column, error)) {
	accs := make([]Accumulator, len(p.parts))
	for i, m := range p.parts {
		accs[i], _ = m.New(m.types) // it was made once already
	}
	results := make([]func() (Column, error), len(p.outputs))
	for i, out := range p.outputs {
		results[i] = accs[out.parts[0]].Result
		if combine := p.Aggregates[i].combine; combine != nil {
			var of []Accumulator
			for _, k := range out.parts {
				of = append(of, accs[k])
			}
			_, results[i] = combine(of)
		}
	}
	return accs, results
}

// check returns the number of rows of a batch, or what is wrong with it.
func (p *plan) check(b Batch) (int, error) {
	n := -1
	one := func(what string, i int, c *Column, t Type) error {
		if n < 0 {
			n = c.n
		}
		err := c.check(t)
		if err == nil && c.n != n {
			err = fmt.Errorf("%d rows, others have %d", c.n, n)
		}
		if err != nil {
			return &BatchError{fmt.Sprintf("%s %d", what, i), err}
		}
		return nil
	}
	if len(b.Keys) != len(p.Keys) || len(b.Values) != len(p.Values) {
		return 0, &BatchError{"columns", fmt.Errorf("%d keys and %d values, not %d and %d", len(b.Keys), len(b.Values), len(p.Keys), len(p.Values))}
	}
	for i := range b.Keys {
		if err := one("key", i, &b.Keys[i], p.Keys[i]); err != nil {
			return 0, err
		}
	}
	for i := range b.Values {
		if err := one("value", i, &b.Values[i], p.Values[i]); err != nil {
			return 0, err
		}
	}
	if n < 0 {
		n = b.Rows
	}
	if n < 0 {
		return 0, &BatchError{"rows", fmt.Errorf("%d of them", n)}
	}
	return n, nil
}
