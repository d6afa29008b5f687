// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// This file is the reference: grouped aggregation the slow and obvious way, to be right rather than fast. Tests compare the Grouper with it. It uses of the package
// only the check of the Config and what makes and reads columns; neither tables nor partitions, nor the Accumulators of built-in aggregates.

// A referenceRow is a row of one group: its number, and the values of the aggregate's arguments. A value has the Go type of its [Type]: int8 to
// float64, bool, [16]byte, string, []float32 or []float64; nil is NULL.
type referenceRow struct {
	number int64
	args   []any
}

// A referenceGroup is a group while it is made, and what comes of it.
type referenceGroup struct {
	keys   []any
	rows   []referenceRow // with the values of all value columns
	values []any          // the aggregates
}

// Reference returns what a Grouper returns, computed with a Go map and lists of rows: a witness in tests, of this package and of Aggregates of
// one's own. It keeps all rows in memory and is slow. Workers and all that is about memory is ignored.
//
// Rows have the numbers that the Starts of the batches say, or, if all of these are 0, consecutive ones, as with [Grouper.Add]. Aggregates that
// are not of this package are computed by their Accumulators, for one group and one row at a time, in the order of the rows' numbers; Merge is
// not called. Sums and means of floats are exact and rounded once. With Unordered, groups come in order of first appearance.
func Reference(c Config, batches ...Batch) (*Result, error) {
	p, err := newPlan(c)
	if err != nil {
		return nil, err
	}
	groups, err := referenceGroups(p, batches)
	if err != nil {
		return nil, err
	}
	for i := range p.Aggregates {
		for _, g := range groups {
			v, err := p.referenceAggregate(i, g.rows)
			if err != nil {
				return nil, fmt.Errorf("groupby: aggregate %d (%s): %w", i, p.Aggregates[i].Name, err)
			}
			g.values = append(g.values, v)
		}
	}
	slices.SortStableFunc(groups, p.Order.compareReference)
	if p.Limit > 0 {
		groups = groups[:min(p.Limit, len(groups))]
	}
	r := &Result{plan: p, n: len(groups)}
	if len(groups) == 0 {
		return r, nil
	}
	b := Batch{Rows: len(groups)}
	column := func(t Type, of func(*referenceGroup) any) (Column, error) {
		values := make([]any, len(groups))
		for i, g := range groups {
			values[i] = of(g)
		}
		return referenceColumn(t, values)
	}
	for i, t := range p.Keys {
		c, err := column(t, func(g *referenceGroup) any { return g.keys[i] })
		if err != nil {
			return nil, fmt.Errorf("groupby: key %d: %w", i, err)
		}
		b.Keys = append(b.Keys, c)
	}
	for i, out := range p.outputs {
		c, err := column(out.typ, func(g *referenceGroup) any { return g.values[i] })
		if err != nil {
			return nil, fmt.Errorf("groupby: aggregate %d (%s): %w", i, p.Aggregates[i].Name, err)
		}
		b.Values = append(b.Values, c)
	}
	r.batches = []Batch{b}
	return r, nil
}

// referenceGroups returns the groups in the order of their first rows, and the rows of each in the order of their numbers.
func referenceGroups(p *plan, batches []Batch) ([]*referenceGroup, error) {
	starts := slices.ContainsFunc(batches, func(b Batch) bool { return b.Start != 0 })
	byKey := map[string]*referenceGroup{}
	var groups []*referenceGroup
	next := int64(0)
	for _, b := range batches {
		n, err := p.check(b)
		if err != nil {
			return nil, err
		}
		if starts {
			next = b.Start
		}
		keys, values := make([][]any, len(b.Keys)), make([][]any, len(b.Values))
		for k := range keys {
			keys[k] = referenceValues(b.Keys[k])
		}
		for k := range values {
			values[k] = referenceValues(b.Values[k])
		}
		var key []byte
		for i := range n {
			number := next
			next++
			key = key[:0]
			null := false
			for k := range keys {
				key = appendReferenceKey(key, keys[k][i])
				null = null || keys[k][i] == nil
			}
			if null && p.DropNulls {
				continue
			}
			g := byKey[string(key)]
			if g == nil {
				g = &referenceGroup{}
				for k := range keys {
					g.keys = append(g.keys, canonicalReference(keys[k][i]))
				}
				byKey[string(key)] = g
				groups = append(groups, g)
			}
			row := referenceRow{number: number, args: make([]any, len(values))}
			for k := range values {
				row.args[k] = values[k][i]
			}
			g.rows = append(g.rows, row)
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g.rows, func(a, b referenceRow) int { return cmp.Compare(a.number, b.number) })
	}
	slices.SortStableFunc(groups, func(a, b *referenceGroup) int { return cmp.Compare(a.rows[0].number, b.rows[0].number) })
	return groups, nil
}

