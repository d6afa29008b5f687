// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearest(t *testing.T) {
	candidates := []string{"items", "id", "name", "QUORUM", "similarity_cosine"}
	for name, want := range map[string]string{
		"itms": "items", "ITEMSS": "items", "nmae": "name", "quorm": "QUORUM", "similarty_cosin": "similarity_cosine",
		"ix": "id", "x": "", "none": "", "items": "", "": "", "orders": "",
	} {
		require.Equal(t, want, nearest(name, candidates), name)
	}
	for pair, want := range map[[2]string]int{
		{"", "abc"}: 3, {"abc", "abc"}: 0, {"ab", "ba"}: 1, {"kitten", "sitting"}: 3, {"abcd", "acbd"}: 1,
	} {
		require.Equal(t, want, distance(pair[0], pair[1]), pair)
		require.Equal(t, want, distance(pair[1], pair[0]), pair)
	}
}
