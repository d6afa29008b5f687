// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/paging"
	"github.com/vecql/vecql/internal/wire"
)

// Iter: the rows of a result, page after page. The caller's goroutine decodes a page cell by cell; the next page may be
// requested meanwhile.

// An Iter reads the rows of a result. It may be used by one goroutine at a time. Close releases the Iter and returns
// the error that ended the rows. Reading all rows releases the Iter too.
type Iter struct {
	ctx     context.Context
	session *Session
	query   *Query // nil for a batch, which has one page
	once    bool   // only one row is read: no page is requested ahead
	resume  pageValues
	err     error
	closed  bool
	open    bool // there is a current page, though perhaps without its body: see releasePage

	answer
	foreign       *codec.Foreign               // decodes the rows; nil means the driver
	decoders      []atomic.Pointer[decodePlan] // of the plan, for foreign
	off           int                          // offset of the next cell in res.rows.cells
	row           int                          // rows of this page read so far
	passed        int64                        // rows of earlier pages
	localDecoders []*decodePlan                // by column: decoders beyond maxDecoders of the plan
	shared        codec.Shared                 // memory of the small values of a row
	ahead         *nextPage                    // the next page; nil means that it was not requested yet
	empty         *paging.EmptyRun             // the pages without rows that end with this one; nil means none
	aheadRow      int                          // the row at which the next page is requested
}

// oneIter is the Iter of a verb that reads one row. Its query is a copy, so that the program's stays on the program's
// stack. Iters that programs see are not pooled.
type oneIter struct {
	Iter
	copied Query
}

var iterPool = sync.Pool{New: func() any { return new(oneIter) }}

// done closes the Iter and returns it to its pool.
func (it *oneIter) done() error {
	err := it.Close()
	*it = oneIter{}
	iterPool.Put(it)
	return err
}

// nextPage is a page that was requested ahead.
type nextPage struct {
	cancel context.CancelFunc
	done   chan struct{}
	answer answer
	err    error
}

func newIter(ctx context.Context, q *Query) *Iter {
	it := &Iter{ctx: ctx, session: q.session, query: q}
	it.start(q.pageState, q.run(ctx, q.record, true, &it.resume, &it.answer))
	if it.more() {
		later := *q // the caller may modify q
		it.query = &later
	}
	return it
}

// start begins to read the page in it.answer, which was requested with the paging state sent. A page that failed has
// err.
func (it *Iter) start(sent []byte, err error) {
	if err != nil {
		it.err = err
		return
	}
	it.row, it.off, it.open = 0, 0, true
	it.decoders = it.plan.decodersOf(it.foreign)
	n := it.res.Rows.RowCount
	it.aheadRow = n
	if it.query != nil && !it.once && it.query.prefetch >= 0 {
		it.aheadRow = n - int(float64(n)*min(it.query.prefetch, 1))
	}
	if it.empty, err = it.empty.After(n, sent, it.res.Rows.Meta.PagingState); err != nil {
		it.fail(&cql.ProtocolError{Message: "read the next page from node " + it.node.info.Address.String(), Err: err})
		it.endPage()
	}
}

// more reports whether the Iter has a further page to request. With manual paging it has none.
func (it *Iter) more() bool {
	return it.query != nil && !it.query.manualPaging && len(it.res.Rows.Meta.PagingState) > 0
}

// askAhead requests the next page, unless it was requested already or has no room in the memory budget. The page is
// then requested when the current one has been read.
func (it *Iter) askAhead() {
	if it.ahead == nil && !it.session.pageFull(it.resume.stmt) {
		it.ask()
	}
}

// ask requests the next page.
func (it *Iter) ask() {
	ctx, cancel := context.WithCancel(it.ctx)
	next := &nextPage{cancel: cancel, done: make(chan struct{})}
	it.ahead = next
	q, state, paged, empty := it.query, it.res.Rows.Meta.PagingState, !it.once, it.empty
	go func() {
		defer close(next.done)
		if !empty.Await(ctx) {
			next.err = ctx.Err()
			return
		}
		next.err = q.runNext(ctx, state, paged, &it.resume, &next.answer)
	}()
}

// nextRow advances to the next row, on the next page if necessary, and reports whether there is one.
func (it *Iter) nextRow() bool {
	for {
		switch {
		case it.err != nil || it.closed || !it.open:
			return false
		case it.row < it.res.Rows.RowCount:
			if it.row >= it.aheadRow && it.more() {
				it.askAhead()
			}
			it.row++
			return true
		case !it.more():
			it.endPage()
			return false
		}
		it.turnPage() // an empty page does not end the result
	}
}

