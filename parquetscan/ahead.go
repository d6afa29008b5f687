// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "github.com/vecql/vecql/parquetscan/internal/input"

// The bytes of row groups are requested before they are read: see package input.

// requestGroup requests the start of the column chunks of a row group, unless the filter excludes it.
func (s *Scan) requestGroup(at, group int) {
	f := s.ds.files[at]
	if f.Mapped == nil || group >= len(f.Groups) || s.pred != nil && !s.pred.MayMatch(&f.File, group, f.LeafOf) ||
		s.requested[at][group].Swap(true) {
		return
	}
	for i, n := range s.nodes[at] {
		if !s.columns[i].Expected() {
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
