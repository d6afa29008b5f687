// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// This file holds aggregates that choose one row of each group and return a value of it, of any type: first, last, any, the row with the least or
// greatest value of another column. One loop finds the rows that win, a second one copies their values. It also holds MIN and MAX of
// what is not a number.

// First is the first value of a column, of any type, that is not NULL, by the numbers of rows. The column's type; NULL if all values are.
// 8 bytes per group, and the value.
func First(value int) Aggregate { return newEdge("first", value, false) }

// Last is the last value that is not NULL; see [First].
func Last(value int) Aggregate { return newEdge("last", value, true) }

func newEdge(name string, value int, last bool) Aggregate {
	return Aggregate{
		Name: name, Args: []int{value}, RowNumbers: true, reference: referenceEdge(last),
		New: func(args []Type) (Accumulator, error) {
			return &edge{typ: args[0], last: last, vals: newCells(args[0])}, nil
		},
	}
}

// Any is some value of a column, of any type, that is not NULL: ANY_VALUE. The column's type; NULL if all values are. It is the cheapest choice if
// all values of a group are equal. One byte per group, and the value.
func Any(value int) Aggregate {
	return Aggregate{Name: "any_value", Args: []int{value}, New: func(args []Type) (Accumulator, error) {
		return &anyValue{typ: args[0], vals: newCells(args[0])}, nil
	}}
}

// ArgMin is the value of payload, of any type, in the row with the least value of by, a column of numbers; in the first of them if
// several are equal, by the numbers of rows. NaN is greater than all numbers; rows where by is NULL are left out. The payload's type; NULL
// if the payload of that row is, or if all values of by are. 17 bytes per group, and the payload.
func ArgMin(by, payload int) Aggregate { return newArgExtreme("arg_min", by, payload, true) }

// ArgMax is the value of payload in the row with the greatest value of by; see [ArgMin].
func ArgMax(by, payload int) Aggregate { return newArgExtreme("arg_max", by, payload, false) }

func newArgExtreme(name string, by, payload int, least bool) Aggregate {
	return Aggregate{
		Name: name, Args: []int{by, payload}, RowNumbers: true, reference: referenceArgExtreme(least),
		New: func(args []Type) (Accumulator, error) {
			if !args[0].isNumber() {
				return nil, badArgs(name, args, "numbers to order by")
			}
			return &argExtreme{typ: args[1], least: least, vals: newCells(args[1])}, nil
		},
	}
}

// edge is First or Last.
type edge struct {
	typ    Type
	last   bool
	number []int64 // of the row that the value is of; noRow if there is none
	vals   cells
	wins   []uint32
}

// noRow returns the number that every row goes before.
func (e *edge) noRow() int64 {
	if e.last {
		return math.MinInt64
	}
	return math.MaxInt64
}

func (e *edge) Types() ([]Type, Type) { return []Type{Int64, e.typ}, e.typ }
func (e *edge) Reset()                { e.number = e.number[:0]; e.vals.reset() }
func (e *edge) Size() int64           { return e.vals.size() }

func (e *edge) Resize(n int) {
	old := len(e.number)
	e.number = grown(e.number, n)
	for id := old; id < n; id++ {
		e.number[id] = e.noRow()
	}
	e.vals.resize(n)
}

func (e *edge) Add(rows Rows) error {
	col, ids, number := &rows.Args[0], rows.IDs, e.number
	e.wins = grown(e.wins[:0], len(ids))
	wins, n := e.wins, 0
	switch {
	case col.validity != nil:
		forValid(col, func(i int) {
			id, num := ids[i], rows.Number(i)
			if e.last && num > number[id] || !e.last && num < number[id] {
				number[id] = num
				wins[n] = uint32(i)
				n++
			}
		})
	case e.last:
		for i, id := range ids {
			if num := rows.Number(i); num > number[id] {
				number[id] = num
				wins[n] = uint32(i)
				n++
			}
		}
	default:
		for i, id := range ids {
			if num := rows.Number(i); num < number[id] {
				number[id] = num
				wins[n] = uint32(i)
				n++
			}
		}
	}
	// Of the rows that won for a while, only one per group stayed: values may be long.
	kept := 0
	for _, r := range wins[:n] {
		wins[kept] = r
		if number[ids[r]] == rows.Number(int(r)) {
			kept++
		}
	}
	return e.vals.take(wins[:kept], ids, col)
}

func (e *edge) State() ([]Column, error) { return []Column{Values(e.number), e.vals.column()}, nil }

func (e *edge) Merge(ids []uint32, state []Column) error {
	return e.Add(Rows{IDs: ids, Args: state[1:], Numbers: view[int64](&state[0])})
}

func (e *edge) Result() (Column, error) { return e.vals.column(), nil }

