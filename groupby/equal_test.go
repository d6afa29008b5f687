// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// Comparison of the Grouper with the reference.

// equalResults fails the test if results differ. Floats that are sums, means or variances may differ by a relative
// 1e-9. NaN equals NaN, and -0 equals 0. Rows of unordered results are compared by their keys.
func equalResults(t testing.TB, c Config, want, got *column.Batch, unordered bool) {
	t.Helper()
	if want.Rows != got.Rows {
		t.Fatalf("got %d groups, want %d", got.Rows, want.Rows)
	}
	if err := compareResults(c, want, got, unordered); err != nil {
		t.Fatal(err)
	}
}

// compareResults is equalResults, except that the groups of unordered results may be a subset of want.
func compareResults(c Config, want, got *column.Batch, unordered bool) error {
	if w, g := fmt.Sprint(want.Schema()), fmt.Sprint(got.Schema()); w != g {
		return fmt.Errorf("got columns %s, want %s", g, w)
	}
	if err := got.Check(); err != nil {
		return err
	}
	wantRows, gotRows := rowsOf(want), rowsOf(got)
	keys := len(c.Keys)
	if unordered {
		byKey := map[string][]any{}
		for _, r := range wantRows {
			byKey[rowKey(r[:keys])] = r
		}
		wantRows = wantRows[:0:0]
		for i, r := range gotRows {
			key := rowKey(r[:keys])
			w, ok := byKey[key]
			if !ok {
				return fmt.Errorf("row %d: group %v is unexpected or a duplicate", i, r[:keys])
			}
			wantRows = append(wantRows, w)
			delete(byKey, key)
		}
	}
	if len(wantRows) != len(gotRows) {
		return fmt.Errorf("got %d groups, want %d", len(gotRows), len(wantRows))
	}
	for i, r := range gotRows {
		for k, v := range r {
			about := k >= keys && slices.Contains([]string{"sum", "sum_compensated", "mean", "variance_pop"}, c.Aggregates[k-keys].fn)
			if k >= keys && nearOne(&c.Aggregates[k-keys], v, wantRows[i][k], 1e-9) {
				continue
			}
			if !equalValues(wantRows[i][k], v, about) {
				return fmt.Errorf("row %d: got %v, want %v", i, r, wantRows[i])
			}
		}
	}
	return nil
}

// rowsOf returns the rows of a result: keys and aggregates.
func rowsOf(b *column.Batch) [][]any {
	rows := make([][]any, b.Rows)
	for _, c := range b.Columns {
		for k, v := range referenceValues(c) {
			rows[k] = append(rows[k], v)
		}
	}
	return rows
}

func rowKey(keys []any) string {
	var key []byte
	for _, v := range keys {
		key = appendReferenceKey(key, v)
	}
	return string(key)
}

func equalValues(want, got any, about bool) bool {
	switch w := want.(type) {
	case float16:
		g, ok := got.(float16)
		return ok && equalFloats(w.float(), g.float(), false)
	case float32:
		g, ok := got.(float32)
		return ok && equalFloats(float64(w), float64(g), about)
	case float64:
		g, ok := got.(float64)
		return ok && equalFloats(w, g, about)
	case []float32:
		g, ok := got.([]float32)
		return ok && slices.EqualFunc(w, g, func(a, b float32) bool { return equalFloats(float64(a), float64(b), true) })
	case []float64:
		g, ok := got.([]float64)
		return ok && slices.EqualFunc(w, g, func(a, b float64) bool { return equalFloats(a, b, true) })
	case [][16]byte, []int32, []int64:
		return reflect.DeepEqual(want, got)
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, func(a, b any) bool { return equalValues(a, b, about) })
	}
	return want == got
}

func equalFloats(want, got float64, about bool) bool {
	if want == got || want != want && got != got {
		return true
	}
	return about && math.Abs(want-got) <= 1e-9*max(math.Abs(want), math.Abs(got)) && !math.IsInf(want-got, 0)
}

// check groups a case and compares the result with the reference.
func (gc *groupCase) check(m *met) error {
	c := gc.config
	anyOf := c.Order == Unordered && c.Limit > 0
	if anyOf {
		c.Limit = 0
	}
	want, wantErr := reference(c, gc.filtered()...)
	got, err := gc.run(m)
	if wantErr != nil && anyOf && err == nil {
		return nil // the group whose sum overflows was not among the groups of the limit
	}
	if wantErr != nil {
		var w, g *OverflowError
		if !errors.As(wantErr, &w) || !errors.As(err, &g) {
			return fmt.Errorf("got error %v, want %v", err, wantErr)
		}
		m.add("overflow")
		return nil
	}
	if err != nil {
		return err
	}
	groups := want.Rows
	if anyOf {
		groups = min(groups, gc.config.Limit)
	}
	if got.Rows != groups {
		return fmt.Errorf("got %d groups, want %d", got.Rows, groups)
	}
	return compareResults(c, want, got, c.Order == Unordered)
}

func TestGrouperEqualsReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var m met
	begin := time.Now()
	sizes := 7
	if soak.Reduced {
		sizes = 4 // the reference takes most of the time
	}
	for i := range 2000 {
		// Small cases seldom have the rarest events, for which a reduced test would take minutes.
		all := soak.Reduced || !slices.ContainsFunc(everything, func(what string) bool { return m.n[what] == 0 })
		if all && (i >= 400 || i >= 100 && time.Since(begin) > 8*time.Second) {
			t.Logf("%d cases", i)
			break
		}
		gc := makeCase(randomChooser{rand.New(rand.NewPCG(seed, uint64(i)))}, 1000<<(i%sizes))
		if err := gc.check(&m); err != nil {
			t.Errorf("seed %d, case %d: %v\n%v", seed, i, err, gc)
		}
	}
	t.Logf("events: %v", m.n)
	for _, what := range everything {
		if m.n[what] == 0 && !soak.Reduced {
			t.Errorf("event never happened: %s", what)
		}
	}
}

// TestReference compares the reference with results computed by hand.
func TestReference(t *testing.T) {
	nan := math.NaN()
	keys := vals([]float64{nan, 1, math.Copysign(0, -1), 7, 0, -nan, 1, 9}).WithValidity([]byte{0b0111_1111})
	values := vals([]int8{1, 2, 3, 4, 5, 6, 7, 8}).WithValidity([]byte{0b1111_0111})
	batch := batchOf(0, cols(keys), cols(values))
	c := Config{
		Keys:       By("k0"),
		Aggregates: []Aggregate{Count(), CountOf("v0"), Sum("v0"), Mean("v0"), Min("v0"), Max("v0")},
	}
	isNaN := []any{nan, int64(2), int64(2), int64(7), 3.5, int8(1), int8(6)}
	one := []any{1.0, int64(2), int64(2), int64(9), 4.5, int8(2), int8(7)}
	zero := []any{0.0, int64(2), int64(2), int64(8), 4.0, int8(3), int8(5)}
	seven := []any{7.0, int64(1), int64(0), nil, nil, nil, nil}
	null := []any{nil, int64(1), int64(1), int64(8), 8.0, int8(8), int8(8)}
	for _, row := range []struct {
		name  string
		order Order
		limit int
		drop  bool
		want  [][]any
	}{
		{"first appearance", FirstAppearance, 0, false, [][]any{isNaN, one, zero, seven, null}},
		{"limit", FirstAppearance, 2, false, [][]any{isNaN, one}},
		{"drop nulls", FirstAppearance, 0, true, [][]any{isNaN, one, zero, seven}},
		{"keys", ByKeys, 0, false, [][]any{zero, one, seven, isNaN, null}},
		{"sum ascending", Ascending("sum(v0)"), 0, false, [][]any{isNaN, zero, null, one, seven}},
		{"sum descending", Descending("sum(v0)"), 0, false, [][]any{one, zero, null, isNaN, seven}},
		{"count descending", Descending("count"), 4, false, [][]any{zero, one, isNaN, seven}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := c
			c.Order, c.Limit, c.DropNulls = row.order, row.limit, row.drop
			r, err := reference(c, batch)
			require.NoError(t, err)
			got := rowsOf(r)
			equal := func(a, b []any) bool {
				return slices.EqualFunc(a, b, func(a, b any) bool { return equalValues(a, b, false) })
			}
			if !slices.EqualFunc(row.want, got, equal) {
				t.Errorf("got %v, want %v", got, row.want)
			}
			grouped, err := c.Aggregate(context.Background(), batch)
			require.NoError(t, err)
			equalResults(t, c, r, grouped, false)
		})
	}
}

// TestReferenceStarts checks that rows have the numbers of Source.FirstRow.
func TestReferenceStarts(t *testing.T) {
	c := Config{Keys: By("k0")}
	batch := func(start int64, keys ...int64) *column.Batch { return batchOf(start, cols(vals(keys)), nil) }
	for _, row := range []struct {
		name    string
		batches []*column.Batch
		want    []int64
	}{
		{"consecutive", []*column.Batch{batch(0, 5, 4), batch(0, 3, 5)}, []int64{5, 4, 3}},
		{"turned round", []*column.Batch{batch(2, 5, 4), batch(0, 3, 5)}, []int64{3, 5, 4}},
	} {
		r, err := reference(c, row.batches...)
		require.NoError(t, err)
		require.Equal(t, row.want, ints(r, "k0"), row.name)
	}
}
