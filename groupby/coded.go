// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"

	"github.com/vecql/vecql/column"
)

// Phase 1 for key columns of dictionary codes: the group of a dictionary entry, or of a combination of entries of
// several dictionaries, is looked up once, and cached while batches have the same dictionaries. The bytes of a column
// of letters, texts of one byte each, count as codes. So do integers that are close to each other, beside texts, with
// which they would become records.

// A codedGroups caches the groups of codes in the table of a worker, which has one table at most.
type codedGroups struct {
	dicts  []*column.Dictionary // nil for a column of letters or integers
	ranges []codeRange          // by key column
	wide   bool                 // integers were too far from each other
	ids    []uint32             // by code; 0 if unknown
	codes  [chunkRows]uint32    // of a chunk, unless the column has them
	rows   [learnedRows]uint32  // of a chunk, one for each new code
	only   []uint32             // the only group of rows without keys, repeated
}

// A codeRange is a number of integers from the least on. The code of an integer is its distance from the least.
type codeRange struct{ least, count uint64 }

// maxCombined is the maximum number of combinations of the entries of several dictionaries.
const maxCombined = 1 << 16

// combinations returns the number of codes of the key columns in rows [i, j), or 0 if their groups cannot be cached: a
// column has no codes, rows with a NULL are dropped, or there are too many.
func (w *worker) combinations(keys []column.Column, i, j int) int {
	if w.local == nil || len(keys) == 0 {
		return 0
	}
	n, integers := 1, false
	for k := range keys {
		entries := codeCount(&keys[k], i, j)
		switch {
		case keys[k].Nulls != 0 && w.plan.DropNulls:
			return 0
		case entries > 0:
			n *= entries
		case w.coded.wide || !w.plan.keys.hasRange(k):
			return 0
		default:
			integers = true
		}
		if n > maxCombined && len(keys) > 1 {
			return 0
		}
	}
	if integers {
		n = w.coded.withIntegers(w.plan.keys, keys, i, j, n)
	}
	return n
}

// hasRange reports whether a key column is one of integers that would become a part of records.
func (p *keyPlan) hasRange(c int) bool {
	return p.form == keyRecords && p.widths[c] > 0 && p.widths[c] <= 8 && !p.types[c].Kind.IsFloat()
}

// withIntegers returns n times the numbers of codes of the columns of integers, or 0 if these are too many.
func (g *codedGroups) withIntegers(p *keyPlan, keys []column.Column, i, j, n int) int {
	if g.ranges == nil {
		g.ranges = make([]codeRange, len(keys))
	}
	for k := range keys {
		if !p.hasRange(k) {
			continue
		}
		r := &g.ranges[k]
		if lo, hi := extremesOf(&keys[k], i, j); lo <= hi && (lo-r.least >= r.count || hi-r.least >= r.count) {
			*r = r.around(lo, hi)
			g.dicts = g.dicts[:0] // the cached groups have other codes
		}
		if r.count >= maxCombined || n > maxCombined/int(r.count+1) {
			g.wide = true
			return 0
		}
		n *= int(r.count + 1) // with NULL
	}
	return n
}

// around returns a range that has r and all of lo to hi. It is at least twice as wide as r, so that ranges rarely
// change.
func (r codeRange) around(lo, hi uint64) codeRange {
	if r.count > 0 {
		last := r.least + r.count - 1
		if lo < r.least {
			lo -= min(lo, r.count)
		}
		if hi > last {
			hi += min(^uint64(0)-hi, r.count)
		}
		lo, hi = min(lo, r.least), max(hi, last)
	}
	if hi-lo >= maxCombined {
		return codeRange{lo, maxCombined}
	}
	return codeRange{lo, hi - lo + 1}
}

