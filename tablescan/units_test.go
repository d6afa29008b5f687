// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/paging"
	"github.com/vecql/vecql/stats"
)

// Checkpoints, plans, positions, page sizes and progress by themselves.

func TestCheckpointCheck(t *testing.T) {
	good := Checkpoint{Statement: "SELECT", Left: []Part{{Start: -5, End: 3, Skip: 2}, {Start: 3, End: 4, Skip: 1}, {Start: 7, End: 9}}}
	require.NoError(t, good.check("SELECT"), "nothing was read yet")
	good.Total, good.Rows, good.Bytes = 100, 7, 90
	require.NoError(t, good.check("SELECT"))
	for text, change := range map[string]func(c *Checkpoint){
		`its statement is "OTHER", want "SELECT"`:                     func(c *Checkpoint) { c.Statement = "OTHER" },
		"part 0 is from 3 to 3, with 2 rows skipped":                  func(c *Checkpoint) { c.Left[0].Start = 3 },
		"part 1 is from 2 to 4, with 1 rows skipped":                  func(c *Checkpoint) { c.Left[1].Start = 2 },
		"part 2 is from 7 to 9, with -1 rows skipped":                 func(c *Checkpoint) { c.Left[2].Skip = -1 },
		"7 rows, 90 bytes and -1 tokens in all":                       func(c *Checkpoint) { c.Total = -1 },
		"-7 rows, 90 bytes and 100 tokens in all":                     func(c *Checkpoint) { c.Rows = -7 },
		"7 rows, -90 bytes and 100 tokens in all":                     func(c *Checkpoint) { c.Bytes = -90 },
		"part 1 is from 3 to -9223372036854775808, with 1 rows skipp": func(c *Checkpoint) { c.Left[1].End = math.MinInt64 },
	} {
		bad := good
		bad.Left = slices.Clone(good.Left)
		change(&bad)
		err := bad.check("SELECT")
		require.ErrorIs(t, err, ErrCheckpoint)
		require.ErrorContains(t, err, "tablescan: resume: not a checkpoint of this scan: "+text)
	}
}

// TestMerge sorts parts, and joins those that adjoin.
func TestMerge(t *testing.T) {
	require.Empty(t, merge(nil))
	require.Equal(t, []Part{{Start: 0, End: 9}}, merge([]Part{{Start: 5, End: 9}, {Start: 0, End: 2}, {Start: 2, End: 5}}))
	require.Equal(t, []Part{{Start: 0, End: 2}, {Start: 3, End: 5}}, merge([]Part{{Start: 3, End: 5}, {Start: 0, End: 2}}))
}

// TestPlanBeginsWithEachRange has the first piece of each range first, so that all nodes work from the start.
func TestPlanBeginsWithEachRange(t *testing.T) {
	ranges := wholeRing.Split(3)
	left := []Part{{Start: math.MinInt64, End: math.MaxInt64}}
	parts := plan(left, ranges, []int{3, 1, 2})
	var starts []int64
	for _, p := range parts {
		starts = append(starts, p.Start)
	}
	first, third := ranges[0].Split(3), ranges[2].Split(2)
	require.Equal(t, []int64{
		first[0].Start, ranges[1].Start, third[0].Start, first[1].Start, third[1].Start, first[2].Start,
	}, starts)
	parts = plan(left, ranges, []int{1, 1, 1})
	require.True(t, slices.IsSortedFunc(parts, func(a, b Part) int { return cmp.Compare(a.Start, b.Start) }))
	require.Equal(t, []Part{{Start: 5, End: 9, Skip: 3}, {Start: 9, End: 12}},
		plan([]Part{{Start: 5, End: 12, Skip: 3}}, []vecql.TokenRange{{Start: math.MinInt64, End: 5}, {Start: 5, End: 9}, {Start: 9, End: 20}}, []int{1, 1, 1}))
}

