// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
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

// TestTimesOfAnyYear truncates dates and timestamps of years before and after 1970, up to the bounds of their types.
func TestTimesOfAnyYear(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, unit := range []column.Unit{column.Millis, column.Micros, column.Nanos} {
		c := clockOf(column.Type{Kind: column.Timestamp, Unit: unit, UTC: true})
		values := []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 0, 1, -1, -c.perSec, -c.perDay, c.perDay - 1, -c.perDay - 1}
		for range 200 {
			values = append(values, r.Int64N(200*c.perDay*365)-100*c.perDay*365)
		}
		for _, v := range values {
			at := c.time(v)
			y, m, d := at.Date()
			for name, start := range map[string]time.Time{
				"millisecond": time.Unix(at.Unix(), int64(at.Nanosecond())/1e6*1e6), "second": time.Unix(at.Unix(), 0), "minute": time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, time.UTC),
				"hour": time.Date(y, m, d, at.Hour(), 0, 0, 0, time.UTC), "day": time.Date(y, m, d, 0, 0, 0, 0, time.UTC),
				"week": time.Date(y, m, d-(int(at.Weekday())+6)%7, 0, 0, 0, 0, time.UTC), "month": time.Date(y, m, 1, 0, 0, 0, 0, time.UTC),
				"quarter": time.Date(y, (m-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC), "year": time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC),
			} {
				want := new(big.Int).Mul(big.NewInt(start.Unix()), big.NewInt(c.perSec))
				want.Add(want, big.NewInt(int64(start.Nanosecond())/(1e9/c.perSec)))
				got, err := c.truncate(name, nil)(v)
				if !want.IsInt64() {
					require.ErrorIs(t, err, ErrOverflow, "%s of %v", name, at)
					continue
				}
				require.NoError(t, err, "%s of %v", name, at)
				require.Equal(t, want.Int64(), got, "%s of %v", name, at)
			}
		}
	}
}

// TestMonthsNearTheBounds adds months to times. The result is on the first or the last day of nanoseconds.
func TestMonthsNearTheBounds(t *testing.T) {
	c := clockOf(column.Type{Kind: column.Timestamp, Unit: column.Nanos, UTC: true})
	for _, row := range []struct {
		from, to time.Time
		sign     int64
		ok       bool
	}{
		{time.Date(2262, 3, 11, 20, 0, 0, 0, time.UTC), time.Date(2262, 4, 11, 20, 0, 0, 0, time.UTC), 1, true},
		{time.Date(2262, 3, 11, 23, 50, 0, 0, time.UTC), time.Time{}, 1, false},
		{time.Date(1677, 10, 21, 12, 0, 0, 1, time.UTC), time.Date(1677, 9, 21, 12, 0, 0, 1, time.UTC), -1, true},
		{time.Date(1677, 10, 21, 0, 10, 0, 0, time.UTC), time.Time{}, -1, false},
		{time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC), time.Date(1970, 1, 31, 23, 0, 0, 0, time.UTC), 1, true},
		{time.Date(1970, 1, 31, 23, 0, 0, 7, time.UTC), time.Date(1969, 12, 31, 23, 0, 0, 7, time.UTC), -1, true},
		{time.Date(1968, 3, 31, 0, 0, 0, 0, time.UTC), time.Date(1968, 2, 29, 0, 0, 0, 0, time.UTC), -1, true},
		{time.Date(1967, 12, 31, 1, 0, 0, 0, time.UTC), time.Date(1968, 1, 31, 1, 0, 0, 0, time.UTC), 1, true},
	} {
		got, err := c.add(cql.Duration{Months: 1}, row.sign)(row.from.UnixNano())
		if !row.ok {
			require.ErrorIs(t, err, ErrOverflow, row.from)
			continue
		}
		require.NoError(t, err, row.from)
		require.Equal(t, row.to.UnixNano(), got, row.from)
	}
}
