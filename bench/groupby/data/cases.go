// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
)

// Cases and their columns. A column depends only on the seed, the name of its file and the number of rows.

// columnSpec defines how a column is generated.
type columnSpec struct {
	name string // in the table
	file string
	typ  string
	null bool // has NULLs
	make func(r *rand.Rand, rows int) *Column
}

func (s columnSpec) column(seed uint64, rows int) *Column {
	h := fnv.New64a()
	h.Write([]byte(s.file))
	return s.make(rand.New(rand.NewPCG(seed, h.Sum64())), rows)
}

// tableSpec is a table and its cases. Columns are generated with the number of rows of the whole set; a table has the
// first rows of them.
type tableSpec struct {
	name    string
	rows    int
	columns []columnSpec
	cases   []*Case
}

var count = Agg{Func: "count"}

func aggOf(f, column string) Agg { return Agg{Func: f, Column: column} }

// GridGroups are the numbers of groups of the grid.
var GridGroups = []int{10, 1000, 100_000, 5_000_000}

// specs returns the tables with cases whose names match, and these cases.
func specs(rows int, match *regexp.Regexp) []*tableSpec {
	var tables []*tableSpec
	add := func(name string, n int, columns []columnSpec, cases ...*Case) {
		t := &tableSpec{name: name, rows: n, columns: columns}
		for _, c := range cases {
			if match == nil || match.MatchString(c.Name) {
				c.Table = name
				t.cases = append(t.cases, c)
			}
		}
		if len(t.cases) > 0 {
			tables = append(tables, t)
		}
	}
	value := ints("value", "value", func(r *rand.Rand, _ int) int64 { return r.Int64N(1000) })
	key := []string{"key"}
	countSum := []Agg{count, aggOf("sum", "value")}

	for _, pattern := range []string{"consecutive", "random", "sparse"} {
		for _, groups := range GridGroups {
			name := fmt.Sprintf("case=grid/keys=%s/groups=%d/agg=", pattern, groups)
			add(fmt.Sprintf("grid-%s-%d", pattern, groups), rows, []columnSpec{gridKey(pattern, groups), value},
				&Case{Name: name + "count", Keys: key, Aggs: []Agg{count}},
				&Case{Name: name + "sum", Keys: key, Aggs: []Agg{aggOf("sum", "value")}},
				&Case{Name: name + "count+sum", Keys: key, Aggs: countSum})
		}
	}

	for _, groups := range GridGroups[1:] {
		add(fmt.Sprintf("min-max-avg-%d", groups), rows,
			[]columnSpec{gridKey("random", groups), floats("value", "float", 64_000, 64)},
			&Case{
				Name: fmt.Sprintf("case=min+max+avg/groups=%d", groups), Keys: key,
				Aggs: []Agg{aggOf("min", "value"), aggOf("max", "value"), aggOf("avg", "value")},
			})
	}

	// As query 1 of TPC-H: the return flag and the line status are correlated, and one combination is rare. All numbers
	// are multiples of 1/128, so that sums are exact in any order and answers can be compared bit by bit. The only loss
	// is that prices have no cents.
	q1 := []columnSpec{
		letters("returnflag", func(k int) byte { return "ARNNRA"[k] }),
		letters("linestatus", func(k int) byte { return "FFOFOO"[k] }),
		{name: "quantity", file: "q1-quantity", typ: Float64, make: func(r *rand.Rand, n int) *Column {
			c := &Column{Type: Float64, Floats: make([]float64, n)}
			for i := range c.Floats {
				c.Floats[i] = float64(1 + r.IntN(50))
			}
			return c
		}},
		floats("price", "q1-price", 105_000*128, 128),
		floats("discount", "q1-discount", 14, 128),
	}
	for _, n := range []int{rows * 24 / 100, rows} {
		add(fmt.Sprintf("q1-%d", n), n, q1, &Case{
			Name: fmt.Sprintf("case=q1/rows=%d", n), Keys: []string{"returnflag", "linestatus"},
			Aggs: []Agg{
				aggOf("sum", "quantity"), aggOf("sum", "price"), aggOf("avg", "quantity"), aggOf("avg", "price"),
				aggOf("avg", "discount"), count,
			},
		})
	}

	// Half a percent of the rows repeats an earlier pair.
	pair := []columnSpec{
		ints("a", "pair-a", func(r *rand.Rand, n int) int64 { return r.Int64N(int64(n/10 + 1)) }),
		ints("b", "pair-b", func(r *rand.Rand, _ int) int64 { return r.Int64N(1000) }),
		value,
	}
	add("pair", rows, pair, &Case{Name: "case=pair", Keys: []string{"a", "b"}, Aggs: countSum})

	url := columnSpec{name: "url", file: "url", typ: String, make: func(r *rand.Rand, n int) *Column {
		c := &Column{Type: String}
		var b []byte
		for range n {
			b = appendURL(b[:0], r.Uint64N(uint64(n/5+1)))
			c.AppendBytes(b)
		}
		return c
	}}
	add("url", rows, []columnSpec{url, value}, &Case{Name: "case=url", Keys: []string{"url"}, Aggs: countSum})

	// As in ClickBench's hits: six rows per user, seven of eight phrases empty, the others skewed.
	user := ints("user", "user", func(r *rand.Rand, n int) int64 { return int64(Mix(r.Uint64N(uint64(n/6 + 1)))) })
	phrase := columnSpec{name: "phrase", file: "phrase", typ: String, make: func(r *rand.Rand, n int) *Column {
		c := &Column{Type: String}
		zipf := rand.NewZipf(r, 1.05, 4, uint64(n/16))
		var b []byte
		for range n {
			b = b[:0]
			if r.IntN(8) == 0 {
				b = appendPhrase(b, zipf.Uint64())
			}
			c.AppendBytes(b)
		}
		return c
	}}
	add("user-phrase", rows, []columnSpec{user, phrase},
		&Case{Name: "case=user+phrase", Keys: []string{"user", "phrase"}, Aggs: []Agg{count}},
		&Case{Name: "case=phrase", Keys: []string{"phrase"}, Aggs: []Agg{count}})

	nulls := []columnSpec{
		withNulls(ints("key", "nulls-key", func(r *rand.Rand, _ int) int64 { return r.Int64N(100_000) })),
		withNulls(ints("value", "nulls-value", func(r *rand.Rand, _ int) int64 { return r.Int64N(1000) })),
	}
	add("nulls", rows, nulls, &Case{Name: "case=nulls", Keys: key, Aggs: countSum})

	nan := columnSpec{name: "key", file: "nan-key", typ: Float64, make: func(r *rand.Rand, n int) *Column {
		c := &Column{Type: Float64, Floats: make([]float64, n)}
		for i := range c.Floats {
			if r.IntN(10) == 0 {
				c.Floats[i] = math.Float64frombits(nanBits[r.IntN(len(nanBits))])
			} else if k := r.IntN(999); k == 0 && r.IntN(2) == 0 {
				c.Floats[i] = math.Copysign(0, -1)
			} else {
				c.Floats[i] = float64(k) * 1.1
			}
		}
		return c
	}}
	add("nan", rows, []columnSpec{nan, value}, &Case{Name: "case=nan", Keys: key, Aggs: countSum})

	zipf := columnSpec{name: "key", file: "zipf-key", typ: Int64, make: func(r *rand.Rand, n int) *Column {
		c := &Column{Type: Int64, Ints: make([]int64, n)}
		z := rand.NewZipf(r, 1.1, 1, 1_000_000-1)
		for i := range c.Ints {
			c.Ints[i] = int64(Mix(z.Uint64()))
		}
		return c
	}}
	add("zipf", rows, []columnSpec{zipf, value}, &Case{Name: "case=zipf", Keys: key, Aggs: countSum})
	return tables
}

