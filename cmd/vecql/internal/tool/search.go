// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/search"
)

// The verb search: the rows of a table that are nearest to a vector.

// A vectorSearch is one run of search, with its flags.
type vectorSearch struct {
	*env
	searchFlags
	vector, like, queries string
	k                     int
	minScore, maxDistance float32
	oversample            float64
	explain               bool
	columns               []string
	isSet                 func(flag string) bool

	table clustertable.Table
	query *search.Query[map[string]any]
	key   []any // of the row whose vector is the query; nil means that the queries are vectors
}

// A result is the hits of one query, as maps of columns.
type result = search.Result[map[string]any]

// newSearchCommand returns the verb search.
func newSearchCommand(e *env) *cobra.Command {
	x := &vectorSearch{env: e}
	c := &cobra.Command{
		Use:   "search TABLE[(COLUMN)]",
		Short: "Find the rows whose vectors are nearest to a query",
		Long: `Search prints the rows nearest to a vector, to the vector of a row, or to each
vector of a file, the nearest first, by the vector index of the column. With
--exact it reads all rows and compares them here, which needs no index.

rank is the place of a row, from 1. score is what the similarity function of the
server returns, greater is nearer; distance is the cosine distance, the Euclidean
distance or the negative inner product, smaller is nearer. With --queries the
column query is the number of the query, from 0.

--where is an expression as in vecql sql. By an index each condition compares a
column with a value by =, <, <=, >, >= or IN, joined by AND.`,
		Example: `  vecql search shop.items --vector "[0.5, 1, -2]" --k 3
  vecql search shop.items --like 1 --where "price < 100" --columns id,name
  vecql search "shop.items(v)" --queries questions.parquet:v --output json
  vecql search shop.items --vector "[0.5, 1, -2]" --oversample 4 --min-score 0.8
  vecql search shop.items --vector "[0.5, 1, -2]" --exact --metric euclidean
  vecql search shop.items --where "price < 100" --explain
  echo "[0.5, 1, -2]" | vecql search shop.items --vector -`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: e.completeTables,
		RunE: func(c *cobra.Command, args []string) error {
			x.isSet = c.Flags().Changed
			return x.run(c.Context(), args[0])
		},
	}
	e.addClusterFlags(c)
	e.addOutputFlag(c)
	e.addProgressFlag(c)
	x.addFlags(c)
	return c
}

// addFlags defines the flags of search.
func (x *vectorSearch) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&x.vector, "vector", "", "`vector` of the query, such as \"[0.5, 1]\"; - reads it from standard input")
	f.StringVar(&x.like, "like", "", "query by the vector of the row with this primary `key`, its values separated by commas")
	f.StringVar(&x.queries, "queries", "", "query by each vector of a `file[:column]` of rows")
	f.IntVar(&x.k, "k", 10, "most `rows` of a query")
	f.Float32Var(&x.minScore, "min-score", 0, "leave out rows with a smaller `score`")
	f.Float32Var(&x.maxDistance, "max-distance", 0, "leave out rows with a greater `distance`")
	f.Float64Var(&x.oversample, "oversample", 1, "request `factor` times as many rows from the index, and print the nearest")
	f.BoolVar(&x.exact, "exact", false, "read all rows and compare them, without an index")
	f.StringSliceVar(&x.columns, "columns", nil, "`columns` to print; default all without vectors")
	f.BoolVar(&x.explain, "explain", false, "print the statement, the index and the reasons, and do not search")
	x.searchFlags.add(c)
	c.MarkFlagsMutuallyExclusive("vector", "like", "queries")
	must(c.MarkFlagFilename("queries"))
	must(c.RegisterFlagCompletionFunc("columns", x.completeColumns))
}

// run executes the verb.
func (x *vectorSearch) run(ctx context.Context, target string) error {
	if err := x.check(); err != nil {
		return err
	}
	queries, err := x.readQueries(ctx)
	if err != nil {
		return err
	}
	session, err := x.connectSearch(ctx, &x.searchFlags)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := x.open(ctx, session, target); err != nil {
		return x.failed(err, target)
	}
	if x.explain {
		plan := x.query.Explain(x.k)
		if plan.Err == nil {
			_, err = fmt.Fprint(x.text, plan)
			return err
		}
		return x.failed(plan.Err, target)
	}
	if x.like != "" {
		if x.key, err = parseKey(ctx, x.table, x.like); err != nil {
			return err
		}
	}
	found, err := x.find(ctx, queries)
	if err != nil {
		return x.failed(err, target)
	}
	x.warn(found)
	b, err := x.batchOf(found)
	return x.writeResult(func(yield func(*column.Batch, error) bool) { yield(b, err) })
}

// check returns a usage error for flags that contradict each other.
func (x *vectorSearch) check() error {
	noQuery := flagFault{x.vector+x.like+x.queries == "" && !x.explain, "want a query: --vector, --like or --queries"}
	return checkFlags(append([]flagFault{noQuery}, x.faults()...))
}

