// SPDX-License-Identifier: Apache-2.0

package doctest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrinted(t *testing.T) {
	text, ok := printed("Command x.\n\n\tgo run x\n\nIt prints:\n\n\ta  b\n\n\t  c\n\nMore.\n\n\td\n")
	require.True(t, ok)
	require.Equal(t, "a  b\n\n  c\n", text)
	_, ok = printed("Command x.\n\n\tgo run x\n")
	require.False(t, ok)
}
