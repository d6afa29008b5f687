// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
)

// Common types of several terms.

// unify converts terms to a common type, and sets the type of t to it. Integers and floats become the next type that
// has all values.
func (c *checker) unify(t *term, args []*term) error {
	var typ column.Type
	for _, a := range args {
		if a.untyped() {
			continue
		}
		if a.class == classNone || a.class == classVector {
			return fault(t.e, "%s does not take %s", t.op, a.describe())
		}
		common, ok := commonAmong(args, typ, a.typ)
		if !ok {
			return fault(t.e, "%s: %s has no common type with %v", t.op, a.describe(), typ)
		}
		typ = common
	}
	typ, err := c.withLiterals(t, args, typ)
	if err != nil {
		return err
	}
	if typ.Kind == 0 { // all are null
		typ = typeInt64
	}
	for _, a := range args {
		if a.untyped() {
			if err := c.settle(a, typ); err != nil {
				return err
			}
		}
	}
	t.set(typ)
	return nil
}

// literals sets the types of compared terms that begin with a literal. Types that all compare, numbers and bytes, are
// the ones that the literals have alone. Other terms need a common type.
func (c *checker) literals(t *term, args []*term) error {
	var known column.Type
	for _, a := range args {
		typ := a.ownType()
		if known.Kind == 0 {
			known = typ
		}
		if typ.Kind != 0 && !compareAlways(known, typ) {
			return c.unify(&term{e: t.e, op: t.op}, args)
		}
	}
	if known.Kind == 0 { // all are null
		known = typeInt64
	}
	decimals := slices.ContainsFunc(args, (*term).isDecimal) // beside these, numbers have the digits of their texts
	if !compareAlways(known, known) {
		return c.unify(&term{e: t.e, op: t.op}, args)
	}
	for _, a := range args {
		typ := a.ownType()
		if typ.Kind == 0 { // null
			typ = known
		}
		if form, ok := a.decimalForm(); ok && decimals {
			typ = form
		}
		if a.untyped() {
			if err := c.settle(a, typ); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownType returns the type of a term. A literal has the type that it has outside of any expression.
func (t *term) ownType() column.Type {
	if t.untyped() {
		return literalType(t.value)
	}
	return t.typ
}

// commonAmong returns the common type of two terms among several. It is a float or a decimal if one of the terms is:
// signed and unsigned integers have no other common type.
func commonAmong(args []*term, a, b column.Type) (column.Type, bool) {
	common, ok := commonType(a, b)
	switch {
	case ok || !classOf(a).isNumber() || !classOf(b).isNumber():
		return common, ok
	case slices.ContainsFunc(args, (*term).isFloat):
		return typeFloat64, true
	case slices.ContainsFunc(args, (*term).isDecimal):
		x, _ := decimalForm(a)
		y, _ := decimalForm(b)
		return commonDecimal(x, y)
	}
	return common, false
}

func (t *term) isFloat() bool { return classOf(t.ownType()) == classFloat }

// compareAlways reports whether values of two types compare, whatever the types' parameters.
func compareAlways(a, b column.Type) bool {
	x, y := classOf(a), classOf(b)
	return x.isNumeric() && y.isNumeric() || x == classBytes && y == classBytes
}

// withLiterals returns the common type of literals and of the terms with types, which is typ. Texts come last: beside
// literals of dates, binaries and UUIDs they have the types of these.
func (c *checker) withLiterals(t *term, args []*term, typ column.Type) (column.Type, error) {
	alone := typ.Kind == 0
	for _, texts := range []bool{false, true} {
		for _, a := range args {
			if _, isText := a.value.(string); !a.untyped() || isText != texts {
				continue
			}
			wider := literalType(a.value)
			if own, ok := a.decimalForm(); ok && classOf(typ).isDecimal() {
				wider = own
			}
			if alone && isTime(typ) && isTime(wider) {
				typ = commonTime(typ, wider)
			} else if class := classOf(typ); typ.Kind == 0 ||
				(class.isNumber() || class.isDecimal() && classOf(wider).isNumeric()) && !a.isValueOf(typ) {
				common, ok := commonAmong(args, typ, wider)
				if !ok && wider.Kind != 0 {
					return typ, fault(t.e, "%s: %s has no common type with %v", t.op, a.e, typ)
				}
				typ = common
			}
		}
	}
	return typ, nil
}

// isTime reports whether a type has dates, times or timestamps.
func isTime(t column.Type) bool {
	return t.Kind == column.Date || t.Kind == column.Time || t.Kind == column.Timestamp
}

// commonTime returns the type of two literals of times. It is a timestamp if one of two is: the date is its midnight.
// The common type of times of day and other times is the first, which the second does not fit.
func commonTime(a, b column.Type) column.Type {
	if (a.Kind == column.Time) != (b.Kind == column.Time) {
		return a
	}
	return column.Type{Kind: max(a.Kind, b.Kind), Unit: max(a.Unit, b.Unit), UTC: a.UTC || b.UTC}
}

// isValueOf reports whether a type of numbers has the value of a literal. Integers have no decimals.
func (t *term) isValueOf(typ column.Type) bool {
	value := t.value
	if value == nil {
		return true
	}
	a, ok := t.amountOf()
	switch class := classOf(typ); {
	case class.isDecimal():
		if !ok {
			return false
		}
		p, _ := pointOf(a, typ)
		return p.exact && p.side == 0 && hasDigits(p, typ)
	case t.isDecimal() && class != classFloat:
		return false
	}
	p, ok := pointOf(value, typ)
	if _, isFloat := value.(float64); isFloat && classOf(typ) != classFloat {
		return false
	}
	if !ok || !p.exact || p.side != 0 {
		return false
	}
	switch w := 8 * typ.ValueWidth(); {
	case typ.Kind == column.Float32:
		return float64(float32(p.float)) == p.float || math.IsNaN(p.float)
	case classOf(typ) != classInt:
		return true
	case isUnsigned(typ.Kind):
		return int64(p.bits) >= 0 && p.bits>>w == 0
	default:
		return int64(p.bits)<<(64-w)>>(64-w) == int64(p.bits)
	}
}

// hasDigits reports whether a decimal is within the digits of its type.
func hasDigits(p point, t column.Type) bool {
	if classOf(t) == classDecimal {
		p.wide = int128.Of(int64(p.bits))
	}
	return int128.Within(p.wide, t.Precision)
}

// literalType returns the type of a literal without context, none for NULL and those that need context.
func literalType(value any) column.Type {
	t := &term{op: opLiteral, value: value}
	if value == nil || (&checker{}).settleAlone(t) != nil {
		return column.Type{}
	}
	return t.typ
}

// commonType returns the narrowest type with the values of both. The zero Type has no values.
func commonType(a, b column.Type) (column.Type, bool) {
	ca, cb := classOf(a), classOf(b)
	switch {
	case a.Kind == 0 || a == b && a.Kind != column.Float16:
		if b.Kind == column.Float16 {
			return column.Type{Kind: column.Float32}, true
		}
		return b, true
	case b.Kind == 0:
		return a, true
	case !ca.isNumeric() || !cb.isNumeric():
		return column.Type{}, false
	case (ca.isDecimal() || cb.isDecimal()) && ca != classFloat && cb != classFloat:
		x, _ := decimalForm(a)
		y, _ := decimalForm(b)
		return commonDecimal(x, y)
	case ca == classFloat && cb == classFloat && a.Kind != column.Float64 && b.Kind != column.Float64:
		return column.Type{Kind: column.Float32}, true
	case ca == classFloat || cb == classFloat:
		return typeFloat64, true
	case isUnsigned(a.Kind) == isUnsigned(b.Kind):
		return column.Type{Kind: max(a.Kind, b.Kind)}, true
	case ca == classUint || cb == classUint:
		return column.Type{}, false
	}
	return typeInt64, true
}
