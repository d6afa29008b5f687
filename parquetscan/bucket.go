// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math/bits"
)

// Buckets of row groups: the unit of work for goroutines and for other machines.

// A Bucket is a sequence of consecutive row groups of a scan, or a range of the rows of one. It can be stored as
// JSON and read with [Scan.Reader] by another process that has the same files: an interrupted load resumes by
// reading the buckets that are not done.
type Bucket struct {
	// Number is the bucket's index among the buckets of one split, from 0.
	Number int    `json:"number"`
	Parts  []Part `json:"parts"`
	// Rows is the number of rows, before any filter.
	Rows int64 `json:"rows"`
	// Bytes is the compressed size of the columns that are read.
	Bytes int64 `json:"bytes"`
}

// A Part is a sequence of consecutive row groups of one file: First to End-1. If To is not 0, the part is the rows From
// to To-1 of the row group First.
type Part struct {
	File  string `json:"file"`
	Size  int64  `json:"size"`           // of the file
	ETag  string `json:"etag,omitempty"` // see Source
	First int    `json:"first"`
	End   int    `json:"end"`
	From  int64  `json:"from,omitempty"`
	To    int64  `json:"to,omitempty"`
	Rows  int64  `json:"rows"`
}

// A unit is a row group to be put into a bucket.
type unit struct {
	file, group int
	rows, bytes int64 // bytes 0: not computed
}

// sizedUnits returns the units with their bytes, for which it parses the metadata of each column chunk.
func (s *Scan) sizedUnits() []unit {
	units := s.units()
	for i := range units {
		u := &units[i]
		u.bytes = s.compressed(u.file, u.group)
	}
	return units
}

// units returns all row groups of the scan that have rows.
func (s *Scan) units() []unit {
	units := make([]unit, 0, s.ds.groups)
	for i, f := range s.ds.files {
		for g, group := range f.Groups {
			if group.Rows > 0 {
				units = append(units, unit{file: i, group: g, rows: group.Rows})
			}
		}
	}
	return units
}

// compressed returns the compressed bytes of the scan's columns in a row group, at least 1; 0 if it has no rows.
func (s *Scan) compressed(file, group int) int64 {
	if s.ds.files[file].Groups[group].Rows == 0 {
		return 0
	}
	total := int64(0)
	f := s.ds.files[file]
	for _, leaf := range s.leaves[file] {
		if c, err := f.Chunk(group, leaf.Index); err == nil {
			total += min(max(0, c.Compressed), f.Size) // so that no sum overflows
		}
	}
	return max(1, total)
}

// SplitByCount splits the scan into n buckets of consecutive row groups with about equally many compressed bytes of the
// columns that are read; fewer if there are fewer row groups. Every bucket has rows, and every row is in one bucket.
func (s *Scan) SplitByCount(n int) []Bucket {
	units := s.sizedUnits()
	n = min(n, len(units))
	left := int64(0)
	for _, u := range units {
		left += u.bytes
	}
	var buckets []Bucket
	for i := 0; n > 0; n-- {
		// This bucket's share of the remaining bytes, rounded to whole row groups. At least one remains for each later
		// bucket.
		share := left / int64(n)
		end, bytes := i, int64(0)
		for end < len(units)-(n-1) && (end == i || n == 1 || bytes+units[end].bytes/2 < share) {
			bytes += units[end].bytes
			end++
		}
		buckets = append(buckets, s.bucket(len(buckets), units[i:end]))
		left -= bytes
		i = end
	}
	return buckets
}

// SplitByBytes splits the scan into buckets of consecutive row groups with up to n compressed bytes of the columns that
// are read, and at least one row group. A bucket may span several small files.
func (s *Scan) SplitByBytes(n int64) []Bucket {
	units := s.sizedUnits()
	var buckets []Bucket
	for i := 0; i < len(units); {
		end, bytes := i+1, units[i].bytes
		for end < len(units) && bytes+units[end].bytes <= n {
			bytes += units[end].bytes
			end++
		}
		buckets = append(buckets, s.bucket(len(buckets), units[i:end]))
		i = end
	}
	return buckets
}

// bucket makes a bucket of consecutive units.
func (s *Scan) bucket(number int, units []unit) Bucket {
	b := Bucket{Number: number}
	for _, u := range units {
		b.Rows += u.rows
		b.Bytes += u.bytes
		src := &s.ds.files[u.file].src
		// Row groups without rows, which have no unit, may lie between.
		if k := len(b.Parts) - 1; k >= 0 && b.Parts[k].File == src.Name {
			b.Parts[k].End = u.group + 1
			b.Parts[k].Rows += u.rows
			continue
		}
		b.Parts = append(b.Parts, Part{
			File: src.Name, Size: src.Size, ETag: src.ETag, First: u.group, End: u.group + 1,
			Rows: u.rows,
		})
	}
	return b
}

// check returns the files of a bucket. It returns an error if they are not open, or differ from the bucket
// (ErrChanged).
func (s *Scan) check(b Bucket) ([]int, error) {
	files := make([]int, len(b.Parts))
	for i, p := range b.Parts {
		at, ok := s.byName[p.File]
		if !ok {
			return nil, fmt.Errorf("parquetscan: bucket %d: file %s is not open", b.Number, p.File)
		}
		f := s.ds.files[at]
		if p.Size != f.src.Size || p.ETag != f.src.ETag {
			return nil, &Error{p.File, -1, "", -1, fmt.Errorf("%w: size %d and ETag %q, the bucket has %d and %q", ErrChanged,
				f.src.Size, f.src.ETag, p.Size, p.ETag)}
		}
		rows := int64(0)
		if p.First < 0 || p.End > len(f.Groups) || p.First >= p.End {
			return nil, &Error{
				p.File, -1, "", -1,
				fmt.Errorf("bucket %d: row groups %d to %d, the file has %d", b.Number, p.First, p.End, len(f.Groups)),
			}
		}
		for _, g := range f.Groups[p.First:p.End] {
			rows += g.Rows
		}
		if p.From != 0 || p.To != 0 {
			if p.End != p.First+1 || p.From < 0 || p.From >= p.To || p.To > rows {
				return nil, &Error{
					p.File, p.First, "", -1, fmt.Errorf("bucket %d: rows %d to %d of row groups %d to %d, of %d rows", b.Number,
						p.From, p.To, p.First, p.End, rows),
				}
			}
			rows = p.To - p.From
		}
		if rows != p.Rows {
			return nil, &Error{p.File, p.First, "", -1, fmt.Errorf("%w: %d rows, the bucket has %d", ErrChanged, rows, p.Rows)}
		}
		files[i] = at
	}
	return files, nil
}

// share returns n * part / whole without overflow, for 0 <= part <= whole, and 0 if whole is 0.
func share(n, part, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}
