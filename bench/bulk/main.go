// SPDX-License-Identifier: Apache-2.0

// Command bulk measures how fast programs load and unload tables: vecql, dsbulk and cqlsh's COPY. It prints a line for
// each run in the form of go test -bench, where one operation is one row. After each run it counts the rows of the
// table, or of the files.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/tablescan"
)

func main() {
	var b bench
	flag.StringVar(&b.host, "host", "127.0.0.1:9042", "address of a node")
	flag.StringVar(&b.server, "server", "cassandra", "name of the server in the results")
	flag.StringVar(&b.dir, "dir", "", "folder of the data, made if missing")
	flag.StringVar(&b.vecql, "vecql", "vecql", "path of the vecql command")
	rows := flag.Int("rows", 1_000_000, "rows of the table of small columns")
	embeddings := flag.Int("vectors", 100_000, "rows of the tables of vectors and of lists")
	flag.Parse()
	b.tables = []data{small(*rows), lists(*embeddings), vectors(*embeddings)}
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bulk:", err)
		os.Exit(1)
	}
}

// A bench is a series of runs on one server.
type bench struct {
	host, server, dir, vecql string
	tables                   []data
	session                  *vecql.Session
}

func (b *bench) run(ctx context.Context) error {
	if b.dir == "" {
		return errors.New("-dir is required")
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: []string{b.host}})
	if err != nil {
		return err
	}
	defer session.Close()
	b.session = session
	for _, t := range b.tables { // what an earlier run left: dsbulk 1.10 fails in a cluster that has a vector anywhere
		if err := session.Query("DROP KEYSPACE IF EXISTS " + t.keyspace()).Exec(ctx); err != nil {
			return err
		}
	}
	for _, t := range b.tables {
		err := session.Query("CREATE KEYSPACE " + t.keyspace() +
			" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec(ctx)
		if err == nil {
			err = t.write(ctx, b.dir)
		}
		if err == nil {
			err = b.table(ctx, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// table runs all tools on a table. A tool that fails is reported, and has no result.
func (b *bench) table(ctx context.Context, t data) error {
	host, port, err := net.SplitHostPort(b.host)
	if err != nil {
		return err
	}
	// A server that has just started is slow, which the first program would pay for.
	if err := errors.Join(b.create(ctx, t), b.refill(ctx, t)); err != nil {
		return err
	}
	for _, one := range tools(b.vecql) {
		if one.name == "dsbulk" && t.name == "vectors" {
			continue
		}
		if err := b.create(ctx, t); err != nil {
			return err
		}
		j := job{host, port, t, t.file(b.dir, one.format), filepath.Join(b.dir, "unloaded")}
		b.measure(ctx, one, "load", t, one.load(j), func() (int, error) { return b.stored(ctx, t) })
		if err := b.refill(ctx, t); err != nil { // what a tool that failed left
			return err
		}
		if err := errors.Join(os.RemoveAll(j.folder), os.MkdirAll(j.folder, 0o755)); err != nil {
			return err
		}
		b.measure(ctx, one, "unload", t, one.unload(j), func() (int, error) { return written(ctx, j.folder) })
	}
	return nil
}

func (b *bench) measure(ctx context.Context, one tool, verb string, t data, argv []string, count func() (int, error)) {
	took, err := run(ctx, argv)
	rows := 0
	if err == nil {
		rows, err = count()
	}
	name := fmt.Sprintf("BenchmarkBulk/driver=%s/verb=%s/rows=%s/server=%s", one.name, verb, t.name, b.server)
	if err == nil && rows != t.rows {
		err = fmt.Errorf("%d of %d rows", rows, t.rows)
	}
	if err != nil {
		fmt.Printf("# %s: %v\n", name, err)
		return
	}
	n := float64(rows)
	fmt.Printf("%s\t%d\t%.1f ns/op\t%.0f rows/s\t%.4f cpu-us/op\n", name, rows, float64(took.wall.Nanoseconds())/n,
		n/took.wall.Seconds(), float64(took.cpu.Microseconds())/n)
}

// create makes an empty table.
func (b *bench) create(ctx context.Context, t data) error {
	for _, statement := range []string{"DROP TABLE IF EXISTS ", "CREATE TABLE "} {
		text := statement + t.qualified()
		if statement == "CREATE TABLE " {
			text += " (" + t.columns + ")"
		}
		if err := b.session.Query(text).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the number of rows in the table.
func (b *bench) stored(ctx context.Context, t data) (rows int, err error) {
	scan, err := tablescan.New(ctx, b.session, "SELECT id FROM "+t.qualified(), tablescan.Config{})
	if err != nil {
		return 0, err
	}
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return 0, err
		}
		rows += batch.Rows
	}
	return rows, nil
}

// refill stores all rows if some are missing.
func (b *bench) refill(ctx context.Context, t data) error {
	if rows, err := b.stored(ctx, t); err != nil || rows == t.rows {
		return err
	}
	j := job{table: t, file: t.file(b.dir, "parquet")}
	j.host, j.port, _ = net.SplitHostPort(b.host)
	_, err := run(ctx, ours("vecql", "parquet", b.vecql).load(j))
	return err
}

// written returns the number of rows in the files of a folder.
func written(ctx context.Context, folder string) (rows int, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, f := range files {
		if err != nil {
			return 0, err
		}
		n := 0
		if filepath.Ext(f) == ".parquet" {
			n, err = parquetRows(ctx, f)
		} else {
			n, err = csvRows(f)
		}
		rows += n
	}
	return rows, err
}

func parquetRows(ctx context.Context, path string) (int, error) {
	files, err := parquetscan.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer files.Close()
	return int(files.NumRows()), nil
}

// csvRows returns the number of lines without the header. The data has no line breaks in its values.
func csvRows(path string) (int, error) {
	text, err := os.ReadFile(path)
	return max(0, bytes.Count(text, []byte("\n"))-1), err
}
