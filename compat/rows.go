// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Rows: the rows of an Iter with gocql's meanings.

// Rows reads the rows of an Iter. It may be used by one goroutine at a time. Methods of the Iter that do not read rows
// may be called meanwhile. Values are fresh memory: no row overwrites an earlier one.
type Rows struct {
	it      *vecql.Iter
	d       *Dialect
	err     error // nil means none beside the error of it
	columns []cql.ColumnInfo
	tuples  bool      // a column is a tuple
	outs    []rowPart // nil until parts
	cells   [][]byte  // of the current row; nil until next
}

// A rowPart is a column, or an element of a tuple, as a destination of Scan.
type rowPart struct {
	info   cql.TypeInfo
	name   string
	goType reflect.Type   // nil means none
	plan   codec.ScanPlan // for the type of the last destination
}

// A RowData holds the names of the destinations of a row, with a destination for each.
type RowData struct {
	Columns []string
	Values  []any
}

// NewRows returns the rows of it in dialect d.
func NewRows(it *vecql.Iter, d *Dialect) Rows {
	it.Scan(&d.foreign)
	return Rows{it: it, d: d}
}

// next stores the cells of the next row in r.cells and reports whether there is one.
func (r *Rows) next() bool {
	if r.err != nil {
		return false
	}
	columns := r.it.Columns()
	if len(r.cells) != len(columns) {
		r.cells = make([][]byte, len(columns))
	}
	if r.it.NextRaw(r.cells) {
		return true
	}
	if columns = r.it.Columns(); len(r.cells) != len(columns) { // the next page has other columns
		r.err = fmt.Errorf("gocql: %w: %d, then %d", errColumns, len(r.cells), len(columns))
	}
	return false
}

// errColumns means that a page of a result has another number of columns than the page before.
var errColumns = errors.New("the number of columns has changed")

// look stores the columns of the page.
func (r *Rows) look() {
	columns := r.it.Columns()
	if len(columns) == len(r.columns) && (len(columns) == 0 || &columns[0] == &r.columns[0]) {
		return
	}
	r.columns, r.outs = columns, nil
	r.tuples = slices.ContainsFunc(columns, isTuple)
}

func isTuple(c cql.ColumnInfo) bool {
	_, ok := c.TypeInfo.(cql.TupleTypeInfo)
	return ok
}

// parts returns the destinations of a row.
func (r *Rows) parts() []rowPart {
	if r.look(); r.outs != nil {
		return r.outs
	}
	r.outs = make([]rowPart, 0, len(r.columns))
	for _, c := range r.columns {
		tuple, ok := c.TypeInfo.(cql.TupleTypeInfo)
		if !ok {
			r.outs = append(r.outs, rowPart{info: c.TypeInfo, name: c.Name, goType: r.d.GoType(c.TypeInfo)})
			continue
		}
		for i, e := range tuple.Elems {
			r.outs = append(r.outs, rowPart{info: e, name: TupleColumnName(c.Name, i), goType: r.d.GoType(e)})
		}
	}
	return r.outs
}

// Scan stores the next row in dest and reports whether there was one. A tuple takes one destination for each of its
// elements. nil skips a column, or an element of a tuple. An error ends the rows; Close returns it.
func (r *Rows) Scan(dest ...any) bool {
	if r.look(); r.err == nil && !r.tuples && len(dest) == len(r.columns) {
		return r.it.Scan(dest...) // by ScanPlan
	}
	if !r.next() {
		return false
	}
	r.err = r.scan(dest)
	return r.err == nil
}

// scan stores the current row in dest.
func (r *Rows) scan(dest []any) error {
	parts := r.parts()
	if len(parts) != len(dest) {
		return &columnCountError{len(dest), len(parts)}
	}
	for i := range r.columns {
		cell := r.cells[i]
		if tuple, ok := r.columns[i].TypeInfo.(cql.TupleTypeInfo); ok {
			n := len(tuple.Elems)
			if err := r.d.decodeElements(tuple, cell, dest[:n]); err != nil {
				return r.fault(i, dest[:n], err)
			}
			parts, dest = parts[n:], dest[n:]
			continue
		}
		if err := parts[0].store(r.d, cell, dest[0]); err != nil {
			return r.fault(i, dest[0], err)
		}
		parts, dest = parts[1:], dest[1:]
	}
	return nil
}

