// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"

	"github.com/vecql/vecql/column"
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
		common, ok := commonType(typ, a.typ)
		if !ok {
			return fault(t.e, "%s: %s has no common type with %v", t.op, a.describe(), typ)
		}
		typ = common
	}
	for _, a := range args {
		if !a.untyped() {
			continue
		}
		if wider := literalType(a.value); typ.Kind == 0 || classOf(typ).isNumber() && !hasLiteral(typ, a.value) {
			common, ok := commonType(typ, wider)
			if !ok && wider.Kind != 0 {
				return fault(t.e, "%s: %s has no common type with %v", t.op, a.e, typ)
			}
			typ = common
		}
	}
	if typ.Kind == 0 {
		return fault(t.e, "%s: no operand has a type", t.op)
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

// hasLiteral reports whether a type of numbers has the value of a literal.
func hasLiteral(t column.Type, value any) bool {
	if value == nil {
		return true
	}
	p, ok := pointOf(value, t)
	if _, isFloat := value.(float64); isFloat && classOf(t) != classFloat {
		return false
	}
	if !ok || !p.exact || p.side != 0 {
		return false
	}
	switch w := 8 * t.ValueWidth(); {
	case t.Kind == column.Float32:
		return float64(float32(p.float)) == p.float || math.IsNaN(p.float)
	case classOf(t) != classInt:
		return true
	case isUnsigned(t.Kind):
		return int64(p.bits) >= 0 && p.bits>>w == 0
	default:
		return int64(p.bits)<<(64-w)>>(64-w) == int64(p.bits)
	}
}

// literalType returns the type of a literal without context, none for NULL and those that need context.
func literalType(value any) column.Type {
	t := &term{op: opLiteral, value: value}
	if (&checker{}).settleAlone(t) != nil {
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
	case !ca.isNumber() || !cb.isNumber():
		return column.Type{}, false
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
