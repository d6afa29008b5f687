// SPDX-License-Identifier: Apache-2.0

package groupby

import "github.com/vecql/vecql/column"

// Phase 1 for one key column of dictionary codes: the group of a dictionary entry is looked up once, and cached while
// batches have the same dictionary.

// A codedGroups caches the groups of a dictionary's entries in the table of a worker, which has one table at most.
type codedGroups struct {
	dict *column.Dictionary
	ids  []uint32 // by code; 0 if unknown
}

// codesOf returns the codes of rows [i, j) if their groups can be cached: there is a table, and the only key column has
// codes and no NULLs. Otherwise it returns nil.
func (w *worker) codesOf(keys []column.Column, i, j int) []uint32 {
	if w.local == nil || len(keys) != 1 || keys[0].Dict == nil || keys[0].Nulls != 0 {
		return nil
	}
	g := &w.coded
	if g.dict != keys[0].Dict {
		g.dict = keys[0].Dict
		n := g.dict.Len()
		if cap(g.ids) < n {
			g.ids = make([]uint32, n)
		}
		g.ids = g.ids[:n]
		clear(g.ids)
	}
	return codesOf(&keys[0])[i:j]
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
