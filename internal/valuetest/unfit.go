// SPDX-License-Identifier: Apache-2.0

package valuetest

import (
	"math"
	"math/big"
	"net/netip"
	"time"

	"github.com/vecql/vecql/cql"
)

// Unfits returns Go values that have no place in the CQL type: every path returns an error and writes nothing.
func Unfits() []Unfit {
	return []Unfit{
		{"date", int64(millisPerDay - 1)},
		{"date", int64(-1)},
		{"date", ptr(int64(1))},
		{"date", int64(math.MaxInt64)},
		{"date", int64(math.MinInt64)},
		{"list<date>", []int64{0, 1}},
		{"date", time.Date(5881580, 7, 12, 0, 0, 0, 0, time.UTC)},
		{"date", "2024-02-30"},
		{"timestamp", time.Date(300_000_000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"time", time.Duration(-1)},
		{"time", 24 * time.Hour},
		{"time", int64(millisPerDay * 1e6)},
		{"duration", cql.Duration{Months: 1, Days: -1}},
		{"duration", cql.Duration{Days: -1, Nanoseconds: 1}},
		{"tinyint", 128},
		{"tinyint", uint8(128)},
		{"smallint", -32769},
		{"int", int64(1) << 31},
		{"int", uint32(1) << 31},
		{"bigint", uint64(1) << 63},
		{"bigint", new(big.Int).Lsh(big.NewInt(1), 63)},
		{"bigint", "9223372036854775808"},
		{"int", 1.0},
		{"int", "1.0"},
		{"varint", "1_0"},
		{"varint", 1.5},
		{"boolean", 1},
		{"float", 0.1},
		{"list<float>", []float64{0.1}},
		{"vector<float, 3>", []float64{1, 2, 1e39}},
		{"vector<float, 3>", []float32{1, 2}},
		{"vector<float, 3>", []any{1, 2, nil}},
		{"vector<int, 3>", []int64{1, 2, 1 << 31}},
		{"vector<int, 3>", []float64{1, 2, 3}},
		{"vector<double, 2>", []int{1, 2}},
		{"inet", netip.MustParseAddr("fe80::1%eth0")},
		{"inet", netip.Addr{}},
		{"inet", "192.0.2"},
		{"uuid", []byte{1}},
		{"uuid", "6ba7b810"},
		{"list<int>", []*int{nil}},
		{"set<text>", []any{nil}},
		{"map<text, int>", map[string]*int{"a": nil}},
		{"tuple<int, text>", []any{1}},
		{"tuple<int, text>", []any{1, "a", 2}},
		{"vt_pair", map[string]any{"c": 1}},
		{"vt_pair", struct{ C int }{1}},
	}
}
