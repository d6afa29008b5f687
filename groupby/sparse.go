// SPDX-License-Identifier: Apache-2.0

package groupby

import "github.com/vecql/vecql/column"

// Phase 1 for a column of text that is mostly empty, as optional fields are. The group of the empty text is looked up
// once. Of a chunk only the other rows are converted to keys and looked up.

// A sparseTexts has the rows of a chunk whose text is not empty.
type sparseTexts struct {
	group   uint32 // of the empty text in the worker's table; 0 means unknown
	rows    [chunkRows]uint32
	ends    [chunkRows + 1]int32
	ids     [chunkRows]uint32
	numbers [chunkRows]int64
	empty   []uint32         // group, repeated
	cols    [1]column.Column // the texts that are not empty
}

// sparseSamples is the number of rows of a chunk that are tested before all are.
const sparseSamples = 32

// isSparse reports whether most rows of a sample of rows [i, j) are empty. Dictionaries and columns with a NULL have
// other ways.
func isSparse(col *column.Column, i, j int) bool {
	if col.Dict != nil || col.Offsets == nil || col.Nulls != 0 || j-i < sparseSamples {
		return false
	}
	step, empty := (j-i)/sparseSamples, 0
	for k := i; k < j; k += step {
		if col.Offsets[k] == col.Offsets[k+1] {
			empty++
		}
	}
	return empty > sparseSamples*5/8
}

// pick lists the rows of [i, j) that are not empty, and sets cols to a column of them that shares their bytes. Since
// the other rows have no bytes, the column needs only the ends.
func (s *sparseTexts) pick(col *column.Column, i, j int) int {
	offsets := col.Offsets[i : j+1]
	last, n := offsets[0], 0
	s.ends[0] = last
	for k, end := range offsets[1:] {
		s.rows[n%chunkRows] = uint32(k)
		s.ends[n%chunkRows+1] = end
		if end != last {
			n++
		}
		last = end
	}
	s.cols[0] = column.Column{Type: col.Type, Len: n, Values: col.Values, Offsets: s.ends[:n+1]}
	return n
}

// locateSparse is keyMaker.make and merger.locate for rows [i, j), a chunk, of a column of text that is mostly empty.
// It returns nil if the chunk is another one, or if the empty text is not in the table yet. If no aggregate reads
// more of a row than its group, locateSparse adds the rows that are not empty, and returns the groups of the others.
func (w *worker) locateSparse(c *chunk, keys []column.Column, i, j int) ([]uint32, error) {
	if w.mode != modeTable || w.plan.keys.form != keyText || !isSparse(&keys[0], i, j) {
		return nil, nil
	}
	if w.sparse == nil {
		w.sparse = &sparseTexts{}
	}
	s := w.sparse
	if s.group == 0 {
		if s.group = w.local.t.emptyText(); s.group == 0 {
			return nil, nil
		}
	}
	n := s.pick(&keys[0], i, j)
	w.maker.make(s.cols[:], 0, n)
	dense := chunk{keys: &w.maker.keys}
	if w.plan.rowNumbers {
		for k, r := range s.rows[:n] {
			s.numbers[k] = c.number(r)
		}
		dense.numbers = s.numbers[:n]
	}
	found, _, err := w.local.locate(&dense, true)
	if err != nil {
		return nil, err
	}
	if w.plan.rowsOnly {
		return s.empties(j - i - n), w.addSome(&dense, found)
	}
	copy(s.ids[:], found)
	ids := w.local.ids[:j-i]
	for k := range ids {
		ids[k] = s.group
	}
	for k, id := range s.ids[:n] {
		ids[s.rows[k]] = id
	}
	return ids, nil
}

// addSome adds a part of a chunk whose groups are known. The caller adds the other rows.
func (w *worker) addSome(c *chunk, ids []uint32) error {
	w.rows += len(ids)
	return w.local.accumulate(c, ids)
}

// empties returns the groups of n rows with the empty text.
func (s *sparseTexts) empties(n int) []uint32 {
	for len(s.empty) < n {
		s.empty = append(s.empty, s.group)
	}
	return s.empty[:n]
}

// emptyText returns the group of the empty text, 0 if there is none. The form of the keys is keyText.
func (t *table) emptyText() uint32 {
	w0, w1 := pack15("")
	last := uint64(len(t.index) - 1)
	for h := t.hash2(w0, w1, 0) >> slotShift; ; h++ {
		id := t.index[h&last]
		if id == 0 || t.w0[id] == w0 && t.w1[id] == w1 && t.maskOf(id) == 0 {
			return id
		}
	}
}
