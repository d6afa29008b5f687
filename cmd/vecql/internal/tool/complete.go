// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Completion of keyspaces, tables, columns, functions and keywords.

// schemaNames are the names of the schema of a cluster.
type schemaNames struct {
	tables    map[string]map[string][]string // the columns by keyspace and table
	functions map[string][]string            // of users, by keyspace
}

// readNames reads the names of all keyspaces, tables, columns and functions.
func readNames(ctx context.Context, session *vecql.Session) (schemaNames, error) {
	names := schemaNames{map[string]map[string][]string{}, map[string][]string{}}
	it := session.Query("SELECT keyspace_name, table_name, column_name FROM system_schema.columns").
		Consistency(cql.One).Iter(ctx)
	var keyspace, table, column, function string
	for it.Scan(&keyspace, &table, &column) {
		if names.tables[keyspace] == nil {
			names.tables[keyspace] = map[string][]string{}
		}
		names.tables[keyspace][table] = append(names.tables[keyspace][table], column)
	}
	if err := it.Close(); err != nil {
		return names, err
	}
	for _, stmt := range []string{
		"SELECT keyspace_name, function_name FROM system_schema.functions",
		"SELECT keyspace_name, aggregate_name FROM system_schema.aggregates",
	} {
		it := session.Query(stmt).Consistency(cql.One).Iter(ctx)
		for it.Scan(&keyspace, &function) {
			names.functions[keyspace] = append(names.functions[keyspace], function)
		}
		_ = it.Close() // without functions there are tables
	}
	return names, nil
}

// keywords are the words that the shell completes within a statement.
var keywords = strings.Fields(`ALLOW AND ANN APPLY ASC AS BATCH BY CALLED CAST CLUSTERING COLUMNFAMILY CONTAINS COUNTER CUSTOM
DESC DISTINCT ENTRIES EXISTS FILTERING FROM FROZEN FULL FUNCTION GROUP IF IN INDEX INTO JSON KEY KEYS KEYSPACE KEYSPACES LIKE LIMIT
LIST MAP MATERIALIZED NOT NULL OF ON OPTIONS ORDER PARTITION PER PRIMARY ROLE SELECT SET STATIC TABLE TABLES TIMESTAMP TOKEN
TTL TUPLE TYPE UNLOGGED USING VALUES VECTOR VIEW WHERE WITH WRITETIME`)

// builtinFunctions are the functions of Cassandra and ScyllaDB that the shell completes.
var builtinFunctions = strings.Fields(`abs avg cast count currentDate currentTime currentTimestamp currentTimeUUID exp fromJson
length log log10 map_keys map_values max maxTimeuuid min minTimeuuid now round similarity_cosine similarity_dot_product
similarity_euclidean sum toDate toJson token toTimestamp toUnixTimestamp ttl uuid writetime`)

// beforeTable are the words that the name of a table follows; the name of a keyspace follows USE and KEYSPACE.
var beforeTable = strings.Fields("FROM INTO UPDATE TABLE ON TRUNCATE DESCRIBE DESC VIEW EXISTS COPY")

// beforeColumn are the tokens that the name of a column, or a call, follows.
var beforeColumn = []string{"SELECT", "DISTINCT", "WHERE", "AND", "SET", "BY", "IF", ",", "("}

// complete returns what may stand in place of the word at the end of text, which begins at start: the words that begin
// a statement; tables and keyspaces after a word such as FROM; columns of the tables in text and tail, and functions,
// after a word such as SELECT; else columns and keywords.
func (n schemaNames) complete(keyspace, text, tail string) (start int, candidates []string) {
	start = len(text) - len(text[strings.LastIndexFunc(text, func(r rune) bool { return !isNameRune(r) })+1:])
	word, previous := text[start:], ";"
	for _, token := range cqltext.Tokens(text[:start]) {
		previous = strings.ToUpper(token)
	}
	if words := argumentWords(text[:start]); words != nil {
		return start, matching(word, words)
	}
	if ks, _, qualified := strings.Cut(word, "."); qualified {
		return start, matching(word, n.tableNames(cqltext.UnquoteIdentifier(ks), ks+"."))
	}
	switch {
	case previous == ";":
		return start, matching(word, firstWords())
	case previous == "USE" || previous == "KEYSPACE":
		return start, matching(word, n.keyspaces(""))
	case slices.Contains(beforeTable, previous):
		return start, matching(word, append(n.keyspaces("."), n.tableNames(keyspace, "")...))
	}
	columns := matching(word, n.columns(keyspace, text+tail))
	if !slices.Contains(beforeColumn, previous) {
		return start, append(columns, matching(word, keywords)...)
	}
	if len(columns) > 0 && word != "" {
		return start, columns
	}
	columns = append(columns, matching(word, n.functionsOf(keyspace))...)
	if len(columns) > 0 {
		return start, columns
	}
	return start, matching(word, keywords)
}

