// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// The k greatest or least values of each group, and the values of another column in their rows. Each group has a heap
// whose root is the worst of its k best: most rows are compared with the root alone.

// maxK is the maximum of k.
const maxK = 1 << 16

// TopK collects the k greatest values of a column of numbers, dates, times or timestamps, 1 <= k <= 1<<16. The result
// is a List of the column's type, the greatest value first. It has fewer than k values if the group has fewer, and is
// NULL if all values are NULL. Equal values count separately; NaN is greater than all numbers; -0 becomes 0. Memory: 16
// bytes per group, and 8 to 24 per value kept.
func TopK(name string, k int) Aggregate { return newTop("top_k", name, k, false) }

// BottomK collects the k least values, the least value first; see [TopK]. NaN comes last.
func BottomK(name string, k int) Aggregate { return newTop("bottom_k", name, k, true) }

// TopKOf collects the values of payload in the k rows with the greatest values of by, a column of numbers, dates, times
// or timestamps, 1 <= k <= 1<<16. The result is a List of the type of payload, any without children. The row with the
// greatest value comes first; among equal values, the earlier row. Elements are NULL where payload is NULL. NaN is
// greater than all numbers. Rows where by is NULL are skipped; the result is NULL if all are.
//
// Memory: 16 bytes per group, and 32 to 96 per row kept, in addition to payloads of more than 8 bytes.
func TopKOf(by, payload string, k int) Aggregate { return newTopOf("top_k", by, payload, k, false) }

// BottomKOf collects the values of payload in the k rows with the least values of by; see [TopKOf].
func BottomKOf(by, payload string, k int) Aggregate {
	return newTopOf("bottom_k", by, payload, k, true)
}

// cutPayload splits the first payload, which follows its length, off b.
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
		return fmt.Errorf("k is %d, want 1 to %d", k, maxK)
	}
	return nil
}

func newTop(fn, name string, k int, least bool) Aggregate {
	a := call(fn, []string{name}, k)
	a.err = checkK(k)
	return a.newWith(func(t column.Type) (Accumulator, error) {
		if !isSortable(t) {
			return nil, refused(0, wantSortable)
		}
		return &top{typ: t, k: k, least: least}, nil
	})
}

// newTopOf returns the aggregate of the payloads of the k rows with the greatest or least values of by. It requests row
// numbers, because the first of equal rows wins.
func newTopOf(fn, by, payload string, k int, least bool) Aggregate {
	a := call(fn, []string{by, payload}, k)
	a.RowNumbers, a.err = true, checkK(k)
	a.New = func(args []column.Type) (Accumulator, error) {
		if !isSortable(args[0]) {
			return nil, refused(0, wantSortable)
		}
		if args[1].Kind.IsNested() {
			return nil, refused(1, wantFlat)
		}
		return &topOf{typ: args[1], k: k, least: least}, nil
	}
	return a
}

// listOf returns the field of lists of a type.
func listOf(t column.Type) column.Field {
	return column.Field{
		Type:   column.Type{Kind: column.List},
		Fields: []column.Field{{Name: column.ElementName, Type: t, Nullable: true}},
	}
}

// top is TopK or BottomK: a heap of words of orderKeys by group, with the least word at the root.
type top struct {
	typ   column.Type
	k     int
	least bool
	heaps lists[uint64]
	floor []uint64 // the root if the heap is full, else 0
	keys  []uint64
	buf   textBuffer
	list  builder // elements of results
}

func (t *top) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, listOf(t.typ)
}

func (t *top) Resize(n int) { t.heaps.resize(n); t.floor = grown(t.floor, n) }
func (t *top) Reset()       { t.heaps.reset(); t.floor = t.floor[:0] }
func (t *top) Size() int64 {
	return t.heaps.size() + 8*int64(cap(t.floor)) + t.buf.size() + t.list.size()
}

