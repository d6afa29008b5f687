// SPDX-License-Identifier: Apache-2.0

package clickbench

import (
	"strings"

	"github.com/vecql/vecql/bench/clickbench/data"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// The queries 28 to 43, and TPC-H's queries 1 and 6.

// july is the condition of most queries on one site.
const july = "CounterID = 62 AND EventDate >= '2013-07-01' AND EventDate <= '2013-07-31' AND IsRefresh = 0"

var lastQueries = []Query{
	{
		Name: "q28", Table: data.Hits, Select: "CounterID, avg(strlen(URL)) AS l, count(*) AS c", Where: "URL <> ''",
		Group: "CounterID", Having: 100_000, Order: "l DESC", Limit: 25,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where("URL <> ''").
				GroupBy("CounterID").Aggregate(groupby.Mean("strlen(URL)").As("l"), groupby.Count().As("c")).
				Having("c > ?", n(100_000)).OrderBy(pipe.Descending("l")).Limit(25)
		},
	},
	{
		Name: "q29", Table: data.Hits,
		Select: `regexp_replace(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS k, ` +
			"avg(strlen(Referer)) AS l, count(*) AS c, min(Referer) AS least",
		Where: "Referer <> ''", Group: "k", Having: 100_000, Order: "l DESC", Limit: 25,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where("Referer <> ''").
				With("k", `regexp_replace(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '$1')`).GroupBy("k").
				Aggregate(groupby.Mean("strlen(Referer)").As("l"), groupby.Count().As("c"), groupby.Min("Referer").As("least")).
				Having("c > ?", n(100_000)).OrderBy(pipe.Descending("l")).Limit(25)
		},
	},
	{
		Name: "q30", Table: data.Hits, Select: strings.Join(widths("sum(ResolutionWidth + #) AS s#"), ", "),
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			var sums []groupby.Aggregate
			for _, width := range widths("ResolutionWidth + #") {
				sums = append(sums, groupby.Sum(width))
			}
			return t.Aggregate(sums...)
		},
	},
	{
		Name: "q31", Table: data.Hits,
		Select: "SearchEngineID, ClientIP, count(*) AS c, sum(IsRefresh) AS s, avg(ResolutionWidth) AS a",
		Where:  "SearchPhrase <> ''", Group: "SearchEngineID, ClientIP", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").GroupBy("SearchEngineID", "ClientIP").
				Aggregate(groupby.Count().As("c"), groupby.Sum("IsRefresh").As("s"), groupby.Mean("ResolutionWidth").As("a")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q32", Table: data.Hits,
		Select: "WatchID, ClientIP, count(*) AS c, sum(IsRefresh) AS s, avg(ResolutionWidth) AS a",
		Where:  "SearchPhrase <> ''", Group: "WatchID, ClientIP", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").GroupBy("WatchID", "ClientIP").
				Aggregate(groupby.Count().As("c"), groupby.Sum("IsRefresh").As("s"), groupby.Mean("ResolutionWidth").As("a")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q33", Table: data.Hits,
		Select: "WatchID, ClientIP, count(*) AS c, sum(IsRefresh) AS s, avg(ResolutionWidth) AS a",
		Group:  "WatchID, ClientIP", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("WatchID", "ClientIP").
				Aggregate(groupby.Count().As("c"), groupby.Sum("IsRefresh").As("s"), groupby.Mean("ResolutionWidth").As("a")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q34", Table: data.Hits, Select: "URL, count(*) AS c", Group: "URL", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("URL").Aggregate(groupby.Count().As("c")).OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q35", Table: data.Hits, Select: "1 AS one, URL, count(*) AS c", Group: "1, URL", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("1", "URL").Aggregate(groupby.Count().As("c")).OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q36", Table: data.Hits,
		Select: "ClientIP, ClientIP - 1 AS ip1, ClientIP - 2 AS ip2, ClientIP - 3 AS ip3, count(*) AS c",
		Group:  "ClientIP, ip1, ip2, ip3", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("ClientIP", "ClientIP - 1", "ClientIP - 2", "ClientIP - 3").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q37", Table: data.Hits, Select: "URL, count(*) AS c", Where: july + " AND DontCountHits = 0 AND URL <> ''",
		Group: "URL", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where(july + " and DontCountHits = 0 and URL <> ''").
				GroupBy("URL").Aggregate(groupby.Count().As("c")).OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q38", Table: data.Hits, Select: "Title, count(*) AS c", Where: july + " AND DontCountHits = 0 AND Title <> ''",
		Group: "Title", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where(july + " and DontCountHits = 0 and Title <> ''").
				GroupBy("Title").Aggregate(groupby.Count().As("c")).OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q39", Table: data.Hits, Select: "URL, count(*) AS c", Where: july + " AND IsLink <> 0 AND IsDownload = 0",
		Group: "URL", Order: "c DESC", Limit: 10, Offset: 1000,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where(july + " and IsLink <> 0 and IsDownload = 0").
				GroupBy("URL").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Offset(n(1000)).Limit(10)
		},
	},
	{
		Name: "q40", Table: data.Hits,
		Select: "TraficSourceID, SearchEngineID, AdvEngineID, " +
			"CASE WHEN SearchEngineID = 0 AND AdvEngineID = 0 THEN Referer ELSE '' END AS Src, URL AS Dst, count(*) AS c",
		Where: july, Group: "TraficSourceID, SearchEngineID, AdvEngineID, Src, Dst",
		Order: "c DESC", Limit: 10, Offset: 1000,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where(july).
				With("Src", "case when SearchEngineID = 0 and AdvEngineID = 0 then Referer else '' end").With("Dst", "URL").
				GroupBy("TraficSourceID", "SearchEngineID", "AdvEngineID", "Src", "Dst").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Offset(n(1000)).Limit(10)
		},
	},
	{
		Name: "q41", Table: data.Hits, Select: "URLHash, EventDate, count(*) AS c",
		Where: july + " AND TraficSourceID IN (-1, 6) AND RefererHash = 3594120000172545465",
		Group: "URLHash, EventDate", Order: "c DESC", Limit: 10, Offset: 100,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where(july+" and TraficSourceID in (-1, 6) and RefererHash = 3594120000172545465").
				GroupBy("URLHash", "EventDate").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Offset(n(100)).Limit(10)
		},
	},
	{
		Name: "q42", Table: data.Hits, Select: "WindowClientWidth, WindowClientHeight, count(*) AS c",
		Where: july + " AND DontCountHits = 0 AND URLHash = 2868770270353813622",
		Group: "WindowClientWidth, WindowClientHeight", Order: "c DESC", Limit: 10, Offset: 10_000,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where(july+" and DontCountHits = 0 and URLHash = 2868770270353813622").
				GroupBy("WindowClientWidth", "WindowClientHeight").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Offset(n(10_000)).Limit(10)
		},
	},
	{
		Name: "q43", Table: data.Hits, Select: "date_trunc('minute', EventTime) AS m, count(*) AS c",
		Where: "CounterID = 62 AND EventDate >= '2013-07-14' AND EventDate <= '2013-07-15' " +
			"AND IsRefresh = 0 AND DontCountHits = 0",
		Group: "m", Order: "m", Limit: 10, Offset: 1000,
		Chain: func(t pipe.Pipe, n Scale) pipe.Pipe {
			return t.Where("CounterID = 62 and EventDate >= '2013-07-14' and EventDate <= '2013-07-15'").
				Where("IsRefresh = 0 and DontCountHits = 0").
				With("m", "date_trunc('minute', EventTime)").GroupBy("m").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Ascending("m")).Offset(n(1000)).Limit(10)
		},
	},
}

