// SPDX-License-Identifier: Apache-2.0

package data

import (
	"strconv"
	"strings"

	groups "github.com/vecql/vecql/bench/groupby/data"
)

// Texts: URLs, titles, referers and search phrases, made of words from small vocabularies.

// vocabulary is the number of words of a language, a power of two.
const vocabulary = 1 << 12

var (
	cyrillic = words(vocabulary, strings.Fields("ка ре ли мо ва то ни ко ста на по ро ди ве ла се тер при кар но ши бу зак фо дом "+
		"вид жа ско лен пра гор мя чи ты ход сня куп цен рос кино"))
	latin = words(vocabulary, strings.Fields("ka re li mo va to ni ko sta na po ro di ve la se ter pri kar no shi bu zak fo dom "+
		"vid news auto shop foto mail game soft book city film hot sale play tour"))
	escaped = func() []string {
		all := make([]string, len(cyrillic))
		for i, w := range cyrillic {
			var b strings.Builder
			for _, c := range []byte(w) {
				b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c), 16)))
			}
			all[i] = b.String()
		}
		return all
	}()
)

// words returns n words of one to four syllables.
func words(n int, syllables []string) []string {
	all := make([]string, n)
	for i := range all {
		h := hash(11, uint64(i))
		for range 1 + (h&3+h>>2&3+1)/2 {
			h = groups.Mix(h)
			all[i] += syllables[h%uint64(len(syllables))]
		}
	}
	return all
}

// word returns a word of a vocabulary by 12 bits of h. The first words are more frequent.
func word(v []string, h uint64) string {
	i := h & (vocabulary - 1)
	return v[i*i/vocabulary]
}

// appendHost appends the name of the site. A third of the sites begin with www.
func (s *site) appendHost(b []byte) []byte {
	if s.key%3 == 0 {
		b = append(b, "www."...)
	}
	b = append(b, latin[s.key>>8%vocabulary]...)
	b = append(b, latin[s.key>>20%vocabulary]...)
	return append(b, [...]string{".ru", ".com", ".ua", ".net"}[s.key>>40&3]...)
}

// appendURL appends the URL of a page: the site, one of 16 sections, words, a number, and for a quarter of the pages
// parameters.
func (s *site) appendURL(b []byte, page uint32) []byte {
	h := hash(s.key, uint64(page))
	b = append(b, "http://"...)
	if s.key>>44&15 == 0 {
		b = append(b[:len(b)-3], "s://"...)
	}
	b = append(s.appendHost(b), '/')
	if page == 0 {
		return b
	}
	section := hash(s.key, h&15)
	b = append(append(b, word(latin, section)...), '/')
	b = append(append(b, word(latin, section>>12)...), '/')
	for range 1 + h>>4&3 {
		h = groups.Mix(h)
		b = append(append(b, word(latin, h)...), "-/-_"[h>>12&3])
	}
	b = strconv.AppendUint(b, uint64(page), 10)
	switch tail := h >> 20 % 1000; {
	case tail == 0:
		b = append(b, "?utm_source=google&utm_medium=cpc"...)
	case tail == 1:
		b = append(b, "?url=http://www.google.com/search"...)
	case tail < 250:
		b = append(b, "?page="...)
		b = strconv.AppendUint(b, h>>32%50, 10)
		b = append(append(b, "&sort="...), word(latin, h>>40)...)
	case tail < 700:
		b = append(b, ".html"...)
	}
	return b
}

// appendTitle appends the title of a page. Three pages share a title, and a tenth have none.
func (s *site) appendTitle(b []byte, page uint32) []byte {
	h := hash(s.key+2, uint64(page/3))
	if h>>32%10 == 0 {
		return b
	}
	for i := range 3 + h>>36&7 {
		if i > 0 {
			b = append(b, ' ')
		}
		h = groups.Mix(h)
		b = append(b, word(cyrillic, h)...)
	}
	if h>>20%250 == 0 {
		b = append(b, " в Google"...)
	}
	b = append(b, " — "...)
	return append(append(b, cyrillic[s.key>>8%vocabulary]...), cyrillic[s.key>>20%vocabulary]...)
}

// anyPhrase returns a phrase by random numbers, from 1. A quarter of the searches are for one of 1,000 phrases.
func anyPhrase(o Options, h uint64, u float64) uint32 {
	if h&3 == 0 {
		return 1 + uint32(1000*u*u)
	}
	return 1001 + uint32(float64(o.Rows)*0.1*u*u)
}

// appendPhrase appends the words of a phrase with a separator. A tenth of the words are Latin.
func appendPhrase(b []byte, phrase uint32, v []string, separator string) []byte {
	h := hash(13, uint64(phrase))
	for i := range 1 + h&3 + h>>2&3 {
		if i > 0 {
			b = append(b, separator...)
		}
		h = groups.Mix(h)
		w := v
		if h>>12%10 == 0 {
			w = latin
		}
		b = append(b, word(w, h)...)
	}
	return b
}

// searchPhrase appends the SearchPhrase.
func (h *hit) searchPhrase(b []byte) []byte {
	if !h.searched() {
		return b
	}
	return appendPhrase(b, h.phrase, cyrillic, " ")
}

// The numbers of search engines.
const (
	yandex = 2
	google = 3
	mailru = 4
)

var (
	engines  = choose([]int16{yandex, google, mailru, 13, 22}, 170, 60, 18, 6)
	searches = map[int16]string{
		yandex: "http://yandex.ru/yandsearch?text=", google: "http://www.google.ru/search?q=",
		mailru: "http://go.mail.ru/search?q=",
	}
)

// engine returns the SearchEngineID.
func (h *hit) engine() int16 {
	if !h.searched() {
		return 0
	}
	return engines[h.random>>16&255]
}

// referer appends the page from which the hit came: a search with the phrase in the URL's escapes, the page before, or
// for links a page of one of 5,000 sites.
func (h *hit) referer(b []byte) []byte {
	switch h.trafficSource() {
	case search:
		prefix, ok := searches[h.engine()]
		if !ok {
			prefix = "http://nova.rambler.ru/search?query="
		}
		return appendPhrase(append(b, prefix...), h.phrase, escaped, "+")
	case internal, saved:
		if h.number > 0 {
			return h.appendURL(b, h.previous)
		}
	case link, advert:
		other := h.linking()
		return other.appendURL(b, other.page(h.random))
	}
	return b
}

// linking returns the site of a link.
func (h *hit) linking() *site {
	u := unit(groups.Mix(h.random))
	return &site{key: hash(17, uint64(5000*u*u)), pages: 1000}
}

// refererHash returns the RefererHash.
func (h *hit) refererHash() int64 {
	switch h.trafficSource() {
	case search:
		return int64(hash(uint64(h.engine()), uint64(h.phrase)))
	case internal, saved:
		if h.number > 0 {
			return h.site.refererHash(h.previous)
		}
	case link, advert:
		other := h.linking()
		return other.refererHash(other.page(h.random))
	}
	return 0
}
