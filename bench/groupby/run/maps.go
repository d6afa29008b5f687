// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/vecql/vecql/bench/groupby/data"
)

// Answers of Go maps: each case has the loop that a program would contain.

type (
	countSum struct{ count, sum int64 }
	extremes struct {
		n             int64
		min, max, sum float64
	}
	pricing struct {
		quantity, price, discount float64
		n                         int64
	}
	userPhrase struct {
		user   int64
		phrase string
	}
	nullable struct {
		v    int64
		null bool
	}
	nullSum struct{ count, sum, n int64 }
)

// A MapQuery is a case with a loop over a Go map. Run returns the map; Answer copies it.
type MapQuery struct {
	Run    func() any
	Answer func(any) *data.Answer
}

// Map returns the loop of a case. It converts strings to Go strings, outside the loop.
func Map(c *data.Case, t data.Columns) (*MapQuery, error) {
	ints := func(name string) []int64 { return t[name].Ints }
	kind, _, _ := strings.Cut(strings.TrimPrefix(c.Name, "case="), "/")
	switch kind {
	case "grid":
		keys := ints("key")
		switch {
		case strings.HasSuffix(c.Name, "agg=count"):
			return &MapQuery{func() any { return mapCount(keys) }, answerInts(c)}, nil
		case strings.HasSuffix(c.Name, "agg=sum"):
			values := ints("value")
			return &MapQuery{func() any { return mapSum(keys, values) }, answerInts(c)}, nil
		}
		fallthrough
	case "zipf":
		keys, values := ints("key"), ints("value")
		return &MapQuery{func() any { return mapCountSum(keys, values) }, answerInts(c)}, nil
	case "min+max+avg":
		keys, values := ints("key"), t["value"].Floats
		return &MapQuery{func() any { return mapExtremes(keys, values) }, answerExtremes}, nil
	case "q1":
		flag, status := views(t["returnflag"]), views(t["linestatus"])
		quantity, price, discount := t["quantity"].Floats, t["price"].Floats, t["discount"].Floats
		return &MapQuery{func() any { return mapPricing(flag, status, quantity, price, discount) }, answerPricing}, nil
	case "pair":
		a, b, values := ints("a"), ints("b"), ints("value")
		return &MapQuery{func() any { return mapPair(a, b, values) }, answerPair}, nil
	case "url":
		keys, values := views(t["url"]), ints("value")
		return &MapQuery{func() any { return mapCountSum(keys, values) }, answerStrings(true)}, nil
	case "phrase":
		keys := views(t["phrase"])
		return &MapQuery{func() any { return mapCount(keys) }, answerStrings(false)}, nil
	case "user+phrase":
		users, phrases := ints("user"), views(t["phrase"])
		return &MapQuery{func() any { return mapUserPhrase(users, phrases) }, answerUserPhrase}, nil
	case "nulls":
		keys, values := t["key"], t["value"]
		return &MapQuery{func() any { return mapNulls(keys, values) }, answerNulls}, nil
	case "nan":
		keys, values := t["key"].Floats, ints("value")
		return &MapQuery{func() any { return mapFloats(keys, values) }, answerFloats}, nil
	}
	return nil, fmt.Errorf("case %s has no loop over a map", c.Name)
}

func views(c *data.Column) []string {
	s := make([]string, c.Len())
	for i := range s {
		b := c.Bytes(i)
		s[i] = unsafe.String(unsafe.SliceData(b), len(b))
	}
	return s
}

// at returns the group of a key, which it adds to the map.
func at[K comparable, V any](m map[K]*V, k K) *V {
	a := m[k]
	if a == nil {
		a = new(V)
		m[k] = a
	}
	return a
}

func mapCount[K comparable](keys []K) map[K]*countSum {
	m := map[K]*countSum{}
	for _, k := range keys {
		at(m, k).count++
	}
	return m
}

func mapSum(keys, values []int64) map[int64]*countSum {
	m := map[int64]*countSum{}
	for i, k := range keys {
		at(m, k).sum += values[i]
	}
	return m
}

func mapCountSum[K comparable](keys []K, values []int64) map[K]*countSum {
	m := map[K]*countSum{}
	for i, k := range keys {
		a := at(m, k)
		a.count++
		a.sum += values[i]
	}
	return m
}

func mapExtremes(keys []int64, values []float64) map[int64]*extremes {
	m := map[int64]*extremes{}
	for i, k := range keys {
		v := values[i]
		a := m[k]
		if a == nil {
			a = &extremes{min: v, max: v}
			m[k] = a
		}
		a.n++
		a.sum += v
		a.min, a.max = min(a.min, v), max(a.max, v)
	}
	return m
}

func mapPricing(flag, status []string, quantity, price, discount []float64) map[[2]string]*pricing {
	m := map[[2]string]*pricing{}
	for i := range flag {
		a := at(m, [2]string{flag[i], status[i]})
		a.n++
		a.quantity += quantity[i]
		a.price += price[i]
		a.discount += discount[i]
	}
	return m
}

func mapPair(x, y, values []int64) map[[2]int64]*countSum {
	m := map[[2]int64]*countSum{}
	for i := range x {
		a := at(m, [2]int64{x[i], y[i]})
		a.count++
		a.sum += values[i]
	}
	return m
}

