// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql/column"
)

// Arguments that are refused.

func TestNewRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		text    string
		queries []float32
		dim, k  int
		metric  Metric
		is      error
	}{
		{"vector: nearest 0 rows: k must be at least 1", []float32{1, 2}, 2, 0, Dot, ErrK},
		{"vector: nearest rows: metric 9: unsupported metric", []float32{1, 2}, 2, 1, 9, ErrMetric},
		{"vector: queries of dimension 0, want 1 to 16777215: invalid shape", nil, 0, 1, Dot, ErrShape},
		{"vector: queries of dimension 16777216, want 1 to 16777215: invalid shape", nil, 1 << 24, 1, Dot, ErrShape},
		{"vector: last query of dimension 1, want 2", []float32{1, 2, 3}, 2, 1, Dot, nil},
		{"vector: query 1: element 0 is NaN: not a finite float32", []float32{1, 2, nan, 4}, 2, 1, Dot, ErrNonFinite},
		{"vector: query 0: element 1 is -Inf: not a finite float32", []float32{1, -infinity}, 2, 1, Hamming, ErrNonFinite},
		{"vector: query 1: zero vector has no cosine", []float32{1, 2, 0, 0}, 2, 1, Cosine, ErrZero},
	} {
		_, err := New(c.queries, c.dim, c.k, c.metric)
		require.EqualError(t, err, c.text)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
	}
	_, err := New([]float32{0, 0}, 2, 1, Dot)
	require.NoError(t, err)
}

func TestAddRefuses(t *testing.T) {
	for text, c := range map[string]struct {
		m       Matrix
		options Options
	}{
		"vector: rows of dimension 3, want 2":                                               {m: MatrixOf(make([]float32, 6), 3)},
		"vector: rows of dimension 0, want 2":                                               {m: MatrixOf(make([]float32, 6), 0)},
		"vector: matrix: format 9: invalid shape":                                           {m: Matrix{Format: 9, Dim: 2, Data: make([]byte, 8)}},
		"vector: matrix: stride of 7 bytes for rows of 8 bytes: invalid shape":              {m: Matrix{Dim: 2, Stride: 7, Data: make([]byte, 8)}},
		"vector: matrix: stride of -8 bytes for rows of 8 bytes: invalid shape":             {m: Matrix{Dim: 2, Stride: -8, Data: make([]byte, 8)}},
		"vector: matrix: 20 bytes are not rows of 8 bytes: 4 bytes are left: invalid shape": {m: MatrixOf(make([]float32, 5), 2)},
		"vector: matrix: 5 bytes are not rows of 8 bytes: 5 bytes are left: invalid shape":  {m: Matrix{Dim: 2, Data: make([]byte, 5)}},
		"vector: matrix: 1 scales for 2 rows: invalid shape":                                {m: Matrix{Format: Int8, Dim: 2, Data: make([]byte, 4), Scales: make([]float32, 1)}},
		"vector: matrix: validity of 1 bytes for 9 rows: invalid shape":                     {m: Matrix{Dim: 2, Data: make([]byte, 72), Validity: make([]byte, 1)}},
		"vector: dot of rows of bits: unsupported metric":                                   {m: Matrix{Format: Bits, Dim: 2, Data: make([]byte, 1)}},
		"vector: selection: element 1 is 0, after 0, of 2 rows: invalid shape":              {MatrixOf(make([]float32, 4), 2), Options{Selection: []int32{0, 0}}},
		"vector: selection: element 0 is -1, after -1, of 2 rows: invalid shape":            {MatrixOf(make([]float32, 4), 2), Options{Selection: []int32{-1}}},
		"vector: selection: element 0 is 2, after -1, of 2 rows: invalid shape":             {MatrixOf(make([]float32, 4), 2), Options{Selection: []int32{2}}},
	} {
		a, err := New([]float32{1, 2}, 2, 1, Dot)
		require.NoError(t, err)
		require.EqualError(t, a.Add(t.Context(), c.m, 0, c.options), text)
		require.Zero(t, a.Result().K)
	}
	a, err := New([]float32{1, 2}, 2, 1, Hamming)
	require.NoError(t, err)
	require.EqualError(t, a.Add(t.Context(), MatrixOf(make([]float32, 4), 2), 0, Options{}), "vector: Hamming of rows of float32: unsupported metric")
}

