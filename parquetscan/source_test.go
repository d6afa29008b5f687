// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Readers that fail, files that change, and Close.

// probed opens a file through a probe.
func probed(t *testing.T, b []byte) (*probe, Source) {
	p := &probe{ReaderAt: bytes.NewReader(b)}
	return p, Source{Name: "probed", Reader: p, Size: int64(len(b))}
}

func TestReaderFails(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("network is down")
	for name, c := range map[string]struct {
		fail    func(b []byte, off int64) (int, error, bool)
		changed bool
		is      error
	}{
		"error":          {func([]byte, int64) (int, error, bool) { return 0, broken, true }, false, broken},
		"error too late": {func(b []byte, _ int64) (int, error, bool) { return len(b) - 1, broken, true }, false, broken},
		"short":          {func(b []byte, _ int64) (int, error, bool) { return len(b) / 2, nil, true }, true, io.ErrUnexpectedEOF},
		"end":            {func(b []byte, _ int64) (int, error, bool) { return len(b) - 1, io.EOF, true }, true, io.ErrUnexpectedEOF},
		"nothing":        {func([]byte, int64) (int, error, bool) { return 0, io.EOF, true }, true, io.ErrUnexpectedEOF},
		"wrapped end": {func([]byte, int64) (int, error, bool) {
			return 0, fmt.Errorf("get: %w", io.EOF), true
		}, true, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error) {
				t.Helper()
				require.Error(t, err)
				require.ErrorIs(t, err, c.is)
				require.Equal(t, c.changed, errors.Is(err, ErrChanged), "%v", err)
				require.False(t, errors.Is(err, io.EOF), "the error is io.EOF")
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, "probed", e.File)
			}
			p, src := probed(t, numbers(0, 300, 300))
			p.fail = c.fail
			_, err := OpenSources(ctx, src)
			check(err)
			p.fail = nil
			for failing := range 8 { // of the reads of data
				d, err := Config{ReadBytes: 1000}.OpenSources(ctx, src)
				require.NoError(t, err)
				s := scanOf(t, d, Options{BatchRows: 50, Workers: 1})
				n := 0
				p.fail = func(b []byte, off int64) (int, error, bool) {
					if n++; n > failing {
						return c.fail(b, off)
					}
					return 0, nil, false
				}
				rows, last := 0, error(nil)
				for b, err := range s.Batches(ctx, everything(s)) {
					if last = err; err == nil {
						require.EqualValues(t, rows, valuesOf[int64](&b.Columns[0])[0])
						rows += b.Rows
					}
				}
				if n > failing {
					check(last)
					require.Less(t, rows, 600)
				} else {
					require.NoError(t, last)
					require.Equal(t, 600, rows)
				}
				n = 0
				r, err := s.Reader(everything(s))
				require.NoError(t, err)
				var b column.Batch
				for err = nil; err == nil; err = r.ReadInto(ctx, &b) {
				}
				if !errors.Is(err, io.EOF) {
					require.Same(t, err, r.ReadInto(ctx, &b), "the error is returned again")
					require.Zero(t, b.Rows)
				}
				n = 0
				for _, err = range s.All(ctx) {
				}
				if err != nil {
					check(err)
				}
				p.fail = nil
				require.NoError(t, d.Close())
			}
		})
	}
}

// TestEOFWithLastBytes has a reader that returns io.EOF with the last bytes, as io.ReaderAt allows.
func TestEOFWithLastBytes(t *testing.T) {
	b := numbers(0, 100)
	p, src := probed(t, b)
	p.fail = func(dst []byte, off int64) (int, error, bool) { return copy(dst, b[off:]), io.EOF, true }
	d, err := OpenSources(context.Background(), src)
	require.NoError(t, err)
	defer d.Close()
	s := scanOf(t, d, Options{})
	out, err := readBucket(s, everything(s))
	require.NoError(t, err)
	require.Len(t, out, 100)
}

// TestWindow reads ranges of a file through windows of many sizes.
func TestWindow(t *testing.T) {
	files, rows := manyFiles(2, 3, 150)
	for _, size := range []int{0, 1, 7, 300, 1000, 1 << 20} {
		d := openSources(t, Config{ReadBytes: size}, files...)
		s := scanOf(t, d, Options{BatchRows: 33})
		out, err := readBucket(s, everything(s))
		require.NoError(t, err)
		require.Len(t, out, rows)
		for i, v := range out {
			require.EqualValues(t, i, v)
		}
	}
	// Only bytes of the columns are read, each once.
	p, src := probed(t, files[0])
	d, err := Config{ReadBytes: 1 << 20}.OpenSources(context.Background(), src)
	require.NoError(t, err)
	defer d.Close()
	p.reads = nil
	s := scanOf(t, d, Options{})
	_, err = readBucket(s, everything(s))
	require.NoError(t, err)
	require.Len(t, p.reads, 3, "one read per column chunk")
	end := int64(len(footer.Magic))
	for _, r := range p.reads {
		require.Equal(t, end, r[0])
		end += r[1]
	}
}

// TestUncompressedPages reads strings whose pages are views of windows: reading the next header must not change the
// current page.
func TestUncompressedPages(t *testing.T) {
	var pages [][]byte
	var want []string
	for i := range 60 {
		var values []string
		for k := range 1 + i%5 {
			values = append(values, fmt.Sprintf("%d and %d and so on", i, k))
		}
		want = append(want, values...)
		pages = append(pages, plainPage(len(values), plainText(values...)))
	}
	b := oneColumn(int64(len(want)), handColumn{name: "s", physical: physicalText, converted: convertedUTF8, pages: pages})
	for size := 1; size < 700; size += 7 {
		s := scanOf(t, openSources(t, Config{ReadBytes: size}, b), Options{})
		var got []string
		for b, err := range s.Batches(context.Background(), everything(s)) {
			require.NoError(t, err)
			got = append(got, stringsOf(&b.Columns[0])...)
		}
		require.Equal(t, want, got, "windows of %d bytes", size)
	}
}

