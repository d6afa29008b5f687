// SPDX-License-Identifier: Apache-2.0

package cql_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestPageToken(t *testing.T) {
	for _, token := range []cql.PageToken{nil, {0}, {0xff, 0xfe, 0xfd}, []byte("a longer token")} {
		again, err := cql.ParsePageToken(token.String())
		require.NoError(t, err)
		require.Equal(t, token, again)
		data, err := json.Marshal(map[string]cql.PageToken{"next": token})
		require.NoError(t, err)
		var back map[string]cql.PageToken
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, token, back["next"])
	}
	text := cql.PageToken("somewhere").String()
	for i := range text {
		for _, c := range []byte("A_-9 =/") {
			changed := text[:i] + string(c) + text[i+1:]
			if changed == text {
				continue
			}
			_, err := cql.ParsePageToken(changed)
			require.ErrorIs(t, err, cql.ErrPageToken, changed)
		}
		_, err := cql.ParsePageToken(text[:i])
		require.True(t, i == 0 || err != nil, text[:i])
	}
}