func mapUserPhrase(users []int64, phrases []string) map[userPhrase]*countSum {
	m := map[userPhrase]*countSum{}
	for i, u := range users {
		at(m, userPhrase{u, phrases[i]}).count++
	}
	return m
}

func mapNulls(keys, values *data.Column) map[nullable]*nullSum {
	m := map[nullable]*nullSum{}
	for i, v := range keys.Ints {
		k := nullable{v, false}
		if keys.Null(i) {
			k = nullable{0, true}
		}
		a := at(m, k)
		a.count++
		if !values.Null(i) {
			a.n++
			a.sum += values.Ints[i]
		}
	}
	return m
}

// floatGroups are groups by float. A map never finds a NaN again, so NaN has a group outside the map.
type floatGroups struct {
	m   map[float64]*countSum
	nan *countSum
}

func mapFloats(keys []float64, values []int64) *floatGroups {
	g := &floatGroups{m: map[float64]*countSum{}, nan: new(countSum)}
	for i, k := range keys {
		a := g.nan
		if k == k {
			a = at(g.m, k)
		}
		a.count++
		a.sum += values[i]
	}
	return g
}

func column64(n int) []*data.Column {
	c := make([]*data.Column, n)
	for i := range c {
		c[i] = &data.Column{Type: data.Int64}
	}
	return c
}

func push(c *data.Column, v int64) { c.Ints = append(c.Ints, v) }

func answerInts(c *data.Case) func(any) *data.Answer {
	return func(m any) *data.Answer {
		a := &data.Answer{Keys: column64(1), Values: column64(len(c.Aggs))}
		for k, g := range m.(map[int64]*countSum) {
			push(a.Keys[0], k)
			for i, agg := range c.Aggs {
				if agg.Func == "count" {
					push(a.Values[i], g.count)
				} else {
					push(a.Values[i], g.sum)
				}
			}
		}
		return a
	}
}

func answerExtremes(m any) *data.Answer {
	a := &data.Answer{
		Keys:   column64(1),
		Values: []*data.Column{{Type: data.Float64}, {Type: data.Float64}, {Type: data.Float64}},
	}
	for k, g := range m.(map[int64]*extremes) {
		push(a.Keys[0], k)
		for i, v := range [...]float64{g.min, g.max, g.sum / float64(g.n)} {
			a.Values[i].Floats = append(a.Values[i].Floats, v)
		}
	}
	return a
}

func answerPricing(m any) *data.Answer {
	a := &data.Answer{Keys: []*data.Column{{Type: data.String}, {Type: data.String}}, Values: column64(6)}
	for k, g := range m.(map[[2]string]*pricing) {
		a.Keys[0].AppendBytes([]byte(k[0]))
		a.Keys[1].AppendBytes([]byte(k[1]))
		n := float64(g.n)
		for i, v := range [...]float64{g.quantity, g.price, g.quantity / n, g.price / n, g.discount / n} {
			a.Values[i].Type = data.Float64
			a.Values[i].Floats = append(a.Values[i].Floats, v)
		}
		push(a.Values[5], g.n)
	}
	return a
}

func answerPair(m any) *data.Answer {
	a := &data.Answer{Keys: column64(2), Values: column64(2)}
	for k, g := range m.(map[[2]int64]*countSum) {
		push(a.Keys[0], k[0])
		push(a.Keys[1], k[1])
		push(a.Values[0], g.count)
		push(a.Values[1], g.sum)
	}
	return a
}

func answerStrings(sums bool) func(any) *data.Answer {
	return func(m any) *data.Answer {
		a := &data.Answer{Keys: []*data.Column{{Type: data.String}}, Values: column64(1)}
		if sums {
			a.Values = column64(2)
		}
		for k, g := range m.(map[string]*countSum) {
			a.Keys[0].AppendBytes([]byte(k))
			push(a.Values[0], g.count)
			if sums {
				push(a.Values[1], g.sum)
			}
		}
		return a
	}
}

func answerUserPhrase(m any) *data.Answer {
	a := &data.Answer{Keys: []*data.Column{{Type: data.Int64}, {Type: data.String}}, Values: column64(1)}
	for k, g := range m.(map[userPhrase]*countSum) {
		push(a.Keys[0], k.user)
		a.Keys[1].AppendBytes([]byte(k.phrase))
		push(a.Values[0], g.count)
	}
	return a
}

func answerNulls(m any) *data.Answer {
	a := &data.Answer{Keys: column64(1), Values: column64(2)}
	for k, g := range m.(map[nullable]*nullSum) {
		key, sum := &data.Column{Type: data.Int64, Ints: []int64{k.v}}, &data.Column{Type: data.Int64, Ints: []int64{g.sum}}
		if k.null {
			key.SetNull(0)
		}
		if g.n == 0 {
			sum.SetNull(0)
		}
		a.Keys[0].Append(key, 0)
		push(a.Values[0], g.count)
		a.Values[1].Append(sum, 0)
	}
	return a
}

func answerFloats(m any) *data.Answer {
	g := m.(*floatGroups)
	a := &data.Answer{Keys: []*data.Column{{Type: data.Float64}}, Values: column64(2)}
	one := func(k float64, s *countSum) {
		if s.count > 0 {
			a.Keys[0].Floats = append(a.Keys[0].Floats, k)
			push(a.Values[0], s.count)
			push(a.Values[1], s.sum)
		}
	}
	for k, s := range g.m {
		one(k, s)
	}
	one(math.NaN(), g.nan)
	return a
}
