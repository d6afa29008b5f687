// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// Change data capture of ScyllaDB: the rows of the log that a write makes (ScyllaDB's docs/features/cdc:
// cdc-basic-operations.rst, cdc-advanced-types.rst, cdc-preimages.rst).

// Values of cdc$operation.
const (
	opPreimage        = 0
	opUpdate          = 1
	opInsert          = 2
	opRowDelete       = 3
	opPartitionDelete = 4
	opFromInclusive   = 5
	opFromExclusive   = 6
	opToInclusive     = 7
	opToExclusive     = 8
	opPostimage       = 9
)

// logged is the changes of one partition with one timestamp: rows of the log with one cdc$time.
type logged struct {
	t       *table
	log     *table
	m       *mutation // the first of the partition
	stream  []byte
	ts      int64
	pre     []logRow
	changes []logRow
	images  []image
}

// logRow is a row of the log: cells by the name of the column.
type logRow map[string][]byte

// image is a row whose state before or after the change is logged.
type image struct {
	clustering [][]byte
	static     bool
	columns    map[*column]bool // that the change touches; nil means all
}

// hasCapture reports whether a table of mutations has a log.
func hasCapture(mutations []*mutation) bool {
	for _, m := range mutations {
		if m.t.capture != nil {
			return true
		}
	}
	return false
}

// capture returns the rows of the logs for mutations that have been resolved and are not applied. Callers hold the
// locks of the tables, not of the logs.
func (e *Engine) capture(mutations []*mutation, sec int64) ([]*logged, error) {
	var all []*logged
	for _, m := range mutations {
		if m.t.capture == nil {
			continue
		}
		var err error
		at := func(ts int64) *logged {
			for _, l := range all {
				if l.t == m.t && l.ts == ts && bytes.Equal(l.m.key, m.key) {
					return l
				}
			}
			l := &logged{t: m.t, m: m, ts: ts, log: e.schema.Load().keyspaces[m.t.ks].tables.get(m.t.name + logSuffix)}
			stream, failed := e.options.Streams.Of(Name{m.t.ks, m.t.name}, ts, keyToken(m.key))
			l.stream, err = stream, cmp.Or(err, failed)
			all = append(all, l)
			return l
		}
		m.capture(e, at)
		if err != nil {
			return nil, err
		}
	}
	for _, l := range all {
		if l.t.capture.preimage {
			l.pre = l.read(opPreimage, sec)
		}
	}
	return all, nil
}

// capture adds the rows of the log of one mutation. at returns the rows of a timestamp.
func (m *mutation) capture(e *Engine, at func(ts int64) *logged) {
	service := 1 // ScyllaDB negates the operations of its service
	if m.byService {
		service = -1
	}
	if m.deletion != noTimestamp {
		l := at(m.deletion)
		l.add(service*opPartitionDelete, nil)
		if len(m.t.ck) == 0 { // the partition is a row
			l.images = append(l.images, image{})
		}
	}
	for _, r := range m.ranges {
		l := at(r.ts)
		l.add(opFromInclusive+excluded(r.from), r.from.prefix)
		l.add(opToInclusive+excluded(r.to), r.to.prefix)
	}
	for i := range m.rows {
		w := &m.rows[i]
		if w.deletion != noTimestamp {
			l := at(w.deletion)
			l.add(service*opRowDelete, w.clustering)
			l.images = append(l.images, image{clustering: w.clustering})
			continue
		}
		for j := range w.ops {
			w.ops[j] = e.placed(w.ops[j])
		}
		m.captureRow(w, at)
	}
}

// excluded is added to the operation of an inclusive bound.
func excluded(b bound) int {
	if b.inclusive || len(b.prefix) == 0 {
		return 0
	}
	return 1
}

// captureRow adds the rows of the log of an INSERT or UPDATE: for each timestamp one of the cells without TTL, and one
// of those with TTL.
func (m *mutation) captureRow(w *rowWrite, at func(ts int64) *logged) {
	type key struct {
		ts  int64
		ttl int32
	}
	var keys []key
	cells := map[key][]op{}
	touch := func(k key, ops ...op) {
		if _, ok := cells[k]; !ok {
			keys = append(keys, k)
		}
		cells[k] = append(cells[k], ops...)
	}
	for _, o := range w.ops {
		k := key{ts: o.cell.ts}
		if !o.cell.deleted {
			k.ttl = o.cell.ttl
		}
		if o.kind == opClear {
			k.ts++ // the tombstone of a collection is one microsecond before its new elements
		}
		touch(k, o)
	}
	var inserted key
	if w.marker != nil {
		inserted = key{w.marker.ts, w.marker.ttl}
		touch(inserted)
	}
	for _, k := range keys {
		l := at(k.ts)
		operation := opUpdate
		if w.marker != nil && k == inserted {
			operation = opInsert
		}
		r := l.add(operation, w.clustering)
		if k.ttl > 0 {
			r["cdc$ttl"] = int64Bytes(int64(k.ttl))
		}
		if !l.t.capture.keys {
			r.setOps(cells[k])
		}
		l.touched(w, cells[k])
	}
}

// touched notes a row for its images.
func (l *logged) touched(w *rowWrite, ops []op) {
	at := -1
	for i := range l.images {
		if l.images[i].static == w.static && l.t.compareClustering(l.images[i].clustering, w.clustering) == 0 {
			at = i
		}
	}
	if at < 0 {
		at = len(l.images)
		l.images = append(l.images, image{clustering: w.clustering, static: w.static, columns: map[*column]bool{}})
	}
	for _, o := range ops {
		if l.images[at].columns != nil {
			l.images[at].columns[o.col] = true
		}
	}
}