// Add pushes the rows whose order key exceeds the least key of a full heap. Key 0 is pushed in any case, because floor
// is also 0 while the heap has room; push compares again.
func (t *top) Add(rows Rows) error {
	col, ids, floor := &rows.Args[0], rows.IDs, t.floor
	t.keys = orderKeys(t.keys, col, t.least)
	keys := t.keys
	if col.Nulls != 0 {
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
func (t *top) State(i, j int) ([]column.Column, error) {
	c, err := t.buf.column(i, j, func(dst []byte, id uint32) []byte {
		for _, k := range t.heaps.list(id) {
			dst = binary.LittleEndian.AppendUint64(dst, k)
		}
		return dst
	})
	return []column.Column{c}, err
}

// Merge pushes the order keys of the states.
func (t *top) Merge(ids []uint32, state []column.Column) error {
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		if len(s)%8 != 0 {
			return fmt.Errorf("groupby: malformed state of top values: %d bytes are not a multiple of 8", len(s))
		}
		for at := 0; at < len(s); at += 8 {
			if k := le64(s, at); k > t.floor[id] || k == 0 {
				t.push(id, k)
			}
		}
	}
	return nil
}

// Result returns lists of values, the best first. Empty groups are NULL.
func (t *top) Result(i, j int) (column.Column, error) {
	flip := flipIf(t.least)
	if isSigned(storedAs(t.typ)) {
		flip ^= signBit
	}
	valid, offsets := make([]byte, (j-i+7)/8), make([]int32, 1, j-i+1)
	n := 0
	for id := i; id < j; id++ {
		n += len(t.heaps.list(uint32(id)))
	}
	if n > maxText {
		return column.Column{}, tooLarge(n)
	}
	t.list.begin(t.typ)
	to := t.list.extend(n)
	for id := i; id < j; id++ {
		h := t.heaps.list(uint32(id))
		if len(h) > 0 {
			valid[(id-i)>>3] |= 1 << ((id - i) & 7)
		}
		// Descending order would make it a heap of the opposite order. Sort ascending, which keeps the heap valid, and
		// read backwards.
		slices.Sort(h)
		for _, k := range slices.Backward(h) {
			t.put(to, t.list.n, k^flip)
			t.list.n++
		}
		offsets = append(offsets, int32(t.list.n))
	}
	return column.Lists("", offsets, t.list.column()).WithValidity(valid), nil
}

// put writes the value of a word to element i. The caller has xored the word with its flip, and with the sign bit for
// signed kinds.
func (t *top) put(to unsafe.Pointer, i int, word uint64) {
	switch kind := t.typ.Kind; {
	case kind == column.Float32:
		*(*float32)(unsafe.Add(to, 4*i)) = float32(orderedFloat(word))
	case kind == column.Float64:
		*(*float64)(unsafe.Add(to, 8*i)) = orderedFloat(word)
	case t.list.width == 1:
		*(*uint8)(unsafe.Add(to, i)) = uint8(word)
	case t.list.width == 2:
		*(*uint16)(unsafe.Add(to, 2*i)) = uint16(word)
	case t.list.width == 4:
		*(*uint32)(unsafe.Add(to, 4*i)) = uint32(word)
	default:
		*(*uint64)(unsafe.Add(to, 8*i)) = word
	}
}

// topOf is TopKOf or BottomKOf: a heap of rows by group.
type topOf struct {
	typ   column.Type
	k     int
	least bool
	heaps lists[topRow]
	list  builder // elements of results
	arena []byte  // payloads that do not fit into a word, each after its length as a uvarint
	lost  int     // unused bytes in arena
	keys  []uint64
	buf   textBuffer
}

// A topRow is one of the best rows. word is its payload, or the offset of the payload in arena.
type topRow struct {
	orderedRow
	word uint64
	null bool
}

func (t *topOf) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, listOf(t.typ)
}

func (t *topOf) Resize(n int) { t.heaps.resize(n) }
func (t *topOf) Reset()       { t.heaps.reset(); t.arena, t.lost = t.arena[:0], 0 }
func (t *topOf) Size() int64 {
	return t.heaps.size() + int64(cap(t.arena)) + t.buf.size() + t.list.size()
}

// inArena reports whether payloads may be too long for a word.
func (t *topOf) inArena() bool { return keyWidth(t.typ) == 0 || keyWidth(t.typ) == 16 }

// Add pushes the rows that are among the best of their groups so far. Payloads of other rows are not read.
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
			if t.inArena() {
				r.word = t.store(textAt(payload, i))
			} else {
				r.word = wordOf(payload, i)
			}
		}
		t.push(id, r)
	})
	return nil
}

// store appends a payload to the arena and returns its offset.
func (t *topOf) store(s string) uint64 {
	if t.lost > 1<<16 && t.lost > len(t.arena)/2 {
		t.compact()
	}
	at := len(t.arena)
	t.arena = appendText(t.arena, s)
	return uint64(at)
}

// payload returns the payload at an offset of the arena.
func (t *topOf) payload(at uint64) []byte {
	n, w := binary.Uvarint(t.arena[at:])
	return t.arena[at+uint64(w):][:n]
}

