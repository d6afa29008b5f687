// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// This file orders results. The rows of a result are sorted by each column of the order in turn, the least important one first, by sorts that are
// stable; or, if only a few are wanted, those few are picked with a heap.

// A sortKey is a column to order by.
type sortKey struct {
	col  *Column
	desc bool
}

// orderOf returns the rows of keys and values in the order, at most limit if that is not 0. nil stands for all rows as they are.
func (o Order) orderOf(n, limit int, keys, values []Column, numbers []int64) []uint32 {
	var by []sortKey
	var numbered Column
	switch o.by {
	case byNothing:
		return nil
	case byAppearance:
		if slices.IsSorted(numbers) {
			return nil
		}
		if rows := rank(numbers); rows != nil {
			return rows
		}
		numbered = Values(numbers)
		by = append(by, sortKey{col: &numbered})
	case byAggregate:
		by = append(by, sortKey{&values[o.col], o.desc})
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
	for _, k := range slices.Backward(by) {
		k.sort(rows)
	}
	return rows
}

// rank returns the rows in the order of their numbers, or nil if placesOf can not tell it.
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

// placesOf returns the place of each number in the order of all, which are distinct, without comparing them: it is how many bits are set below
// the number's in a map of all numbers. It returns nil if there are equal ones, or if they are too far apart for such a map.
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
		return nil // some are equal: workers were given batches with the same Start
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

// firstRows returns the first rows in the order.
func firstRows(n, limit int, by []sortKey) []uint32 {
	var compare []func(i, j uint32) int
	for _, k := range by {
		compare = append(compare, k.compare())
	}
	less := func(i, j uint32) int {
		for _, c := range compare {
			if r := c(i, j); r != 0 {
				return r
			}
		}
		return cmp.Compare(i, j)
	}
	// A heap of the best so far, the worst of them on top.
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

// sort sorts rows by the column, keeping the order of those that are equal. NULLs, whose values may be anything, go last in both directions.
func (k *sortKey) sort(rows []uint32) {
	if k.col.validity != nil {
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
	if words := k.words(); words != nil {
		sortByWord(rows, words)
	} else {
		slices.SortStableFunc(rows, k.compare())
	}
}

// words returns the values as words that compare as they do, or nil if the type is none of at most 64 bits.
func (k *sortKey) words() []uint64 {
	switch t := k.col.typ; {
	case t.isNumber():
		return orderKeys(nil, k.col, k.desc)
	case t == Bool:
		words := make([]uint64, k.col.n)
		orderUnsigned(words, view[uint8](k.col), flipIf(k.desc))
		return words
	}
	return nil
}

// compare returns the order of two rows by this column, NULL last.
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
		if c.typ == String {
			values = func(i, j uint32) int { return sign * cmp.Compare(c.text(int(i)), c.text(int(j))) }
		} else {
			w := c.typ.width()
			at := func(i uint32) []byte { return unsafe.Slice((*byte)(unsafe.Add(c.data, int(i)*w)), w) }
			values = func(i, j uint32) int { return sign * bytes.Compare(at(i), at(j)) }
		}
	}
	if c.validity == nil {
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

// sortByWord sorts rows by words[row], keeping the order of equal ones: a radix sort, a byte at a time from the lowest, that leaves out bytes in
// which all words are alike.
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