// A columnCountError means that a row has another number of destinations than columns, with gocql's text: programs
// compare it.
type columnCountError struct{ have, want int }

func (e *columnCountError) Error() string {
	return fmt.Sprintf("gocql: not enough columns to scan into: have %d want %d", e.have, e.want)
}

func (e *columnCountError) Unwrap() error { return vecql.ErrColumnCount }

// fault returns the error of column i.
func (r *Rows) fault(i int, dest any, err error) error {
	c := &r.columns[i]
	return &cql.UnmarshalError{Column: c.Name, Type: c.TypeInfo, GoType: codec.GoTypeName(dest), Err: withoutType(err)}
}

// withoutType returns the error in an UnmarshalError, other errors as they are.
func withoutType(err error) error {
	//nolint:errorlint // an error inside of another concerns a part of the value
	if e, ok := err.(*cql.UnmarshalError); ok {
		return e.Err
	}
	return err
}

// store stores a cell in dest. nil skips it.
func (p *rowPart) store(d *Dialect, cell []byte, dest any) error {
	if dest == nil {
		return nil
	}
	if p.plan.Typ != codec.TypeWord(dest) {
		p.plan = d.ScanPlan(p.info, dest)
	}
	return p.plan.Store(p.info, cell, dest, nil)
}

// ScanPlan implements codec.ForeignDialect: the driver's plan for the types that the driver decodes as the API does,
// else the dialect.
func (d *Dialect) ScanPlan(info cql.TypeInfo, dest any) codec.ScanPlan {
	p := codec.ScanPlan{Typ: codec.TypeWord(dest), Decode: d.decodeCell, Empty: codec.EmptyByDecode}
	t := reflect.TypeOf(dest)
	if t.Kind() != reflect.Pointer {
		return p
	}
	p.Elem = t.Elem()
	switch to := p.Elem; {
	case d.decodesAlike(info, to) && !codec.HasOwnCodec(to):
		p.Value, p.Empty = codec.PlanDecode(info, to), codec.EmptyOf(info)
	case to.Kind() == reflect.Pointer && d.decodesAlike(info, to.Elem()) && !codec.HasOwnCodec(to.Elem()),
		isText(info) && to == reflect.TypeFor[[]byte]():
		p.Value = codec.PlanDecode(info, to)
	case to == timeType && info.Type() == cql.TypeDate:
		if p.Value, p.Empty = codec.PlanDecode(info, to), codec.EmptyAsNull; d.fork {
			p.Empty = codec.NullByDecode // NULL is day 0
		}
	case to == ipType && info.Type() == cql.TypeInet:
		plan := codec.PlanDecode(info, to)
		p.Value = func(cell []byte, at unsafe.Pointer, s *codec.Shared) error { return plan(shortAddress(cell), at, s) }
		if !d.fork {
			p.Empty = codec.EmptyAsNull
		}
	}
	return p
}

// decodeCell is decodeInto with errors for Iter.Scan, which adds the types.
func (d *Dialect) decodeCell(info cql.TypeInfo, cell []byte, dest any) error {
	return withoutType(d.decodeInto(info, cell, dest))
}

// isText reports whether values of type info are their bytes.
func isText(info cql.TypeInfo) bool {
	typ, ok := info.(cql.NativeType)
	return ok && isTextType(cql.Type(typ))
}

func isTextType(typ cql.Type) bool {
	return typ == cql.TypeAscii || typ == cql.TypeText || typ == cql.TypeVarchar || typ == cql.TypeBlob
}

// TupleColumnName returns the name of element n of the tuple column c in MapScan and RowData.
func TupleColumnName(c string, n int) string { return fmt.Sprintf("%s[%d]", c, n) }

// RowData returns new destinations for Scan.
func (r *Rows) RowData() (RowData, error) {
	if r.err != nil {
		return RowData{}, r.err
	}
	if _, err := r.it.RowData(); err != nil {
		return RowData{}, Error(err)
	}
	var row RowData
	for _, p := range r.parts() {
		row.Columns = append(row.Columns, p.name)
		row.Values = append(row.Values, p.newValue())
	}
	return row, nil
}

// newValue returns a new destination.
func (p *rowPart) newValue() any {
	if p.goType == nil {
		return new(any)
	}
	return reflect.New(p.goType).Interface()
}

