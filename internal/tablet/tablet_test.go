// SPDX-License-Identifier: Apache-2.0

package tablet

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func tab(first, last int64, hosts ...byte) *Tablet {
	t := &Tablet{First: first, Last: last}
	for _, h := range hosts {
		t.Replicas = append(t.Replicas, Replica{Host: [16]byte{h}, Shard: int32(h)})
	}
	return t
}

// ranges returns the ranges of the map's tablets of table ks.t.
func ranges(m *Map) [][2]int64 {
	var r [][2]int64
	for t := range m.All("ks", "t") {
		r = append(r, [2]int64{t.First, t.Last})
	}
	return r
}

func TestMapLookup(t *testing.T) {
	var m Map
	require.Nil(t, m.Lookup("ks", "t", 0))
	require.Zero(t, m.Len())
	m.Add("ks", "t", tab(math.MinInt64, -100))
	m.Add("ks", "t", tab(0, 100))
	m.Add("ks", "t", tab(100, math.MaxInt64))
	m.Add("ks", "u", tab(-50, 50))
	require.Equal(t, 4, m.Len())
	for _, c := range []struct {
		name  string
		token int64
		first int64 // of the tablet; 1 means none
	}{
		{"the lowest token belongs to no key and has no tablet", math.MinInt64, 1},
		{"lowest key", math.MinInt64 + 1, math.MinInt64},
		{"the end is included", -100, math.MinInt64},
		{"gap", -99, 1},
		{"the beginning is excluded", 0, 1},
		{"within", 1, 0},
		{"the end of a tablet does not belong to the next", 100, 0},
		{"the next", 101, 100},
		{"highest", math.MaxInt64, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := m.Lookup("ks", "t", c.token)
			if c.first == 1 {
				require.Nil(t, got)
				return
			}
			require.Equal(t, c.first, got.First)
			require.True(t, got.Covers(c.token))
		})
	}
	require.Nil(t, m.Lookup("other", "t", 5))
	require.EqualValues(t, -50, m.Lookup("ks", "u", 0).First)
	require.Nil(t, m.Lookup("ks", "u", math.MaxInt64))
	require.Nil(t, m.Lookup("ks", "u", math.MinInt64))
}

func TestMapAddDropsWhatOverlaps(t *testing.T) {
	for _, c := range []struct {
		name string
		add  *Tablet
		want [][2]int64
	}{
		{"the same range", tab(10, 20), [][2]int64{{0, 10}, {10, 20}, {20, 30}}},
		{"half", tab(10, 15), [][2]int64{{0, 10}, {10, 15}, {20, 30}}},
		{"across a border", tab(5, 15), [][2]int64{{5, 15}, {20, 30}}},
		{"merged", tab(0, 20), [][2]int64{{0, 20}, {20, 30}}},
		{"everything", tab(math.MinInt64, math.MaxInt64), [][2]int64{{math.MinInt64, math.MaxInt64}}},
		{"before all", tab(-9, 0), [][2]int64{{-9, 0}, {0, 10}, {10, 20}, {20, 30}}},
		{"after all", tab(30, 31), [][2]int64{{0, 10}, {10, 20}, {20, 30}, {30, 31}}},
		{"the last token of one", tab(9, 10), [][2]int64{{9, 10}, {10, 20}, {20, 30}}},
		{"the first token of one", tab(10, 11), [][2]int64{{0, 10}, {10, 11}, {20, 30}}},
		{"far after all", tab(math.MaxInt64-1, math.MaxInt64), [][2]int64{{0, 10}, {10, 20}, {20, 30}, {math.MaxInt64 - 1, math.MaxInt64}}},
		{"far before all", tab(math.MinInt64, math.MinInt64+1), [][2]int64{{math.MinInt64, math.MinInt64 + 1}, {0, 10}, {10, 20}, {20, 30}}},
		{"within one", tab(13, 14), [][2]int64{{0, 10}, {13, 14}, {20, 30}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Map
			for first := int64(0); first < 30; first += 10 {
				m.Add("ks", "t", tab(first, first+10))
			}
			m.Add("ks", "t", c.add)
			require.Equal(t, c.want, ranges(&m))
			require.Equal(t, len(c.want), m.Len())
			require.Same(t, c.add, m.Lookup("ks", "t", c.add.Last))
		})
	}
}

