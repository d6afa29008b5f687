// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
)

// Tests of plans, positions and page sizes by themselves.

var wholeRing = vecql.TokenRange{Start: math.MinInt64, End: math.MaxInt64}

func TestSplitCounts(t *testing.T) {
	ranges := wholeRing.Split(4)
	for name, m := range map[string]struct {
		sizes []float64
		want  []int
	}{
		"empty":     {[]float64{0, 0, 0, 0}, []int{4, 4, 4, 4}},
		"tiny":      {[]float64{1, 0, 0, 1}, []int{4, 4, 4, 4}},
		"unequal":   {[]float64{500, 0, 1000, 450}, []int{5, 4, 10, 5}},
		"one large": {[]float64{1e30, 0, 0, 0}, []int{maxParts, 1, 1, 1}},
		"all large": {[]float64{1e300, 1e300, 1e300, 1e300}, []int{maxParts / 4, maxParts / 4, maxParts / 4, maxParts / 4}},
	} {
		require.Equal(t, m.want, splitCounts(ranges, m.sizes, 100, 2), name)
	}
}

func TestEstimates(t *testing.T) {
	const minText, maxText = "-9223372036854775808", "9223372036854775807"
	for name, m := range map[string]struct {
		start, end  string
		size, count int64
		want        []estimate
	}{
		"plain":        {"-10", "10", 3, 7, []estimate{{-10, 10, 21}}},
		"last":         {"5", minText, 1, 1, []estimate{{5, math.MaxInt64, 1}}},
		"whole":        {minText, minText, 1, 1, []estimate{{math.MinInt64, math.MaxInt64, 1}}},
		"one token":    {"7", "7", 1, 2, []estimate{{math.MinInt64, math.MaxInt64, 2}}},
		"after max":    {maxText, "0", 1, 1, []estimate{{math.MinInt64, 0, 1}}},
		"no count":     {"0", "1", 5, -1, nil},
		"no size":      {"0", "1", 0, 5, nil},
		"no token":     {"0", "x", 5, 5, nil},
		"beyond int64": {"0", "9223372036854775808", 5, 5, nil},
		"large":        {"0", "1", math.MaxInt64, math.MaxInt64, []estimate{{0, 1, float64(math.MaxInt64) * float64(math.MaxInt64)}}},
	} {
		require.Equal(t, m.want, newEstimates(m.start, m.end, m.size, m.count), name)
	}
	wrapped := newEstimates("4611686018427387904", "-4611686018427387904", 100, 1)
	require.Equal(t, []estimate{{math.MinInt64, -1 << 62, 50}, {1 << 62, math.MaxInt64, 50}}, wrapped)
	uneven := newEstimates("4611686018427387904", "0", 90, 1) // a quarter above, half below
	require.Len(t, uneven, 2)
	require.InDeltaSlice(t, []float64{60, 30}, []float64{uneven[0].bytes, uneven[1].bytes}, 1e-6)
	require.InDeltaSlice(t, []float64{50, 0, 0, 50}, sizesOf(wholeRing.Split(4), wrapped), 1e-6)
	require.InDeltaSlice(t, []float64{5, 5}, sizesOf(wholeRing.Split(2), []estimate{{-100, 100, 10}}), 1)
}

// TestMergeKeepsSkippedRows joins parts that adjoin, unless rows at the start of the second one were read.
func TestMergeKeepsSkippedRows(t *testing.T) {
	parts := []Part{{Start: 20, End: 30}, {Start: 0, End: 10, Skip: 2}, {Start: 10, End: 20, Skip: 3}, {Start: 31, End: 40}}
	require.Equal(t, []Part{{Start: 0, End: 10, Skip: 2}, {Start: 10, End: 30, Skip: 3}, {Start: 31, End: 40}}, merge(parts))
}

