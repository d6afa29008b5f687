// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
)

// Plans: a Config with the types of its columns, and values derived from both.

// A plan is a checked Config with the types of the columns, and values derived from both. It is immutable.
type plan struct {
	Config
	types       []column.Type // of inputNames
	keys        *keyPlan
	parts       []part
	outputs     []output      // by aggregate
	rowTypes    []column.Type // of the arguments: types without the keys
	stateTypes  []column.Type // of the states of all parts
	rowNumbers  bool          // an aggregate or the order needs row numbers
	rowsOnly    bool          // no aggregate has an argument, and nothing needs row numbers
	keysOnly    bool          // there are no aggregates, and nothing needs row numbers
	textStates  bool          // some states are text
	wordResults bool          // all columns of the result have 8 bytes per row
	orderBy     int           // the column of the result that Order names
	limits
}

// A part is an accumulator that one or several aggregates use: the sum and the mean of a column share a sum.
type part struct {
	Aggregate
	types []column.Type // of the arguments
	args  []int         // positions in plan.rowTypes
	state []column.Type
}

// An output is a column of the result.
type output struct {
	parts []int
	field column.Field
}

// limits are thresholds in rows, groups and bytes at which the strategy changes. Tests make them small.
type limits struct {
	local                int   // groups in a worker's own table; more are moved to partitions
	merge                int   // groups of other workers that one goroutine merges into its own
	sample               int   // rows of a batch from which on sampleRows of them are sampled
	prune                int   // groups of a result from which on those beyond Config.Limit are dropped
	compactBytes         int64 // bytes of rows in a partition beyond which it is compacted into states
	blockRows, blockText int   // rows and bytes of text of a block of rows
	blockStates          int64 // bytes of a block of states of partials
	morsel               int   // rows that a worker takes at a time from a shared batch; a multiple of scatterRows
}

var defaultLimits = limits{
	local: 1 << 17, merge: 1 << 17, sample: 8 * sampleRows, prune: 4096, compactBytes: 1 << 20, morsel: 1 << 16,
	blockRows: 2048, blockText: 1 << 18, blockStates: 1 << 17,
}

// newPlan returns the plan of a checked Config for columns of these types, in the order of inputNames, or a
// *BatchError.
func newPlan(c Config, l limits, types []column.Type) (*plan, error) {
	p := &plan{Config: c, limits: l, types: types}
	keys := types[:len(c.Keys)]
	for i, t := range keys {
		if err := checkKey(t); err != nil {
			return nil, &BatchError{c.Keys[i], err}
		}
	}
	p.keys = newKeyPlan(keys)
	p.rowTypes = types[len(c.Keys):]
	for _, a := range c.Aggregates {
		if err := p.addAggregate(a); err != nil {
			return nil, err
		}
	}
	if err := p.checkOrder(); err != nil {
		return nil, err
	}
	p.rowNumbers = p.rowNumbers || c.Order.by == byAppearance
	p.rowsOnly = !p.rowNumbers && len(p.rowTypes) == 0
	p.keysOnly = p.rowsOnly && len(p.parts) == 0
	for _, part := range p.parts {
		p.stateTypes = append(p.stateTypes, part.state...)
	}
	for _, t := range p.stateTypes {
		p.textStates = p.textStates || t.Kind.IsText()
	}
	p.wordResults = p.keys.form <= keyWords
	for _, w := range p.keys.widths {
		p.wordResults = p.wordResults && w == 8
	}
	for _, out := range p.outputs {
		p.wordResults = p.wordResults && out.field.Type.ValueWidth() == 8
	}
	if c.MemoryLimit > 0 {
		p.limitBlocks()
	}
	return p, nil
}

// limitBlocks limits the blocks that workers fill to an eighth of the memory limit.
func (p *plan) limitBlocks() {
	bytes := int(p.MemoryLimit / 8 / partitions / int64(p.Workers))
	p.blockStates = min(p.blockStates, int64(bytes))
	width := 32
	text := p.keys.form >= keyText
	for _, t := range p.rowTypes {
		width += t.ValueWidth()
		text = text || t.Kind.IsText()
	}
	if text {
		bytes /= 2
	}
	p.blockRows, p.blockText = min(p.blockRows, max(16, bytes/width)), min(p.blockText, max(256, bytes))
}

