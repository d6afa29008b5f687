// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"regexp"
	"slices"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Types of functions and of arithmetic.

// arithmetic checks + - * / % and the sign.
func (c *checker) arithmetic(t *term) error {
	if t.op == opNeg {
		t.args = []*term{{e: Lit(0), op: opLiteral, value: int64(0)}, t.args[0]}
	}
	a, b := t.args[0], t.args[1]
	if isInterval(a) && t.op == opAdd {
		a, b = b, a
		t.args[0], t.args[1] = a, b
	}
	if m, ok := a.value.(moment); ok && a.untyped() && isInterval(b) && (t.op == opAdd || t.op == opSub) {
		return shift(t, m)
	}
	if isInterval(b) && (t.op == opAdd || t.op == opSub) {
		d := intervalOf(b)
		if a.class != classTimestamp && (a.class != classDate || d.Nanoseconds != 0) {
			return fault(t.e, "an interval is added to timestamps, and without hours to dates: %s", a.describe())
		}
		if a.class == classTimestamp && d.Nanoseconds%(1e9/a.typ.Unit.PerSecond()) != 0 {
			return fault(t.e, "the interval has no exact value in %v", a.typ)
		}
		b.class = classInterval
		t.set(a.typ)
		return nil
	}
	if done, err := c.days(t, a, b); done || err != nil {
		return err
	}
	a, b = t.args[0], t.args[1]
	for _, x := range []*term{a, b} {
		if !x.untyped() && !x.class.isNumeric() {
			return fault(t.e, "%s requires numbers: %s", t.op, x.describe())
		}
	}
	if t.op != opDiv && areDecimals(a, b) {
		return c.decimals(t, a, b)
	}
	return c.numbers(t, a, b)
}

// shift replaces the sum of a literal date or timestamp and an interval by a literal.
func shift(t *term, m moment) error {
	sign := int64(1)
	if t.op == opSub {
		sign = -1
	}
	value, err := m.shifted(t.args[1], sign)
	if err != nil {
		return fault(t.e, "%w", err)
	}
	t.op, t.args, t.value = opLiteral, nil, value
	return nil
}

