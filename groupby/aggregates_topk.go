// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// This file holds the k greatest or least values of each group, and the values of another column in the rows that have them. Each group has a
// heap whose root is the worst of its k best: most rows are compared with that alone.

// maxK is the greatest k.
const maxK = 1 << 16

// TopK is the k greatest values of a column of numbers, the greatest one first; NULL if all values are. 1 <= k <= 1<<16. Equal values count
// each; -0 comes out as 0.
//
// Of float32 or float64 the result is Vector(elem, k): NaN, which is greater than all numbers, comes first, and NaN fills up what is left if there
// are fewer than k values. Of integers it is a String: 8 bytes per value, little-endian, int64 for signed and uint64 for unsigned ones, at most k of
// them; see [TopKInts].
//
// 16 bytes per group, and 8 to 24 per value kept.
func TopK(value, k int) Aggregate { return newTop("top_k", value, k, false) }

// BottomK is the k least values, the least one first; see [TopK]. NaN comes last.
func BottomK(value, k int) Aggregate { return newTop("bottom_k", value, k, true) }

// TopKInts returns the values of one row of the result of [TopK] or [BottomK] of integers, nil if it is NULL. Values of a column of Uint64 are
// to be converted to uint64.
func TopKInts(result Column, row int) []int64 {
	if result.typ != String || result.Null(row) {
		return nil
	}
	s := result.text(row)
	v := make([]int64, len(s)/8)
	for i := range v {
		v[i] = int64(le64(s, 8*i))
	}
	return v
}

// TopKOf is the values of payload, a column of any type but vectors, in the k rows with the greatest values of by, a column of numbers: the
// greatest one first, of equal ones the row that came first. 1 <= k <= 1<<16. NaN is greater than all numbers; rows where by is NULL are left out.
// NULL if all are.
//
// The result is a String of records, one per row: a uvarint that is 0 if the payload is NULL, otherwise its length in bytes plus 1; and
// the payload, strings as they are, ids as their 16 bytes, numbers and booleans little-endian in their width. See [TopKRecords].
//
// 16 bytes per group, and 32 to 96 per row kept, besides strings and ids.
func TopKOf(by, payload, k int) Aggregate { return newTopOf("top_k", by, payload, k, false) }

// BottomKOf is the values of payload in the k rows with the least values of by; see [TopKOf].
func BottomKOf(by, payload, k int) Aggregate { return newTopOf("bottom_k", by, payload, k, true) }

// TopKRecords returns the payloads of one row of the result of [TopKOf] or [BottomKOf], nil for those that are NULL. It returns nil if the
// row is NULL or malformed. The payloads are copies.
func TopKRecords(result Column, row int) [][]byte {
	if result.typ != String || result.Null(row) {
		return nil
	}
	records := [][]byte{}
	for b := []byte(result.text(row)); len(b) > 0; {
		p, null, rest, ok := cutPayload(b)
		if !ok {
			return nil
		}
		if null {
			p = nil
		}
		records, b = append(records, p), rest
	}
	return records
}

// cutPayload cuts the first payload, with its length before it, from b.
func cutPayload(b []byte) (payload []byte, null bool, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 {
		return nil, false, nil, false
	}
	b = b[w:]
	if n == 0 {
		return nil, true, b, true
	}
	if n-1 > uint64(len(b)) {
		return nil, false, nil, false
	}
	return b[: n-1 : n-1], false, b[n-1:], true
}

func checkK(k int) error {
	if k < 1 || k > maxK {
		return fmt.Errorf("k is %d, not 1 to %d", k, maxK)
	}
	return nil
}

func newTop(name string, value, k int, least bool) Aggregate {
	return Aggregate{
		Name: name, Args: []int{value}, reference: referenceTop(k, least),
		New: func(args []Type) (Accumulator, error) {
			if !args[0].isNumber() {
				return nil, badArgs(name, args, "numbers")
			}
			return &top{typ: args[0], k: k, least: least}, checkK(k)
		},
	}
}

