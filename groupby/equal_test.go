// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file compares the Grouper with Reference, and what they do about errors.

// equalResults fails the test if results differ: floats that are sums, means or variances by more than 1e-9 of them, anything else at all. NaN equals NaN,
// and -0 equals 0. Rows of unordered results are compared by their keys.
func equalResults(t testing.TB, want, got *Result, unordered bool) {
	t.Helper()
	if want.Len() != got.Len() {
		t.Fatalf("got %d groups, want %d", got.Len(), want.Len())
	}
	if err := compareResults(want, got, unordered); err != nil {
		t.Fatal(err)
	}
}

// compareResults is equalResults, but the groups of unordered results need only be among those wanted.
func compareResults(want, got *Result, unordered bool) error {
	wantRows, err := rowsOf(want)
	if err != nil {
		return fmt.Errorf("wanted result: %w", err)
	}
	gotRows, err := rowsOf(got)
	if err != nil {
		return err
	}
	keys := len(got.plan.Keys)
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
				return fmt.Errorf("row %d: group %v is not among those wanted, or comes again", i, r[:keys])
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
			about := k >= keys && slices.Contains([]string{"sum", "avg", "var_pop"}, got.plan.Aggregates[k-keys].Name)
			if !equalValues(wantRows[i][k], v, about) {
				return fmt.Errorf("row %d: got %v, want %v", i, r, wantRows[i])
			}
		}
	}
	return nil
}

// rowsOf returns the rows of a result: keys and aggregates.
func rowsOf(r *Result) ([][]any, error) {
	n := 0
	for b := range r.Batches() {
		n += b.Rows
		for _, c := range slices.Concat(b.Keys, b.Values) {
			if c.Len() != b.Rows {
				return nil, fmt.Errorf("a column of %d rows in a batch of %d", c.Len(), b.Rows)
			}
		}
	}
	if n != r.Len() {
		return nil, fmt.Errorf("batches have %d groups, result says %d", n, r.Len())
	}
	rows := make([][]any, n)
	var types []Type
	var cols []Column
	for i, t := range r.plan.Keys {
		types, cols = append(types, t), append(cols, r.Key(i))
	}
	for i, t := range resultTypes(r) {
		types, cols = append(types, t), append(cols, r.Aggregate(i))
	}
	for i, c := range cols {
		if c.Len() != n || c.Type() != types[i] {
			return nil, fmt.Errorf("column %d is %d rows of %s, not %d of %s", i, c.Len(), c.Type(), n, types[i])
		}
		for k, v := range referenceValues(c) {
			rows[k] = append(rows[k], v)
		}
	}
	return rows, nil
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
	}
	return want == got
}

func equalFloats(want, got float64, about bool) bool {
	if want == got || want != want && got != got {
		return true
	}
	return about && math.Abs(want-got) <= 1e-9*max(math.Abs(want), math.Abs(got)) && !math.IsInf(want-got, 0)
}

// check groups a case and compares with Reference.
func (gc *groupCase) check(m *met) error {
	c := gc.config
	anyOf := c.Order == Unordered && c.Limit > 0
	if anyOf {
		c.Limit = 0
	}
	want, wantErr := Reference(c, gc.batches...)
	got, err := gc.run(m)
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
	groups := want.Len()
	if anyOf {
		groups = min(groups, gc.config.Limit)
	}
	if got.Len() != groups {
		return fmt.Errorf("got %d groups, want %d", got.Len(), groups)
	}
	return compareResults(want, got, c.Order == Unordered)
}

func TestGrouperEqualsReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var m met
	begin := time.Now()
	for i := range 2000 {
		all := !slices.ContainsFunc(everything, func(what string) bool { return m.n[what] == 0 })
		if all && (i >= 400 || i >= 100 && time.Since(begin) > 8*time.Second) {
			t.Logf("%d cases", i)
			break
		}
		gc := makeCase(randomChooser{rand.New(rand.NewPCG(seed, uint64(i)))}, 1000<<(i%7))
		if err := gc.check(&m); err != nil {
			t.Errorf("seed %d, case %d: %v\n%v", seed, i, err, gc)
		}
	}
	t.Logf("met: %v", m.n)
	for _, what := range everything {
		if m.n[what] == 0 {
			t.Errorf("never met: %s", what)
		}
	}
}

// TestReference compares the reference with what was computed by hand.
func TestReference(t *testing.T) {
	nan := math.NaN()
	keys := Values([]float64{nan, 1, math.Copysign(0, -1), 7, 0, -nan, 1, 9}).WithValidity([]byte{0b0111_1111})
	values := Values([]int8{1, 2, 3, 4, 5, 6, 7, 8}).WithValidity([]byte{0b1111_0111})
	batch := Batch{Keys: []Column{keys}, Values: []Column{values}}
	c := Config{
		Keys: []Type{Float64}, Values: []Type{Int8},
		Aggregates: []Aggregate{Count(), CountOf(0), Sum(0), Mean(0), Min(0), Max(0)},
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
		{"sum ascending", ByAggregate(2, false), 0, false, [][]any{isNaN, zero, null, one, seven}},
		{"sum descending", ByAggregate(2, true), 0, false, [][]any{one, zero, null, isNaN, seven}},
		{"count descending", ByAggregate(0, true), 4, false, [][]any{zero, one, isNaN, seven}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := c
			c.Order, c.Limit, c.DropNulls = row.order, row.limit, row.drop
			r, err := Reference(c, batch)
			require.NoError(t, err)
			got, err := rowsOf(r)
			require.NoError(t, err)
			equal := func(a, b []any) bool {
				return slices.EqualFunc(a, b, func(a, b any) bool { return equalValues(a, b, false) })
			}
			if !slices.EqualFunc(row.want, got, equal) {
				t.Errorf("got %v, want %v", got, row.want)
			}
			grouped, err := AggregateBatch(context.Background(), c, batch)
			require.NoError(t, err)
			equalResults(t, r, grouped, false)
		})
	}
}

// TestReferenceStarts: rows have the numbers that batches say.
func TestReferenceStarts(t *testing.T) {
	c := Config{Keys: []Type{Int64}}
	batch := func(start int64, keys ...int64) Batch { return Batch{Keys: []Column{Values(keys)}, Start: start} }
	for _, row := range []struct {
		name    string
		batches []Batch
		want    []int64
	}{
		{"consecutive", []Batch{batch(0, 5, 4), batch(0, 3, 5)}, []int64{5, 4, 3}},
		{"turned round", []Batch{batch(2, 5, 4), batch(0, 3, 5)}, []int64{3, 5, 4}},
	} {
		r, err := Reference(c, row.batches...)
		require.NoError(t, err)
		got, _ := SliceOf[int64](r.Key(0))
		require.Equal(t, row.want, got, row.name)
	}
}

// resultTypes returns the types of a result's aggregates.
func resultTypes(r *Result) []Type {
	var types []Type
	for _, out := range r.plan.outputs {
		types = append(types, out.typ)
	}
	return types
}
