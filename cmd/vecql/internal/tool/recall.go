// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/atomicfile"
	"github.com/vecql/vecql/search"
)

// The verb recall: how many of the nearest rows an index finds, and how fast.

// A recall is one run of recall, with its flags.
type recall struct {
	*env
	searchFlags
	dataset, queries, truth string
	sample                  int
	seed                    uint64
	k                       []int
	oversample              []float64
	svg                     string
}

// newRecallCommand returns the verb recall.
func newRecallCommand(e *env) *cobra.Command {
	x := &recall{env: e}
	c := &cobra.Command{
		Use:   "recall TABLE[(COLUMN)]",
		Short: "Measure the recall and the latency of a vector index",
		Long: `Recall searches by the vector index and compares the answers with the exact ones.
The queries are vectors of the table or of a file. The exact answers are found by
reading the whole table once, or come from a file. A line of the result is the part
of the nearest K rows that the index found, on average and for the worst query, the
queries with too few rows, and the latencies of searches one after the other.

--dataset is a folder of VectorDBBench: test.parquet has the queries (id, emb),
neighbors.parquet the exact answers (id, neighbors_id), and train.parquet the rows:

  vecql load shop.vectors data/train.parquet --map v=emb
  vecql recall shop.vectors --dataset data`,
		Example: `  vecql recall shop.items
  vecql recall "shop.items(v)" --sample 500 --k 10,100 --oversample 1,2,4,8
  vecql recall shop.items --queries questions.parquet:v --k 1,3 --svg recall.svg
  vecql recall shop.items --where "price < 100" --output json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: e.completeTables,
		RunE:              func(c *cobra.Command, args []string) error { return x.run(c.Context(), args[0]) },
	}
	e.addClusterFlags(c)
	e.addOutputFlag(c)
	e.addProgressFlag(c)
	x.addFlags(c)
	return c
}

// addFlags defines the flags of recall.
func (x *recall) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&x.sample, "sample", 100, "`number` of rows of the table whose vectors are the queries")
	f.Uint64Var(&x.seed, "seed", 0, "`number` that chooses the rows of --sample")
	f.StringVar(&x.queries, "queries", "", "query by each vector of a `file[:column]` of rows")
	f.StringVar(&x.truth, "truth", "", "exact answers: a `file` with the columns id, of the query, and neighbors_id, a list of keys")
	f.StringVar(&x.dataset, "dataset", "", "`folder` with test.parquet, the queries, and neighbors.parquet, the exact answers")
	f.IntSliceVar(&x.k, "k", []int{1, 10, 100}, "`numbers` of rows of a query")
	f.Float64SliceVar(&x.oversample, "oversample", []float64{1, 2, 4}, "request `factors` times as many rows from the index")
	f.StringVar(&x.svg, "svg", "", "draw recall and latency as a chart in a `file`")
	x.searchFlags.add(c)
	c.MarkFlagsMutuallyExclusive("sample", "queries", "dataset")
	c.MarkFlagsMutuallyExclusive("seed", "queries", "dataset")
	must(c.MarkFlagDirname("dataset"))
	must(c.MarkFlagFilename("svg", "svg"))
	for _, name := range []string{"queries", "truth"} {
		must(c.MarkFlagFilename(name))
	}
}

// check returns a usage error for flags that contradict each other.
func (x *recall) check() error {
	err := checkFlags([]flagFault{
		{x.sample < 1, fmt.Sprintf("--sample is %d, want at least 1", x.sample)},
		{len(x.k) == 0 || slices.Min(x.k) < 1, "--k needs numbers of at least 1"},
		{len(x.oversample) == 0 || slices.Min(x.oversample) < 1, "--oversample needs factors of at least 1"},
		{x.truth != "" && x.queries == "" && x.dataset == "", "--truth needs its queries: --queries or --dataset"},
		{
			x.where != "" && x.dataset != "" && x.truth == "",
			"neighbors.parquet has the neighbors among all rows: --truth names those among the rows of --where",
		},
	})
	if err != nil {
		return err
	}
	if x.dataset != "" {
		x.queries = filepath.Join(x.dataset, "test.parquet") + ":emb"
		if x.truth == "" {
			x.truth = filepath.Join(x.dataset, "neighbors.parquet")
		}
	}
	return x.checkOutputs([]string{x.queries, x.truth}, outputFile{"--svg", x.svg})
}

// run executes the verb.
func (x *recall) run(ctx context.Context, target string) error {
	if err := x.check(); err != nil {
		return err
	}
	cfg, err := x.config(ctx)
	if err != nil {
		return err
	}
	session, err := x.connectSearch(ctx, &x.searchFlags)
	if err != nil {
		return err
	}
	defer session.Close()
	report, err := x.measure(ctx, session, target, cfg)
	if err != nil {
		return x.failed(err, target)
	}
	if x.svg != "" {
		if err := writeChart(x.svg, report); err != nil {
			return err
		}
	}
	return x.print(report)
}

// config returns the configuration of the measurement, with the queries and the answers of files.
func (x *recall) config(ctx context.Context) (cfg search.RecallConfig, err error) {
	cfg = search.RecallConfig{Sample: x.sample, Seed: x.seed, K: x.k, Oversample: x.oversample}
	switch {
	case x.truth != "":
		cfg.Queries, cfg.Truth, err = x.readTruth(ctx)
	case x.queries != "":
		cfg.Queries, err = x.readVectors(ctx, x.queries)
	}
	return cfg, err
}

// The types of keys in files of text.
var (
	bigint     = cql.NativeType(cql.TypeBigInt)
	bigintList = cql.NewListType(bigint)
)

// readTruth returns the queries of --queries and the neighbors of each. A query and its neighbors have one id.
func (x *recall) readTruth(ctx context.Context) (queries [][]float32, truth [][]int64, err error) {
	path, vectors, err := x.vectorsOf(ctx, x.queries)
	if err != nil {
		return nil, nil, err
	}
	neighbors := map[int64][]int64{}
	err = x.readValues(ctx, x.truth, []fileColumn{{"id", bigint}, {"neighbors_id", bigintList}}, func(values []any) error {
		id, err := integersOf(values[0])
		if err == nil {
			neighbors[id[0]], err = integersOf(values[1])
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	err = x.readValues(ctx, path, []fileColumn{{"id", bigint}, {vectors, floatList}}, func(values []any) error {
		id, idErr := integersOf(values[0])
		v, err := vectorOf(values[1])
		if err := errors.Join(idErr, err); err != nil {
			return err
		}
		if neighbors[id[0]] == nil {
			return fmt.Errorf("%s has no neighbors of the query with id %d", x.truth, id[0])
		}
		queries, truth = append(queries, v), append(truth, neighbors[id[0]])
		return nil
	})
	return queries, truth, err
}

// integersOf returns an integer of any size, or the integers of a list.
func integersOf(value any) ([]int64, error) {
	v := reflect.ValueOf(value)
	switch {
	case value == nil:
		return nil, errors.New("a value is NULL, want an integer or a list of integers")
	case v.CanInt():
		return []int64{v.Int()}, nil
	case v.Kind() != reflect.Slice || !reflect.Zero(v.Type().Elem()).CanInt():
		return nil, fmt.Errorf("a value is of type %T, want an integer or a list of integers without NULL", value)
	}
	out := make([]int64, v.Len())
	for i := range out {
		out[i] = v.Index(i).Int()
	}
	return out, nil
}

// measure measures, and shows the progress of the exact search.
func (x *recall) measure(ctx context.Context, session *vecql.Session, target string, cfg search.RecallConfig,
) (*search.RecallReport, error) {
	_, query, err := x.openSearch(ctx, session, target)
	if err != nil {
		return nil, err
	}
	query, stop, err := x.showScan(query)
	if err != nil {
		return nil, err
	}
	defer stop()
	return query.Recall(ctx, cfg)
}

// print writes the report. As a table it has a line about the measurement above.
func (x *recall) print(r *search.RecallReport) error {
	if x.output == outputs[0] {
		exact := ""
		if r.Exact > 0 {
			exact = fmt.Sprintf(", exact answers in %v", r.Exact.Round(time.Millisecond))
		}
		fmt.Fprintf(x.text, "Index %s, %d queries%s.\n\n", r.Index, r.Queries, exact)
	}
	return x.writeResult(func(yield func(*column.Batch, error) bool) { yield(recallBatch(r), nil) })
}

// recallBatch returns the rows of a report. Latencies are milliseconds.
func recallBatch(r *search.RecallReport) *column.Batch {
	var k, limit, short []int32
	var oversample, recall, lowest, p50, p95, p99 []float64
	for _, row := range r.Rows {
		k, limit, short = append(k, int32(row.K)), append(limit, int32(row.Limit)), append(short, int32(row.Short))
		oversample = append(oversample, row.Oversample)
		recall, lowest = append(recall, places(row.Recall)), append(lowest, places(row.Lowest))
		p50, p95 = append(p50, milliseconds(row.P50)), append(p95, milliseconds(row.P95))
		p99 = append(p99, milliseconds(row.P99))
	}
	return column.NewBatch(column.Of("k", k), column.Of("oversample", oversample), column.Of("limit", limit),
		column.Of("recall", recall), column.Of("lowest", lowest), column.Of("short", short),
		column.Of("p50_ms", p50), column.Of("p95_ms", p95), column.Of("p99_ms", p99))
}

// places returns a number with four decimal places.
func places(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// writeChart writes the chart of a report to a file.
func writeChart(path string, r *search.RecallReport) (err error) {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	if err := drawRecall(f, r); err != nil {
		_ = f.Abort() // the first error is the cause
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Commit()
}