// canonicalReference returns a key as results have it: one NaN, one zero.
func canonicalReference(v any) any {
	switch v := v.(type) {
	case float32:
		switch {
		case v != v:
			return float32(math.NaN())
		case v == 0:
			return float32(0) // not -0
		}
	case float64:
		switch {
		case v != v:
			return math.NaN()
		case v == 0:
			return float64(0)
		}
	}
	return v
}

// appendReferenceKey appends a value to the key of its row. Two lists of values of the same types have the same key only if they are one group.
func appendReferenceKey(key []byte, v any) []byte {
	if v == nil {
		return append(key, 'N')
	}
	key = append(key, 'V')
	switch v := canonicalReference(v).(type) {
	case string:
		key = append(strconv.AppendInt(key, int64(len(v)), 10), ':')
		return append(key, v...)
	case [16]byte:
		return append(key, v[:]...)
	case int64:
		return append(strconv.AppendInt(key, v, 10), ';')
	case float64:
		return append(strconv.AppendFloat(key, v, 'g', -1, 64), ';')
	default:
		return append(fmt.Append(key, v), ';')
	}
}

// compareReference compares groups, which are in order of first appearance already.
func (o Order) compareReference(a, b *referenceGroup) int {
	if o.by == byNothing || o.by == byAppearance {
		return 0
	}
	if o.by == byAggregate {
		x, y := a.values[o.col], b.values[o.col]
		c := compareReferenceValues(x, y)
		if o.desc && x != nil && y != nil {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return slices.CompareFunc(a.keys, b.keys, compareReferenceValues)
}

// compareReferenceValues compares two values of the same type: NULL is greater than everything, NaN greater than all numbers.
func compareReferenceValues(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case int8:
		return cmp.Compare(a, b.(int8))
	case int16:
		return cmp.Compare(a, b.(int16))
	case int32:
		return cmp.Compare(a, b.(int32))
	case int64:
		return cmp.Compare(a, b.(int64))
	case uint8:
		return cmp.Compare(a, b.(uint8))
	case uint16:
		return cmp.Compare(a, b.(uint16))
	case uint32:
		return cmp.Compare(a, b.(uint32))
	case uint64:
		return cmp.Compare(a, b.(uint64))
	case float32:
		return compareReferenceFloats(float64(a), float64(b.(float32)))
	case float64:
		return compareReferenceFloats(a, b.(float64))
	case bool:
		switch {
		case a == b.(bool):
			return 0
		case a:
			return 1
		}
		return -1
	case [16]byte:
		other := b.([16]byte)
		return bytes.Compare(a[:], other[:])
	case string:
		return strings.Compare(a, b.(string))
	}
	panic(fmt.Sprintf("groupby: no order of %T", a))
}

func compareReferenceFloats(a, b float64) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// referenceValues returns the values of a column: see referenceRow.
func referenceValues(c Column) []any {
	if c.typ.Dim() > 0 {
		if c.typ.Elem() == Float32 {
			return referenceVectors[float32](c)
		}
		return referenceVectors[float64](c)
	}
	switch c.typ {
	case Int8:
		return referenceScalars[int8](c)
	case Int16:
		return referenceScalars[int16](c)
	case Int32:
		return referenceScalars[int32](c)
	case Int64:
		return referenceScalars[int64](c)
	case Uint8:
		return referenceScalars[uint8](c)
	case Uint16:
		return referenceScalars[uint16](c)
	case Uint32:
		return referenceScalars[uint32](c)
	case Uint64:
		return referenceScalars[uint64](c)
	case Float32:
		return referenceScalars[float32](c)
	case Float64:
		return referenceScalars[float64](c)
	case Bool:
		return referenceScalars[bool](c)
	case ID:
		return referenceScalars[[16]byte](c)
	}
	values := make([]any, c.n)
	for i := range values {
		if !c.Null(i) {
			values[i] = strings.Clone(c.text(i))
		}
	}
	return values
}

func referenceScalars[T Value](c Column) []any {
	s, _ := SliceOf[T](c)
	values := make([]any, c.n)
	for i := range values {
		if !c.Null(i) {
			values[i] = s[i]
		}
	}
	return values
}

func referenceVectors[T float](c Column) []any {
	s, _ := SliceOf[T](c)
	dim := c.typ.Dim()
	values := make([]any, c.n)
	for i := range values {
		if !c.Null(i) {
			values[i] = slices.Clone(s[i*dim : (i+1)*dim])
		}
	}
	return values
}

// referenceColumn is referenceValues backwards.
func referenceColumn(t Type, values []any) (Column, error) {
	if t.Dim() > 0 {
		if t.Elem() == Float32 {
			return referenceMatrix[float32](t, values)
		}
		return referenceMatrix[float64](t, values)
	}
	switch t {
	case Int8:
		return referenceColumnOf[int8](values)
	case Int16:
		return referenceColumnOf[int16](values)
	case Int32:
		return referenceColumnOf[int32](values)
	case Int64:
		return referenceColumnOf[int64](values)
	case Uint8:
		return referenceColumnOf[uint8](values)
	case Uint16:
		return referenceColumnOf[uint16](values)
	case Uint32:
		return referenceColumnOf[uint32](values)
	case Uint64:
		return referenceColumnOf[uint64](values)
	case Float32:
		return referenceColumnOf[float32](values)
	case Float64:
		return referenceColumnOf[float64](values)
	case Bool:
		return referenceColumnOf[bool](values)
	case ID:
		return referenceColumnOf[[16]byte](values)
	}
	return referenceColumnOf[string](values)
}

func referenceColumnOf[T Value](values []any) (Column, error) {
	s := make([]T, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		x, ok := v.(T)
		if !ok {
			return Column{}, fmt.Errorf("the reference gave a %T, not a %T", v, s[i])
		}
		s[i] = x
	}
	return Values(s).WithValidity(referenceValidity(values)), nil
}

func referenceMatrix[T float](t Type, values []any) (Column, error) {
	dim := t.Dim()
	s := make([]T, dim*len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		x, ok := v.([]T)
		if !ok || len(x) != dim {
			return Column{}, fmt.Errorf("the reference gave %v, not a %s", v, t)
		}
		copy(s[i*dim:], x)
	}
	return Matrix(s, dim).WithValidity(referenceValidity(values)), nil
}

// referenceValidity returns the bits of the values that are not NULL, nil if none is.
func referenceValidity(values []any) []byte {
	if !slices.Contains(values, nil) {
		return nil
	}
	bits := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		if v != nil {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return bits
}

// referenceAggregate returns an aggregate of the rows of one group.
func (p *plan) referenceAggregate(i int, rows []referenceRow) (any, error) {
	a := &p.Aggregates[i]
	mine := make([]referenceRow, len(rows))
	args := make([]any, len(rows)*len(a.Args))
	for r, row := range rows {
		mine[r] = referenceRow{row.number, args[r*len(a.Args):][:len(a.Args):len(a.Args)]}
		for k, v := range a.Args {
			mine[r].args[k] = row.args[v]
		}
	}
	if a.reference != nil {
		return a.reference(mine)
	}
	types := make([]Type, len(a.Args))
	for k, v := range a.Args {
		types[k] = p.Values[v]
	}
	acc, err := a.New(types)
	if err != nil {
		return nil, err
	}
	acc.Resize(2)
	for _, row := range mine {
		cols := make([]Column, len(types))
		for k, t := range types {
			if cols[k], err = referenceColumn(t, row.args[k:k+1]); err != nil {
				return nil, err
			}
		}
		if err := acc.Add(Rows{IDs: []uint32{1}, Args: cols, Start: row.number, Numbers: []int64{row.number}}); err != nil {
			return nil, err
		}
	}
	result, err := acc.Result()
	if err != nil {
		return nil, err
	}
	if result.n != 2 || result.typ != p.outputs[i].typ {
		return nil, fmt.Errorf("result is %d rows of %s, not 2 of %s", result.n, result.typ, p.outputs[i].typ)
	}
	return referenceValues(result)[1], nil
}

// referenceCount is Count.
func referenceCount(rows []referenceRow) (any, error) { return int64(len(rows)), nil }

// referenceCountOf is CountOf.
func referenceCountOf(rows []referenceRow) (any, error) { return int64(len(referenceArgs(rows))), nil }

// referenceArgs returns the values of the first argument that are not NULL.
func referenceArgs(rows []referenceRow) []any {
	var values []any
	for _, r := range rows {
		if r.args[0] != nil {
			values = append(values, r.args[0])
		}
	}
	return values
}

// referenceSum returns Sum, and SumCompensated, with the name that an OverflowError has.
func referenceSum(name string, overflow Overflow) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		values := referenceArgs(rows)
		if len(values) == 0 {
			return nil, nil
		}
		if isReferenceFloat(values[0]) {
			return referenceFloatSum(values), nil
		}
		sum, unsigned := referenceIntSum(values)
		switch {
		case overflow == OverflowFloat:
			f, _ := new(big.Float).SetInt(sum).Float64()
			return f, nil
		case overflow == OverflowWrap:
			low := new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
			if unsigned {
				return low, nil
			}
			return int64(low), nil
		case unsigned && sum.IsUint64():
			return sum.Uint64(), nil
		case !unsigned && sum.IsInt64():
			return sum.Int64(), nil
		}
		return nil, &OverflowError{Aggregate: name}
	}
}

