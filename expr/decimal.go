// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
)

// Decimals: their literals, and the types of results. Types of up to 18 digits are Decimal64, whose values are computed
// as int64; types of up to 38 digits are Decimal128, whose values are computed as column.Int128.

// narrowDigits is the number of digits of the greatest Decimal64.
const narrowDigits = 18

// decimalType returns the type of decimals of so many digits.
func decimalType(precision, scale int) column.Type {
	kind := column.Decimal64
	if precision > narrowDigits {
		kind = column.Decimal128
	}
	return column.Type{Kind: kind, Precision: precision, Scale: scale}
}

// An amount is the literal of a decimal, with all digits of its text.
type amount struct {
	unscaled  column.Int128
	precision int
	scale     int
}

// parseAmount returns the amount of a text of digits, perhaps with a sign and a point; false if it is none, or has more
// than 38 digits.
func parseAmount(text string) (amount, bool) {
	digits := strings.TrimLeft(text, "+-")
	if strings.Trim(digits, ".0123456789") != "" || len(text)-len(digits) > 1 {
		return amount{}, false
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.TrimLeft(whole, "0")
	a := amount{precision: max(1, len(whole)+len(fraction)), scale: len(fraction)}
	var ok bool
	if a.precision > int128.MaxDigits {
		return amount{}, false
	}
	a.unscaled, ok = int128.Parse(text, a.scale)
	return a, ok
}

func (a amount) typ() column.Type { return decimalType(a.precision, a.scale) }

// digits returns the text of the amount.
func (a amount) digits() string { return string(int128.Append(nil, a.unscaled, a.scale)) }

func (a amount) rat() *big.Rat {
	return new(big.Rat).SetFrac(int128.Big(a.unscaled), int128.Big(int128.Pow10(a.scale)))
}

// float returns the nearest float.
func (a amount) float() float64 { return int128.Float(a.unscaled, a.scale) }

// amountOf returns the number of a literal as an amount: a float by the digits of its text. It returns false for a
// literal of another type, and for more than 38 digits.
func (t *term) amountOf() (amount, bool) {
	switch v := t.value.(type) {
	case amount:
		return v, true
	case int64, uint64:
		return parseAmount(literalText(v))
	case float64:
		if t.e.n != nil && t.e.n.name != "" {
			return parseAmount(t.e.n.name)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return amount{}, false
		}
		return parseAmount(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return amount{}, false
}

// integerDigits are the decimal digits of types of integers.
var integerDigits = map[column.Kind]int{
	column.Int8: 3, column.Int16: 5, column.Int32: 10, column.Int64: 19, column.Uint8: 3, column.Uint16: 5,
	column.Uint32: 10, column.Uint64: 20,
}

// decimalForm returns the type of decimals with all values of a type of integers or decimals.
func decimalForm(t column.Type) (column.Type, bool) {
	switch class := classOf(t); {
	case class.isDecimal():
		return t, true
	case class == classInt || class == classUint:
		return decimalType(integerDigits[t.Kind], 0), true
	}
	return column.Type{}, false
}

// decimalForm returns the type of a term as a decimal. A literal has its own digits.
func (t *term) decimalForm() (column.Type, bool) {
	if !t.untyped() {
		return decimalForm(t.typ)
	}
	a, ok := t.amountOf()
	return a.typ(), ok
}

// isDecimal reports whether a term is a decimal, or the literal of one.
func (t *term) isDecimal() bool { return t.class.isDecimal() || t.untyped() && t.isDecimalLiteral() }

// isDecimalLiteral reports whether a term is a literal that is a decimal alone.
func (t *term) isDecimalLiteral() bool {
	_, ok := t.value.(amount)
	return ok
}

// amountOfDecimal returns a decimal of the module's own type as an amount.
func amountOfDecimal(d cql.Decimal) (any, error) {
	unscaled := d.Unscaled
	if unscaled == nil {
		unscaled = new(big.Int)
	}
	a := amount{scale: int(d.Scale)}
	var ok bool
	a.unscaled, ok = int128.OfBig(unscaled)
	digits := strings.TrimLeft(unscaled.String(), "-")
	a.precision = max(1, len(digits), a.scale)
	if !ok || a.scale < 0 || a.precision > int128.MaxDigits {
		return nil, fmt.Errorf("decimal literal %v with more than %d digits, or without its last digits", d, int128.MaxDigits)
	}
	return a, nil
}

// commonDecimal returns the type of decimals with all values of two types; false if there is none.
func commonDecimal(a, b column.Type) (column.Type, bool) {
	scale := max(a.Scale, b.Scale)
	precision := scale + max(a.Precision-a.Scale, b.Precision-b.Scale)
	return decimalType(precision, scale), precision <= int128.MaxDigits
}

// decimals checks an operation on decimals and integers: one operand is a decimal. The result has the digits that all
// results need, at most 38; a product has at most 18 if both operands have at most 18.
func (c *checker) decimals(t, a, b *term) error {
	var forms [2]column.Type
	for i, x := range []*term{a, b} {
		forms[i], _ = x.decimalForm()
	}
	for i, x := range []*term{a, b} {
		if x.value == nil && x.untyped() || t.op == opNeg && i == 0 { // NULL, or the zero of the minus
			forms[i] = forms[1-i]
		}
	}
	typ := resultOf(t.op, forms[0], forms[1])
	if typ.Scale > int128.MaxDigits {
		return fault(t.e, "the product has %d digits behind the point, and decimals have at most %d: cast %s or %s",
			typ.Scale, int128.MaxDigits, a.describe(), b.describe())
	}
	t.set(typ)
	for i, x := range []*term{a, b} {
		if x.untyped() {
			if err := c.settle(x, forms[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// resultOf returns the type of an operation on two decimals.
func resultOf(op string, a, b column.Type) column.Type {
	scale := max(a.Scale, b.Scale)
	precision := scale + max(a.Precision-a.Scale, b.Precision-b.Scale)
	most := max(a.Precision, b.Precision)
	switch op {
	case opNeg, opMod:
	case opMul:
		precision, scale = a.Precision+b.Precision, a.Scale+b.Scale
	default:
		precision++
	}
	if op == opMul && precision > narrowDigits && most <= narrowDigits && scale < narrowDigits {
		precision = narrowDigits
	}
	return decimalType(min(precision, int128.MaxDigits), scale)
}

// areDecimals reports whether an operation on two terms is one of decimals: one is a decimal, the other one a decimal,
// an integer, a literal of at most 38 digits, or NULL.
func areDecimals(a, b *term) bool {
	for _, x := range []*term{a, b} {
		if _, ok := x.decimalForm(); !ok && (!x.untyped() || x.value != nil) {
			return false
		}
	}
	return a.isDecimal() || b.isDecimal()
}

// decimalRounding checks the functions of roundings of a decimal. The result has no digits behind the point, or those
// of the second argument.
func (c *checker) decimalRounding(t *term) error {
	typ, scale := t.args[0].typ, 0
	if t.op == "abs" {
		t.set(typ)
		return nil
	}
	if len(t.args) == 2 {
		digits, ok := t.args[1].value.(int64)
		if !ok {
			return fault(t.args[1].e, "the digits of %s of a decimal must be an integer literal", t.op)
		}
		if err := c.settle(t.args[1], typeInt64); err != nil {
			return err
		}
		scale = int(max(0, min(digits, int64(typ.Scale))))
		if digits < 0 { // 99 becomes 100
			typ.Precision = min(typ.Precision+1, int128.MaxDigits)
		}
	}
	t.set(decimalType(max(1, typ.Precision), scale))
	return nil
}