// nanBits are NaNs: the usual one of x86, and others with payloads, quiet and signaling, positive and negative.
var nanBits = [...]uint64{
	0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000001, 0x7ff0000000000001,
	0xfffdeadbeefdead1,
}

// gridKey returns keys of about this many groups: i modulo groups, uniform, or uniform over random 64-bit numbers.
func gridKey(pattern string, groups int) columnSpec {
	file := fmt.Sprintf("%s-%d", pattern, groups)
	switch pattern {
	case "consecutive":
		return columnSpec{name: "key", file: file, typ: Int64, make: func(_ *rand.Rand, n int) *Column {
			c := &Column{Type: Int64, Ints: make([]int64, n)}
			for i := range int64(n) {
				c.Ints[i] = i % int64(groups)
			}
			return c
		}}
	case "random":
		return ints("key", file, func(r *rand.Rand, _ int) int64 { return r.Int64N(int64(groups)) })
	}
	return ints("key", file, func(r *rand.Rand, _ int) int64 { return int64(Mix(r.Uint64N(uint64(groups)))) })
}

// ints returns a column of the results of f, which receives the number of rows.
func ints(name, file string, f func(r *rand.Rand, rows int) int64) columnSpec {
	return columnSpec{name: name, file: file, typ: Int64, make: func(r *rand.Rand, n int) *Column {
		c := &Column{Type: Int64, Ints: make([]int64, n)}
		for i := range c.Ints {
			c.Ints[i] = f(r, n)
		}
		return c
	}}
}

