// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Packed rows. An INSERT that creates a row without TTL and gives all its columns a value stores the values beside each
// other, each with its length as in the protocol, so that a scan copies few pieces of memory. All cells have the
// timestamp of the marker. Any other write turns the row into one with a columnData for each column (row.unpacked).

// layout is the columns of packed rows, key columns included, in the order of their cells.
type layout struct {
	columns []*column
}

// emptyValue is the value of the markers of packed rows.
var emptyValue = []byte{}

// noClustering is the clustering key of the rows of tables without clustering columns.
var noClustering = [][]byte{}

// newLayout returns the layout of rows of INSERT with the columns; nil means that the rows are not packed: they have
// elements, static cells or values that an index checks, or changes are logged.
func newLayout(t *table, columns []*column) *layout {
	if t.virtual != nil || t.capture != nil || t.counter {
		return nil
	}
	if len(t.indexes) > 0 || t.options.defaultTTL != 0 || t.expiry != "" {
		return nil
	}
	for _, c := range columns {
		if c.kind == Static || c.typ.multiCell() {
			return nil
		}
	}
	return &layout{columns}
}

// cutCell returns the first cell of packed and the rest.
func cutCell(packed []byte) (cell, rest []byte) {
	n := 4 + int(binary.BigEndian.Uint32(packed))
	return packed[4:n:n], packed[n:]
}

// packedValue returns the value of a column of a packed row; nil means NULL.
func (r *row) packedValue(id int32) []byte {
	rest := r.packed
	for _, c := range r.layout.columns {
		var b []byte
		if b, rest = cutCell(rest); c.id == id {
			return b
		}
	}
	return nil
}

// unpacked returns the row with its data by columns.
func (r *row) unpacked() *row {
	if r == nil || r.layout == nil {
		return r
	}
	out := *r
	out.layout, out.packed = nil, nil
	out.columns = make([]columnData, 0, len(r.layout.columns))
	rest := r.packed
	for _, c := range r.layout.columns {
		var b []byte
		if b, rest = cutCell(rest); !c.isKey() {
			out.columns = append(out.columns, columnData{id: c.id, deletion: noTimestamp, cell: cell{value: b, ts: r.marker.ts}})
		}
	}
	slices.SortFunc(out.columns, func(a, b columnData) int { return cmp.Compare(a.id, b.id) })
	return &out
}

// singleRow is a partition with one packed row: one piece of memory instead of five.
type singleRow struct {
	partition
	first  row
	chunk  [1]*row
	chunks [1][]*row
	column [1][]byte // of the key
}

// packed returns the row of an INSERT in a partition of its own, which may become a partition of the store. Nil means
// that the general way applies, because of an error, of a value that is NULL or not set, or of the kind of statement.
func (m *modifyPlan) packed(x *env, w *writing) *singleRow {
	if m.layout == nil || w.ttl != 0 || m.conditional() {
		return nil
	}
	var room [16][]byte
	values, size := room[:0], 0
	for _, n := range m.cells {
		b, err := n.eval(x)
		if err != nil || b == nil || isUnset(b) || len(b) > math.MaxInt32 {
			return nil
		}
		values, size = append(values, b), size+4+len(b)
	}
	p := &singleRow{first: row{
		clustering: noClustering, marker: cell{value: emptyValue, ts: w.ts}, deletion: noTimestamp, layout: m.layout,
	}}
	parts := p.column[:]
	if len(m.t.pk) > 1 {
		parts = make([][]byte, len(m.t.pk))
	}
	if len(m.t.ck) > 0 {
		p.first.clustering = make([][]byte, len(m.t.ck))
	}
	packed := make([]byte, 0, size)
	for i, b := range values {
		packed = append(binary.BigEndian.AppendUint32(packed, uint32(len(b))), b...)
		switch own, c := packed[len(packed)-len(b):len(packed):len(packed)], m.layout.columns[i]; c.kind {
		case PartitionKey:
			parts[c.pos] = own
		case Clustering:
			p.first.clustering[c.pos] = own
		}
	}
	key, err := partitionKey(parts)
	if err != nil || clusteringSize(p.first.clustering) > math.MaxUint16 {
		return nil
	}
	p.first.packed = packed
	p.chunk[0], p.chunks[0] = &p.first, p.chunk[:]
	p.rows = sorted[*row]{chunks: p.chunks[:], n: 1}
	p.deletion, p.key, p.parts = noTimestamp, key, parts
	return p
}

