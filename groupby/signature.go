// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
)

// The signature of a partial: what both sides must agree on, so that the states of one are states of the other.

// A signature is the columns of a plan, and its accumulators with their parameters. Signatures must be equal on both
// sides, except for vector dimensions that are unknown on one side. It has no names of results.
type signature struct {
	types      []column.Type // of the columns
	names      []string
	keys       int // the first columns
	parts      []partSignature
	rowNumbers bool
	dropNulls  bool
}

type partSignature struct {
	identity string // Aggregate.identity
	state    []column.Type
}

func (p *plan) signature() signature {
	s := signature{
		types: p.types, names: p.inputNames(), keys: len(p.Keys), rowNumbers: p.rowNumbers, dropNulls: p.DropNulls,
	}
	for _, m := range p.parts {
		s.parts = append(s.parts, partSignature{m.identity(), m.state})
	}
	return s
}

// append appends the content of the first chunk.
func (s signature) append(b []byte) []byte {
	b = appendTypes(b, s.types)
	for _, name := range s.names {
		b = appendText(b, name)
	}
	b = binary.AppendUvarint(b, uint64(s.keys))
	b = binary.AppendUvarint(b, uint64(len(s.parts)))
	for _, m := range s.parts {
		b = appendTypes(appendText(b, m.identity), m.state)
	}
	var flags byte
	if s.rowNumbers {
		flags |= 1
	}
	if s.dropNulls {
		flags |= 2
	}
	return append(b, flags)
}

// appendTypes appends the number of types, and the fields of each.
func appendTypes(b []byte, types []column.Type) []byte {
	b = binary.AppendUvarint(b, uint64(len(types)))
	for _, t := range types {
		utc := 0
		if t.UTC {
			utc = 1
		}
		for _, x := range []int{int(t.Kind), int(t.Unit), utc, int(t.Elem), t.Precision, t.Scale, t.Width, t.Dim} {
			b = binary.AppendUvarint(b, uint64(x))
		}
	}
	return b
}

// cutSignature parses the content of the first chunk.
func cutSignature(b []byte) (s signature, err error) {
	c := cutter{rest: b}
	s.types = c.types()
	for range s.types {
		s.names = append(s.names, c.text())
	}
	s.keys = c.number()
	for range c.count() {
		s.parts = append(s.parts, partSignature{c.text(), c.types()})
	}
	if c.failed || len(c.rest) != 1 || c.rest[0] > 3 || s.keys > len(s.types) {
		return s, &CorruptError{"signature"}
	}
	s.rowNumbers, s.dropNulls = c.rest[0]&1 != 0, c.rest[0]&2 != 0
	return s, nil
}

// A cutter reads a signature. After a failure all its results are zero.
type cutter struct {
	rest   []byte
	failed bool
}

func (c *cutter) fail() {
	c.failed, c.rest = true, nil
}

func (c *cutter) number() int {
	x, n := binary.Uvarint(c.rest)
	if n <= 0 || x > math.MaxInt32 {
		c.fail()
		return 0
	}
	c.rest = c.rest[n:]
	return int(x)
}

// count returns a number of elements that have at least one byte each.
func (c *cutter) count() int {
	n := c.number()
	if n > len(c.rest) {
		c.fail()
		return 0
	}
	return n
}

func (c *cutter) text() string {
	n := c.count()
	text := string(c.rest[:n])
	c.rest = c.rest[n:]
	return text
}

func (c *cutter) types() []column.Type {
	types := make([]column.Type, c.count())
	for i := range types {
		kind, unit, utc, elem := c.number(), c.number(), c.number(), c.number()
		types[i] = column.Type{
			Kind: column.Kind(kind), Unit: column.Unit(unit), UTC: utc == 1, Elem: column.Kind(elem),
			Precision: c.number(), Scale: c.number(), Width: c.number(), Dim: c.number(),
		}
		if err := types[i].Check(); err != nil || max(kind, unit, elem) > math.MaxUint8 {
			c.fail()
			return nil
		}
	}
	return types
}

// sameColumns returns an error if the names of the columns differ, or the handling of NULL keys.
func (s *signature) sameColumns(own *signature) error {
	switch {
	case s.keys != own.keys || !slices.Equal(s.names[:s.keys], own.names[:own.keys]):
		return differ(fmt.Sprintf("the keys %q", s.names[:s.keys]), fmt.Sprintf("%q", own.names[:own.keys]),
			"use the Keys of its writer")
	case !slices.Equal(s.names, own.names):
		return differ(fmt.Sprintf("aggregates of the columns %q", s.names[s.keys:]),
			fmt.Sprintf("aggregates of %q", own.names[own.keys:]), "use the Aggregates of its writer")
	case s.dropNulls != own.dropNulls:
		return differ(fmt.Sprintf("DropNulls %t", s.dropNulls), fmt.Sprint(own.dropNulls), "use the DropNulls of its writer")
	}
	return nil
}

// sameStates returns an error if the accumulators or their states differ, or if only one side has numbers of rows.
func (s *signature) sameStates(own *signature) error {
	for i := range max(len(s.parts), len(own.parts)) {
		theirs, ours := partAt(s, i), partAt(own, i)
		if theirs != ours {
			return differ(fmt.Sprintf("%s as accumulator %d", theirs, i), ours, "use the Aggregates of its writer")
		}
	}
	if s.rowNumbers != own.rowNumbers {
		words := map[bool]string{false: "no numbers of rows", true: "numbers of rows"}
		return differ(words[s.rowNumbers], words[own.rowNumbers],
			"use FirstAppearance, which needs them, on both sides or on none")
	}
	return nil
}

// partAt returns the text of an accumulator, with the types of its states.
func partAt(s *signature, i int) string {
	if i >= len(s.parts) {
		return "none"
	}
	var types []string
	for _, t := range s.parts[i].state {
		types = append(types, fmt.Sprintf("%v", t))
	}
	return s.parts[i].identity + " with states of " + strings.Join(types, ", ")
}

// differ returns the error for a difference between a partial and the Grouper that merges it.
func differ(partial, own, remedy string) error {
	return &MismatchError{fmt.Sprintf("the partial has %s, the Grouper has %s: %s", partial, own, remedy)}
}