// faults are the contradictions that do not depend on where the query comes from.
func (x *vectorSearch) faults() []flagFault {
	return []flagFault{
		{x.k < 1, fmt.Sprintf("%s is %d, want at least 1", x.flag("k"), x.k)},
		{x.exact && x.isSet("oversample"), "--oversample is for a search by an index: --exact finds the nearest rows"},
		{x.isSet("columns") && len(x.columns) == 0, x.flag("columns") + " is empty, want names of columns"},
	}
}

// readQueries returns the vectors of --vector or --queries, nil for --like.
func (x *vectorSearch) readQueries(ctx context.Context) ([][]float32, error) {
	switch {
	case x.vector != "":
		v, err := x.parseVector(x.vector)
		return [][]float32{v}, err
	case x.queries != "":
		return x.readVectors(ctx, x.queries)
	}
	return nil, nil
}

// open sets the table and the query.
func (x *vectorSearch) open(ctx context.Context, session *vecql.Session, target string) (err error) {
	if x.table, x.query, err = x.openSearch(ctx, session, target); err != nil {
		return err
	}
	if x.columns == nil {
		x.columns = withoutVectors(x.table.Metadata)
	}
	for _, name := range x.columns {
		if x.table.Metadata.Columns[name] == nil {
			return fmt.Errorf("%s: table %s has no column %q; it has: %s", x.flag("columns"), x.table.Name(), name,
				strings.Join(x.table.Metadata.OrderedColumns, ", "))
		}
	}
	x.query = x.query.Columns(x.columns...).Oversample(x.oversample)
	if x.exact {
		x.query = x.query.Exact()
	}
	if x.isSet("min-score") {
		x.query = x.query.MinScore(x.minScore)
	}
	if x.isSet("max-distance") {
		x.query = x.query.MaxDistance(x.maxDistance)
	}
	return nil
}

// find returns a result for each query, and shows the progress of an exact search.
func (x *vectorSearch) find(ctx context.Context, queries [][]float32) ([]result, error) {
	query, stop, err := x.showScan(x.query)
	if err != nil {
		return nil, err
	}
	defer stop()
	if x.key == nil {
		return query.Each(ctx, queries, x.k)
	}
	found, err := query.Like(ctx, x.k, x.key...)
	return []result{found}, err
}

// showScan shows the progress of an exact search until stop is called.
func (e *env) showScan(q *search.Query[map[string]any]) (_ *search.Query[map[string]any], stop func(), err error) {
	var rows atomic.Int64
	stop, err = e.startProgress(func() state {
		n := rows.Load()
		return state{fraction: -1, text: counted(n, "row") + " read", counts: counts{rows: uint64(n)}}
	})
	return q.Progress(rows.Store), stop, err
}

// batchOf returns the hits of all queries as rows: the columns of the search, then the columns of the table.
func (x *vectorSearch) batchOf(results []result) (*column.Batch, error) {
	infos := infosOf(x.table.Metadata, x.columns)
	var cells []byte
	var queries, ranks []int32
	var scores, distances []float32
	for i, result := range results {
		for j, hit := range result.Hits {
			queries, ranks = append(queries, int32(i)), append(ranks, int32(j+1))
			scores, distances = append(scores, hit.Score), append(distances, hit.Distance)
			for _, info := range infos {
				cell, err := vecql.Marshal(info.TypeInfo, hit.Row[info.Name])
				if err == nil {
					cells, err = wire.AppendBytes(cells, cell)
				}
				if err != nil {
					return nil, err
				}
			}
		}
	}
	rows := new(column.Batch)
	if err := codec.NewColumnPlan(infos).Decode(cells, len(ranks), rows); err != nil {
		return nil, err
	}
	var added []column.Column
	if x.queries != "" {
		added = append(added, column.Of(x.columnName(search.QueryColumn), queries))
	}
	added = append(added, column.Of(x.columnName(search.RankColumn), ranks),
		column.Of(x.columnName(search.ScoreColumn), scores), column.Of(x.columnName(search.DistanceColumn), distances))
	return &column.Batch{Columns: append(added, rows.Columns...), Rows: len(ranks)}, nil
}

// columnName returns the name of a column of the search, with a prefix if the table has such a column.
func (x *vectorSearch) columnName(name string) string {
	if slices.Contains(x.columns, name) {
		return "search_" + name
	}
	return name
}

// warn prints the warnings of the server, each once.
func (e *env) warn(results []result) {
	var printed []string
	for _, r := range results {
		for _, warning := range r.Warnings {
			if !slices.Contains(printed, warning) {
				fmt.Fprintln(e.err, "warning:", oneLine(warning))
				printed = append(printed, warning)
			}
		}
	}
}