// TestTruncatedFile truncates an open file.
func TestTruncatedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot truncate a mapped file")
	}
	ctx := context.Background()
	groups := make([]int, 40)
	for i := range groups {
		groups[i] = 5000
	}
	b := numbers(0, groups...)
	require.Greater(t, len(b), 20*os.Getpagesize())
	for _, cfg := range []Config{{}, {NoMmap: true}} {
		for _, size := range []int64{0, 1, int64(len(b) / 2), int64(os.Getpagesize())} {
			path := writeFile(t, t.TempDir(), "a", b)
			d, err := cfg.Open(ctx, path)
			require.NoError(t, err)
			s := scanOf(t, d, Options{Workers: 3})
			r, err := s.Reader(everything(s))
			require.NoError(t, err)
			var batch column.Batch
			require.NoError(t, r.ReadInto(ctx, &batch))
			require.NoError(t, os.Truncate(path, size))
			for err = nil; err == nil; err = r.ReadInto(ctx, &batch) {
			}
			check := func(err error) {
				t.Helper()
				require.ErrorIs(t, err, ErrChanged)
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, path, e.File)
			}
			check(err)
			check(r.ReadInto(ctx, &batch))
			for _, err = range s.All(ctx) {
			}
			check(err)
			check(s.Borrow(ctx, nil, func(int, *column.Batch) error { return nil }))
			require.NoError(t, d.Close())
		}
	}
}

// TestTruncatedTail truncates within the last page of memory, which then reads as zeros, without a fault.
func TestTruncatedTail(t *testing.T) {
	b := numbers(0, 100, 100)
	require.Less(t, len(b), os.Getpagesize())
	path := writeFile(t, t.TempDir(), "a", b)
	d, err := Open(context.Background(), path)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, os.Truncate(path, 500))
	s := scanOf(t, d, Options{})
	_, err = readBucket(s, everything(s))
	require.ErrorIs(t, err, ErrChanged)
}

func TestClose(t *testing.T) {
	ctx := context.Background()
	b := numbers(0, 500, 500)
	path := writeFile(t, t.TempDir(), "a", b)
	for _, cfg := range []Config{{}, {NoMmap: true}} {
		d, err := cfg.Open(ctx, path)
		require.NoError(t, err)
		s := scanOf(t, d, Options{BatchRows: 10})
		r, err := s.Reader(everything(s))
		require.NoError(t, err)
		batch := new(column.Batch)
		require.NoError(t, r.ReadInto(ctx, batch))
		require.NoError(t, d.Close())
		require.EqualValues(t, 9, valuesOf[int64](&batch.Columns[0])[9])
		require.ErrorIs(t, r.ReadInto(ctx, batch), ErrClosed)
		require.ErrorIs(t, r.ReadInto(ctx, batch), ErrClosed)
		require.ErrorIs(t, s.Borrow(ctx, nil, func(int, *column.Batch) error { return nil }), ErrClosed)
		for _, err = range s.All(ctx) {
		}
		require.ErrorIs(t, err, ErrClosed)
		for _, err = range s.Batches(ctx, everything(s)) {
		}
		require.ErrorIs(t, err, ErrClosed)
		require.EqualValues(t, 1000, d.NumRows(), "metadata stays available")
		require.NoError(t, d.Close())
	}
}

// TestCloseWaits closes during a read.
func TestCloseWaits(t *testing.T) {
	ctx := context.Background()
	p, src := probed(t, numbers(0, 10))
	d, err := OpenSources(ctx, src)
	require.NoError(t, err)
	s := scanOf(t, d, Options{})
	reading, goOn, closed := make(chan bool), make(chan bool), make(chan error, 1)
	p.fail = func([]byte, int64) (int, error, bool) {
		close(reading)
		<-goOn
		return 0, nil, false
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if out, err := readBucket(s, everything(s)); len(out) != 10 || !(err == nil || errors.Is(err, ErrClosed)) {
			t.Errorf("%d rows, %v", len(out), err)
		}
	})
	<-reading
	go func() { closed <- d.Close() }()
	select {
	case err := <-closed:
		t.Errorf("closed while reading: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	close(goOn)
	require.NoError(t, <-closed)
	wg.Wait()
	p.fail = nil
	_, err = readBucket(s, everything(s))
	require.ErrorIs(t, err, ErrClosed)
}

// TestCloseWhileAllReads closes mapped files during many reads: they do not fault, and return all rows or ErrClosed.
func TestCloseWhileAllReads(t *testing.T) {
	ctx := context.Background()
	path := writeFile(t, t.TempDir(), "a", flatFile(t, 3000, compress.Codecs.Snappy))
	for i := range 20 {
		d, err := Open(ctx, path)
		require.NoError(t, err)
		s := scanOf(t, d, Options{Workers: 4, BatchRows: 20})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				rows, last := 0, error(nil)
				for b, err := range s.All(ctx, everything(s)) {
					if last = err; err == nil {
						rows += b.Rows
					}
				}
				if last == nil && rows != 3000 || last != nil && !errors.Is(last, ErrClosed) {
					t.Errorf("%d rows, %v", rows, last)
				}
			})
		}
		time.Sleep(time.Duration(i) * 100 * time.Microsecond)
		require.NoError(t, d.Close())
		wg.Wait()
	}
}
