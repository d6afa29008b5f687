// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// resident returns how many bytes of a range of a mapped file are in the page cache.
func resident(t *testing.T, mapped []byte, from, to int64) int64 {
	page := int64(os.Getpagesize())
	from, to = (from+page-1)/page*page, to/page*page
	if from >= to {
		return 0
	}
	in := make([]byte, (to-from)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[from])), uintptr(to-from),
		uintptr(unsafe.Pointer(&in[0])))
	require.Zero(t, errno)
	n := int64(0)
	for _, v := range in {
		n += int64(v&1) * page
	}
	return n
}

// TestOtherColumnsAreNotRead reads one column of a file that is not in the page cache: the bytes of the other column
// stay on the disk, but for those beside the footer.
func TestOtherColumnsAreNotRead(t *testing.T) {
	const rows, group = 1 << 18, 1 << 17
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}
	b := writeArrow(t, rand.New(rand.NewPCG(1, 1)), fields, rows, 0, 1<<30, group, parquet.WithDictionaryDefault(false))
	path := writeFile(t, t.TempDir(), "f", b)
	local, err := os.Open(path)
	require.NoError(t, err)
	require.NoError(t, local.Sync())
	require.NoError(t, unix.Fadvise(int(local.Fd()), 0, 0, unix.FADV_DONTNEED))

	whole := input.File{Local: local, Size: int64(len(b))}
	require.NoError(t, whole.Map())
	defer func() { require.NoError(t, whole.Close()) }()
	if n := resident(t, whole.Mapped, 0, int64(len(b))); n > 0 {
		t.Skipf("%d bytes stay in the page cache of this file system", n)
	}

	d, err := Open(context.Background(), path)
	require.NoError(t, err)
	defer d.Close()
	f, read := d.files[0], int64(0)
	s := scanOf(t, d, Options{Columns: []string{"a"}, Workers: 1})
	require.NoError(t, s.Borrow(context.Background(), nil, func(_ int, b *column.Batch) error {
		read += int64(b.Rows)
		return nil
	}))
	require.EqualValues(t, rows, read)
	for g := range f.Groups {
		for leaf, most := range []float64{1, 0.1} {
			meta, err := f.Chunk(g, leaf)
			require.NoError(t, err)
			start, length, err := f.Range(&meta)
			require.NoError(t, err)
			require.Greater(t, length, int64(1<<20))
			require.LessOrEqual(t, float64(resident(t, f.Mapped, start, start+length)), most*float64(length), "column %d", leaf)
		}
	}
}

// TestCloseUnmapsFiles closes a Dataset: its files are no longer mapped.
func TestCloseUnmapsFiles(t *testing.T) {
	path := writeFile(t, t.TempDir(), "f", numbers(0, 10))
	mapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		require.NoError(t, err)
		return strings.Contains(string(maps), path)
	}
	d, err := Open(context.Background(), path)
	require.NoError(t, err)
	require.True(t, mapped())
	require.NoError(t, d.Close())
	require.False(t, mapped())
}

// TestFilesThatCannotBeMapped opens a file of the kernel, which has a size but cannot be mapped.
func TestFilesThatCannotBeMapped(t *testing.T) {
	const path = "/sys/devices/system/cpu/online"
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Positive(t, info.Size())
	_, err = Open(context.Background(), path)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, &Error{File: path, RowGroup: -1, Row: -1, Err: e.Err}, e)
	require.ErrorContains(t, err, "mapping: ")
}
