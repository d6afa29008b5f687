// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Packed rows and encoded results beside their reference: an engine that packs no rows, and results with Rows.

var packedTables = []string{
	"CREATE TABLE one (k int PRIMARY KEY, a int, b text, v vector<float, 2>)",
	"CREATE TABLE many (p int, q text, c text, d int, s text static, a int, b text, PRIMARY KEY ((p, q), c, d)) " +
		"WITH CLUSTERING ORDER BY (c DESC, d ASC)",
}

// packedWrites are statements with the values for each marker.
var packedWrites = []struct {
	text   string
	values string // i for an int, t for a text, v for a vector
}{
	{"INSERT INTO one (k, a, b, v) VALUES (?, ?, ?, ?) USING TIMESTAMP ?", "iitvT"},
	{"INSERT INTO one (v, b, k) VALUES (?, ?, ?) USING TIMESTAMP ?", "vtiT"},
	{"INSERT INTO one (k) VALUES (?) USING TIMESTAMP ?", "iT"},
	{"INSERT INTO one (k, a) VALUES (?, ?) USING TIMESTAMP ? AND TTL 100", "iiT"},
	{"INSERT INTO one (k, a) VALUES (?, ?) IF NOT EXISTS", "ii"},
	{"UPDATE one USING TIMESTAMP ? SET a = ? WHERE k = ?", "Tii"},
	{"DELETE b FROM one USING TIMESTAMP ? WHERE k = ?", "Ti"},
	{"DELETE FROM one USING TIMESTAMP ? WHERE k = ?", "Ti"},
	{"INSERT INTO many (p, q, c, d, a, b) VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ?", "ittiitT"},
	{"INSERT INTO many (b, d, c, q, p) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?", "tittiT"},
	{"INSERT INTO many (p, q, s) VALUES (?, ?, ?) USING TIMESTAMP ?", "ittT"},
	{"INSERT INTO many (p, q, c, d, s) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?", "ittitT"},
	{"UPDATE many USING TIMESTAMP ? SET b = ? WHERE p = ? AND q = ? AND c = ? AND d = ?", "Ttitti"},
	{"DELETE FROM many USING TIMESTAMP ? WHERE p = ? AND q = ? AND c = ? AND d = ?", "Titti"},
	{"DELETE FROM many USING TIMESTAMP ? WHERE p = ? AND q = ? AND c >= ?", "Titt"},
	{"DELETE FROM many USING TIMESTAMP ? WHERE p = ? AND q = ?", "Tit"},
}

var packedReads = []string{
	"SELECT * FROM one", "SELECT k, a, b, v FROM one", "SELECT v, b, k FROM one", "SELECT b AS x, b, k FROM one", "SELECT k FROM one",
	"SELECT a, b, v FROM one WHERE k = 1", "SELECT k, a FROM one WHERE a = 1 ALLOW FILTERING", "SELECT k, a FROM one LIMIT 3",
	"SELECT k, writetime(a), ttl(a), writetime(b) FROM one", "SELECT JSON * FROM one", "SELECT count(*), max(a) FROM one",
	"SELECT k, a FROM one WHERE token(k) > 0", "SELECT k, a, b, v, token(k) FROM one WHERE token(k) <= 9", "SELECT token(k), v, k FROM one",
	"SELECT token(k), token(1) FROM one", "SELECT token(p, q), p, q, c, d, b FROM many", "SELECT k, v FROM one WHERE k IN (0, 1, 2)",
	"SELECT * FROM many", "SELECT p, q, c, d, a, b FROM many", "SELECT b, d, c, q, p FROM many", "SELECT s, a FROM many",
	"SELECT c, d, b FROM many PER PARTITION LIMIT 1", "SELECT DISTINCT p, q, s FROM many", "SELECT c, b FROM many WHERE p = 1 AND q = 'a'",
	"SELECT c, d, a FROM many WHERE p = 1 AND q = 'a' ORDER BY c ASC", "SELECT writetime(b), a FROM many",
	"SELECT p, c FROM many WHERE p IN (0, 1) AND q = 'a' ORDER BY c DESC",
}

// packedScript executes writes that random numbers choose, on an engine with packed rows and one without, and compares
// all reads.
func packedScript(t *testing.T, random *rand.Rand, writes int) {
	packing, _ := newEngine(t)
	plain, _ := newEngine(t)
	for _, text := range packedTables {
		mustRun(t, packing, text)
		mustRun(t, plain, text)
	}
	for range writes {
		w := packedWrites[random.IntN(len(packedWrites))]
		values := packedValues(random, w.values)
		batch := random.IntN(2) == 0
		var failures [2]string
		for i, e := range []*Engine{packing, plain} {
			s, err := e.Prepare("ks", w.text)
			require.NoError(t, err, w.text)
			if e == plain {
				s.write.layout = nil
			}
			if batch && !s.Conditional {
				_, err = e.Batch(t.Context(), BatchUnlogged, []BatchEntry{{s, values}}, &Request{Timestamp: 5, HasTimestamp: true})
			} else {
				_, err = e.Execute(t.Context(), s, &Request{Values: values, Timestamp: 5, HasTimestamp: true})
			}
			failures[i] = fmt.Sprint(err)
		}
		require.Equal(t, failures[1], failures[0], w.text)
	}
	for _, text := range packedReads {
		for _, page := range []int{0, 1, 3} {
			comparePages(t, packing, plain, text, page)
		}
	}
}