func newTopOf(name string, by, payload, k int, least bool) Aggregate {
	return Aggregate{
		Name: name, Args: []int{by, payload}, RowNumbers: true, reference: referenceTopOf(k, least),
		New: func(args []Type) (Accumulator, error) {
			if !args[0].isNumber() || args[1].Dim() > 0 {
				return nil, badArgs(name, args, "numbers to order by, and a payload that is no vector")
			}
			return &topOf{typ: args[1], k: k, least: least}, checkK(k)
		},
	}
}

// top is TopK or BottomK: by group a heap of words of orderKeys, the least at its root.
type top struct {
	typ   Type
	k     int
	least bool
	heaps lists[uint64]
	floor []uint64 // the root if the heap is full, otherwise 0
	keys  []uint64
	buf   textBuffer
	out32 []float32
	out64 []float64
}

func (t *top) Types() ([]Type, Type) {
	if t.typ.isFloat() {
		return []Type{String}, Vector(t.typ, t.k)
	}
	return []Type{String}, String
}

func (t *top) Resize(n int) { t.heaps.resize(n); t.floor = grown(t.floor, n) }
func (t *top) Reset()       { t.heaps.reset(); t.floor = t.floor[:0] }
func (t *top) Size() int64  { return t.heaps.size() + 8*int64(cap(t.floor)) + t.buf.size() }

func (t *top) Add(rows Rows) error {
	col, ids, floor := &rows.Args[0], rows.IDs, t.floor
	t.keys = orderKeys(t.keys, col, t.least)
	keys := t.keys
	if col.validity != nil {
		forValid(col, func(i int) {
			if k, id := keys[i], ids[i]; k > floor[id] || k == 0 {
				t.push(id, k)
			}
		})
		return nil
	}
	for i, id := range ids {
		if k := keys[i]; k > floor[id] || k == 0 {
			t.push(id, k)
		}
	}
	return nil
}

// push adds a word to the heap of a group if it is among the k greatest.
func (t *top) push(id uint32, key uint64) {
	if id == 0 {
		return
	}
	h := t.heaps.list(id)
	if len(h) < t.k {
		t.heaps.push(id, key)
		h = t.heaps.list(id)
		i := len(h) - 1
		for ; i > 0 && key < h[(i-1)/2]; i = (i - 1) / 2 {
			h[i] = h[(i-1)/2]
		}
		h[i] = key
	} else if key > h[0] {
		i := 0
		for {
			c := 2*i + 1
			if c+1 < len(h) && h[c+1] < h[c] {
				c++
			}
			if c >= len(h) || key <= h[c] {
				break
			}
			h[i] = h[c]
			i = c
		}
		h[i] = key
	}
	if len(h) == t.k {
		t.floor[id] = h[0]
	}
}

// The state of a group is its words, 8 bytes each, little-endian, in any order.
func (t *top) State() ([]Column, error) {
	return []Column{t.buf.column(len(t.floor), func(dst []byte, id uint32) []byte {
		for _, k := range t.heaps.list(id) {
			dst = binary.LittleEndian.AppendUint64(dst, k)
		}
		return dst
	})}, nil
}

func (t *top) Merge(ids []uint32, state []Column) error {
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		s := state[0].text(i)
		if len(s)%8 != 0 {
			return fmt.Errorf("groupby: state of top values of %d bytes", len(s))
		}
		for at := 0; at < len(s); at += 8 {
			if k := le64(s, at); k > t.floor[id] || k == 0 {
				t.push(id, k)
			}
		}
	}
	return nil
}

