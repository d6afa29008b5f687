// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds Iter: the rows of a result, page after page. A page is decoded in the caller's goroutine, cell by cell, while the next
// one may be on its way.

// Iter walks over the rows of a result. It belongs to one goroutine. Close releases it; reading all rows does so too, but only Close
// tells whether an error ended them.
type Iter struct {
	ctx     context.Context
	session *Session
	query   *Query // nil for a batch, which has one page
	once    bool   // one row is read of it, no page is asked for ahead
	first   pageValues
	err     error
	closed  bool

	answer
	off      int           // where the next cell begins in res.rows.cells
	row      int           // rows read of this page
	own      []*decodePlan // by column, what the answer's plan has no room for
	ahead    *nextPage     // the next page, once it was asked for
	aheadRow int           // the row at which to ask for it
}

// iterPool holds those of verbs that read one row; what users get is not pooled.
var iterPool = sync.Pool{New: func() any { return new(Iter) }}

// done closes an Iter of iterPool and gives it back.
func (it *Iter) done() error {
	err := it.Close()
	*it = Iter{}
	iterPool.Put(it)
	return err
}

// nextPage is a page that was asked for ahead.
type nextPage struct {
	cancel context.CancelFunc
	done   chan struct{}
	answer answer
	err    error
}

func newIter(ctx context.Context, q *Query) *Iter {
	it := &Iter{ctx: ctx, session: q.session, query: q}
	it.start(q.run(ctx, q.record, q.pageState, &it.first))
	if it.more() {
		later := *q // the caller may go on with q
		it.query = &later
	}
	return it
}

// start makes a the current page.
func (it *Iter) start(a answer, err error) {
	if err != nil {
		it.err = err
		return
	}
	if it.plan != a.plan {
		it.own = nil // other columns, perhaps of other types
	}
	it.answer, it.row = a, 0
	it.off = 0
	n := a.res.rows.rowCount
	it.aheadRow = n
	if it.query != nil && !it.once && it.query.prefetch >= 0 {
		it.aheadRow = n - int(float64(n)*min(it.query.prefetch, 1))
	}
}

// more reports whether there is a page after this one that the Iter is to read by itself.
func (it *Iter) more() bool {
	return it.query != nil && !it.query.manualPaging && len(it.res.rows.meta.pagingState) > 0
}

// askAhead asks for the next page, unless that was done.
func (it *Iter) askAhead() {
	if it.ahead != nil {
		return
	}
	ctx, cancel := context.WithCancel(it.ctx)
	next := &nextPage{cancel: cancel, done: make(chan struct{})}
	it.ahead = next
	q, state := it.query, it.res.rows.meta.pagingState
	go func() {
		next.answer, next.err = q.run(ctx, q.record, state, &it.first)
		close(next.done)
	}()
}

// nextRow moves to the next row, on the next page if need be, and reports whether there is one.
func (it *Iter) nextRow() bool {
	for {
		switch {
		case it.err != nil || it.closed || it.page == nil:
			return false
		case it.row < it.res.rows.rowCount:
			if it.row >= it.aheadRow && it.more() {
				it.askAhead()
			}
			it.row++
			return true
		case !it.more():
			it.releasePage()
			return false
		}
		it.turnPage() // an empty page is not the end
	}
}

// turnPage replaces the current page by the next one.
func (it *Iter) turnPage() {
	it.askAhead()
	next := it.ahead
	it.ahead = nil
	<-next.done
	next.cancel()
	it.releasePage()
	it.start(next.answer, next.err)
}

func (it *Iter) releasePage() {
	if it.page != nil {
		it.page.release()
		it.page = nil
	}
}

// Columns returns the columns of the result. The slice must not be changed.
func (it *Iter) Columns() []ColumnInfo { return it.res.rows.meta.columns }

// Scan stores the columns of the next row in dest, one pointer per column, nil to skip it, and reports whether there was a row. NULL
// becomes the zero value in a type that can't hold it; *any, pointers to pointers and Null can. What it stores is fresh memory that
// the caller may keep; a destination made by Into is the exception its documentation says.
// An error ends the rows and is returned by Close.
func (it *Iter) Scan(dest ...any) bool {
	if !it.nextRow() {
		return false
	}
	columns := it.Columns()
	if len(dest) != len(columns) {
		it.fail(fmt.Errorf("%w: %d destinations for %d columns", ErrValueCount, len(dest), len(columns)))
		return false
	}
	cells, off, decoders := it.res.rows.cells, it.off, it.plan.decoders // locals: this loop is what reading small rows costs
	for i, d := range dest {
		if n, ok := cellLength(cells, off); ok && d != nil {
			p, at := decoders[i].Load(), dataWord(d)
			if p != nil && p.typ == typeWord(d) && p.value != nil && at != nil {
				off += 4 + n
				if err := p.value(cells[off-n:off:off], at); err != nil {
					it.fail(it.cellError(i, d, err))
					return false
				}
				continue
			}
		}
		it.off = off
		cell, ok := it.cell()
		if !ok {
			return false
		}
		off = it.off
		if d == nil {
			continue
		}
		if err := it.decode(i, cell, d); err != nil {
			it.fail(err)
			return false
		}
	}
	it.off = off
	return true
}