// TestFailedPartStaysInFront cuts a part that fails repeatedly: its halves come before the other parts, as an ordered
// scan requires.
func TestFailedPartStaysInFront(t *testing.T) {
	s := &Scan{pages: newPager(1000), open: map[int]work{}, queue: []work{{Part: Part{Start: 100, End: 200}}}}
	w := work{Part: Part{Start: 0, End: 100, Skip: 4}, failures: 2}
	require.True(t, s.failed(0, &w))
	require.Equal(t, work{Part: Part{Start: 0, End: 50, Skip: 4}, failures: 2}, w)
	require.Equal(t, w, s.open[0])
	require.Equal(t, []work{{Part: Part{Start: 50, End: 100}, failures: 2}, {Part: Part{Start: 100, End: 200}}}, s.queue)
	w.failures = 1
	require.False(t, s.failed(0, &w), "the first failure may pass")
}

// TestRestore takes the parts of a scan from the ranges of the program in any order, and the totals of a checkpoint.
func TestRestore(t *testing.T) {
	s := &Scan{cfg: Config{Ranges: []vecql.TokenRange{{Start: 50, End: 60}, {Start: -5, End: 7}}}}
	left, err := s.restore()
	require.NoError(t, err)
	require.Equal(t, []Part{{Start: -5, End: 7}, {Start: 50, End: 60}}, left)
	require.InDelta(t, 22, s.total, 0)
	s = &Scan{statement: "SELECT", cfg: Config{Checkpoint: &Checkpoint{
		Statement: "SELECT", Left: []Part{{Start: 0, End: 25, Skip: 1}}, Total: 100, Rows: 7, Bytes: 8,
	}}}
	left, err = s.restore()
	require.NoError(t, err)
	require.Equal(t, s.cfg.Checkpoint.Left, left)
	s.queue = []work{{Part: left[0]}}
	p := s.Progress()
	require.Equal(t, [2]int64{7, 8}, [2]int64{p.Rows, p.Bytes})
	require.InDelta(t, .75, p.Done, 0)
}

// FuzzPlan checks that the pieces of a plan are exactly the parts that are left.
func FuzzPlan(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(7), uint8(3), int64(1000))
	f.Add([]byte{}, uint8(1), uint8(1), int64(1))
	f.Fuzz(func(t *testing.T, b []byte, count, workers uint8, splitBytes int64) {
		var ends []int64
		for ; len(b) >= 8; b = b[8:] {
			ends = append(ends, int64(binary.BigEndian.Uint64(b)))
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		left := []Part{}
		for i := 1; i < len(ends); i += 1 + i%2 { // some adjoin
			left = append(left, Part{Start: ends[i-1], End: ends[i], Skip: int64(i % 3)})
		}
		ranges := wholeRing.Split(int(count))
		var estimates []estimate
		for i := 1; i < len(ends); i++ {
			estimates = append(estimates, estimate{ends[i-1], ends[i], float64(i) * 1e6})
		}
		counts := splitCounts(ranges, sizesOf(ranges, estimates), max(splitBytes, 1), int(workers%32)+1)
		parts := plan(left, ranges, counts)
		slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(a.Start, b.Start) })
		for i, p := range parts {
			require.True(t, p.valid(), "%v", p)
			require.True(t, i == 0 || parts[i-1].End <= p.Start, "%v overlaps", p)
		}
		require.Equal(t, merge(slices.Clone(left)), merge(parts))
	})
}

// FuzzPosition reads rows page by page, fails at any page, cuts parts, and requires each row once.
func FuzzPosition(f *testing.F) {
	f.Add([]byte{1, 1, 1, 2, 2, 9, 9, 9, 9}, []byte{3, 0, 2, 1, 128, 5, 129})
	f.Fuzz(func(t *testing.T, table, steps []byte) {
		slices.Sort(table)
		var rows []int64 // the tokens of the table; row i is read[i] times
		for _, b := range table {
			rows = append(rows, []int64{math.MinInt64 + 1, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}[b%7])
		}
		slices.Sort(rows)
		read := make([]int, len(rows))
		queue := []Part{{Start: math.MinInt64, End: math.MaxInt64}}
		for len(queue) > 0 {
			p := queue[0]
			queue = queue[1:]
			at := newCursor(p)
			next, _ := slices.BinarySearch(rows, p.Start+1)
			end := len(rows)
			if p.End < math.MaxInt64 {
				end, _ = slices.BinarySearch(rows, p.End+1)
			}
			for next < end {
				step := byte(4)
				if len(steps) > 0 {
					step, steps = steps[0], steps[1:]
				}
				if step >= 128 { // a failure
					if lower, upper, ok := p.cut(); ok && step%2 == 1 {
						queue = append(queue, upper)
						p = lower
					}
					queue = append(queue, p)
					break
				}
				page := rows[next:min(next+1+int(step%8), end)]
				dropped, rest, err := at.pass(page)
				require.NoError(t, err)
				for i := range page[dropped:] {
					read[next+dropped+i]++
				}
				if dropped < len(page) {
					require.True(t, rest.valid())
					p = rest
				}
				next += len(page)
			}
		}
		for i, n := range read {
			require.Equal(t, 1, n, "row %d of %v", i, rows)
		}
	})
}

