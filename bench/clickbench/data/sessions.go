// SPDX-License-Identifier: Apache-2.0

package data

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/column"
)

// Sessions: visits of a user to a site, and their hits.

// A session is the hits of a user on a site on one day.
type session struct {
	*site
	visitor
	start  int64 // seconds since 1970
	hits   int
	source source
	phrase uint32 // of a search; 0 is none
	adv    int16
	random uint64 // of its hits
}

// A source is the origin of a session.
type source int16

// Values of TraficSourceID.
const (
	internal source = -1
	direct   source = 0
	link     source = 1
	search   source = 2
	advert   source = 3
	saved    source = 6
)

var (
	sources    = choose([]source{search, direct, link, advert, saved}, 100, 80, 50, 6)
	advEngines = choose([]int16{2, 27, 13, 45, 44, 3, 62, 52}, 164, 46, 18, 16, 4, 3, 2)
)

// A hit is one row.
type hit struct {
	*session
	day      int32 // since 1970-01-01
	time     int64
	number   int    // in the session
	page     uint32 // of the URL
	previous uint32 // the page before, from the second hit
	refresh  bool
	watch    uint64
	bits     uint64 // for columns that depend on nothing else
}

// hits makes the rows of hits.
type hits struct {
	Options
	sites []*site
	rows  uint64 // made so far
}

func newHits(o Options) *hits { return &hits{Options: o, sites: newSites(o)} }

// batches yields the table in blocks of days of a site.
func (t *hits) batches(yield func(func() *column.Batch) bool) {
	give := func(block []hit) bool { return yield(func() *column.Batch { return hitsBatch(block) }) }
	var block []hit
	for _, s := range t.sites {
		for day := range days {
			block = t.appendDay(block, s, day)
			if len(block) < blockRows {
				continue
			}
			if !give(block) {
				return
			}
			block = nil
		}
	}
	if len(block) > 0 {
		give(block)
	}
}

// appendDay appends the hits of a site on a day, by user and time.
func (t *hits) appendDay(block []hit, s *site, day int) []hit {
	random := rand.New(rand.NewPCG(t.Seed, hash(s.key, uint64(day))))
	var sessions []*session
	for left := s.dayRows(day); left > 0; {
		one := t.session(random, s, day)
		if s.id == literalCounter && day == literalDay && len(sessions) == 0 {
			one.visitor = literalVisitor(t.Options)
		}
		one.hits = min(one.hits, left)
		left -= one.hits
		sessions = append(sessions, one)
	}
	slices.SortFunc(sessions, func(a, b *session) int {
		return cmp.Or(cmp.Compare(a.id64, b.id64), cmp.Compare(a.start, b.start))
	})
	for _, one := range sessions {
		block = t.appendSession(block, one, int32(firstDay+day))
	}
	return block
}

const daySeconds = 24 * 60 * 60

// session returns a session of 4 hits on average; a few users are robots with many more.
func (t *hits) session(random *rand.Rand, s *site, day int) *session {
	one := &session{site: s, hits: 1 + int(random.ExpFloat64()*3.2), random: random.Uint64()}
	one.source = sources[random.Uint64()>>56]
	if random.Uint64()%400 == 0 {
		one.visitor = newVisitor(t.Options, random.Uint64()%robots)
		one.hits *= 20
	} else {
		one.visitor = anyVisitor(t.Options, random.Float64())
	}
	// Most hits are in the evening.
	hour := math.Sqrt(random.Float64())
	one.start = int64(firstDay+day)*daySeconds + int64(hour*daySeconds)
	switch one.source {
	case search:
		one.phrase = anyPhrase(t.Options, random.Uint64(), random.Float64())
	case advert:
		one.adv = advEngines[random.Uint64()>>56]
	}
	return one
}

// appendSession appends the hits of a session, which end with the day.
func (t *hits) appendSession(block []hit, s *session, day int32) []hit {
	h := hit{session: s, day: day, time: s.start}
	midnight := int64(day+1)*daySeconds - 1
	for h.number = range s.hits {
		bits := hash(s.random, uint64(h.number))
		h.bits = groups.Mix(bits)
		h.previous = h.page
		h.refresh = h.number > 0 && bits>>56 < 30
		if !h.refresh {
			h.page = s.page(groups.Mix(h.bits))
		}
		if h.number > 0 {
			h.time = min(midnight, h.time+int64(h.bits%90))
		}
		// About one hit of a million has the WatchID of the hit before.
		if h.number == 0 || h.bits>>8%1_000_000 != 0 {
			h.watch = t.rows
		}
		t.rows++
		block = append(block, h)
	}
	return block
}

// searched reports whether the hit came from a search: the first one of a session, and sometimes the second.
func (h *hit) searched() bool {
	return h.phrase != 0 && (h.number == 0 || h.number == 1 && h.bits>>40&3 == 0)
}

// trafficSource returns the TraficSourceID: hits after the first one come from the site itself.
func (h *hit) trafficSource() source {
	switch {
	case h.number == 0:
		return h.source
	case h.searched():
		return search
	case h.bits>>48&7 == 0:
		return saved
	}
	return internal
}
