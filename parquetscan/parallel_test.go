// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/leak"
)

// Reading by many goroutines. Tests repeat often, to catch rare orders of events.

// requireNoGoroutines fails if a goroutine of this package is still running.
func requireNoGoroutines(t *testing.T) {
	t.Helper()
	leak.RequireNone(t, func() []string { return leak.Of(leak.Module + "/parquetscan") })
}

// manyFiles makes files of several row groups each; column n counts the rows.
func manyFiles(files, groups, size int) (out [][]byte, rows int) {
	for range files {
		sizes := make([]int, groups)
		for i := range sizes {
			sizes[i] = size + i
		}
		out = append(out, numbers(rows, sizes...))
		for _, n := range sizes {
			rows += n
		}
	}
	return out, rows
}

func TestAllReturnsEverything(t *testing.T) {
	files, rows := manyFiles(3, 7, 23)
	for _, ordered := range []bool{false, true} {
		for _, workers := range []int{1, 2, 3, 8, 100} {
			d := openSources(t, Config{}, files...)
			s := scanOf(t, d, Options{Ordered: ordered, Workers: workers, BatchRows: 10})
			for _, buckets := range [][]Bucket{nil, s.SplitByCount(1), s.SplitByCount(5), s.SplitByBytes(1), s.SplitByCount(5)[2:4]} {
				first, want := int64(0), int64(rows)
				if len(buckets) == 2 {
					first = s.SplitByCount(5)[0].Rows + s.SplitByCount(5)[1].Rows
					want = buckets[0].Rows + buckets[1].Rows
				}
				var got []int64
				for b, err := range s.All(context.Background(), buckets...) {
					require.NoError(t, err)
					got = append(got, valuesOf[int64](&b.Columns[0])...)
					require.Equal(t, b.Source.FirstRow, valuesOf[int64](&b.Columns[0])[0])
				}
				if !ordered {
					slices.Sort(got)
				}
				require.Len(t, got, int(want))
				for i, v := range got {
					require.EqualValues(t, int(first)+i, v)
				}
			}
		}
	}
	requireNoGoroutines(t)
}

// TestOrderedEndsLate reads small files often: batches that are queued when the last worker ends must not be lost.
func TestOrderedEndsLate(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 5, 5, 5))
	for _, ordered := range []bool{true, false} {
		s := scanOf(t, d, Options{Ordered: ordered, Workers: 2})
		for range 500 {
			rows := 0
			for b, err := range s.All(context.Background()) {
				require.NoError(t, err)
				rows += b.Rows
				runtime.Gosched()
			}
			require.Equal(t, 15, rows)
		}
		// A slow consumer: all workers have ended before it receives the last batches.
		for range 5 {
			rows := 0
			for b, err := range s.All(context.Background()) {
				require.NoError(t, err)
				rows += b.Rows
				time.Sleep(2 * time.Millisecond)
			}
			require.Equal(t, 15, rows)
		}
	}
}

func TestBreakOutOfAll(t *testing.T) {
	files, _ := manyFiles(2, 10, 50)
	d := openSources(t, Config{}, files...)
	for _, ordered := range []bool{false, true} {
		s := scanOf(t, d, Options{Ordered: ordered, Workers: 4, BatchRows: 7})
		for stop := range 40 {
			seen := 0
			for b, err := range s.All(context.Background()) {
				require.NoError(t, err)
				require.Positive(t, b.Rows)
				if seen++; seen > stop {
					break
				}
			}
			require.Equal(t, stop+1, seen)
		}
	}
	requireNoGoroutines(t)
	for b, err := range scanOf(t, d, Options{BatchRows: 7}).Batches(context.Background(), everything(scanOf(t, d, Options{}))) {
		require.NoError(t, err)
		require.Equal(t, 7, b.Rows)
		break
	}
}

