// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tests/cassandra"
)

// The demo: start a server, create a table, write the rows, read them back, run the queries.

// demoOptions are the flags of the demo: see demoFlags.
type demoOptions struct {
	server, hosts, user, password, ca, keyspace string
	workers                                     int
	keep, drop, verbose                         bool
}

// demo is one run of the demo.
type demo struct {
	demoOptions
	out io.Writer // result of the demo
	log io.Writer // progress

	session   *vecql.Session
	symbols   []symbol
	questions []question
}

// The values of --server.
const (
	serverEmbedded  = "cqltest"
	serverCassandra = "cassandra"
)

const (
	neighbors     = 3
	minimalRecall = 0.9
)

// run reads the data, starts or finds the server, and executes the steps of the demo. The keyspace is dropped at the
// end unless keep is set.
func (d *demo) run(ctx context.Context) (err error) {
	if d.symbols, err = readSymbols(ctx); err != nil {
		return err
	}
	if d.questions, err = readQuestions(ctx); err != nil {
		return err
	}
	cfg, stop, err := d.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if d.session, err = vecql.NewSessionContext(ctx, *cfg); err != nil {
		return err
	}
	defer d.session.Close()
	if err := d.create(ctx); err != nil {
		return err
	}
	if !d.keep {
		defer func() {
			_ = d.session.Query("DROP KEYSPACE IF EXISTS " + d.keyspace).ExecContext(context.WithoutCancel(ctx))
		}()
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	if err := d.index(ctx); err != nil {
		return err
	}
	stored, err := d.verify(ctx)
	if err != nil {
		return err
	}
	return d.search(ctx, stored)
}

// start returns the configuration of a session. stop ends the servers that start started.
func (d *demo) start(ctx context.Context) (cfg *vecql.ClusterConfig, stop func() error, err error) {
	stop = func() error { return nil }
	switch {
	case d.hosts != "":
		cfg = vecql.NewCluster(strings.Split(d.hosts, ",")...)
	case d.server == serverCassandra:
		fmt.Fprintf(d.out, "Starting Cassandra %s (the first start on a machine takes minutes, later ones seconds) ...\n",
			cassandra.Version)
		began := time.Now()
		cluster, err := cassandra.Start(ctx, cassandra.Options{
			Log: func(a ...any) { fmt.Fprintln(d.log, a...) },
			// building the index is arithmetic: the optimizing compiler halves its time
			JVM: []string{"-XX:TieredStopAtLevel=4"},
		})
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(d.out, "Started Cassandra at %s in %.1f s.\n", cluster.Nodes[0].Addr(), time.Since(began).Seconds())
		cfg, stop = vecql.NewCluster(cluster.Hosts()...), cluster.Close
	default:
		began := time.Now()
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(d.out, "Started three nodes in this process (package cqltest) at %s in %.0f ms.\n", cluster.Hosts()[0],
			1000*time.Since(began).Seconds())
		cfg, stop = vecql.NewCluster(cluster.Hosts()...), func() error { cluster.Close(); return nil }
	}
	if d.user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: d.user, Password: d.password}
	}
	if d.ca != "" {
		pem, err := os.ReadFile(d.ca)
		if err != nil {
			return nil, nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, nil, fmt.Errorf("--ca %s: no certificate in PEM form", d.ca)
		}
		cfg.TLS = &tls.Config{RootCAs: pool}
	}
	cfg.Timeout = 30 * time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	if d.verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(d.log, nil))
	}
	return cfg, stop, nil
}

func (d *demo) table() string { return d.keyspace + ".symbols" }

// create creates the keyspace and the table. A keyspace that exists is an error unless keep or drop is set, because the
// demo drops the keyspace at the end.
func (d *demo) create(ctx context.Context) error {
	host := d.session.GetHosts()[0]
	fmt.Fprintf(d.out, "Connected to version %s with protocol v%d.\n", host.Version(), d.session.ProtoVersion())
	condition := ""
	if d.keep {
		condition = "IF NOT EXISTS "
	}
	statements := []string{
		fmt.Sprintf("CREATE KEYSPACE %s%s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': 1}",
			condition, d.keyspace, host.DataCenter()),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (id bigint PRIMARY KEY, package text, symbol text, kind text, synopsis text, signature text, "+
			"lines int, embedding vector<float, %d>)", d.table(), dimension),
	}
	if d.drop {
		statements = slices.Insert(statements, 0, "DROP KEYSPACE IF EXISTS "+d.keyspace)
	}
	for _, stmt := range statements {
		err := d.session.Query(stmt).ExecContext(ctx)
		if errors.Is(err, vecql.CodeAlreadyExists) {
			return fmt.Errorf("keyspace %s exists: choose another --keyspace, use it with --keep, or lose its data with --drop",
				d.keyspace)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(strings.Fields(stmt)[:3], " "), err)
		}
	}
	return nil
}

