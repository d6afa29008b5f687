// SPDX-License-Identifier: Apache-2.0

package data

import (
	"github.com/vecql/vecql/column"
)

// Columns of hits: the 105 columns of the original in their order. Columns that the queries do not name are mostly
// constant, as in the original.

// A spec makes a column of some hits.
type spec struct {
	name string
	make func(name string, block []hit) column.Column
}

// number is a column of integers.
func number[T column.Value](name string, value func(h *hit) T) spec {
	return spec{name, func(name string, block []hit) column.Column {
		v := make([]T, len(block))
		for i := range block {
			v[i] = value(&block[i])
		}
		return column.Of(name, v)
	}}
}

// typed returns a column with another type of the same layout.
func (s spec) typed(t column.Type) spec {
	return spec{s.name, func(name string, block []hit) column.Column {
		c, err := s.make(name, block).WithType(t)
		if err != nil {
			panic(err) // the types are constant
		}
		return c
	}}
}

// text is a column of strings; add appends the string of a hit.
func text(name string, add func(b []byte, h *hit) []byte) spec {
	return spec{name, func(name string, block []hit) column.Column {
		var b []byte
		offsets := make([]int32, 1, len(block)+1)
		for i := range block {
			b = add(b, &block[i])
			offsets = append(offsets, int32(len(b)))
		}
		return column.StringBuffers(name, b, offsets)
	}}
}

// small is a SMALLINT with values from 0 to n-1, or 0 if n is 1. The i-th column takes other bits than the others.
func small(name string, i, n uint64) spec {
	if n == 1 {
		return number(name, func(*hit) int16 { return 0 })
	}
	return number(name, func(h *hit) int16 { return int16(hash(h.bits, i) % n) })
}

// rare is a SMALLINT that is 1 in one of n hits, and else 0.
func rare(name string, i, n uint64) spec {
	return number(name, func(h *hit) int16 {
		if hash(h.bits, i)%n == 0 {
			return 1
		}
		return 0
	})
}

// integer is an INTEGER with values from 0 to n-1.
func integer(name string, i, n uint64) spec {
	return number(name, func(h *hit) int32 { return int32(hash(h.bits, i) % n) })
}

// seldom is a text that one of n hits has.
func seldom(name string, i, n uint64, values ...string) spec {
	return text(name, func(b []byte, h *hit) []byte {
		if x := hash(h.bits, i); x%n == 0 {
			b = append(b, values[x>>32%uint64(len(values))]...)
		}
		return b
	})
}

var (
	date      = column.Type{Kind: column.Date}
	timestamp = column.Type{Kind: column.Timestamp, Unit: column.Millis}
)

// moment is a TIMESTAMP some seconds after the hit.
func moment(name string, after func(h *hit) int64) spec {
	return number(name, func(h *hit) int64 { return (h.time + after(h)) * 1000 }).typed(timestamp)
}

func hitsBatch(block []hit) *column.Batch {
	c := make([]column.Column, len(columns))
	for i, s := range columns {
		c[i] = s.make(s.name, block)
	}
	return column.NewBatch(c...)
}

func clientHeight(h *hit) int16 { return max(0, h.height()-90-int16(h.bits>>20%160)) }

func clientWidth(h *hit) int16 { return max(0, h.width()-int16(h.bits>>30%200)) }

