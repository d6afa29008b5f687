// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql/column"
)

// Values of all types from JSON, and from literals of CQL.

// appendNested appends a vector or a value of a nested type: JSON or, if the text is not JSON, a literal of CQL. The
// error is the one farther in the text.
func (p *parser) appendNested(b *builder, text []byte) error {
	rows, s := b.rows, scanner{text: text}
	err := p.forJSON().appendPart(b, &s)
	if err == nil {
		err = s.end()
	}
	if !errors.Is(err, errJSON) {
		return err
	}
	b.truncate(rows)
	literal := scanner{text: text, cql: true}
	failed := p.appendNext(b, &literal)
	if failed == nil {
		failed = literal.end()
	}
	if failed == nil || literal.at > s.at {
		return failed
	}
	return err
}

// appendPart appends the next value of a text: NULL or another.
func (p *parser) appendPart(b *builder, s *scanner) error {
	if p.takeNull(b.field.Type.Kind, s) {
		return b.appendNull()
	}
	return p.appendNext(b, s)
}

// appendNext appends the next value of a text, which is not NULL.
func (p *parser) appendNext(b *builder, s *scanner) error {
	switch b.field.Type.Kind {
	case column.String:
		if c := s.peek(); p.anyText && !s.cql && (c == '[' || c == '{') {
			raw, err := s.skip()
			if err != nil {
				return err
			}
			return p.appendText(b, raw)
		}
	case column.Vector:
		return p.appendVector(b, s)
	case column.List:
		return p.appendList(b, s)
	case column.Map:
		return p.appendMap(b, s)
	case column.Struct:
		return p.appendStruct(b, s)
	case column.Tuple:
		return p.appendTuple(b, s)
	}
	text, err := s.scalar()
	if err != nil {
		return err
	}
	return p.appendText(b, text)
}

// appendVector appends an array of scalars to the matrix.
func (p *parser) appendVector(b *builder, s *scanner) error {
	closing, err := s.open("[", "[")
	if err != nil {
		return err
	}
	elements := builder{field: column.Field{Type: column.Type{Kind: b.field.Type.Elem}}, values: b.values}
	dim := 0
	err = s.each(closing, func() error {
		text, err := s.scalar()
		if err == nil {
			err = p.appendFixed(&elements, view(text))
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", dim, p.valueError(err, text, elements.field.Type))
		}
		dim++
		return nil
	})
	if err != nil {
		return err
	}
	switch want := b.field.Type.Dim; {
	case want == 0 && dim > 0: // the rows before are NULL and have no values
		b.setDim(dim)
		elements.values = append(b.values, elements.values...)
	case dim != want:
		return fmt.Errorf("%w: a vector of dimension %d, want %d", errRange, dim, want)
	}
	b.values = elements.values
	return b.end()
}

// valueError adds text and type to an error of a scalar.
func (p *parser) valueError(err error, text []byte, t column.Type) error {
	if errors.Is(err, errSyntax) || errors.Is(err, errRange) {
		return &ValueError{string(text), t, err}
	}
	return err
}

// appendList appends an array. In CQL sets have braces.
func (p *parser) appendList(b *builder, s *scanner) error {
	closing, err := s.open("[", "[{")
	if err != nil {
		return err
	}
	child := b.children[0]
	first := child.rows
	err = s.each(closing, func() error {
		if err := p.appendPart(child, s); err != nil {
			return fmt.Errorf("element %d: %w", child.rows-first, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.end()
}

// appendMap appends an object, whose names are the keys in text, or in JSON an array of pairs.
func (p *parser) appendMap(b *builder, s *scanner) error {
	keys, values := b.children[0], b.children[1]
	first := keys.rows
	closing, err := s.open("{[", "{")
	if err != nil {
		return err
	}
	err = s.each(closing, func() error {
		if closing == ']' {
			return p.appendPair(keys, values, s)
		}
		if err := p.appendKey(keys, s); err != nil {
			return err
		}
		return p.appendPart(values, s)
	})
	if err != nil {
		return err
	}
	if keys.nulls > 0 {
		return fmt.Errorf("%w: a key is null", errRange)
	}
	if keys.repeats(first) {
		return fmt.Errorf("%w: a key occurs twice", errRange)
	}
	return b.end()
}

// appendKey appends the key of an entry, with its colon. In CQL keys may be nested.
func (p *parser) appendKey(keys *builder, s *scanner) error {
	kind := keys.field.Type.Kind
	if s.cql && (kind == column.Vector || kind.IsNested()) {
		if err := p.appendNext(keys, s); err != nil {
			return err
		}
		return s.expect(':')
	}
	key, err := s.mapKey(kind)
	if err != nil {
		return err
	}
	return p.appendText(keys, key)
}

func (p *parser) appendPair(keys, values *builder, s *scanner) error {
	for _, step := range []func() error{
		func() error { return s.expect('[') },
		func() error { return p.appendPart(keys, s) },
		func() error { return s.expect(',') },
		func() error { return p.appendPart(values, s) },
		func() error { return s.expect(']') },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// appendStruct appends an object. Fields that the object does not have are NULL.
func (p *parser) appendStruct(b *builder, s *scanner) error {
	closing, err := s.open("{", "{")
	if err != nil {
		return err
	}
	order := memberOrder{}
	nameOf := func(i int) string { return b.children[i].field.Name }
	err = s.each(closing, func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		i := order.find(name, len(b.children), nameOf)
		switch {
		case i < 0:
			return fmt.Errorf("%w: the type has no field %q", errRange, name)
		case b.children[i].rows > b.rows:
			return fmt.Errorf("%w: field %q occurs twice", errRange, name)
		}
		if err := p.appendPart(b.children[i], s); err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, child := range b.children {
		if child.rows == b.rows {
			if err := child.appendNull(); err != nil {
				return err
			}
		}
	}
	return b.end()
}

// appendTuple appends an array with one value for each field. In CQL tuples have parentheses.
func (p *parser) appendTuple(b *builder, s *scanner) error {
	closing, err := s.open("[", "(")
	if err != nil {
		return err
	}
	i := 0
	err = s.each(closing, func() error {
		if i == len(b.children) {
			return fmt.Errorf("%w: more than %d fields of a tuple", errRange, i)
		}
		if err := p.appendPart(b.children[i], s); err != nil {
			return fmt.Errorf("field %d: %w", i, err)
		}
		i++
		return nil
	})
	if err == nil && i < len(b.children) {
		err = fmt.Errorf("%w: %d fields of a tuple of %d", errRange, i, len(b.children))
	}
	if err != nil {
		return err
	}
	return b.end()
}
