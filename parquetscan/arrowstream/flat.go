// SPDX-License-Identifier: Apache-2.0

package arrowstream

import "encoding/binary"

// Flatbuffers: tables with optional slots, vectors and strings, at offsets within one buffer.

// flat reads a flatbuffer. A place outside of the buffer sets bad and reads as 0.
type flat struct {
	buf    []byte
	bad    bool
	budget int // bytes of tables and strings that may still be visited: parts may be shared
}

// A table is a table of a flatbuffer. The zero value has no slots.
type table struct {
	f          *flat
	at, vtable int
	slots      int // bytes of the vtable
}

// A place is the position of the value of a slot; 0 means that the table does not have it.
type place struct{ at int }

func (f *flat) has(at, n int) bool {
	if at < 0 || n < 0 || at > len(f.buf) || n > len(f.buf)-at {
		f.bad = true
	}
	return !f.bad
}

func (f *flat) uint32(at int) int {
	if !f.has(at, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f.buf[at:]))
}

func (f *flat) uint16(at int) int {
	if !f.has(at, 2) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(f.buf[at:]))
}

func (f *flat) int64(at int) int64 {
	if !f.has(at, 8) {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.buf[at:]))
}

// spend takes bytes from the budget.
func (f *flat) spend(n int) {
	if f.budget -= n; f.budget < 0 {
		f.bad = true
	}
}

func (f *flat) root() table { return f.tableAt(f.uint32(0)) }

func (f *flat) tableAt(at int) table {
	f.spend(8)
	if at == 0 {
		f.bad = true
	}
	vtable := at - int(int32(f.uint32(at)))
	slots := f.uint16(vtable)
	if f.bad || !f.has(vtable, slots) {
		return table{f: f}
	}
	return table{f, at, vtable, slots}
}

// slot returns the place of the value of slot number i.
func (t table) slot(i int) place {
	if entry := 4 + 2*i; t.at != 0 && entry < t.slots { // package flatbuffers reads half an entry, too
		if offset := t.f.uint16(t.vtable + entry); offset != 0 {
			return place{t.at + offset}
		}
	}
	return place{}
}

// indirect returns the position that the offset at a place refers to.
func (f *flat) indirect(p place) int { return p.at + f.uint32(p.at) }

func (f *flat) byteAt(p place) int {
	if p.at == 0 || !f.has(p.at, 1) {
		return 0
	}
	return int(f.buf[p.at])
}

func (f *flat) int64At(p place) int64 {
	if p.at == 0 {
		return 0
	}
	return f.int64(p.at)
}

// table returns the table at a place, one without slots if there is none.
func (f *flat) table(p place) table {
	if p.at == 0 {
		return table{f: f}
	}
	return f.tableAt(f.indirect(p))
}

// vector returns the position of the first element of a vector, and the number of elements of a size.
func (f *flat) vector(p place, size int) (first, n int) {
	if p.at == 0 {
		return 0, 0
	}
	at := f.indirect(p)
	n = f.uint32(at)
	if f.bad || n > len(f.buf)/size || !f.has(at+4, n*size) {
		f.bad = true
		return 0, 0
	}
	f.spend(n * size)
	return at + 4, n
}

// tables calls visit for each table of a vector.
func (f *flat) tables(p place, visit func(table)) {
	first, n := f.vector(p, 4)
	for i := 0; i < n && !f.bad; i++ {
		visit(f.tableAt(f.indirect(place{first + 4*i})))
	}
}

// text visits a string.
func (f *flat) text(p place) { f.vector(p, 1) }

func (f *flat) keyValues(p place) {
	f.tables(p, func(t table) {
		f.text(t.slot(0))
		f.text(t.slot(1))
	})
}

// maxDepth bounds the nesting of fields.
const maxDepth = 64

// Numbers of types in the union Type of Schema.fbs whose tables have a vector or a string.
const (
	typeTimestamp  = 10
	typeUnion      = 14
	typeBinaryView = 23
	typeTextView   = 24
)

// fields visits the fields of a schema or the children of a field, and returns the number of views among them. Views in
// the values of a dictionary are counted in views by its id.
func (f *flat) fields(p place, depth int, views map[int64]int) (n int) {
	if depth > maxDepth {
		f.bad = true
		return 0
	}
	f.tables(p, func(t table) {
		f.text(t.slot(0))
		own := 0
		switch kind, typ := f.byteAt(t.slot(2)), f.table(t.slot(3)); kind {
		case typeTimestamp:
			f.text(typ.slot(1))
		case typeUnion:
			f.vector(typ.slot(1), 4)
		case typeBinaryView, typeTextView:
			own = 1
		}
		own += f.fields(t.slot(5), depth+1, views)
		f.keyValues(t.slot(6))
		if t.slot(4).at == 0 {
			n += own
			return
		}
		dictionary := f.table(t.slot(4))
		f.table(dictionary.slot(1)) // the type of the codes
		id := f.int64At(dictionary.slot(0))
		views[id] = max(views[id], own)
	})
	return n
}