// cellLength returns the length of the cell that begins at off; ok is false for NULL, and for one that is not whole.
func cellLength(cells []byte, off int) (n int, ok bool) {
	if len(cells)-off < 4 {
		return 0, false
	}
	n = int(int32(binary.BigEndian.Uint32(cells[off:])))
	return n, n >= 0 && n <= len(cells)-off-4
}

// cell returns the next cell, nil for NULL; ok is false when the page ends inside it.
func (it *Iter) cell() (cell []byte, ok bool) {
	cells := it.res.rows.cells
	if n, ok := cellLength(cells, it.off); ok {
		it.off += 4 + n
		return cells[it.off-n : it.off : it.off], true
	}
	r := wire.NewReader(cells[it.off:])
	if _, null := r.Value(); !null || r.Err() != nil {
		it.fail(&ProtocolError{Message: "rows", Err: r.Err()})
		return nil, false
	}
	it.off += r.Offset()
	return nil, true
}

// decode stores a cell of column i in dest.
func (it *Iter) decode(i int, cell []byte, dest any) (err error) {
	p := it.plan.decoders[i].Load()
	if p == nil || p.typ != typeWord(dest) {
		p = it.otherDecoder(i, dest)
	}
	col := &it.plan.columns[i]
	switch at := dataWord(dest); {
	case p.value == nil || at == nil:
		err = p.decode(col.TypeInfo, cell, dest)
	case cell == nil:
		decodeNull(p.elem, at)
	default:
		err = p.value(cell, at)
	}
	if err != nil {
		return it.cellError(i, dest, err)
	}
	return nil
}

func (it *Iter) cellError(i int, dest any, err error) error {
	col := &it.plan.columns[i]
	return &UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: goTypeName(dest), Err: err}
}

// otherDecoder returns the decoder of column i into destinations like dest. It is kept with the plan for all who read such rows; of types
// beyond maxDecoders in the Iter alone.
func (it *Iter) otherDecoder(i int, dest any) *decodePlan {
	typ, shared := typeWord(dest), &it.plan.decoders[i]
	first, n := shared.Load(), 0
	for p := first; p != nil; p = p.next {
		if n++; p.typ == typ {
			return p
		}
	}
	if it.own != nil && it.own[i] != nil && it.own[i].typ == typ {
		return it.own[i]
	}
	p := newDecodePlan(it.plan.columns[i].TypeInfo, dest)
	if p.next = first; n < maxDecoders && shared.CompareAndSwap(first, p) {
		return p
	}
	if it.own == nil {
		it.own = make([]*decodePlan, len(it.plan.columns))
	}
	p.next = nil
	it.own[i] = p
	return p
}

func (it *Iter) fail(err error) {
	if it.err == nil {
		it.err = err
	}
}

// MapScan stores the next row in m by column name and reports whether there was one. NULL is stored as nil. Where m holds a pointer
// under a column's name, the value is stored through it, as Scan does.
func (it *Iter) MapScan(m map[string]any) bool { return it.nextRow() && it.scanMap(m) }

// scanMap stores the current row in m.
func (it *Iter) scanMap(m map[string]any) bool {
	for i, col := range it.Columns() {
		cell, ok := it.cell()
		if !ok {
			return false
		}
		dest := m[col.Name]
		if v := reflect.ValueOf(dest); v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() != bigIntPointer && v.Type() != decimalPointer {
			if err := it.decode(i, cell, dest); err != nil {
				it.fail(err)
				return false
			}
			continue
		}
		var value any
		if err := it.decode(i, cell, &value); err != nil {
			it.fail(err)
			return false
		}
		m[col.Name] = value
	}
	return true
}

// SliceMap reads all rows that are left and closes the Iter.
func (it *Iter) SliceMap() ([]map[string]any, error) {
	var rows []map[string]any
	for {
		m := make(map[string]any, len(it.Columns()))
		if !it.MapScan(m) {
			return rows, it.Close()
		}
		rows = append(rows, m)
	}
}

// RowData is a row's columns with a destination each.
type RowData struct {
	Columns []string
	Values  []any
}

// RowData returns new destinations of the columns' default Go types, for Scan.
func (it *Iter) RowData() (RowData, error) {
	if it.err != nil {
		return RowData{}, it.err
	}
	var r RowData
	for _, col := range it.Columns() {
		r.Columns = append(r.Columns, col.Name)
		r.Values = append(r.Values, zeroDest(col.TypeInfo))
	}
	return r, nil
}

