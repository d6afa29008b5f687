// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Splitting of row groups into buckets.

// randomFiles makes files whose column n counts the rows of all files. Row groups may have no rows, and files no row
// groups.
func randomFiles(rng *rand.Rand) (files [][]byte, rows int) {
	for range 1 + rng.IntN(5) {
		groups := []int{rng.IntN(20)}
		for range rng.IntN(6) {
			switch rng.IntN(4) {
			case 0:
				groups = append(groups, 0)
			case 1:
				groups = append(groups, 1+rng.IntN(1000))
			default:
				groups = append(groups, rng.IntN(50))
			}
		}
		files = append(files, numbers(rows, groups...))
		for _, n := range groups {
			rows += n
		}
	}
	return files, rows
}

// requireWhole checks that buckets have all rows of a scan, in order, each once, and that their fields are right. It
// returns the bytes of the largest bucket.
func requireWhole(t *testing.T, s *Scan, buckets []Bucket, read bool) (most int64) {
	t.Helper()
	var units []unit
	next, rows, total := int64(0), int64(0), int64(0)
	at := map[[2]int]bool{}
	for i, b := range buckets {
		require.Equal(t, i, b.Number)
		require.Positive(t, b.Rows, "a bucket without rows")
		require.NotEmpty(t, b.Parts)
		sum := int64(0)
		for _, p := range b.Parts {
			file := s.byName[p.File]
			require.Less(t, p.First, p.End)
			for g := p.First; g < p.End; g++ {
				require.False(t, at[[2]int{file, g}], "row group %d of %s twice", g, p.File)
				at[[2]int{file, g}] = true
				if n := s.ds.files[file].Groups[g].Rows; n > 0 {
					units = append(units, unit{file, g, n, s.compressed(file, g)})
				}
			}
			sum += p.Rows
		}
		require.Equal(t, b.Rows, sum)
		rows += b.Rows
		total += b.Bytes
		most = max(most, b.Bytes)
		n, err := s.Count(context.Background(), b)
		require.NoError(t, err)
		require.Equal(t, b.Rows, n)
		if read {
			out, err := readBucket(s, b)
			require.NoError(t, err)
			require.Len(t, out, int(b.Rows))
			for _, v := range out {
				require.Equal(t, next, v)
				next++
			}
		}
	}
	require.Equal(t, s.sizedUnits(), append([]unit{}, units...), "row groups are missing or out of order")
	require.Equal(t, s.ds.NumRows(), rows)
	want := int64(0)
	for _, u := range s.sizedUnits() {
		want += u.bytes
	}
	require.Equal(t, want, total)
	return most
}

// TestSplitByCount checks that no bucket exceeds the average by more than half of the largest row group times 1 + H(n),
// the harmonic number: each bucket ends within half a row group of its share of the remaining bytes, and all later
// buckets share the difference.
func TestSplitByCount(t *testing.T) {
	for seed := range uint64(40) {
		files, rows := randomFiles(rand.New(rand.NewPCG(2, seed)))
		d := openSources(t, Config{}, files...)
		s := scanOf(t, d, Options{})
		require.EqualValues(t, rows, d.NumRows())
		units := s.sizedUnits()
		total, largest := int64(0), int64(0)
		for _, u := range units {
			total += u.bytes
			largest = max(largest, u.bytes)
		}
		harmonic := 0.0
		for n := 1; n <= len(units)+3; n++ {
			harmonic += 1 / float64(n)
			buckets := s.SplitByCount(n)
			require.Len(t, buckets, min(n, len(units)))
			most := requireWhole(t, s, buckets, n == 1 || n == 3 || n == len(units))
			if n <= len(units) {
				require.LessOrEqual(t, float64(most), float64(total)/float64(n)+float64(largest)/2*(1+harmonic)+1, "%d of %d", n, len(units))
			}
			count, err := s.Count(context.Background(), buckets...)
			require.NoError(t, err)
			require.Equal(t, d.NumRows(), count)
		}
		require.Empty(t, s.SplitByCount(0))
		require.Empty(t, s.SplitByCount(-1))
	}
}

// TestSplitNearest splits before a large row group, which is closer to the next bucket's share.
func TestSplitNearest(t *testing.T) {
	s := scanOf(t, openSources(t, Config{}, numbers(0, 10, 10, 10, 90, 10)), Options{})
	for n, want := range map[int][]int64{2: {30, 100}, 3: {30, 90, 10}, 4: {20, 10, 90, 10}} {
		var rows []int64
		for _, b := range s.SplitByCount(n) {
			rows = append(rows, b.Rows)
		}
		require.Equal(t, want, rows)
	}
}

