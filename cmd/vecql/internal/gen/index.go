// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The targets of indexes.

// A target is what an index finds rows by: a column, or a part of the values of a collection.
type target struct {
	part   string // "keys", "values", "entries" or "full"; "" for the column itself
	column string
}

var partTarget = regexp.MustCompile(`(?is)^(keys|values|entries|full)\((.+)\)$`)

// targetOf returns the target of an index; no column for one that no query of one or two values can use. ScyllaDB
// writes the target of an index with several columns as JSON (index/target_parser.cc).
func targetOf(index *cql.IndexMetadata) target {
	text := index.Options["target"]
	var columns struct {
		Column string `json:"tc"`
	}
	if err := json.Unmarshal([]byte(text), &columns); err == nil && columns.Column != "" {
		return target{column: columns.Column}
	}
	if m := partTarget.FindStringSubmatch(text); m != nil {
		return target{strings.ToLower(m[1]), columnOf(m[2])}
	}
	return target{column: columnOf(text)}
}

// columnOf returns the column of a text that is one identifier, "" for another text.
func columnOf(text string) string {
	switch keyspace, _ := cqltext.SplitTable(text, ""); {
	case !cqltext.IsTable(text) || keyspace != "":
		return ""
	case text[0] == '"':
		return cqltext.UnquoteIdentifier(text)
	}
	return text // as stored
}

// String returns the target as CREATE INDEX has it.
func (t target) String() string {
	if t.part == "" {
		return cqltext.Identifier(t.column)
	}
	return t.part + "(" + cqltext.Identifier(t.column) + ")"
}