// load writes all rows, o.workers of them concurrently.
func (d *demo) load(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	insert := fmt.Sprintf("INSERT INTO %s (id, package, symbol, kind, synopsis, signature, lines, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", d.table())
	began := time.Now()
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range d.workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= len(d.symbols) || ctx.Err() != nil {
					return
				}
				r := &d.symbols[i]
				err := d.session.Query(insert, r.ID, r.Package, r.Symbol, r.Kind, r.Synopsis, r.Signature, r.Lines, r.Embedding).
					Idempotent(true).ExecContext(ctx)
				if err != nil {
					cancel(fmt.Errorf("insert row %d: %w", r.ID, err)) // the first error is the cause
					return
				}
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	d.progress("Writing", len(d.symbols), &done, finished)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	fmt.Fprintf(d.out, "Wrote %d rows in %.2f s: %.0f rows/s, %d concurrent requests.\n", len(d.symbols), seconds,
		float64(len(d.symbols))/seconds, d.workers)
	return nil
}

// index builds the vector index after the rows are written. From data on disk the server builds a better graph in one
// pass than row by row in memory, where LIMIT 3 finds only nine in ten of the true neighbors.
func (d *demo) index(ctx context.Context) error {
	fmt.Fprintln(d.out, "Building the vector index ...")
	began := time.Now()
	if err := d.session.Query(fmt.Sprintf("CREATE CUSTOM INDEX IF NOT EXISTS symbols_embedding ON %s (embedding) USING 'StorageAttachedIndex' "+
		"WITH OPTIONS = {'similarity_function': 'cosine'}", d.table())).ExecContext(ctx); err != nil {
		return fmt.Errorf("CREATE CUSTOM INDEX: %w", err)
	}
	for {
		_, err := d.ask(ctx, d.questions[0].Embedding)
		if err == nil {
			fmt.Fprintf(d.out, "Built the index in %.1f s.\n", time.Since(began).Seconds())
			return nil
		}
		// a read failure means that the index is not built yet
		if !errors.Is(err, vecql.CodeReadFailure) || time.Since(began) > 5*time.Minute {
			return fmt.Errorf("wait for the index: %w", err)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// progress reports the number of rows done on a terminal until finished is closed.
func (d *demo) progress(what string, total int, done *atomic.Int64, finished <-chan struct{}) {
	terminal := false
	if f, ok := d.log.(*os.File); ok {
		info, err := f.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			if terminal {
				fmt.Fprint(d.log, "\r\x1b[K")
			}
			return
		case <-tick.C:
			if terminal {
				fmt.Fprintf(d.log, "\r%s %d of %d rows", what, done.Load(), total)
			}
		}
	}
}

// verify reads all rows back as columns and compares them bit for bit. It returns the rows as stored.
func (d *demo) verify(ctx context.Context) ([]symbol, error) {
	byID := make(map[int64]int, len(d.symbols))
	for i, r := range d.symbols {
		byID[r.ID] = i
	}
	began := time.Now()
	stored := make([]symbol, 0, len(d.symbols))
	var bytes, nulls int
	q := d.session.Query("SELECT id, package, symbol, kind, synopsis, signature, lines, embedding FROM " +
		d.table()).PageSize(1000)
	for batch, err := range q.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		rows, err := readBatch(batch)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			got := &rows[i]
			at, ok := byID[got.ID]
			if !ok {
				return nil, fmt.Errorf("verify: row %d was read twice or never written", got.ID)
			}
			delete(byID, got.ID)
			if diff := difference(&d.symbols[at], got); diff != "" {
				return nil, fmt.Errorf("verify: row %d: %s differs from what was written", got.ID, diff)
			}
			if got.Signature == nil {
				nulls++
			}
			bytes += 4 * len(got.Embedding)
		}
		stored = append(stored, rows...)
	}
	if len(byID) > 0 {
		return nil, fmt.Errorf("verify: %d rows are missing", len(byID))
	}
	seconds := time.Since(began).Seconds()
	fmt.Fprintf(d.out, "Read %d rows in %.2f s: %.0f rows/s, %.0f MB/s of vectors.\n", len(stored), seconds,
		float64(len(stored))/seconds, float64(bytes)/1e6/seconds)
	fmt.Fprintf(d.out, "%d rows verified bit for bit, %d NULLs among them.\n", len(stored), nulls)
	return stored, nil
}

