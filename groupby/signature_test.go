// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// mergeWith writes a partial with one Config and merges it with another.
func mergeWith(t *testing.T, writer, reader Config) error {
	t.Helper()
	ctx := context.Background()
	b := &column.Batch{Rows: 4, Columns: []column.Column{
		column.Of("k", []int64{1, 1, 2, 2}), column.Of("v", []int64{4, 3, 2, 1}), column.Of("w", []int64{5, 6, 7, 8}),
	}}
	g, err := writer.New()
	require.NoError(t, err)
	require.NoError(t, g.Add(ctx, b))
	var buf bytes.Buffer
	require.NoError(t, g.WritePartial(&buf))
	g, err = reader.New()
	require.NoError(t, err)
	defer g.Close()
	return g.MergePartial(&buf)
}

// TestPartialOfAnotherConfig merges partials with every pair of aggregates. Only equal ones can be merged, since the
// states of others have equal types but other contents.
func TestPartialOfAnotherConfig(t *testing.T) {
	soak.NoRace(t)
	own := func(name string, args ...string) Aggregate {
		return Aggregate{Name: name, Args: args, New: Min("v").New}
	}
	aggregates := []Aggregate{
		Sum("v"), Sum("w"), Mean("v"), Min("v"), Min("w"), Max("v"), First("v"), Last("v"), Any("v"),
		ArgMin("v", "w"), ArgMax("v", "w"), ArgMin("w", "v"), TopK("v", 3), TopK("v", 5), BottomK("v", 3), TopKOf("v", "w", 3), BottomKOf("v", "w", 3),
		TopKOf("v", "w", 5), Quantile("v", 0.5), QuantilesCompression("v", 50, 0.5), QuantilesCompression("v", 100, 0.5), CountDistinct("v"), CountDistinct("w"),
		ApproxCountDistinctPrecision("v", 10), ApproxCountDistinctPrecision("v", 12), Variance("v"), StdDev("v"), Corr("v", "w"), Corr("w", "v"), MedianExact("v"), QuantileExact("w", 0.9), own("mine", "v"), own("other", "v"), own("mine", "w"),
		own(`sum("v")`, "v"),
	}
	for i, a := range aggregates {
		for j, b := range aggregates {
			// Both Configs read the same columns, so that only the accumulators differ.
			rest := []Aggregate{Max("v").As("v"), Max("w").As("w")}
			err := mergeWith(t, Config{Keys: By("k"), Aggregates: append([]Aggregate{a.As("a")}, rest...)},
				Config{Keys: By("k"), Aggregates: append([]Aggregate{b.As("b")}, rest...)})
			if i == j {
				require.NoError(t, err, "%s", a.Name)
				continue
			}
			var mismatch *MismatchError
			require.ErrorAs(t, err, &mismatch, "%s into %s", a.Name, b.Name)
		}
	}
	err := mergeWith(t, Config{Keys: By("k"), Aggregates: []Aggregate{own("mine", "v").As("x").As("y")}},
		Config{Keys: By("k"), Aggregates: []Aggregate{own("mine", "v")}})
	require.NoError(t, err, "renamed twice")
}

func TestMismatchNamesDifference(t *testing.T) {
	config := Config{Keys: By("k"), Aggregates: []Aggregate{TopK("v", 3)}, Order: Unordered}
	for _, row := range []struct {
		want   string
		change func(*Config)
	}{
		{
			`the partial has top_k("v", 3) with states of binary as accumulator 0, the Grouper has bottom_k("v", 3) with states of binary: use the Aggregates of its writer`,
			func(c *Config) { c.Aggregates = []Aggregate{BottomK("v", 3)} },
		},
		{`top_k("v", 5)`, func(c *Config) { c.Aggregates = []Aggregate{TopK("v", 5)} }},
		{`the partial has the keys ["k"], the Grouper has ["k" "v"]`, func(c *Config) { c.Aggregates, c.Keys = nil, By("k", "v") }},
		{`the partial has aggregates of the columns ["v"], the Grouper has aggregates of ["w"]`, func(c *Config) { c.Aggregates = []Aggregate{TopK("w", 3)} }},
		{`the partial has the keys ["k"], the Grouper has ["w"]: use the Keys of its writer`, func(c *Config) { c.Keys = By("w") }},
		{`the partial has DropNulls false, the Grouper has true`, func(c *Config) { c.DropNulls = true }},
		{`the partial has no numbers of rows, the Grouper has numbers of rows`, func(c *Config) { c.Order = FirstAppearance }},
	} {
		c := config
		row.change(&c)
		err := mergeWith(t, config, c)
		var mismatch *MismatchError
		require.ErrorAs(t, err, &mismatch)
		t.Log(err)
		require.ErrorContains(t, err, row.want)
	}
}

// TestDropNullsOfAPartial requires that a Grouper refuses a partial of another DropNulls.
func TestDropNullsOfAPartial(t *testing.T) {
	keep := Config{Keys: By("k"), Aggregates: []Aggregate{Sum("v")}}
	drop := keep
	drop.DropNulls = true
	require.NoError(t, mergeWith(t, drop, drop))
	require.ErrorContains(t, mergeWith(t, drop, keep), "the partial has DropNulls true, the Grouper has false")
	require.ErrorContains(t, mergeWith(t, keep, drop), "the partial has DropNulls false, the Grouper has true")
}

// TestColumnsOfSeveralAggregatesAreReadOnce: a partial names them once too.
func TestColumnsOfSeveralAggregatesAreReadOnce(t *testing.T) {
	c := Config{Keys: By("k", "w"), Aggregates: []Aggregate{Sum("v"), Max("v"), ArgMin("v", "k"), CountOf("w")}}
	require.Equal(t, []string{"k", "w", "v", "k", "w"}, c.inputNames(), "keys, and arguments")
	several := Config{Keys: By("k"), Aggregates: []Aggregate{Sum("v"), Max("v")}}
	err := mergeWith(t, several, Config{Keys: By("k"), Aggregates: []Aggregate{Sum("w"), Max("w")}})
	require.ErrorContains(t, err, `the partial has aggregates of the columns ["v"], the Grouper has aggregates of ["w"]`)
}

// A signature that was cut off or extended, or whose numbers are too large, is corrupt.
func TestSignatureCorrupted(t *testing.T) {
	c, err := Config{Keys: By("k0"), Aggregates: []Aggregate{TopK("v0", 3)}, DropNulls: true}.check()
	require.NoError(t, err)
	p, err := newPlan(c, defaultLimits, []column.Type{typeTimestamp, typeInt64})
	require.NoError(t, err)
	want := p.signature()
	good := want.append(nil)
	got, err := cutSignature(good)
	require.NoError(t, err)
	require.Equal(t, want, got)
	bad := [][]byte{append(bytes.Clone(good), 0), append(bytes.Clone(good[:len(good)-1]), 4)}
	for n := range good {
		bad = append(bad, good[:n])
		huge := binary.AppendUvarint(bytes.Clone(good[:n]), 1<<40)
		bad = append(bad, append(huge, good[n:]...), append(huge[:len(huge):len(huge)], 0))
	}
	for _, b := range bad {
		_, err := cutSignature(b)
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt, "%q", b)
	}
}
