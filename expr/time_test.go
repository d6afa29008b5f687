// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Times around transitions of zones.

// TestDateTruncAroundTransitions truncates times around each transition of zones whose clocks go forward at midnight,
// back to midnight, or past it.
func TestDateTruncAroundTransitions(t *testing.T) {
	clock := clockOf(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	last := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{
		"America/Havana", "America/Sao_Paulo", "America/St_Johns", "Asia/Amman", "Asia/Beirut", "Atlantic/Azores", "Europe/Berlin",
	} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		_, next := time.Date(2000, 1, 1, 0, 0, 0, 0, zone).ZoneBounds()
		transitions := 0
		for ; !next.IsZero() && next.Before(last); _, next = next.ZoneBounds() {
			transitions++
			for _, minutes := range []time.Duration{-90, -30, 0, 1, 30, 90, 1500} {
				at := next.Add(minutes*time.Minute + 250*time.Millisecond)
				for _, unit := range []string{"day", "week", "month"} {
					y, m, d := at.Date()
					switch unit {
					case "week":
						d -= (int(at.Weekday()) + 6) % 7
					case "month":
						d = 1
					}
					got, err := clock.truncate(unit, zone)(at.UnixMilli())
					require.NoError(t, err)
					want := firstOfDay(y, m, d, zone)
					require.Equal(t, want.UnixMilli(), got, "%s of %v", unit, at)
					require.LessOrEqual(t, got, at.UnixMilli(), "%s of %v", unit, at)
				}
			}
		}
		require.Greater(t, transitions, 20, name)
	}
}