func TestCursorRefusesOrder(t *testing.T) {
	for _, tokens := range [][]int64{{5}, {11}, {math.MinInt64}, {7, 6}, {8, 9, 8}} {
		at := newCursor(Part{Start: 5, End: 10})
		_, _, err := at.pass(tokens)
		require.ErrorIs(t, err, errOrder, "%v", tokens)
	}
}

func TestPager(t *testing.T) {
	p := newPager(1000)
	require.Equal(t, firstRows, p.next())
	p.read(16, 160)
	require.Equal(t, 100, p.next(), "1000 bytes of 10 each")
	p.read(100, 100_000)
	require.Equal(t, 1, p.next(), "a row is as large as a page")
	p.read(1, 1_000_000)
	require.Equal(t, 1, p.next())
	for range 100 {
		p.read(p.next(), 0)
	}
	require.Equal(t, 1000, p.next())
	p.failed()
	require.Equal(t, 250, p.next())
	p.read(0, 0)
	require.Equal(t, 250, p.next(), "an empty page has no row size")
}

func TestSizeOf(t *testing.T) {
	b := column.NewBatch(
		column.Of("a", []int64{1, 2}), column.Strings("b", []string{"xy", "z"}),
		column.Lists("c", []int32{0, 1, 2}, column.Of("", []int32{1, 2})),
	)
	require.Equal(t, 16+(3+12)+(12+8), sizeOf(b.Columns))
}

// FuzzStatement checks that no text makes the parser panic, and that the markers before the range are counted.
func FuzzStatement(f *testing.F) {
	f.Add("SELECT a, f(?) FROM ks.t WHERE b = ? AND c IN (?, ?) PER PARTITION LIMIT ? ALLOW FILTERING;")
	f.Add(`SELECT "a""b" FROM "K"."T" -- x`)
	f.Add("SELECT * FROM \"")
	f.Fuzz(func(t *testing.T, text string) {
		src, err := parse(text)
		if err != nil {
			require.ErrorAs(t, err, new(*StatementError))
			return
		}
		ranged, before := src.ranged([]string{"p", "q"}, []string{"p", "q", "v"})
		require.GreaterOrEqual(t, before, 0)
		again, err := parse(ranged)
		if err == nil {
			require.Equal(t, src.table, again.table)
		}
	})
}

func TestRanged(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t;": `SELECT a, token("p", "Q") FROM t WHERE token("p", "Q") > ? AND token("p", "Q") <= ?`,
		"SELECT * FROM k.t WHERE a = ? ALLOW FILTERING": `SELECT "p", "Q", "a", token("p", "Q") FROM k.t WHERE a = ? AND ` +
			`token("p", "Q") > ? AND token("p", "Q") <= ? ALLOW FILTERING`,
		"SELECT a FROM t USING TIMEOUT ?": `SELECT a, token("p", "Q") FROM t WHERE token("p", "Q") > ? AND token("p", "Q") <= ? USING TIMEOUT ?`,
	} {
		src, err := parse(text)
		require.NoError(t, err)
		got, _ := src.ranged([]string{"p", "Q"}, []string{"p", "Q", "a"})
		require.Equal(t, want, got)
	}
}
