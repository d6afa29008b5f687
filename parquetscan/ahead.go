// SPDX-License-Identifier: Apache-2.0

package parquetscan

// Read-ahead in mapped files. A page fault makes the kernel read around the address, megabytes on some machines, and
// most of them belong to columns that are not read. So the bytes of a column chunk are requested before the first
// fault: in the background when its row group is opened, or one row group earlier, and a step at a time while it is
// decoded.

// readStep is the number of bytes of a column chunk that are loaded at once. The next step is requested before.
const readStep = 4 << 20

// startMapped begins a view of a range of a mapped file.
func (w *window) startMapped(off int64) { w.loaded, w.requested = off, off }

// request asks for the bytes of a mapped file up to an offset, and does not wait for them.
func (w *window) request(to int64) {
	if to > w.requested {
		willNeed(w.mapped, w.requested, to-w.requested)
		w.requested = to
	}
}

// load loads the bytes from off to to of a mapped file, and the rest of their step, and requests the step after it. end
// bounds all steps.
func (w *window) load(off, to, end int64) {
	w.loaded = max(w.loaded, off)
	stop := min(end, max(to, w.loaded+readStep))
	w.requested = max(w.requested, off)
	w.request(min(end, stop+readStep))
	willRead(w.mapped, w.loaded, stop-w.loaded)
	w.loaded = stop
}

// requestAhead requests the start of the column chunks of the current row group, and of the row group that is likely to
// be next. It leaves out columns whose rows have never been selected so far.
func (r *Reader) requestAhead(at int) {
	if r.file.mapped == nil {
		return
	}
	before := r.scan.requested[at][r.number].Load()
	for i := range r.columns {
		if !r.scan.expected(i) {
			continue
		}
		for _, c := range r.columns[i].chunks {
			w, ok := c.pages.(*pageWalker)
			if !ok {
				continue
			}
			to := min(w.end, w.off+2*readStep)
			// A second request of cached bytes takes a hundredth of the time of a scan. Late columns may be missing in the
			// first one.
			if before && !r.scan.late(i) {
				w.win.requested = to
			}
			w.win.request(to)
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
	if f.mapped == nil || group >= len(f.groups) || s.pred != nil && !s.mayMatch(f, group) ||
		s.requested[at][group].Swap(true) {
		return
	}
	for i, n := range s.nodes[at] {
		if !s.expected(i) {
			continue
		}
		for _, l := range n.leaves(nil) {
			meta, err := chunkMetadata(f, group, l.index)
			if err != nil {
				continue // an error of the Reader of the row group
			}
			if start, length, err := chunkRange(f, &meta); err == nil {
				willNeed(f.mapped, start, min(length, 2*readStep))
			}
		}
	}
}
