// SPDX-License-Identifier: Apache-2.0

package clickbench

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/bench/clickbench/data"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// The queries 1 to 27. queries_more.go has the others.

// Queries are all queries: q01 to q43, tpch1 and tpch6.
var Queries = append(append(firstQueries, lastQueries...), tpch...)

var firstQueries = []Query{
	{
		Name: "q01", Table: data.Hits, Select: "count(*) AS c",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe { return t.Aggregate(groupby.Count().As("c")) },
	},
	{
		Name: "q02", Table: data.Hits, Select: "count(*) AS c", Where: "AdvEngineID <> 0",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("AdvEngineID <> 0").Aggregate(groupby.Count().As("c"))
		},
	},
	{
		Name: "q03", Table: data.Hits, Select: "sum(AdvEngineID) AS s, count(*) AS c, avg(ResolutionWidth) AS a",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Aggregate(groupby.Sum("AdvEngineID").As("s"), groupby.Count().As("c"),
				groupby.Mean("ResolutionWidth").As("a"))
		},
	},
	{
		Name: "q04", Table: data.Hits, Select: "avg(UserID) AS a",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe { return t.Aggregate(groupby.Mean("UserID").As("a")) },
	},
	{
		Name: "q05", Table: data.Hits, Select: "count(DISTINCT UserID) AS u",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe { return t.Aggregate(groupby.CountDistinct("UserID").As("u")) },
	},
	{
		Name: "q06", Table: data.Hits, Select: "count(DISTINCT SearchPhrase) AS u",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Aggregate(groupby.CountDistinct("SearchPhrase").As("u"))
		},
	},
	{
		Name: "q07", Table: data.Hits, Select: "min(EventDate) AS least, max(EventDate) AS most",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Aggregate(groupby.Min("EventDate").As("least"), groupby.Max("EventDate").As("most"))
		},
	},
	{
		Name: "q08", Table: data.Hits, Select: "AdvEngineID, count(*) AS c", Where: "AdvEngineID <> 0",
		Group: "AdvEngineID", Order: "c DESC",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("AdvEngineID <> 0").GroupBy("AdvEngineID").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c"))
		},
	},
	{
		Name: "q09", Table: data.Hits, Select: "RegionID, count(DISTINCT UserID) AS u",
		Group: "RegionID", Order: "u DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("RegionID").Aggregate(groupby.CountDistinct("UserID").As("u")).
				OrderBy(pipe.Descending("u")).Limit(10)
		},
	},
	{
		Name: "q10", Table: data.Hits,
		Select: "RegionID, sum(AdvEngineID) AS s, count(*) AS c, avg(ResolutionWidth) AS a, count(DISTINCT UserID) AS u",
		Group:  "RegionID", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("RegionID").
				Aggregate(groupby.Sum("AdvEngineID").As("s"), groupby.Count().As("c"),
					groupby.Mean("ResolutionWidth").As("a"), groupby.CountDistinct("UserID").As("u")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q11", Table: data.Hits, Select: "MobilePhoneModel, count(DISTINCT UserID) AS u",
		Where: "MobilePhoneModel <> ''", Group: "MobilePhoneModel", Order: "u DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("MobilePhoneModel <> ''").
				GroupBy("MobilePhoneModel").Aggregate(groupby.CountDistinct("UserID").As("u")).
				OrderBy(pipe.Descending("u")).Limit(10)
		},
	},
	{
		Name: "q12", Table: data.Hits, Select: "MobilePhone, MobilePhoneModel, count(DISTINCT UserID) AS u",
		Where: "MobilePhoneModel <> ''", Group: "MobilePhone, MobilePhoneModel", Order: "u DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("MobilePhoneModel <> ''").
				GroupBy("MobilePhone", "MobilePhoneModel").Aggregate(groupby.CountDistinct("UserID").As("u")).
				OrderBy(pipe.Descending("u")).Limit(10)
		},
	},
	{
		Name: "q13", Table: data.Hits, Select: "SearchPhrase, count(*) AS c",
		Where: "SearchPhrase <> ''", Group: "SearchPhrase", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").GroupBy("SearchPhrase").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q14", Table: data.Hits, Select: "SearchPhrase, count(DISTINCT UserID) AS u",
		Where: "SearchPhrase <> ''", Group: "SearchPhrase", Order: "u DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").
				GroupBy("SearchPhrase").Aggregate(groupby.CountDistinct("UserID").As("u")).
				OrderBy(pipe.Descending("u")).Limit(10)
		},
	},
	{
		Name: "q15", Table: data.Hits, Select: "SearchEngineID, SearchPhrase, count(*) AS c",
		Where: "SearchPhrase <> ''", Group: "SearchEngineID, SearchPhrase", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").
				GroupBy("SearchEngineID", "SearchPhrase").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q16", Table: data.Hits, Select: "UserID, count(*) AS c", Group: "UserID", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("UserID").Aggregate(groupby.Count().As("c")).OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q17", Table: data.Hits, Select: "UserID, SearchPhrase, count(*) AS c",
		Group: "UserID, SearchPhrase", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("UserID", "SearchPhrase").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q18", Table: data.Hits, Select: "UserID, SearchPhrase, count(*) AS c",
		Group: "UserID, SearchPhrase", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.GroupBy("UserID", "SearchPhrase").Aggregate(groupby.Count().As("c")).Limit(10)
		},
	},
	{
		Name: "q19", Table: data.Hits, Select: "UserID, extract(minute FROM EventTime) AS m, SearchPhrase, count(*) AS c",
		Group: "UserID, m, SearchPhrase", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.With("m", "extract('minute', EventTime)").
				GroupBy("UserID", "m", "SearchPhrase").Aggregate(groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q20", Table: data.Hits, Select: "UserID", Where: "UserID = 435090932899640449",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe { return t.Where("UserID = 435090932899640449").Select("UserID") },
	},
	{
		Name: "q21", Table: data.Hits, Select: "count(*) AS c", Where: "URL LIKE '%google%'",
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("URL like '%google%'").Aggregate(groupby.Count().As("c"))
		},
	},
	{
		Name: "q22", Table: data.Hits, Select: "SearchPhrase, min(URL) AS least_url, count(*) AS c",
		Where: "URL LIKE '%google%' AND SearchPhrase <> ''", Group: "SearchPhrase", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("URL like '%google%' and SearchPhrase <> ''").
				GroupBy("SearchPhrase").Aggregate(groupby.Min("URL").As("least_url"), groupby.Count().As("c")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q23", Table: data.Hits,
		Select: "SearchPhrase, min(URL) AS least_url, min(Title) AS least_title, count(*) AS c, count(DISTINCT UserID) AS u",
		Where:  "Title LIKE '%Google%' AND URL NOT LIKE '%.google.%' AND SearchPhrase <> ''",
		Group:  "SearchPhrase", Order: "c DESC", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("Title like '%Google%' and URL not like '%.google.%' and SearchPhrase <> ''").
				GroupBy("SearchPhrase").
				Aggregate(groupby.Min("URL").As("least_url"), groupby.Min("Title").As("least_title"),
					groupby.Count().As("c"), groupby.CountDistinct("UserID").As("u")).
				OrderBy(pipe.Descending("c")).Limit(10)
		},
	},
	{
		Name: "q24", Table: data.Hits, Select: "*", Where: "URL LIKE '%google%'", Order: "EventTime", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("URL like '%google%'").OrderBy(pipe.Ascending("EventTime")).Limit(10)
		},
	},
	{
		Name: "q25", Table: data.Hits, Select: "SearchPhrase", Where: "SearchPhrase <> ''", Order: "EventTime", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").OrderBy(pipe.Ascending("EventTime")).Limit(10).Select("SearchPhrase")
		},
	},
	{
		Name: "q26", Table: data.Hits, Select: "SearchPhrase", Where: "SearchPhrase <> ''", Order: "SearchPhrase", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").OrderBy(pipe.Ascending("SearchPhrase")).Limit(10).Select("SearchPhrase")
		},
	},
	{
		Name: "q27", Table: data.Hits, Select: "SearchPhrase", Where: "SearchPhrase <> ''",
		Order: "EventTime, SearchPhrase", Limit: 10,
		Chain: func(t pipe.Pipe, _ Scale) pipe.Pipe {
			return t.Where("SearchPhrase <> ''").
				OrderBy(pipe.Ascending("EventTime"), pipe.Ascending("SearchPhrase")).Limit(10).Select("SearchPhrase")
		},
	},
}

// widths returns the sums of query 30, as the format of each column and aggregate with the number i.
func widths(format string) []string {
	var all []string
	for i := range 90 {
		all = append(all, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return all
}
