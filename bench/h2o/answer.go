// SPDX-License-Identifier: Apache-2.0

package h2o

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/column"
)

// Summaries of answers, which peers.py computes in the same way, and their comparison.

// A Summary describes an answer, independent of the order of its rows.
type Summary struct {
	Rows   int     `json:"rows"`
	Keys   uint64  `json:"keys"` // the sum of a hash of the keys of each row
	Values []Value `json:"values"`
}

// A Value is the summary of a column of values. NaN is NULL, because engines have either for a deviation of one row.
// In sums zero is NULL, too: the sum of no values is zero in Polars.
type Value struct {
	Name  string  `json:"name"`
	Count int     `json:"count"` // values other than NULL
	Sum   float64 `json:"sum"`
	// Weighted is the sum of the values times a number from 0 to 1 that depends on the keys of the row, so that values
	// of the wrong rows are found.
	Weighted float64 `json:"weighted"`
}

// tolerance is the relative error of sums. Floats are added in any order.
const tolerance = 1e-9

// Check returns an error unless two answers are equal.
func (s *Summary) Check(want *Summary) error {
	if s.Rows != want.Rows || s.Keys != want.Keys || len(s.Values) != len(want.Values) {
		return fmt.Errorf("%d rows, keys %016x, %d values, want %d, %016x, %d", s.Rows, s.Keys, len(s.Values), want.Rows,
			want.Keys, len(want.Values))
	}
	var faults []error
	for i, v := range s.Values {
		w := want.Values[i]
		if v.Count != w.Count || !near(v.Sum, w.Sum) || !near(v.Weighted, w.Weighted) {
			faults = append(faults, fmt.Errorf("%+v, want %+v", v, w))
		}
	}
	return errors.Join(faults...)
}

func near(a, b float64) bool { return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b)) }

const golden = 0x9e3779b97f4a7c15

// Summarize returns the summary of an answer to the question.
func (q *Question) Summarize(b *column.Batch) (*Summary, error) {
	s, n := &Summary{Rows: b.Rows}, q.keys()
	hashes := make([]uint64, b.Rows)
	for j := range b.Columns[:n] {
		words, err := wordsOf(&b.Columns[j])
		if err != nil {
			return nil, err
		}
		for i, w := range words {
			hashes[i] = data.Mix((hashes[i] ^ w) + uint64(j+1)*golden)
		}
	}
	for _, h := range hashes {
		s.Keys += h
	}
	for j := range b.Columns[n:] {
		c := &b.Columns[n+j]
		values, err := floatsOf(c)
		if err != nil {
			return nil, err
		}
		v := Value{Name: c.Name}
		for i, x := range values {
			if c.Null(i) || x != x || x == 0 && strings.HasPrefix(c.Name, "sum_") {
				continue
			}
			v.Count++
			v.Sum += x
			v.Weighted += x * (float64(hashes[i]>>11) / (1 << 53))
		}
		s.Values = append(s.Values, v)
	}
	return s, nil
}

// wordsOf returns the hashed forms of the keys in a column: see data.Word.
func wordsOf(c *column.Column) ([]uint64, error) {
	words := make([]uint64, c.Len)
	if c.Type.Kind.IsText() {
		text, err := c.Text()
		for i := range words {
			if words[i] = data.NullWord; err == nil && !c.Null(i) {
				words[i] = data.TextWord(text.Bytes(i))
			}
		}
		return words, err
	}
	v, err := column.Slice[int32](c)
	for i, x := range v {
		if words[i] = data.NullWord; !c.Null(i) {
			words[i] = uint64(int64(x))
		}
	}
	return words, err
}

// floatsOf returns the values of a column of numbers.
func floatsOf(c *column.Column) ([]float64, error) {
	switch c.Type.Kind {
	case column.Int32:
		return converted[int32](c)
	case column.Int64:
		return converted[int64](c)
	}
	return column.Slice[float64](c)
}

func converted[T int32 | int64](c *column.Column) ([]float64, error) {
	v, err := column.Slice[T](c)
	floats := make([]float64, len(v))
	for i, x := range v {
		floats[i] = float64(x)
	}
	return floats, err
}
