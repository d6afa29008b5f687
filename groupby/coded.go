// SPDX-License-Identifier: Apache-2.0

package groupby

import "github.com/vecql/vecql/column"

// Phase 1 for key columns of dictionary codes: the group of a dictionary entry, or of a combination of entries of
// several dictionaries, is looked up once, and cached while batches have the same dictionaries. The bytes of a column
// of letters, texts of one byte each, count as codes.

// A codedGroups caches the groups of codes in the table of a worker, which has one table at most.
type codedGroups struct {
	dicts []*column.Dictionary // nil for a column of letters
	ids   []uint32             // by code; 0 if unknown
	codes [chunkRows]uint32    // of a chunk, unless the column has them
	only  []uint32             // the only group of rows without keys, repeated
}

// maxCombined is the maximum number of combinations of the entries of several dictionaries.
const maxCombined = 1 << 16

// combinations returns the number of codes of the key columns in rows [i, j), or 0 if their groups cannot be cached: a
// column has no codes, rows with a NULL are dropped, or there are too many.
func (w *worker) combinations(keys []column.Column, i, j int) int {
	if w.local == nil || len(keys) == 0 {
		return 0
	}
	n := 1
	for k := range keys {
		entries := codeCount(&keys[k], i, j)
		if entries == 0 || keys[k].Nulls != 0 && w.plan.DropNulls {
			return 0
		}
		if n *= entries; n > maxCombined && len(keys) > 1 {
			return 0
		}
	}
	return n
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
		if keys[k].Dict != nil {
			combine(codes, &keys[k], i)
		} else if !combineLetters(codes, &keys[k], i) {
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