// tpch are the queries 1 and 6 of TPC-H with the parameters of the specification's validation (2.4.1.3 and 2.4.6.3).
// Products of decimals are floats here.
var tpch = []Query{
	{
		Name: "tpch1", Table: data.LineItem,
		Select: "l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base, " +
			"sum(l_extendedprice * (1 - l_discount)) AS sum_disc, " +
			"sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, " +
			"avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS c",
		Where: "l_shipdate <= '1998-09-02'",
		Group: "l_returnflag, l_linestatus", Order: "l_returnflag, l_linestatus",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("l_shipdate <= '1998-09-02'").
				With("net", "cast(l_extendedprice as float64) * (1 - cast(l_discount as float64))").
				With("gross", "net * (1 + cast(l_tax as float64))").
				GroupBy("l_returnflag", "l_linestatus").
				Aggregate(groupby.Sum("l_quantity"), groupby.Sum("l_extendedprice"), groupby.Sum("net"), groupby.Sum("gross"),
					groupby.Mean("l_quantity"), groupby.Mean("l_extendedprice"), groupby.Mean("l_discount"), groupby.Count()).
				OrderBy(pipe.Ascending("l_returnflag"), pipe.Ascending("l_linestatus"))
		},
	},
	{
		Name: "tpch6", Table: data.LineItem, Select: "sum(l_extendedprice * l_discount) AS revenue",
		Where: "l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01' " +
			"AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01'").
				Where("l_discount between '0.05' and '0.07' and l_quantity < 24").
				With("revenue", "cast(l_extendedprice as float64) * cast(l_discount as float64)").
				Aggregate(groupby.Sum("revenue").As("revenue"))
		},
	},
}
