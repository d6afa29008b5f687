// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"slices"

	"github.com/vecql/vecql/internal/errtext"
)

// Rows as cells that are not decoded yet: NextRaw, and the Scanner that decodes them on demand.

// NextRaw stores the cells of the next row in cells, one per column and not decoded, and reports whether there was a
// row. nil means NULL; a cell without bytes is not nil. The cells are views of the page: they are valid until the next
// row is read or the Iter is closed, and must not be changed. Unmarshal decodes a cell with the TypeInfo of its column.
// An error, such as another length of cells than of Columns, ends the rows; Close returns it.
func (it *Iter) NextRaw(cells [][]byte) bool {
	if !it.nextRow() {
		return false
	}
	if n := len(it.Columns()); len(cells) != n {
		it.fail(errtext.Errorf("%w: room for %d cells, the row has %d columns", ErrColumnCount, len(cells), n))
		return false
	}
	return it.rawRow(cells)
}

// rawRow stores the cells of the current row in cells, whose length is the number of columns.
func (it *Iter) rawRow(cells [][]byte) bool {
	page, off := it.res.Rows.Cells, it.off
	for i := range cells {
		n, ok := cellLength(page, off)
		if ok {
			off += 4 + n
			cells[i] = page[off-n : off : off]
			continue
		}
		it.off = off
		if cells[i], ok = it.cell(); !ok {
			return false
		}
		off = it.off
	}
	it.off = off
	return true
}

// A Scanner reads the rows of an Iter in the style of database/sql: for s.Next() { s.Scan(...) }; s.Err().
type Scanner interface {
	// Next advances to the next row and reports whether there is one.
	Next() bool
	// Scan stores the columns of the current row, as Iter.Scan does. An error does not end the rows.
	Scan(dest ...any) error
	// Err releases the Iter and returns the error that ended the rows.
	Err() error
}

// Scanner returns a Scanner over the remaining rows.
func (it *Iter) Scanner() Scanner { return &scanner{it: it} }

// scanner is the Scanner of an Iter.
type scanner struct {
	it    *Iter
	cells [][]byte // of the current row
	valid bool     // Next has returned true, so that cells is a whole row
}

// Next stores the cells of the next row without decoding them, so that Scan may be called any number of times.
func (s *scanner) Next() bool {
	s.valid = false
	if !s.it.nextRow() {
		return false
	}
	s.cells = slices.Grow(s.cells[:0], len(s.it.Columns()))[:len(s.it.Columns())]
	s.valid = s.it.rawRow(s.cells)
	return s.valid
}

// errNoRow means that Scan was called without a current row.
var errNoRow = errors.New("vecql: Scan without a row: call Next first")

// Scan decodes the cells of the row. A nil destination skips its column.
func (s *scanner) Scan(dest ...any) error {
	if !s.valid {
		return errNoRow
	}
	if len(dest) != len(s.cells) {
		return errtext.Errorf("%w: %d destinations for %d columns", ErrColumnCount, len(dest), len(s.cells))
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
