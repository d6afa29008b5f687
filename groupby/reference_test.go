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

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The reference: grouped aggregation that is simple instead of fast. Tests compare the Grouper with it. It shares with
// the package only the checks of Config and batches, and the Accumulators of aggregates without a reference; it uses
// neither tables nor partitions.

// A referenceRow is a row of one group: its number, and the values of the aggregate's arguments. A value has a
// comparable Go type of its kind (see referenceValues), or is a slice; nil means NULL.
type referenceRow struct {
	number int64
	args   []any
}

// A referenceGroup is a group with its rows and its result.
type referenceGroup struct {
	keys   []any
	rows   []referenceRow // with the values of all argument columns
	values []any          // the aggregates
}

// reference returns the result of a Grouper, computed with a Go map and lists of rows. It keeps all rows in memory and
// is slow. It ignores Workers and the options about memory.
//
// Rows are numbered from Source.FirstRow of their batches or, if all of these are 0, consecutively, as with
// [Grouper.Add]. Aggregates without a reference are computed by their Accumulators, for one group and one row at a
// time, in the order of the rows' numbers; Merge is not called. Sums and means of floats are exact and rounded once.
// With Unordered, groups come in order of first appearance.
func reference(c Config, batches ...*column.Batch) (*column.Batch, error) {
	g, err := c.New()
	if err != nil {
		return nil, err
	}
	groups, err := referenceGroups(g, batches)
	if err != nil || len(g.stages) == 0 {
		return &column.Batch{}, err
	}
	p := g.stages[len(g.stages)-1].plan
	for i := range p.Aggregates {
		for _, g := range groups {
			v, err := p.referenceAggregate(i, g.rows)
			if err != nil {
				return nil, fmt.Errorf("groupby: %s: %w", p.Aggregates[i].Name, err)
			}
			g.values = append(g.values, v)
		}
	}
	slices.SortStableFunc(groups, p.compareReference)
	if p.Limit > 0 {
		groups = groups[:min(p.Limit, len(groups))]
	}
	b := &column.Batch{Rows: len(groups)}
	add := func(f column.Field, of func(*referenceGroup) any) error {
		values := make([]any, len(groups))
		for i, g := range groups {
			values[i] = of(g)
		}
		c, err := referenceColumn(f, values)
		b.Columns = append(b.Columns, c.As(f.Name))
		return err
	}
	for i, t := range p.keys.types {
		if err := add(column.Field{Name: p.Keys[i], Type: t}, func(g *referenceGroup) any { return g.keys[i] }); err != nil {
			return nil, fmt.Errorf("groupby: key %d: %w", i, err)
		}
	}
	for i, out := range p.outputs {
		if err := add(out.field, func(g *referenceGroup) any { return g.values[i] }); err != nil {
			return nil, fmt.Errorf("groupby: %s: %w", p.Aggregates[i].Name, err)
		}
	}
	return b, nil
}

