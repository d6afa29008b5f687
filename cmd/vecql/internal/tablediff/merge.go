// SPDX-License-Identifier: Apache-2.0

package tablediff

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
)

// The merge of one token range of two tables.

// rows reads the rows of a token range in the order of their tokens.
type rows struct {
	it    *vecql.Iter
	cells [][]byte // of the current row; the last one is its token
	token int64
	more  bool // there is a current row
	size  int  // bytes of the cells so far
	count int
	err   error
}

// A sizer chooses the number of rows of a page, so that a page has about a megabyte.
type sizer struct{ perRow atomic.Int64 }

const (
	pageBytes = 1 << 20
	maxPage   = 5000 // rows
	firstPage = 100  // rows, while the size of a row is unknown
)

func (s *sizer) rows() int {
	if n := s.perRow.Load(); n > 0 {
		return int(min(max(pageBytes/n, 1), maxPage))
	}
	return firstPage
}

// read starts to read a range of a side.
func (d *Diff) read(ctx context.Context, s clustertable.Table, r vecql.TokenRange) *rows {
	return readRange(ctx, s.Session, d.layout.rangeQuery(s), r, &d.pages, d.cfg.Query)
}

func readRange(ctx context.Context, s *vecql.Session, text string, r vecql.TokenRange, pages *sizer,
	set func(*vecql.Query),
) *rows {
	q := s.Query(text, r.Start, r.End).Idempotent(true).RoutingToken(r.End)
	if set != nil {
		set(q)
	}
	x := &rows{it: q.PageSize(pages.rows()).Iter(ctx), token: r.Start}
	x.cells = make([][]byte, len(x.it.Columns()))
	x.next()
	return x
}

// next moves to the next row.
func (x *rows) next() {
	if x.more = x.it.NextRaw(x.cells); !x.more {
		x.err = x.it.Close()
		return
	}
	before := x.token
	x.token = int64(binary.BigEndian.Uint64(x.cells[len(x.cells)-1]))
	if x.token < before {
		x.more, x.err = false, fmt.Errorf("token %d follows %d", x.token, before)
		_ = x.it.Close()
	}
	for _, c := range x.cells {
		x.size += len(c)
	}
	x.count++
}

// close releases the rows and stores the size of a row for the next pages.
func (x *rows) close(pages *sizer) {
	_ = x.it.Close() // next has reported its error
	if x.count > 0 {
		pages.perRow.Store(int64(x.size/x.count) + 1)
	}
}

// on reports whether the current row has a token.
func (x *rows) on(token int64) bool { return x.more && x.token == token }

// A merge compares one range.
type merge struct {
	diff   *Diff
	worker int
	left   vecql.TokenRange
	a, b   *rows // of source and target
	// rows of the current token without a match so far, by key
	onlyA, onlyB map[string][][]byte
	result       Report
}

// commitRows is the number of rows after which a merge stores its result.
const commitRows = 1000

// run compares the range. left is what remains after an error.
func (m *merge) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := m.diff
	m.a, m.b = d.read(ctx, d.source, m.left), d.read(ctx, d.target, m.left)
	defer m.a.close(&d.pages)
	defer m.b.close(&d.pages)
	m.onlyA, m.onlyB = map[string][][]byte{}, map[string][][]byte{}
	next := m.left
	for m.a.more || m.b.more {
		token := m.a.token
		if !m.a.more || m.b.more && m.b.token < token {
			token = m.b.token
		}
		m.group(token)
		if err := cmp.Or(m.a.err, m.b.err); err != nil {
			return err // the rows of the token may be incomplete
		}
		m.missing()
		if next.Start = token; m.result.Rows >= commitRows {
			m.left = next
			d.advance(m.worker, m.left, &m.result)
		}
	}
	if err := cmp.Or(m.a.err, m.b.err); err != nil {
		return err
	}
	m.left.Start = m.left.End
	d.advance(m.worker, m.left, &m.result)
	return nil
}

// group compares the rows of a token. Both sides have them in the same order unless the clustering orders differ, so
// that a row nearly always meets its match at once.
func (m *merge) group(token int64) {
	for m.a.on(token) || m.b.on(token) {
		if m.a.on(token) && m.b.on(token) && m.sameKey() {
			m.compare(m.a.cells, m.b.cells)
			m.a.next()
			m.b.next()
			continue
		}
		if m.a.on(token) {
			m.match(m.a.cells, m.onlyA, m.onlyB, m.compare)
			m.a.next()
		}
		if m.b.on(token) {
			m.match(m.b.cells, m.onlyB, m.onlyA, func(b, a [][]byte) { m.compare(a, b) })
			m.b.next()
		}
	}
}

func (m *merge) sameKey() bool {
	for i := range m.diff.layout.keys {
		if !bytes.Equal(m.a.cells[i], m.b.cells[i]) {
			return false
		}
	}
	return true
}

// match compares a row with the row of its key among others, or keeps a copy of the row.
func (m *merge) match(cells [][]byte, own, others map[string][][]byte, compare func(cells, other [][]byte)) {
	key := keyOf(cells[:m.diff.layout.keys])
	if other, ok := others[key]; ok {
		delete(others, key)
		compare(cells, other)
		return
	}
	kept := make([][]byte, len(cells))
	for i, c := range cells {
		kept[i] = bytes.Clone(c)
	}
	own[key] = kept
}

// keyOf returns the cells of a primary key as one string.
func keyOf(cells [][]byte) string {
	var key []byte
	for _, c := range cells {
		n := len(c)
		if c == nil {
			n = -1
		}
		key = append(binary.BigEndian.AppendUint32(key, uint32(int32(n))), c...)
	}
	return string(key)
}

// missing reports the rows of a token that had no match.
func (m *merge) missing() {
	for _, cells := range m.onlyA {
		m.result.Rows++
		m.result.Missing++
		m.note(cells, Missing)
	}
	clear(m.onlyA)
	if !m.diff.cfg.AllowExtra {
		for _, cells := range m.onlyB {
			m.result.Extra++
			m.note(cells, Extra)
		}
	}
	clear(m.onlyB)
}

// note keeps the description of a row, unless there are enough.
func (m *merge) note(cells [][]byte, what string) {
	m.result.note(m.diff.layout, cells, what, m.diff.cfg.Shown)
}

// compare compares the values of a row of both sides. The key is equal.
func (m *merge) compare(a, b [][]byte) {
	m.result.Rows++
	l := m.diff.layout
	var what []string
	for i := l.keys; i < len(l.columns); i++ {
		if c := l.columns[i]; !equal(c, a[i], b[i], m.diff.cfg.Tolerance) {
			what = append(what, describe(c, a[i], b[i]))
		}
	}
	for k, name := range l.timed {
		if i := len(l.columns) + k; !slices.Equal(a[i], b[i]) {
			what = append(what, fmt.Sprintf("write time of %s: %s in the source, %s in the target", name, formatTime(a[i]),
				formatTime(b[i])))
		}
	}
	if what != nil {
		m.result.Different++
		m.note(a, strings.Join(what, "; "))
	}
}