// TestMapAgainstPlainList applies the same changes to a map and to a list that is searched from its start: many chunks,
// ranges of all widths.
func TestMapAgainstPlainList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var m Map
	var plain []*Tablet
	for i := range 3000 {
		width := int64(1) << rnd.IntN(1+rnd.IntN(8))
		first := rnd.Int64N(1<<16) - 1<<15
		n := tab(first, first+width, byte(rnd.IntN(200)))
		if rnd.IntN(500) == 0 {
			host := [16]byte{byte(rnd.IntN(200))}
			m.RemoveHost(host)
			plain = slices.DeleteFunc(plain, func(o *Tablet) bool { return o.Replicas[0].Host == host })
		}
		m.Add("ks", "t", n)
		plain = slices.DeleteFunc(plain, func(o *Tablet) bool { return o.First < n.Last && n.First < o.Last })
		plain = append(plain, n)
		if m.Len() != len(plain) {
			t.Fatalf("%d tablets after %d, want %d", m.Len(), i, len(plain))
		}
		for range 5 {
			token := rnd.Int64N(1<<17) - 1<<16
			if rnd.IntN(10) == 0 {
				token = int64(rnd.Uint64()) // far from all tablets
			}
			var want *Tablet
			for _, o := range plain {
				if o.Covers(token) {
					want = o
				}
			}
			if got := m.Lookup("ks", "t", token); got != want {
				t.Fatalf("token %d after %d: got %v, want %v", token, i, got, want)
			}
		}
	}
	slices.SortFunc(plain, func(a, b *Tablet) int { return int(a.Last - b.Last) })
	require.Equal(t, plain, slices.Collect(m.All("ks", "t")))
	l := m.part("t").table(tableName{"ks", "t"}).list.Load()
	require.Greater(t, len(l.chunks), 1)
	for i := range l.chunks {
		n := l.chunks[i].Load().n
		require.Positive(t, n)
		require.LessOrEqual(t, n, maxChunk)
	}
}

func TestMapRemove(t *testing.T) {
	fill := func() *Map {
		m := new(Map)
		for i := range int64(1000) {
			m.Add("ks", "t", tab(i, i+1, byte(i%3), byte(i%5+10)))
		}
		m.Add("ks", "u", tab(0, 9, 1))
		m.Add("other", "t", tab(0, 9, 2))
		return m
	}
	m := fill()
	m.RemoveTable("ks", "t")
	require.Equal(t, 2, m.Len())
	require.Nil(t, m.Lookup("ks", "t", 5))
	require.NotNil(t, m.Lookup("ks", "u", 5))
	m.RemoveTable("ks", "nothing")
	require.Equal(t, 2, m.Len())

	m = fill()
	m.RemoveKeyspace("ks")
	require.Equal(t, 1, m.Len())
	require.NotNil(t, m.Lookup("other", "t", 5))

	m = fill()
	m.RetainKeyspaces(func(keyspace string) bool { return keyspace == "ks" })
	require.Equal(t, 1001, m.Len())
	require.Nil(t, m.Lookup("other", "t", 5))

	m = fill()
	m.RemoveHost([16]byte{10})
	require.Equal(t, 802, m.Len())
	require.Nil(t, m.Lookup("ks", "t", 1))
	require.NotNil(t, m.Lookup("ks", "t", 2))
	m.RemoveHost([16]byte{1})
	require.Nil(t, m.Lookup("ks", "u", 5), "a table without tablets is removed")
	m.RemoveHost([16]byte{99})
	new(Map).RemoveHost([16]byte{1})
}

