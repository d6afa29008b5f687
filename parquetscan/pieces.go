// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"slices"

	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/page"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Pieces: ranges of rows of a row group, cut at the borders of pages, so that all workers have work if few row groups
// match.

// Bounds of cutting: the compressed bytes of a piece, the pieces per worker, and the page headers read per row group.
// The pages at a border are decompressed for both pieces, unless all columns have a border there.
const (
	leastPiece      = 1 << 20
	piecesPerWorker = 4
	mostHeaders     = 1 << 14
)

// plan returns a bucket per row group, in the order of Options.Begin. If at most a few row groups match for each
// worker, it cuts large ones into pieces. It cuts local files only: a reader finds its first page by the headers of the
// pages before.
func (s *Scan) plan() []Bucket {
	buckets := s.begin(s.SplitByBytes(0))
	s.ds.mu.RLock()
	defer s.ds.mu.RUnlock()
	if s.o.Workers < 2 || s.ds.closed {
		return buckets
	}
	few := piecesPerWorker * s.o.Workers
	matching := make([][]predicate.Range, len(buckets)) // by bucket
	matches, total := 0, int64(0)
	for i := range buckets {
		f, group := s.place(&buckets[i])
		if s.pred != nil && !s.pred.MayMatch(&f.File, group, f.LeafOf) {
			continue
		}
		if matches++; matches > few {
			return buckets
		}
		matching[i] = []predicate.Range{{From: 0, To: buckets[i].Rows}}
	}
	for i := range buckets {
		if f, group := s.place(&buckets[i]); s.pred != nil && matching[i] != nil && f.cuttable() {
			matching[i] = s.pred.Prune(&f.File, group, f.LeafOf)
		}
		total += share(buckets[i].Bytes, countRows(matching[i]), buckets[i].Rows)
	}
	most := max(total/int64(few), s.piece)
	var out []Bucket
	for i, b := range buckets {
		weight := share(b.Bytes, countRows(matching[i]), b.Rows)
		cuts := s.cuts(&b, matching[i], int((weight+most/2)/most))
		for k := range cuts[1:] {
			out = append(out, s.pieceOf(&b, predicate.Range{From: cuts[k], To: cuts[k+1]}, len(out)))
		}
	}
	return out
}

// place returns the file and the number of the row group of a bucket of one row group.
func (s *Scan) place(b *Bucket) (*dataFile, int) {
	return s.ds.files[s.byName[b.Parts[0].File]], b.Parts[0].First
}

// cuttable reports whether row groups of the file may be cut.
func (f *dataFile) cuttable() bool { return f.Local != nil && f.Secrets == nil }

// pieceOf returns a range of rows of a bucket of one row group, or the bucket itself if the range is all of it.
func (s *Scan) pieceOf(b *Bucket, r predicate.Range, number int) Bucket {
	part := b.Parts[0]
	if r != (predicate.Range{From: 0, To: b.Rows}) {
		part.From, part.To, part.Rows = r.From, r.To, r.To-r.From
	}
	return Bucket{
		Number: number, Parts: []Part{part}, Rows: part.Rows,
		Bytes: share(b.Bytes, r.To, b.Rows) - share(b.Bytes, r.From, b.Rows),
	}
}

// cuts returns the ends of up to n pieces of a bucket of one row group, from 0 to its rows. Each piece has about
// equally many of the matching rows. Pieces end where a page of the largest column does.
func (s *Scan) cuts(b *Bucket, matching []predicate.Range, n int) []int64 {
	cuts := []int64{0}
	if f, group := s.place(b); n > 1 && f.cuttable() {
		starts := s.pageBorders(f, group)
		seen, total := int64(0), countRows(matching)
		for _, r := range matching {
			for len(cuts) < n {
				row := r.From + share(total, int64(len(cuts)), int64(n)) - seen
				if row >= r.To {
					break
				}
				// The last page that begins up to the row; pages may be longer than pieces.
				at, _ := slices.BinarySearch(starts, row+1)
				if at == 0 || starts[at-1] <= cuts[len(cuts)-1] {
					n-- // fewer pieces
					continue
				}
				cuts = append(cuts, starts[at-1])
			}
			seen += r.To - r.From
		}
	}
	return append(cuts, b.Rows)
}

// pageBorders returns the first row of each page of the largest column in a row group. It returns nil if a reader of
// later pages would have to decode those before: headers of repeated columns contain the number of rows only in V2.
func (s *Scan) pageBorders(f *dataFile, group int) []int64 {
	var largest *footer.Leaf
	most := int64(-1)
	for _, l := range s.leaves[s.byName[f.src.Name]] {
		meta, err := f.Chunk(group, l.Index)
		if err != nil {
			return nil
		}
		if l.MaxRep > 0 && page.StartsOf(&f.File, group, l, 1) == nil {
			return nil
		}
		if n := meta.Compressed; n > most {
			most, largest = n, l
		}
	}
	if largest == nil {
		return nil
	}
	return page.StartsOf(&f.File, group, largest, mostHeaders)
}

// countRows returns the number of rows in ranges.
func countRows(ranges []predicate.Range) int64 {
	n := int64(0)
	for _, r := range ranges {
		n += r.To - r.From
	}
	return n
}