func TestCancel(t *testing.T) {
	files, rows := manyFiles(2, 10, 50)
	d := openSources(t, Config{}, files...)
	for _, ordered := range []bool{false, true} {
		s := scanOf(t, d, Options{Ordered: ordered, Workers: 4, BatchRows: 7})
		for stop := range 40 {
			ctx, cancel := context.WithCancel(context.Background())
			seen, last := 0, error(nil)
			for b, err := range s.All(ctx) {
				require.NoError(t, last, "a batch after an error")
				if last = err; err == nil {
					require.Positive(t, b.Rows)
				}
				if seen++; seen == stop {
					cancel()
				}
			}
			cancel()
			if stop > 0 {
				require.ErrorIs(t, last, context.Canceled)
			} else {
				require.NoError(t, last)
			}
		}
	}
	s := scanOf(t, d, Options{Workers: 4, BatchRows: 7})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var seen atomic.Int64
	err := s.Borrow(ctx, nil, func(_ int, b *column.Batch) error {
		if seen.Add(int64(b.Rows)) > 100 {
			cancel()
		}
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, seen.Load(), int64(rows))
	for _, err = range s.All(ctx) {
	}
	require.ErrorIs(t, err, context.Canceled)
	for _, err = range s.Batches(ctx, everything(s)) {
	}
	require.ErrorIs(t, err, context.Canceled)
	r, err := s.Reader(everything(s))
	require.NoError(t, err)
	require.ErrorIs(t, r.ReadInto(ctx, new(column.Batch)), context.Canceled)
	requireNoGoroutines(t)
}

// TestCancelWhenAllIsQueued cancels a slow consumer whose workers have ended: the iteration must end with an error.
func TestCancelWhenAllIsQueued(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 5, 5, 5))
	s := scanOf(t, d, Options{Ordered: true, Workers: 3})
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		rows, last := 0, error(nil)
		for b, err := range s.All(ctx) {
			if last = err; err == nil {
				rows += b.Rows
			}
			time.Sleep(100 * time.Microsecond)
			cancel()
		}
		cancel()
		require.True(t, rows == 15 || errors.Is(last, context.Canceled), "%d rows and %v", rows, last)
	}
}

// TestErrorInOneFile reads files, one with a corrupt page: the error is ErrCorrupt, not the cancellation of other
// workers.
func TestErrorInOneFile(t *testing.T) {
	files, rows := manyFiles(5, 6, 30)
	wrong := uint32(1)
	bad := handColumn{name: "n", physical: physicalInt64, converted: convertedNever, values: 20}
	bad.pages = [][]byte{plainPage(10, int64s(0, 10)), rawPage(rawHeader{n: 10, uncompressed: -1, crc: &wrong}, int64s(10, 10))}
	files[3] = oneColumn(20, bad)
	d := openSources(t, Config{}, files...)
	check := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, ErrCorrupt)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "3", e.File)
		require.Equal(t, "n", e.Column)
		require.Equal(t, 0, e.RowGroup)
	}
	for range 20 {
		for _, ordered := range []bool{false, true} {
			s := scanOf(t, d, Options{Ordered: ordered, Workers: 4, BatchRows: 10})
			seen, last := 0, error(nil)
			for b, err := range s.All(context.Background()) {
				require.NoError(t, last)
				if last = err; err != nil {
					require.Nil(t, b)
					continue
				}
				if ordered {
					require.EqualValues(t, seen, b.Source.FirstRow)
				}
				seen += b.Rows
			}
			check(last)
			require.Less(t, seen, rows)
		}
		s := scanOf(t, d, Options{Workers: 4, BatchRows: 10})
		check(s.Borrow(context.Background(), nil, func(int, *column.Batch) error { return nil }))
	}
	requireNoGoroutines(t)
}

func TestBorrow(t *testing.T) {
	files, rows := manyFiles(3, 7, 40)
	d := openSources(t, Config{}, files...)
	for _, workers := range []int{1, 3, 100} {
		s := scanOf(t, d, Options{Workers: workers, BatchRows: 9})
		for _, buckets := range [][]Bucket{nil, s.SplitByCount(4)} {
			var mu sync.Mutex
			busy, batches := map[int]bool{}, map[*column.Batch]int{}
			seen := make([]bool, rows)
			require.NoError(t, s.Borrow(context.Background(), buckets, func(worker int, b *column.Batch) error {
				mu.Lock()
				if busy[worker] || worker < 0 || worker >= min(workers, 21) {
					t.Errorf("worker %d", worker)
				}
				busy[worker] = true
				batches[b] = worker
				mu.Unlock()
				for _, v := range valuesOf[int64](&b.Columns[0]) {
					mu.Lock()
					if seen[v] {
						t.Errorf("row %d twice", v)
					}
					seen[v] = true
					mu.Unlock()
				}
				mu.Lock()
				busy[worker] = false
				mu.Unlock()
				return nil
			}))
			require.NotContains(t, seen, false)
			require.LessOrEqual(t, len(batches), workers, "each worker has one batch")
		}
	}
	mine := errors.New("mine")
	var calls atomic.Int64
	err := scanOf(t, d, Options{Workers: 3, BatchRows: 9}).Borrow(context.Background(), nil, func(int, *column.Batch) error {
		if calls.Add(1) >= 5 {
			return mine
		}
		return nil
	})
	require.ErrorIs(t, err, mine)
	require.LessOrEqual(t, calls.Load(), int64(5+3))
	requireNoGoroutines(t)
}