// size is mutation.size of the row.
func (p *singleRow) size() int {
	n := len(p.key) + 32 + clusteringSize(p.first.clustering) + 16
	rest := p.first.packed
	for _, c := range p.first.layout.columns {
		var b []byte
		if b, rest = cutCell(rest); !c.isKey() {
			n += len(b) + 10
		}
	}
	return n
}

// write returns the row as the general way writes it.
func (p *singleRow) write() rowWrite {
	r := p.first.unpacked()
	w := rowWrite{clustering: r.clustering, deletion: noTimestamp, marker: &r.marker}
	for i := range r.columns {
		c := p.first.layout.column(r.columns[i].id)
		w.ops = append(w.ops, op{col: c, kind: opCell, cell: r.columns[i].cell})
	}
	return w
}

func (l *layout) column(id int32) *column {
	return l.columns[slices.IndexFunc(l.columns, func(c *column) bool { return c.id == id })]
}

// applyPacked stores the row as it is, if nothing else is known of it, and otherwise merges it.
func (m *mutation) applyPacked(e *Engine) {
	p, created := m.t.store.place(m.packed)
	if created {
		return
	}
	r := &m.packed.first
	if ts := r.marker.ts; p.row(m.t, r.clustering) == nil && ts > p.shadow(m.t, r.clustering, false) {
		p.put(m.t, &row{
			clustering: r.clustering, marker: r.marker, deletion: r.deletion, layout: r.layout, packed: r.packed,
		}, false)
		return
	}
	w := m.packed.write()
	m.applyRow(e, p, &w)
}

// encoder appends rows of plain columns, each cell as [bytes].
type encoder struct {
	columns []*column // nil is the token
	layout  *layout   // of the last packed row
	pieces  []piece   // of its rows
	starts  []int     // of the cells of a packed row, and the end of the last one
}

// piece is what a row has for some columns, one after the other: cells of the packed row, or the value of one column.
type piece struct {
	first, end int // the cells from first on before end; none for another column
	column     *column
}

// append appends the cells of a row. A packed row with the columns in the same order is copied as a whole.
func (n *encoder) append(dst []byte, v *rowView, sec int64) []byte {
	if v.row == nil || v.row.layout == nil {
		for _, c := range n.columns {
			dst = appendColumn(dst, v, c, sec)
		}
		return dst
	}
	packed := v.row.packed
	if v.row.layout != n.layout {
		n.layout = v.row.layout
		n.pieces = n.layout.pieces(n.columns)
	}
	located := false
	for _, p := range n.pieces {
		switch {
		case p.end == 0:
			dst = appendColumn(dst, v, p.column, sec) // the token, a static column, or NULL
			continue
		case p.end-p.first == len(n.layout.columns):
			dst = append(dst, packed...)
			continue
		case !located:
			n.locate(packed)
			located = true
		}
		dst = append(dst, packed[n.starts[p.first]:n.starts[p.end]]...)
	}
	return dst
}

// locate sets starts.
func (n *encoder) locate(packed []byte) {
	n.starts = append(n.starts[:0], 0)
	for at := 0; at < len(packed); {
		at += 4 + int(binary.BigEndian.Uint32(packed[at:]))
		n.starts = append(n.starts, at)
	}
}

// appendColumn appends the value of a column, or the token.
func appendColumn(dst []byte, v *rowView, c *column, sec int64) []byte {
	if c == nil {
		return binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 8), uint64(v.p.token))
	}
	return appendBytes(dst, v.value(c, sec))
}

// pieces returns the pieces of packed rows that are the columns.
func (l *layout) pieces(columns []*column) []piece {
	var out []piece
	for _, c := range columns {
		at := -1
		if c != nil {
			at = slices.IndexFunc(l.columns, func(o *column) bool { return o.id == c.id })
		}
		last := len(out) - 1
		switch {
		case at < 0:
			out = append(out, piece{column: c})
		case last >= 0 && out[last].end == at && at > 0:
			out[last].end++
		default:
			out = append(out, piece{first: at, end: at + 1})
		}
	}
	return out
}
