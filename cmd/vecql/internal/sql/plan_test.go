// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Statements on a Parquet file, against answers computed row by row.

// A visit is a row of the file.
type visit struct {
	user    int64
	url     string
	phrase  *string // nil is NULL
	seconds float64
	at      time.Time
}

// visits are rows of few users, urls and phrases.
func visits() []visit {
	all := make([]visit, 600)
	for i := range all {
		v := &all[i]
		v.user = int64(i*i%17 - 3)
		v.url = []string{"http://a.example/x", "https://www.b.example/", "", "http://a.example/y"}[i*7%11%4]
		if phrase := []string{"", "chair", "Tisch", "стол"}[i%4]; i%5 != 0 {
			v.phrase = &phrase
		}
		v.seconds = float64(i%13) / 4
		v.at = time.Date(2026, 7, 1+i/200, i%24, i%60, 0, 0, time.UTC)
	}
	return all
}

// dataset returns the rows as an open Parquet file with several row groups.
func dataset(t *testing.T, rows []visit) *parquetscan.Dataset {
	users, urls, phrases := make([]int64, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	seconds, at, null := make([]float64, len(rows)), make([]int64, len(rows)), make([]bool, len(rows))
	for i, v := range rows {
		users[i], urls[i], seconds[i], at[i], null[i] = v.user, v.url, v.seconds, v.at.UnixMilli(), v.phrase == nil
		if v.phrase != nil {
			phrases[i] = *v.phrase
		}
	}
	times := column.Of("at", at)
	times.Type = column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	b := column.NewBatch(column.Of("user", users), column.Strings("url", urls),
		column.Strings("phrase", phrases).WithNulls(null), column.Of("seconds", seconds), times)
	var file bytes.Buffer
	w, err := parquetscan.NewWriter(&file, b.Schema(), parquetscan.WriterOptions{RowGroupRows: 250})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	d, err := parquetscan.OpenSources(t.Context(),
		parquetscan.Source{Name: "visits.parquet", Reader: bytes.NewReader(file.Bytes()), Size: int64(file.Len())})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// planOn returns a statement on one source, which is all that the statement names.
func planOn(ctx context.Context, s *Statement, source pipe.Pipe) (*Plan, error) {
	return s.PlanOn(ctx, Options{Open: func(ctx context.Context, _ Source) (pipe.Pipe, column.Schema, error) {
		schema, err := source.Schema(ctx)
		return source, schema, err
	}})
}

// run returns the names of the columns, and each row as text.
func run(ctx context.Context, d *parquetscan.Dataset, text string) (names string, rows []string, err error) {
	s, err := Parse(text)
	if err != nil {
		return "", nil, err
	}
	p, err := planOn(ctx, s, pipe.Dataset(d))
	if err != nil {
		return "", nil, err
	}
	b, err := p.Pipe.Batch(ctx)
	if err != nil {
		return "", nil, p.Locate(err)
	}
	for r := range b.Rows {
		cells := make([]string, len(b.Columns))
		for i := range b.Columns {
			cells[i] = b.Columns[i].Format(r, math.MaxInt)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return strings.Join(b.Schema().Names(), "|"), rows, nil
}

func line(cells ...any) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		if s, ok := c.(*string); ok {
			c = any("NULL")
			if s != nil {
				c = *s
			}
		}
		texts[i] = fmt.Sprint(c)
	}
	return strings.Join(texts, "|")
}

// A tally is the reference of a group.
type tally struct {
	user    int64
	url     string
	count   int64
	seconds float64
	users   map[int64]bool
	longest float64
}

// tallies groups rows by a map, in the order of first appearance.
func tallies(rows []visit, keep func(visit) bool, key func(visit) string) []*tally {
	var list []*tally
	byKey := map[string]*tally{}
	for _, v := range rows {
		if !keep(v) {
			continue
		}
		g := byKey[key(v)]
		if g == nil {
			g = &tally{user: v.user, url: v.url, users: map[int64]bool{}, longest: math.Inf(-1)}
			byKey[key(v)] = g
			list = append(list, g)
		}
		g.count++
		g.seconds += v.seconds
		g.users[v.user] = true
		g.longest = max(g.longest, v.seconds)
	}
	return list
}

func anyVisit(visit) bool { return true }

func userOf(v visit) string { return fmt.Sprint(v.user) }

func urlOf(v visit) string { return v.url }

// answers are statements with the names of their columns and their rows, computed from all rows.
var answers = []struct {
	text, names string
	rows        func(all []visit) []string
}{
	{"select count(*), count(phrase), count(1), sum(user), avg(seconds) from t", "count(*)|count(phrase)|count(1)|sum(user)|avg(seconds)", func(all []visit) []string {
		phrases, sum, seconds := 0, int64(0), 0.0
		for _, v := range all {
			sum, seconds = sum+v.user, seconds+v.seconds
			if v.phrase != nil {
				phrases++
			}
		}
		return []string{line(len(all), phrases, len(all), sum, seconds/float64(len(all)))}
	}},
	{"select user, count(*), count(distinct url) as u from t where seconds > 1 group by user having count(*) > 10 and u > 1 order by 2 desc, user limit 5 offset 1", "user|count(*)|u", func(all []visit) []string {
		urls := map[int64]map[string]bool{}
		long := func(v visit) bool { return v.seconds > 1 }
		for _, v := range all {
			if urls[v.user] == nil {
				urls[v.user] = map[string]bool{}
			}
			if long(v) {
				urls[v.user][v.url] = true
			}
		}
		groups := tallies(all, long, userOf)
		groups = slices.DeleteFunc(groups, func(g *tally) bool { return g.count <= 10 || len(urls[g.user]) <= 1 })
		slices.SortFunc(groups, func(a, b *tally) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.user, b.user)) })
		var rows []string
		for _, g := range groups[1:min(6, len(groups))] {
			rows = append(rows, line(g.user, g.count, len(urls[g.user])))
		}
		return rows
	}},
	{"select user - 1, user, 1, sum(seconds) / count(*) + 0.0 as mean, max(seconds * 2) from t group by user, user - 1, 3 order by mean desc, user", "user - 1|user|1|mean|max(seconds * 2)", func(all []visit) []string {
		groups := tallies(all, anyVisit, userOf)
		slices.SortFunc(groups, func(a, b *tally) int {
			return cmp.Or(cmp.Compare(b.seconds/float64(b.count), a.seconds/float64(a.count)), cmp.Compare(a.user, b.user))
		})
		var rows []string
		for _, g := range groups {
			rows = append(rows, line(g.user-1, g.user, 1, g.seconds/float64(g.count), g.longest*2))
		}
		return rows
	}},
	{"select distinct user % 3 as user, url as place from t order by place desc, 1", "user|place", func(all []visit) []string {
		var rows [][2]string
		for _, v := range all {
			rows = append(rows, [2]string{fmt.Sprint(v.user % 3), v.url})
		}
		slices.SortFunc(rows, func(a, b [2]string) int {
			var x, y int
			_, _ = fmt.Sscan(a[0], &x)
			_, _ = fmt.Sscan(b[0], &y)
			return cmp.Or(cmp.Compare(b[1], a[1]), cmp.Compare(x, y))
		})
		var lines []string
		for _, r := range slices.Compact(rows) {
			lines = append(lines, line(r[0], r[1]))
		}
		return lines
	}},
	{"select phrase, user + 1 as user, user as phrase from t where url like '%a.ex%' order by seconds desc, phrase nulls first, at limit 7", "phrase|user|phrase_1", func(all []visit) []string {
		rows := slices.Clone(all)
		rows = slices.DeleteFunc(rows, func(v visit) bool { return !strings.Contains(v.url, "a.ex") })
		text := func(v visit) string {
			if v.phrase == nil {
				return ""
			}
			return " " + *v.phrase
		}
		slices.SortStableFunc(rows, func(a, b visit) int {
			return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(text(a), text(b)), a.at.Compare(b.at))
		})
		var lines []string
		for _, v := range rows[:7] {
			lines = append(lines, line(v.phrase, v.user+1, v.user))
		}
		return lines
	}},
	{`select regexp_replace(url, '^https?://(?:www\.)?([^/]+)/.*$', '\1') as k, avg(strlen(url)) as l, min(url) from t where url <> '' group by k order by l desc, k`, "k|l|min(url)", func(all []visit) []string {
		least := map[string]string{}
		for _, v := range all {
			host, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(v.url, "http://"), "https://www."), "/")
			if ok && (least[host] == "" || v.url < least[host]) {
				least[host] = v.url
			}
		}
		// The urls of a host have one length.
		return []string{
			line("b.example", len(least["b.example"]), least["b.example"]),
			line("a.example", len(least["a.example"]), least["a.example"]),
		}
	}},
	{"select extract(day from at) as d, case when seconds = 0 then 'none' else 'some' end as c, count(*) from t where at >= date '2026-07-03' - interval '1' day group by d, c order by d, c", "d|c|count(*)", func(all []visit) []string {
		counts := map[string]int{}
		for _, v := range all {
			if c := map[bool]string{true: "none", false: "some"}[v.seconds == 0]; v.at.Day() >= 2 {
				counts[line(v.at.Day(), c)]++
			}
		}
		var lines []string
		for key, n := range counts {
			lines = append(lines, line(key, n))
		}
		slices.Sort(lines)
		return lines
	}},
	{"select url, count(*) as \"select\" from t group by url order by count(*) desc, lower(url) limit 2", "url|select", func(all []visit) []string {
		groups := tallies(all, anyVisit, urlOf)
		slices.SortFunc(groups, func(a, b *tally) int { return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.url, b.url)) })
		return []string{line(groups[0].url, groups[0].count), line(groups[1].url, groups[1].count)}
	}},
	{"select 2 from t where user > 1000 group by 1", "2", func([]visit) []string { return nil }},
	{"select 2, max(user) from t where user > 1000", "2|max(user)", func([]visit) []string { return []string{"2|NULL"} }},
	{"select 'x' from t having count(*) = 600", "'x'", func([]visit) []string { return []string{"x"} }},
	{"select user, * from t limit 0", "user|user_1|url|phrase|seconds|at", func([]visit) []string { return nil }},
}

