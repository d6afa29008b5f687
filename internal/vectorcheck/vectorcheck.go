// SPDX-License-Identifier: Apache-2.0

// Package vectorcheck checks vectors before they are sent to a server.
package vectorcheck

import (
	"math"

	"github.com/vecql/vecql/vector"
)

// Check returns the error of a vector that an index does not take or find: *vector.DimensionError for another number
// of elements than dim, *vector.ElementError for NaN and infinities, vector.ErrZero for a zero vector under Cosine.
// what names the vector.
func Check(what string, v []float32, dim int, metric vector.Metric) error {
	if len(v) != dim {
		return &vector.DimensionError{What: what, Got: len(v), Want: dim}
	}
	zero := true
	for i, x := range v {
		if x != x || math.IsInf(float64(x), 0) {
			return &vector.ElementError{What: what, Element: i, Value: x}
		}
		zero = zero && x == 0
	}
	if zero && metric == vector.Cosine {
		return vector.ErrZero
	}
	return nil
}