// add adds a row for a change, with the key of the partition and a prefix of the clustering key.
func (l *logged) add(operation int, clustering [][]byte) logRow {
	r := l.row(operation, clustering)
	l.changes = append(l.changes, r)
	return r
}

func (l *logged) row(operation int, clustering [][]byte) logRow {
	r := logRow{"cdc$operation": {byte(operation)}}
	for i, c := range l.t.pk {
		r[c.name] = l.m.parts[i]
	}
	for i, b := range clustering {
		r[l.t.ck[i].name] = b
	}
	return r
}

// setOps sets the columns that operations change.
func (r logRow) setOps(ops []op) {
	type parts struct{ added, deleted [][]byte }
	elements := map[*column]*parts{}
	for _, o := range ops {
		switch {
		case o.kind == opClear, o.kind == opCell && o.cell.deleted:
			r[deletedOf+o.col.name] = boolBytes(true)
		case o.kind == opCell:
			r[o.col.name] = o.cell.value
		default:
			p := elements[o.col]
			if p == nil {
				p = &parts{}
				elements[o.col] = p
			}
			if path := logPath(o.col.typ, o.path); o.kind == opElementDelete || o.cell.deleted {
				p.deleted = append(p.deleted, path)
			} else {
				p.added = append(p.added, element{path, o.cell}.parts(o.col.typ)...)
			}
		}
	}
	for col, p := range elements {
		typ, path := logTypes(col.typ)
		if len(p.added) > 0 {
			r[col.name] = joinElements(typ, p.added)
		}
		if len(p.deleted) > 0 {
			r[elementsOf+col.name] = joinSorted(&Type{Kind: KindSet, Elems: []*Type{path}}, p.deleted)
		}
	}
}

// parts returns an element of a column of type t as parts of the column's value in the log.
func (e element) parts(t *Type) [][]byte {
	if t.Kind == KindSet {
		return [][]byte{e.path}
	}
	return [][]byte{e.path, e.value}
}

// joinElements returns the value of a column in the log of the parts of its elements.
func joinElements(t *Type, parts [][]byte) []byte {
	if t.Kind != KindUDT {
		return joinSorted(t, parts)
	}
	fields := make([][]byte, len(t.Elems))
	for i := 0; i < len(parts); i += 2 {
		fields[binary.BigEndian.Uint16(parts[i])] = parts[i+1]
	}
	return joinTuple(fields)
}

// logPath returns the path of an element in the log: of a list a time UUID with the order of its place.
func logPath(t *Type, path []byte) []byte {
	if t.Kind != KindList {
		return path
	}
	place := int64(binary.BigEndian.Uint64(path) ^ 1<<63)
	id := timeBytes(1_577_836_800*10_000_000 + place) // after 2020
	id[8] = 0x80
	return id[:]
}

// read returns the images of the rows as they are.
func (l *logged) read(operation int, sec int64) []logRow {
	p := l.t.store.find(l.m.key)
	if p == nil {
		return nil
	}
	var out []logRow
	for _, x := range l.images {
		r := p.static
		if !x.static {
			r = p.row(l.t, x.clustering)
		}
		if !r.live(sec) {
			continue
		}
		all := operation == opPostimage || l.t.capture.full || x.columns == nil
		row := l.row(operation, x.clustering)
		for _, col := range l.t.rest {
			if (col.kind == Static) == x.static && (all || x.columns[col]) {
				row.setImage(r, col, sec)
			}
		}
		out = append(out, row)
	}
	return out
}

// setImage sets a column to its value in a row.
func (r logRow) setImage(from *row, col *column, sec int64) {
	b := from.value(col, sec)
	switch {
	case b == nil:
		r[deletedOf+col.name] = boolBytes(true)
	case col.typ.Kind == KindList && col.typ.multiCell():
		var parts [][]byte
		for _, e := range from.data(col.id).live(sec) {
			parts = append(parts, logPath(col.typ, e.path), e.value)
		}
		typ, _ := logTypes(col.typ)
		r[col.name] = joinElements(typ, parts)
	default:
		r[col.name] = b
	}
}

// writeLogs writes the rows of the logs, after the changes. Callers hold the locks of the tables.
func (e *Engine) writeLogs(all []*logged, sec int64) {
	for _, l := range all {
		var post []logRow
		if l.t.capture.postimage {
			post = l.read(opPostimage, sec)
		}
		rows := append(append(l.pre, l.changes...), post...)
		rows[len(rows)-1]["cdc$end_of_batch"] = boolBytes(true)
		l.log.store.mu.Lock()
		l.mutation(rows, sec).apply(e)
		l.log.store.mu.Unlock()
	}
}

// mutation returns the write of the rows to the log.
func (l *logged) mutation(rows []logRow, sec int64) *mutation {
	id := timeBytes(l.ts * 10)
	random := newID()
	copy(id[8:], random[8:])
	w := writing{ts: l.ts, ttl: l.t.capture.ttl, expires: sec + int64(l.t.capture.ttl)}
	if w.ttl == 0 {
		w.expires = 0
	}
	out := &mutation{t: l.log, key: l.stream, parts: [][]byte{l.stream}, deletion: noTimestamp}
	for i, r := range rows {
		marker := w.cell([]byte{})
		row := rowWrite{clustering: [][]byte{id[:], int32Bytes(int32(i))}, marker: &marker, deletion: noTimestamp}
		for name, b := range r {
			if col := l.log.byName[name]; col != nil && b != nil {
				row.ops = append(row.ops, op{col: col, kind: opCell, cell: w.cell(b)})
			}
		}
		out.rows = append(out.rows, row)
	}
	return out
}