func TestAnswers(t *testing.T) {
	all := visits()
	d := dataset(t, all)
	for _, a := range answers {
		s, err := Parse(a.text)
		require.NoError(t, err)
		for _, text := range []string{a.text, s.String()} {
			names, rows, err := run(t.Context(), d, text)
			require.NoError(t, err, text)
			require.Equal(t, a.names, names, text)
			require.Equal(t, a.rows(all), rows, text)
		}
	}
}

// TestPlanErrors compares the errors of statements that do not fit the columns, with their places.
func TestPlanErrors(t *testing.T) {
	d := dataset(t, visits()[:10])
	for text, want := range map[string]string{
		"select nosuch from t":                                                  "7: nosuch: no such column",
		"select user from t where url > 1":                                      "25: url > 1: url is string, which does not compare with 1",
		"select user from t where count(*) > 1":                                 "25: count(*): count aggregates rows, and this is an expression of one row",
		"select url, count(*) from t":                                           `7: column "url" is neither in GROUP BY nor within an aggregate`,
		"select nosuch, count(*) from t":                                        "7: nosuch: no such column",
		"select sum(url) from t":                                                "7: ",
		"select sum(user + url) from t":                                         "11: user + url: + requires numbers: url is string",
		"select sum(count(*)) from t":                                           "11: an aggregate within an aggregate",
		"select count(*) from t group by count(*)":                              "32: GROUP BY of an aggregate",
		"select *, count(*) from t":                                             "7: * cannot be combined with groups",
		"select user from t order by 2":                                         "28: position 2 is not a column of the result: 1 to 1",
		"select user from t group by 0":                                         "28: position 0 is not a column of the result: 1 to 1",
		"select distinct user from t order by url":                              "37: ORDER BY of SELECT DISTINCT: want a column of the result",
		"select quantile(user, 2) from t":                                       "22: want a quantile from 0 to 1 as a literal",
		"select quantile_exact(user, -1) from t":                                "28: want a quantile from 0 to 1 as a literal",
		"select user from t order by nosuch":                                    "28: nosuch: no such column",
		"select count(*) as c from t having d > 1":                              "35: d: no such column",
		"select lower(user) from t":                                             "7: lower(user): lower requires string: user is int64",
		"select user + 1, lower(url) from t group by 1":                         `23: column "url" is neither`,
		"select 1 / (user - user) from t":                                       "7: in visits.parquet, row group 0, rows from 0: 1 / (user - user): division of an integer by zero",
		"select * from t where 1 % (user - user) = 0":                           "22: in visits.parquet, row group 0, rows from 0: 1 % (user - user): division of an integer by zero",
		"select max(user) + 9223372036854775807 from t":                         `7: "max(user)" + 9223372036854775807: the result is out of range`,
		"select sum(user * 600000000000000000) as s, user from t group by user": "7: the sum of a group does not fit into its type; sum(cast(x as float64))",
	} {
		_, _, err := run(t.Context(), d, text)
		var e *Error
		require.ErrorAs(t, err, &e, text)
		require.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, text)
	}
}