// TestSplitCountsBounds has widths, sizes and workers at their bounds.
func TestSplitCountsBounds(t *testing.T) {
	require.Equal(t, []int{8, 8}, splitCounts(wholeRing.Split(2), []float64{0, 0}, 100, 2))
	require.Equal(t, []int{maxParts / 2, maxParts / 2}, splitCounts(wholeRing.Split(2), []float64{0, 0}, 100, 100_000))
	require.Equal(t, []int{64, 64}, splitCounts(wholeRing.Split(2), []float64{0, 0}, 100, 16))
	require.Equal(t, []int{9, 8}, splitCounts(wholeRing.Split(2), []float64{801, 300}, 100, 2))
	require.Equal(t, []int{1}, splitCounts([]vecql.TokenRange{{Start: 0, End: 1}}, []float64{0}, 100, 2))
	counts := splitCounts(wholeRing.Split(2), []float64{1e12, 3e12}, 1, 2) // in proportion
	require.Equal(t, []int{maxParts / 4, maxParts * 3 / 4}, counts)
}

// TestCut halves a part. The rows read stay with the lower half, and a part of one token has no halves.
func TestCut(t *testing.T) {
	lower, upper, ok := Part{Start: 10, End: 20, Skip: 3}.cut()
	require.True(t, ok)
	require.Equal(t, [2]Part{{Start: 10, End: 15, Skip: 3}, {Start: 15, End: 20}}, [2]Part{lower, upper})
	lower, upper, ok = Part{Start: 10, End: 11, Skip: 3}.cut()
	require.False(t, ok)
	require.Equal(t, [2]Part{{Start: 10, End: 11, Skip: 3}}, [2]Part{lower, upper})
	_, _, ok = Part{Start: 10, End: 12}.cut()
	require.True(t, ok)
	s := &Scan{pages: newPager(1000), open: map[int]work{}}
	w := work{Part: Part{Start: 10, End: 11}, failures: 5}
	require.False(t, s.failed(0, &w), "a part of one token is read again as it is")
	require.Empty(t, s.queue)
	require.EqualValues(t, 1, s.failures)
	require.Equal(t, 4, s.pages.next(), "its pages get smaller")
	w.failures = 1
	require.False(t, s.failed(0, &w))
	require.Equal(t, 4, s.pages.next(), "the first failure does not make pages smaller")
}

// TestCursorErrors names the tokens that are out of order.
func TestCursorErrors(t *testing.T) {
	for _, c := range []struct {
		tokens []int64
		want   string
	}{
		{[]int64{6, 11}, "token 11 is not above 5 up to 10"},
		{[]int64{5}, "token 5 is not above 5 up to 10"},
		{[]int64{8, 7}, "token 7 follows 8"},
	} {
		at := newCursor(Part{Start: 5, End: 10})
		dropped, rest, err := at.pass(c.tokens)
		require.EqualError(t, err, "rows are not in the order of their tokens: "+c.want)
		require.Zero(t, dropped)
		require.Zero(t, rest)
	}
}

// TestCursorDrops follows a part whose first rows were read.
func TestCursorDrops(t *testing.T) {
	at := newCursor(Part{Start: 5, End: 10, Skip: 4})
	require.EqualValues(t, 4, at.toDrop())
	dropped, rest, err := at.pass([]int64{6, 6})
	require.NoError(t, err)
	require.Equal(t, 2, dropped)
	require.Equal(t, Part{Start: 5, End: 10, Skip: 2}, rest)
	require.EqualValues(t, 2, at.toDrop())
	more := at
	dropped, rest, err = at.pass([]int64{6, 6, 6, 8, 8})
	require.NoError(t, err)
	require.Equal(t, 2, dropped)
	require.Equal(t, Part{Start: 7, End: 10, Skip: 2}, rest)
	require.Zero(t, at.toDrop())
	dropped, _, err = more.pass([]int64{7, 7, 7}) // rows were deleted
	require.NoError(t, err)
	require.Zero(t, dropped+int(more.toDrop()))
	same := newCursor(Part{Start: 5, End: 10, Skip: 1})
	_, _, err = same.pass([]int64{6, 6, 6})
	require.NoError(t, err)
	require.Zero(t, same.toDrop())
}

