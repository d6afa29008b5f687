// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// TestEndCauses requires that each cause has a name of its own, which is read back.
func TestEndCauses(t *testing.T) {
	seen := map[string]bool{}
	for cause := range endCauses {
		text, err := cause.MarshalText()
		require.NoError(t, err)
		require.NotEmpty(t, text)
		require.False(t, seen[string(text)])
		seen[string(text)] = true
		var read EndCause
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, cause, read)
	}
	kept := EndPeer
	require.ErrorIs(t, kept.UnmarshalText([]byte("nameless")), cql.ErrConversion)
	require.Equal(t, EndPeer, kept)
	require.Equal(t, "other", endCauses.String())
}

// TestNamesInJSON: what Stats and Health name in JSON is read back.
func TestNamesInJSON(t *testing.T) {
	type named struct {
		Pool PoolState
		Conn ConnState
		End  EndCause
	}
	for i := range endCauses {
		want := named{min(PoolState(i), PoolClosed), min(ConnState(i), ConnDraining), i}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got named
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, want, got, "%s", text)
	}
	err := json.Unmarshal([]byte(`{"Pool": "shut"}`), new(named))
	require.ErrorIs(t, err, cql.ErrConversion)
	require.ErrorContains(t, err, `"shut"`)
}