// onBatch are statements on a batch of two columns, with their rows: h is float16, s a text.
var onBatch = map[string][]string{
	"select sum(h), avg(h), stddev_pop(h), quantile(h, 1) from t":                      {"1.5|0.5|1.0801234497346435|2"},
	"select median_exact(h), quantile_exact(h, 0.25), quantile_exact(h * 2, 1) from t": {"0|-0.25|4"},
	"select corr(h, h * 2) > 0.99, corr(length(s), h) < -0.65 from t":                  {"true|true"},
	"select min(h), max(h), count(distinct h) from t":                                  {"-0.5|2|3"},
	"select arg_max(s, h), arg_min(s, h) from t":                                       {"b|ab"},
	// A literal in GROUP BY leaves literals of the same text elsewhere as they are.
	"select count(*), 'a%' from t group by 'a%' having max(s) like 'b' and min(s) like 'a%'": {"3|a%"},
	"select 'a%' as x, s from t group by 'a%', s having s like 'a%' order by 2":              {"a%|a", "a%|ab"},
	"select s like 'a%' as x from t where s > 'z' group by s, 'a%'":                          nil,
	"select s -- not h\nfrom t /* where s > 'b' */ where s < 'ab' --":                        {"a"},
	"select s from t where null":                                 nil,
	"select count(*) from t where not null or null":              {"0"},
	"select s, count(*) from t group by s having null":           nil,
	"select count(*) from t having null or count(*) = 3":         {"3"},
	"select count(*) from t where case when null then 1 = 1 end": {"0"},
}