// TestMapManyReaders runs readers and writers together, for the race detector. Readers must see consistent lists only.
func TestMapManyReaders(t *testing.T) {
	var m Map
	m.Add("ks", "t", tab(math.MinInt64, math.MaxInt64))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for token := int64(0); ; token++ {
				select {
				case <-stop:
					return
				default:
				}
				if got := m.Lookup("ks", "t", token%5000); got != nil && !got.Covers(token%5000) {
					t.Error("tablet of another table")
					return
				}
			}
		})
	}
	for i := range int64(3000) {
		m.Add("ks", "t", tab(i, i+2))
		if i%100 == 0 {
			m.RemoveTable("ks", "t")
		}
	}
	close(stop)
	wg.Wait()
}

// filled returns a map of n tablets of one table, added in random order, and the time that this took.
func filled(n int) (*Map, time.Duration) {
	m := new(Map)
	width := math.MaxUint64 / uint64(n)
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	tablets := make([]*Tablet, n)
	for i := range tablets {
		first := int64(uint64(i)*width + 1<<63)
		tablets[i] = tab(first, int64(uint64(first)+width), 1, 2, 3)
	}
	begin := time.Now()
	for _, i := range order {
		m.Add("keyspace", "table", tablets[i])
	}
	return m, time.Since(begin)
}

func TestMapOfManyTablets(t *testing.T) {
	const n = 50_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, took := filled(n)
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / n
	t.Logf("%d tablets added one by one in %v, %d bytes each", n, took, each)
	require.Equal(t, n, m.Len())
	require.Less(t, each, uint64(n), "copying all tablets would take 24 bytes each")
	token := int64(12345)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		token = token*6364136223846793005 + 1442695040888963407
		m.Lookup("keyspace", "table", token)
	}))
}

// TestMapLookupTime compares a lookup among 100,000 tablets with a lookup among 100, in turns on the same machine: a
// search by halves takes 17 steps and 7 of them, and a walk over all tablets would take a thousand times as long.
func TestMapLookupTime(t *testing.T) {
	least := func(m *Map) time.Duration {
		token, found := int64(12345), 0
		lookup := func() {
			token = token*6364136223846793005 + 1442695040888963407
			if m.Lookup("keyspace", "table", token) != nil {
				found++
			}
		}
		require.Zero(t, testing.AllocsPerRun(1000, lookup))
		const n = 2000
		begin := time.Now()
		for range n {
			lookup()
		}
		took := time.Since(begin)
		require.Greater(t, found, n*9/10)
		return took
	}
	few, _ := filled(100)
	many, _ := filled(100_000)
	small, large := time.Hour, time.Hour
	for range 50 {
		small, large = min(small, least(few)), min(large, least(many))
	}
	t.Logf("2000 lookups: %v among 100 tablets, %v among 100,000", small, large)
	require.Less(t, large, 30*small)
}

func BenchmarkMapLookup(b *testing.B) {
	m, _ := filled(100_000)
	b.ReportAllocs()
	token, found := int64(12345), 0
	for b.Loop() {
		token = token*6364136223846793005 + 1442695040888963407
		if m.Lookup("keyspace", "table", token) != nil {
			found++
		}
	}
	if found == 0 {
		b.Fatal("nothing found")
	}
}

// The first tablet of a table copies a part of the tables, and the drop of a table without tablets copies nothing.
func TestMapOfManyTables(t *testing.T) {
	const tables, perTable = 2000, 16 << 10
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	var m Map
	before := allocated()
	for i := range tables {
		m.Add("ks", strconv.Itoa(i), tab(0, 100, 1))
	}
	require.Less(t, allocated()-before, uint64(tables*perTable))
	before = allocated()
	for i := range tables {
		m.RemoveTable("ks", strconv.Itoa(tables+i))
		m.RetainKeyspaces(func(string) bool { return true })
	}
	require.Less(t, allocated()-before, uint64(tables*256))
	require.Equal(t, tables, m.Len())
	for i := range tables {
		m.RemoveTable("ks", strconv.Itoa(i))
	}
	require.Zero(t, m.Len())
}

func BenchmarkMapAdd(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, took := filled(100_000)
		b.ReportMetric(float64(took.Nanoseconds())/100_000, "ns/tablet")
	}
}