// extremesOf returns the least and the greatest of the rows [i, j) of a column of at most 64 bits that are not NULL, as
// words. The least is greater if there are none.
func extremesOf(col *column.Column, i, j int) (lo, hi uint64) {
	if lo = ^uint64(0); col.Nulls != 0 {
		for row := i; row < j; row++ {
			if !col.Null(row) {
				x := wordOf(col, row)
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		return lo, hi
	}
	switch col.Type.ValueWidth() {
	case 1:
		return extremes(view[uint8](col)[i:j])
	case 2:
		return extremes(view[uint16](col)[i:j])
	case 4:
		return extremes(view[uint32](col)[i:j])
	}
	return extremes(view[uint64](col)[i:j])
}

func extremes[T unsigned](x []T) (lo, hi uint64) {
	least, most := ^T(0), T(0)
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	if len(x) == 0 {
		return ^uint64(0), 0
	}
	return uint64(least), uint64(most)
}

// codeCount returns the number of codes of a column, 0 if it has none in rows [i, j). NULL counts as an entry of a
// dictionary, the last one. Texts of one byte on average may be letters, which combine decides.
func codeCount(col *column.Column, i, j int) int {
	switch {
	case col.Dict != nil:
		return col.Dict.Len() + 1
	case !col.Type.Kind.IsText() || col.Offsets == nil || col.Nulls != 0:
		return 0
	}
	if from, to := int(col.Offsets[i]), int(col.Offsets[j]); from < 0 || to-from != j-i || to > len(col.Values) {
		return 0
	}
	return 256
}

// codesOf returns the codes of rows [i, j), a chunk, if their groups can be cached. Otherwise it returns nil.
func (w *worker) codesOf(keys []column.Column, i, j int) []uint32 {
	n := w.combinations(keys, i, j)
	if n == 0 {
		return nil
	}
	g := &w.coded
	if !g.has(keys) {
		g.dicts = g.dicts[:0]
		for k := range keys {
			g.dicts = append(g.dicts, keys[k].Dict)
		}
		g.ids = grown(g.ids[:0], n)
	}
	if len(keys) == 1 && keys[0].Nulls == 0 && keys[0].Dict != nil {
		return codesOf(&keys[0])[i:j]
	}
	codes := g.codes[:j-i]
	clear(codes)
	for k := range keys {
		switch {
		case keys[k].Dict != nil:
			combine(codes, &keys[k], i)
		case w.plan.keys.hasRange(k):
			combineIntegers(codes, &keys[k], i, g.ranges[k])
		case !combineLetters(codes, &keys[k], i):
			return nil
		}
	}
	return codes
}

// has reports whether the cached groups belong to the key columns' dictionaries.
func (g *codedGroups) has(keys []column.Column) bool {
	if len(g.dicts) != len(keys) {
		return false
	}
	for k := range keys {
		if g.dicts[k] != keys[k].Dict {
			return false
		}
	}
	return true
}

// combine appends the codes of a column from row i, as a digit, to the codes of the columns before.
func combine(codes []uint32, col *column.Column, i int) {
	null := uint32(col.Dict.Len())
	for k, code := range codesOf(col)[i : i+len(codes)] {
		if col.Null(i + k) {
			code = null
		}
		codes[k] = codes[k]*(null+1) + code
	}
}

// combineIntegers is combine for a column of integers in a range. The code of NULL follows the others.
func combineIntegers(codes []uint32, col *column.Column, i int, r codeRange) {
	if col.Nulls != 0 {
		for k := range codes {
			code := r.count
			if !col.Null(i + k) {
				code = wordOf(col, i+k) - r.least
			}
			codes[k] = codes[k]*uint32(r.count+1) + uint32(code)
		}
		return
	}
	switch j := i + len(codes); col.Type.ValueWidth() {
	case 1:
		combineWords(codes, view[uint8](col)[i:j], r)
	case 2:
		combineWords(codes, view[uint16](col)[i:j], r)
	case 4:
		combineWords(codes, view[uint32](col)[i:j], r)
	default:
		combineWords(codes, view[uint64](col)[i:j], r)
	}
}

func combineWords[T unsigned](codes []uint32, x []T, r codeRange) {
	x = x[:len(codes)]
	for k, v := range x {
		codes[k] = codes[k]*uint32(r.count+1) + uint32(uint64(v)-r.least)
	}
}

// combineLetters is combine for a column whose rows have one byte on average. It returns false if not all have one.
func combineLetters(codes []uint32, col *column.Column, i int) bool {
	offsets := col.Offsets[i : i+len(codes)+1]
	letters := col.Values[offsets[0]:][:len(codes)]
	at, other := offsets[0], int32(0)
	for k, end := range offsets[1:] {
		codes[k] = codes[k]<<8 | uint32(letters[k])
		other |= (end - at) ^ 1
		at = end
	}
	return other == 0
}

// known returns the groups of codes, or nil if any is unknown.
func (w *worker) known(codes []uint32) []uint32 {
	if len(codes) == 0 {
		return nil
	}
	ids := w.local.ids[:len(codes)]
	of := w.coded.ids
	for k, code := range codes { // in range: inputs checked the batch
		id := of[code]
		if id == 0 {
			return nil
		}
		ids[k] = id
	}
	return ids
}

// learnedRows is the largest number of new codes of a chunk that are looked up alone.
const learnedRows = chunkRows / 8

// locateCodes returns the groups of the codes of a chunk. It looks up one row of each code whose group is not cached. i
// is the first row of the chunk among the keys. It returns nil if there are many such codes, or the table accepts no
// new groups.
func (w *worker) locateCodes(c *chunk, keys []column.Column, codes []uint32, i int) ([]uint32, error) {
	if ids := w.known(codes); ids != nil || len(codes) == 0 || w.mode != modeTable {
		return ids, nil
	}
	rows := w.newCodes(codes)
	if rows == nil {
		return nil, nil
	}
	one := chunk{keys: &w.maker.keys}
	at := make([]uint32, len(rows))
	for n, k := range rows {
		at[n] = uint32(i) + k
		if w.plan.rowNumbers {
			one.numbers = append(one.numbers, c.number(k))
		}
	}
	cols := make([]column.Column, len(keys))
	for k := range cols {
		s := newBuilder(keys[k].Type)
		s.gather(&keys[k], at)
		cols[k] = s.column()
	}
	w.maker.make(cols, 0, len(rows))
	ids, _, err := w.local.locate(&one, true)
	if err != nil {
		return nil, err
	}
	for n, k := range rows {
		w.coded.ids[codes[k]] = ids[n]
	}
	return w.known(codes), nil
}

// newCodes returns the first row of each code whose group is not cached, nil if there are more than learnedRows.
func (w *worker) newCodes(codes []uint32) []uint32 {
	const seen = math.MaxUint32 // marks a code here
	of, rows, fits := w.coded.ids, w.coded.rows[:0], true
	for k, code := range codes {
		if of[code] != 0 {
			continue
		}
		if fits = len(rows) < learnedRows; !fits {
			break
		}
		of[code] = seen
		rows = append(rows, uint32(k))
	}
	for _, k := range rows {
		of[codes[k]] = 0
	}
	if !fits {
		return nil
	}
	return rows
}

// cacheCodes stores the groups that phase 1 found for codes.
func (w *worker) cacheCodes(codes []uint32) {
	if len(codes) == 0 || w.local == nil { // the table may have been abandoned
		return
	}
	for k, code := range codes {
		w.coded.ids[code] = w.local.ids[k]
	}
}

// onlyGroup returns the group of n rows without keys, nil for the first rows.
func (w *worker) onlyGroup(n int) []uint32 {
	if len(w.plan.Keys) > 0 || w.local == nil || w.local.groups() < 2 {
		return nil
	}
	for len(w.coded.only) < n {
		w.coded.only = append(w.coded.only, 1)
	}
	return w.coded.only[:n]
}
