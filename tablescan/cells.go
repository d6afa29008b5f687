// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"encoding/binary"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/codec"
)

// The rows of a page as cells: Config.Cells.

// readCells replaces the columns of b by the cells of the current page of it, and returns the token of each row, which
// is the last cell. It reuses the memory of b.
func readCells(it *vecql.Iter, b *column.Batch, tokens []int64) ([]int64, error) {
	infos, rows := it.Columns(), it.NumRows()
	if cap(b.Columns) < len(infos) {
		b.Columns = make([]column.Column, len(infos))
	}
	b.Columns, b.Rows = b.Columns[:len(infos)], 0
	for i := range b.Columns {
		c := &b.Columns[i]
		*c = column.Column{
			Name: infos[i].Name, Type: codec.CellType, Values: c.Values[:0], Offsets: append(c.Offsets[:0], 0),
			Validity: c.Validity[:0],
		}
	}
	b.Source = it.Source()
	cells := make([][]byte, len(infos))
	for b.Rows < rows && it.NextRaw(cells) {
		for i, cell := range cells {
			if err := codec.AppendCellRow(&b.Columns[i], cell); err != nil {
				return nil, err
			}
		}
		token := cells[len(cells)-1]
		if len(token) != 8 {
			return nil, ErrPartitioner
		}
		tokens = append(tokens, int64(binary.BigEndian.Uint64(token)))
		b.Rows++
	}
	return tokens, nil
}
