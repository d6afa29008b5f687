// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/textform"
)

// The types that values in text can have.

// kinds is a set of types.
type kinds uint16

// The types of guesses, the narrowest first. Every value can be text.
const (
	kindBool kinds = 1 << iota
	kindInt64
	kindVarint
	kindFloat64
	kindDate
	kindTime
	kindMicros
	kindNanos
	kindUUID
	kindList
	kindStruct

	kindNumber  = kindInt64 | kindVarint | kindFloat64
	kindText    = kindDate | kindTime | kindMicros | kindNanos | kindUUID
	everyScalar = kindBool | kindNumber | kindText
)

// guessed are the column types of kinds.
var guessed = map[kinds]column.Type{
	kindBool: {Kind: column.Bool}, kindInt64: {Kind: column.Int64}, kindVarint: {Kind: column.Varint},
	kindFloat64: {Kind: column.Float64}, kindDate: {Kind: column.Date}, kindTime: {Kind: column.Time, Unit: column.Nanos},
	kindMicros: {Kind: column.Timestamp, Unit: column.Micros, UTC: true},
	kindNanos:  {Kind: column.Timestamp, Unit: column.Nanos, UTC: true}, kindUUID: {Kind: column.UUID},
}

// A guess is what the values of a field can be. The zero value has seen none.
type guess struct {
	name   string
	can    kinds
	rows   int  // with NULL
	values int  // without NULL
	digits bool // a number is not NaN or an infinity

	elem   *guess   // of lists
	dim    int      // of all lists, -1 if they differ
	fields []*guess // of structs
}

// narrow counts a value that can have these types.
func (g *guess) narrow(can kinds) {
	if g.values == 0 {
		g.can = can
	}
	g.can &= can
	g.rows++
	g.values++
}

// text adds a value of CSV.
func (g *guess) text(p *parser, s string) {
	if strings.HasPrefix(s, "[") && g.array(p.forJSON(), &scanner{text: []byte(s)}) {
		return
	}
	g.narrow(g.scalar(p, s, everyScalar))
}

// scalar returns the types that a text can have.
func (g *guess) scalar(p *parser, s string, among kinds) (can kinds) {
	if g.values > 0 {
		among &= g.can // others are out of the question
	}
	word := strings.ToLower(s)
	if among&kindBool != 0 && (word == "true" || word == "false" || p.True != "" &&
		(strings.EqualFold(s, p.True) || strings.EqualFold(s, p.False))) {
		can |= kindBool
	}
	if among&kindNumber != 0 {
		can |= g.number(p, s)
	}
	if among&kindDate != 0 {
		if _, err := p.parseDate(s); err == nil {
			can |= kindDate
		}
	}
	if among&kindTime != 0 {
		if _, err := p.parseTime(s, column.Nanos); err == nil {
			can |= kindTime
		}
	}
	if among&(kindMicros|kindNanos) != 0 {
		can |= p.timestamps(s)
	}
	if among&kindUUID != 0 && len(s) == 36 {
		if id, err := cql.ParseUUID(s); err == nil && id.String() == s {
			can |= kindUUID
		}
	}
	return can & among
}

// number returns the types of numbers that a text can have. Zeros before other digits are part of a code, such as a
// postal code, which is no number.
func (g *guess) number(p *parser, s string) (can kinds) {
	if p.Thousands != 0 || p.DecimalPoint != 0 {
		var err error
		if s, err = p.number(s); err != nil {
			return 0
		}
	}
	digits := strings.TrimPrefix(s, "-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return 0
	}
	if _, err := textform.ParseInt(s, 64); err == nil && s != "-0" {
		can |= kindInt64
	}
	if textform.IsInteger(s) && s != "-0" {
		can |= kindVarint
	}
	// An integer of more digits than a float has is none.
	if _, err := textform.ParseFloat(s, 64); err == nil && (can&kindVarint == 0 || len(digits) <= 15) {
		can |= kindFloat64
		g.digits = g.digits || digits[0] >= '0' && digits[0] <= '9'
	}
	return can
}

// timestamps returns the types of timestamps that a text can have. Digits alone are a number.
func (p *parser) timestamps(s string) (can kinds) {
	if _, isWhole := parseWhole(s); isWhole {
		return 0
	}
	if _, err := p.parseTimestamp(s, column.Micros); err == nil {
		can |= kindMicros
	}
	if _, err := p.parseTimestamp(s, column.Nanos); err == nil {
		can |= kindNanos
	}
	return can
}

// json adds a value of JSON.
func (g *guess) json(p *parser, s *scanner) error {
	switch c := s.peek(); {
	case s.null():
		g.rows++
		return nil
	case c == '[':
		raw, err := s.skip()
		if err == nil && !g.array(p, &scanner{text: raw}) {
			g.narrow(0)
		}
		return err
	case c == '{':
		return g.object(p, s)
	case c == '"':
		text, err := s.scalar()
		g.narrow(g.scalar(p, string(text), kindText))
		return err
	}
	text, err := s.scalar()
	g.narrow(g.scalar(p, string(text), kindBool|kindNumber))
	return err
}

// array adds a list. It reports whether the text is one.
func (g *guess) array(p *parser, s *scanner) bool {
	list := guess{}
	if g.elem != nil {
		list = *g.elem
	}
	n := 0
	err := s.expect('[')
	if err == nil {
		err = s.each(']', func() error { n++; return list.json(p, s) })
	}
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return false
	}
	if g.elem == nil {
		g.dim = n
	} else if g.dim != n {
		g.dim = -1
	}
	g.elem = &list
	g.narrow(kindList)
	return true
}

// object adds a struct.
func (g *guess) object(p *parser, s *scanner) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	order := memberOrder{}
	nameOf := func(i int) string { return g.fields[i].name }
	err := s.each('}', func() error {
		name, err := s.key()
		if err != nil {
			return err
		}
		i := order.find(name, len(g.fields), nameOf)
		if i < 0 {
			i = len(g.fields)
			g.fields = append(g.fields, &guess{name: string(name)})
			order.next = i + 1
		}
		return g.fields[i].json(p, s)
	})
	g.narrow(kindStruct)
	return err
}

// field returns the column of the values: text if they have no other type in common, or if there are none.
func (g *guess) field() column.Field {
	f := column.Field{Name: g.name, Nullable: true, Type: column.Type{Kind: column.String}}
	switch {
	case g.values == 0:
	case g.can&kindList != 0:
		f.Type.Kind = column.List
		elem := g.elem.field()
		elem.Name = column.ElementName
		if elem.Type.Kind == column.Float64 && g.dim > 1 && g.elem.values == g.elem.rows {
			f.Type = column.VectorOf(column.Float64, g.dim)
			break
		}
		f.Fields = column.Schema{elem}
	case g.can&kindStruct != 0 && len(g.fields) > 0:
		f.Type.Kind = column.Struct
		for _, field := range g.fields {
			f.Fields = append(f.Fields, field.field())
		}
	default:
		for _, one := range []kinds{
			kindBool, kindInt64, kindVarint, kindFloat64, kindDate, kindTime, kindMicros, kindNanos, kindUUID,
		} {
			if g.can&one != 0 && (one != kindFloat64 || g.digits) {
				f.Type = guessed[one]
				break
			}
		}
	}
	return f
}
