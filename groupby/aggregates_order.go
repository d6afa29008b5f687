// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/vecql/vecql/column"
)

// Aggregates that select one row of each group and return a value of it, of any type: first, last, any, and the row
// with the least or greatest value of another column. One loop finds the winning rows, a second one copies their
// values. Also Min and Max of kinds that are not numbers.

// First finds the first value of a column that is not NULL, in the order of row numbers. It has the column's type, any
// without children; NULL if all values are NULL. Memory: 8 bytes per group, and the value.
func First(name string) Aggregate { return newEdge("first", name, false) }

// Last finds the last value of a column that is not NULL; see [First].
func Last(name string) Aggregate { return newEdge("last", name, true) }

func newEdge(fn, name string, last bool) Aggregate {
	a := call(fn, []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		vals, err := newCells(t)
		if err != nil {
			return nil, refused(0, err.Error())
		}
		return &edge{typ: t, last: last, vals: vals}, nil
	})
	a.RowNumbers = true
	return a
}

// Any finds an arbitrary value of a column that is not NULL: ANY_VALUE. It has the column's type, any without children;
// NULL if all values are NULL. It is the cheapest choice if all values of a group are equal. Memory: one byte per
// group, and the value.
func Any(name string) Aggregate {
	return call("any", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		vals, err := newCells(t)
		if err != nil {
			return nil, refused(0, err.Error())
		}
		return &anyValue{typ: t, vals: vals}, nil
	})
}

// ArgMin finds the value of payload in the row with the least value of by, a column of numbers, dates, times or
// timestamps. If several rows have that value, the first one by row number counts. NaN is greater than all numbers;
// rows where by is NULL are skipped. The result has the type of payload, any without children; it is NULL if payload is
// NULL in that row, or if all values of by are NULL. Memory: 17 bytes per group, and the payload.
func ArgMin(by, payload string) Aggregate { return newArgExtreme("arg_min", by, payload, true) }

// ArgMax finds the value of payload in the row with the greatest value of by; see [ArgMin].
func ArgMax(by, payload string) Aggregate { return newArgExtreme("arg_max", by, payload, false) }

// newArgExtreme returns the aggregate of payload in the row with the least or greatest value of by. It requests row
// numbers, because the first of equal rows wins.
func newArgExtreme(fn, by, payload string, least bool) Aggregate {
	a := call(fn, []string{by, payload})
	a.RowNumbers = true
	a.New = func(args []column.Type) (Accumulator, error) {
		if !isSortable(args[0]) {
			return nil, refused(0, wantSortable)
		}
		vals, err := newCells(args[1])
		if err != nil {
			return nil, refused(1, err.Error())
		}
		return &argExtreme{typ: args[1], least: least, vals: vals}, nil
	}
	return a
}

// edge is First or Last.
type edge struct {
	typ    column.Type
	last   bool
	number []int64 // of the row of the value; noRow means none
	vals   cells
	wins   []uint32
}

// noRow returns the number that loses against every row's.
func (e *edge) noRow() int64 {
	if e.last {
		return math.MinInt64
	}
	return math.MaxInt64
}

func (e *edge) Types() ([]column.Type, column.Field) {
	return []column.Type{typeInt64, e.typ}, fieldOf(e.typ)
}

func (e *edge) Reset()      { e.number = e.number[:0]; e.vals.reset() }
func (e *edge) Size() int64 { return e.vals.size() }

func (e *edge) Resize(n int) {
	old := len(e.number)
	e.number = grown(e.number, n)
	for id := old; id < n; id++ {
		e.number[id] = e.noRow()
	}
	e.vals.resize(n)
}

