// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The verb describe: the schema of a cluster, or of files, as CQL.

// A describe is the flags of the verb for files.
type describe struct {
	files   fileFlags
	types   typeFlags
	rejects rejects
	key     string
}

// newDescribeCommand returns the verb describe.
func newDescribeCommand(e *env) *cobra.Command {
	d := &describe{}
	c := &cobra.Command{
		Use:   "describe [KIND] [NAME] | FILE...",
		Short: "Print the schema of a cluster, or of files, as CQL",
		Long: `Describe prints the statements that create a keyspace, a table, a view, a type or
an index: vecql query --file creates the same schema from them. Without a name it
prints all keyspaces but those of the system. It needs Cassandra 4 or ScyllaDB 5.2.

For files (Parquet, CSV, JSON lines or Arrow) it prints the table that has their
columns, as vecql load --create makes it, and needs no cluster. --max-errors leaves
out records that are not rows.`,
		Example: `  vecql describe shop
  vecql describe shop.items
  vecql describe type shop.address
  vecql describe keyspaces
  vecql describe items.parquet --primary-key "name, id"`,
		ValidArgsFunction: e.completeTables,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"SCHEMA"}
			}
			if isFileName(args[0]) {
				return e.describeFiles(c.Context(), d, args)
			}
			return e.describe(c.Context(), "DESCRIBE "+strings.Join(args, " "))
		},
	}
	e.addClusterFlags(c)
	e.addOutputFlag(c)
	d.files.add(c, true)
	d.types.add(c)
	d.rejects.addFlags(c)
	c.Flags().StringVar(&d.key, "primary-key", "", "primary `key` of the table of files, CQL such as id or (tenant, day), id")
	return c
}

// describe executes a DESCRIBE and prints its answer.
func (e *env) describe(ctx context.Context, stmt string) error {
	session, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return describeError(e.writeAnswer(stmt, session.Query(stmt).BorrowBatches(ctx)))
}

// describeError returns an error with what to do about a server without DESCRIBE.
func describeError(err error) error {
	if errors.Is(err, cql.CodeSyntax) && strings.Contains(err.Error(), "no viable alternative at input 'DESCRIBE'") {
		return advise(errors.New("the server has no DESCRIBE"), "Cassandra 4 and ScyllaDB 5.2 have it")
	}
	return err
}

// writeSchema prints the rows of DESCRIBE: statements with empty lines between them, or a table where the rows have no
// statements.
func (e *env) writeSchema(batches iter.Seq2[*column.Batch, error]) error {
	first := true
	tables := func(yield func(*column.Batch, error) bool) {
		for b, err := range batches {
			if err != nil || b.Index("create_statement") < 0 {
				if !yield(b, err) {
					return
				}
				continue
			}
			text, err := b.Column("create_statement").Text()
			if err != nil {
				yield(nil, err)
				return
			}
			for r := range b.Rows {
				if !first {
					fmt.Fprintln(e.out)
				}
				first = false
				fmt.Fprintln(e.out, strings.TrimSpace(quoteComments(text.String(r))))
			}
		}
	}
	return e.writeResult(tables)
}

// quoteComments returns the statements of a row of DESCRIBE with quotes around the names in COMMENT and SECURITY LABEL
// that need them. Cassandra 6.0-alpha2 prints keyspaces, tables, types and fields without quotes.
func quoteComments(text string) string {
	var b strings.Builder
	done, start := 0, true // of a statement
	for i, token := range cqltext.Tokens(text) {
		if start && (token == "COMMENT" || token == "SECURITY") {
			_, after, _ := strings.Cut(text[i:], " ON ")
			_, after, _ = strings.Cut(after, " ") // KEYSPACE, TABLE, COLUMN, TYPE or FIELD
			path, _, isComment := strings.Cut(after, " IS '")
			if at := len(text) - len(after); isComment && at >= done {
				b.WriteString(text[done:at] + quotePath(text, path))
				done = at + len(path)
			}
		}
		start = token == ";"
	}
	return b.String() + text[done:]
}

// quotePath quotes the names of a path that have quotes in the statement which creates the object.
func quotePath(statement, path string) string {
	names := strings.Split(path, ".")
	for i, name := range names {
		if quoted := cqltext.QuoteIdentifier(name); strings.Contains(statement, quoted) {
			names[i] = quoted
		}
	}
	return strings.Join(names, ".")
}