// TestPagerFollowsSizes raises the estimate of a row at once, and lowers it slowly.
func TestPagerFollowsSizes(t *testing.T) {
	p := newPager(10_000)
	require.Equal(t, firstRows, p.full(), "unknown")
	p.read(16, 16*10)
	require.Equal(t, 16*8, p.next())
	require.Equal(t, 1000, p.full())
	p.read(100, 100*50)
	require.InDelta(t, 50, p.perRow, 0)
	require.Equal(t, 200, p.next())
	p.read(100, 100*10)
	require.InDelta(t, 40, p.perRow, 0, "three quarters of the old estimate")
	require.Equal(t, 250, p.next())
	for range 5 {
		p.failed()
	}
	require.Equal(t, 1, p.next())
	require.Equal(t, 250, p.full(), "failures do not count")
	p = newPager(1 << 30)
	for range 10 {
		p.read(10, 10)
	}
	require.Equal(t, maxRows, p.next())
	require.Equal(t, maxRows, p.full())
	p = newPager(0)
	p.read(10, 10)
	require.Equal(t, 1, p.next())
}

// TestSizeOfNulls counts the validity of columns and of their children.
func TestSizeOfNulls(t *testing.T) {
	nulls := column.Of("a", []int64{1, 2}).WithNulls([]bool{true, false})
	require.NotEmpty(t, nulls.Validity)
	require.Equal(t, 16+len(nulls.Validity), sizeOf([]column.Column{nulls}))
}

// TestSizesAddUp has several estimates for one range, and estimates that touch a range.
func TestSizesAddUp(t *testing.T) {
	ranges := []vecql.TokenRange{{Start: 0, End: 10}, {Start: 10, End: 20}, {Start: 20, End: 30}}
	require.InDeltaSlice(t, []float64{100, 60, 55},
		sizesOf(ranges, []estimate{{0, 10, 90}, {0, 10, 10}, {10, 20, 50}, {15, 25, 20}, {20, 30, 45}}), 1e-9)
	require.Nil(t, newEstimates("0", "1", 5, 0))
	require.Nil(t, newEstimates("x", "1", 5, 5))
}

// TestProgressOfParts computes shares and estimates from the tokens that are left.
func TestProgressOfParts(t *testing.T) {
	s := &Scan{total: 100, resumed: 80, rows: 30, bytes: 600, failures: 2, elapsed: 30 * time.Second, open: map[int]work{}}
	s.queue = []work{{Part: Part{Start: 0, End: 15}}}
	s.open[3] = work{Part: Part{Start: 50, End: 55}}
	require.Equal(t, Progress{
		Rows: 30, Bytes: 600, Failures: 2, TotalRows: 37, TotalBytes: 750, Done: .8, Elapsed: 30 * time.Second, Left: 10 * time.Second,
	}, s.Progress())
	s.open[4] = work{Part: Part{Start: 60, End: 65}}
	require.InDelta(t, .75, s.Progress().Done, 1e-9, "the parts of all workers are left")
	delete(s.open, 4)
	s.elapsed = math.MaxInt64 / 2
	s.resumed = 21
	require.EqualValues(t, int64(math.MaxInt64/2+1), s.Progress().Left, "the largest float below")
	s.resumed = 20 // nothing was read since
	require.Zero(t, s.Progress().Left)
	s.rows, s.bytes = math.MaxInt64/2, math.MaxInt64/2
	require.EqualValues(t, int64(math.MaxInt64/2+1), s.Progress().TotalRows, "the largest float below")
	s.total = 10 // less than what is left
	require.Zero(t, s.Progress().Done)
	require.Zero(t, s.Progress().TotalRows)
	s = &Scan{}
	require.InDelta(t, 1, s.Progress().Done, 0)
}

