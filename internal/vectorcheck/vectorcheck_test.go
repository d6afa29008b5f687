// SPDX-License-Identifier: Apache-2.0

package vectorcheck_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/vectorcheck"
	"github.com/vecql/vecql/vector"
)

func TestCheck(t *testing.T) {
	require.NoError(t, vectorcheck.Check("query", []float32{0, 1}, 2, vector.Cosine))
	require.NoError(t, vectorcheck.Check("query", []float32{0, 0}, 2, vector.Dot))
	require.NoError(t, vectorcheck.Check("query", []float32{math.MaxFloat32}, 1, vector.L2))
	require.ErrorIs(t, vectorcheck.Check("query", []float32{0, 0}, 2, vector.Cosine), vector.ErrZero)
	require.EqualError(t, vectorcheck.Check("row", []float32{1}, 2, vector.Dot), "vector: row of dimension 1, want 2")
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := vectorcheck.Check("query", []float32{1, float32(x)}, 2, vector.Dot)
		require.ErrorIs(t, err, vector.ErrNonFinite)
		var element *vector.ElementError
		require.ErrorAs(t, err, &element)
		require.Equal(t, 1, element.Element)
	}
}
