// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// The expected bytes are written by hand from native_protocol_v5.spec, sections 4.2.5.2 and 6.

func TestAppendOption(t *testing.T) {
	for cqlType, want := range map[string]string{
		"bigint":                        "\x00\x02",
		"list<text>":                    "\x00\x20\x00\x0D",
		"map<text, set<int>>":           "\x00\x21\x00\x0D\x00\x22\x00\x09",
		"tuple<int, frozen<list<int>>>": "\x00\x31\x00\x02\x00\x09\x00\x20\x00\x09",
		"ks.u{a int, b list<text>}":     "\x00\x30\x00\x02ks\x00\x01u\x00\x02\x00\x01a\x00\x09\x00\x01b\x00\x20\x00\x0D",
		"'x.Y'":                         "\x00\x00\x00\x03x.Y",
		"vector<float, 3>":              "\x00\x00\x00\x59org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)",
	} {
		require.Equal(t, want, string(AppendOption(nil, cqlType)), cqlType)
	}
	require.Panics(t, func() { AppendOption(nil, "nonsense") })
}

func TestCell(t *testing.T) {
	type id [16]byte
	for cqlType, row := range map[string]struct {
		value any
		want  string
	}{
		"text":             {"abc", "abc"},
		"bigint":           {7, "\x00\x00\x00\x00\x00\x00\x00\x07"},
		"int":              {int16(-2), "\xFF\xFF\xFF\xFE"},
		"varint":           {128, "\x00\x80"},
		"boolean":          {true, "\x01"},
		"double":           {1.5, "\x3F\xF8\x00\x00\x00\x00\x00\x00"},
		"uuid":             {id{1}, "\x01" + string(make([]byte, 15))},
		"inet":             {net.ParseIP("127.0.0.1"), "\x7F\x00\x00\x01"},
		"list<text>":       {[]string{"a", "bc"}, "\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x02bc"},
		"map<text, int>":   {map[string]int{"a": 1}, "\x00\x00\x00\x01\x00\x00\x00\x01a\x00\x00\x00\x04\x00\x00\x00\x01"},
		"vector<float, 2>": {[]float32{1, -2}, "\x3F\x80\x00\x00\xC0\x00\x00\x00"},
	} {
		require.Equal(t, row.want, string(Cell(cqlType, row.value)), cqlType)
	}
	require.Panics(t, func() { Cell("duration", 1) })
}
