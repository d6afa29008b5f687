// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"math"
	"testing"

	"github.com/vecql/vecql/vector"
)

// Situations of vectors in memory.

func vectorSituations() []situation {
	// nearest searches two rows of two elements.
	nearest := func(queries []float32, k int, metric vector.Metric) func(*testing.T) error {
		return func(t *testing.T) error {
			m := vector.MatrixOf([]float32{1, 2, 3, 4}, 2)
			_, err := vector.Nearest(t.Context(), m, queries, k, metric, vector.Options{})
			return err
		}
	}
	quantize := func(format vector.Format, v ...float32) func(*testing.T) error {
		return func(*testing.T) error { _, err := vector.Quantize(nil, format, v); return err }
	}
	nan := float32(math.NaN())
	return []situation{
		{"vector.DimensionError", "search for a query of another dimension", as[*vector.DimensionError](), nearest([]float32{1, 2, 3}, 1, vector.Dot)},
		{"vector.ElementError", "search for NaN", as[*vector.ElementError](), nearest([]float32{1, nan}, 1, vector.Dot)},
		{"vector.ErrNonFinite", "quantize a large element to float16", is(vector.ErrNonFinite), quantize(vector.Float16, 1, 70_000)},
		{"vector.ErrZero", "search for zero by cosine", is(vector.ErrZero), nearest([]float32{0, 0}, 1, vector.Cosine)},
		{"vector.ErrK", "search for no rows", is(vector.ErrK), nearest([]float32{1, 2}, 0, vector.Dot)},
		{"vector.ErrMetric", "count the differing bits of floats", is(vector.ErrMetric), nearest([]float32{1, 2}, 1, vector.Hamming)},
		{"vector.ErrShape", "search rows that are cut off", is(vector.ErrShape), func(t *testing.T) error {
			_, err := vector.Nearest(t.Context(), vector.MatrixOf(make([]float32, 7), 2), []float32{1, 2}, 1, vector.Dot, vector.Options{})
			return err
		}},
		{"vector.ErrBlob", "dequantize a text", is(vector.ErrBlob), func(*testing.T) error {
			_, err := vector.Dequantize(nil, []byte("no quantized vector"))
			return err
		}},
	}
}
