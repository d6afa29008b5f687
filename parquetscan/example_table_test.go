// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// A table is read as batches of columns and grouped by label; the groups, with their mean vector and median price,
// become a Parquet file. The driver copies a cell once, from the frame to its column; groupby reads the columns where
// they are.
func Example_tableToGroupsToParquet() {
	ctx := context.Background()
	session, path, closeAll := openLamps()
	defer closeAll()

	g, err := groupby.New(groupby.By("label"), groupby.Count(), groupby.Mean("embedding").As("centroid"), groupby.Median("price"))
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range session.Query("SELECT label, embedding, price FROM shop.lamps").BorrowBatches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if err := g.Add(ctx, batch); err != nil {
			log.Fatal(err)
		}
	}
	groups, err := g.Finish(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := parquetscan.WriteFile(ctx, path, groups); err != nil {
		log.Fatal(err)
	}
	fmt.Print(groups)
	// Output:
	// label   count  centroid            median(price)
	// string  int64  vector<float32, 2>        float64
	// desk        2  [0.5, 1]                       30
	// NULL        1  NULL                         NULL
	// floor       1  [4, 4]                         99
	// 3 rows
}

// The rows of Parquet files are written to a table, 128 at a time.
func Example_parquetToTable() {
	ctx := context.Background()
	session, path, closeAll := openLampsFile()
	defer closeAll()

	files, err := parquetscan.Open(ctx, path)
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	insert := session.Query("INSERT INTO shop.lamps (id, label, embedding, price) VALUES (?, ?, ?, ?)")
	for batch, err := range files.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if err := insert.ExecRows(ctx, batch); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(vecql.OneRow[int](ctx, session.Query("SELECT count(*) FROM shop.lamps")))
	// Output: 4 <nil>
}

// openEmptyLamps returns a session of a cluster within the process that has a table without rows, the path of a file
// that does not exist, and what closes and removes both.
func openEmptyLamps() (session *vecql.Session, path string, closeAll func()) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.lamps (id int PRIMARY KEY, label text, embedding vector<float, 2>, price double)`); err != nil {
		log.Fatal(err)
	}
	session, err = vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "vecql")
	if err != nil {
		log.Fatal(err)
	}
	return session, filepath.Join(dir, "lamps.parquet"), func() {
		session.Close()
		cluster.Close()
		_ = os.RemoveAll(dir)
	}
}

// openLamps is openEmptyLamps with rows in the table.
func openLamps() (session *vecql.Session, path string, closeAll func()) {
	session, path, closeAll = openEmptyLamps()
	for _, row := range []string{
		"(1, 'desk', [0, 1], 20)", "(2, 'desk', [1, 1], 40)", "(3, 'floor', [4, 4], 99)", "(4, null, null, null)",
	} {
		if err := session.Query("INSERT INTO shop.lamps (id, label, embedding, price) VALUES " + row).Exec(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	return session, path, closeAll
}

// openLampsFile is openEmptyLamps with rows in the file.
func openLampsFile() (session *vecql.Session, path string, closeAll func()) {
	session, path, closeAll = openEmptyLamps()
	null := []bool{false, false, false, true}
	batch := column.NewBatch(
		column.Of("id", []int32{1, 2, 3, 4}),
		column.Strings("label", []string{"desk", "desk", "floor", ""}).WithNulls(null),
		column.Matrix("embedding", []float32{0, 1, 1, 1, 4, 4, 0, 0}, 2).WithNulls(null),
		column.Of("price", []float64{20, 40, 99, 0}).WithNulls(null),
	)
	if err := parquetscan.WriteFile(context.Background(), path, batch); err != nil {
		log.Fatal(err)
	}
	return session, path, closeAll
}
