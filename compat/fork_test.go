// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// TestDurationsHaveTheTextOfTheFork reads durations as text and writes the text again.
func TestDurationsHaveTheTextOfTheFork(t *testing.T) {
	info := cql.NativeType(cql.TypeDuration)
	for want, d := range map[string]cql.Duration{
		"0s":                                 {},
		"7d":                                 {Days: 7},
		"18w1d":                              {Days: 127},
		"1w7d":                               {Days: 14},
		"12mo":                               {Months: 12},
		"1y1mo":                              {Months: 13},
		"1y12mo":                             {Months: 24},
		"-306783378w2d":                      {Days: math.MinInt32},
		"1ns":                                {Nanoseconds: 1},
		"-65.535µs":                          {Nanoseconds: -65535},
		"1.5ms":                              {Nanoseconds: 1_500_000},
		"2.147483647s":                       {Nanoseconds: math.MaxInt32},
		"59.999999999s":                      {Nanoseconds: int64(time.Minute) - 1},
		"59m59.999999999s":                   {Nanoseconds: int64(time.Hour) - 1},
		"1h":                                 {Nanoseconds: int64(time.Hour)},
		"1m0.5s":                             {Nanoseconds: int64(60_500 * time.Millisecond)},
		"1h0.000000001s":                     {Nanoseconds: int64(time.Hour) + 1},
		"-2562047h47m16.854775808s":          {Nanoseconds: math.MinInt64},
		"15250w1d23h47m16.854775807s":        {Days: 106751, Nanoseconds: 85636854775807},
		"-1y2mo1w2d1h30m0.25s":               {Months: -14, Days: -9, Nanoseconds: -int64(90*time.Minute + 250*time.Millisecond)},
		"178956970y7mo306783378w1d1.000005s": {Months: math.MaxInt32, Days: math.MaxInt32, Nanoseconds: 1_000_005_000},
	} {
		cell, err := codec.Marshal(info, d)
		require.NoError(t, err)
		got := ""
		require.NoError(t, Fork.Unmarshal(info, cell, &got))
		require.Equal(t, want, got)
		again, err := Fork.Marshal(info, got)
		require.NoError(t, err, got)
		require.Equal(t, cell, again, got)
	}
	for _, wrong := range []string{"1w1.5x", "1d1.5", "1d.s", "1.5w"} {
		_, err := Fork.Marshal(info, wrong)
		require.ErrorIs(t, err, cql.ErrConversion, wrong)
	}
	_, err := Fork.Marshal(info, "99999999999d1.5s")
	require.ErrorIs(t, err, cql.ErrRange, "days beyond 32 bits")
}
