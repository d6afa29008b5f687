// SPDX-License-Identifier: Apache-2.0

// Package run answers the cases of the Parquet benchmarks with vecql and with other Go libraries.
package run

import (
	"context"
	"fmt"

	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/bench/parquet/data"
)

// An Engine answers cases. Query takes the path of one file or a pattern, and opens the files each time.
type Engine struct {
	Name  string
	Query func(ctx context.Context, path string, c *data.Case, threads int) (*Answer, error)
}

// Engines returns vecql and its peers.
func Engines() []Engine {
	return []Engine{
		{"vecql", vecql},
		{"pqarrow", func(ctx context.Context, path string, c *data.Case, threads int) (*Answer, error) {
			return query(ctx, openArrow, path, c, threads)
		}},
		{"parquet-go", func(ctx context.Context, path string, c *data.Case, threads int) (*Answer, error) {
			return query(ctx, openParquetGo, path, c, threads)
		}},
	}
}

// An Answer is groups, or vectors.
type Answer struct {
	Groups  func() (*groups.Answer, error) // converts the groups for Check
	Vectors *data.Matrix
}

// Check returns an error if an answer is wrong.
func (a *Answer) Check(c *data.Case) error {
	if c.Query == "embeddings" {
		if a.Vectors == nil {
			return fmt.Errorf("%s: no vectors", c.Name)
		}
		if got := a.Vectors.Vectors(); !got.Equal(c.Vectors) {
			return fmt.Errorf("%s: wrong answer\n got %s\nwant %s", c.Name, got, c.Vectors)
		}
		return nil
	}
	if a.Groups == nil {
		return fmt.Errorf("%s: no groups", c.Name)
	}
	g, err := a.Groups()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	if len(g.Keys) != len(c.Keys) || len(g.Values) != len(c.Aggs) {
		return fmt.Errorf("%s: %d keys and %d aggregates", c.Name, len(g.Keys), len(g.Values))
	}
	if got := groups.Sum(&c.Case, g, false); !got.Equal(c.Answer) {
		return fmt.Errorf("%s: wrong answer\n got %s\nwant %s", c.Name, got, c.Answer)
	}
	return nil
}

// of returns an answer of given columns.
func of(keys []*groups.Column, values ...*groups.Column) *Answer {
	return &Answer{Groups: func() (*groups.Answer, error) { return &groups.Answer{Keys: keys, Values: values}, nil }}
}

func intColumn(v ...int64) *groups.Column { return &groups.Column{Type: groups.Int64, Ints: v} }

func floatColumn(v ...float64) *groups.Column {
	return &groups.Column{Type: groups.Float64, Floats: v}
}

// unknown returns the error for a case that no engine answers.
func unknown(c *data.Case) error { return fmt.Errorf("%s: no such query", c.Name) }
