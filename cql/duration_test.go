// SPDX-License-Identifier: Apache-2.0

package cql_test

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// TestDurationsOfCassandra compares ParseDuration with what a Cassandra stored for texts (TestTextForms of package
// tests), and String with what it printed.
func TestDurationsOfCassandra(t *testing.T) {
	data, err := os.ReadFile("../internal/textform/testdata/duration.txt")
	require.NoError(t, err)
	accepted := 0
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		parts := strings.Split(line, "\t")
		text, err := strconv.Unquote(parts[0])
		require.NoError(t, err)
		want := parts[2] // as a string of JSON: a literal alone cannot have a point or a colon
		if want == "" {  // the empty cell
			want = "-"
		}
		got := "-"
		if d, err := cql.ParseDuration(text); err == nil {
			cell := wire.AppendVint(nil, int64(d.Months))
			got = hex.EncodeToString(wire.AppendVint(wire.AppendVint(cell, int64(d.Days)), d.Nanoseconds))
			accepted++
			again, err := cql.ParseDuration(d.String())
			require.NoError(t, err)
			require.Equal(t, d, again)
		}
		if text == "-9223372036854775808ns" || text == "-2147483648mo" || text == "-2147483648d" || text == "-178956970y8mo" {
			require.NotEqual(t, "-", got, text) // cells may have these values
			continue
		}
		require.Equal(t, want, got, "%q", text)
	}
	require.Greater(t, accepted, 80)
}

func TestErrorsOfDurations(t *testing.T) {
	for text, want := range map[string]error{
		"1y1y": cql.ErrConversion, "1d1y": cql.ErrConversion, "1.5h": cql.ErrConversion, "": cql.ErrConversion, "P1Y1W": cql.ErrConversion,
		"2147483648mo": cql.ErrRange, "99999999999999999999ns": cql.ErrRange, "PT2562048H": cql.ErrRange, "-2147483649d": cql.ErrRange,
	} {
		_, err := cql.ParseDuration(text)
		require.ErrorIs(t, err, want, text)
		require.ErrorContains(t, err, strconv.Quote(text))
	}
}
