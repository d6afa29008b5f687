// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
)

// The verb demo: start a server, create a table, write the rows, read them back, run the queries.

// demoOptions are the flags of demo.
type demoOptions struct {
	server     string
	workers    int
	rows       int // most rows to write; 0 means all
	keep, drop bool
}

// demo is one run of the demo.
type demo struct {
	demoOptions
	*env

	keyspace  string
	session   *vecql.Session
	symbols   []symbol
	questions []question
}

// newDemoCommand returns the verb demo.
func newDemoCommand(e *env) *cobra.Command {
	d := &demo{env: e}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Write real embeddings, read them back bit for bit, and search them",
		Long: `Demo creates a keyspace with a table of 2,911 embeddings, reads them back, compares
them bit for bit, and answers 20 questions by the vector index, beside the exact
answers. It drops the keyspace at the end.

Without --hosts or --profile it starts servers of its own.`,
		Example: `  vecql demo
  vecql demo --server cassandra
  vecql demo --hosts 10.0.0.1 --keyspace try --keep`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d.keyspace = cmp.Or(e.flags.keyspace, "vecql_demo")
			switch {
			case d.server != serverEmbedded && d.server != serverCassandra:
				return usagef("--server is %q, want cqltest or cassandra", d.server)
			case d.workers < 1:
				return usagef("--workers is %d, want at least 1", d.workers)
			case d.rows != 0 && d.rows < neighbors:
				return usagef("--rows is %d, want at least %d", d.rows, neighbors)
			case !plainName(d.keyspace):
				return usagef("--keyspace is %q, want letters, digits and underscores", d.keyspace)
			}
			return d.run(c.Context())
		},
	}
	e.addClusterFlags(c)
	e.addProgressFlag(c)
	c.Flags().StringVar(&d.server, "server", serverEmbedded,
		"`servers` to start: cqltest, a cluster in this process, or cassandra, a real node")
	c.Flags().IntVar(&d.workers, "workers", 32, "concurrent `writes`")
	c.Flags().IntVar(&d.rows, "rows", 0, "most `rows` to write; default all")
	c.Flags().BoolVar(&d.keep, "keep", false, "keep the keyspace at the end")
	c.Flags().BoolVar(&d.drop, "drop", false, "drop the keyspace with all its tables first if it exists")
	return c
}

// plainName reports whether s is an identifier that needs no quotes.
func plainName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 48
}

// The values of --server.
const (
	serverEmbedded  = "cqltest"
	serverCassandra = "cassandra"
)

const (
	neighbors     = 3
	minimalRecall = 0.9
	demoWidth     = 80 // of its output, where there is no terminal
)

// run reads the data, starts or finds the server, and executes the steps of the demo. The keyspace is dropped at the
// end unless keep is set.
func (d *demo) run(ctx context.Context) (err error) {
	if d.symbols, err = readSymbols(ctx); err != nil {
		return err
	}
	if d.rows > 0 {
		d.symbols = d.symbols[:min(d.rows, len(d.symbols))]
	}
	if d.questions, err = readQuestions(ctx); err != nil {
		return err
	}
	cfg, stop, err := d.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = withEnd(err, stop()) }()
	if d.session, err = d.open(ctx, cfg); err != nil {
		return err
	}
	defer d.session.Close()
	if err := d.create(ctx); err != nil {
		return err
	}
	if !d.keep {
		defer func() { err = withEnd(err, d.dropKeyspace(context.WithoutCancel(ctx))) }()
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	if err := d.index(ctx); err != nil {
		return err
	}
	if err := d.verify(ctx); err != nil {
		return err
	}
	return d.search(ctx)
}

// start returns the configuration of a session. stop ends the servers that start started.
func (d *demo) start(ctx context.Context) (cfg *vecql.ClusterConfig, stop func() error, err error) {
	stop = func() error { return nil }
	began := d.now()
	var hosts []string
	switch {
	case d.flags.set.Changed("hosts") || d.flags.set.Changed(flagProfile):
	case d.server == serverCassandra:
		fmt.Fprintf(d.out, "Starting Cassandra %s ...\n", cassandra.Version)
		fmt.Fprintln(d.out, "(The first start on a machine takes minutes, later ones seconds.)")
		cluster, err := cassandra.Start(ctx, cassandra.Options{
			Version: cassandra.Version,
			Log:     func(a ...any) { fmt.Fprintln(d.err, a...) },
			// building the index is arithmetic: the optimizing compiler halves its time
			JVM: []string{"-XX:TieredStopAtLevel=4"},
		})
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(d.out, "Started Cassandra at %s in %.1f s.\n", cluster.Nodes[0].Addr(), d.now().Sub(began).Seconds())
		hosts, stop = cluster.Hosts(), cluster.Close
	default:
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(d.out, "Started three nodes in this process at %s in %.0f ms.\n", cluster.Hosts()[0],
			1000*d.now().Sub(began).Seconds())
		hosts, stop = cluster.Hosts(), func() error { cluster.Close(); return nil }
	}
	if hosts != nil { // flags, environment and profile name other servers
		cfg = &vecql.ClusterConfig{Hosts: hosts}
		cfg.Logger = slog.New(slog.DiscardHandler)
	} else if cfg, err = d.readConfig(); err != nil {
		return nil, nil, err
	}
	cfg.Keyspace = "" // it does not exist yet
	cfg.Timeout = 30 * time.Second
	return cfg, stop, nil
}