// anyValue is Any.
type anyValue struct {
	typ  Type
	vals cells
	wins []uint32
}

func (a *anyValue) Types() ([]Type, Type)    { return []Type{a.typ}, a.typ }
func (a *anyValue) Resize(n int)             { a.vals.resize(n) }
func (a *anyValue) Reset()                   { a.vals.reset() }
func (a *anyValue) Size() int64              { return a.vals.size() }
func (a *anyValue) State() ([]Column, error) { return []Column{a.vals.column()}, nil }
func (a *anyValue) Result() (Column, error)  { return a.vals.column(), nil }

func (a *anyValue) Add(rows Rows) error {
	col, ids, has := &rows.Args[0], rows.IDs, a.vals.held()
	wins := a.wins[:0]
	if col.validity != nil {
		forValid(col, func(i int) {
			if id := ids[i]; !has[id] {
				has[id] = true
				wins = append(wins, uint32(i))
			}
		})
	} else {
		for i, id := range ids {
			if !has[id] {
				has[id] = true
				wins = append(wins, uint32(i))
			}
		}
	}
	a.wins = wins
	if len(wins) == 0 {
		return nil
	}
	return a.vals.take(wins, ids, col)
}

func (a *anyValue) Merge(ids []uint32, state []Column) error {
	return a.Add(Rows{IDs: ids, Args: state})
}

// argExtreme is ArgMin or ArgMax.
type argExtreme struct {
	typ    Type
	least  bool
	best   []orderedRow
	vals   cells
	wins   []uint32
	keys   []uint64 // of the rows at hand; of all groups for State
	number []int64
}

// An orderedRow is what rows are ordered by: the word of orderKeys, and of equal ones the row that came first. {0, MaxInt64} is no row.
type orderedRow struct {
	key    uint64
	number int64
}

// less tells whether r comes before o: it has the lesser key, or the same and came later.
func (r orderedRow) less(o orderedRow) bool {
	return r.key < o.key || r.key == o.key && r.number > o.number
}

func (a *argExtreme) Types() ([]Type, Type) { return []Type{Uint64, Int64, a.typ}, a.typ }
func (a *argExtreme) Reset()                { a.best = a.best[:0]; a.vals.reset() }
func (a *argExtreme) Size() int64           { return a.vals.size() }

func (a *argExtreme) Resize(n int) {
	old := len(a.best)
	a.best = grown(a.best, n)
	for id := old; id < n; id++ {
		a.best[id].number = math.MaxInt64
	}
	a.vals.resize(n)
}

func (a *argExtreme) Add(rows Rows) error {
	a.keys = orderKeys(a.keys, &rows.Args[0], a.least)
	return a.add(&rows, a.keys)
}

// add adds rows whose by is given as keys, valid as the first argument.
func (a *argExtreme) add(rows *Rows, keys []uint64) error {
	by, payload, ids, best := &rows.Args[0], &rows.Args[1], rows.IDs, a.best
	a.wins = grown(a.wins[:0], len(ids))
	wins, n := a.wins, 0
	if by.validity != nil {
		forValid(by, func(i int) {
			id := ids[i]
			if r := (orderedRow{keys[i], rows.Number(i)}); best[id].less(r) {
				best[id] = r
				wins[n] = uint32(i)
				n++
			}
		})
	} else {
		for i, id := range ids {
			if keys[i] < best[id].key {
				continue
			}
			if r := (orderedRow{keys[i], rows.Number(i)}); best[id].less(r) {
				best[id] = r
				wins[n] = uint32(i)
				n++
			}
		}
	}
	kept := 0
	for _, r := range wins[:n] {
		wins[kept] = r
		if best[ids[r]] == (orderedRow{keys[r], rows.Number(int(r))}) {
			kept++
		}
	}
	return a.vals.take(wins[:kept], ids, payload)
}

func (a *argExtreme) State() ([]Column, error) {
	n := len(a.best)
	a.keys, a.number = grown(a.keys[:0], n), grown(a.number[:0], n)
	valid := make([]byte, (n+7)/8)
	for id, b := range a.best {
		a.keys[id], a.number[id] = b.key, b.number
		if b.number != math.MaxInt64 {
			valid[id>>3] |= 1 << (id & 7)
		}
	}
	return []Column{Values(a.keys).WithValidity(valid), Values(a.number), a.vals.column()}, nil
}

func (a *argExtreme) Merge(ids []uint32, state []Column) error {
	rows := Rows{IDs: ids, Args: []Column{state[0], state[2]}, Numbers: view[int64](&state[1])}
	return a.add(&rows, view[uint64](&state[0]))
}

func (a *argExtreme) Result() (Column, error) { return a.vals.column(), nil }

