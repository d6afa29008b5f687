// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "github.com/vecql/vecql/parquetscan/internal/input"

// The bytes of row groups are requested before they are read: see package input.

// requestAhead requests the start of the column chunks of the current row group, and of the row group that is likely to
// be next. It leaves out columns whose rows have never been selected so far.
func (r *Reader) requestAhead(at int) {
	if r.file.Mapped == nil {
		return
	}
	before := r.scan.requested[at][r.number].Load()
	for i := range r.columns {
		if !r.scan.expected(i) {
			continue
		}
		for _, c := range r.columns[i].chunks {
			c.pages.Ahead(before && !r.scan.late(i)) // late columns may be missing in the first request
		}
	}
	switch {
	case r.group < r.parts[0].End:
		r.scan.requestGroup(at, r.group)
	case len(r.parts) > 1:
		r.scan.requestGroup(r.files[1], r.parts[1].First)
	case r.following != nil && len(r.following.Parts) > 0:
		r.scan.requestGroup(r.scan.byName[r.following.Parts[0].File], r.following.Parts[0].First)
	}
}

// expected reports whether rows of a column will probably be read.
func (s *Scan) expected(at int) bool { return !s.late(at) || s.states[at].used.Load() }

// requestGroup requests the start of the column chunks of a row group, unless the filter excludes it.
func (s *Scan) requestGroup(at, group int) {
	f := s.ds.files[at]
	if f.Mapped == nil || group >= len(f.Groups) || s.pred != nil && !s.pred.MayMatch(&f.File, group, f.LeafOf) ||
		s.requested[at][group].Swap(true) {
		return
	}
	for i, n := range s.nodes[at] {
		if !s.expected(i) {
			continue
		}
		for _, l := range n.Leaves(nil) {
			meta, err := f.Chunk(group, l.Index)
			if err != nil {
				continue // an error of the Reader of the row group
			}
			if start, length, err := f.Range(&meta); err == nil {
				f.Need(start, min(length, 2*input.ReadStep))
			}
		}
	}
}
