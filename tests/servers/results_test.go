// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const events = `{"Action":"output","Package":"p","Test":"A/version=4/x","Output":"    a_test.go:7: missing: no vectors\n"}
{"Action":"skip","Package":"p","Test":"A/version=4/x"}
{"Action":"pass","Package":"p","Test":"A/version=4/y"}
{"Action":"pass","Package":"p","Test":"A/version=4"}
{"Action":"fail","Package":"p","Test":"A/version=5"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"B","Output":"    takes long\n"}
{"Action":"skip","Package":"p","Test":"B"}
{"Action":"pass","Package":"p","Test":"C"}
{"Action":"fail","Package":"p"}
not JSON
{"Action":"fail","Package":"q"}
{"Action":"pass","Package":"r"}`

// TestTable counts the events of a run: tests without subtests, skips for other reasons and packages that do not build
// as failures.
func TestTable(t *testing.T) {
	var log strings.Builder
	all, err := readEvents(strings.NewReader(events), &log)
	require.NoError(t, err)
	require.Contains(t, log.String(), "not JSON\n")
	found := all.results("5.0.9", part{name: "suite", nodes: 1}, "2026-11-29")
	require.Equal(t, []result{
		{"5.0.9", "suite", "2026-11-29", 4, 1, 1, map[string]int{"no vectors": 1}, nil},
		{"5.0.9", "suite", "2026-11-29", 5, 1, 1, map[string]int{}, []string{"p A/version=5", "p B", "q"}},
	}, found)
	results := merge(nil, "5.0.9", "suite", found)
	results = merge(results, "5.0.9", "suite", found)
	results = merge(results, "5.0.9", "tool", []result{{"5.0.9", "tool", "2026-11-28", 4, 1, 2, nil, nil}})
	require.Equal(t, `| Cassandra | nodes | protocol | passed | missing | failed | since |
| --- | --- | --- | --- | --- | --- | --- |
| 5.0.9 | 1 | v5 | 1 | 0 | 3 | 2026-11-29 |
| 5.0.9 | 1 | v4 | 3 | 1: no vectors | 0 | 2026-11-28 |
`, table(results))
}
