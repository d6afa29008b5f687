// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"context"
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/product"
)

// The table of a cache. The model is a part of the partition key: both servers filter by it, and the rows of a model
// are on all nodes.

// Create creates the table of a cache and its index of cosine distances, unless they exist. The keyspace must exist; on
// ScyllaDB it must have tablets.
func Create(ctx context.Context, session *vecql.Session, config Config) error {
	config, err := config.withDefaults()
	if err != nil {
		return config.failed("create", err)
	}
	server, err := product.Of(ctx, session)
	if err != nil {
		return config.failed("create", err)
	}
	statements, err := statementsOf(&config, server)
	for _, statement := range statements {
		if err == nil {
			err = session.Query(statement).Exec(ctx)
		}
	}
	if err == nil {
		err = checkTable(ctx, session, &config)
	}
	return config.failed("create", err)
}

// statementsOf returns the statements that create the table and its indexes.
func statementsOf(config *Config, server product.Server) ([]string, error) {
	ttl, err := ttlOf(config, server)
	if err != nil {
		return nil, err
	}
	table := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (model text, key text, embedding vector<float, %d>, value blob, "+
		"created timestamp, expires timestamp%s, PRIMARY KEY ((model, key)))", config.Table, config.Dimension, ttl)
	if server.Scylla {
		return []string{table, "CREATE CUSTOM INDEX IF NOT EXISTS ON " + config.Table + " (embedding) USING 'vector_index' " +
			"WITH OPTIONS = {'similarity_function': 'COSINE'}"}, nil
	}
	return []string{
		table,
		"CREATE INDEX IF NOT EXISTS ON " + config.Table + " (model) USING 'sai'",
		"CREATE CUSTOM INDEX IF NOT EXISTS ON " + config.Table + " (embedding) USING 'StorageAttachedIndex' " +
			"WITH OPTIONS = {'similarity_function': 'COSINE', 'optimize_for': 'RECALL'}",
	}, nil
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

// columnTypes are the columns of a cache but the embedding.
var columnTypes = map[string]cql.Type{
	"model": cql.TypeVarchar, "key": cql.TypeVarchar, "value": cql.TypeBlob,
	"created": cql.TypeTimestamp, "expires": cql.TypeTimestamp,
}

// checkTable returns the error of a table that is not the one of a cache.
func checkTable(ctx context.Context, session *vecql.Session, config *Config) error {
	keyspace, name := session.Query("").GetKeyspace(), ""
	for _, word := range cqltext.Tokens(config.Table) {
		if word == "." {
			keyspace = name
		}
		name = cqltext.UnquoteIdentifier(word)
	}
	meta, err := session.TableMetadata(ctx, keyspace, name)
	if err != nil {
		return err
	}
	for column, want := range columnTypes {
		if c := meta.Columns[column]; c == nil || c.Type.Type() != want {
			return fmt.Errorf("%w: it has no column %s of type %v", ErrSchema, column, want)
		}
	}
	want := fmt.Sprintf("vector<float, %d>", config.Dimension)
	if c := meta.Columns["embedding"]; c == nil || fmt.Sprint(c.Type) != want {
		return fmt.Errorf("%w: it has no column embedding of type %s", ErrSchema, want)
	}
	if len(meta.PartitionKey) != 2 || len(meta.ClusteringColumns) != 0 {
		return fmt.Errorf("%w: its primary key is not ((model, key))", ErrSchema)
	}
	return nil
}
