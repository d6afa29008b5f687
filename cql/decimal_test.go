// SPDX-License-Identifier: Apache-2.0

package cql_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct {
		text     string
		unscaled int64
		scale    int32
		again    string // of String
	}{
		{"0", 0, 0, "0"},
		{"-12.50", -1250, 2, "-12.50"},
		{"+7", 7, 0, "7"},
		{".5", 5, 1, "0.5"},
		{"5.", 5, 0, "5"},
		{"5E+40", 5, -40, "5E+40"},
		{"1.5e3", 15, -2, "15E+2"},
		{"1E-2147483647", 1, math.MaxInt32, "1E-2147483647"},
		{"1E2147483648", 1, math.MinInt32, "1E+2147483648"},
	} {
		d, err := cql.ParseDecimal(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, cql.Decimal{Unscaled: big.NewInt(c.unscaled), Scale: c.scale}, d, c.text)
		require.Equal(t, c.again, d.String())
	}
	for _, text := range []string{"", ".", "-", "1,5", "1.-5", "1.+5", "NaN", "1e", "1e1.5", "1e99999999999999999999", "0x10", "1 ", "1.2.3", "E5"} {
		_, err := cql.ParseDecimal(text)
		require.ErrorContains(t, err, "is not a decimal", "%q", text)
	}
	for _, text := range []string{"1.5E-2147483647", "1E2147483649", "1.5E-9223372036854775808", "1E9223372036854775807"} {
		_, err := cql.ParseDecimal(text)
		require.ErrorContains(t, err, "scale exceeds 32 bits", text)
	}
}

func FuzzParseDecimal(f *testing.F) {
	f.Add("-12.50")
	f.Add("5E+40")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := cql.ParseDecimal(text)
		if err != nil {
			return
		}
		again, err := cql.ParseDecimal(d.String())
		require.NoError(t, err)
		require.Equal(t, d.Scale, again.Scale)
		require.Zero(t, d.Unscaled.Cmp(again.Unscaled))
	})
}
