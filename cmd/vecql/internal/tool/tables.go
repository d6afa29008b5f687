// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"strings"

	"github.com/vecql/vecql/cql"
)

// Tables that arguments name.

// keyColumns returns the names of the columns of the partition key, and of the whole primary key.
func keyColumns(t *cql.TableMetadata) (partition, primary []string) {
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