// compact rewrites the arena without the payloads that no row refers to.
func (t *topOf) compact() {
	arena := make([]byte, 0, len(t.arena)-t.lost/2)
	for id := range t.heaps.of {
		h := t.heaps.list(uint32(id))
		for i := range h {
			if r := &h[i]; !r.null {
				b := t.payload(r.word)
				r.word = uint64(len(arena))
				arena = appendText(arena, stringOf(b))
			}
		}
	}
	t.arena, t.lost = arena, 0
}

// wanted reports whether a row is among the best of its group so far.
func (t *topOf) wanted(id uint32, r topRow) bool {
	h := t.heaps.list(id)
	return len(h) < t.k || h[0].less(r.orderedRow)
}

// push adds a row for which wanted returned true.
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

// appendPayload appends the payload of a row: 0 if it is NULL, otherwise its length plus 1 as a uvarint, and its bytes.
func (t *topOf) appendPayload(dst []byte, r *topRow) []byte {
	switch {
	case r.null:
		return append(dst, 0)
	case t.inArena():
		b := t.payload(r.word)
		return append(binary.AppendUvarint(dst, uint64(len(b))+1), b...)
	}
	w := t.typ.ValueWidth()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], r.word)
	return append(append(dst, byte(w)+1), b[:w]...)
}

// The state of a group is its rows in any order. Each row is the word to order by and the number, 8 bytes each,
// little-endian, then the payload as appendPayload writes it.
func (t *topOf) State(i, j int) ([]column.Column, error) {
	c, err := t.buf.column(i, j, func(dst []byte, id uint32) []byte {
		h := t.heaps.list(id)
		for i := range h {
			dst = binary.LittleEndian.AppendUint64(dst, h[i].key)
			dst = binary.LittleEndian.AppendUint64(dst, uint64(h[i].number))
			dst = t.appendPayload(dst, &h[i])
		}
		return dst
	})
	return []column.Column{c}, err
}

var errTopState = errors.New("groupby: malformed state of top rows")

// Merge pushes the rows of the states: order key, row number, and payload.
func (t *topOf) Merge(ids []uint32, state []column.Column) error {
	for i, id := range ids {
		if state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		for b := unsafe.Slice(unsafe.StringData(s), len(s)); len(b) > 0; {
			if len(b) < 17 {
				return errTopState
			}
			r := topRow{orderedRow: orderedRow{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}}
			p, null, rest, ok := cutPayload(b[16:])
			if !ok || !null && !t.typ.Kind.IsText() && len(p) != t.typ.ValueWidth() {
				return errTopState
			}
			b, r.null = rest, null
			if id == 0 || !t.wanted(id, r) {
				continue
			}
			if !null && t.inArena() {
				r.word = t.store(stringOf(p))
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

// Result returns lists of payloads, the payload of the best row first. Empty groups are NULL.
func (t *topOf) Result(i, j int) (column.Column, error) {
	t.list.begin(t.typ)
	valid, offsets := make([]byte, (j-i+7)/8), make([]int32, 1, j-i+1)
	for id := i; id < j; id++ {
		h := t.heaps.list(uint32(id))
		if len(h) > 0 {
			valid[(id-i)>>3] |= 1 << ((id - i) & 7)
		}
		slices.SortFunc(h, func(a, b topRow) int { // ascending order is a valid heap
			if a.less(b.orderedRow) {
				return -1
			}
			return 1
		})
		for k := len(h) - 1; k >= 0; k-- {
			t.appendElement(&h[k])
		}
		if err := t.list.check(); err != nil {
			return column.Column{}, err
		}
		if t.list.n > maxText {
			return column.Column{}, tooLarge(t.list.n)
		}
		offsets = append(offsets, int32(t.list.n))
	}
	return column.Lists("", offsets, t.list.column()).WithValidity(valid), nil
}

// appendElement appends the payload of a row to the elements of results.
func (t *topOf) appendElement(r *topRow) {
	var short [8]byte
	b := short[:min(8, t.list.width)]
	switch {
	case r.null && t.list.isText():
		b = nil
	case r.null:
		b = make([]byte, t.list.width)
	case t.inArena():
		b = t.payload(r.word)
	default:
		putWord(b, r.word)
	}
	c := column.Column{Type: t.typ, Len: 1, Values: b}
	if t.list.isText() {
		c.Offsets = []int32{0, int32(len(b))}
	}
	if r.null {
		c.Nulls, c.Validity = 1, []byte{0}
	}
	t.list.append(&c, 0, 1)
}

// putWord writes the low bytes of a word to b, which has 1, 2, 4 or 8: the inverse of wordOf.
func putWord(b []byte, w uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(w)
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(w))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(w))
	case 8:
		binary.NativeEndian.PutUint64(b, w)
	}
}