// TestProgress compares reported progress with the totals, and checks that calls do not overlap.
func TestProgress(t *testing.T) {
	files, rows := manyFiles(3, 7, 40)
	files = append(files, numbers(rows, 0, 4, 0, 0, 4, 0))
	rows += 8
	d := openSources(t, Config{}, files...)
	for _, ordered := range []bool{false, true} {
		var inside atomic.Int32
		var reports []Progress
		s := scanOf(t, d, Options{Workers: 4, BatchRows: 9, Ordered: ordered, Progress: func(p Progress) {
			if inside.Add(1) != 1 {
				t.Error("two calls at once")
			}
			runtime.Gosched()
			reports = append(reports, p)
			inside.Add(-1)
		}})
		for name, buckets := range map[string][]Bucket{
			"all": nil, "four": s.SplitByCount(4), "one": s.SplitByCount(1),
			"some": s.SplitByCount(7)[2:5],
		} {
			wantRows, wantBytes, wantBuckets := int64(0), int64(0), 0
			for _, b := range buckets {
				wantRows, wantBytes, wantBuckets = wantRows+b.Rows, wantBytes+b.Bytes, wantBuckets+1
			}
			if buckets == nil {
				wantRows, wantBytes, wantBuckets = int64(rows), s.SplitByCount(1)[0].Bytes, 23
			}
			for _, run := range []func() error{
				func() error {
					for _, err := range s.All(context.Background(), buckets...) {
						if err != nil {
							return err
						}
					}
					return nil
				},
				func() error {
					return s.Borrow(context.Background(), buckets, func(int, *column.Batch) error { return nil })
				},
			} {
				reports = nil
				require.NoError(t, run())
				require.NotEmpty(t, reports)
				before := Progress{}
				for _, p := range reports {
					require.Equal(t, []int64{wantRows, wantBytes}, []int64{p.TotalRows, p.TotalBytes}, name)
					require.Equal(t, wantBuckets, p.TotalBuckets)
					require.LessOrEqual(t, before.Rows, p.Rows)
					require.LessOrEqual(t, before.Bytes, p.Bytes)
					require.LessOrEqual(t, before.Buckets, p.Buckets)
					before = p
				}
				require.Equal(t, Progress{wantRows, wantRows, wantBytes, wantBytes, wantBuckets, wantBuckets}, before, name)
			}
		}
	}
}

// TestManyScansAtOnce shares a Dataset and a Scan between goroutines.
func TestManyScansAtOnce(t *testing.T) {
	b := people(t, 3, 600)
	path := writeFile(t, t.TempDir(), "a", b)
	d, err := Open(context.Background(), path)
	require.NoError(t, err)
	defer d.Close()
	shared := scanOf(t, d, Options{BatchRows: 50, Workers: 2})
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			s := shared
			if g%2 == 0 {
				var err error
				if s, err = d.Scan(Options{BatchRows: 31, Workers: 3, Ordered: true}); err != nil {
					t.Error(err)
					return
				}
			}
			for range 5 {
				rows := 0
				for b, err := range s.All(context.Background()) {
					if err != nil {
						t.Error(err)
						return
					}
					rows += b.Rows
				}
				if rows != 600 {
					t.Errorf("%d rows", rows)
				}
			}
		})
	}
	wg.Wait()
}