// TestSplitEvenly splits row groups of equal size: buckets differ by at most one row group.
func TestSplitEvenly(t *testing.T) {
	groups := make([]int, 60)
	for i := range groups {
		groups[i] = 10
	}
	s := scanOf(t, openSources(t, Config{}, numbers(0, groups...)), Options{})
	for n := 1; n <= 60; n++ {
		low, high := math.MaxInt, 0
		for _, b := range s.SplitByCount(n) {
			k := int(b.Rows / 10)
			low, high = min(low, k), max(high, k)
		}
		require.LessOrEqual(t, high-low, 1, "%d buckets", n)
	}
}

func TestSplitByBytes(t *testing.T) {
	for seed := range uint64(20) {
		files, _ := randomFiles(rand.New(rand.NewPCG(3, seed)))
		s := scanOf(t, openSources(t, Config{}, files...), Options{})
		units := s.sizedUnits()
		for _, n := range []int64{math.MinInt64, -1, 0, 1, 100, 1000, 3000, 10_000, 1 << 40, math.MaxInt64} {
			buckets := s.SplitByBytes(n)
			requireWhole(t, s, buckets, false)
			at := 0
			for _, b := range buckets {
				groups, bytes := 0, int64(0)
				for ; bytes < b.Bytes; at++ {
					bytes += units[at].bytes
					groups++
				}
				require.True(t, bytes <= n || groups == 1, "%d bytes in %d row groups", bytes, groups)
				if at < len(units) && n > 0 {
					require.Greater(t, units[at].bytes, n-bytes, "the next row group would fit")
				}
			}
		}
	}
}

// TestNothingToSplit splits a file without rows.
func TestNothingToSplit(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 0, 0), numbers(0, 0))
	s := scanOf(t, d, Options{})
	require.Empty(t, s.SplitByCount(5))
	require.Empty(t, s.SplitByBytes(1000))
	n, err := s.Count(context.Background())
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, s.Borrow(context.Background(), nil, func(int, *column.Batch) error { return io.ErrNoProgress }))
	for _, err := range s.All(context.Background()) {
		t.Fatalf("a batch without rows, or the error %v", err)
	}
	// Row groups without rows may be in a bucket made by hand.
	src := d.files[0].src
	r, err := s.Reader(Bucket{Parts: []Part{{File: src.Name, Size: src.Size, ETag: src.ETag, First: 0, End: 2}}})
	require.NoError(t, err)
	var b column.Batch
	require.ErrorIs(t, r.ReadInto(context.Background(), &b), io.EOF)
}

func TestBucketJSON(t *testing.T) {
	files, rows := randomFiles(rand.New(rand.NewPCG(4, 1)))
	s := scanOf(t, openSources(t, Config{}, files...), Options{})
	text, err := json.Marshal(s.SplitByCount(4))
	require.NoError(t, err)
	// Another process has the same files.
	other := scanOf(t, openSources(t, Config{}, files...), Options{})
	var buckets []Bucket
	require.NoError(t, json.Unmarshal(text, &buckets))
	require.Equal(t, s.SplitByCount(4), buckets)
	next := int64(0)
	for _, b := range buckets {
		out, err := readBucket(other, b)
		require.NoError(t, err)
		for _, v := range out {
			require.Equal(t, next, v)
			next++
		}
	}
	require.EqualValues(t, rows, next)
	// Another file before these makes no difference.
	all := append([][]byte{numbers(5000, 7)}, files...)
	var sources []Source
	for i, b := range all {
		sources = append(sources, memorySource(fmt.Sprint(i-1), b))
	}
	d, err := OpenSources(context.Background(), sources...)
	require.NoError(t, err)
	defer d.Close()
	out, err := readBucket(scanOf(t, d, Options{}), buckets[0])
	require.NoError(t, err)
	require.Len(t, out, int(buckets[0].Rows))
	const golden = `{"number":1,"parts":[{"file":"f","size":9,"etag":"e","first":2,"end":3,"rows":4}],"rows":4,"bytes":5}`
	text, err = json.Marshal(Bucket{1, []Part{{File: "f", Size: 9, ETag: "e", First: 2, End: 3, Rows: 4}}, 4, 5})
	require.NoError(t, err)
	require.Equal(t, golden, string(text), "stored buckets would become unreadable")
}

