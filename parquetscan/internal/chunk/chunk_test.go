// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// TestErrorOfShortChunk reads rows that a column chunk lacks.
func TestErrorOfShortChunk(t *testing.T) {
	c := chunk{leaf: &footer.Leaf{Type: column.Type{Kind: column.Int32}}}
	c.open(new(page.Walker), 12)
	err := c.readFlat(&buffer.Column{Type: column.Type{Kind: column.Int32}}, 5)
	require.ErrorIs(t, err, failure.ErrCorrupt)
	require.ErrorContains(t, err, "ends 12 rows too early")
}

// TestLevelBeyondTheSchemaIsCorrupt requires the error of a level.
func TestLevelBeyondTheSchemaIsCorrupt(t *testing.T) {
	err := badLevel(3, 2)
	require.ErrorIs(t, err, failure.ErrCorrupt)
	require.ErrorContains(t, err, "definition level 3, want at most 2")
}