// MapScan stores the next row in m by the names of RowData and reports whether there was one. NULL is the zero value of
// the column's type. A pointer that m has under a name is filled, and replaced by its value.
func (r *Rows) MapScan(m map[string]any) bool {
	if !r.next() {
		return false
	}
	parts := r.parts()
	dest := make([]any, len(parts))
	for i := range parts {
		p := reflect.ValueOf(m[parts[i].name])
		if p.Kind() == reflect.Pointer && !p.IsNil() {
			dest[i] = p.Interface()
		} else {
			dest[i] = parts[i].newValue()
		}
	}
	if r.err = r.scan(dest); r.err != nil {
		return false
	}
	for i := range parts {
		v := reflect.ValueOf(dest[i]).Elem()
		if v.Kind() == reflect.Slice && v.IsNil() && (r.d.emptySlices || r.d.emptyBlobs && r.isEmptyBlob(i, m, dest[i])) {
			v = reflect.MakeSlice(v.Type(), 0, 0) // a variable of the program stays nil
		}
		m[parts[i].name] = v.Interface()
	}
	return true
}

// isEmptyBlob reports whether part i is a blob without bytes, not NULL, whose destination is not the program's in m.
func (r *Rows) isEmptyBlob(i int, m map[string]any, dest any) bool {
	p := &r.outs[i]
	return !r.tuples && r.cells[i] != nil && p.info.Type() == cql.TypeBlob && m[p.name] != dest
}

// SliceMap reads all remaining rows and closes the Iter.
func (r *Rows) SliceMap() ([]map[string]any, error) {
	var rows []map[string]any
	if r.d.emptyRows {
		rows = []map[string]any{}
	}
	for {
		m := make(map[string]any, len(r.outs))
		if !r.MapScan(m) {
			break
		}
		rows = append(rows, m)
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return rows, nil
}

// appliedColumn is the first column of the result of a conditional statement.
const appliedColumn = "[applied]"

// ScanCAS stores the columns after the first one, [applied], in dest and closes the Iter. dest is not used if there
// is no other column. applied is false for the result of a statement without a condition.
func (r *Rows) ScanCAS(dest ...any) (applied bool, err error) {
	if err := r.needRow(); err != nil {
		return false, err
	}
	if len(r.it.Columns()) > 1 {
		dest = append([]any{&applied}, dest...)
	} else {
		dest = []any{&applied}
	}
	r.Scan(dest...)
	return applied, r.Close()
}

// MapScanCAS stores the columns other than [applied] in m, as MapScan does, and closes the Iter.
func (r *Rows) MapScanCAS(m map[string]any) (applied bool, err error) {
	if err := r.needRow(); err != nil {
		return false, err
	}
	r.MapScan(m)
	applied, _ = m[appliedColumn].(bool)
	delete(m, appliedColumn)
	return applied, r.Close()
}

// needRow returns the error of the request, or ErrNotFound if its result has no row. It then closes the Iter.
func (r *Rows) needRow() error {
	if r.it.NumRows() > 0 {
		return nil
	}
	if err := r.Close(); err != nil {
		return err
	}
	return vecql.ErrNotFound
}

// Close closes the Iter and returns the error that ended the rows.
func (r *Rows) Close() error {
	err := r.it.Close()
	if r.err != nil {
		err = r.err
	}
	return Error(err)
}

// Scanner returns a Scanner over the remaining rows.
func (r *Rows) Scanner() *Scanner { return &Scanner{rows: r} }

// A Scanner reads rows in the style of database/sql.
type Scanner struct {
	rows  *Rows
	valid bool // Next has returned true, and Scan was not called since
}

// Next advances to the next row and reports whether there is one.
func (s *Scanner) Next() bool {
	s.valid = s.rows.next()
	return s.valid
}

// Scan stores the columns of the current row, as Rows.Scan does, once. An error does not end the rows.
func (s *Scanner) Scan(dest ...any) error {
	if !s.valid {
		return errors.New("gocql: Scan without a row: call Next first")
	}
	s.valid = false
	return s.rows.scan(dest)
}

// Err closes the Iter and returns the error that ended the rows.
func (s *Scanner) Err() error {
	s.valid = false
	return s.rows.Close()
}
