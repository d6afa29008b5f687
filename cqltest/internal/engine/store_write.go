// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Writes to a store.

type opKind uint8

const (
	opCell          opKind = iota // sets cell, which may be a tombstone
	opClear                       // deletes the elements up to cell.ts
	opElement                     // sets path to cell
	opCounter                     // adds delta
	opAppend                      // appends cells to a list, one per op
	opPrepend                     // prepends cells to a list; the ops of one assignment are in the order of the list
	opListSet                     // sets index to cell
	opListDelete                  // deletes index
	opListDiscard                 // deletes values from a list
	opElementDelete               // deletes path; cell is a tombstone
)

// op is one change of one column.
type op struct {
	col    *column
	kind   opKind
	cell   cell
	path   []byte
	index  int
	delta  int64
	values [][]byte
}

// rowWrite is the effect of a statement on one row, or on the static row.
type rowWrite struct {
	clustering [][]byte
	static     bool
	marker     *cell // set by INSERT
	deletion   int64 // noTimestamp means none
	ops        []op
}

// mutation is the effect of a statement on one partition.
type mutation struct {
	t        *table
	key      []byte
	parts    [][]byte
	deletion int64 // noTimestamp means none
	ranges   []rangeTombstone
	rows     []rowWrite
	packed   *singleRow // of an INSERT: stands for rows; nil means none
	// byService means that the mutation deletes an expired row, which the log of changes has as an operation of its own.
	byService bool
}

// size is the approximate size of the mutation on the wire, for the limits of batches.
func (m *mutation) size() int {
	if m.packed != nil {
		return m.packed.size()
	}
	n := len(m.key) + 32
	for i := range m.rows {
		for _, c := range m.rows[i].clustering {
			n += len(c)
		}
		n += 16
		for j := range m.rows[i].ops {
			n += len(m.rows[i].ops[j].cell.value) + len(m.rows[i].ops[j].path) + 10
		}
	}
	return n
}