// readBatch converts columns to rows.
func readBatch(b *column.Batch) ([]symbol, error) {
	ids, err1 := column.Slice[int64](b.Column("id"))
	lines, err2 := column.Slice[int32](b.Column("lines"))
	embeddings, err3 := column.MatrixOf[float32](b.Column("embedding"))
	var texts [5]column.TextView
	var err4 error
	for i, name := range []string{"package", "symbol", "kind", "synopsis", "signature"} {
		if texts[i], err4 = b.Column(name).Text(); err4 != nil {
			break
		}
	}
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	rows := make([]symbol, b.Rows)
	for r := range rows {
		rows[r] = symbol{
			ID: ids[r], Package: texts[0].String(r), Symbol: texts[1].String(r), Kind: texts[2].String(r),
			Synopsis: texts[3].String(r), Lines: lines[r], Embedding: embeddings.Row(r),
		}
		if !b.Column("signature").Null(r) {
			s := texts[4].String(r)
			rows[r].Signature = &s
		}
	}
	return rows, nil
}

// difference returns the name of the first column in which two rows differ in any bit, "" if the rows are equal.
func difference(a, b *symbol) string {
	switch {
	case a.Package != b.Package:
		return "package"
	case a.Symbol != b.Symbol:
		return "symbol"
	case a.Kind != b.Kind:
		return "kind"
	case a.Synopsis != b.Synopsis:
		return "synopsis"
	case (a.Signature == nil) != (b.Signature == nil) || a.Signature != nil && *a.Signature != *b.Signature:
		return "signature"
	case a.Lines != b.Lines:
		return "lines"
	case !slices.EqualFunc(a.Embedding, b.Embedding, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	}):
		return "embedding"
	}
	return ""
}

// answer is a row that the server's index returned.
type answer struct {
	id         int64
	name       string
	similarity float64
}

// search runs the queries and compares the rows of the index with those of an exact search.
func (d *demo) search(ctx context.Context, stored []symbol) error {
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nquestion\tby index (ANN)\t\texact\t\t\n")
	var latencies []time.Duration
	found := 0
	for _, q := range d.questions {
		began := time.Now()
		answers, err := d.ask(ctx, q.Embedding)
		if err != nil {
			return fmt.Errorf("search %q: %w", q.Text, err)
		}
		latencies = append(latencies, time.Since(began))
		hits := exact(stored, q.Embedding, neighbors)
		for i := range neighbors {
			title := ""
			if i == 0 {
				title = q.Text
			}
			left, right, mark := "-\t", "-\t", ""
			if i < len(answers) {
				left = fmt.Sprintf("%s\t%.3f", answers[i].name, answers[i].similarity)
			}
			if i < len(hits) {
				r := &stored[hits[i].row]
				right = fmt.Sprintf("%s\t%.3f", r.Package+"."+r.Symbol, hits[i].similarity)
				if slices.ContainsFunc(answers, func(a answer) bool { return a.id == r.ID }) {
					found++
				} else {
					mark = "missed by index"
				}
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", title, left, right, mark)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	slices.Sort(latencies)
	want := neighbors * len(d.questions)
	recall := float64(found) / float64(want)
	fmt.Fprintf(d.out, "\nRecall of the %d answers by index against the exact ones: %.3f. Median time of a query: %.1f ms.\n", want, recall,
		float64(latencies[len(latencies)/2].Microseconds())/1000)
	if recall < minimalRecall {
		return fmt.Errorf("recall of the index is %.3f, want at least %.1f", recall, minimalRecall)
	}
	return nil
}

// ask returns the rows that the server's index finds nearest to query.
func (d *demo) ask(ctx context.Context, query []float32) ([]answer, error) {
	it := d.session.Query(fmt.Sprintf("SELECT id, package, symbol, similarity_cosine(embedding, ?) FROM %s ORDER BY embedding ANN OF ? LIMIT %d",
		d.table(), neighbors), query, query).Consistency(vecql.One).Idempotent(true).IterContext(ctx)
	var answers []answer
	var a answer
	var pkg, name string
	var similarity float32
	for it.Scan(&a.id, &pkg, &name, &similarity) {
		a.name = pkg + "." + name
		a.similarity = 2*float64(similarity) - 1 // servers map the cosine to the range 0 to 1
		answers = append(answers, a)
	}
	return answers, it.Close()
}
