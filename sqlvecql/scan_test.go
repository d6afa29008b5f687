// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/sqlvecql"
)

// celsius is a sql.Scanner of a program.
type celsius struct{ text string }

func (c *celsius) Scan(src any) error {
	c.text = fmt.Sprintf("%T %v", src, src)
	return nil
}

// into scans a value into a new T.
func into[T any](src any) (any, error) {
	var v T
	err := sqlvecql.Scan(&v).Scan(src)
	return v, err
}

func TestScan(t *testing.T) {
	type pair struct {
		First  *int
		Second string
	}
	udt := map[string]any{"street": "main", "no": 5}
	for i, c := range []struct {
		src  any
		scan func(src any) (any, error)
		want any
	}{
		{[]float32{1, 2}, into[[]float32], []float32{1, 2}},
		{[]float32{1, 2}, into[[2]float32], [2]float32{1, 2}},
		{[]float32{1, 2}, into[any], []float32{1, 2}},
		{[]string{"a", "a"}, into[map[string]struct{}], map[string]struct{}{"a": {}}},
		{[]int{1, 2}, into[[]int64], []int64{1, 2}},
		{[]cql.UUID{uuid}, into[[]string], []string{uuid.String()}},
		{[]cql.UUID{uuid}, into[[][16]byte], [][16]byte{uuid}},
		{map[string]int{"a": 1}, into[map[string]*int8], map[string]*int8{"a": ref(int8(1))}},
		{[]any{1, "x"}, into[pair], pair{ref(1), "x"}},
		{[]any{nil, "x"}, into[*pair], &pair{nil, "x"}},
		{[]any{nil, "x"}, into[[2]cql.Null[string]], [2]cql.Null[string]{{}, cql.NullOf("x")}},
		{udt, into[address], address{"main", 5}},
		{[]map[string]any{udt}, into[[]address], []address{{"main", 5}}},
		{udt, into[map[string]string], map[string]string{"street": "main", "no": "5"}},
		{map[string]any{"street": "main", "no": nil}, into[address], cql.ErrNull},
		{int64(300), into[int8], cql.ErrRange},
		{int64(5), into[int8], int8(5)},
		{0.5, into[float32], float32(0.5)},
		{0.1, into[float32], cql.ErrRange},
		{math.NaN(), into[bool], cql.ErrConversion},
		{"12", into[uint8], uint8(12)},
		{"300", into[uint8], cql.ErrRange},
		{"12", into[*big.Int], big.NewInt(12)},
		{"12.50", into[inf.Dec], *inf.NewDec(1250, 2)},
		{"12.50", into[*inf.Dec], inf.NewDec(1250, 2)},
		{"12.50", into[cql.Decimal], cql.Decimal{Unscaled: big.NewInt(1250), Scale: 2}},
		{"x", into[cql.Decimal], cql.ErrConversion},
		{uuid.String(), into[cql.UUID], uuid},
		{uuid.String(), into[[16]byte], [16]byte(uuid)},
		{uuid.String(), into[time.Time], uuid.Time()},
		{"919108f7-52d1-4320-9bac-f847db4148a8", into[time.Time], cql.ErrConversion},
		{"10.0.0.1", into[netip.Addr], netip.MustParseAddr("10.0.0.1")},
		{"10.0.0.1", into[net.IP], net.IP{10, 0, 0, 1}},
		{"1mo2d3ns", into[cql.Duration], duration},
		{"3ns", into[time.Duration], 3 * time.Nanosecond},
		{"1mo", into[time.Duration], cql.ErrRange},
		{time.Hour, into[int64], int64(time.Hour)},
		{at, into[*time.Time], &at},
		{"x", into[sql.NullString], sql.NullString{String: "x", Valid: true}},
		{nil, into[sql.NullString], sql.NullString{}},
		{nil, into[[]float32], []float32(nil)},
		{nil, into[*address], (*address)(nil)},
		{nil, into[any], nil},
		{nil, into[int], cql.ErrNull},
		{nil, into[address], cql.ErrNull},
		{[]float32{1, 2}, into[[3]float32], cql.ErrDimension},
		{[]float32{1, 0.5}, into[[]float64], []float64{1, 0.5}},
		{[]any{1}, into[pair], cql.ErrDimension},
		{udt, into[struct{ Street, City string }], cql.ErrConversion},
		{udt, into[struct{ Street string }], struct{ Street string }{"main"}},
		{[]int{1}, into[string], cql.ErrConversion},
		{[]int{1}, into[map[string]int], cql.ErrConversion},
		{[][]int{{1}}, into[map[any]struct{}], cql.ErrConversion},
		{map[string]int{"a": 1}, into[address], cql.ErrConversion},
		{[]int8{1}, into[[]celsius], []celsius{{"int64 1"}}},
		{[]cql.UUID{uuid}, into[[1]celsius], [1]celsius{{"string " + uuid.String()}}},
		{[]any{nil}, into[[]celsius], []celsius{{"<nil> <nil>"}}},
		{[]float32{0.5}, into[[]celsius], []celsius{{"float64 0.5"}}},
		{[]time.Duration{1}, into[[]celsius], []celsius{{"time.Duration 1ns"}}},
	} {
		got, err := c.scan(c.src)
		want, fails := c.want.(error)
		if !fails {
			require.NoError(t, err, "case %d", i)
			require.Equal(t, c.want, got, "case %d", i)
			continue
		}
		var failed *sqlvecql.ScanError
		require.ErrorAs(t, err, &failed, "case %d", i)
		require.True(t, got == nil || reflect.ValueOf(got).IsZero(), "case %d: unchanged after an error", i)
		if !errors.Is(err, want) {
			require.ErrorContains(t, err, want.Error(), "case %d", i)
		}
		require.NotContains(t, err.Error(), ": vecql: ")
	}
}