// turnPage replaces the current page by the next one. It releases the current page first, so that a request which waits
// for the memory budget never waits for its own Iter.
func (it *Iter) turnPage() {
	it.endPage()
	if it.ahead == nil {
		it.ask()
	}
	next := it.ahead
	it.ahead = nil
	<-next.done
	next.cancel()
	it.passed += int64(it.res.Rows.RowCount)
	sent := it.res.Rows.Meta.PagingState
	if next.err == nil {
		if it.plan != next.answer.plan {
			it.localDecoders = nil // the columns may have other types
		}
		it.answer = next.answer
	}
	it.start(sent, next.err)
}

// endPage ends the current page.
func (it *Iter) endPage() {
	it.open = false
	it.releasePage()
}

// releasePage releases the body of the current page, whose cells are not read any more.
func (it *Iter) releasePage() {
	if it.resp.Body != nil {
		it.resp.Body.Release()
		it.resp.Body = nil
	}
}

// Columns returns the columns of the result. The slice must not be changed.
func (it *Iter) Columns() []cql.ColumnInfo { return it.res.Rows.Meta.Columns }

// Scan stores the columns of the next row in dest, one pointer per column, and reports whether there was a row. A nil
// pointer skips its column. NULL is stored as the zero value of a type that cannot hold NULL; *any, pointers to
// pointers and Null can. The stored values are fresh memory that the caller may keep, except in destinations made by
// Into, AppendTo and Borrow. Values of up to 64 bytes of one row share an allocation of up to 1 KiB, which lives as
// long as one of them: a program that keeps few short texts of many rows copies them by strings.Clone. An error ends
// the rows; Close returns it.
func (it *Iter) Scan(dest ...any) bool {
	if len(dest) == 1 && it.readAs(dest[0]) || !it.nextRow() {
		return false
	}
	columns := it.Columns()
	if len(dest) != len(columns) {
		it.fail(errtext.Errorf("%w: %d destinations for %d columns", ErrColumnCount, len(dest), len(columns)))
		return false
	}
	it.shared.NextRow()
	// locals: this loop dominates the cost of small rows
	cells, off, decoders := it.res.Rows.Cells, it.off, it.decoders
	for i, d := range dest {
		if n, ok := cellLength(cells, off); ok && n > 0 && d != nil { // an empty cell may be NULL
			p, at := decoders[i].Load(), codec.DataWord(d)
			if p != nil && p.Typ == codec.TypeWord(d) && p.Value != nil && at != nil {
				off += 4 + n
				if err := p.Value(cells[off-n:off:off], at, &it.shared); err != nil {
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

// readAs makes the Iter decode rows as another API does if dest is its codec.Foreign, and reports whether it is.
func (it *Iter) readAs(dest any) bool {
	api, ok := dest.(*codec.Foreign)
	if ok {
		it.foreign, it.localDecoders = api, nil
		it.decoders = it.plan.decodersOf(api)
	}
	return ok
}

// cellLength returns the length of the cell that begins at off. ok is false for NULL and for an incomplete cell.
func cellLength(cells []byte, off int) (n int, ok bool) {
	if len(cells)-off < 4 {
		return 0, false
	}
	n = int(int32(binary.BigEndian.Uint32(cells[off:])))
	return n, n >= 0 && n <= len(cells)-off-4
}

// cell returns the next cell; nil means NULL. ok is false if the page ends inside the cell.
func (it *Iter) cell() (cell []byte, ok bool) {
	cells := it.res.Rows.Cells
	if n, ok := cellLength(cells, it.off); ok {
		it.off += 4 + n
		return cells[it.off-n : it.off : it.off], true
	}
	r := wire.NewReader(cells[it.off:])
	if _, null := r.Value(); !null || r.Err() != nil {
		it.fail(&cql.ProtocolError{Message: "rows", Err: r.Err()})
		return nil, false
	}
	it.off += r.Offset()
	return nil, true
}

// decode stores a cell of column i in dest.
func (it *Iter) decode(i int, cell []byte, dest any) error {
	p := it.decoders[i].Load()
	if p == nil || p.Typ != codec.TypeWord(dest) {
		p = it.otherDecoder(i, dest)
	}
	if err := p.Store(it.plan.Columns[i].TypeInfo, cell, dest, &it.shared); err != nil {
		return it.cellError(i, dest, err)
	}
	return nil
}

func (it *Iter) cellError(i int, dest any, err error) error {
	col := &it.plan.Columns[i]
	return &cql.UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: codec.GoTypeName(dest), Err: err}
}

// otherDecoder returns the decoder of column i into the type of dest. The plan stores up to maxDecoders decoders of a
// column for all readers of its rows; the Iter itself stores further ones.
func (it *Iter) otherDecoder(i int, dest any) *decodePlan {
	typ, shared := codec.TypeWord(dest), &it.decoders[i]
	first, n := shared.Load(), 0
	for p := first; p != nil; p = p.next {
		if n++; p.Typ == typ {
			return p
		}
	}
	if it.localDecoders != nil && it.localDecoders[i] != nil && it.localDecoders[i].Typ == typ {
		return it.localDecoders[i]
	}
	p, info := &decodePlan{next: first}, it.plan.Columns[i].TypeInfo
	if it.foreign != nil {
		p.ScanPlan = it.foreign.Dialect.ScanPlan(info, dest)
	} else {
		p.ScanPlan = codec.NewScanPlan(info, dest)
	}
	if n < maxDecoders && shared.CompareAndSwap(first, p) {
		return p
	}
	if it.localDecoders == nil {
		it.localDecoders = make([]*decodePlan, len(it.plan.Columns))
	}
	p.next = nil
	it.localDecoders[i] = p
	return p
}

func (it *Iter) fail(err error) {
	if it.err == nil {
		it.err = err
	}
}

// MapScan stores the next row in m by column name and reports whether there was one. NULL is stored as nil. If m holds
// a pointer under the name of a column, MapScan stores the value through the pointer, as Scan does.
func (it *Iter) MapScan(m map[string]any) bool {
	return it.nextRow() && it.scanMap(m, len(it.Columns()))
}

// scanMap stores the first n columns of the current row in m.
func (it *Iter) scanMap(m map[string]any, n int) bool {
	it.shared.NextRow()
	for i, col := range it.Columns()[:n] {
		cell, ok := it.cell()
		if !ok {
			return false
		}
		dest := m[col.Name]
		if v := reflect.ValueOf(dest); v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() != bigIntPointer &&
			v.Type() != decimalPointer {
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

// SliceMap reads all remaining rows and closes the Iter.
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

// A RowData holds the names of the columns of a row, with a destination for each.
type RowData struct {
	Columns []string
	Values  []any
}

// RowData returns new destinations for Scan, those that NewValue returns for the columns.
func (it *Iter) RowData() (RowData, error) {
	if it.err != nil {
		return RowData{}, it.err
	}
	var r RowData
	for _, col := range it.Columns() {
		r.Columns = append(r.Columns, col.Name)
		r.Values = append(r.Values, NewValue(col.TypeInfo))
	}
	return r, nil
}

// Close releases the Iter and returns the error that ended the rows, if any. It may be called more than once.
func (it *Iter) Close() error {
	if !it.closed {
		it.closed = true
		it.endPage()
		if next := it.ahead; next != nil {
			next.cancel()
			<-next.done
			if next.err == nil {
				next.answer.resp.Body.Release()
			}
			it.ahead = nil
		}
	}
	return it.err
}

// NumRows returns the number of rows in the current page.
func (it *Iter) NumRows() int { return it.res.Rows.RowCount }

// PageBytes returns the length of the rows in the current page, as the server encoded them.
func (it *Iter) PageBytes() int { return len(it.res.Rows.Cells) }

// WillSwitchPage reports whether the next Scan begins a new page.
func (it *Iter) WillSwitchPage() bool {
	return it.err == nil && it.open && it.row >= it.res.Rows.RowCount && it.more()
}

// PageState returns the token of the page after the current one, for Query.PageState. nil means that there is none.
func (it *Iter) PageState() cql.PageToken { return it.res.Rows.Meta.PagingState }

// Warnings returns the server's warnings about the request of the current page.
func (it *Iter) Warnings() []string { return it.parts().Warnings }

// GetCustomPayload returns the custom payload of the current page's response.
func (it *Iter) GetCustomPayload() map[string][]byte { return it.parts().Payload }

// Host returns the node that sent the current page, or failed to. nil means that no node was asked.
func (it *Iter) Host() *cql.Host {
	switch f := it.failure(); {
	case f != nil && f.Host.IsValid():
		return it.session.hostOf(f.Host)
	case it.node == nil:
		return nil
	}
	return it.node.info
}

// Attempts returns the number of attempts of the request for the current page, also of one that failed.
func (it *Iter) Attempts() int {
	if f := it.failure(); f != nil {
		return f.Attempts
	}
	return it.attempts
}

// failure returns the failure of the request for the current page. nil means that there is a page.
func (it *Iter) failure() (f *RequestFailure) {
	errors.As(it.err, &f)
	return f
}

// Latency returns the duration of the last attempt for the current page.
func (it *Iter) Latency() time.Duration { return it.resp.Latency }

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

// appliedColumn is the first column of the result of a conditional statement.
const appliedColumn = "[applied]"

// scanApplied reads the result of a conditional statement.
func (it *Iter) scanApplied(dest []any) (applied bool, err error) {
	if err := it.checkApplied(); err != nil {
		return false, err
	}
	all := make([]any, len(it.Columns()))
	all[0] = &applied
	if len(all) > 1 { // the result of an applied statement has the one column only
		if len(dest) != len(all)-1 {
			return false, errtext.Errorf("%w: %d destinations for the %d columns after %s", ErrColumnCount, len(dest), len(all)-1,
				appliedColumn)
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
		return errors.New("vecql: not a conditional statement: the first column of the result is not " + appliedColumn)
	}
	return nil
}
