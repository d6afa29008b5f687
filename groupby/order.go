// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/column"
)

// Order of results. The rows of a result are sorted by the first columns of the order that are words with stable sorts,
// the least significant column first. Rows with equal words are sorted by comparisons of the other columns. If few rows
// are wanted, a heap selects them instead.

// A sortKey is a column to order by.
type sortKey struct {
	col  *column.Column
	desc bool
}

// orderOf returns the rows of keys and values in the order of the plan, at most limit unless it is 0. nil means all
// rows as they are.
func (p *plan) orderOf(n, limit int, keys, values []column.Column, numbers []int64) []uint32 {
	var by []sortKey
	var numbered column.Column
	switch p.Order.by {
	case byNothing:
		return nil
	case byAppearance:
		if slices.IsSorted(numbers) {
			return nil
		}
		if rows := rank(numbers); rows != nil {
			return rows
		}
		numbered = of(numbers)
		by = append(by, sortKey{col: &numbered})
	case byColumn:
		first := &keys
		at := p.orderBy
		if at >= len(keys) {
			first, at = &values, at-len(keys)
		}
		by = append(by, sortKey{&(*first)[at], p.Order.desc})
		fallthrough
	case byKeys:
		for i := range keys {
			by = append(by, sortKey{col: &keys[i]})
		}
	}
	if limit > 0 && limit < n/8 {
		return firstRows(n, limit, by)
	}
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	if limit == 0 {
		limit = n
	}
	sortRows(rows, limit, by)
	return rows
}

// sortRows sorts ascending rows, at least those that come first, up to limit. Equal rows stay in their order.
func sortRows(rows []uint32, limit int, by []sortKey) {
	exact := 0
	for exact < len(by) && hasWord(by[exact].col.Type) {
		exact++
	}
	for _, k := range slices.Backward(by[:exact]) {
		k.sort(rows)
	}
	if exact == len(by) {
		return
	}
	same, compare := comparing(by[:exact]), comparing(by[exact:])
	less := func(i, j uint32) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) }
	for i := 0; i < min(limit, len(rows)); {
		j := i + 1
		for j < len(rows) && same(rows[i], rows[j]) == 0 {
			j++
		}
		slices.SortFunc(rows[i:j], less)
		i = j
	}
}

// comparing returns a function that compares two rows by all columns of an order.
func comparing(by []sortKey) func(i, j uint32) int {
	var compare []func(i, j uint32) int
	for _, k := range by {
		compare = append(compare, k.compare())
	}
	return func(i, j uint32) int {
		for _, c := range compare {
			if r := c(i, j); r != 0 {
				return r
			}
		}
		return 0
	}
}

// rank returns the rows in the order of their numbers, or nil if placesOf does.
func rank(numbers []int64) []uint32 {
	places := placesOf([][]int64{numbers})
	if places == nil {
		return nil
	}
	rows := make([]uint32, len(numbers))
	for i, p := range places[0] {
		rows[p] = uint32(i)
	}
	return rows
}

// placesOf returns the rank of each number among all numbers, without comparisons: the number of bits set below it in a
// bitmap of all numbers. It returns nil if numbers are equal, or too far apart for a bitmap.
func placesOf(numbers [][]int64) [][]uint32 {
	lo, hi, n := int64(math.MaxInt64), int64(math.MinInt64), 0
	for _, some := range numbers {
		for _, x := range some {
			lo, hi = min(lo, x), max(hi, x)
		}
		n += len(some)
	}
	if n == 0 || uint64(hi-lo) >= 64*uint64(n)+1<<16 {
		return nil
	}
	set := make([]uint64, uint64(hi-lo)/64+1)
	for _, some := range numbers {
		for _, x := range some {
			set[(x-lo)>>6] |= 1 << ((x - lo) & 63)
		}
	}
	before := make([]uint32, len(set)) // bits set in the words before
	at := uint32(0)
	for i, w := range set {
		before[i] = at
		at += uint32(bits.OnesCount64(w))
	}
	if int(at) != n {
		return nil // some are equal: batches of several workers had the same FirstRow
	}
	places := make([][]uint32, len(numbers))
	for k, some := range numbers {
		places[k] = make([]uint32, len(some))
		for i, x := range some {
			word, bit := (x-lo)>>6, uint64(1)<<((x-lo)&63)
			places[k][i] = before[word] + uint32(bits.OnesCount64(set[word]&(bit-1)))
		}
	}
	return places
}

