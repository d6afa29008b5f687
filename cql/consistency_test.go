// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConsistencyText requires that each level is read from its text, in any case, and no level from another text.
func TestConsistencyText(t *testing.T) {
	for level := Any; level <= LocalOne; level++ {
		text, err := json.Marshal(level)
		require.NoError(t, err)
		var got Consistency
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, level, got)
	}
	level := Quorum
	require.NoError(t, level.UnmarshalText([]byte("local_serial")))
	require.Equal(t, LocalSerial, level)
	require.ErrorContains(t, level.UnmarshalText([]byte("most")), `unknown consistency "most"`)
	require.Equal(t, LocalSerial, level)
}