// Close releases the Iter and returns the error that ended it, if one did. It may be called again.
func (it *Iter) Close() error {
	if !it.closed {
		it.closed = true
		it.releasePage()
		if next := it.ahead; next != nil {
			next.cancel()
			<-next.done
			if next.err == nil {
				next.answer.page.release()
			}
			it.ahead = nil
		}
	}
	return it.err
}

// NumRows returns the number of rows in the current page.
func (it *Iter) NumRows() int { return it.res.rows.rowCount }

// WillSwitchPage reports whether the next Scan begins a new page.
func (it *Iter) WillSwitchPage() bool {
	return it.err == nil && it.page != nil && it.row >= it.res.rows.rowCount && it.more()
}

// PageState returns where the page after the current one begins, for Query.PageState; nil after the last page.
func (it *Iter) PageState() []byte { return it.res.rows.meta.pagingState }

// Warnings returns the server's warnings about the request of the current page.
func (it *Iter) Warnings() []string { return it.env.warnings }

// GetCustomPayload returns the custom payload of the current page's answer.
func (it *Iter) GetCustomPayload() map[string][]byte { return it.env.payload }

// Host returns the node that answered, nil when none did.
func (it *Iter) Host() *HostInfo {
	if it.node == nil {
		return nil
	}
	return it.node.info
}

// Attempts returns how often the request of the current page was sent.
func (it *Iter) Attempts() int { return it.attempts }

// Latency returns the duration of the last attempt for the current page, in nanoseconds.
func (it *Iter) Latency() int64 { return int64(it.latency / time.Nanosecond) }

// Keyspace returns the keyspace of the first column.
func (it *Iter) Keyspace() string {
	if c := it.Columns(); len(c) > 0 {
		return c[0].Keyspace
	}
	return ""
}

// Table returns the table of the first column.
func (it *Iter) Table() string {
	if c := it.Columns(); len(c) > 0 {
		return c[0].Table
	}
	return ""
}

// Scanner is Iter in the manner of database/sql: for s.Next() { s.Scan(...) }; s.Err().
type Scanner interface {
	// Next moves to the next row.
	Next() bool
	// Scan stores its columns, as Iter.Scan does. An error does not end the rows.
	Scan(dest ...any) error
	// Err releases the Iter and returns the error that ended the rows.
	Err() error
}

// Scanner returns a Scanner over the rows that are left.
func (it *Iter) Scanner() Scanner { return &scanner{it: it} }

type scanner struct {
	it    *Iter
	cells [][]byte // of the current row
	valid bool
}

func (s *scanner) Next() bool {
	s.valid = false
	if !s.it.nextRow() {
		return false
	}
	s.cells = s.cells[:0]
	for range s.it.Columns() {
		cell, ok := s.it.cell()
		if !ok {
			return false
		}
		s.cells = append(s.cells, cell)
	}
	s.valid = true
	return true
}

// errNoRow is returned by Scan without a Next that found a row.
var errNoRow = errors.New("vecql: Scan without a row: call Next first")

func (s *scanner) Scan(dest ...any) error {
	if !s.valid {
		return errNoRow
	}
	if len(dest) != len(s.cells) {
		return fmt.Errorf("%w: %d destinations for %d columns", ErrValueCount, len(dest), len(s.cells))
	}
	for i, d := range dest {
		if d == nil {
			continue
		}
		if err := s.it.decode(i, s.cells[i], d); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) Err() error { return s.it.Close() }

// appliedColumn is the first column of the answer to a conditional statement.
const appliedColumn = "[applied]"

// scanApplied reads the answer of a conditional statement.
func (it *Iter) scanApplied(dest []any) (applied bool, err error) {
	if err := it.checkApplied(); err != nil {
		return false, err
	}
	all := make([]any, len(it.Columns()))
	all[0] = &applied
	if len(all) > 1 { // an applied statement answers with the one column only
		if len(dest) != len(all)-1 {
			return false, fmt.Errorf("%w: %d destinations for the %d columns after %s", ErrValueCount, len(dest), len(all)-1, appliedColumn)
		}
		copy(all[1:], dest)
	}
	it.Scan(all...)
	return applied, it.err
}

func (it *Iter) mapScanApplied(m map[string]any) (applied bool, err error) {
	if err := it.checkApplied(); err != nil {
		return false, err
	}
	it.MapScan(m)
	applied, _ = m[appliedColumn].(bool)
	delete(m, appliedColumn)
	return applied, it.err
}

func (it *Iter) checkApplied() error {
	if it.err != nil {
		return it.err
	}
	if c := it.Columns(); len(c) == 0 || c[0].Name != appliedColumn {
		return errors.New("vecql: not a conditional statement: the answer has no " + appliedColumn)
	}
	return nil
}