// packedValues returns few different values, so that rows meet. Some are NULL, not set, empty or too short.
func packedValues(random *rand.Rand, kinds string) []Value {
	values := make([]Value, len(kinds))
	for i, kind := range kinds {
		switch n := random.IntN(4); kind {
		case 'i':
			values[i].Bytes = int32Bytes(int32(n))
		case 't':
			values[i].Bytes = []byte{byte('a' + n)}[:min(n, 1)]
		case 'v':
			values[i].Bytes = []byte{0, 0, 0, byte(n), 63, 128, 0, 0}
		case 'T':
			values[i].Bytes = int64Bytes(int64(n))
		}
		switch odd := random.IntN(40); {
		case kind == 'T':
		case odd < 2:
			values[i] = Value{State: ValueNull}
		case odd < 4:
			values[i] = Value{State: ValueUnset}
		case odd == 4:
			values[i].Bytes = []byte{}
		case odd == 5:
			values[i].Bytes = values[i].Bytes[:len(values[i].Bytes)/2]
		}
	}
	return values
}

// comparePages reads all pages of a statement from both engines, with Rows and encoded.
func comparePages(t *testing.T, packing, plain *Engine, text string, page int) {
	var paging []byte
	for {
		var got []*Result
		for _, e := range []*Engine{packing, plain} {
			s, err := e.Prepare("ks", text)
			require.NoError(t, err, text)
			for _, encode := range []bool{false, true} {
				r, err := e.Execute(t.Context(), s, &Request{
					PageSize: page, PagingState: paging, Encode: encode, Room: []byte("room"),
				})
				if err != nil { // a sorted read has no pages
					require.Contains(t, err.Error(), "Cannot page queries", text)
					return
				}
				got = append(got, r)
			}
		}
		want := got[2]
		for _, r := range got {
			require.Equal(t, want.PagingState, r.PagingState, text)
			require.Equal(t, encodedRows(want), encodedRows(r), text)
			require.Equal(t, len(want.Rows), len(r.Rows)+r.Count, text)
		}
		if paging = want.PagingState; paging == nil {
			return
		}
	}
}

// encodedRows returns the rows of a result as the protocol has them.
func encodedRows(r *Result) []byte {
	if r.Encoded != nil {
		return r.Encoded[len("room"):]
	}
	out := []byte{}
	for _, row := range r.Rows {
		for _, cell := range row {
			out = appendBytes(out, cell)
		}
	}
	return out
}

func TestPackedRows(t *testing.T) {
	for seed := range uint64(60) {
		packedScript(t, rand.New(rand.NewPCG(seed, 1)), 3+2*int(seed))
	}
}

func FuzzPackedRows(f *testing.F) {
	f.Add(uint64(1), uint8(10))
	f.Fuzz(func(t *testing.T, seed uint64, writes uint8) {
		packedScript(t, rand.New(rand.NewPCG(seed, 2)), int(writes))
	})
}

// TestPackedRow stores rows that are packed, and rows that are not, and reads the memory.
func TestPackedRow(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, packedTables[0])
	mustRun(t, e, "INSERT INTO one (a, k, b) VALUES (1, 2, 'x')")
	table, err := e.schema.Load().table("ks", "", "one")
	require.NoError(t, err)
	row := table.store.find(int32Bytes(2)).row(table, nil)
	require.Equal(t, "\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x01x", string(row.packed))
	mustRun(t, e, "UPDATE one SET a = 7 WHERE k = 2")
	require.Nil(t, table.store.find(int32Bytes(2)).row(table, nil).packed)
	require.Equal(t, "2 | 7 | 'x' | null", show(run(t, e, "SELECT * FROM one")))
	require.NotNil(t, row.packed, "a reader may hold the old row")
	mustRun(t, e, "ALTER TABLE one ADD z int")
	mustRun(t, e, "INSERT INTO one (a, k, b) VALUES (1, 3, 'y')")
	mustRun(t, e, "ALTER TABLE one DROP a")
	require.Equal(t, "2 | 'x' | null | null\n3 | 'y' | null | null", show(run(t, e, "SELECT * FROM one WHERE k IN (2, 3)")))
}
