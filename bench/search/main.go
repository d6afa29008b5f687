// SPDX-License-Identifier: Apache-2.0

// Command search measures the recall and the latency of Cassandra's vector index beside exact search: an index that is
// created before the rows are written or afterwards, optimized for latency or recall, with oversampling, and with
// filters. It prints tables in Markdown. Without -hosts it starts one node of Cassandra.
//
//	cd bench && go run ./search > results/search.md
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

var (
	hosts   = flag.String("hosts", "", "addresses of a server, separated by commas")
	rows    = flag.Int("rows", 100_000, "rows of the table")
	dim     = flag.Int("dim", 384, "elements of a vector")
	queries = flag.Int("queries", 200, "queries of a measurement")
	only    = flag.String("only", "", "part of the name of the tables that are measured; default all")
	heap    = flag.String("heap", "4g", "memory of the node that is started")
)

// clusters is the number of centers that the vectors lie around.
const clusters = 256

// part is the number of rows in a batch that is written.
const part = 1000

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	addresses := strings.Split(*hosts, ",")
	if *hosts == "" {
		// building an index is arithmetic: the optimizing compiler halves its time
		jvm := []string{"-Xmx" + *heap, "-XX:TieredStopAtLevel=4"}
		node, err := cassandra.Start(ctx, cassandra.Options{JVM: jvm, Log: log.Println})
		if err != nil {
			return err
		}
		defer func() { _ = node.Close() }()
		addresses = node.Hosts()
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: addresses, Timeout: time.Minute})
	if err != nil {
		return err
	}
	defer session.Close()
	fmt.Printf("# Recall of Cassandra's vector index\n\n%d rows of %d floats around %d centers, Cassandra %s, %d queries, which are rows of the table.\n", *rows, *dim, clusters,
		session.GetHosts()[0].Version, *queries)
	err = session.Query("CREATE KEYSPACE IF NOT EXISTS bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec(ctx)
	if err != nil {
		return err
	}
	for i, c := range []struct {
		name, optimize string
		before         bool
	}{
		{"index created before the rows are written", "latency", true},
		{"index created afterwards", "latency", false},
		{"index created afterwards, optimize_for RECALL", "recall", false},
	} {
		if !strings.Contains(c.name, *only) {
			continue
		}
		fmt.Printf("\n## %s\n\n", strings.ToUpper(c.name[:1])+c.name[1:])
		if err := measure(ctx, session, fmt.Sprint("bench.items", i), c.optimize, c.before); err != nil {
			return err
		}
	}
	return nil
}

// measure writes a new table and measures its index.
func measure(ctx context.Context, session *vecql.Session, table, optimize string, before bool) error {
	ddl := fmt.Sprintf("CREATE TABLE %s (id bigint PRIMARY KEY, bucket int, v vector<float, %d>)", table, *dim)
	if err := session.Query(ddl).Exec(ctx); err != nil {
		return err
	}
	create := func() error {
		return search.CreateIndex(ctx, session, table+"(v)", vector.Cosine, search.IndexOptions{
			OptimizeFor: optimize, Filter: []string{"bucket"},
		})
	}
	began := time.Now()
	if before {
		if err := create(); err != nil {
			return err
		}
	}
	if err := write(ctx, session, table); err != nil {
		return err
	}
	fmt.Printf("Rows written in %v.", time.Since(began).Round(time.Second))
	began = time.Now()
	if !before {
		if err := create(); err != nil {
			return err
		}
	}
	states := 0
	if err := search.WaitReady(ctx, session, table+"(v)", func(search.Progress) { states++ }); err != nil {
		return err
	}
	fmt.Printf(" The index served after %v, in %d states that WaitReady reported.\n", time.Since(began).Round(time.Second/10), states)
	return report(ctx, session, table)
}

// write writes the rows: normalized vectors around random centers, and buckets from 0 to 99.
func write(ctx context.Context, session *vecql.Session, table string) error {
	r := rand.New(rand.NewPCG(1, 1))
	centers := make([]float32, clusters**dim)
	for i := range centers {
		centers[i] = float32(r.NormFloat64())
	}
	insert := session.Query("INSERT INTO " + table + " (id, bucket, v) VALUES (?, ?, ?)").Idempotent(true)
	for first := 0; first < *rows; first += part {
		n := min(part, *rows-first)
		ids, buckets, vectors := make([]int64, n), make([]int32, n), make([]float32, 0, n**dim)
		for i := range n {
			ids[i], buckets[i] = int64(first+i), r.Int32N(100)
			at := r.IntN(clusters) * *dim
			vectors = append(vectors, near(r, centers[at:at+*dim])...)
		}
		b := column.NewBatch(column.Of("id", ids), column.Of("bucket", buckets), column.Matrix("v", vectors, *dim))
		if err := insert.ExecRows(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// near returns a normalized vector near to a center.
func near(r *rand.Rand, center []float32) []float32 {
	v := make([]float32, len(center))
	norm := 0.0
	for i, x := range center {
		v[i] = x + float32(r.NormFloat64())
		norm += float64(v[i]) * float64(v[i])
	}
	scale := float32(1 / math.Sqrt(norm))
	for i := range v {
		v[i] *= scale
	}
	return v
}

// report prints the recall without and with filters.
func report(ctx context.Context, session *vecql.Session, table string) error {
	items, err := search.Open[int64](ctx, session, table)
	if err != nil {
		return err
	}
	fmt.Print("\n| filter | k | oversample | LIMIT | recall | lowest | short | p50 ms | p99 ms |\n| --- |" + strings.Repeat(" ---: |", 8) + "\n")
	for _, filter := range []struct {
		name string
		q    *search.Query[int64]
	}{
		{"none", items},
		{"1 %", items.Where("bucket < 1")},
		{"10 %", items.Where("bucket < 10")},
		{"50 %", items.Where("bucket < 50")},
	} {
		cfg := search.RecallConfig{Sample: *queries, K: []int{1, 3, 10, 100}, Oversample: []float64{1, 2, 4}}
		if filter.name != "none" {
			cfg.K, cfg.Oversample = []int{10}, []float64{1, 4}
		}
		result, err := filter.q.Recall(ctx, cfg)
		if err != nil {
			return err
		}
		for _, row := range result.Rows {
			fmt.Printf("| %s | %d | %g | %d | %.4f | %.2f | %d | %.1f | %.1f |\n", filter.name, row.K, row.Oversample, row.Limit, row.Recall,
				row.Lowest, row.Short, milliseconds(row.P50), milliseconds(row.P99))
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
