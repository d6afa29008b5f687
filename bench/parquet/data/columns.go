// SPDX-License-Identifier: Apache-2.0

package data

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	groups "github.com/vecql/vecql/bench/groupby/data"
)

// The columns of t, and their totals. A column depends only on the seed, its name and the number of rows.

func random(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// rows are some rows of t: columns by name; s contains numbers of cities.
type rows struct {
	ints   map[string][]int64
	floats []float64
	cities []uint16
}

// A source makes the rows of t in order.
type source struct {
	rows   int
	random map[string]*rand.Rand
}

func newSource(o Options) *source {
	s := &source{rows: o.Rows, random: map[string]*rand.Rand{}}
	for _, name := range columnNames() {
		s.random[name] = random(o.Seed, name)
	}
	return s
}

// columnNames returns the columns of t in their order.
func columnNames() []string {
	var names []string
	for _, k := range keyGroups {
		names = append(names, "k"+k.name)
	}
	return append(names, "near", "v", "f", "s")
}

// next returns the next n rows.
func (s *source) next(n int) *rows {
	r := &rows{ints: map[string][]int64{}, floats: make([]float64, n), cities: make([]uint16, n)}
	ints := func(name string, f func(r *rand.Rand) int64) {
		v := make([]int64, n)
		for i := range v {
			v[i] = f(s.random[name])
		}
		r.ints[name] = v
	}
	for _, k := range keyGroups {
		ints("k"+k.name, func(r *rand.Rand) int64 { return r.Int64N(int64(k.groups)) })
	}
	// About one row in a hundred repeats an earlier key.
	ints("near", func(r *rand.Rand) int64 { return int64(groups.Mix(r.Uint64N(50 * uint64(s.rows)))) })
	ints("v", func(r *rand.Rand) int64 { return r.Int64N(1_000_001) })
	for i := range r.floats {
		r.floats[i] = float64(s.random["f"].Uint32N(1<<28)) / (1 << 28) // see MaxRows
	}
	for i := range r.cities {
		r.cities[i] = uint16(s.random["s"].IntN(len(cities)))
	}
	return r
}

// cities are 1000 different names.
var cities = func() []string {
	first := []string{
		"Al", "Bel", "Cor", "Dun", "Es", "Frei", "Gran", "Har", "In", "Jel", "Kal", "Lim", "Mar", "Nor", "Ost", "Pal", "Quim",
		"Ros", "San ", "São ", "Tor", "Ul", "Val", "Wes", "Zür",
	}
	last := []string{"burg", "ton", "ville", "stadt", "grad", "minster", "a", "ingen"}
	var names []string
	for _, f := range first {
		for _, m := range []string{"Be", "Ca", "Lo", "Mi", "Ra"} {
			for _, l := range last {
				if f[len(f)-1] != ' ' {
					m = string(m[0]|0x20) + m[1:]
				}
				names = append(names, f+m+l)
			}
		}
	}
	return names
}()

// A tally counts and sums by a small number.
type tally struct{ counts, sums []int64 }

func newTally(n int) *tally { return &tally{make([]int64, n), make([]int64, n)} }

// totals are the aggregates of the rows of t.
type totals struct {
	rows, v int64
	f       float64
	keys    map[string]*tally
	cities  *tally
	near    []int64
}

func newTotals() *totals {
	t := &totals{keys: map[string]*tally{}, cities: newTally(len(cities))}
	for _, k := range keyGroups {
		t.keys["k"+k.name] = newTally(k.groups)
	}
	return t
}

func (t *totals) add(r *rows) {
	v := r.ints["v"]
	t.rows += int64(len(v))
	for i := range v {
		t.v += v[i]
		t.f += r.floats[i]
		t.cities.counts[r.cities[i]]++
		t.cities.sums[r.cities[i]] += v[i]
	}
	for name, tally := range t.keys {
		for i, k := range r.ints[name] {
			tally.counts[k]++
			tally.sums[k] += v[i]
		}
	}
	t.near = append(t.near, r.ints["near"]...)
}

// answers sets the answers of cases on t.
func (t *totals) answers(cases []*Case) {
	known := map[string]*groups.Checksum{}
	for _, c := range cases {
		what := c.Query + "/"
		for _, name := range c.Columns() {
			what += name + ","
		}
		if known[what] == nil {
			known[what] = groups.Sum(&c.Case, t.answer(c), false)
		}
		c.Answer = known[what]
	}
}

func (t *totals) answer(c *Case) *groups.Answer {
	switch {
	case c.Query == "count":
		return &groups.Answer{Values: []*groups.Column{{Type: groups.Int64, Ints: []int64{t.rows}}}}
	case c.Query == "sum" && c.Aggs[0].Column == "f":
		return &groups.Answer{Values: []*groups.Column{{Type: groups.Float64, Floats: []float64{t.f}}}}
	case c.Query == "sum":
		return &groups.Answer{Values: []*groups.Column{{Type: groups.Int64, Ints: []int64{t.v}}}}
	}
	key := &groups.Column{Type: groups.Int64}
	counts, sums := &groups.Column{Type: groups.Int64}, &groups.Column{Type: groups.Int64}
	a := &groups.Answer{Keys: []*groups.Column{key}, Values: []*groups.Column{counts, sums}}
	switch name := c.Keys[0]; name {
	case "near":
		a.Values = a.Values[:1]
		near := slices.Clone(t.near)
		slices.Sort(near)
		for i, k := range near {
			if i == 0 || k != near[i-1] {
				key.Ints, counts.Ints = append(key.Ints, k), append(counts.Ints, 0)
			}
			counts.Ints[len(counts.Ints)-1]++
		}
	case "s":
		key.Type = groups.String
		for i, n := range t.cities.counts {
			if n > 0 {
				key.AppendBytes([]byte(cities[i]))
				counts.Ints, sums.Ints = append(counts.Ints, n), append(sums.Ints, t.cities.sums[i])
			}
		}
	default:
		for k, n := range t.keys[name].counts {
			if n > 0 {
				key.Ints = append(key.Ints, int64(k))
				counts.Ints, sums.Ints = append(counts.Ints, n), append(sums.Ints, t.keys[name].sums[k])
			}
		}
	}
	return a
}