// TestEncryptedInParallel reads an encrypted file on many goroutines.
func TestEncryptedInParallel(t *testing.T) {
	const footerKey, columnKey = "0123456789012345", "1234567890123450"
	col := parquet.ColumnPathToEncryptionPropsMap{"id": parquet.NewColumnEncryptionProperties("id", parquet.WithKey(columnKey))}
	for name, options := range map[string][]parquet.EncryptOption{
		"footer key": nil, "column key": {parquet.WithEncryptedColumns(col)}, "plaintext footer": {parquet.WithPlaintextFooter()},
	} {
		t.Run(name, func(t *testing.T) {
			props := parquet.NewFileEncryptionProperties(footerKey, options...)
			fields := everyType(true)[3:5]
			fields[0].Name, fields[1].Name = "id", "other"
			plain := writeArrow(t, rand.New(rand.NewPCG(9, 1)), fields, 600, 0.2, 9, 40, parquet.WithDataPageSize(100), parquet.WithBatchSize(10))
			b := writeArrow(t, rand.New(rand.NewPCG(9, 1)), fields, 600, 0.2, 9, 40, parquet.WithDataPageSize(100), parquet.WithBatchSize(10),
				parquet.WithEncryptionProperties(props))
			keys := &Decryption{FooterKey: []byte(footerKey)}
			if name == "column key" {
				keys.ColumnKeys = map[string][]byte{"id": []byte(columnKey)}
			}
			collect := func(d *Dataset) (out []*column.Batch) {
				for b, err := range scanOf(t, d, Options{Workers: 4, Ordered: true}).All(context.Background()) {
					require.NoError(t, err)
					out = append(out, b)
				}
				return out
			}
			d, want := openSources(t, Config{Decryption: keys}, b), collect(openSources(t, Config{}, plain))
			for range 5 {
				got := collect(d)
				require.Len(t, got, len(want))
				for i, b := range got {
					require.Equal(t, want[i].Source.FirstRow, b.Source.FirstRow)
					for k := range b.Columns {
						require.Equal(t, want[i].Columns[k].ValidityBits(), b.Columns[k].ValidityBits())
						require.True(t, bytes.Equal(want[i].Columns[k].Values, b.Columns[k].Values))
					}
				}
			}
			_, err := OpenSources(context.Background(), memorySource("x", b))
			if name == "plaintext footer" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "Config.Decryption")
			}
			wrong := &Decryption{FooterKey: []byte("xxxxxxxxxxxxxxxx")}
			_, err = Config{Decryption: wrong}.OpenSources(context.Background(), memorySource("x", b))
			require.Error(t, err)
			requireTyped(t, err)
		})
	}
	requireNoGoroutines(t)
}

// TestOrderedIsBounded stops at the first batch: All must not read ahead further than documented.
func TestOrderedIsBounded(t *testing.T) {
	files, _ := manyFiles(1, 40, 50)
	p := &probe{ReaderAt: bytes.NewReader(files[0])}
	d, err := Config{ReadBytes: 1}.OpenSources(context.Background(), Source{Name: "a", Reader: p, Size: int64(len(files[0]))})
	require.NoError(t, err)
	defer d.Close()
	for _, ordered := range []bool{false, true} {
		var batches atomic.Int64
		s := scanOf(t, d, Options{Workers: 2, Ordered: ordered, Progress: func(p Progress) { batches.Store(int64(p.Buckets)) }})
		for _, err := range s.All(context.Background()) {
			require.NoError(t, err)
			time.Sleep(50 * time.Millisecond) // workers read ahead as far as they can
			break
		}
		most := int64(1 + 3*2)
		if ordered {
			most = 1 + 6*2
		}
		require.LessOrEqual(t, batches.Load(), most, fmt.Sprintf("ordered %v", ordered))
	}
}

// TestDatasetBatchesComeInOrder requires the order of the files' rows, though several goroutines read row groups of
// different sizes.
func TestDatasetBatchesComeInOrder(t *testing.T) {
	const groups = 60
	var buf bytes.Buffer
	schema := column.Schema{{Name: "n", Type: column.TypeOf[int64]()}, {Name: "s", Type: column.Type{Kind: column.String}}}
	w, err := NewWriter(&buf, schema, WriterOptions{RowGroupRows: 400})
	require.NoError(t, err)
	next := int64(0)
	for g := range groups {
		n, s := make([]int64, 400), make([]string, 400)
		for i := range n {
			n[i], s[i] = next, string(bytes.Repeat([]byte("x"), (groups-g)*10))
			next++
		}
		require.NoError(t, w.Write(column.NewBatch(column.Of("n", n), column.Strings("s", s))))
	}
	require.NoError(t, w.Close())
	d, err := OpenSources(t.Context(), Source{Name: "a", Size: int64(buf.Len()), Reader: bytes.NewReader(buf.Bytes())})
	require.NoError(t, err)
	defer d.Close()
	for _, columns := range [][]string{nil, {"n"}, {"s", "n"}} {
		want := int64(0)
		for b, err := range d.Batches(t.Context(), columns...) {
			require.NoError(t, err)
			if columns != nil {
				require.Equal(t, columns, b.Schema().Names())
			}
			n, err := column.Slice[int64](b.Column("n"))
			require.NoError(t, err)
			for _, v := range n {
				require.Equal(t, want, v)
				want++
			}
		}
		require.Equal(t, next, want)
	}
}
