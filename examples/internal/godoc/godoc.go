// SPDX-License-Identifier: Apache-2.0

// Package godoc opens a cluster with the doc comments of Go's standard library and their embeddings, for examples of
// searches. The program semantic-search shows the same steps.
package godoc

import (
	"context"
	"errors"
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/pipe"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// A Library is a session with the table examples.docs: 2,911 rows with package, symbol, kind, synopsis and embedding.
// The column embedding has a vector index by cosine.
type Library struct {
	Session   *vecql.Session
	Questions []Question
	cluster   *cqltest.Cluster // of this process; nil means none
}

// A Doc is a row of the table.
type Doc struct{ Package, Symbol, Synopsis string }

// Name returns the symbol with its package, as "strings.Cut".
func (d Doc) Name() string { return d.Package + "." + d.Symbol }

// A Question is a text with its embedding.
type Question struct {
	Text      string
	Embedding []float32
}

const data = "cmd/vecql/internal/tool/testdata" // the folder with the embeddings, as seen from the top of the repository

// Open connects to a cluster and writes the table. Without hosts the cluster is in this process.
func Open(ctx context.Context, hosts []string) (*Library, error) {
	l := new(Library)
	err := l.connect(ctx, hosts)
	if err == nil {
		err = l.load(ctx)
	}
	if err == nil {
		err = l.readQuestions(ctx)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close closes the session, and the cluster if it is in this process.
func (l *Library) Close() {
	if l.Session != nil {
		l.Session.Close()
	}
	if l.cluster != nil {
		l.cluster.Close()
	}
}

func (l *Library) connect(ctx context.Context, hosts []string) (err error) {
	if len(hosts) == 0 {
		if l.cluster, err = cqltest.Start(cqltest.Config{}); err != nil {
			return err
		}
		hosts = l.cluster.Hosts()
	}
	l.Session, err = vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: hosts})
	return err
}

// load creates the table, writes the rows, and creates the index.
func (l *Library) load(ctx context.Context) error {
	if err := errors.Join(
		l.Session.Query("CREATE KEYSPACE IF NOT EXISTS examples WITH replication = "+
			"{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}").Exec(ctx),
		l.Session.Query("CREATE TABLE IF NOT EXISTS examples.docs (package text, symbol text, kind text, synopsis text, "+
			"embedding vector<float, 384>, PRIMARY KEY ((package, symbol)))").Exec(ctx),
	); err != nil {
		return err
	}
	docs, err := pipe.Parquet(data + "/gostdlib.parquet").Batch(ctx)
	if err != nil {
		return err
	}
	insert := l.Session.Query("INSERT INTO examples.docs (package, symbol, kind, synopsis, embedding) VALUES (?, ?, ?, ?, ?)")
	return errors.Join(
		insert.Idempotent(true).ExecRows(ctx, docs),
		search.CreateIndex(ctx, l.Session, "examples.docs(embedding)", vector.Cosine, search.IndexOptions{IfNotExists: true}),
		search.WaitReady(ctx, l.Session, "examples.docs(embedding)", nil),
	)
}

func (l *Library) readQuestions(ctx context.Context) error {
	batch, err := pipe.Parquet(data + "/gostdlib-queries.parquet").Batch(ctx)
	if err != nil {
		return err
	}
	texts, err := batch.Column("query").Text()
	if err != nil {
		return fmt.Errorf("questions: %w", err)
	}
	embeddings, err := column.MatrixOf[float32](batch.Column("embedding"))
	if err != nil {
		return fmt.Errorf("questions: %w", err)
	}
	for i := range batch.Rows {
		l.Questions = append(l.Questions, Question{texts.String(i), embeddings.Row(i)})
	}
	return nil
}
