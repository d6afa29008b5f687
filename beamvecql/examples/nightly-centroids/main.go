// SPDX-License-Identifier: Apache-2.0

// Command nightly-centroids computes the centroid of the embeddings of each label of a table, writes the centroids to
// another table, and prints the labels with the most rows. From the folder of the module:
//
//	.ci/alone beamvecql go run ./examples/nightly-centroids
//
// starts a cluster in its own process and runs the pipeline on Prism, the runner of Beam's Go SDK. It prints:
//
//	label    count  centroid
//	string   int64  vector<float32, 3>
//	news       600  [0.19666667, 0.5, 0.25]
//	sports     300  [0.296, 0.5, 0.25]
//	science    200  [0.35, 0.5, 0.25]
//	weather    100  [0.357, 0.5, 0.25]
//	4 rows
//
// For production: -hosts names nodes of a cluster with the tables below, and the flags of Beam the runner, such as
// --runner=universal --endpoint=HOST:PORT --environment_type=DOCKER for Flink and Spark. A program for Dataflow imports
// its runner, too.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/beamvecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
)

const (
	itemsTable     = "CREATE TABLE shop.items (id int PRIMARY KEY, label text, embedding vector<float, 3>)"
	centroidsTable = "CREATE TABLE shop.centroids (label text PRIMARY KEY, count bigint, centroid vector<float, 3>)"
)

// centroids are registered by all processes of the program, so that workers have the aggregates.
var centroids = beamvecql.RegisterGroups("nightly-centroids", groupby.Config{
	Keys:       groupby.By("label"),
	Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Mean("embedding").As("centroid")},
	Order:      groupby.Descending("count"),
})

func main() {
	hosts := flag.String("hosts", "", "`nodes` of a cluster, separated by commas; by default one is started in this process")
	flag.Parse()
	beam.Init() // a worker does not return from here
	if err := run(context.Background(), *hosts, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run runs the pipeline on a cluster, or on one that it starts, and prints the result.
func run(ctx context.Context, hosts string, out io.Writer) error {
	if hosts == "" {
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts = strings.Join(cluster.Hosts(), ",")
		if err := fill(ctx, cluster); err != nil {
			return err
		}
	}
	uri := "cassandra://" + hosts
	p, s := beam.NewPipelineWithRoot()
	items := beamvecql.Read(s, uri, "SELECT label, embedding FROM shop.items", beamvecql.ReadOptions{})
	groups := beamvecql.GroupBy(s, centroids, items)
	beamvecql.Write(s, uri, "shop.centroids", groups, beamvecql.WriteOptions{MaxRejected: -1})
	if _, err := beam.Run(ctx, cmp.Or(*runners.Runner, "prism"), p); err != nil {
		return err
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: strings.Split(hosts, ",")})
	if err != nil {
		return err
	}
	defer session.Close()
	return printTable(ctx, session, out)
}

// fill makes the tables, with embeddings of four labels.
func fill(ctx context.Context, cluster *cqltest.Cluster) error {
	if err := cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};" +
		itemsTable + ";" + centroidsTable); err != nil {
		return err
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		return err
	}
	defer session.Close()
	labels := strings.Fields("news sports news science news sports news weather news science sports news")
	for i := range 1200 {
		vector := []float32{float32(i%100) * float32(len(labels[i%12])) / 1000, 0.5, 0.25}
		err := session.Query("INSERT INTO shop.items (id, label, embedding) VALUES (?, ?, ?)", i, labels[i%12], vector).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// printTable prints the table of the centroids, the largest groups first.
func printTable(ctx context.Context, session *vecql.Session, out io.Writer) error {
	var pages []*column.Batch
	for page, err := range session.Query("SELECT label, count, centroid FROM shop.centroids").Batches(ctx) {
		if err != nil {
			return err
		}
		pages = append(pages, page)
	}
	table, err := column.Concat(pages...)
	if err != nil {
		return err
	}
	counts, err := column.Slice[int64](table.Column("count"))
	if err != nil {
		return err
	}
	rows := make([]int32, len(counts))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(counts[b], counts[a]) })
	sorted, err := table.Take(rows)
	if err == nil {
		_, err = fmt.Fprint(out, sorted)
	}
	return err
}
