// SPDX-License-Identifier: Apache-2.0

package h2o_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vecql/vecql/bench/h2o"
	"github.com/vecql/vecql/column"
)

// The reference: maps of lists of rows, and aggregates of lists.

// keyNames are the columns of the keys, by the names of the questions.
var keyNames = map[string][]string{
	"q01": {"id1"}, "q02": {"id1", "id2"}, "q03": {"id3"}, "q04": {"id4"}, "q05": {"id6"}, "q06": {"id4", "id5"}, "q07": {"id3"},
	"q08": {"id6"}, "q09": {"id2", "id4"}, "q10": {"id1", "id2", "id3", "id4", "id5", "id6"},
}

// float converts a number; NULL is NaN.
func float(v any) float64 {
	switch v := v.(type) {
	case int32:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// values are the numbers of v1, v2 and v3 in a row; NaN is NULL.
type values [3]float64

// referenceAnswer returns the rows of the answer by the texts of their keys.
func referenceAnswer(t *testing.T, q *h2o.Question, batches []*column.Batch) map[string][][]float64 {
	t.Helper()
	groups := map[string][]values{}
	for _, b := range batches {
		for i := range b.Rows {
			key := ""
			for _, name := range keyNames[q.Name] {
				key += fmt.Sprint(b.Column(name).Value(i), "|")
			}
			groups[key] = append(groups[key], values{
				float(b.Column("v1").Value(i)), float(b.Column("v2").Value(i)), float(b.Column("v3").Value(i)),
			})
		}
	}
	answer := map[string][][]float64{}
	for key, rows := range groups {
		if lists := aggregated(q.Name, rows); len(lists) > 0 {
			answer[key] = lists
		}
	}
	return answer
}

// aggregated returns the rows of a group in the answer to a question.
func aggregated(name string, rows []values) [][]float64 {
	v1, v2, v3 := present(rows, 0), present(rows, 1), present(rows, 2)
	switch name {
	case "q01", "q02":
		return [][]float64{{sum(v1)}}
	case "q03":
		return [][]float64{{sum(v1), mean(v3)}}
	case "q04":
		return [][]float64{{mean(v1), mean(v2), mean(v3)}}
	case "q05":
		return [][]float64{{sum(v1), sum(v2), sum(v3)}}
	case "q06":
		return [][]float64{{median(v3), deviation(v3)}}
	case "q07":
		if len(v1) == 0 || len(v2) == 0 {
			return [][]float64{{math.NaN()}}
		}
		return [][]float64{{slices.Max(v1) - slices.Min(v2)}}
	case "q08":
		slices.Sort(v3)
		slices.Reverse(v3)
		var two [][]float64
		for _, x := range v3[:min(2, len(v3))] {
			two = append(two, []float64{x})
		}
		return two
	case "q09":
		r := correlation(rows)
		return [][]float64{{r * r}}
	}
	return [][]float64{{sum(v3), float64(len(rows))}}
}

// present returns the values of a column that are not NULL.
func present(rows []values, c int) []float64 {
	var v []float64
	for _, r := range rows {
		if r[c] == r[c] {
			v = append(v, r[c])
		}
	}
	return v
}

func sum(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

func mean(v []float64) float64 { return sum(v) / float64(len(v)) }

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// deviation is the standard deviation of a sample.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	m, squares := mean(v), 0.0
	for _, x := range v {
		squares += (x - m) * (x - m)
	}
	return math.Sqrt(squares / float64(len(v)-1))
}

// correlation is the correlation of v1 and v2 in the rows where neither is NULL.
func correlation(rows []values) float64 {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r values) bool { return r[0] != r[0] || r[1] != r[1] })
	mx, my, xx, yy, xy := mean(present(rows, 0)), mean(present(rows, 1)), 0.0, 0.0, 0.0
	for _, r := range rows {
		xx, yy, xy = xx+(r[0]-mx)*(r[0]-mx), yy+(r[1]-my)*(r[1]-my), xy+(r[0]-mx)*(r[1]-my)
	}
	return xy / math.Sqrt(xx*yy)
}