// numbers sets the type in which two numbers are computed: Int64, Uint64 or Float64, which quotients of decimals have.
func (c *checker) numbers(t, a, b *term) error {
	var common column.Type
	for _, x := range []*term{a, b} {
		typ := x.typ
		if x.untyped() {
			if typ = literalType(x.value); x.value != nil && !classOf(typ).isNumeric() {
				return fault(t.e, "%s requires numbers: %s", t.op, x.e)
			}
		}
		if v, isInt := x.value.(int64); x.untyped() && isInt && v >= 0 {
			continue // fits all
		}
		var ok bool
		if classOf(typ).isDecimal() {
			typ = typeFloat64
		}
		if common, ok = commonType(common, typ); !ok {
			return fault(t.e, "int64 and uint64 have no common type: cast one of %s and %s", a.e, b.e)
		}
	}
	switch {
	case classOf(common) == classFloat:
		t.set(typeFloat64)
	case common.Kind == column.Uint64 && t.op != opNeg:
		t.set(typeUint64)
	case common.Kind == column.Uint64:
		return fault(t.e, "%s requires a signed number: %s", t.op, b.describe())
	default:
		t.set(typeInt64)
	}
	for _, x := range []*term{a, b} {
		if x.untyped() {
			if err := c.settle(x, t.typ); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofBinaries are the functions of texts that binaries have, too: those with a column or a literal of bytes.
var ofBinaries = []string{"length", "contains", "starts_with", "ends_with"}

// isBinary reports whether a term is a binary, or a literal that is one without context.
func (t *term) isBinary() bool {
	_, bytes := t.value.([]byte)
	return t.typ.Kind == column.Binary || bytes && t.untyped()
}

// text checks the functions of texts. The first operand is a text.
func (c *checker) text(t *term) error {
	switch t.op {
	case "length", "strlen":
		t.set(typeInt64)
	case opLike, opILike, opRegexp, "contains", "starts_with", "ends_with":
		t.set(typeBool)
	default:
		t.set(typeString)
	}
	texts := t.args
	if n := map[string]int{"substring": 1, "regexp_extract": 2}[t.op]; n > 0 {
		texts = t.args[:n]
		for _, a := range t.args[n:] {
			if a.untyped() {
				if err := c.settle(a, typeInt64); err != nil {
					return err
				}
			}
			if a.class != classInt {
				return fault(t.e, "%s counts in integers: %s", t.op, a.describe())
			}
		}
	}
	want := typeString
	if slices.Contains(ofBinaries, t.op) && slices.ContainsFunc(texts, (*term).isBinary) {
		want = column.Type{Kind: column.Binary}
	}
	if err := c.all(t, texts, want, t.typ); err != nil {
		return err
	}
	return c.patterns(t)
}

// patterns checks that regular expressions are literals, and valid.
func (c *checker) patterns(t *term) error {
	if !slices.Contains([]string{opRegexp, "regexp_replace", "regexp_extract"}, t.op) {
		return nil
	}
	for _, a := range t.args[1:] {
		if _, ok := a.value.(string); !ok && a.typ != typeInt64 {
			return fault(t.e, "the pattern of %s must be a text literal, not %s", t.op, a.e)
		}
	}
	re, err := regexp.Compile(t.args[1].value.(string))
	if err != nil {
		return fault(t.args[1].e, "%w", err)
	}
	if t.op == "regexp_extract" && len(t.args) == 3 {
		if group, ok := t.args[2].value.(int64); !ok || group < 0 || group > int64(re.NumSubexp()) {
			return fault(t.args[2].e, "want the number of a group of the pattern, 0 to %d", re.NumSubexp())
		}
	}
	return nil
}

// typeOf replaces typeof by the literal of its result.
func (c *checker) typeOf(t *term) error {
	a := t.args[0]
	name := `"NULL"`
	if !a.untyped() || a.value != nil {
		if a.untyped() {
			if err := c.settleAlone(a); err != nil {
				return err
			}
		}
		name = sqlName(a.typ)
	}
	t.op, t.args, t.value = opLiteral, nil, name
	return nil
}

// units are the units of date_trunc, from the smallest, and parts the further ones of extract.
var (
	units = []string{
		"microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade",
		"century", "millennium",
	}
	parts = []string{"epoch", "dow", "isodow", "doy", "isoyear"}
)

// timePart checks date_trunc and extract: a unit, a time, and perhaps a zone.
func (c *checker) timePart(t *term) error {
	all := units
	if t.op == "extract" {
		all = slices.Concat(units, parts)
	}
	unit, ok := t.args[0].value.(string)
	if unit = unitName(unit); !ok || !slices.Contains(all, unit) {
		return fault(t.args[0].e, "the first argument of %s is one of %q", t.op, all)
	}
	t.args[0].value = unit
	at := t.args[1]
	if err := c.settleTime(t, at); err != nil {
		return err
	}
	if len(t.args) == 3 {
		zone, ok := t.args[2].value.(string)
		if !ok || at.class != classTimestamp || !at.typ.UTC {
			return fault(t.e, "a zone applies to timestamps in UTC: %s", at.describe())
		}
		if _, err := time.LoadLocation(zone); err != nil {
			return fault(t.args[2].e, "%w", err)
		}
	}
	if t.op == "extract" {
		t.set(typeInt64)
	} else {
		t.set(at.typ)
	}
	return nil
}

// epoch checks epoch_ms.
func (c *checker) epoch(t *term) error {
	if t.args[0].untyped() {
		if err := c.settle(t.args[0], typeInt64); err != nil {
			return err
		}
	}
	if t.args[0].class != classInt {
		return fault(t.e, "%s requires a signed integer: %s", t.op, t.args[0].describe())
	}
	t.set(column.Type{Kind: column.Timestamp, Unit: column.Millis})
	return nil
}

// maxElements is the maximum number of an element in an expression.
const maxElements = 1 << 24

// vector checks the functions of vectors.
func (c *checker) vector(t *term) error {
	n := 1
	if t.op == "dot" || t.op == "cosine" || t.op == "l2" {
		n = 2
	}
	dim := 0
	for _, a := range t.args[:n] {
		if a.untyped() {
			if _, ok := a.value.([]float64); !ok {
				return fault(t.e, "%s requires a vector: %s", t.op, a.e)
			}
			if err := c.settleAlone(a); err != nil {
				return err
			}
		}
		if a.class != classVector || a.typ.Elem == column.UUID {
			return fault(t.e, "%s requires a vector of numbers: %s", t.op, a.describe())
		}
		if dim != 0 && a.typ.Dim != 0 && a.typ.Dim != dim {
			return fault(t.e, "the vectors have dimensions %d and %d", dim, a.typ.Dim)
		}
		dim = max(dim, a.typ.Dim)
	}
	t.set(typeFloat64)
	if t.op != "element" && t.op != "slice" {
		return nil
	}
	from, count := t.args[1].value, any(int64(1))
	if t.op == "slice" {
		count = t.args[2].value
	}
	most := int64(dim) // 0 means that no vector so far is not NULL
	if t.args[0].op == "slice" {
		most = t.args[0].args[2].value.(int64)
	}
	f, ok1 := from.(int64)
	n64, ok2 := count.(int64)
	switch {
	case !ok1 || !ok2 || f < 1 || n64 < 1:
		return fault(t.e, "%s requires positive integer literals", t.op)
	case f > maxElements || n64 > maxElements:
		return fault(t.e, "%s requires numbers up to %d", t.op, maxElements)
	case f+n64-1 > most && most > 0:
		return fault(t.e, "elements %d to %d of %s", f, f+n64-1, t.args[0].describe())
	case t.op == "slice" && dim == 0:
		t.set(t.args[0].typ)
	case t.op == "slice":
		t.set(column.VectorOf(t.args[0].typ.Elem, int(n64)))
	default:
		t.set(column.Type{Kind: t.args[0].typ.Elem})
	}
	return nil
}

// cast checks a cast.
func (c *checker) cast(t *term) error {
	a, to := t.args[0], t.e.n.typ
	if err := to.Check(); err != nil || !slices.Contains(castKinds, to.Kind) {
		return fault(t.e, "%v is no type of a cast", to)
	}
	t.set(to)
	if a.untyped() {
		if a.value == nil {
			return c.settle(a, to)
		}
		if err := c.settleCast(a, to); err != nil {
			return err
		}
	}
	if !castable(a.typ, to) {
		return fault(t.e, "%s, which does not cast to %v", a.describe(), to)
	}
	return nil
}

// settleCast gives the literal of a cast its type. A number that becomes a decimal has the digits of its text.
func (c *checker) settleCast(a *term, to column.Type) error {
	if form, ok := a.decimalForm(); ok && classOf(to).isDecimal() {
		return c.settle(a, form)
	}
	return c.settleAlone(a)
}

// isBig reports whether a type has numbers that only casts take: decimals of more than 38 digits or of any scale, and
// integers of any size.
func isBig(t column.Type) bool {
	return t.Kind == column.Decimal256 || t.Kind == column.Decimal || t.Kind == column.Varint
}

// castable reports whether there is a cast between two types.
func castable(from, to column.Type) bool {
	a, b := classOf(from), classOf(to)
	scalar := func(c class) bool { return c == classBool || c.isNumeric() }
	switch {
	case from == to:
		return true
	case isBig(from):
		return b.isNumeric() || b == classText
	case scalar(a):
		return scalar(b) || b == classText
	case a == classText:
		return scalar(b) || b == classDate || b == classTimestamp
	case a == classDate || a == classTimestamp:
		return b == classDate || b == classTimestamp || b == classText
	case from.Kind == column.UUID:
		return b == classText
	}
	return false
}

// isInterval reports whether a term is the literal of an interval.
func isInterval(t *term) bool {
	_, ok := t.value.(cql.Duration)
	return ok && t.untyped()
}

func intervalOf(t *term) cql.Duration { return t.value.(cql.Duration) }