// floats returns a column of uniform multiples of 1/div below n/div. div is a power of two, so that sums are exact.
func floats(name, file string, n int64, div float64) columnSpec {
	return columnSpec{name: name, file: file, typ: Float64, make: func(r *rand.Rand, rows int) *Column {
		c := &Column{Type: Float64, Floats: make([]float64, rows)}
		for i := range c.Floats {
			c.Floats[i] = float64(r.Int64N(n)) / div
		}
		return c
	}}
}

// letters returns a column of strings of one letter. All such columns choose the same combination for a row.
func letters(name string, letter func(combination int) byte) columnSpec {
	return columnSpec{name: name, file: "q1-" + name, typ: String, make: func(_ *rand.Rand, n int) *Column {
		c := &Column{Type: String, Text: make([]byte, n), Offsets: make([]int32, n+1)}
		for i := range n {
			// Frequencies of TPC-H (A F and R F a quarter each, N O a half, N F 0.6 %), and few of the combinations
			// that do not occur there.
			k, x := 0, Mix(uint64(i)^0x71)%1000
			for k < 5 && x >= [...]uint64{246, 492, 990, 996, 998}[k] {
				k++
			}
			c.Text[i], c.Offsets[i+1] = letter(k), int32(i+1)
		}
		return c
	}}
}

// withNulls makes a tenth of the rows NULL; their values remain, as garbage.
func withNulls(s columnSpec) columnSpec {
	f := s.make
	s.null = true
	s.make = func(r *rand.Rand, n int) *Column {
		c := f(r, n)
		c.Valid = make([]byte, (n+7)/8)
		for i := range n {
			if r.IntN(10) != 0 {
				c.Valid[i>>3] |= 1 << (i & 7)
			}
		}
		return c
	}
	return s
}

var (
	hosts = []string{
		"www.example.com", "news.example.org", "shop.example.net", "m.example.com", "video.example.co.uk",
		"blog.example.io", "auto.example.com", "maps.example.org",
	}
	words = []string{
		"catalog", "item", "search", "news", "2026", "a", "review", "category", "photo", "users",
		"index.html", "sport", "music", "offers", "it", "world",
	}
)

// appendURL appends URL number id, of about 55 bytes.
func appendURL(b []byte, id uint64) []byte {
	x := Mix(id)
	take := func(n int) int { k := int(x % uint64(n)); x /= uint64(n); return k }
	b = append(b, "https://"...)
	b = append(b, hosts[take(len(hosts))]...)
	for range 2 + take(3) {
		b = append(b, '/')
		b = append(b, words[take(len(words))]...)
	}
	b = append(b, "?id="...)
	b = strconv.AppendUint(b, id, 36)
	if take(2) == 0 {
		b = append(b, "&from=main&p="...)
		b = strconv.AppendInt(b, int64(take(100)), 10)
	}
	return b
}

// appendPhrase appends phrase number id, of 1 to 40 bytes.
func appendPhrase(b []byte, id uint64) []byte {
	const syllables = "kalemonarisotutebidepagovahisumy"
	x := Mix(id)
	start := len(b)
	b = strconv.AppendUint(b, id, 36)
	for range x % 4 {
		x /= 4
		b = append(b, ' ')
		for range 1 + x%5 {
			x = x>>5 | x<<59
			k := x % 16
			b = append(b, syllables[2*k:2*k+2]...)
		}
	}
	return b[:min(len(b), start+40)]
}

// Mix is the last step of SplitMix64, a bijection that spreads numbers over all 64 bits.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
