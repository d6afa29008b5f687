// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"context"
	"fmt"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/product"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// The table of a cache. The model is a part of the primary key, so that both servers filter by it: of the partition key
// on ScyllaDB, which reads the rows of a search one by one if a table has clustering columns, and a clustering column
// on Cassandra, which refuses a search with a condition on a part of the partition key, also if it is indexed.

// Create creates the table of a cache and its index of cosine distances, unless they exist, and waits until the index
// serves. The keyspace must exist; on ScyllaDB it must have tablets.
func Create(ctx context.Context, session *vecql.Session, config Config) error {
	config, err := config.withDefaults()
	if err == nil {
		err = create(ctx, session, &config)
	}
	return config.failed("create", err)
}

// create creates the table and checks it before it creates the index: the table may have existed.
func create(ctx context.Context, session *vecql.Session, config *Config) error {
	server, err := product.Of(ctx, session)
	if err != nil {
		return err
	}
	table, err := tableText(config, server)
	if err != nil {
		return err
	}
	if err := session.Query(table).Exec(ctx); err != nil {
		return err
	}
	if err := checkTable(ctx, session, config, server); err != nil {
		return err
	}
	options := search.IndexOptions{IfNotExists: true}
	if !server.Scylla {
		options.Filter, options.OptimizeFor = []string{"model"}, "recall"
	}
	if err := search.CreateIndex(ctx, session, config.target(), vector.Cosine, options); err != nil {
		return err
	}
	return search.WaitReady(ctx, session, config.target(), nil)
}

// target names the column of embeddings for package search.
func (c *Config) target() string { return c.Table + "(embedding)" }

// tableText returns the statement that creates the table.
func tableText(config *Config, server product.Server) (string, error) {
	ttl, err := ttlOf(config, server)
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (model text, key text, embedding vector<float, %d>, value blob, "+
		"created timestamp, expires timestamp%s, PRIMARY KEY (%s))", config.Table, config.Dimension, ttl, primaryKey(server)), err
}

func primaryKey(server product.Server) string {
	if server.Scylla {
		return "(model, key)"
	}
	return "key, model"
}

// ttlOf returns what the column expires has after its type: the time to live of rows, where the server has it.
func ttlOf(config *Config, server product.Server) (string, error) {
	switch {
	case !server.Scylla:
		return "", nil
	case !server.Before(2026, 2):
		return " TTL", nil
	case config.TTL > 0:
		return "", fmt.Errorf("%w: %v: expired entries would stay in the index, want 2026.2 or TTL 0", ErrTTL, server)
	}
	return "", nil
}

// columns are the columns of a cache but the embedding.
var columns = []struct {
	name string
	cql.Type
}{
	{"model", cql.TypeVarchar},
	{"key", cql.TypeVarchar},
	{"value", cql.TypeBlob},
	{"created", cql.TypeTimestamp},
	{"expires", cql.TypeTimestamp},
}

// checkTable returns the error of a table that is not the one of a cache.
func checkTable(ctx context.Context, session *vecql.Session, config *Config, server product.Server) error {
	keyspace, name := cqltext.SplitTable(config.Table, session.Query("").GetKeyspace())
	meta, err := session.TableMetadata(ctx, keyspace, name)
	if err != nil {
		return err
	}
	for _, want := range columns {
		if c := meta.Columns[want.name]; c == nil || c.Type.Type() != want.Type {
			return fmt.Errorf("%w: it has no column %s of type %v", ErrSchema, want.name, want.Type)
		}
	}
	want := fmt.Sprintf("vector<float, %d>", config.Dimension)
	if c := meta.Columns["embedding"]; c == nil || fmt.Sprint(c.Type) != want {
		return fmt.Errorf("%w: it has no column embedding of type %s", ErrSchema, want)
	}
	return checkKey(meta, server)
}

func checkKey(meta *cql.TableMetadata, server product.Server) error {
	var partition []string
	for _, c := range meta.PartitionKey {
		partition = append(partition, c.Name)
	}
	key := strings.Join(partition, ", ")
	if server.Scylla {
		key = "(" + key + ")"
	}
	for _, c := range meta.ClusteringColumns {
		key += ", " + c.Name
	}
	if want := primaryKey(server); key != want {
		return fmt.Errorf("%w: its primary key is (%s), want (%s)", ErrSchema, key, want)
	}
	return nil
}