func (d *demo) table() string { return d.keyspace + ".symbols" }

// create creates the keyspace and the table. A keyspace that exists is an error, or dropped with --drop.
func (d *demo) create(ctx context.Context) error {
	host := d.session.GetHosts()[0]
	fmt.Fprintf(d.out, "Connected to version %s with protocol v%d.\n", host.Version, d.session.ProtoVersion())
	if d.drop {
		if err := d.dropKeyspace(ctx); err != nil {
			return err
		}
	}
	for _, stmt := range []string{
		fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': 1}", d.keyspace,
			host.DataCenter),
		fmt.Sprintf("CREATE TABLE %s (id bigint PRIMARY KEY, package text, symbol text, kind text, synopsis text, signature text, "+
			"lines int, embedding vector<float, %d>)", d.table(), dimension),
	} {
		err := d.session.Query(stmt).Exec(ctx)
		if errors.Is(err, cql.CodeAlreadyExists) {
			return advise(fmt.Errorf("keyspace %s exists", d.keyspace),
				"choose another --keyspace, or lose its data with --drop")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(strings.Fields(stmt)[:3], " "), err)
		}
	}
	return nil
}

// dropKeyspace drops the keyspace if it exists, and prints what is lost.
func (d *demo) dropKeyspace(ctx context.Context) error {
	metadata, err := d.session.KeyspaceMetadata(ctx, d.keyspace)
	if errors.Is(err, vecql.ErrKeyspaceDoesNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	tables := slices.Sorted(maps.Keys(metadata.Tables))
	if err := d.session.Query("DROP KEYSPACE " + d.keyspace).Exec(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "Dropped keyspace %s with its tables: %s.\n", d.keyspace, strings.Join(tables, ", "))
	return nil
}

// load writes all rows, o.workers of them concurrently.
func (d *demo) load(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	insert := fmt.Sprintf("INSERT INTO %s (id, package, symbol, kind, synopsis, signature, lines, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", d.table())
	began := time.Now()
	var next, done atomic.Int64
	stop, err := d.startProgress(func() state {
		n := done.Load()
		return state{float64(n) / float64(len(d.symbols)), fmt.Sprintf("%d rows written", n), counts{rows: uint64(n)}}
	})
	if err != nil {
		return err
	}
	defer stop()
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
					Idempotent(true).Exec(ctx)
				if err != nil {
					cancel(fmt.Errorf("insert row %d: %w", r.ID, err)) // the first error is the cause
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	stop()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	fmt.Fprintf(d.out, "Wrote %d rows in %.2f s: %.0f rows/s, %d concurrent requests.\n", len(d.symbols), seconds,
		float64(len(d.symbols))/seconds, d.workers)
	return nil
}

// verify reads all rows back as columns and compares them bit for bit.
func (d *demo) verify(ctx context.Context) error {
	byID := make(map[int64]int, len(d.symbols))
	for i, r := range d.symbols {
		byID[r.ID] = i
	}
	began := time.Now()
	var read, bytes, nulls int
	q := d.session.Query("SELECT id, package, symbol, kind, synopsis, signature, lines, embedding FROM " +
		d.table()).PageSize(1000)
	for batch, err := range q.Batches(ctx) {
		if err != nil {
			return err
		}
		rows, err := readBatch(batch)
		if err != nil {
			return err
		}
		for i := range rows {
			got := &rows[i]
			at, ok := byID[got.ID]
			if !ok {
				return fmt.Errorf("verify: row %d was read twice or never written", got.ID)
			}
			delete(byID, got.ID)
			if diff := difference(&d.symbols[at], got); diff != "" {
				return fmt.Errorf("verify: row %d: %s differs from what was written", got.ID, diff)
			}
			if got.Signature == nil {
				nulls++
			}
			bytes += 4 * len(got.Embedding)
		}
		read += len(rows)
	}
	if len(byID) > 0 {
		return fmt.Errorf("verify: %d rows are missing", len(byID))
	}
	seconds := time.Since(began).Seconds()
	fmt.Fprintf(d.out, "Read %d rows in %.2f s: %.0f rows/s, %.0f MB/s of vectors.\n", read, seconds,
		float64(read)/seconds, float64(bytes)/1e6/seconds)
	fmt.Fprintf(d.out, "%d rows verified bit for bit, %d NULLs among them.\n", read, nulls)
	return nil
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