// Scan has the conversions of the decoder of vecql, which reads cells: each pair of a type and a Go type has the same
// value by both, or fails by both.
func TestScanEqualsTheDecoder(t *testing.T) {
	_, db := start(t, createTypes())
	session := must(sqlvecql.Session(t.Context(), db))
	compared := 0
	for i, c := range types {
		exec(t, db, fmt.Sprintf("INSERT INTO types (id, c%d) VALUES (1, ?)", i), c.bound)
		for _, typ := range []reflect.Type{
			reflect.TypeFor[int8](), reflect.TypeFor[int64](), reflect.TypeFor[uint16](), reflect.TypeFor[float64](),
			reflect.TypeFor[bool](), reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration](), reflect.TypeFor[cql.Duration](),
			reflect.TypeFor[cql.UUID](), reflect.TypeFor[net.IP](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[big.Int](),
			reflect.TypeFor[inf.Dec](), reflect.TypeFor[cql.Decimal](), reflect.TypeFor[[]int16](), reflect.TypeFor[[2]int](),
			reflect.TypeFor[[3]float32](), reflect.TypeFor[map[string]struct{}](), reflect.TypeFor[map[string]int64](),
			reflect.TypeFor[address](), reflect.TypeFor[[]address](), reflect.TypeFor[[]any](), reflect.TypeFor[*[]float32](),
			reflect.TypeFor[cql.Null[[]float64]](), reflect.TypeFor[sql.NullInt32](),
		} {
			if typ == reflect.TypeFor[net.IP]() && c.cql != "inet" {
				continue // the decoder takes a net.IP for bytes
			}
			query := fmt.Sprintf("SELECT c%d FROM types WHERE id = 1", i)
			want, got := reflect.New(typ), reflect.New(typ)
			wantErr := session.Query(query).Scan(t.Context(), want.Interface())
			gotErr := db.QueryRow(query).Scan(anyScanner{got})
			if known[c.cql+" to "+typ.String()] {
				require.NotEqual(t, wantErr == nil, gotErr == nil, "%s to %v is no difference", c.cql, typ)
				continue
			}
			if errors.Is(gotErr, cql.ErrNull) {
				continue // the decoder stores a zero for it
			}
			require.Equal(t, wantErr == nil, gotErr == nil, "%s to %v: %v, %v", c.cql, typ, wantErr, gotErr)
			if wantErr == nil {
				require.Equal(t, want.Interface(), got.Interface(), "%s to %v", c.cql, typ)
				compared++
				continue
			}
			if _, isText := c.value.(string); isText {
				continue // its type is not known, so that another one has refused it
			}
			for _, cause := range []error{cql.ErrConversion, cql.ErrRange, cql.ErrDimension, cql.ErrNull} {
				require.Equal(t, errors.Is(wantErr, cause), errors.Is(gotErr, cause), "%s to %v: %v, %v", c.cql, typ, wantErr, gotErr)
			}
		}
	}
	require.Greater(t, compared, 45)
}

// known are the conversions of one side only: a value of a row does not show each type of CQL.
var known = map[string]bool{
	"vector<double, 2> to *[]float32": true, "list<int> to map[string]struct {}": true, "vector<text, 2> to map[string]struct {}": true, "uuid to time.Time": true, "varint to inf.Dec": true, "varint to cql.Decimal": true, "float to float64": true,
}

// anyScanner scans by Scan of a type that is known at run time.
type anyScanner struct{ at reflect.Value }

func (s anyScanner) Scan(src any) error { return sqlvecql.ScanValue(s.at, src) }
