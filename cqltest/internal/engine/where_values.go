// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Evaluation of WHERE clauses: partitions, ranges of rows, and filters of rows.

// boundValue evaluates a value that a column is compared with. NULL and unset values are errors.
func boundValue(x *env, n *node, name string) ([]byte, error) {
	b, err := n.eval(x)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, invalid("Invalid null value in condition for column %s", name)
	}
	if isUnset(b) {
		return nil, invalid("Invalid unset value for column %s", name)
	}
	return b, nil
}

// values evaluates the right side of Eq or of an inequality: one value per column.
func (r *restriction) values(x *env) ([][]byte, error) {
	if !r.tuple {
		b, err := boundValue(x, r.value, r.cols[0].name)
		return [][]byte{b}, err
	}
	out := make([][]byte, len(r.cols))
	if r.parts == nil {
		b, err := boundValue(x, r.value, columnNames(r.cols))
		if err != nil {
			return nil, err
		}
		if out, err = splitTuple(r.value.typ, b); err != nil {
			return nil, asInvalid(err)
		}
		for i, p := range out {
			if p == nil {
				return nil, invalid("Invalid null value in condition for column %s", r.cols[i].name)
			}
		}
		return out, nil
	}
	for i, n := range r.parts {
		var err error
		if out[i], err = boundValue(x, n, r.cols[i].name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// choices evaluates Eq or In: sets of values, one per column.
func (r *restriction) choices(x *env) ([][][]byte, error) {
	if r.op != cql.In {
		v, err := r.values(x)
		return [][][]byte{v}, err
	}
	var out [][][]byte
	if r.value == nil {
		for _, one := range r.list {
			v, err := one.values(x)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	b, err := r.value.eval(x)
	switch {
	case err != nil:
		return nil, err
	case r.tuple && b == nil:
		return nil, invalid("Invalid null value for IN restriction")
	case r.tuple && isUnset(b):
		return nil, invalid("Invalid unset value for in%s", strings.ReplaceAll(columnNames(r.cols), " ", ""))
	case b == nil:
		return nil, invalid("Invalid null value for column %s", r.cols[0].name)
	case isUnset(b):
		return nil, invalid("Invalid unset value for column %s", r.cols[0].name)
	}
	parts, err := splitCollection(r.value.typ, b)
	if err != nil {
		return nil, asInvalid(err)
	}
	for _, p := range parts {
		values := [][]byte{p}
		if r.tuple && p != nil {
			if values, err = splitTuple(r.value.typ.Elems[0], p); err != nil {
				return nil, asInvalid(err)
			}
		}
		for i, v := range values {
			if v == nil || len(v) == 0 && r.cols[i].typ.fixedSize() > 0 {
				return nil, invalid("Invalid null value in condition for column %s", r.cols[i].name)
			}
		}
		out = append(out, values)
	}
	return out, nil
}

// partitions returns the partition keys that the clause selects, ordered by the values of their columns.
func (w *where) partitions(x *env) ([][][]byte, error) {
	if !slices.ContainsFunc(w.pk, func(r *restriction) bool { return r.op == cql.In }) {
		key := make([][]byte, len(w.pk))
		for i, r := range w.pk {
			var err error
			if key[i], err = boundValue(x, r.value, r.cols[0].name); err != nil {
				return nil, err
			}
		}
		return [][][]byte{key}, nil
	}
	keys := [][][]byte{nil}
	for _, r := range w.pk {
		choices, err := r.choices(x)
		if err != nil {
			return nil, err
		}
		var next [][][]byte
		if len(keys)*len(choices) > maxProduct {
			return nil, invalid("The query would read %d partitions, the limit is %d", len(keys)*len(choices), maxProduct)
		}
		for _, k := range keys {
			for _, c := range choices {
				next = append(next, append(slices.Clone(k), c[0]))
			}
		}
		keys = next
	}
	compare := func(a, b [][]byte) int {
		for i, c := range w.t.pk {
			if d := c.typ.compare(a[i], b[i]); d != 0 {
				return d
			}
		}
		return 0
	}
	slices.SortStableFunc(keys, compare)
	// The first of equal values counts: k IN (1.0, 1.00) finds 1.0 only.
	return slices.CompactFunc(keys, func(a, b [][]byte) bool { return compare(a, b) == 0 }), nil
}

// maxProduct bounds the combinations of IN on several columns.
const maxProduct = 1 << 20

// tokenRange evaluates the restrictions of token(). Both ends are inclusive; ok is false if the range is empty.
func (w *where) tokenRange(x *env) (from, to int64, ok bool, err error) {
	from, to = math.MinInt64, math.MaxInt64
	ok = true
	for _, r := range w.tokens {
		b, err := boundValue(x, r.value, "partition key token")
		if err != nil {
			return 0, 0, false, err
		}
		if len(b) != 8 {
			return 0, 0, false, invalid("Invalid empty value for the token of a partition key")
		}
		v := readInt(b)
		switch r.op {
		case cql.Eq:
			from, to = v, v
		case cql.Gte:
			from = v
		case cql.Gt:
			ok = ok && v != math.MaxInt64
			from = v + 1
		case cql.Lte, cql.Lt:
			// As an upper end the lowest token means the end of the ring: Cassandra writes wrapping ranges so.
			if v != math.MinInt64 {
				to = v - int64(btoi(r.op == cql.Lt))
			}
		}
	}
	return from, to, ok && from <= to, nil
}

// clusterSlice is a range of rows.
type clusterSlice struct{ from, to bound }

// slices returns the ranges of rows that the clause selects, in clustering order. If exact is false the ranges hold
// further rows, and the rows must be filtered.
func (w *where) slices(x *env) (ranges []clusterSlice, exact bool, err error) {
	prefixes := [][][]byte{nil}
	rest := w.ck
	next := 0
	for len(rest) > 0 && rest[0].cols[0].pos == next && (rest[0].isEq() || rest[0].op == cql.In) {
		choices, err := rest[0].choices(x)
		if err != nil {
			return nil, false, err
		}
		if len(prefixes)*len(choices) > maxProduct {
			return nil, false, invalid("The query would read %d rows one by one, the limit is %d", len(prefixes)*len(choices),
				maxProduct)
		}
		var product [][][]byte
		for _, p := range prefixes {
			for _, c := range choices {
				product = append(product, append(slices.Clone(p), c...))
			}
		}
		prefixes, next, rest = product, next+len(rest[0].cols), rest[1:]
	}
	slices.SortFunc(prefixes, w.t.compareClustering)
	prefixes = slices.CompactFunc(prefixes, func(a, b [][]byte) bool { return w.t.compareClustering(a, b) == 0 })
	ranges = whole(prefixes)
	for len(rest) > 0 && rest[0].cols[0].pos == next && rest[0].isSlice() {
		if w.reads && rest[0].isNull(x) {
			// NULL is before all values in the order of the rows: as the start of a range it leaves out none.
			if rest[0].isGreater() == rest[0].cols[0].desc {
				ranges = nil
			}
			rest = rest[1:]
			continue
		}
		v, err := rest[0].values(x)
		if err != nil {
			return nil, false, err
		}
		var narrowed []clusterSlice
		for _, r := range ranges {
			for _, piece := range rest[0].pieces(v) {
				common := r.from.prefix[:next] // which both ends of the range have
				piece.from.prefix = slices.Concat(common, piece.from.prefix)
				piece.to.prefix = slices.Concat(common, piece.to.prefix)
				if one, ok := w.t.intersect(r, piece); ok {
					narrowed = append(narrowed, one)
				}
			}
		}
		slices.SortFunc(narrowed, func(a, b clusterSlice) int { return w.t.compareEnds(a.from, true, b.from, true) })
		ranges, rest = narrowed, rest[1:]
	}
	return ranges, len(rest) == 0, nil
}

func whole(prefixes [][][]byte) []clusterSlice {
	out := make([]clusterSlice, len(prefixes))
	for i, p := range prefixes {
		out[i] = clusterSlice{bound{p, true}, bound{p, true}}
	}
	return out
}

// isNull reports whether the right side of a relation of one column is NULL.
func (r *restriction) isNull(x *env) bool {
	if r.tuple || r.value == nil {
		return false
	}
	b, err := r.value.eval(x)
	return err == nil && b == nil
}

// pieces returns the ranges of the columns of an inequality that it selects, disjoint. Columns of one order have one
// range. Of columns of several orders, (a, b) > (1, 2) selects a > 1, and b > 2 where a = 1.
func (r *restriction) pieces(v [][]byte) []clusterSlice {
	first := 0
	if !slices.ContainsFunc(r.cols, func(c *column) bool { return c.desc != r.cols[0].desc }) {
		first = len(r.cols) - 1
	}
	greater, last := r.isGreater(), len(r.cols)-1
	var out []clusterSlice
	for i := first; i <= last; i++ {
		end := bound{v[:i+1], i == last && (r.op == cql.Gte || r.op == cql.Lte)}
		rest := bound{v[:i], true}
		if first == last {
			rest.prefix = nil
		}
		if greater != r.cols[i].desc {
			out = append(out, clusterSlice{end, rest})
		} else {
			out = append(out, clusterSlice{rest, end})
		}
	}
	return out
}

// compareEnds compares the positions of two ends of ranges, each the start of its range or not.
func (t *table) compareEnds(a bound, aStart bool, b bound, bStart bool) int {
	if c := t.compareClustering(a.prefix, b.prefix); c != 0 {
		return c
	}
	behind := func(end bound, start bool) bool { return end.inclusive != start } // all keys with the prefix
	switch {
	case len(a.prefix) == len(b.prefix):
		return btoi(behind(a, aStart)) - btoi(behind(b, bStart))
	case len(a.prefix) < len(b.prefix):
		return 2*btoi(behind(a, aStart)) - 1
	}
	return 1 - 2*btoi(behind(b, bStart))
}

// intersect returns the common part of two ranges; false means that it is empty.
func (t *table) intersect(a, b clusterSlice) (clusterSlice, bool) {
	if t.compareEnds(b.from, true, a.from, true) > 0 {
		a.from = b.from
	}
	if t.compareEnds(b.to, false, a.to, false) < 0 {
		a.to = b.to
	}
	return a, t.compareEnds(a.from, true, a.to, false) < 0
}

// filter returns the condition of rows besides the keys; nil means none. It evaluates values once.
func (w *where) filter(x *env, exact bool) (func(v *rowView) bool, error) {
	var tests []func(v *rowView) bool
	for _, r := range w.all {
		if r.cols[0].kind == PartitionKey && w.keys || r.cols[0].kind == Clustering && exact {
			continue
		}
		test, err := r.test(x)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	for _, r := range w.nulls {
		tests = append(tests, func(v *rowView) bool {
			return (v.value(r.cols[0], x.sec) == nil) == (r.op == cql.IsNull)
		})
	}
	if len(tests) == 0 {
		return nil, nil
	}
	return func(v *rowView) bool {
		for _, t := range tests {
			if !t(v) {
				return false
			}
		}
		return true
	}, nil
}

// test evaluates the right side once and returns the function that tests rows.
func (r *restriction) test(x *env) (func(v *rowView) bool, error) {
	col, sec := r.cols[0], x.sec
	switch {
	case r.op == cql.In:
		choices, err := r.choices(x)
		if err != nil {
			if !col.isKey() && strings.HasPrefix(err.Error(), "Invalid null value in condition") {
				return func(*rowView) bool { return false }, nil // as in Cassandra, also of rows that equal another value
			}
			return nil, err
		}
		return func(v *rowView) bool {
			return slices.ContainsFunc(choices, func(c [][]byte) bool {
				order, ok := r.compare(v, c, sec)
				return ok && order == 0
			})
		}, nil
	case r.key != nil || r.op == cql.Contains || r.op == cql.ContainsKey:
		return r.testElements(x)
	}
	values, err := r.values(x)
	if err != nil {
		if !col.isKey() {
			err = invalid("%s", strings.Replace(strings.Replace(err.Error(), "Invalid null value in condition for",
				"Unsupported null value for", 1),
				"Invalid unset", "Unsupported unset", 1))
		}
		return nil, err
	}
	return func(v *rowView) bool {
		order, ok := r.compare(v, values, sec)
		return ok && holds(r.op, order)
	}, nil
}

// testElements is test for an entry of a map, CONTAINS and CONTAINS KEY.
func (r *restriction) testElements(x *env) (func(v *rowView) bool, error) {
	col, sec := r.cols[0], x.sec
	t := col.typ
	want, err := boundValue(x, r.value, col.name)
	if err != nil {
		return nil, err
	}
	var key []byte
	if r.key != nil {
		if key, err = boundValue(x, r.key, col.name); err != nil {
			return nil, err
		}
	}
	last := len(t.Elems) - 1
	equal := func(elem int, b []byte) bool {
		return t.Elems[elem].compare(b, want) == 0 && (!r.exact || bytes.Equal(b, want))
	}
	return func(v *rowView) bool {
		b := v.value(col, sec)
		if b == nil {
			return false
		}
		parts, err := splitCollection(t, b)
		if err != nil {
			return false
		}
		for i := 0; i < len(parts); i += last + 1 {
			switch {
			case r.op == cql.ContainsKey:
				if equal(0, parts[i]) {
					return true
				}
			case equal(last, parts[i+last]) && (key == nil || t.Elems[0].compare(parts[i], key) == 0):
				return true
			}
		}
		return false
	}, nil
}

// compare compares the columns of a row with values; ok is false if the row has no value, or another one where only
// equal bytes count.
func (r *restriction) compare(v *rowView, values [][]byte, sec int64) (order int, ok bool) {
	for i, c := range r.cols {
		b := v.value(c, sec)
		if b == nil {
			return 0, false
		}
		if r.fold {
			return strings.Compare(strings.ToLower(string(b)), strings.ToLower(string(values[i]))), true
		}
		if d := c.typ.compare(b, values[i]); d != 0 {
			return d, true
		}
		if r.exact && !bytes.Equal(b, values[i]) {
			return 0, false
		}
	}
	return 0, true
}

// holds reports whether the operator holds for a comparison of left and right.
func holds(op cql.Operator, order int) bool {
	switch op {
	case cql.Eq:
		return order == 0
	case cql.Neq:
		return order != 0
	case cql.Lt:
		return order < 0
	case cql.Lte:
		return order <= 0
	case cql.Gt:
		return order > 0
	case cql.Gte:
		return order >= 0
	}
	return false
}
