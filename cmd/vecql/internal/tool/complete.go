// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Completion of keyspaces, tables, columns and keywords.

// schemaNames are the columns by keyspace and table.
type schemaNames map[string]map[string][]string

// readNames reads the names of all keyspaces, tables and columns.
func readNames(ctx context.Context, session *vecql.Session) (schemaNames, error) {
	names := schemaNames{}
	it := session.Query("SELECT keyspace_name, table_name, column_name FROM system_schema.columns").
		Consistency(cql.One).Iter(ctx)
	var keyspace, table, column string
	for it.Scan(&keyspace, &table, &column) {
		if names[keyspace] == nil {
			names[keyspace] = map[string][]string{}
		}
		names[keyspace][table] = append(names[keyspace][table], column)
	}
	return names, it.Close()
}

// keywords are the words that the shell completes.
var keywords = strings.Fields(`ALLOW ALTER AND ANN APPLY ASC AS BATCH BEGIN BY CALLED CAST CLUSTERING COLUMNFAMILY CONTAINS
COUNTER CREATE CUSTOM DELETE DESC DESCRIBE DISTINCT DROP ENTRIES EXISTS FILTERING FROM FROZEN FULL FUNCTION GRANT GROUP IF
IN INDEX INSERT INTO JSON KEY KEYS KEYSPACE KEYSPACES LIKE LIMIT LIST MAP MATERIALIZED NOT NULL OF ON OPTIONS ORDER PARTITION PER
PRIMARY REVOKE ROLE SELECT SET STATIC TABLE TABLES TIMESTAMP TOKEN TRUNCATE TTL TUPLE TYPE UNLOGGED UPDATE USE USING VALUES
VECTOR VIEW WHERE WITH WRITETIME CONSISTENCY EXIT HELP QUIT TIMING TRACING`)

// beforeTable are the words that the name of a table follows; the name of a keyspace follows USE and KEYSPACE.
var beforeTable = []string{"FROM", "INTO", "UPDATE", "TABLE", "ON", "TRUNCATE", "DESCRIBE", "DESC", "VIEW", "EXISTS"}

// complete returns what may stand in place of the word at the end of text, which begins at start: tables and keyspaces
// after a word such as FROM, else columns of the tables in text and tail, and keywords.
func (n schemaNames) complete(keyspace, text, tail string) (start int, candidates []string) {
	start = len(text) - len(text[strings.LastIndexFunc(text, func(r rune) bool { return !isNameRune(r) })+1:])
	word := text[start:]
	var previous string
	for _, token := range cqltext.Tokens(text[:start]) {
		previous = strings.ToUpper(token)
	}
	var options []string
	if ks, _, qualified := strings.Cut(word, "."); qualified {
		for table := range n[cqltext.UnquoteIdentifier(ks)] {
			options = append(options, ks+"."+identifier(table))
		}
	} else {
		switch {
		case previous == "USE" || previous == "KEYSPACE":
			options = n.keyspaces("")
		case slices.Contains(beforeTable, previous):
			options = n.keyspaces(".")
			for table := range n[keyspace] {
				options = append(options, identifier(table))
			}
		default:
			options = append(n.columns(keyspace, text+tail), keywords...)
		}
	}
	for _, option := range options {
		if len(option) > len(word) && strings.EqualFold(option[:len(word)], word) {
			candidates = append(candidates, option)
		}
	}
	slices.Sort(candidates)
	return start, slices.Compact(candidates)
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`_."`, r)
}

func (n schemaNames) keyspaces(suffix string) []string {
	var list []string
	for ks := range n {
		list = append(list, identifier(ks)+suffix)
	}
	return list
}

// columns returns the columns of the tables that a statement names. If it names none, these are the tables of the
// keyspace.
func (n schemaNames) columns(keyspace, stmt string) []string {
	var list []string
	tables := tablesIn(keyspace, stmt)
	for _, path := range tables {
		list = append(list, n[path[0]][path[1]]...)
	}
	if len(tables) == 0 {
		for _, columns := range n[keyspace] {
			list = append(list, columns...)
		}
	}
	for i := range list {
		list[i] = identifier(list[i])
	}
	return list
}

// tablesIn returns the keyspace and name of each table that follows FROM, INTO or UPDATE in a statement.
func tablesIn(keyspace, stmt string) (tables [][2]string) {
	var tokens []string
	for _, token := range cqltext.Tokens(stmt) {
		tokens = append(tokens, token)
	}
	for i := 1; i < len(tokens); i++ {
		switch strings.ToUpper(tokens[i-1]) {
		case "FROM", "INTO", "UPDATE":
			path := [2]string{keyspace, cqltext.UnquoteIdentifier(tokens[i])}
			if i+2 < len(tokens) && tokens[i+1] == "." {
				path = [2]string{path[1], cqltext.UnquoteIdentifier(tokens[i+2])}
			}
			tables = append(tables, path)
		}
	}
	return tables
}

// identifier returns a name as CQL, with quotes where it needs them.
func identifier(name string) string {
	if plainName(name) && strings.ToLower(name) == name {
		return name
	}
	return cqltext.QuoteIdentifier(name)
}

// completeTimeout bounds the time that completion in a command line may take.
const completeTimeout = 2 * time.Second

// completeTables completes "keyspace.table" in arguments and flags of a command line.
func (e *env) completeTables(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completeTimeout)
	defer cancel()
	session, err := e.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer session.Close()
	names, err := readNames(ctx, session)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	keyspace, _, qualified := strings.Cut(word, ".")
	if !qualified {
		return slices.Sorted(slices.Values(names.keyspaces("."))), cobra.ShellCompDirectiveNoSpace
	}
	var list []string
	for _, table := range slices.Sorted(maps.Keys(names[cqltext.UnquoteIdentifier(keyspace)])) {
		list = append(list, keyspace+"."+identifier(table))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeColumns completes the last of the columns of a flag, of the table that is the argument.
func (e *env) completeColumns(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), completeTimeout)
	defer cancel()
	session, err := e.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer session.Close()
	table, err := clustertable.Find(ctx, session, tableOf(args[0]))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var list []string
	for _, name := range table.Metadata.OrderedColumns {
		list = append(list, word[:strings.LastIndexByte(word, ',')+1]+name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
