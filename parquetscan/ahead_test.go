// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd

package parquetscan

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestNextRowGroupIsRequested reads the first batch of a bucket of mapped files: the row group that follows, in the
// part, in the next part or in the next bucket of the worker, is requested, and no other one.
func TestNextRowGroupIsRequested(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a", "b"} {
		writeFile(t, dir, name, numbers(1000*i, 10, 10, 10))
	}
	d, err := Open(context.Background(), filepath.Join(dir, "*"))
	require.NoError(t, err)
	defer d.Close()
	require.NotNil(t, d.files[0].Mapped)
	one := func(s *Scan, unit int) Bucket { return s.bucket(0, s.units()[unit:unit+1]) }
	for name, c := range map[string]struct {
		split func(s *Scan) []Bucket
		want  [2]int // the file and its row group
	}{
		"in the part":        {func(s *Scan) []Bucket { return s.SplitByCount(1) }, [2]int{0, 1}},
		"in the next part":   {func(s *Scan) []Bucket { return []Bucket{joinParts(one(s, 2), one(s, 4))} }, [2]int{1, 1}},
		"in the next bucket": {func(s *Scan) []Bucket { return []Bucket{one(s, 2), one(s, 0), one(s, 5)} }, [2]int{0, 0}},
		"nowhere":            {func(s *Scan) []Bucket { return []Bucket{one(s, 5)} }, [2]int{-1, -1}},
	} {
		s := scanOf(t, d, Options{Workers: 1})
		w := s.newWork(c.split(s))
		r, err := w.reader(0)
		require.NoError(t, err)
		require.NoError(t, r.ReadInto(context.Background(), new(column.Batch)))
		for at := range d.files {
			for group := range d.files[at].Groups {
				require.Equal(t, c.want == [2]int{at, group}, s.requested[at][group].Load(), "%s: file %d, row group %d", name, at, group)
			}
		}
	}
}

// joinParts returns a bucket of the parts of two.
func joinParts(a, b Bucket) Bucket {
	a.Parts = append(a.Parts, b.Parts...)
	a.Rows, a.Bytes = a.Rows+b.Rows, a.Bytes+b.Bytes
	return a
}

// TestRequestedRowGroups reads row groups of several files in every way that requests those to come: the rows are all
// there, whatever follows.
func TestRequestedRowGroups(t *testing.T) {
	dir := t.TempDir()
	var want int64
	for i, name := range []string{"a", "b", "c"} {
		writeFile(t, dir, name, people(t, uint64(i), 100+i))
		want += int64(100 + i)
	}
	d, err := Open(context.Background(), filepath.Join(dir, "*"))
	require.NoError(t, err)
	defer d.Close()
	filter := Ge("id", int64(-1<<63))
	for _, o := range []Options{{Workers: 1}, {Workers: 3}, {Workers: 2, Filter: filter}, {Workers: 2, Ordered: true}} {
		s := scanOf(t, d, o)
		for _, buckets := range [][]Bucket{nil, s.SplitByCount(1), s.SplitByCount(2), append(s.SplitByCount(3), Bucket{})} {
			rows := int64(0)
			for b, err := range s.All(context.Background(), buckets...) {
				require.NoError(t, err)
				rows += int64(b.Rows)
			}
			require.Equal(t, want, rows)
		}
	}
}
