// SPDX-License-Identifier: Apache-2.0

package column_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/columntest"
)

func TestTextRoundTrip(t *testing.T) {
	for _, kind := range []column.Kind{column.Inet, column.Varint, column.Decimal, column.Duration} {
		f := column.Field{Name: "v", Type: column.Type{Kind: kind}, Nullable: true}
		c := columntest.Column(rand.New(rand.NewPCG(1, uint64(kind))), f, 2000, 0.1)
		text, err := column.FormatText(&c)
		require.NoError(t, err)
		again, err := column.ParseText(&text, c.Type)
		require.NoError(t, err)
		require.NoError(t, again.Check())
		require.Empty(t, column.Diff(column.NewBatch(again), column.NewBatch(c)), "%v", kind)
	}
}

func TestTextForms(t *testing.T) {
	for _, c := range []struct {
		kind column.Kind
		in   string
		want string
	}{
		{column.Inet, "::ffff:10.0.0.1", "::ffff:10.0.0.1"},
		{column.Inet, "2001:DB8::0:1", "2001:db8::1"},
		{column.Varint, "-128", "-128"},
		{column.Varint, "+340282366920938463463374607431768211456", "340282366920938463463374607431768211456"},
		{column.Decimal, "1.50", "1.50"},
		{column.Decimal, "-0.07", "-0.07"},
		{column.Decimal, "5E+40", "5E+40"},
		{column.Decimal, "1.5E3", "15E+2"},
		{column.Duration, "-1y2mo3w", "-1y2mo21d"},
		{column.Duration, "-178956970y8mo", "-178956970y8mo"},
		{column.Duration, "1h30m", "1h30m"},
	} {
		in := column.Strings("v", []string{c.in})
		v, err := column.ParseText(&in, column.Type{Kind: c.kind})
		require.NoError(t, err, c.in)
		text, err := column.FormatText(&v)
		require.NoError(t, err)
		require.Equal(t, c.want, text.Value(0))
	}
}

func TestTextErrors(t *testing.T) {
	for kind, texts := range map[column.Kind][]string{
		column.Inet:     {"", "10.0.0", "fe80::1%eth0", "10.0.0.1:80"},
		column.Varint:   {"", "1.0", "1e3", "x"},
		column.Decimal:  {"", ".", "1.+2", "1E", "1E99999999999", "1EE2", "NaN"},
		column.Duration: {"", "-", "1", "y", "1 y", "1x", "99999999999y", "9223372036854775808ns"},
	} {
		for _, text := range texts {
			in := column.Strings("price", []string{"", text}).WithNulls([]bool{true, false})
			_, err := column.ParseText(&in, column.Type{Kind: kind})
			require.ErrorContains(t, err, "price, row 1: ", "%v %q", kind, text)
		}
	}
	bad := column.Binaries("v", [][]byte{{1}})
	bad, err := bad.WithType(column.Type{Kind: column.Inet})
	require.NoError(t, err)
	_, err = column.FormatText(&bad)
	require.EqualError(t, err, "column: v, row 0: 1 bytes are not a value of inet")
	ints := column.Of("v", []int32{1})
	var typed *column.TypeError
	_, err = column.FormatText(&ints)
	require.ErrorAs(t, err, &typed)
	_, err = column.ParseText(&ints, column.Type{Kind: column.Inet})
	require.ErrorAs(t, err, &typed)
	_, err = column.ParseText(&ints, column.Type{Kind: column.Int32})
	require.ErrorAs(t, err, &typed)
	require.Equal(t, "inet, varint, decimal or duration", typed.Want)
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"1h30m0.5s", "-1y2mo3w4d5h6m7s8ms9us10ns", "9223372036854775807ns", "1µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := cql.ParseDuration(s)
		if err != nil {
			return
		}
		if d.Months < 0 != (d.Days < 0) && d.Months != 0 && d.Days != 0 {
			t.Fatalf("%q: signs differ: %+v", s, d)
		}
		again, err := cql.ParseDuration(d.String())
		require.NoError(t, err, "%q: %v", s, d)
		require.Equal(t, d, again)
	})
}