// TestMayRepeat distinguishes failures that may pass from those that stay.
func TestMayRepeat(t *testing.T) {
	for err, want := range map[error]bool{
		vecql.ErrConnectionClosed: true, vecql.ErrTimeoutNoResponse: true, vecql.ErrThrottled: true, paging.ErrRepeated: true,
		refusal(cql.CodeServer): true, refusal(cql.CodeReadTimeout): true, refusal(cql.CodeInvalid): false,
		fmt.Errorf("read: %w", paging.ErrRepeated): true, fmt.Errorf("read: %w", vecql.ErrSessionClosed): false,
		context.Canceled: false, vecql.ErrSessionClosed: false, errors.New("other"): false, errOrder: false,
	} {
		require.Equal(t, want, mayRepeat(err), "%v", err)
	}
	for code, want := range map[cql.Code]bool{
		cql.CodeInvalid: true, cql.CodeProtocol: true, cql.CodeServer: true, cql.CodeUnauthorized: false,
		cql.CodeReadTimeout: false,
	} {
		require.Equal(t, want, refusesState(code), "%v", code)
	}
}

// refusal returns an error of a server.
func refusal(code cql.Code) error { return &cql.ServerError{Code: code, Message: "refused"} }

func TestRangeErrorText(t *testing.T) {
	err := &RangeError{Part: Part{Start: -4, End: 9}, Failures: 3, Err: vecql.ErrThrottled}
	require.EqualError(t, err, "tablescan: read tokens above -4 up to 9: failed 3 times: "+vecql.ErrThrottled.Error())
	require.ErrorIs(t, err, vecql.ErrThrottled)
}

// TestCallsAny finds calls of the aggregates of a keyspace, in the selectors only.
func TestCallsAny(t *testing.T) {
	functions := map[string]*cql.AggregateMetadata{"mean": {}, "My sum": {}, "select": {}}
	for text, want := range map[string]string{
		"SELECT Mean(a) FROM t": "mean", `SELECT a, "My sum"(b) FROM t`: "My sum", "SELECT mean FROM t": "", "SELECT f(mean(a)) FROM t": "mean",
		"SELECT (a) FROM t": "", "SELECT a FROM t WHERE b = mean(1) ALLOW FILTERING": "", "SELECT other(a) FROM t": "", `SELECT "Mean"(a) FROM t`: "",
	} {
		src, err := parse(text)
		require.NoError(t, err)
		require.Equal(t, want, src.callsAny(functions), text)
	}
}

// TestPlanHasNoEmptyParts has parts that end where a range begins.
func TestPlanHasNoEmptyParts(t *testing.T) {
	ranges := []vecql.TokenRange{{Start: math.MinInt64, End: 5}, {Start: 5, End: 9}, {Start: 9, End: 20}}
	require.Equal(t, []Part{{Start: 0, End: 5}, {Start: 7, End: 9}, {Start: 12, End: 13}},
		plan([]Part{{Start: 0, End: 5}, {Start: 7, End: 9}, {Start: 12, End: 13}}, ranges, []int{1, 1, 1}))
}

// TestEstimatesThatAddUpToInfinity are no reason to leave a range out.
func TestEstimatesThatAddUpToInfinity(t *testing.T) {
	require.Equal(t, []int{1, 1}, splitCounts(wholeRing.Split(2), []float64{1.7e308, 1.7e308}, 1, 2))
}

// TestRetriedPageIsSmall requests many rows that are to be dropped at once, unless the page has failed.
func TestRetriedPageIsSmall(t *testing.T) {
	s := &Scan{pages: newPager(10_000)}
	s.pages.read(16, 160)
	r := &reader{scan: s}
	a := newAttempt(Part{Start: 0, End: 10, Skip: 500})
	require.Equal(t, 500, r.pageRows(&a))
	a.fails = 1
	require.Equal(t, 16*growth, r.pageRows(&a))
	a = newAttempt(Part{Start: 0, End: 10, Skip: 5000})
	require.Equal(t, 1000, r.pageRows(&a), "at most a full page")
	a = newAttempt(Part{Start: 0, End: 10})
	require.Equal(t, 16*growth, r.pageRows(&a))
}

