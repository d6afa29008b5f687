// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/json"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// indexedColumn returns the column whose values an index finds; "" for an index of a part of the values, such as
// keys(tags). ScyllaDB writes the target of an index with several columns as JSON (index/target_parser.cc).
func indexedColumn(index *cql.IndexMetadata) string {
	target := index.Options["target"]
	var parts struct {
		Column string `json:"tc"`
	}
	if err := json.Unmarshal([]byte(target), &parts); err == nil && parts.Column != "" {
		return parts.Column
	}
	if !isIdentifier(target) {
		return ""
	}
	if target[0] != '"' {
		return target // as stored
	}
	return cqltext.UnquoteIdentifier(target)
}

// isIdentifier reports whether a text is one identifier.
func isIdentifier(text string) bool {
	keyspace, _ := cqltext.SplitTable(text, "")
	return cqltext.IsTable(text) && keyspace == ""
}
