// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Hints: the names that misspelled ones most likely mean.

// didYouMean returns err with the name that was meant, or as it is without one.
func didYouMean(err error, name string) error {
	if name == "" {
		return err
	}
	return advise(err, "did you mean %s?", name)
}

// nearest returns the candidate that differs least from a name in any case and without quotes, "" if all differ in more
// than a third of its characters.
func nearest(name string, candidates []string) string {
	best, least := "", min(max(1, len(name)/3)+1, len(name))
	for _, c := range candidates {
		if len(name)-len(c) >= least { // also, a name may be as long as a file
			continue
		}
		d := distance(strings.ToLower(name), strings.Trim(strings.ToLower(c), `"`))
		if d < least && c != name {
			best, least = c, d
		}
	}
	return best
}

// suggestFlag returns an error of the command line with the flag that an unknown one may mean.
func suggestFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if found := nearest(unknown.GetSpecifiedName(), names); found != "" {
		return didYouMean(err, "--"+found)
	}
	return err
}

// distance returns the optimal string alignment distance of two words: the number of bytes to insert, remove, replace
// or swap with their neighbor.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// A nameKind is what an unknown name in a statement stands for.
type nameKind int

const (
	noName nameKind = iota
	keyspaceName
	tableName
	columnName
	functionName
	wordName // of the language
)

// unknownNames are the texts of servers on unknown names. The first group is the name.
var unknownNames = []struct {
	kind    nameKind
	pattern *regexp.Regexp
}{
	{keyspaceName, regexp.MustCompile(`(?i)\bkeyspace '?(\w+)'? does not exist`)},
	{keyspaceName, regexp.MustCompile(`^'([^']+)' not found in keyspaces`)},
	{tableName, regexp.MustCompile(`\btable (\w+) does not exist`)},
	{tableName, regexp.MustCompile(`\bunconfigured table (\w+)`)},
	{tableName, regexp.MustCompile(`^(?:Table )?'([^']+)' not found in keyspace '`)},
	{columnName, regexp.MustCompile(`\b[Uu]ndefined (?:column )?name "?(\w+)"?`)},
	{columnName, regexp.MustCompile(`\b(?:Unrecognized name|Unknown identifier) "?(\w+)"?`)},
	{functionName, regexp.MustCompile(`\bUnknown function '?([\w.]+)`)},
	{wordName, regexp.MustCompile(`\binput '(\w+)'`)},
}

// unknownName returns the name that a server does not know, and its kind.
func unknownName(err error) (nameKind, string) {
	var server *cql.ServerError
	if !errors.As(err, &server) {
		return noName, ""
	}
	for _, u := range unknownNames {
		isSyntax := server.Code == cql.CodeSyntax
		if m := u.pattern.FindStringSubmatch(server.Message); m != nil && isSyntax == (u.kind == wordName) {
			return u.kind, m[1]
		}
	}
	return noName, ""
}

// hint returns the error of a statement with the name that was meant in place of an unknown one.
func (r *runner) hint(ctx context.Context, stmt string, err error) error {
	return didYouMean(err, meant(ctx, r.session, r.cfg.Keyspace, stmt, err))
}

// isCreateTable matches statements in which a reserved word stands for a column.
var isCreateTable = regexp.MustCompile(`(?i)^\s*CREATE\s+TABLE\b`)

// meant returns the name that a statement most likely means by the name that the server did not know, "" for none.
func meant(ctx context.Context, session *vecql.Session, keyspace, stmt string, err error) string {
	kind, name := unknownName(err)
	switch kind {
	case noName:
		return ""
	case wordName:
		if isCreateTable.MatchString(stmt) && name == strings.ToLower(name) && cqltext.Identifier(name) != name {
			return cqltext.Identifier(name) // a column, whose name is reserved
		}
		if slices.Contains(keywords, strings.ToUpper(name)) {
			return ""
		}
		return nearest(name, append(firstWords(), keywords...))
	}
	names, readErr := readNames(ctx, session)
	if readErr != nil {
		return ""
	}
	switch kind {
	case keyspaceName:
		return nearest(name, names.keyspaces(""))
	case columnName:
		return nearest(name, names.columns(keyspace, stmt))
	case functionName:
		return strings.TrimSuffix(nearest(name+"(", names.functionsOf(keyspace)), "(")
	default:
		return names.nearestTable(keyspace, stmt, name)
	}
}

// nearestTable returns the table that a statement means by an unknown one: a similar name in the same keyspace, or the
// same name in another keyspace.
func (n schemaNames) nearestTable(keyspace, stmt, name string) string {
	prefix := ""
	for _, path := range tablesIn(keyspace, stmt) {
		if path[1] == name && path[0] != keyspace {
			keyspace, prefix = path[0], identifier(path[0])+"."
		}
	}
	var tables, others []string
	for ks, list := range n.tables {
		for table := range list {
			if ks == keyspace {
				tables = append(tables, identifier(table))
			} else if table == name {
				others = append(others, identifier(ks)+"."+identifier(table))
			}
		}
	}
	slices.Sort(tables)
	if found := nearest(name, tables); found != "" {
		return prefix + found
	}
	if slices.Sort(others); len(others) > 0 {
		return others[0]
	}
	return ""
}

// findTable is clustertable.Find. Its error has the name that was meant in place of an unknown one.
func findTable(ctx context.Context, session *vecql.Session, name string) (clustertable.Table, error) {
	t, err := clustertable.Find(ctx, session, name)
	if err != nil {
		err = didYouMean(err, meant(ctx, session, "", "SELECT * FROM "+name, err))
	}
	return t, err
}
