// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
)

// Reference aggregates, computed from lists of one group's rows without optimizations.

// referenceFloat converts a number to float64.
func referenceFloat(v any) float64 {
	switch x := v.(type) {
	case int8:
		return float64(x)
	case int16:
		return float64(x)
	case int32:
		return float64(x)
	case int64:
		return float64(x)
	case uint8:
		return float64(x)
	case uint16:
		return float64(x)
	case uint32:
		return float64(x)
	case uint64:
		return float64(x)
	case float32:
		return float64(x)
	}
	return v.(float64)
}

// referenceMoments is Variance and related aggregates, in two passes. Values are shifted by the first one, so that the
// mean of equal values is exact.
func referenceMoments(pop, root bool, scale int) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		var x []float64
		sum := 0.0
		for _, r := range rows {
			if r.args[0] != nil {
				x = append(x, referenceFloat(r.args[0])/math.Pow10(scale))
				sum += x[len(x)-1] - x[0]
			}
		}
		n, mean := float64(len(x)), 0.0
		if n > 0 {
			mean = x[0] + sum/n
		}
		squares := 0.0
		for _, v := range x {
			squares += (v - mean) * (v - mean)
		}
		if !pop {
			n--
		}
		if n <= 0 {
			return nil, nil
		}
		if root {
			return math.Sqrt(squares / n), nil
		}
		return squares / n, nil
	}
}

// referenceCorr is Corr, in two passes. Values are shifted by the first one, as in referenceMoments.
func referenceCorr(types []column.Type) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		var x, y []float64
		for _, r := range rows {
			if r.args[0] != nil && r.args[1] != nil {
				x = append(x, referenceFloat(r.args[0])/math.Pow10(types[0].Scale))
				y = append(y, referenceFloat(r.args[1])/math.Pow10(types[1].Scale))
			}
		}
		if len(x) == 0 {
			return nil, nil
		}
		mean := func(v []float64) float64 {
			sum := 0.0
			for _, e := range v {
				sum += e - v[0]
			}
			return v[0] + sum/float64(len(v))
		}
		meanX, meanY, xx, yy, xy := mean(x), mean(y), 0.0, 0.0, 0.0
		for i := range x {
			dx, dy := x[i]-meanX, y[i]-meanY
			xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
		}
		return xy / math.Sqrt(xx) / math.Sqrt(yy), nil
	}
}

// referenceEdge is First or Last.
func referenceEdge(last bool) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		var v any
		for _, r := range rows {
			if r.args[0] != nil && (last || v == nil) {
				v = r.args[0]
			}
		}
		return v, nil
	}
}

// referenceArgExtreme is ArgMin or ArgMax.
func referenceArgExtreme(least bool) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, least)
		if len(sorted) == 0 {
			return nil, nil
		}
		return sorted[0].args[1], nil
	}
}

// referenceSorted returns the rows whose first argument is not NULL, best row first.
func referenceSorted(rows []referenceRow, least bool) []referenceRow {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r referenceRow) bool { return r.args[0] == nil })
	slices.SortStableFunc(rows, func(a, b referenceRow) int {
		if least {
			return compareReferenceValues(a.args[0], b.args[0])
		}
		return compareReferenceValues(b.args[0], a.args[0])
	})
	return rows
}

// referenceTop is TopK and TopKOf, or BottomK and BottomKOf: the values of the last argument.
func referenceTop(k int, least bool) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, least)
		if len(sorted) == 0 {
			return nil, nil
		}
		list := []any{}
		for _, r := range sorted[:min(k, len(sorted))] {
			list = append(list, r.args[len(r.args)-1])
		}
		return list, nil
	}
}

// referenceDistinct is CountDistinct.
func referenceDistinct(rows []referenceRow) (any, error) {
	distinct := map[any]bool{}
	for _, r := range rows {
		v := r.args[0]
		switch x := v.(type) {
		case nil:
			continue
		case float16:
			v = canonicalReference(x)
		case float32:
			if x != x {
				v = "NaN"
			}
		case float64:
			if x != x {
				v = "NaN"
			}
		}
		distinct[v] = true
	}
	return int64(len(distinct)), nil
}

// referenceJoined is StringAgg or StringAggDistinct.
func referenceJoined(separator string, distinct bool) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		var texts []string
		for _, r := range rows {
			if s, ok := r.args[0].(string); ok && (!distinct || !slices.Contains(texts, s)) {
				texts = append(texts, s)
			}
		}
		if texts == nil {
			return nil, nil
		}
		return strings.Join(texts, separator), nil
	}
}

// referenceList is ArrayAgg.
func referenceList(rows []referenceRow) (any, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	list := []any{}
	for _, r := range rows {
		list = append(list, r.args[0])
	}
	return list, nil
}

// referenceMode is Mode: each value is compared with all others.
func referenceMode(rows []referenceRow) (any, error) {
	var best any
	most := 0
	for _, r := range rows {
		n := 0
		for _, s := range rows {
			if r.args[0] != nil && s.args[0] != nil && compareReferenceValues(r.args[0], s.args[0]) == 0 {
				n++
			}
		}
		if n > most {
			best, most = r.args[0], n
		}
	}
	return best, nil
}

// referenceDisc is QuantileDisc: the least value that enough values do not exceed.
func referenceDisc(q float64) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, true)
		for k, r := range sorted {
			if float64(k+1) >= q*float64(len(sorted)) {
				return r.args[0], nil
			}
		}
		return nil, nil
	}
}

// referenceVectorSum is Sum or Mean of vectors.
func referenceVectorSum(mean bool) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		var sum []float64
		n, float := 0.0, false
		for _, r := range rows {
			var v []float64
			switch x := r.args[0].(type) {
			case nil:
				continue
			case []float32:
				float = true
				for _, e := range x {
					v = append(v, float64(e))
				}
			case []int32:
				for _, e := range x {
					v = append(v, float64(e))
				}
			case []int64:
				for _, e := range x {
					v = append(v, float64(e))
				}
			case []float64:
				v = x
			}
			if sum == nil {
				sum = make([]float64, len(v))
			}
			for j, e := range v {
				sum[j] += e
			}
			n++
		}
		if sum == nil || !mean {
			return noNil(sum), nil
		}
		var short []float32
		for j := range sum {
			sum[j] /= n
			short = append(short, float32(sum[j]))
		}
		if float {
			return short, nil
		}
		return sum, nil
	}
}

// noNil returns nil as an any if v is nil.
func noNil(v []float64) any {
	if v == nil {
		return nil
	}
	return v
}

// referenceQuantiles is Quantile, Median or Quantiles of few values, and QuantileExact and MedianExact of any number.
func referenceQuantiles(qs []float64, scalar bool, scale int) referenceFunc {
	return func(rows []referenceRow) (any, error) {
		var x, res []float64
		for _, r := range rows {
			if r.args[0] != nil && !math.IsNaN(referenceFloat(r.args[0])) {
				x = append(x, referenceFloat(r.args[0])/math.Pow10(scale))
			}
		}
		if len(x) == 0 {
			return nil, nil
		}
		slices.Sort(x)
		for _, q := range qs {
			res = append(res, quantileOf(x, q))
		}
		if scalar {
			return res[0], nil
		}
		return res, nil
	}
}