// resolve turns operations that depend on the elements of a list into operations on elements: those that the list has
// after the operations before. All mutations of a batch are resolved before any is written, because an index out of
// range fails the whole batch. Callers hold the lock.
func (m *mutation) resolve(e *Engine, now int64) error {
	for i := range m.rows {
		if w := &m.rows[i]; !w.static { // static columns follow, as the errors show
			if err := m.resolveRow(e, w, now); err != nil {
				return err
			}
		}
	}
	for i := range m.rows {
		if w := &m.rows[i]; w.static {
			if err := m.resolveRow(e, w, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolveRow is resolve for one row.
func (m *mutation) resolveRow(e *Engine, w *rowWrite, now int64) error {
	var p *partition
	var out []op // nil before the first operation that depends on elements
	for j := range w.ops {
		o := &w.ops[j]
		if o.kind != opListSet && o.kind != opListDelete && o.kind != opListDiscard {
			if out != nil {
				out = append(out, e.placed(*o))
			}
			continue
		}
		if out == nil {
			p, out = m.t.store.find(m.key), make([]op, 0, len(w.ops))
			for _, before := range w.ops[:j] {
				out = append(out, e.placed(before))
			}
		}
		found, err := m.listElements(e, p, w, out, o, now)
		if err != nil {
			return err
		}
		for _, l := range found {
			out = append(out, op{col: o.col, kind: opElement, path: l.path, cell: o.cell})
		}
	}
	if out != nil {
		w.ops = out
	}
	return nil
}

// placed returns an op that adds an element to a list with the path of the element, and other ops as they are.
func (e *Engine) placed(o op) op {
	switch o.kind {
	case opAppend:
		o.kind, o.path = opElement, listPath(e.sequence.Add(1))
	case opPrepend:
		o.kind, o.path = opElement, listPath(-e.sequence.Add(1))
	}
	return o
}

// listElements returns the elements that o selects of a list after the operations before.
func (m *mutation) listElements(
	e *Engine, p *partition, w *rowWrite, before []op, o *op, now int64,
) ([]element, error) {
	list := newRow(w.clustering)
	if p != nil {
		r := p.static
		if !w.static {
			r = p.row(m.t, w.clustering)
		}
		if d := r.data(o.col.id); d != nil {
			list.columns = []columnData{*d}
			list.columns[0].owned = false
		}
	}
	for i := range before {
		if before[i].col == o.col {
			list.apply(e, &before[i])
		}
	}
	var live []element
	if d := list.data(o.col.id); d != nil {
		live = d.live(now)
	}
	if o.kind == opListDiscard {
		return slices.DeleteFunc(live, func(e element) bool {
			return !slices.ContainsFunc(o.values, func(v []byte) bool { return bytes.Equal(v, e.value) })
		}), nil
	}
	if len(live) == 0 {
		if o.kind == opListDelete {
			return nil, invalid("Attempted to delete an element from a list which is null")
		}
		return nil, invalid("Attempted to set an element on a list which is null")
	}
	if o.index < 0 || o.index >= len(live) {
		return nil, invalid("List index %d out of bound, list has size %d", o.index, len(live))
	}
	return live[o.index : o.index+1], nil
}

// live returns a copy of the visible elements.
func (d *columnData) live(now int64) []element {
	var out []element
	for i := range d.elements {
		if d.elements[i].live(now) {
			out = append(out, d.elements[i])
		}
	}
	return out
}

// apply writes m, which has been resolved. Callers hold the lock for writing.
func (m *mutation) apply(e *Engine) {
	if m.packed != nil {
		m.applyPacked(e)
		return
	}
	p := m.t.store.partition(m.key, m.parts)
	if m.deletion != noTimestamp {
		p.delete(m.deletion)
	}
	for _, r := range m.ranges {
		p.deleteRange(m.t, r)
	}
	for i := range m.rows {
		m.applyRow(e, p, &m.rows[i])
	}
}

// applyRow replaces a row by a new one with the write: readers may hold the old one. Deletions apply first, and cells
// at or before their timestamp are dropped.
func (m *mutation) applyRow(e *Engine, p *partition, w *rowWrite) {
	old := p.static
	if !w.static {
		old = p.row(m.t, w.clustering).unpacked()
	}
	r := newRow(w.clustering)
	if old == nil {
		r.columns = make([]columnData, 0, min(len(w.ops), len(m.t.rest)))
	} else {
		*r = *old
		r.columns = slices.Clone(old.columns)
		for i := range r.columns {
			r.columns[i].owned = false
		}
	}
	shadow := max(p.shadow(m.t, w.clustering, w.static), r.deletion)
	if w.deletion > shadow {
		shadow = w.deletion
		r = r.shadowed(shadow)
		r.deletion = shadow
	}
	if w.marker != nil && w.marker.ts > shadow && (r.marker.ts == noTimestamp || w.marker.supersedes(&r.marker)) {
		r.marker = *w.marker
	}
	for i := range w.ops {
		if o := &w.ops[i]; o.cell.ts > shadow {
			r.apply(e, o)
		}
	}
	if old != nil || !r.empty() {
		p.put(m.t, r, w.static)
	}
}

// own returns the data of a column in a row that is being built; its elements are still shared with the old row.
func (r *row) own(c *column) *columnData {
	i, ok := r.find(c.id)
	if !ok {
		d := columnData{
			id: c.id, complex: c.typ.multiCell(), deletion: noTimestamp,
			cell: cell{ts: noTimestamp, deleted: true},
		}
		r.columns = slices.Insert(r.columns, i, d)
	}
	return &r.columns[i]
}

// apply applies an op to a row that is being built. Of two writes of a cell the later wins (cell.supersedes).
func (r *row) apply(e *Engine, o *op) {
	d := r.own(o.col)
	switch o.kind {
	case opCell:
		if d.cell.ts == noTimestamp || o.cell.supersedes(&d.cell) {
			d.cell = o.cell
		}
	case opCounter:
		total := o.delta
		switch {
		case !d.cell.deleted:
			total += readInt(d.cell.value)
		case d.cell.ts != noTimestamp:
			return // a deleted counter stays deleted, whatever the timestamps
		}
		d.cell = cell{value: int64Bytes(total), ts: max(d.cell.ts, o.cell.ts)}
	case opClear:
		if o.cell.ts > d.deletion {
			*d = d.shadowed(o.cell.ts)
			d.deletion = o.cell.ts
		}
	case opElement, opElementDelete:
		d.put(o.col.typ, element{o.path, o.cell})
	case opAppend, opPrepend:
		d.put(o.col.typ, element{e.placed(*o).path, o.cell})
	}
}

// listPath returns the path of an element of a list. Numbers of appended elements increase, numbers of prepended
// elements decrease.
func listPath(n int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(n)^1<<63)
}

// put merges an element.
func (d *columnData) put(t *Type, e element) {
	if e.ts <= d.deletion {
		return
	}
	i, ok := slices.BinarySearchFunc(d.elements, e.path, func(o element, path []byte) int {
		return t.comparePaths(o.path, path)
	})
	if ok && !e.supersedes(&d.elements[i].cell) {
		return
	}
	if !d.owned {
		d.elements, d.owned = append(make([]element, 0, len(d.elements)+1), d.elements...), true
	}
	if ok {
		d.elements[i] = e
		return
	}
	d.elements = slices.Insert(d.elements, i, e)
}

// comparePaths compares the paths of two elements of a column.
func (t *Type) comparePaths(a, b []byte) int {
	if t.Kind == KindSet || t.Kind == KindMap {
		return t.Elems[0].compare(a, b)
	}
	return bytes.Compare(a, b)
}

// value returns the serialized value of a column of a row; nil means NULL.
func (r *row) value(c *column, now int64) []byte {
	if r != nil && r.layout != nil {
		return r.packedValue(c.id)
	}
	d := r.data(c.id)
	if d == nil {
		return nil
	}
	if !d.complex {
		if d.cell.live(now) {
			return d.cell.value
		}
		return nil
	}
	live := d.live(now)
	if len(live) == 0 {
		return nil
	}
	var parts [][]byte
	switch c.typ.Kind {
	case KindList:
		for i := range live {
			parts = append(parts, live[i].value)
		}
	case KindSet:
		for i := range live {
			parts = append(parts, live[i].path)
		}
	case KindMap:
		for i := range live {
			parts = append(parts, live[i].path, live[i].value)
		}
	case KindUDT:
		parts = make([][]byte, len(c.typ.Elems))
		for i := range live {
			if n := int(binary.BigEndian.Uint16(live[i].path)); n < len(parts) {
				parts[n] = live[i].value
			}
		}
		return joinTuple(parts)
	}
	return joinCollection(c.typ, parts)
}
