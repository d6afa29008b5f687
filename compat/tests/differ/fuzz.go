// SPDX-License-Identifier: Apache-2.0

package differ

import (
	"reflect"
	"slices"
	"testing"
)

// Fuzz decodes any cell by p and by its dialect, into any of the types. A cell that both accept has one value, except
// for the known differences. A broken cell, which the APIs read as zero, in part, or with a panic, is refused.
func Fuzz(f *testing.F, p Peer, known []Difference) {
	types := Types(p)
	dests := append(destinations[:len(destinations):len(destinations)], nestedDestinations...)
	for i, info := range types {
		for _, cell := range cellsOf(info) {
			f.Add(uint16(i), uint16(i), cell)
		}
	}
	f.Fuzz(func(t *testing.T, which, into uint16, cell []byte) {
		info := types[int(which)%len(types)]
		choices := dests
		if goType := p.Dialect.GoType(info); goType != nil {
			choices = append(choices[:len(choices):len(choices)], reflect.Zero(goType).Interface())
		}
		c := Case{Decode: true, Info: info, Value: choices[int(into)%len(choices)], Cell: cell}
		if tooMany(c) {
			t.Skip("the API allocates as many elements as the cell announces")
		}
		theirs, ours := Outcome(p, c)
		isKnown := func(d Difference) bool { return d.Is(c, theirs, ours) }
		if ours == Panicked || theirs != ours && ours != Refused && !slices.ContainsFunc(known, isKnown) {
			t.Fatalf("%v:\n\ttheirs: %s\n\tours:   %s", c, theirs, ours)
		}
	})
}

// tooMany reports whether the cell announces more elements than it has bytes, at any depth.
func tooMany(c Case) bool {
	for i := 0; i+4 <= len(c.Cell); i++ {
		n := int32(uint32(c.Cell[i])<<24 | uint32(c.Cell[i+1])<<16 | uint32(c.Cell[i+2])<<8 | uint32(c.Cell[i+3]))
		if n > 1<<16 && c.Info.Type() >= 0x20 {
			return true
		}
	}
	return false
}