// checkOrder finds the column that Order names.
func (p *plan) checkOrder() error {
	if p.Order.by != byColumn {
		return nil
	}
	p.orderBy = slices.Index(p.resultNames(), p.Order.column)
	if i := p.orderBy - len(p.Keys); i >= 0 && !hasOrder(p.outputs[i].field.Type) {
		return &BatchError{p.Order.column, fmt.Errorf("the result is to be ordered by it, but its type %v has no order",
			p.outputs[i].field.Type)}
	}
	return nil
}

// argTypes returns the types of an aggregate's arguments, and their positions in rowTypes.
func (p *plan) argTypes(a *Aggregate) (types []column.Type, at []int) {
	names := p.inputNames()[len(p.Keys):]
	for _, arg := range a.Args {
		i := slices.Index(names, arg)
		types, at = append(types, p.rowTypes[i]), append(at, i)
	}
	return types, at
}

// addAggregate adds the output of an aggregate, and the outputs of its parts that do not exist yet.
func (p *plan) addAggregate(a Aggregate) error {
	types, _ := p.argTypes(&a)
	if a.typed != nil {
		typed := a.typed(types)
		typed.Name = a.Name
		a = typed
	}
	made := []Aggregate{a}
	if len(a.parts) > 0 {
		made = a.parts
	}
	var out output
	var accs []Accumulator
	for _, m := range made {
		i, acc, err := p.addPart(m)
		if err != nil {
			return batchError(&a, types, err)
		}
		out.parts, accs = append(out.parts, i), append(accs, acc)
	}
	if a.combine != nil {
		out.field, _ = a.combine(a.Name, accs)
	} else {
		_, out.field = accs[0].Types()
	}
	if err := checkField(out.field); err != nil {
		return batchError(&a, types, fmt.Errorf("its result is invalid: %w", err))
	}
	out.field.Name = a.Name
	p.outputs = append(p.outputs, out)
	return nil
}

// checkField returns an error if a result cannot have the field.
func checkField(f column.Field) error {
	if err := f.Type.Check(); err != nil {
		return err
	}
	switch {
	case f.Type.Kind == column.List && len(f.Fields) == 1:
		return checkField(f.Fields[0])
	case f.Type.Kind.IsNested():
		return fmt.Errorf("type is %v with %d children", f.Type, len(f.Fields))
	}
	return nil
}

// batchError converts the error of an aggregate about its arguments to a *BatchError.
func batchError(a *Aggregate, types []column.Type, err error) error {
	var arg *argError
	if errors.As(err, &arg) {
		return &BatchError{a.Args[arg.arg], fmt.Errorf("its type is %v; %s takes %s", types[arg.arg], a.Name, arg.want)}
	}
	return &BatchError{strings.Join(a.Args, ", "), fmt.Errorf("%s of %v: %w", a.Name, types, err)}
}

// addPart returns the index of a part, and an accumulator of it.
func (p *plan) addPart(a Aggregate) (int, Accumulator, error) {
	m := part{Aggregate: a}
	m.types, m.args = p.argTypes(&a)
	acc, err := a.New(m.types)
	if err != nil {
		return 0, nil, err
	}
	for i := range p.parts {
		if key := a.key(); key != "" && p.parts[i].key() == key {
			return i, acc, nil
		}
	}
	m.state, _ = acc.Types()
	for _, t := range m.state {
		if err := t.Check(); err != nil || t.Kind.IsNested() {
			return 0, nil, fmt.Errorf("type %v cannot be a state", t)
		}
	}
	p.parts = append(p.parts, m)
	p.rowNumbers = p.rowNumbers || a.RowNumbers
	return len(p.parts) - 1, acc, nil
}

// accumulators returns new accumulators, one per part, and functions that return results, one per aggregate.
func (p *plan) accumulators() ([]Accumulator, []resultFunc) {
	accs := make([]Accumulator, len(p.parts))
	for i, m := range p.parts {
		accs[i], _ = m.New(m.types) // newPlan has called New successfully
	}
	results := make([]resultFunc, len(p.outputs))
	for i, out := range p.outputs {
		a := p.Aggregates[i]
		if a.typed != nil {
			types, _ := p.argTypes(&a)
			a = a.typed(types)
		}
		results[i] = accs[out.parts[0]].Result
		if a.combine != nil {
			var of []Accumulator
			for _, k := range out.parts {
				of = append(of, accs[k])
			}
			_, results[i] = a.combine(p.Aggregates[i].Name, of)
		}
	}
	return accs, results
}