// referenceGroups returns the groups in the order of their first rows, and the rows of each in the order of their
// numbers.
func referenceGroups(grouper *Grouper, batches []*column.Batch) ([]*referenceGroup, error) {
	starts := slices.ContainsFunc(batches, func(b *column.Batch) bool { return b.Source.FirstRow != 0 })
	byKey := map[string]*referenceGroup{}
	var groups []*referenceGroup
	next := int64(0)
	for _, b := range batches {
		cols, err := inputs(grouper.names, b, nil)
		if err != nil {
			return nil, err
		}
		if _, err := grouper.stageFor(cols); err != nil {
			return nil, err
		}
		if starts {
			next = b.Source.FirstRow
		}
		values := make([][]any, len(cols))
		for k := range cols {
			values[k] = referenceValues(cols[k])
		}
		keys, values := values[:len(grouper.config.Keys)], values[len(grouper.config.Keys):]
		var key []byte
		for i := range b.Rows {
			number := next
			next++
			key = key[:0]
			null := false
			for k := range keys {
				key = appendReferenceKey(key, keys[k][i])
				null = null || keys[k][i] == nil
			}
			if null && grouper.config.DropNulls {
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

// canonicalReference returns a key in its form in results: one NaN, one zero.
func canonicalReference(v any) any {
	switch v := v.(type) {
	case float16:
		switch {
		case v == 1<<15:
			return float16(0)
		case v&0x7fff > 0x7c00:
			return float16(0x7e00)
		}
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

// appendReferenceKey appends a value to the key of its row. Rows have equal keys if and only if they belong to the same
// group.
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

// compareReference compares two groups by the order of the Config. The groups are already in order of first appearance.
func (p *plan) compareReference(a, b *referenceGroup) int {
	o := p.Order
	if o.by == byNothing || o.by == byAppearance {
		return 0
	}
	if o.by == byColumn {
		at := slices.Index(p.resultNames(), o.column)
		x, y := slices.Concat(a.keys, a.values)[at], slices.Concat(b.keys, b.values)[at]
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

// compareReferenceValues compares two values of the same type: NULL is greater than everything, NaN greater than all
// numbers.
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
	case float16:
		return compareReferenceFloats(a.float(), b.(float16).float())
	case varint:
		return a.big().Cmp(b.(varint).big())
	case column.Int128:
		o := b.(column.Int128)
		return cmp.Or(cmp.Compare(a.Hi, o.Hi), cmp.Compare(a.Lo, o.Lo))
	case column.Int256:
		o := b.(column.Int256)
		return cmp.Or(cmp.Compare(int64(a[3]), int64(o[3])), cmp.Compare(a[2], o[2]), cmp.Compare(a[1], o[1]), cmp.Compare(a[0], o[0]))
	case cql.Duration:
		o := b.(cql.Duration)
		return cmp.Or(cmp.Compare(a.Months, o.Months), cmp.Compare(a.Days, o.Days), cmp.Compare(a.Nanoseconds, o.Nanoseconds))
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

// referenceAggregate returns an aggregate of the rows of one group.
func (p *plan) referenceAggregate(i int, rows []referenceRow) (any, error) {
	a := &p.Aggregates[i]
	types, at := p.argTypes(a)
	mine := make([]referenceRow, len(rows))
	args := make([]any, len(rows)*len(at))
	for r, row := range rows {
		mine[r] = referenceRow{row.number, args[r*len(at):][:len(at):len(at)]}
		for k, v := range at {
			mine[r].args[k] = row.args[v]
		}
	}
	if ref := referenceOf(a, types); ref != nil {
		return ref(mine)
	}
	acc, err := a.New(types)
	if err != nil {
		return nil, err
	}
	acc.Resize(2)
	for _, row := range mine {
		cols := make([]column.Column, len(types))
		for k, t := range types {
			if cols[k], err = referenceColumn(fieldOf(t), row.args[k:k+1]); err != nil {
				return nil, err
			}
		}
		if err := acc.Add(Rows{IDs: []uint32{1}, Args: cols, Start: row.number, Numbers: []int64{row.number}}); err != nil {
			return nil, err
		}
	}
	result, err := acc.Result(1, 2)
	if err != nil {
		return nil, err
	}
	if err := checkColumn(&result, p.outputs[i].field, 1, false); err != nil {
		return nil, err
	}
	return referenceValues(result)[0], nil
}

// A referenceFunc computes an aggregate from the rows of one group, in the order of their numbers.
type referenceFunc func(rows []referenceRow) (any, error)

// referenceOf returns the reference of an aggregate; nil means none.
func referenceOf(a *Aggregate, types []column.Type) referenceFunc {
	overflow, k := OverflowFail, 0
	if len(a.params) > 0 {
		overflow, _ = a.params[0].(Overflow)
		k, _ = a.params[0].(int)
	}
	vector := len(types) > 0 && types[0].Kind == column.Vector
	scale := 0
	if len(types) > 0 {
		scale = types[0].Scale
	}
	switch a.fn {
	case "count":
		if len(a.Args) > 0 {
			return referenceCountOf
		}
		return referenceCount
	case "nulls":
		return func(rows []referenceRow) (any, error) { return int64(len(rows) - len(referenceArgs(rows))), nil }
	case "sum", "sum_compensated":
		if vector {
			return referenceVectorSum(false)
		}
		return referenceSum(a.Name, overflow, types[0])
	case "mean":
		if vector {
			return referenceVectorSum(true)
		}
		return referenceMean(scale)
	case "min", "max":
		return referenceExtreme(map[string]int{"min": -1, "max": 1}[a.fn])
	case "first", "last":
		return referenceEdge(a.fn == "last")
	case "arg_min", "arg_max":
		return referenceArgExtreme(a.fn == "arg_min")
	case "top_k", "bottom_k":
		return referenceTop(k, a.fn == "bottom_k")
	case "count_distinct":
		return referenceDistinct
	case "string_agg", "string_agg_distinct":
		return referenceJoined(a.params[0].(string), a.fn == "string_agg_distinct")
	case "array_agg":
		return referenceList
	case "mode":
		return referenceMode
	case "quantile_disc":
		return referenceDisc(a.params[0].(float64))
	case "median":
		return referenceQuantiles([]float64{0.5}, true, scale)
	case "median_exact":
		return referenceQuantiles([]float64{0.5}, true, scale)
	case "quantile_exact":
		return referenceQuantiles([]float64{a.params[0].(float64)}, true, scale)
	case "quantiles":
		var qs []float64
		for _, q := range a.params {
			qs = append(qs, q.(float64))
		}
		return referenceQuantiles(qs, false, scale)
	case "variance", "variance_pop", "stddev", "stddev_pop":
		return referenceMoments(strings.HasSuffix(a.fn, "_pop"), strings.HasPrefix(a.fn, "stddev"), scale)
	case "corr":
		return referenceCorr(types)
	}
	return nil
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

// referenceSum is Sum and SumCompensated. name is for an OverflowError.
func referenceSum(name string, overflow Overflow, typ column.Type) referenceFunc {
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
			f, _ := scaledRat(sum, typ.Scale).Float64()
			return f, nil
		case typ.Kind == column.Decimal128, typ.Kind == column.Decimal64 && overflow == OverflowFail:
			return referenceWideSum(name, overflow, sum)
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

// referenceWideSum returns the sum of decimals, which have 38 digits, or the low 128 bits.
func referenceWideSum(name string, overflow Overflow, sum *big.Int) (any, error) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	if overflow == OverflowFail && new(big.Int).Abs(sum).Cmp(limit) >= 0 {
		return nil, &OverflowError{Aggregate: name}
	}
	low := new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	high := new(big.Int).Rsh(sum, 64)
	return column.Int128{Lo: low, Hi: int64(high.And(high, new(big.Int).SetUint64(math.MaxUint64)).Uint64())}, nil
}

// scaledRat returns n times 10^-scale.
func scaledRat(n *big.Int, scale int) *big.Rat {
	return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
}

// referenceMean is Mean.
func referenceMean(scale int) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		values := referenceArgs(rows)
		if len(values) == 0 {
			return nil, nil
		}
		n := new(big.Rat).SetInt64(int64(len(values)))
		if !isReferenceFloat(values[0]) {
			sum, _ := referenceIntSum(values)
			r := scaledRat(sum, scale)
			f, _ := r.Quo(r, n).Float64()
			return f, nil
		}
		sum, special := referenceExactSum(values)
		if sum == nil {
			return special, nil
		}
		r, _ := sum.Rat(nil)
		f, _ := r.Quo(r, n).Float64()
		return f, nil
	}
}

// referenceExtreme is Min if sign is -1, Max if it is 1.
func referenceExtreme(sign int) referenceFunc {
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
		case column.Int128:
			x.SetInt64(v.Hi)
			x.Lsh(&x, 64)
			x.Add(&x, new(big.Int).SetUint64(v.Lo))
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

// referenceExactSum returns the sum of floats. If there are infinities or NaNs, it returns nil and their sum.
func referenceExactSum(values []any) (sum *big.Float, special float64) {
	// 2200 bits: from 2^-1074, the least float, to 2^1024, the greatest, times 2^102 values.
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
			special += f // finite values do not matter
		} else {
			sum.Add(sum, x.SetFloat64(f))
		}
	}
	if !ok {
		return nil, special
	}
	return sum, 0
}
