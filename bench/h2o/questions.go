// SPDX-License-Identifier: Apache-2.0

// Package h2o answers the ten questions of the group-by benchmark of h2o.ai (github.com/h2oai/db-benchmark) with
// package pipe, and compares answers of vecql and of other engines. NULL is a group, and aggregates skip NULLs.
package h2o

import (
	"context"
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// A Question is one question, as parts of a SELECT statement and as a chain.
type Question struct {
	Name   string // q01 to q10
	Keys   string // of the groups
	Select string // the aggregates, with aliases, in DuckDB's dialect
	// Rows is the column of lists whose elements are rows of the answer; "" means none. A pipe has no verb for it.
	Rows  string
	Chain func(t pipe.Pipe) pipe.Pipe
	sql   map[string]string // statements of dialects that differ in more than dialects; "" means none
}

// Questions are all questions.
var Questions = []Question{
	{
		Name: "q01", Keys: "id1", Select: "sum(v1) AS sum_v1",
		Chain: func(t pipe.Pipe) pipe.Pipe { return t.GroupBy("id1").Aggregate(sum("v1")) },
	},
	{
		Name: "q02", Keys: "id1, id2", Select: "sum(v1) AS sum_v1",
		Chain: func(t pipe.Pipe) pipe.Pipe { return t.GroupBy("id1", "id2").Aggregate(sum("v1")) },
	},
	{
		Name: "q03", Keys: "id3", Select: "sum(v1) AS sum_v1, avg(v3) AS mean_v3",
		Chain: func(t pipe.Pipe) pipe.Pipe { return t.GroupBy("id3").Aggregate(sum("v1"), mean("v3")) },
	},
	{
		Name: "q04", Keys: "id4", Select: "avg(v1) AS mean_v1, avg(v2) AS mean_v2, avg(v3) AS mean_v3",
		Chain: func(t pipe.Pipe) pipe.Pipe {
			return t.GroupBy("id4").Aggregate(mean("v1"), mean("v2"), mean("v3"))
		},
	},
	{
		Name: "q05", Keys: "id6", Select: "sum(v1) AS sum_v1, sum(v2) AS sum_v2, sum(v3) AS sum_v3",
		Chain: func(t pipe.Pipe) pipe.Pipe { return t.GroupBy("id6").Aggregate(sum("v1"), sum("v2"), sum("v3")) },
	},
	{
		Name: "q06", Keys: "id4, id5", Select: "median(v3) AS median_v3, stddev(v3) AS sd_v3",
		Chain: func(t pipe.Pipe) pipe.Pipe {
			return t.GroupBy("id4", "id5").
				Aggregate(groupby.MedianExact("v3").As("median_v3"), groupby.StdDev("v3").As("sd_v3"))
		},
	},
	{
		Name: "q07", Keys: "id3", Select: "max(v1) - min(v2) AS range_v1_v2",
		Chain: func(t pipe.Pipe) pipe.Pipe {
			return t.GroupBy("id3").Aggregate(groupby.Max("v1").As("most"), groupby.Min("v2").As("least")).
				With("range_v1_v2", "most - least").Select("id3", "range_v1_v2")
		},
	},
	{
		Name: "q08", Keys: "id6", Select: "unnest(max(v3, 2)) AS largest2_v3", Rows: "largest2_v3",
		Chain: func(t pipe.Pipe) pipe.Pipe {
			return t.GroupBy("id6").Aggregate(groupby.TopK("v3", 2).As("largest2_v3"))
		},
		sql: map[string]string{
			"datafusion": "SELECT id6, v3 AS largest2_v3 FROM (SELECT id6, v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) " +
				"AS place FROM t WHERE v3 IS NOT NULL) WHERE place <= 2",
			"vecql": "",
		},
	},
	{
		Name: "q09", Keys: "id2, id4", Select: "pow(corr(v1, v2), 2) AS r2",
		Chain: func(t pipe.Pipe) pipe.Pipe {
			return t.GroupBy("id2", "id4").Aggregate(groupby.Corr("v1", "v2").As("r")).
				With("r2", "r * r").Select("id2", "id4", "r2")
		},
	},
	{
		Name: "q10", Keys: "id1, id2, id3, id4, id5, id6", Select: "sum(v3) AS sum_v3, count(*) AS n",
		Chain: func(t pipe.Pipe) pipe.Pipe {
			return t.GroupBy("id1", "id2", "id3", "id4", "id5", "id6").Aggregate(sum("v3"), groupby.Count().As("n"))
		},
	},
}

func sum(name string) groupby.Aggregate  { return groupby.Sum(name).As("sum_" + name) }
func mean(name string) groupby.Aggregate { return groupby.Mean(name).As("mean_" + name) }

// Find returns the question of a name, nil if there is none.
func Find(name string) *Question {
	for i := range Questions {
		if Questions[i].Name == name {
			return &Questions[i]
		}
	}
	return nil
}

// Answer returns the answer to the question on a table.
func (q *Question) Answer(ctx context.Context, table pipe.Pipe) (*column.Batch, error) {
	b, err := q.Chain(table).Batch(ctx)
	if err == nil && q.Rows != "" {
		b, err = unnest(b, q.Rows)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Name, err)
	}
	return b, nil
}