// Add finds the rows that come before (or after) the row of their group's value, and stores the value of the final
// winner only.
func (e *edge) Add(rows Rows) error {
	col, ids, number := &rows.Args[0], rows.IDs, e.number
	e.wins = grown(e.wins[:0], len(ids))
	wins, n := e.wins, 0
	switch {
	case col.Nulls != 0:
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
	// Keep one of the rows of each group, the final winner: values may be long.
	kept := 0
	for _, r := range wins[:n] {
		wins[kept] = r
		if number[ids[r]] == rows.Number(int(r)) {
			kept++
		}
	}
	return e.vals.take(wins[:kept], ids, col)
}

func (e *edge) State(i, j int) ([]column.Column, error) {
	vals, err := e.vals.column(i, j)
	return []column.Column{of(e.number[i:j]), vals}, err
}

func (e *edge) Merge(ids []uint32, state []column.Column) error {
	return e.Add(Rows{IDs: ids, Args: state[1:], Numbers: view[int64](&state[0])})
}

func (e *edge) Result(i, j int) (column.Column, error) { return e.vals.column(i, j) }

// anyValue is the accumulator of Any: it keeps the first value other than NULL of each group.
type anyValue struct {
	typ  column.Type
	vals cells
	wins []uint32
}

func (a *anyValue) Types() ([]column.Type, column.Field) {
	return []column.Type{a.typ}, fieldOf(a.typ)
}

func (a *anyValue) Resize(n int) { a.vals.resize(n) }
func (a *anyValue) Reset()       { a.vals.reset() }
func (a *anyValue) Size() int64  { return a.vals.size() }
func (a *anyValue) State(i, j int) ([]column.Column, error) {
	vals, err := a.vals.column(i, j)
	return []column.Column{vals}, err
}
func (a *anyValue) Result(i, j int) (column.Column, error) { return a.vals.column(i, j) }

// Add stores the first value that is not NULL of each group without one.
func (a *anyValue) Add(rows Rows) error {
	col, ids, has := &rows.Args[0], rows.IDs, a.vals.held()
	wins := a.wins[:0]
	if col.Nulls != 0 {
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
	return a.vals.take(wins, ids, col)
}

func (a *anyValue) Merge(ids []uint32, state []column.Column) error {
	return a.Add(Rows{IDs: ids, Args: state})
}

// argExtreme is ArgMin or ArgMax.
type argExtreme struct {
	typ    column.Type
	least  bool
	best   []orderedRow
	vals   cells
	wins   []uint32
	keys   []uint64 // of the current rows; in State of all groups
	number []int64
}

// An orderedRow is the position of a row: the word of orderKeys, then the row number, lowest first. {0, MaxInt64} means
// no row.
type orderedRow struct {
	key    uint64
	number int64
}

// less reports whether r loses against o: its key is less, or the keys are equal and r has the greater number.
func (r orderedRow) less(o orderedRow) bool {
	return r.key < o.key || r.key == o.key && r.number > o.number
}

func (a *argExtreme) Types() ([]column.Type, column.Field) {
	return []column.Type{typeUint64, typeInt64, a.typ}, fieldOf(a.typ)
}
func (a *argExtreme) Reset()      { a.best = a.best[:0]; a.vals.reset() }
func (a *argExtreme) Size() int64 { return a.vals.size() }

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

// add adds rows with keys made from by. The first argument has their validity.
func (a *argExtreme) add(rows *Rows, keys []uint64) error {
	by, payload, ids, best := &rows.Args[0], &rows.Args[1], rows.IDs, a.best
	a.wins = grown(a.wins[:0], len(ids))
	wins, n := a.wins, 0
	if by.Nulls != 0 {
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

// State returns order keys, row numbers and values. The key of a group without a row is NULL.
func (a *argExtreme) State(i, j int) ([]column.Column, error) {
	n := j - i
	a.keys, a.number = grown(a.keys[:0], n), grown(a.number[:0], n)
	valid := make([]byte, (n+7)/8)
	for k, b := range a.best[i:j] {
		a.keys[k], a.number[k] = b.key, b.number
		if b.number != math.MaxInt64 {
			valid[k>>3] |= 1 << (k & 7)
		}
	}
	vals, err := a.vals.column(i, j)
	return []column.Column{of(a.keys).WithValidity(valid), of(a.number), vals}, err
}

func (a *argExtreme) Merge(ids []uint32, state []column.Column) error {
	rows := Rows{IDs: ids, Args: []column.Column{state[0], state[2]}, Numbers: view[int64](&state[1])}
	return a.add(&rows, view[uint64](&state[0]))
}

func (a *argExtreme) Result(i, j int) (column.Column, error) { return a.vals.column(i, j) }

// newExtremeOrdered returns Min or Max of a type whose values do not fit into a word, or are not ordered as numbers.
func newExtremeOrdered(t column.Type, greatest bool) (Accumulator, error) {
	switch {
	case t.Kind == column.Bool:
		return &extremeBool{extreme: extreme[uint8]{typ: t, max: greatest}}, nil
	case t.Kind == column.UUID:
		return &extremeID{max: greatest}, nil
	case !hasOrder(t):
		return nil, refused(0, "a kind with an order")
	case t.Kind.IsText():
		e := &extremeText{typ: t, max: greatest, vals: textCells{typ: t}}
		if t.Kind == column.Varint {
			e.compare = compareVarints
		}
		return e, nil
	}
	return &extremeFixed{typ: t, width: t.ValueWidth(), max: greatest, compare: comparer(t)}, nil
}

// extremeBool is Min or Max of booleans, which are 0 and 1 (255 where there is none).
type extremeBool struct {
	extreme[uint8]
	out []bool
}

func (e *extremeBool) State(i, j int) ([]column.Column, error) {
	c, err := e.Result(i, j)
	return []column.Column{c}, err
}

func (e *extremeBool) Result(i, j int) (column.Column, error) {
	e.out = grown(e.out[:0], j-i)
	for k, b := range e.best[i:j] {
		e.out[k] = b == 1
	}
	return of(e.out).WithValidity(e.validity(i, j)), nil
}

// extremeFixed is Min or Max of a fixed-width kind with a compare function.
type extremeFixed struct {
	typ     column.Type
	width   int
	max     bool
	compare func(a, b string) int
	best    []byte
	has     []bool
}

func (e *extremeFixed) Types() ([]column.Type, column.Field) {
	return []column.Type{e.typ}, fieldOf(e.typ)
}

func (e *extremeFixed) Resize(n int) { e.best, e.has = grown(e.best, n*e.width), grown(e.has, n) }
func (e *extremeFixed) Reset()       { e.best, e.has = e.best[:0], e.has[:0] }

// Add compares each row with the best value of its group by e.compare: the order of the bytes is another one.
func (e *extremeFixed) Add(rows Rows) error {
	col := &rows.Args[0]
	forValid(col, func(i int) {
		id := int(rows.IDs[i])
		best, v := e.best[id*e.width:(id+1)*e.width], textAt(col, i)
		if c := e.compare(v, stringOf(best)); !e.has[id] || c > 0 && e.max || c < 0 && !e.max {
			copy(best, v)
			e.has[id] = true
		}
	})
	return nil
}

func (e *extremeFixed) State(i, j int) ([]column.Column, error) {
	c, err := e.Result(i, j)
	return []column.Column{c}, err
}

func (e *extremeFixed) Merge(ids []uint32, state []column.Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}

func (e *extremeFixed) Result(i, j int) (column.Column, error) {
	return columnOf(e.typ, j-i, e.best[i*e.width:j*e.width]).WithValidity(bitsOf(e.has[i:j])), nil
}

// extremeID is Min or Max of UUIDs, ordered as big-endian integers of 128 bits.
type extremeID struct {
	max  bool
	best []idWords
	has  []bool
	out  [][16]byte
}

type idWords struct{ high, low uint64 }

func (w idWords) less(o idWords) bool { return w.high < o.high || w.high == o.high && w.low < o.low }

func (e *extremeID) Types() ([]column.Type, column.Field) {
	t := column.Type{Kind: column.UUID}
	return []column.Type{t}, fieldOf(t)
}

func (e *extremeID) Resize(n int) { e.best, e.has = grown(e.best, n), grown(e.has, n) }
func (e *extremeID) Reset()       { e.best, e.has = e.best[:0], e.has[:0] }

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

func (e *extremeID) State(i, j int) ([]column.Column, error) {
	c, err := e.Result(i, j)
	return []column.Column{c}, err
}

func (e *extremeID) Merge(ids []uint32, state []column.Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}

func (e *extremeID) Result(i, j int) (column.Column, error) {
	e.out = grown(e.out[:0], j-i)
	for k, w := range e.best[i:j] {
		binary.BigEndian.PutUint64(e.out[k][:8], w.high)
		binary.BigEndian.PutUint64(e.out[k][8:], w.low)
	}
	return of(e.out).WithValidity(bitsOf(e.has[i:j])), nil
}

// extremeText is Min or Max of text. prefix holds the first bytes of the best value, which decide most comparisons. If
// compare is set, the kind is not ordered by its bytes, and prefix is not used.
type extremeText struct {
	typ     column.Type
	max     bool
	compare func(a, b string) int
	prefix  []uint64
	vals    textCells
}

// textPrefix returns the first 8 bytes of s in big-endian order, padded with zeros: unequal prefixes have the order of
// their texts.
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

func (e *extremeText) Types() ([]column.Type, column.Field) {
	return []column.Type{e.typ}, fieldOf(e.typ)
}

func (e *extremeText) Resize(n int) { e.prefix = grown(e.prefix, n); e.vals.resize(n) }
func (e *extremeText) Reset()       { e.prefix = e.prefix[:0]; e.vals.reset() }
func (e *extremeText) Size() int64  { return e.vals.size() + 8*int64(cap(e.prefix)) }

func (e *extremeText) Result(i, j int) (column.Column, error) { return e.vals.column(i, j) }

func (e *extremeText) State(i, j int) ([]column.Column, error) {
	c, err := e.Result(i, j)
	return []column.Column{c}, err
}

// Add replaces the best text of a group if a row beats it. Prefixes decide unless they are equal.
func (e *extremeText) Add(rows Rows) (err error) {
	col, ids := &rows.Args[0], rows.IDs
	forValid(col, func(i int) {
		id := ids[i]
		if id == 0 || err != nil {
			return
		}
		s := textAt(col, i)
		p := textPrefix(s)
		if e.vals.has[id] {
			switch b := e.prefix[id]; {
			case e.compare != nil:
				if c := e.compare(s, e.vals.get(id)); c == 0 || c > 0 != e.max {
					return
				}
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

func (e *extremeText) Merge(ids []uint32, state []column.Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}