// argumentWords returns the words of the first argument of a command at the end of text, nil if none is there.
func argumentWords(text string) (words []string) {
	for _, _, next := cqltext.Next(text); next > 0; _, _, next = cqltext.Next(text) {
		text = text[next:]
	}
	c, length := commandAt(text)
	if c == nil || c.isLong || strings.TrimSpace(text[length:]) != "" {
		return nil
	}
	if strings.Contains(c.args, "level") {
		return levelNames()
	}
	for _, option := range strings.FieldsFunc(c.args, func(r rune) bool { return strings.ContainsRune("[|] ", r) }) {
		if option == strings.ToUpper(option) && plainName(option) {
			words = append(words, option)
		}
	}
	return words
}

// matching returns the options that begin with a word in any case and are longer, in order.
func matching(word string, options []string) (candidates []string) {
	for _, option := range options {
		if len(option) > len(word) && strings.EqualFold(option[:len(word)], word) {
			candidates = append(candidates, option)
		}
	}
	slices.Sort(candidates)
	return slices.Compact(candidates)
}

// tableNames returns the tables of a keyspace as CQL, each after a prefix.
func (n schemaNames) tableNames(keyspace, prefix string) (list []string) {
	for table := range n.tables[keyspace] {
		list = append(list, prefix+identifier(table))
	}
	return list
}

// functionsOf returns the functions that a statement in a keyspace may call, each with "(".
func (n schemaNames) functionsOf(keyspace string) (list []string) {
	for _, name := range builtinFunctions {
		list = append(list, name+"(")
	}
	for _, name := range n.functions[keyspace] {
		list = append(list, identifier(name)+"(")
	}
	return list
}

// fileWord matches a line whose last word is the name of a file: the quote before the name, and the name.
var fileWord = regexp.MustCompile(`^(?i:\s*(?:SOURCE|CAPTURE|COPY\s[^'"]+\s(?:TO|FROM))\s+|\s*\\[io]\s+)(['"]?)([^'"]*)$`)

// completeFile returns the files whose path begins with a word, each with a quote behind it, and the folders.
func completeFile(word, quote string) (candidates []string) {
	folder, name := filepath.Split(word)
	entries, _ := os.ReadDir(cmp.Or(folder, ".")) // a folder that cannot be read has no candidates
	for _, entry := range entries {
		path := folder + entry.Name()
		switch {
		case !strings.HasPrefix(entry.Name(), name):
		case entry.IsDir():
			candidates = append(candidates, path+"/")
		default:
			candidates = append(candidates, path+quote)
		}
	}
	return candidates
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`_."`, r)
}

func (n schemaNames) keyspaces(suffix string) []string {
	var list []string
	for ks := range n.tables {
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
		list = append(list, n.tables[path[0]][path[1]]...)
	}
	if len(tables) == 0 {
		for _, columns := range n.tables[keyspace] {
			list = append(list, columns...)
		}
	}
	for i := range list {
		list[i] = identifier(list[i])
	}
	return list
}

// tablesIn returns the keyspace and name of each table that a statement names, after a word such as FROM.
func tablesIn(keyspace, stmt string) (tables [][2]string) {
	var tokens []string
	for _, token := range cqltext.Tokens(stmt) {
		tokens = append(tokens, token)
	}
	for i := 1; i < len(tokens); i++ {
		switch strings.ToUpper(tokens[i-1]) {
		case "FROM", "INTO", "UPDATE", "TABLE", "ON", "TRUNCATE", "DESCRIBE":
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
	for _, table := range slices.Sorted(maps.Keys(names.tables[cqltext.UnquoteIdentifier(keyspace)])) {
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
	table, err := findTable(ctx, session, tableOf(args[0]))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var list []string
	for _, name := range table.Metadata.OrderedColumns {
		list = append(list, word[:strings.LastIndexByte(word, ',')+1]+name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
