// SPDX-License-Identifier: Apache-2.0

// Package clickbench answers the 43 queries of ClickBench (github.com/ClickHouse/ClickBench), and TPC-H's queries 1
// and 6, with package pipe, and checks answers of vecql and of other engines.
package clickbench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql/bench/clickbench/data"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// A Query is one question, as parts of a SELECT statement and as a chain. Its numbers are meant for data.FullRows; a
// table with fewer rows has proportionally smaller ones.
type Query struct {
	Name  string // q01 to q43, tpch1, tpch6
	Table string // the file name of the table

	// The parts of the statement. In Select each column that is not a column of the table has an alias. Words of one
	// dialect are replaced: see dialects.
	Select, Where, Group string
	Having               int64 // groups have more rows; 0 is any number
	Order                string
	Limit, Offset        int64

	// Chain is the query on a table. n scales a number to the rows of the table.
	Chain func(t pipe.Pipe, n Scale) pipe.Pipe
}

// A Scale returns a number of a query for the rows of a table.
type Scale func(n int64) int64

// NewScale returns the Scale for a number of rows.
func NewScale(rows int) Scale {
	return func(n int64) int64 {
		if rows >= data.FullRows {
			return n
		}
		return max(1, n*int64(rows)/data.FullRows)
	}
}

// Find returns the query of a name, nil if there is none.
func Find(name string) *Query {
	for i := range Queries {
		if Queries[i].Name == name {
			return &Queries[i]
		}
	}
	return nil
}

// Run answers the query on the data in a folder.
func (q *Query) Run(ctx context.Context, dir string, n Scale, workers int) (*column.Batch, error) {
	table := pipe.Parquet(filepath.Join(dir, q.Table)).Configure(pipe.Config{Workers: workers})
	b, err := q.Chain(table, n).Batch(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Name, err)
	}
	return b, nil
}

// dialects are the names of the SQL dialects, with pairs of texts to replace. The statements below are DuckDB's.
var dialects = map[string]*strings.Replacer{
	"duckdb": strings.NewReplacer(),
	// The mean of an Int64 overflows in ClickHouse.
	"chdb": strings.NewReplacer("strlen(", "length(", "avg(UserID)", "avg(toFloat64(UserID))"),
	// The mean of a decimal is a decimal of a few digits in DataFusion.
	"datafusion": strings.NewReplacer("strlen(", "octet_length(", "avg(l_quantity)", "avg(cast(l_quantity AS double))",
		"avg(l_extendedprice)", "avg(cast(l_extendedprice AS double))", "avg(l_discount)", "avg(cast(l_discount AS double))"),
	"vecql": strings.NewReplacer( // decimals have no products here
		"sum(l_extendedprice *", "sum(cast(l_extendedprice AS float64) *", " l_discount)", " cast(l_discount AS float64))",
		"(1 - l_discount)", "(1 - cast(l_discount AS float64))", "(1 + l_tax)", "(1 + cast(l_tax AS float64))"),
}

// SQL returns the statement in a dialect. from is the table, as the dialect writes it: hits, read('hits.parquet').
func (q *Query) SQL(dialect, from string, n Scale) string {
	return dialects[dialect].Replace(q.base(from, n) + q.window(n))
}

// base returns the statement without ORDER BY, LIMIT and OFFSET.
func (q *Query) base(from string, n Scale) string {
	s := "SELECT " + q.Select + " FROM " + from
	if q.Where != "" {
		s += " WHERE " + q.Where
	}
	if q.Group != "" {
		s += " GROUP BY " + q.Group
	}
	if q.Having > 0 {
		s += fmt.Sprintf(" HAVING count(*) > %d", n(q.Having))
	}
	return s
}

func (q *Query) window(n Scale) string {
	s := ""
	if q.Order != "" {
		s += " ORDER BY " + q.Order
	}
	if q.Limit > 0 {
		s += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	if q.Offset > 0 {
		s += fmt.Sprintf(" OFFSET %d", n(q.Offset))
	}
	return s
}

// A Statement is a query for programs in other languages.
type Statement struct {
	Name   string            `json:"name"`
	Table  string            `json:"table"`
	SQL    map[string]string `json:"sql"` // by dialect; the table is t
	Having int64             `json:"having"`
	Limit  int64             `json:"limit"`
	Offset int64             `json:"offset"`
	Order  string            `json:"order"`
	// Base is DuckDB's statement without ORDER BY, LIMIT and OFFSET. It has a group if Grouped.
	Base    string `json:"base"`
	Grouped bool   `json:"grouped"`
}

// Statement returns the query with numbers for a table.
func (q *Query) Statement(n Scale) Statement {
	s := Statement{
		Name: q.Name, Table: q.Table, SQL: map[string]string{}, Order: q.Order, Base: q.base("t", n), Grouped: q.Group != "",
		Limit: q.Limit,
	}
	if q.Having > 0 {
		s.Having = n(q.Having)
	}
	if q.Offset > 0 {
		s.Offset = n(q.Offset)
	}
	for d := range dialects {
		s.SQL[d] = q.SQL(d, "t", n)
	}
	return s
}
