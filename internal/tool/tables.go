// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Tables that arguments name.

// findTable returns the table of a name in CQL: shop.items, or items in the keyspace of the session.
func findTable(ctx context.Context, session *vecql.Session, name string) (*vecql.TableMetadata, error) {
	var words []string
	for _, word := range cqltext.Tokens(name) {
		words = append(words, word)
	}
	keyspace := session.Query("").GetKeyspace()
	switch {
	case len(words) == 3 && words[1] == ".":
		keyspace = unquoted(words[0])
	case len(words) != 1:
		return nil, usagef("%q is not a table: want keyspace.table", name)
	case keyspace == "":
		return nil, usagef("table %s has no keyspace: write keyspace.%s, or set --keyspace", name, name)
	}
	t, err := session.TableMetadataContext(ctx, keyspace, unquoted(words[len(words)-1]))
	switch {
	case errors.Is(err, vecql.ErrKeyspaceDoesNotExist):
		return nil, advise(errors.New("keyspace "+identifier(keyspace)+" does not exist"), "vecql describe keyspaces lists them")
	case errors.Is(err, vecql.ErrNoTable):
		return nil, advise(errors.New("table "+name+" does not exist"), "vecql describe %s lists the tables",
			identifier(keyspace))
	}
	return t, err
}

// keyColumns returns the names of the columns of the partition key, and of the whole primary key.
func keyColumns(t *vecql.TableMetadata) (partition, primary []string) {
	for _, c := range t.PartitionKey {
		partition = append(partition, c.Name)
	}
	primary = partition[:len(partition):len(partition)]
	for _, c := range t.ClusteringColumns {
		primary = append(primary, c.Name)
	}
	return partition, primary
}

// quotedList returns names as a list of identifiers.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = identifier(name)
	}
	return strings.Join(quoted, ", ")
}

// quotedTable returns a table as CQL.
func quotedTable(t *vecql.TableMetadata) string {
	return identifier(t.Keyspace) + "." + identifier(t.Name)
}