func TestBucketOfChangedFile(t *testing.T) {
	ctx := context.Background()
	check := func(s *Scan, b Bucket, file string) {
		t.Helper()
		_, err := s.Reader(b)
		require.ErrorIs(t, err, ErrChanged)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, file, e.File)
		_, err = s.Count(ctx, b)
		require.ErrorIs(t, err, ErrChanged)
		require.ErrorIs(t, s.Borrow(ctx, []Bucket{b}, func(int, *column.Batch) error { return nil }), ErrChanged)
		for _, err = range s.All(ctx, b) {
		}
		require.ErrorIs(t, err, ErrChanged)
	}
	dir := t.TempDir()
	path := writeFile(t, dir, "a", numbers(0, 10, 10))
	open := func() *Scan {
		d, err := Open(ctx, path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return scanOf(t, d, Options{})
	}
	before := open().SplitByCount(2)[1]
	_, err := open().Reader(before)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	writeFile(t, dir, "a", numbers(100, 10, 10)) // of the same size, but written later
	check(open(), before, path)
	require.NoError(t, os.Remove(path))
	writeFile(t, dir, "a", numbers(0, 10, 10, 10))
	check(open(), before, path)

	s := scanOf(t, openSources(t, Config{}, numbers(0, 10, 10)), Options{})
	b := s.SplitByCount(1)[0]
	for _, change := range []func(p *Part){
		func(p *Part) { p.ETag = "" }, func(p *Part) { p.ETag += "x" }, func(p *Part) { p.Size++ }, func(p *Part) { p.Rows++ },
		func(p *Part) { p.End = 1 },
	} {
		other := b
		other.Parts = append([]Part(nil), b.Parts...)
		change(&other.Parts[0])
		check(s, other, "0")
	}
	other := b
	other.Parts = append([]Part(nil), b.Parts...)
	other.Parts[0].File = "unknown"
	_, err = s.Reader(other)
	require.ErrorContains(t, err, "unknown is not open")
}

// TestHostileBuckets reads handmade buckets: they cause errors, never a panic.
func TestHostileBuckets(t *testing.T) {
	s := scanOf(t, openSources(t, Config{}, numbers(0, 10, 10, 10)), Options{})
	good := s.SplitByCount(1)[0].Parts[0]
	for _, c := range [][3]int{
		{-1, 1, 10},
		{math.MinInt, 1, 0},
		{0, 4, 30},
		{3, 4, 0},
		{0, math.MaxInt, 30},
		{2, 1, 0},
		{1, 1, 0},
		{0, -1, 0},
		{math.MaxInt, math.MinInt, 0},
		{0, 3, -1},
		{0, 3, math.MaxInt},
		{0, 3, 0},
	} {
		p := good
		p.First, p.End, p.Rows = c[0], c[1], int64(c[2])
		_, err := s.Reader(Bucket{Parts: []Part{good, p}})
		require.ErrorContains(t, err, "bucket", c)
		requireTyped(t, err)
		_, err = s.Count(context.Background(), Bucket{Parts: []Part{p}})
		require.ErrorContains(t, err, "bucket", c)
	}
	out, err := readBucket(s, Bucket{})
	require.NoError(t, err)
	require.Empty(t, out)
	// a part listed twice is read twice
	out, err = readBucket(s, Bucket{Number: -1, Rows: 1 << 62, Bytes: -5, Parts: []Part{good, good}})
	require.NoError(t, err)
	require.Len(t, out, 60)
}

// TestHostileSizes splits row groups whose columns claim the maximum size.
func TestHostileSizes(t *testing.T) {
	w := newCompact()
	const groups = 20
	w.i32(1, 2)
	w.list(2, thrift.Struct, 3)
	w.element("schema", -1, -1, convertedNever, 2)
	w.element("n", physicalInt64, required, convertedNever, 0)
	w.element("m", physicalInt64, required, convertedNever, 0)
	w.i64(3, groups)
	w.list(4, thrift.Struct, groups)
	for range groups {
		w.open()
		w.list(1, thrift.Struct, 2)
		for range 2 {
			w.chunk(handColumn{name: "n", physical: physicalInt64, values: 1}, 4, 4, math.MaxInt64)
		}
		w.i64(2, 1)
		w.i64(3, 1)
		w.end()
	}
	s := scanOf(t, openSources(t, Config{}, withFooter([]byte(footer.Magic), w)), Options{})
	for n := 1; n <= groups; n++ {
		require.Len(t, s.SplitByCount(n), n)
		requireWhole(t, s, s.SplitByCount(n), false)
	}
	for _, n := range []int64{0, 1000, math.MaxInt64} {
		requireWhole(t, s, s.SplitByBytes(n), false)
	}
}