// unnest returns a row for each element of the lists in a column; the other columns are repeated.
func unnest(b *column.Batch, name string) (*column.Batch, error) {
	at := b.Index(name)
	lists := b.Columns[at]
	var rows []int32
	elements := lists.Children[0]
	for i := range b.Rows {
		if !lists.Null(i) {
			for first, end := lists.Elements(i); first < end; first++ {
				rows = append(rows, int32(i))
			}
		}
	}
	if len(rows) != elements.Len {
		return nil, fmt.Errorf("%d elements in lists, %d in all", len(rows), elements.Len)
	}
	others := *b
	others.Columns = append(append([]column.Column(nil), b.Columns[:at]...), b.Columns[at+1:]...)
	repeated, err := others.Take(rows)
	if err != nil {
		return nil, err
	}
	repeated.Columns = append(repeated.Columns, elements.As(name))
	return repeated, nil
}

// dialects are the names of the SQL dialects, with pairs of texts to replace.
var dialects = map[string]*strings.Replacer{
	"duckdb": strings.NewReplacer(),
	// ClickHouse's median is of a sample, and its exact one does not interpolate.
	"chdb": strings.NewReplacer("median(", "quantileExactInclusive(0.5)(", "stddev(", "stddevSamp(",
		"unnest(max(v3, 2))", "arrayJoin(arraySlice(arrayReverseSort(groupArray(v3)), 1, 2))"),
	"datafusion": strings.NewReplacer(),
	"vecql":      strings.NewReplacer("median(", "median_exact(", "pow(corr(v1, v2), 2)", "corr(v1, v2) * corr(v1, v2)"),
}

// SQL returns the statement in a dialect, "" if the dialect has none. from is the table, as the dialect writes it.
func (q *Question) SQL(dialect, from string) string {
	if s, ok := q.sql[dialect]; ok {
		return strings.Replace(s, " FROM t ", " FROM "+from+" ", 1)
	}
	return dialects[dialect].Replace("SELECT "+q.Keys+", "+q.Select) + " FROM " + from + " GROUP BY " + q.Keys
}

// A Statement is a question for programs in other languages.
type Statement struct {
	Name string            `json:"name"`
	Keys int               `json:"keys"` // the first columns of the answer
	SQL  map[string]string `json:"sql"`  // by dialect; the table is t
}

// Statements returns the statements of all questions.
func Statements() []Statement {
	var all []Statement
	for i := range Questions {
		q := &Questions[i]
		s := Statement{Name: q.Name, Keys: q.keys(), SQL: map[string]string{}}
		for d := range dialects {
			s.SQL[d] = q.SQL(d, "t")
		}
		all = append(all, s)
	}
	return all
}

// keys returns the number of the columns of groups.
func (q *Question) keys() int { return 1 + strings.Count(q.Keys, ",") }
