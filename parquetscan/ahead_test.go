// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd

package parquetscan

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestWindowLoads reads parts of a mapped range in order: the bytes are those of the file, and the window never loads
// or requests bytes outside of the range.
func TestWindowLoads(t *testing.T) {
	content := make([]byte, 3*readStep+1234)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	_, local, err := openFile(writeFile(t, t.TempDir(), "f", content))
	require.NoError(t, err)
	defer local.Close()
	mapped, err := mapFile(local, int64(len(content)))
	require.NoError(t, err)
	require.NotNil(t, mapped)
	defer func() { require.NoError(t, unmapFile(mapped)) }()
	const start = 5000
	end := int64(len(content) - 17)
	w := window{src: &Source{Size: int64(len(content))}, mapped: mapped}
	w.startMapped(start)
	w.request(start + 100)
	require.EqualValues(t, start+100, w.requested)
	for at := int64(start); ; {
		n := min(int64(rng.IntN(readStep/3)), end-at)
		b, err := w.bytes(at, int(n), end)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content[at:at+n], b))
		require.GreaterOrEqual(t, w.loaded, at+n)
		require.LessOrEqual(t, w.loaded, w.requested)
		require.LessOrEqual(t, w.requested, end)
		if at+n == end {
			break
		}
		at = min(end, at+n+int64(rng.IntN(readStep))) // the walker may skip a page
	}
	require.Equal(t, end, w.loaded)
	_, err = w.bytes(0, len(content), int64(len(content))) // more than a step
	require.NoError(t, err)
	require.EqualValues(t, len(content), w.loaded)
	w.startMapped(start) // the next column chunk may be anywhere
	w.request(start + 100)
	require.EqualValues(t, start+100, w.requested)
	_, err = w.bytes(start, 10, end)
	require.NoError(t, err)
	require.EqualValues(t, start+readStep, w.loaded)
	require.EqualValues(t, start+2*readStep, w.requested)
}

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
	require.NotNil(t, d.files[0].mapped)
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
			for group := range d.files[at].groups {
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