// referenceMean is Mean.
func referenceMean(rows []referenceRow) (any, error) {
	values := referenceArgs(rows)
	if len(values) == 0 {
		return nil, nil
	}
	n := big.NewInt(int64(len(values)))
	if !isReferenceFloat(values[0]) {
		sum, _ := referenceIntSum(values)
		f, _ := new(big.Rat).SetFrac(sum, n).Float64()
		return f, nil
	}
	sum, special := referenceExactSum(values)
	if sum == nil {
		return special, nil
	}
	r, _ := sum.Rat(nil)
	f, _ := r.Quo(r, new(big.Rat).SetInt(n)).Float64()
	return f, nil
}

// referenceExtreme returns Min if sign is -1, Max if it is 1.
func referenceExtreme(sign int) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		var best any
		for _, v := range referenceArgs(rows) {
			if best == nil || compareReferenceValues(v, best) == sign {
				best = v
			}
		}
		return best, nil
	}
}

func isReferenceFloat(v any) bool {
	switch v.(type) {
	case float32, float64:
		return true
	}
	return false
}

// referenceIntSum returns the sum of integers, and whether they are unsigned.
func referenceIntSum(values []any) (sum *big.Int, unsigned bool) {
	sum = new(big.Int)
	var x big.Int
	for _, v := range values {
		switch v := v.(type) {
		case int8:
			x.SetInt64(int64(v))
		case int16:
			x.SetInt64(int64(v))
		case int32:
			x.SetInt64(int64(v))
		case int64:
			x.SetInt64(v)
		case uint8:
			x.SetUint64(uint64(v))
			unsigned = true
		case uint16:
			x.SetUint64(uint64(v))
			unsigned = true
		case uint32:
			x.SetUint64(uint64(v))
			unsigned = true
		case uint64:
			x.SetUint64(v)
			unsigned = true
		default:
			panic(fmt.Sprintf("groupby: no sum of %T", v))
		}
		sum.Add(sum, &x)
	}
	return sum, unsigned
}

// referenceFloatSum returns the sum of floats, rounded once.
func referenceFloatSum(values []any) float64 {
	sum, special := referenceExactSum(values)
	if sum == nil {
		return special
	}
	f, _ := sum.Float64()
	return f
}

// referenceExactSum returns the sum of floats, or nil and what it is if infinities or NaN are among them.
func referenceExactSum(values []any) (sum *big.Float, special float64) {
	// 2200 bits: from 2^-1074, the least float, to 2^1024 for the greatest, and 2^102 of these.
	sum = new(big.Float).SetPrec(2200)
	var x big.Float
	ok := true
	for _, v := range values {
		f, is64 := v.(float64)
		if !is64 {
			f = float64(v.(float32))
		}
		if math.IsInf(f, 0) || f != f {
			ok = false
			special += f // finite values do not change what comes of this
		} else {
			sum.Add(sum, x.SetFloat64(f))
		}
	}
	if !ok {
		return nil, special
	}
	return sum, 0
}
