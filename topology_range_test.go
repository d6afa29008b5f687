// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/internal/tablet"
)

// requireCover fails unless the ranges cover from start to end, each token once, in order.
func requireCover(t *testing.T, start, end int64, ranges []TokenRange) {
	t.Helper()
	require.NotEmpty(t, ranges)
	for _, r := range ranges {
		require.Equal(t, start, r.Start, "%v", ranges)
		require.Less(t, r.Start, r.End, "%v", ranges)
		start = r.End
	}
	require.Equal(t, end, start, "%v", ranges)
}

func requireWholeRing(t *testing.T, ranges []TokenRange) {
	t.Helper()
	requireCover(t, math.MinInt64, math.MaxInt64, ranges)
}

func TestTokenRangeSplit(t *testing.T) {
	whole := TokenRange{Start: math.MinInt64, End: math.MaxInt64, Replicas: []Replica{{HostID: hostID(1)}}}
	for _, n := range []int{math.MinInt, -1, 0, 1, 2, 3, 7, 1000} {
		parts := whole.Split(n)
		require.Len(t, parts, max(n, 1))
		requireWholeRing(t, parts)
		require.Equal(t, whole.Replicas, parts[len(parts)-1].Replicas)
	}
	narrow := TokenRange{Start: math.MaxInt64 - 3, End: math.MaxInt64}
	parts := narrow.Split(math.MaxInt)
	require.Len(t, parts, 3, "one for each token")
	requireCover(t, narrow.Start, narrow.End, parts)
	require.Empty(t, TokenRange{Start: 1, End: 1}.Split(2))
	require.Empty(t, TokenRange{Start: math.MaxInt64, End: math.MinInt64}.Split(2))
}

func TestTokenRangeJSON(t *testing.T) {
	want := TokenRange{
		Start: math.MinInt64, End: math.MaxInt64,
		Replicas: []Replica{{HostID: hostID(3), Shard: 7}, {HostID: hostID(4), Shard: -1}},
	}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	require.JSONEq(t, `{"start":-9223372036854775808,"end":9223372036854775807,"replicas":[
		{"host_id":"00000000-0000-0000-0000-000000000003","shard":7},
		{"host_id":"00000000-0000-0000-0000-000000000004","shard":-1}]}`, string(text))
	var got TokenRange
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, want, got)
}

// TestRingRanges has rings with tokens at the ends.
func TestRingRanges(t *testing.T) {
	simple := map[string]placement.Strategy{"ks": {Class: "SimpleStrategy", Factor: placement.Count{All: 1}}}
	for name, tokens := range map[string][]int64{
		"none":       nil,
		"one":        {5},
		"min":        {math.MinInt64},
		"max":        {math.MaxInt64},
		"both ends":  {math.MinInt64, math.MaxInt64},
		"inner":      {-10, 0, 10},
		"duplicates": {-10, -10, 10},
	} {
		var nodes []*node
		for i, tok := range tokens {
			nodes = append(nodes, testNode(byte(i+1), "a", "r", tok))
		}
		topo := testTopology(t, nil, nodes, simple)
		ranges := topo.ringRanges("ks")
		requireWholeRing(t, ranges)
		for _, r := range ranges {
			for _, tok := range []int64{r.Start + 1, r.End} { // the ends have the replicas that requests go to
				var want []Replica
				for _, n := range topo.replicasOf("ks", tok) {
					want = append(want, Replica{HostID: n.info.ID, Shard: -1})
				}
				require.ElementsMatch(t, want, r.Replicas, "%s: token %d", name, tok)
			}
		}
	}
}

// FuzzCoverRing checks that any ranges cover the ring after coverRing, and that parts of ranges cover them.
func FuzzCoverRing(f *testing.F) {
	f.Add([]byte{}, 3)
	f.Add(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, 1<<63), 1<<63-1), 1)
	f.Add([]byte("0123456789abcdef0123456789ABCDEFfedcba9876543210"), 100)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		var ranges []TokenRange
		for ; len(b) >= 16; b = b[16:] {
			ranges = append(ranges, TokenRange{
				Start: int64(binary.BigEndian.Uint64(b)), End: int64(binary.BigEndian.Uint64(b[8:])),
				Replicas: []Replica{{Shard: len(b)}},
			})
		}
		covered := coverRing(ranges)
		requireWholeRing(t, covered)
		for _, r := range covered {
			requireCover(t, r.Start, r.End, r.Split(n%1000))
		}
	})
}

// TestTabletRangesNearestFirst requires that the replicas of tablets are ordered by distance: nodes without requests
// and unknown nodes come last, and equally near ones keep their order.
func TestTabletRangesNearestFirst(t *testing.T) {
	topo := threeByThree(t, DCAwarePolicy{DataCenter: "b"})
	topo.node(6).rank = -1 // without requests
	tabletOf := func(hosts ...byte) *tablet.Tablet {
		found := &tablet.Tablet{First: math.MinInt64, Last: math.MaxInt64}
		for i, host := range hosts {
			found.Replicas = append(found.Replicas, tablet.Replica{Host: hostID(host), Shard: int32(i)})
		}
		return found
	}
	for _, m := range []struct{ hosts, want []byte }{
		{[]byte{1, 4}, []byte{4, 1}},
		{[]byte{4, 1}, []byte{4, 1}},
		{[]byte{5, 4}, []byte{5, 4}},
		{[]byte{6, 99, 2, 5}, []byte{5, 2, 6, 99}},
		{[]byte{99, 6, 9, 1, 4}, []byte{4, 9, 1, 99, 6}},
	} {
		ranges := topo.tabletRanges([]*tablet.Tablet{tabletOf(m.hosts...)})
		requireWholeRing(t, ranges)
		var got []byte
		for _, r := range ranges[0].Replicas {
			got = append(got, r.HostID[15])
			require.Equal(t, r.HostID[15], m.hosts[r.Shard], "the shard is that of the replica")
		}
		require.Equal(t, m.want, got)
	}
}

// TestCoverRingSorts requires that ranges in any order cover the ring in the order of their tokens, without the tokens
// that an earlier range has.
func TestCoverRingSorts(t *testing.T) {
	rangeOf := func(start, end int64, shard int) TokenRange {
		return TokenRange{Start: start, End: end, Replicas: []Replica{{Shard: shard}}}
	}
	require.Equal(t, []TokenRange{
		{Start: math.MinInt64, End: 1}, rangeOf(1, 5, 2), rangeOf(5, 9, 1), rangeOf(9, 12, 3), {Start: 12, End: math.MaxInt64},
	}, coverRing([]TokenRange{rangeOf(5, 9, 1), rangeOf(1, 5, 2), rangeOf(8, 12, 3), rangeOf(2, 4, 4)}))
}