var columns = []spec{
	number("WatchID", func(h *hit) int64 { return int64(hash(19, h.watch) >> 1) }),
	number("JavaEnable", func(h *hit) int16 { return int16(h.part(5) & 3 >> 1) }),
	text("Title", func(b []byte, h *hit) []byte { return h.appendTitle(b, h.page) }),
	small("GoodEvent", 0, 1),
	moment("EventTime", func(*hit) int64 { return 0 }),
	number("EventDate", func(h *hit) int32 { return h.day }).typed(date),
	number("CounterID", func(h *hit) int32 { return h.id }),
	number("ClientIP", func(h *hit) int32 { return h.ip }),
	number("RegionID", func(h *hit) int32 { return h.region() }),
	number("UserID", func(h *hit) int64 { return h.id64 }),
	small("CounterClass", 0, 1),
	number("OS", func(h *hit) int16 { return systems[h.part(6)&255] }),
	number("UserAgent", func(h *hit) int16 { return agents[h.part(7)&255] }),
	text("URL", func(b []byte, h *hit) []byte { return h.appendURL(b, h.page) }),
	text("Referer", func(b []byte, h *hit) []byte { return h.referer(b) }),
	number("IsRefresh", func(h *hit) int16 {
		if h.refresh {
			return 1
		}
		return 0
	}),
	number("RefererCategoryID", func(h *hit) int16 { return int16(h.key >> 9 % 400 * (h.key & 1)) }),
	number("RefererRegionID", func(h *hit) int32 { return int32(h.key >> 12 % 300) }),
	number("URLCategoryID", func(h *hit) int16 { return int16(h.key >> 10 % 15000) }),
	number("URLRegionID", func(h *hit) int32 { return int32(h.key >> 13 % 300) }),
	number("ResolutionWidth", func(h *hit) int16 { return h.width() }),
	number("ResolutionHeight", func(h *hit) int16 { return h.height() }),
	number("ResolutionDepth", func(h *hit) int16 { return []int16{37, 23, 0, 37}[h.part(8)&3] }),
	number("FlashMajor", func(h *hit) int16 { return []int16{15, 13, 10, 0}[h.part(9)&3] }),
	number("FlashMinor", func(h *hit) int16 { return []int16{7, 3, 0, 0}[h.part(9)&3] }),
	text("FlashMinor2", func(b []byte, h *hit) []byte {
		return append(b, [...]string{"700.224", "800.94", "0.", "", "22"}[h.part(9)>>2%5]...)
	}),
	small("NetMajor", 0, 1),
	small("NetMinor", 0, 1),
	number("UserAgentMajor", func(h *hit) int16 { return int16(h.part(10) % 30) }),
	text("UserAgentMinor", func(b []byte, h *hit) []byte {
		return append(b, [...]string{"Dд", "0", "5", "12", "70"}[h.part(10)>>8%5]...)
	}),
	number("CookieEnable", func(*hit) int16 { return 1 }),
	number("JavascriptEnable", func(*hit) int16 { return 1 }),
	number("IsMobile", func(h *hit) int16 { return min(1, h.mobile()) }),
	number("MobilePhone", func(h *hit) int16 { return h.mobile() }),
	text("MobilePhoneModel", func(b []byte, h *hit) []byte { return append(b, h.model()...) }),
	seldom("Params", 12, 50, "param=1", "order=new", "basket"),
	number("IPNetworkID", func(h *hit) int32 { return int32(h.part(11) % 4_000_000) }),
	number("TraficSourceID", func(h *hit) int16 { return int16(h.trafficSource()) }),
	number("SearchEngineID", func(h *hit) int16 { return h.engine() }),
	text("SearchPhrase", func(b []byte, h *hit) []byte { return h.searchPhrase(b) }),
	number("AdvEngineID", func(h *hit) int16 {
		if h.number == 0 && h.random>>24&1 == 0 {
			return h.adv
		}
		return 0
	}),
	rare("IsArtifical", 14, 400),
	number("WindowClientWidth", clientWidth),
	number("WindowClientHeight", clientHeight),
	number("ClientTimeZone", func(h *hit) int16 { return zones[h.part(12)&255] }),
	moment("ClientEventTime", func(h *hit) int64 { return int64(h.part(13)%7200) - 3600 }),
	number("SilverlightVersion1", func(h *hit) int16 { return int16(h.part(14) & 1 * 5) }),
	number("SilverlightVersion2", func(h *hit) int16 { return int16(h.part(14) & 1) }),
	number("SilverlightVersion3", func(h *hit) int32 { return int32(h.part(14) & 1 * 19832) }),
	small("SilverlightVersion4", 0, 1),
	text("PageCharset", func(b []byte, h *hit) []byte {
		return append(b, [...]string{"windows", "utf-8"}[h.key>>50&1]...)
	}),
	number("CodeVersion", func(h *hit) int32 { return int32([]uint64{1601, 291, 331}[h.key>>51%3]) }),
	rare("IsLink", 15, 12),
	rare("IsDownload", 16, 150),
	rare("IsNotBounce", 17, 4),
	number("FUniqID", func(h *hit) int64 { return int64(h.part(15) >> 1 * (h.part(15) & 1)) }),
	text("OriginalURL", func(b []byte, h *hit) []byte {
		if hash(h.bits, 18)%9 == 0 {
			return h.appendURL(b, h.page)
		}
		return b
	}),
	integer("HID", 19, 1<<30),
	rare("IsOldCounter", 20, 5000),
	rare("IsEvent", 21, 300),
	rare("IsParameter", 22, 300),
	rare("DontCountHits", 23, 20),
	rare("WithHash", 24, 40),
	seldom("HitColor", 25, 1, "5", "E", "D", "F", "T"),
	moment("LocalEventTime", func(h *hit) int64 { return int64(h.part(16)%12) * 3600 }),
	number("Age", func(h *hit) int16 { return ages[h.part(17)&255] }),
	number("Sex", func(h *hit) int16 { return int16(h.part(18) % 3) }),
	number("Income", func(h *hit) int16 { return int16(h.part(19) % 4) }),
	number("Interests", func(h *hit) int16 { return int16(h.part(20) >> 50) }),
	small("Robotness", 26, 40),
	number("RemoteIP", func(h *hit) int32 { return int32(h.part(21)) }),
	integer("WindowName", 27, 5),
	integer("OpenerName", 28, 5),
	number("HistoryLength", func(h *hit) int16 { return int16(min(h.number, 50)) - 1 }),
	text("BrowserLanguage", func(b []byte, h *hit) []byte { return append(b, tongues[h.part(22)&255]...) }),
	text("BrowserCountry", func(b []byte, h *hit) []byte {
		return append(b, [...]string{"RU", "UA", "BY", "KZ"}[h.part(23)&3]...)
	}),
	seldom("SocialNetwork", 29, 2000, "vkontakte", "facebook"),
	seldom("SocialAction", 30, 2000, "like", "share"),
	small("HTTPError", 0, 1),
	integer("SendTiming", 31, 900),
	integer("DNSTiming", 32, 60),
	integer("ConnectTiming", 33, 120),
	integer("ResponseStartTiming", 34, 700),
	integer("ResponseEndTiming", 35, 2000),
	integer("FetchTiming", 36, 300),
	small("SocialSourceNetworkID", 37, 8),
	seldom("SocialSourcePage", 38, 500, "http://vk.com/feed", "http://facebook.com/"),
	number("ParamPrice", func(h *hit) int64 {
		if x := hash(h.bits, 39); x%200 == 0 {
			return int64(x >> 40)
		}
		return -1
	}),
	seldom("ParamOrderID", 40, 500, "order", "basket"),
	seldom("ParamCurrency", 41, 1, "NHю"),
	small("ParamCurrencyID", 0, 1),
	seldom("OpenstatServiceName", 42, 150, "direct.yandex.ru", "begun.ru"),
	seldom("OpenstatCampaignID", 43, 150, "4912043", "3051788", "5180"),
	seldom("OpenstatAdID", 44, 150, "12", "977", "1"),
	seldom("OpenstatSourceID", 45, 150, "yandex.ru:premium", "yandex.ru:guarantee"),
	seldom("UTMSource", 46, 60, "yandex", "mail", "direct"),
	seldom("UTMMedium", 47, 60, "cpc", "banner", "email"),
	seldom("UTMCampaign", 48, 60, "summer", "brand", "july"),
	seldom("UTMContent", 49, 60, "text", "image"),
	seldom("UTMTerm", 50, 100, "term", "word"),
	seldom("FromTag", 51, 400, "rss", "top"),
	rare("HasGCLID", 52, 300),
	number("RefererHash", func(h *hit) int64 { return h.refererHash() }),
	number("URLHash", func(h *hit) int64 { return h.urlHash(h.page) }),
	number("CLID", func(h *hit) int32 { return int32(h.part(24) % 40 * (h.part(24) >> 60 & 1)) }),
}