func (t *top) Result() (Column, error) {
	flip := uint64(0)
	if t.least {
		flip = ^flip
	}
	n := len(t.floor)
	valid := make([]byte, (n+7)/8)
	for id := range t.floor {
		h := t.heaps.list(uint32(id))
		if len(h) > 0 {
			valid[id>>3] |= 1 << (id & 7)
		}
		// Descending order makes it a heap of another kind; so sort ascending, which leaves it one, and read it backwards.
		slices.Sort(h)
	}
	switch t.typ {
	case Float32:
		t.out32 = grown(t.out32[:0], n*t.k)
		topFloats(t, t.out32, flip)
		return Column{typ: Vector(t.typ, t.k), n: n, data: unsafe.Pointer(unsafe.SliceData(t.out32)), validity: valid}, nil
	case Float64:
		t.out64 = grown(t.out64[:0], n*t.k)
		topFloats(t, t.out64, flip)
		return Column{typ: Vector(t.typ, t.k), n: n, data: unsafe.Pointer(unsafe.SliceData(t.out64)), validity: valid}, nil
	}
	if t.typ.isSigned() {
		flip ^= signBit
	}
	return t.buf.column(n, func(dst []byte, id uint32) []byte {
		for _, k := range slices.Backward(t.heaps.list(id)) {
			dst = binary.LittleEndian.AppendUint64(dst, k^flip)
		}
		return dst
	}).WithValidity(valid), nil
}

func topFloats[T float](t *top, out []T, flip uint64) {
	nan := T(math.NaN())
	for id := range t.floor {
		h, row := t.heaps.list(uint32(id)), out[id*t.k:(id+1)*t.k]
		for j := range row {
			if j < len(h) {
				row[j] = T(orderedFloat(h[len(h)-1-j] ^ flip))
			} else {
				row[j] = nan
			}
		}
	}
}

// topOf is TopKOf or BottomKOf: by group a heap of rows.
type topOf struct {
	typ   Type
	k     int
	least bool
	heaps lists[topRow]
	arena []byte // strings and ids, each after its length as a uvarint
	lost  int    // bytes of it that belong to no row
	keys  []uint64
	buf   textBuffer
}

// A topRow is a row among the best. word is its payload, or where that lies in arena.
type topRow struct {
	orderedRow
	word uint64
	null bool
}

func (t *topOf) Types() ([]Type, Type) { return []Type{String}, String }
func (t *topOf) Resize(n int)          { t.heaps.resize(n) }
func (t *topOf) Reset()                { t.heaps.reset(); t.arena, t.lost = t.arena[:0], 0 }
func (t *topOf) Size() int64           { return t.heaps.size() + int64(cap(t.arena)) + t.buf.size() }

// inArena tells whether payloads are too long for a word.
func (t *topOf) inArena() bool { return t.typ == String || t.typ == ID }

func (t *topOf) Add(rows Rows) error {
	by, payload, ids := &rows.Args[0], &rows.Args[1], rows.IDs
	t.keys = orderKeys(t.keys, by, t.least)
	keys := t.keys
	forValid(by, func(i int) {
		id := ids[i]
		if id == 0 {
			return
		}
		r := topRow{orderedRow: orderedRow{keys[i], rows.Number(i)}}
		if !t.wanted(id, r) {
			return
		}
		if r.null = payload.Null(i); !r.null {
			switch t.typ {
			case String:
				r.word = t.store(payload.text(i))
			case ID:
				x := &view[[16]byte](payload)[i]
				r.word = t.store(unsafe.String(&x[0], 16))
			default:
				r.word = rawWord(payload, i)
			}
		}
		t.push(id, r)
	})
	return nil
}

// rawWord returns the bits of a value of at most 64 bits.
func rawWord(col *Column, i int) uint64 {
	switch col.typ.width() {
	case 1:
		return uint64(view[uint8](col)[i])
	case 2:
		return uint64(view[uint16](col)[i])
	case 4:
		return uint64(view[uint32](col)[i])
	}
	return view[uint64](col)[i]
}

// store appends a payload to the arena and returns where it is.
func (t *topOf) store(s string) uint64 {
	if t.lost > 1<<16 && t.lost > len(t.arena)/2 {
		t.compact()
	}
	at := len(t.arena)
	t.arena = appendText(t.arena, s)
	return uint64(at)
}

// payload returns what is stored at a place of the arena.
func (t *topOf) payload(at uint64) []byte {
	n, w := binary.Uvarint(t.arena[at:])
	return t.arena[at+uint64(w):][:n]
}