// TestQuantizedQueriesRefuse has more elements than an int32 can add.
func TestQuantizedQueriesRefuse(t *testing.T) {
	const dim = maxIntegers + 1
	m := Matrix{Format: Int8, Dim: dim, Data: make([]byte, dim), Scales: []float32{1}}
	_, err := Nearest(t.Context(), m, make([]float32, dim), 1, Dot, Options{QuantizeQueries: true})
	require.EqualError(t, err, "vector: quantized queries of dimension 131072, want 1 to 131071: invalid shape")
	require.ErrorIs(t, err, ErrShape)
	_, err = Nearest(t.Context(), m, make([]float32, dim), 1, Dot, Options{})
	require.NoError(t, err)
}

func TestNearestRefuses(t *testing.T) {
	_, err := Nearest(t.Context(), MatrixOf([]float32{1, 2}, 2), []float32{1, 2}, 0, Dot, Options{})
	require.ErrorIs(t, err, ErrK)
	_, err = Nearest(t.Context(), MatrixOf([]float32{1, 2, 3}, 2), []float32{1, 2}, 1, Dot, Options{})
	require.ErrorIs(t, err, ErrShape)
}

func TestRowsOfInvalidShapes(t *testing.T) {
	for _, m := range []Matrix{{}, MatrixOf(make([]float32, 4), 0), MatrixOf(make([]float32, 4), -1), MatrixOf(make([]float32, 4), 5)} {
		require.Zero(t, m.Rows())
	}
}

func TestDistanceRefuses(t *testing.T) {
	_, err := Distance(Dot, []float32{1}, []float32{1, 2})
	require.Equal(t, &DimensionError{What: "second vector", Got: 2, Want: 1}, err)
	_, err = Distance(0, []float32{1}, []float32{1})
	require.ErrorIs(t, err, ErrMetric)
	m := MatrixOf([]float32{1, 2, 3, 4}, 2)
	_, err = m.Distance(Dot, []float32{1}, 0)
	require.EqualError(t, err, "vector: query of dimension 1, want 2")
	_, err = m.Distance(77, []float32{1, 2}, 0)
	require.ErrorIs(t, err, ErrMetric)
	_, err = m.Distance(Hamming, []float32{1, 2}, 0)
	require.ErrorIs(t, err, ErrMetric)
	m.Dim = 0
	_, err = m.Distance(Dot, nil, 0)
	require.EqualError(t, err, "vector: matrix: dimension 0, want 1 to 16777215: invalid shape")
	m.Dim = 1 << 30
	_, err = m.Distance(Dot, nil, 0)
	require.EqualError(t, err, "vector: matrix: dimension 1073741824, want 1 to 16777215: invalid shape")
	m.Dim = 3
	_, err = m.Distance(Dot, []float32{1, 2, 3}, 0)
	require.ErrorIs(t, err, ErrShape)
}

func TestMatrixOfColumnRefuses(t *testing.T) {
	c := column.Of("id", []int64{1})
	_, err := MatrixOfColumn(&c)
	require.EqualError(t, err, "column: id is int64, not a vector of float32")
	c = column.FixedBytes("v", make([]byte, 12), 12)
	_, err = MatrixOfColumn(&c)
	require.EqualError(t, err, "vector: column v: row 0: blob of 12 bytes: version 0: not a quantized vector")
	_, err = MatrixOfColumn(column.NewBatch().Column("v"))
	require.ErrorIs(t, err, column.ErrNoColumn)
}
