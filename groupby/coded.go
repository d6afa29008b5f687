// SPDX-License-Identifier: Apache-2.0

package groupby

// This file is a shorter way through phase 1 for one key column of codes: which group an entry of a dictionary belongs to is found out once, and
// kept as long as the same dictionary comes again.

// A codedGroups is the groups of a dictionary's entries in a table.
type codedGroups struct {
	dict *Dictionary
	t    *table
	ids  []uint32 // by code; 0 if not known
}

// codesOf returns the codes of rows i to j, if groups can be kept for them: if the only key column is one of codes without NULLs, and there is a table.
func (w *Worker) codesOf(keys []Column, i, j int) []uint32 {
	if w.local == nil || len(keys) != 1 || keys[0].form != formCodes || keys[0].validity != nil {
		return nil
	}
	g := &w.coded
	if g.dict != keys[0].dict || g.t != w.local.t {
		g.dict, g.t = keys[0].dict, w.local.t
		n := g.dict.Len()
		if cap(g.ids) < n {
			g.ids = make([]uint32, n)
		}
		g.ids = g.ids[:n]
		clear(g.ids)
	}
	return keys[0].codes()[i:j]
}

// known returns the groups of codes, nil unless all are known.
func (w *Worker) known(codes []uint32) []uint32 {
	if len(codes) == 0 {
		return nil
	}
	ids := w.local.ids[:len(codes)]
	of := w.coded.ids
	for k, code := range codes { // which were checked when the batch was
		id := of[code]
		if id == 0 {
			return nil
		}
		ids[k] = id
	}
	return ids
}

// learn keeps the groups that codes were just found to have.
func (w *Worker) learn(codes []uint32) {
	if len(codes) == 0 || w.local == nil || w.local.t != w.coded.t {
		return
	}
	for k, code := range codes {
		w.coded.ids[code] = w.local.ids[k]
	}
}
