// SPDX-License-Identifier: Apache-2.0

package data

import (
	"math"
	"slices"
)

// Sites: the counters of hits, with their share of the rows, and their pages.

const (
	// literalCounter is the site of queries 37 to 43.
	literalCounter      = 62
	literalCounterShare = 0.02
	fullSites           = 6500 // for FullRows
	minSites            = 20
	maxCounterID        = 4_000_000
)

// A site is one CounterID.
type site struct {
	id    int32
	rows  int
	pages uint32 // page 0 is the home page
	key   uint64 // of the texts
}

// newSites returns the sites by id. Their rows are a power law: the largest site has 6 % of them.
func newSites(o Options) []*site {
	n := max(minSites, int(fullSites*min(1, float64(o.Rows)/FullRows)))
	weights, total := make([]float64, n), 0.0
	for rank := range weights {
		weights[rank] = math.Pow(float64(rank)+3, -1.1)
		total += weights[rank]
	}
	literal := int(literalCounterShare * float64(o.Rows))
	left := o.Rows - literal
	sites := []*site{newSite(o, literalCounter, literal)}
	taken := map[int32]bool{literalCounter: true}
	for rank, w := range weights {
		rows := int(w / total * float64(o.Rows-literal))
		if rows == 0 {
			break
		}
		id := int32(1 + hash(o.Seed, uint64(rank))%maxCounterID)
		for taken[id] {
			id++
		}
		taken[id] = true
		left -= rows
		sites = append(sites, newSite(o, id, rows))
	}
	sites[1].rows += left
	slices.SortFunc(sites, func(a, b *site) int { return int(a.id - b.id) })
	return sites
}

func newSite(o Options, id int32, rows int) *site {
	return &site{id: id, rows: rows, pages: uint32(2 + rows*2/5), key: hash(o.Seed+1, uint64(id))}
}

// homeShare is the share of the hits on a site's home page.
const homeShare = 0.2

// page returns a page by a random number. Low numbers are more frequent.
func (s *site) page(h uint64) uint32 {
	u := unit(h)
	if u < homeShare {
		return 0
	}
	u = (u - homeShare) / (1 - homeShare)
	return 1 + uint32(float64(s.pages-1)*u*u)
}

const (
	// literalURLHash is in query 42, literalRefererHash in query 41: both are hashes of the home page of literalCounter.
	literalURLHash     = 2868770270353813622
	literalRefererHash = 3594120000172545465
)

// urlHash returns the URLHash of a page.
func (s *site) urlHash(page uint32) int64 {
	if s.id == literalCounter && page == 0 {
		return literalURLHash
	}
	return int64(hash(s.key, uint64(page)))
}

// refererHash returns the RefererHash of a page of the site.
func (s *site) refererHash(page uint32) int64 {
	if s.id == literalCounter && page == 0 {
		return literalRefererHash
	}
	return int64(hash(s.key+1, uint64(page)))
}

// Days of hits: from 2 to 31 July 2013.
const (
	firstDay = 15888 // since 1970-01-01
	days     = 30
)

// dayRows returns the number of the site's rows on a day. Saturdays and Sundays have fewer.
func (s *site) dayRows(day int) int {
	until := func(day int) int {
		weekends := 0
		for d := range day {
			if weekend(d) {
				weekends++
			}
		}
		const all = 4*days - 8 // 8 days of weekends, of 3 parts each; other days have 4
		return s.rows * (4*day - weekends) / all
	}
	return until(day+1) - until(day)
}

func weekend(day int) bool {
	weekday := (firstDay + day + 4) % 7 // 1970-01-01 was a Thursday; 0 is Sunday
	return weekday == 0 || weekday == 6
}
