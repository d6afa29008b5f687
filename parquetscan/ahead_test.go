// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	if mapped == nil {
		t.Skip("files are not mapped here")
	}
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
