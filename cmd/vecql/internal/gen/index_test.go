// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestTargetOf(t *testing.T) {
	for text, want := range map[string]target{
		"name":                   {column: "name"},
		"Name":                   {column: "Name"},
		`"My Name"`:              {column: "My Name"},
		`"say ""hi"""`:           {column: `say "hi"`},
		"values(tags)":           {part: "values", column: "tags"},
		`KEYS("Tags")`:           {part: "keys", column: "Tags"},
		"full(t)":                {part: "full", column: "t"},
		"":                       {},
		"shop.items":             {},
		`{"pk":["id"],"tc":"v"}`: {column: "v"},
		`{"pk":["id"]}`:          {},
	} {
		require.Equal(t, want, targetOf(&cql.IndexMetadata{Options: map[string]string{"target": text}}), text)
	}
}
