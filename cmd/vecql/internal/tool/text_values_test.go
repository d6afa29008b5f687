// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTextsOfValuesAreLiterals loads texts, compares the stored bytes with the bytes of literals, and verifies an
// unload.
func TestTextsOfValuesAreLiterals(t *testing.T) {
	x := newTester(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.values (id int PRIMARY KEY, d double, f float, v vector<float, 2>, day date, at timestamp, span duration)")
	x.requireRun("load", "shop.values", file(t, "x.csv", `id,d,f,v,day,at,span
1,NaN,nan,"[1,""NaN""]",-0044-03-15,-0044-03-15T00:00:00Z,P1Y2M
2,-NaN,-nan,"[""nan"",1]",+10000-01-01,+10000-01-01 00:00:00.000Z,PT1H
3,-infinity,INFINITY,"[1,2]",-5877641-06-23,9223372036854775807,-1Y2MO3D
`))
	want := `{"id":1,"d":"0x7ff8000000000000","f":"0x7fc00000","v":[1,"NaN"],"day":"0x7ff4c6db","at":"0xffffc633c2f8b400","span":"0x1c0000"}
{"id":2,"d":"0x7ff8000000000000","f":"0x7fc00000","v":["NaN",1],"day":"0x802cc0a1","at":"0x0000e677d21fdc00","span":"0x0000fc068c61714000"}
{"id":3,"d":"0xfff0000000000000","f":"0x7f800000","v":[1,2],"day":"0x00000000","at":"0x7fffffffffffffff","span":"0x1b05` + `00"}
`
	bytes := func() (rows string) {
		for _, id := range []string{"1", "2", "3"} {
			rows += x.requireRun("query", "--output", "json", `SELECT id, doubleAsBlob(d) AS d, floatAsBlob(f) AS f, v,
				dateAsBlob(day) AS day, timestampAsBlob(at) AS at, durationAsBlob(span) AS span FROM shop.values WHERE id = `+id)
		}
		return rows
	}
	require.Equal(t, want, bytes())
	for _, name := range []string{"x.csv", "x.jsonl", "x.parquet", "x.arrow"} {
		path := filepath.Join(t.TempDir(), name)
		x.requireRun("unload", "shop.values", path)
		require.Equal(t, "3 rows are equal.\n", x.requireRun("verify", path, "shop.values"), name)
		x.requireRun("query", "TRUNCATE shop.values")
		x.requireRun("load", "shop.values", path)
		require.Equal(t, want, bytes(), name)
	}
	for text, want := range map[string]string{
		"1_0,,,,,": "column d", ",2024_01,,,,": "column f", ",,[0x1p2],,,": "column v", ",,,20240101,,": "--date-format epoch",
		",,,10000-01-01,,": "column day", ",,,,20240101,": "--epoch-unit 1ms", ",,,,,1y1y": "column span", ",,,,,1d1y": "column span",
		",,,,,1mo2mo": "column span",
	} {
		x.requireFailureContains(want, "load", "shop.values", file(t, "y.csv", "id,d,f,v,day,at,span\n9,"+text+"\n"))
	}
}