func (t *topOf) compact() {
	arena := make([]byte, 0, len(t.arena)-t.lost/2)
	for id := range t.heaps.of {
		h := t.heaps.list(uint32(id))
		for i := range h {
			if r := &h[i]; !r.null {
				b := t.payload(r.word)
				r.word = uint64(len(arena))
				arena = appendText(arena, unsafe.String(unsafe.SliceData(b), len(b)))
			}
		}
	}
	t.arena, t.lost = arena, 0
}

// wanted tells whether a row is among the best of its group so far.
func (t *topOf) wanted(id uint32, r topRow) bool {
	h := t.heaps.list(id)
	return len(h) < t.k || h[0].less(r.orderedRow)
}

// push adds a row that is wanted.
func (t *topOf) push(id uint32, r topRow) {
	h := t.heaps.list(id)
	if len(h) < t.k {
		t.heaps.push(id, r)
		h = t.heaps.list(id)
		i := len(h) - 1
		for ; i > 0 && r.less(h[(i-1)/2].orderedRow); i = (i - 1) / 2 {
			h[i] = h[(i-1)/2]
		}
		h[i] = r
		return
	}
	if t.inArena() && !h[0].null {
		t.lost += len(t.payload(h[0].word)) + 1
	}
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1].less(h[c].orderedRow) {
			c++
		}
		if c >= len(h) || !h[c].less(r.orderedRow) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = r
}

// appendPayload appends the payload of a row as the result has it.
func (t *topOf) appendPayload(dst []byte, r *topRow) []byte {
	switch {
	case r.null:
		return append(dst, 0)
	case t.inArena():
		b := t.payload(r.word)
		return append(binary.AppendUvarint(dst, uint64(len(b))+1), b...)
	}
	w := t.typ.width()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], r.word)
	return append(append(dst, byte(w)+1), b[:w]...)
}

// The state of a group is its rows in any order: the word to order by and the number, 8 bytes each, little-endian, and the payload as in
// the result.
func (t *topOf) State() ([]Column, error) {
	return []Column{t.buf.column(len(t.heaps.of), func(dst []byte, id uint32) []byte {
		h := t.heaps.list(id)
		for i := range h {
			dst = binary.LittleEndian.AppendUint64(dst, h[i].key)
			dst = binary.LittleEndian.AppendUint64(dst, uint64(h[i].number))
			dst = t.appendPayload(dst, &h[i])
		}
		return dst
	})}, nil
}

var errTopState = errors.New("groupby: malformed state of top rows")

func (t *topOf) Merge(ids []uint32, state []Column) error {
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		s := state[0].text(i)
		for b := unsafe.Slice(unsafe.StringData(s), len(s)); len(b) > 0; {
			if len(b) < 17 {
				return errTopState
			}
			r := topRow{orderedRow: orderedRow{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}}
			p, null, rest, ok := cutPayload(b[16:])
			if !ok || !null && t.typ != String && len(p) != t.typ.width() {
				return errTopState
			}
			b, r.null = rest, null
			if id == 0 || !t.wanted(id, r) {
				continue
			}
			if !null && t.inArena() {
				r.word = t.store(unsafe.String(unsafe.SliceData(p), len(p)))
			} else {
				var w [8]byte
				copy(w[:], p)
				r.word = binary.LittleEndian.Uint64(w[:])
			}
			t.push(id, r)
		}
	}
	return nil
}

func (t *topOf) Result() (Column, error) {
	n := len(t.heaps.of)
	valid := make([]byte, (n+7)/8)
	return t.buf.column(n, func(dst []byte, id uint32) []byte {
		h := t.heaps.list(id)
		if len(h) > 0 {
			valid[id>>3] |= 1 << (id & 7)
		}
		slices.SortFunc(h, func(a, b topRow) int { // ascending order is a heap too
			if a.less(b.orderedRow) {
				return -1
			}
			return 1
		})
		for i := len(h) - 1; i >= 0; i-- {
			dst = t.appendPayload(dst, &h[i])
		}
		return dst
	}).WithValidity(valid), nil
}
