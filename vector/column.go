// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"

	"github.com/vecql/vecql/column"
)

// Columns as matrices.

// MatrixOfColumn returns the rows of a column as a matrix that shares its memory, without the NULL rows: a Vector
// column of floats, or a Fixed column of blobs. The error is a *[column.TypeError], wraps [column.ErrNoColumn], or is
// an error of [MatrixOfBlobs].
func MatrixOfColumn(c *column.Column) (Matrix, error) {
	if c.Type.Kind == column.Fixed {
		m, err := matrixOfBlobs(c.Values[:c.Len*c.Type.Width], c.Type.Width, c.ValidityBits())
		if err != nil {
			return Matrix{}, fmt.Errorf("vector: column %s: %w", c.Name, err)
		}
		return m, nil
	}
	view, err := column.MatrixOf[float32](c)
	if err != nil {
		return Matrix{}, err
	}
	m := MatrixOf(view.Data, view.Dim)
	m.Validity = c.ValidityBits()
	return m, nil
}
