// SPDX-License-Identifier: Apache-2.0

package expr

// Lanes that choose between others: case, coalesce, and predicates as values.

// A caseLane computes each value on the rows of its condition only.
type caseLane[T any] struct {
	b          *block
	conditions []filter
	values     []lane[T] // one more than conditions
	out        merged[T]
	rest, kept [blockRows]int32
	rowSet
}

// eval passes the rows from condition to condition.
func (l *caseLane[T]) eval(rows []int32) (vec[T], error) {
	l.out.start(l.b)
	rest := l.rest[:copy(l.rest[:], rows)]
	for i, condition := range l.conditions {
		if len(rest) == 0 {
			break
		}
		kept, err := condition.keep(rest, l.kept[:])
		if err != nil {
			return vec[T]{}, err
		}
		if err := l.out.add(l.values[i], kept); err != nil {
			return vec[T]{}, err
		}
		rest = l.remove(rest, kept)
	}
	if err := l.out.add(l.values[len(l.conditions)], rest); err != nil {
		return vec[T]{}, err
	}
	return l.out.vec(l.b), nil
}

// A coalesceLane computes each value on the rows in which the ones before are NULL.
type coalesceLane[T any] struct {
	b     *block
	args  []lane[T]
	out   merged[T]
	rest  [blockRows]int32
	valid [blockRows]int32
	rowSet
}

func (l *coalesceLane[T]) eval(rows []int32) (vec[T], error) {
	l.out.start(l.b)
	rest := l.rest[:copy(l.rest[:], rows)]
	for _, arg := range l.args {
		if len(rest) == 0 {
			break
		}
		v, err := arg.eval(rest)
		if err != nil {
			return vec[T]{}, err
		}
		valid := validRows(v.valid, rest, l.valid[:])
		l.out.set(v.values, valid)
		rest = l.remove(rest, valid)
	}
	return l.out.vec(l.b), nil
}

// A merged is a vec made from several. Rows that are not set are NULL.
type merged[T any] struct {
	values []T
	valid  [blockRows / 8]byte
	rows   [blockRows]int32
}

func (m *merged[T]) start(b *block) { clear(m.valid[:(b.n+7)/8]) }

// add computes a lane on some rows.
func (m *merged[T]) add(l lane[T], rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	v, err := l.eval(rows)
	if err == nil {
		m.set(v.values, validRows(v.valid, rows, m.rows[:]))
	}
	return err
}

// set copies the values of rows without NULL.
func (m *merged[T]) set(values []T, rows []int32) {
	for _, r := range rows {
		m.values[r] = values[r]
		m.valid[r>>3] |= 1 << (r & 7)
	}
}

func (m *merged[T]) vec(b *block) vec[T] { return vec[T]{m.values[:b.n], m.valid[:(b.n+7)/8]} }

// A predicateLane is a predicate as a value: true where yes is, false where its opposite no is, otherwise NULL. It
// keeps its values while the block is evaluated, because yes and no of the node above both ask for them.
type predicateLane struct {
	b          *block
	yes, no    filter
	out        []bool
	valid      [blockRows / 8]byte
	done       [blockRows]uint64 // the serial of the block for which the row was evaluated
	kept, rest [blockRows]int32
	rowSet
}

// eval evaluates the rows that it has not seen in this block.
func (l *predicateLane) eval(rows []int32) (vec[bool], error) {
	k := 0
	for _, r := range rows {
		l.rest[k] = r
		k += bit(l.done[r] != l.b.serial)
	}
	rest := l.rest[:k]
	for _, r := range rest {
		l.valid[r>>3] &^= 1 << (r & 7)
	}
	for _, value := range []bool{true, false} {
		if len(rest) == 0 {
			break
		}
		f := l.no
		if value {
			f = l.yes
		}
		kept, err := f.keep(rest, l.kept[:])
		if err != nil {
			return vec[bool]{}, err
		}
		for _, r := range kept {
			l.out[r], l.done[r] = value, l.b.serial
			l.valid[r>>3] |= 1 << (r & 7)
		}
		rest = l.remove(rest, kept)
	}
	for _, r := range rest {
		l.done[r] = l.b.serial
	}
	return vec[bool]{l.out[:l.b.n], l.valid[:(l.b.n+7)/8]}, nil
}