// TestHasRoom has a budget whose half is full, and one with a request that waits.
func TestHasRoom(t *testing.T) {
	for _, c := range []struct {
		m    stats.Memory
		page int64
		want bool
	}{
		{stats.Memory{Budget: 100}, 50, true},
		{stats.Memory{Budget: 100}, 51, false},
		{stats.Memory{Budget: 100, InFlight: 20}, 30, true},
		{stats.Memory{Budget: 100, Held: 20}, 30, true},
		{stats.Memory{Budget: 100, Held: 20}, 31, false},
		{stats.Memory{Budget: 100, InFlight: 10, Held: 10}, 30, true},
		{stats.Memory{Budget: 100, InFlight: 10, Held: 10}, 31, false},
		{stats.Memory{Budget: 100, Waiting: 1}, 0, false},
	} {
		require.Equal(t, c.want, hasRoom(c.m, c.page), "%+v", c)
	}
}

// TestNamesOfClausesMayBeColumns has words of CQL that are names, or within parentheses.
func TestNamesOfClausesMayBeColumns(t *testing.T) {
	const tokens = `token("p") > ? AND token("p") <= ?`
	for text, want := range map[string]string{
		"SELECT json AS j FROM t":                     `SELECT json AS j, token("p") FROM t WHERE ` + tokens,
		"SELECT json, a FROM t":                       `SELECT json, a, token("p") FROM t WHERE ` + tokens,
		"SELECT json FROM t":                          `SELECT json, token("p") FROM t WHERE ` + tokens,
		"SELECT f(from, g(from)) FROM t":              `SELECT f(from, g(from)), token("p") FROM t WHERE ` + tokens,
		"SELECT a FROM t WHERE l = [limit, 1]":        `SELECT a, token("p") FROM t WHERE l = [limit, 1] AND ` + tokens,
		"SELECT a FROM t WHERE l = {limit: 1}":        `SELECT a, token("p") FROM t WHERE l = {limit: 1} AND ` + tokens,
		"SELECT a FROM t WHERE (limit) = (1)":         `SELECT a, token("p") FROM t WHERE (limit) = (1) AND ` + tokens,
		"SELECT a FROM t WHERE allow = 1":             `SELECT a, token("p") FROM t WHERE allow = 1 AND ` + tokens,
		"SELECT a FROM t WHERE per = partition":       `SELECT a, token("p") FROM t WHERE per = partition AND ` + tokens,
		"SELECT a FROM t WHERE x = 1 allow filtering": `SELECT a, token("p") FROM t WHERE x = 1 AND ` + tokens + " allow filtering",
		`SELECT a FROM "Zoo"."q""t"`:                  `SELECT a, token("p") FROM "Zoo"."q""t" WHERE ` + tokens,
		"SELECT a FROM Zoo.Az":                        `SELECT a, token("p") FROM Zoo.Az WHERE ` + tokens,
	} {
		src, err := parse(text)
		require.NoError(t, err, text)
		got, _ := src.ranged([]string{"p"}, nil)
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"SELECT a": "it has no FROM", "SELECT a FROM": "it has no FROM", "SELECT JSON a FROM t": "SELECT JSON", "SELECT f(a FROM t": "it has no FROM",
		"SELECT a FROM 1": "no table follows FROM", `SELECT a FROM ""`: "no table follows FROM", `SELECT a FROM k.`: "follows the table", "SELECT a FROM k.1": "no table follows FROM",
		`SELECT a FROM "x`: "no table follows FROM", "SELECT a FROM {t}": "no table follows FROM", "SELECT a FROM @t": "no table follows FROM",
	} {
		_, err := parse(text)
		require.ErrorContains(t, err, want, text)
	}
	for name, want := range map[string]bool{"a": true, "z": true, "A": true, "Z": true, "`": false, "{": false, "@": false, "[": false, `"a"`: true, `""`: false, `"a`: false, `"a""`: false, `"a""b"`: true, "": false, "1a": false} {
		require.Equal(t, want, isIdentifier(name), name)
	}
}