func TestOnBatch(t *testing.T) {
	h, err := column.Of("h", []uint16{0x0000, 0x4000, 0xb800}).WithType(column.Type{Kind: column.Float16})
	require.NoError(t, err)
	b := column.NewBatch(h, column.Strings("s", []string{"a", "b", "ab"}))
	for text, want := range onBatch {
		s, err := Parse(text)
		require.NoError(t, err, text)
		rows, err := answer(s, b)
		require.NoError(t, err, text)
		require.Equal(t, want, rows, text)
	}
}

// TestErrorsOfColumns compares the errors of columns of a type that groups and orders refuse, with their places.
func TestErrorsOfColumns(t *testing.T) {
	b := column.NewBatch(column.Matrix("v", []float32{1, 2}, 1), column.Of("i", []int64{1, 2}))
	for text, want := range map[string]string{
		"select i from t order by i, v":            "28: the type has no order: vector<float32, 1>",
		"select v as x from t order by x":          "30: the type has no order: vector<float32, 1>",
		"select i, v as x from t group by i, v":    "36: its type is vector<float32, 1>; a key is",
		"select count(*), v from t group by 2":     "17: its type is vector<float32, 1>; a key is",
		"select distinct i, v as x from t":         "19: its type is vector<float32, 1>; a key is",
		"select distinct i, v from t group by i,v": "39: its type is vector<float32, 1>; a key is",
		"select i, max(v) from t group by i":       "10: its type is vector<float32, 1>; max(v) takes a kind with an order",
	} {
		s, err := Parse(text)
		require.NoError(t, err, text)
		_, err = answer(s, b)
		var e *Error
		require.ErrorAs(t, err, &e, text)
		require.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, text)
	}
}

// TestAggregatesOfExpr holds the aggregates that expressions have equal to those that statements translate.
func TestAggregatesOfExpr(t *testing.T) {
	d := dataset(t, visits()[:10])
	for name := range makers {
		call := name + "(user)"
		if name == "count distinct" {
			call = "count(distinct user)"
		}
		_, rows, err := run(t.Context(), d, "select "+call+" from t")
		require.NoError(t, err, call)
		require.Len(t, rows, 1)
	}
	for _, call := range []string{"count(*)", "quantile(seconds, 0.5)", "arg_min(url, at)", "arg_max(url, at)"} {
		_, _, err := run(t.Context(), d, "select "+call+" from t")
		require.NoError(t, err, call)
	}
	require.Equal(t, "count", groupby.Count().Name)
}
