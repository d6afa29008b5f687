// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestPagerFollowsSmallerRowsSlowly(t *testing.T) {
	p := newPager(100_000)
	require.Equal(t, firstRows, p.full(), "the size of a row is unknown")
	p.read(100, 100*1000)
	require.Equal(t, 100, p.next())
	require.Equal(t, 100, p.full())
	p.read(100, 100*400) // 850 = 0.75 * 1000 + 0.25 * 400
	require.Equal(t, 117, p.next())
	p.failed()
	require.Equal(t, 29, p.next())
	require.Equal(t, 117, p.full(), "a failure does not change the size of a row")
}

// TestAggregatesOfAKeyspaceAreFound calls an aggregate at each place of the selectors.
func TestAggregatesOfAKeyspaceAreFound(t *testing.T) {
	functions := map[string]*cql.AggregateMetadata{"total": {}, "Total 2": {}}
	for text, want := range map[string]string{
		"SELECT total(n) FROM t":                 "total",
		"SELECT TOTAL (n) FROM t":                "total",
		`SELECT "Total 2"(n) FROM t`:             "Total 2",
		"SELECT v, total(n) FROM t":              "total",
		"SELECT cast(total(n) AS bigint) FROM t": "total",
		"SELECT total FROM t":                    "",
		"SELECT other(n) FROM t":                 "",
		"SELECT v FROM total":                    "",
	} {
		src, err := parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, src.callsAny(functions), text)
	}
}