// newExtremeOrdered returns MIN or MAX of booleans (false before true), ids and strings (both in the order of their bytes).
func newExtremeOrdered(name string, args []Type, greatest bool) (Accumulator, error) {
	switch args[0] {
	case Bool:
		return &extremeBool{extreme: extreme[uint8]{max: greatest}}, nil
	case ID:
		return &extremeID{max: greatest}, nil
	case String:
		return &extremeText{max: greatest}, nil
	}
	return nil, badArgs(name, args, "numbers, booleans, ids or strings")
}

// extremeBool is MIN or MAX of booleans, which are 0 and 1 (and 255 where there is none).
type extremeBool struct {
	extreme[uint8]
	out []bool
}

func (e *extremeBool) Types() ([]Type, Type) { return []Type{Bool}, Bool }

func (e *extremeBool) State() ([]Column, error) { c, err := e.Result(); return []Column{c}, err }

func (e *extremeBool) Result() (Column, error) {
	e.out = grown(e.out[:0], len(e.best))
	for id, b := range e.best {
		e.out[id] = b == 1
	}
	return Values(e.out).WithValidity(e.validity()), nil
}

// extremeID is MIN or MAX of ids, as numbers of 128 bits, big-endian.
type extremeID struct {
	max  bool
	best []idWords
	has  []bool
	out  [][16]byte
}

type idWords struct{ high, low uint64 }

func (w idWords) less(o idWords) bool { return w.high < o.high || w.high == o.high && w.low < o.low }

func (e *extremeID) Types() ([]Type, Type) { return []Type{ID}, ID }
func (e *extremeID) Resize(n int)          { e.best, e.has = grown(e.best, n), grown(e.has, n) }
func (e *extremeID) Reset()                { e.best, e.has = e.best[:0], e.has[:0] }

func (e *extremeID) Add(rows Rows) error {
	x, ids := view[[16]byte](&rows.Args[0]), rows.IDs
	forValid(&rows.Args[0], func(i int) {
		id := ids[i]
		w := idWords{binary.BigEndian.Uint64(x[i][:8]), binary.BigEndian.Uint64(x[i][8:])}
		if b := e.best[id]; !e.has[id] || e.max && b.less(w) || !e.max && w.less(b) {
			e.best[id], e.has[id] = w, true
		}
	})
	return nil
}

func (e *extremeID) State() ([]Column, error) { c, err := e.Result(); return []Column{c}, err }

func (e *extremeID) Merge(ids []uint32, state []Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}

func (e *extremeID) Result() (Column, error) {
	e.out = grown(e.out[:0], len(e.best))
	for id, w := range e.best {
		binary.BigEndian.PutUint64(e.out[id][:8], w.high)
		binary.BigEndian.PutUint64(e.out[id][8:], w.low)
	}
	return Values(e.out).WithValidity(bitsOf(e.has)), nil
}

// extremeText is MIN or MAX of strings. The first bytes of the best are kept apart, as they decide nearly always.
type extremeText struct {
	max    bool
	prefix []uint64
	vals   textCells
}

// textPrefix returns the first 8 bytes of s, the first highest, zeros following: if it differs for two strings, it tells their order.
func textPrefix(s string) uint64 {
	if len(s) >= 8 {
		return bits.ReverseBytes64(le64(s, 0))
	}
	var w uint64
	for i := range len(s) {
		w |= uint64(s[i]) << (56 - 8*i)
	}
	return w
}

func (e *extremeText) Types() ([]Type, Type)    { return []Type{String}, String }
func (e *extremeText) Resize(n int)             { e.prefix = grown(e.prefix, n); e.vals.resize(n) }
func (e *extremeText) Reset()                   { e.prefix = e.prefix[:0]; e.vals.reset() }
func (e *extremeText) Size() int64              { return e.vals.size() + 8*int64(cap(e.prefix)) }
func (e *extremeText) State() ([]Column, error) { return []Column{e.vals.column()}, nil }
func (e *extremeText) Result() (Column, error)  { return e.vals.column(), nil }

func (e *extremeText) Add(rows Rows) (err error) {
	col, ids := &rows.Args[0], rows.IDs
	forValid(col, func(i int) {
		id := ids[i]
		if id == 0 || err != nil {
			return
		}
		s := col.text(i)
		p := textPrefix(s)
		if e.vals.has[id] {
			switch b := e.prefix[id]; {
			case p < b && e.max || p > b && !e.max:
				return
			case p == b:
				if best := e.vals.get(id); s == best || s > best != e.max {
					return
				}
			}
		}
		e.prefix[id], e.vals.has[id] = p, true
		err = e.vals.set(id, s)
	})
	return err
}

func (e *extremeText) Merge(ids []uint32, state []Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}