// firstRows returns the first limit rows in the order.
func firstRows(n, limit int, by []sortKey) []uint32 {
	compare := comparing(by)
	less := func(i, j uint32) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) }
	// A heap of the best rows so far, with the worst on top.
	heap := make([]uint32, 0, limit)
	down := func() {
		for at := 0; ; {
			child := 2*at + 1
			if child >= len(heap) {
				return
			}
			if child+1 < len(heap) && less(heap[child+1], heap[child]) > 0 {
				child++
			}
			if less(heap[child], heap[at]) <= 0 {
				return
			}
			heap[at], heap[child] = heap[child], heap[at]
			at = child
		}
	}
	for i := range uint32(n) {
		if len(heap) < limit {
			heap = append(heap, i)
			if len(heap) == limit {
				slices.SortFunc(heap, func(i, j uint32) int { return less(j, i) }) // descending: a heap
			}
			continue
		}
		if less(i, heap[0]) < 0 {
			heap[0] = i
			down()
		}
	}
	slices.SortFunc(heap, less)
	return heap
}

// sort sorts rows by the column, whose values have words, stably. NULLs go last in both directions; their values are
// unspecified.
func (k *sortKey) sort(rows []uint32) {
	if k.col.Nulls != 0 {
		var nulls []uint32
		n := 0
		for _, i := range rows {
			if k.col.Null(int(i)) {
				nulls = append(nulls, i)
			} else {
				rows[n] = i
				n++
			}
		}
		copy(rows[n:], nulls)
		rows = rows[:n]
	}
	sortByWord(rows, k.words())
}

// words returns the values as words with the same order, nil for kinds of more than 64 bits.
func (k *sortKey) words() []uint64 {
	switch t := k.col.Type; {
	case isSortable(t):
		return orderKeys(nil, k.col, k.desc)
	case t.Kind == column.Float16:
		words := make([]uint64, k.col.Len)
		for i, b := range view[uint16](k.col) {
			words[i] = uint64(orderedFloat16(b)) ^ flipIf(k.desc)
		}
		return words
	case t.Kind == column.Bool:
		words := make([]uint64, k.col.Len)
		orderUnsigned(words, view[uint8](k.col), flipIf(k.desc))
		return words
	}
	return nil
}

// compare returns a function that compares two rows by this column, NULL last.
func (k *sortKey) compare() func(i, j uint32) int {
	c := k.col
	var values func(i, j uint32) int
	if words := k.words(); words != nil {
		values = func(i, j uint32) int { return cmp.Compare(words[i], words[j]) }
	} else {
		sign := 1
		if k.desc {
			sign = -1
		}
		order := comparer(c.Type)
		values = func(i, j uint32) int { return sign * order(textAt(c, int(i)), textAt(c, int(j))) }
	}
	if c.Nulls == 0 {
		return values
	}
	return func(i, j uint32) int {
		switch a, b := c.Null(int(i)), c.Null(int(j)); {
		case a && b:
			return 0
		case a:
			return 1
		case b:
			return -1
		}
		return values(i, j)
	}
}

// sortByWord sorts rows by words[row], stably: a radix sort, a byte at a time from the lowest, that skips bytes in
// which all words are equal.
func sortByWord(rows []uint32, words []uint64) {
	type pair struct {
		word uint64
		row  uint32
	}
	from, to := make([]pair, len(rows)), make([]pair, len(rows))
	var counts [8][256]int
	for i, r := range rows {
		w := words[r]
		from[i] = pair{w, r}
		for b := range counts {
			counts[b][uint8(w>>(8*b))]++
		}
	}
	for b := range counts {
		at, used := 0, 0
		for d, c := range counts[b] {
			counts[b][d] = at
			at += c
			if c > 0 {
				used++
			}
		}
		if used < 2 {
			continue
		}
		for _, p := range from {
			d := uint8(p.word >> (8 * b))
			to[counts[b][d]] = p
			counts[b][d]++
		}
		from, to = to, from
	}
	for i, p := range from {
		rows[i] = p.row
	}
}
